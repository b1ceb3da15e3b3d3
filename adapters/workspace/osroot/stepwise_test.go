package osroot

import (
	"io/fs"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// FS-07 on file systems that cannot refuse a taken name by themselves: the steps do, and lose nothing.
func TestMoveStepwise(t *testing.T) {
	dir := base(t)
	for _, p := range []string{"from/f", "from/d/x", "from/f2", "from/d2/x", "to/f2", "to/d2/x", "to/f3"} {
		put(t, filepath.Join(dir, p))
	}
	open := func(name string) mover {
		d, err := openDir(native(), filepath.Join(dir, name))
		require.NoError(t, err)
		t.Cleanup(d.close)
		return d.(mover)
	}
	from, to := open("from"), open("to")
	taken := snapshot(t, dir)
	assert.ErrorIs(t, moveStepwise(from, "f2", to, "f2"), fs.ErrExist)
	assert.ErrorIs(t, moveStepwise(from, "d2", to, "d2"), fs.ErrExist)
	assert.ErrorIs(t, moveStepwise(from, "d", to, "f3"), fs.ErrExist)
	assert.ErrorIs(t, moveStepwise(from, "missing", to, "new"), fs.ErrNotExist)
	assert.Equal(t, taken, snapshot(t, dir))
	require.NoError(t, moveStepwise(from, "f", to, "f"))
	assert.NoFileExists(t, filepath.Join(dir, "from", "f"))
	assert.FileExists(t, filepath.Join(dir, "to", "f"))
}

func TestMoveStepwise_Directory(t *testing.T) {
	dir := base(t)
	put(t, filepath.Join(dir, "d", "x"))
	d, err := openDir(native(), dir)
	require.NoError(t, err)
	defer d.close()
	m, ok := d.(mover)
	require.True(t, ok)
	if runtime.GOOS == "linux" { // elsewhere directories take the way of os.Root
		require.NoError(t, moveStepwise(m, "d", d, "moved"))
	} else {
		require.NoError(t, d.move("d", d, "moved"))
	}
	assert.FileExists(t, filepath.Join(dir, "moved", "x"))
	assert.NoDirExists(t, filepath.Join(dir, "d"))
}
