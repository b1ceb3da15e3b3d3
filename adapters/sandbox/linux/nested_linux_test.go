package linux

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// FS-05: a program that may delete around a root cannot put another directory into its place.
func TestRoots_OneInAnotherIsNotMovedAway(t *testing.T) {
	box := New(Options{})
	defer func() { require.NoError(t, box.Close()) }()
	report, err := box.Preflight(context.Background())
	require.NoError(t, err)
	if report.Level < sandbox.L2 {
		t.Skip("no mounts hold it at this level")
	}
	dir := host{}.TempDir(t)
	ws := filepath.Join(dir, "a", "b", "ws")
	require.NoError(t, os.MkdirAll(ws, 0o777))
	for d := ws; d != dir; d = filepath.Dir(d) {
		require.NoError(t, os.Chmod(d, 0o777))
	}
	spec := shellSpec(t, ws, "mv ../../../a ../../../x; mv ../../b ../../y; mv ../ws ../z; rmdir ../ws; mkdir ../beside && rmdir ../beside && echo ordinary")
	spec.Roots = []rights.Root{{Path: dir, Rights: rights.Read | rights.Write | rights.Delete}, {Path: ws, Rights: rights.All}}
	res, err := box.Run(context.Background(), spec)
	require.NoError(t, err)
	assert.Equal(t, "ordinary\n", string(res.Stdout.Head), "%s", res.Stderr.Head)
	assert.DirExists(t, ws)
	assert.NoDirExists(t, filepath.Join(dir, "x"))
}

// FS-02, FS-04: removing a tree removes links, not what they lead to: neither outside nor in a root that gives no right to delete.
func TestRoots_RemovingThroughASymlink(t *testing.T) {
	box := New(Options{})
	defer func() { require.NoError(t, box.Close()) }()
	dir := host{}.TempDir(t)
	for _, d := range []string{"ws/tree", "kept", "outside"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, d), 0o777))
		require.NoError(t, os.Chmod(filepath.Join(dir, d), 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(dir, d, "f"), []byte("x"), 0o666))
	}
	ws := filepath.Join(dir, "ws")
	require.NoError(t, os.Chmod(ws, 0o777))
	for _, target := range []string{"kept", "outside"} {
		require.NoError(t, os.Symlink("../../"+target, filepath.Join(ws, "tree", target)))
		require.NoError(t, os.Symlink("../"+target, filepath.Join(ws, target)))
	}
	spec := shellSpec(t, ws, "rm -rf kept/ outside/ kept/* outside/* kept/. 'kept/f' outside/f; find -L . -name f -delete; find . -depth -delete; rm -rf tree kept outside; ls -A")
	spec.Roots = []rights.Root{{Path: filepath.Join(dir, "kept"), Rights: rights.Read | rights.Write}, {Path: ws, Rights: rights.All}}
	res, err := box.Run(context.Background(), spec)
	require.NoError(t, err)
	assert.Empty(t, string(res.Stdout.Head), "%s", res.Stderr.Head)
	assert.FileExists(t, filepath.Join(dir, "kept", "f"))
	assert.FileExists(t, filepath.Join(dir, "outside", "f"))
}
