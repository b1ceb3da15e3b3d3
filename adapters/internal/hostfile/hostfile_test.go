//go:build unix

package hostfile_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/internal/hostfile"
)

func TestMakeDir_IsOwnerOnlyAndRefusesWhatOthersCanChange(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "a", "b", "c")
	require.NoError(t, hostfile.MakeDir(dir))
	require.NoError(t, hostfile.MakeDir(dir))
	for d := dir; d != base; d = filepath.Dir(d) {
		info, err := os.Stat(d)
		require.NoError(t, err)
		assert.Equal(t, hostfile.DirMode, info.Mode().Perm())
	}
	link := filepath.Join(base, "link")
	require.NoError(t, os.Symlink(dir, link))
	assert.Error(t, hostfile.MakeDir(link))

	require.NoError(t, os.Chmod(dir, 0o777))
	assert.ErrorContains(t, hostfile.MakeDir(dir), "written by other users")

	file := filepath.Join(base, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	assert.Error(t, hostfile.MakeDir(file))
	assert.Error(t, hostfile.MakeDir(filepath.Join(file, "below")))
}

func TestOpenAppend_RefusesLinksAndTightensModes(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	f, made, err := hostfile.OpenAppend(path)
	require.NoError(t, err)
	assert.True(t, made)
	require.NoError(t, f.Close())

	require.NoError(t, os.Chmod(path, 0o644))
	f, made, err = hostfile.OpenAppend(path)
	require.NoError(t, err)
	assert.False(t, made)
	info, err := f.Stat()
	require.NoError(t, err)
	assert.Equal(t, hostfile.FileMode, info.Mode().Perm())
	require.NoError(t, f.Close())

	require.NoError(t, os.Chmod(path, 0o666))
	_, _, err = hostfile.OpenAppend(path)
	assert.Error(t, err)

	require.NoError(t, os.Symlink(path, filepath.Join(dir, "link")))
	_, _, err = hostfile.OpenAppend(filepath.Join(dir, "link"))
	assert.Error(t, err)
	_, _, err = hostfile.OpenAppend(dir)
	assert.Error(t, err)
}

func TestTryLock_OneHolderAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	a, err := hostfile.TryLock(path)
	require.NoError(t, err)
	require.NotNil(t, a)
	b, err := hostfile.TryLock(path)
	require.NoError(t, err)
	require.Nil(t, b)

	ctx, cancel := context.WithCancel(t.Context())
	_, err = hostfile.Lock(ctx, path, cancel) // gives up in its first pause
	assert.ErrorIs(t, err, context.Canceled)

	release := func() { _ = a.Close() }
	b, err = hostfile.Lock(t.Context(), path, release)
	require.NoError(t, err)
	assert.True(t, hostfile.Same(b, path))
	require.NoError(t, os.Remove(path))
	assert.False(t, hostfile.Same(b, path))
	require.NoError(t, b.Close())
}
