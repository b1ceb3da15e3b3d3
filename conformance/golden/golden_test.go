package golden

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDiff_ShowsTheFirstDifference(t *testing.T) {
	assert.Empty(t, Diff([]byte("a\r\nb\n"), []byte("a\nb\n")))
	assert.Contains(t, Diff([]byte("a\nb\n"), []byte("a\nc\n")), "line 2")
	assert.Contains(t, Diff([]byte("a\n"), []byte("a\nb\n")), `want ""`)
	assert.Contains(t, Diff([]byte("a\nb"), []byte("a")), "missing")
	assert.Contains(t, Diff([]byte("a"), []byte("a\nb")), "too much")
}

type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Helper()               {}
func (r *recorder) Errorf(string, ...any) { r.failed = true }

func TestEqual_ComparesAndUpdates(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv(UpdateVariable, "1")
	Equal(t, "a/b.txt", []byte("one\n"))
	data, err := os.ReadFile(filepath.Join("testdata", "a", "b.txt"))
	assert.NoError(t, err)
	assert.Equal(t, "one\n", string(data))

	t.Setenv(UpdateVariable, "")
	r := &recorder{TB: t}
	Equal(r, "a/b.txt", []byte("one\n"))
	assert.False(t, r.failed)
	Equal(r, "a/b.txt", []byte("two\n"))
	assert.True(t, r.failed)
}
