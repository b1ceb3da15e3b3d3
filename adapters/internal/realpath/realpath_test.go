package realpath

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// FS-02: one file has one name, however it was asked for.
func TestOf(t *testing.T) {
	base, err := filepath.EvalSymlinks(os.TempDir())
	require.NoError(t, err)
	dir, err := os.MkdirTemp(base, "Real Path ")
	require.NoError(t, err)
	file := filepath.Join(dir, "Mixed 日本語.txt")
	t.Cleanup(func() { _, _ = os.Remove(file), os.Remove(dir) }) // no RemoveAll: not every Windows has what it needs
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	got, err := Of(file)
	require.NoError(t, err)
	assert.Equal(t, filepath.Base(file), filepath.Base(got))
	if runtime.GOOS != "windows" {
		assert.Equal(t, file, got)
		return
	}
	for _, asked := range []string{strings.ToUpper(file), strings.ToLower(file), strings.ToLower(file[:1]) + file[1:]} {
		again, err := Of(asked)
		require.NoError(t, err)
		assert.Equal(t, got, again, asked)
	}
	_, err = Of(filepath.Join(dir, "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
