package osroot

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/journal"
)

func undoers(own ...string) map[string]*Undoer {
	all := map[string]*Undoer{}
	for name, sys := range systems() {
		u := NewUndoer(own...)
		u.sys = sys
		all[name] = u
	}
	return all
}

func put(t *testing.T, path string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
}

// REC-06: what is ours goes, and going twice is fine.
func TestUndo_RemovesWhatIsOurs(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs symlinks and Unix permissions")
	}
	for name, u := range undoers() {
		t.Run(name, func(t *testing.T) {
			dir := base(t)
			u.own = []string{dir + "/own"}
			temp := dir + "/ws/deep/" + tempName()
			put(t, temp)
			put(t, dir+"/own/state")
			put(t, dir+"/keep")
			require.NoError(t, os.Symlink(dir+"/keep", dir+"/own/link"))
			tree := dir + "/own/tree"
			put(t, tree+"/a/b/c/f")
			put(t, tree+"/a/g")
			put(t, tree+"/h")
			require.NoError(t, os.Symlink(dir+"/keep", tree+"/a/link"))
			require.NoError(t, os.Symlink(dir, tree+"/a/b/dirlink"))
			require.NoError(t, os.MkdirAll(tree+"/locked/inner", 0o755))
			put(t, tree+"/locked/inner/f")
			require.NoError(t, os.Chmod(tree+"/locked/inner", 0))
			require.NoError(t, os.Chmod(tree+"/locked", 0o500))
			require.NoError(t, os.MkdirAll(dir+"/own/empty", 0o755))
			temptree := dir + "/" + tempName()
			put(t, temptree+"/x/y")
			for _, res := range []journal.Resource{
				{Kind: journal.KindFile, Path: temp},
				{Kind: journal.KindFile, Path: dir + "/own/state"},
				{Kind: journal.KindFile, Path: dir + "/own/link"},
				{Kind: journal.KindTree, Path: tree},
				{Kind: journal.KindTree, Path: dir + "/own/empty"},
				{Kind: journal.KindTree, Path: temptree},
				{Kind: journal.KindFile, Path: dir + "/own/never/made"},
				{Kind: journal.KindTree, Path: dir + "/keep/" + tempName()},
			} {
				require.NoError(t, u.Undo(t.Context(), res), res.Path)
				require.NoError(t, u.Undo(t.Context(), res), "again: "+res.Path)
			}
			assert.Equal(t, map[string]string{
				dir + "/keep": "x", dir + "/own/": "dir", dir + "/ws/": "dir", dir + "/ws/deep/": "dir",
			}, snapshot(t, dir))
		})
	}
}

