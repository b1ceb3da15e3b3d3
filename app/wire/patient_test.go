package wire

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// REC-04: a client that never reads our stderr cannot hold us up; one that reads again gets what comes then.
func TestPatient(t *testing.T) {
	r, w := io.Pipe()
	t.Cleanup(func() { _ = r.Close() })
	p := &patient{w: w, limit: 50 * time.Millisecond}
	_, err := p.Write([]byte("given up"))
	require.ErrorIs(t, err, errNoReader)
	_, err = p.Write([]byte("dropped"))
	require.ErrorIs(t, err, errNoReader)
	buf := make([]byte, 64)
	n, err := r.Read(buf)
	require.NoError(t, err)
	require.Equal(t, "given up", string(buf[:n]), "whole, or not at all")
	read := make(chan string)
	go func() {
		n, _ := r.Read(buf)
		read <- string(buf[:n])
	}()
	require.Eventually(t, func() bool { _, err := p.Write([]byte("again")); return err == nil }, 10*time.Second, 10*time.Millisecond)
	require.Equal(t, "again", <-read)
}
