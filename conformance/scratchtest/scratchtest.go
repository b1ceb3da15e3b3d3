// Package scratchtest is the contract suite of workspace.Scratch (EDT-01, PRF-02). Run it from the adapter's own tests.
package scratchtest

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// Run checks the contract. factory is called for every test; left counts the contents that still exist.
func Run(t *testing.T, factory func(t *testing.T) (s workspace.Scratch, left func() int)) {
	t.Run("keeps any content", func(t *testing.T) {
		s, left := factory(t)
		names := map[string][]byte{}
		for _, data := range [][]byte{nil, {}, []byte("a"), {0, 255, '\n'}, bytes.Repeat([]byte("0123456789"), 300_000)} {
			name, err := s.Keep(t.Context(), data)
			require.NoError(t, err)
			require.NotContains(t, names, name)
			names[name] = data
		}
		assert.Equal(t, 5, left())
		for name, data := range names {
			got, err := s.Load(t.Context(), name)
			require.NoError(t, err)
			assert.True(t, bytes.Equal(data, got))
			require.NoError(t, s.Drop(t.Context(), name))
			require.NoError(t, s.Drop(t.Context(), name), "twice is fine")
			_, err = s.Load(t.Context(), name)
			assert.Equal(t, workspace.CodeNotFound, fault.CodeOf(err))
		}
		assert.Zero(t, left())
	})
	t.Run("owns what it keeps", func(t *testing.T) {
		s, _ := factory(t)
		data := []byte("old")
		name, err := s.Keep(t.Context(), data)
		require.NoError(t, err)
		data[0] = 'X'
		got, err := s.Load(t.Context(), name)
		require.NoError(t, err)
		got[1] = 'X'
		got, err = s.Load(t.Context(), name)
		require.NoError(t, err)
		assert.Equal(t, "old", string(got))
		require.NoError(t, s.Drop(t.Context(), name))
	})
	t.Run("knows only its own names", func(t *testing.T) {
		s, _ := factory(t)
		for _, name := range []string{"", ".", "..", "/etc/passwd", "../x", "a\x00b", strings.Repeat("n", 5000)} {
			_, err := s.Load(t.Context(), name)
			assert.Equal(t, workspace.CodeNotFound, fault.CodeOf(err), name)
			assert.NoError(t, s.Drop(t.Context(), name))
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		s, left := factory(t)
		name, err := s.Keep(t.Context(), []byte("old"))
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = s.Keep(ctx, []byte("x"))
		assert.Equal(t, fault.CodeCancelled, fault.CodeOf(err))
		_, err = s.Load(ctx, name)
		assert.Equal(t, fault.CodeCancelled, fault.CodeOf(err))
		assert.NoError(t, s.Drop(ctx, name), "a cancelled Task still cleans up")
		assert.Zero(t, left())
	})
	t.Run("concurrent", func(t *testing.T) {
		s, left := factory(t)
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				data := fmt.Sprint("content ", i)
				name, err := s.Keep(t.Context(), []byte(data))
				assert.NoError(t, err)
				got, err := s.Load(t.Context(), name)
				assert.NoError(t, err)
				assert.Equal(t, data, string(got))
				assert.NoError(t, s.Drop(t.Context(), name))
			})
		}
		all.Wait()
		assert.Zero(t, left())
	})
}