func TestUndo_Socket(t *testing.T) {
	dir := base(t)
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Skip("no Unix sockets here: ", err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	require.NoError(t, l.Close())
	require.NoError(t, NewUndoer(dir).Undo(t.Context(), journal.Resource{Kind: journal.KindSocket, Path: filepath.Join(dir, "s")}))
	assert.Empty(t, snapshot(t, dir))
}

// REC-07: what is not clearly ours stays, and the fault says so.
func TestUndo_RefusesWhatIsNotOurs(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs symlinks")
	}
	for name, u := range undoers() {
		t.Run(name, func(t *testing.T) {
			dir := base(t)
			u.own = []string{dir + "/own", ""}
			temp := tempName()
			put(t, dir+"/precious")
			put(t, dir+"/ownother/f")
			put(t, dir+"/own/tree/f")
			put(t, dir+"/real/"+temp)
			put(t, dir+"/.agent-mcp-notes.tmp")
			put(t, dir+"/.agent-mcp-"+strings.Repeat("g", 32)+".tmp")
			require.NoError(t, os.MkdirAll(dir+"/"+temp, 0o755))
			require.NoError(t, os.Symlink(dir+"/real", dir+"/link"))
			require.NoError(t, os.Symlink(dir, dir+"/own/out"))
			before := snapshot(t, dir)
			for _, res := range []journal.Resource{
				{Kind: journal.KindFile, Path: dir + "/precious"},
				{Kind: journal.KindTree, Path: dir},
				{Kind: journal.KindTree, Path: "/"},
				{Kind: journal.KindTree, Path: dir + "/own"},
				{Kind: journal.KindTree, Path: dir + "/own/../ownother"},
				{Kind: journal.KindTree, Path: dir + "/own/"},
				{Kind: journal.KindTree, Path: dir + "/ownother"},
				{Kind: journal.KindFile, Path: dir + "/.agent-mcp-notes.tmp"},
				{Kind: journal.KindFile, Path: dir + "/.agent-mcp-" + strings.Repeat("g", 32) + ".tmp"},
				{Kind: journal.KindFile, Path: dir + "/link/" + temp},
				{Kind: journal.KindFile, Path: dir + "/own/out/precious"},
				{Kind: journal.KindTree, Path: dir + "/own/out/real"},
				{Kind: journal.KindTree, Path: dir + "/own/out"},
				{Kind: journal.KindFile, Path: dir + "/own/tree"},
				{Kind: journal.KindFile, Path: dir + "/" + temp},
				{Kind: journal.KindTree, Path: dir + "/own/tree/f"},
				{Kind: journal.KindFile, Path: temp},
				{Kind: journal.KindFile, Path: ""},
				{Kind: journal.KindFile, Path: dir + "/a\x00/" + temp},
			} {
				err := u.Undo(t.Context(), res)
				assert.Equal(t, journal.CodeUndoFailed, fault.CodeOf(err), res.Path)
				assert.NotEmpty(t, fault.From(err).Args["detail"])
			}
			for _, kind := range []journal.Kind{journal.KindCgroup, "", "volcano"} {
				assert.Equal(t, journal.CodeUnknown, fault.CodeOf(u.Undo(t.Context(), journal.Resource{Kind: kind, Path: dir + "/own/tree"})))
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			assert.Equal(t, fault.CodeCancelled, fault.CodeOf(u.Undo(ctx, journal.Resource{Kind: journal.KindTree, Path: dir + "/own/tree"})))
			assert.Equal(t, before, snapshot(t, dir))
		})
	}
}

// A tree deeper than any path can be named goes without running out of descriptors.
func TestUndo_VeryDeepTree(t *testing.T) {
	dir := base(t)
	at, err := os.OpenRoot(dir)
	require.NoError(t, err)
	require.NoError(t, at.Mkdir("tree", 0o700))
	name := "tree"
	for range 1500 {
		next, err := at.OpenRoot(name)
		require.NoError(t, err)
		require.NoError(t, at.Close())
		at, name = next, "dddd"
		require.NoError(t, at.Mkdir(name, 0o700))
	}
	require.NoError(t, at.Close())
	require.NoError(t, NewUndoer(dir).Undo(t.Context(), journal.Resource{Kind: journal.KindTree, Path: filepath.Join(dir, "tree")}))
	assert.Empty(t, snapshot(t, dir))
}

// A removal that fails half way can be done again.
func TestUndo_SurvivesEveryFailure(t *testing.T) {
	for n := 1; ; n++ {
		dir := base(t)
		put(t, filepath.Join(dir, "tree", "a", "b", "f"))
		put(t, filepath.Join(dir, "tree", "g"))
		put(t, filepath.Join(dir, "keep"))
		f := &flaky{system: native()}
		u := NewUndoer(filepath.Clean(dir))
		u.sys = f
		f.arm(n, false, os.ErrPermission)
		res := journal.Resource{Kind: journal.KindTree, Path: filepath.Join(dir, "tree")}
		err := u.Undo(t.Context(), res)
		if f.last == "" {
			require.NoError(t, err)
			return
		}
		require.Equal(t, journal.CodeUndoFailed, fault.CodeOf(err), f.last)
		f.arm(0, false, nil)
		require.NoError(t, u.Undo(t.Context(), res), f.last)
		assert.Equal(t, map[string]string{filepath.Join(dir, "keep"): "x"}, snapshot(t, dir))
	}
}
