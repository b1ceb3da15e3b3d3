package osroot

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

func tree(t *testing.T, roots ...string) *Tree {
	t.Helper()
	tr, err := New(roots, Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, tr.Close()) })
	return tr
}

func write(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
}

// FS-03: while another program swaps an ancestor with a link to outside, thousands of operations never touch the outside.
func TestTree_RacingSwapNeverEscapes(t *testing.T) {
	dir := base(t)
	write(t, dir+"/ws/d/in/f", "mine")
	write(t, dir+"/evil/in/f", "theirs")
	require.NoError(t, os.Symlink("../evil", dir+"/ws/link"))
	tr := tree(t, dir+"/ws")
	evil := snapshot(t, dir+"/evil")
	done := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			_ = os.Rename(dir+"/ws/d", dir+"/ws/away")
			_ = os.Rename(dir+"/ws/link", dir+"/ws/d")
			_ = os.Rename(dir+"/ws/d", dir+"/ws/link")
			_ = os.Rename(dir+"/ws/away", dir+"/ws/d")
		}
	})
	refused, worked := map[fault.Code]int{}, 0
	count := func(err error) {
		if err == nil {
			worked++
			return
		}
		refused[fault.CodeOf(err)]++
	}
	for i := range 3000 {
		h, err := tr.Resolve(t.Context(), "d/in/f")
		if err != nil {
			count(err)
			continue
		}
		if data, err := h.Read(t.Context(), 0, 10); err == nil {
			require.NotEqual(t, "theirs", string(data))
		}
		switch i % 10 {
		case 0:
			_, err = h.Replace(t.Context(), []byte("mine again"), false, nil)
		case 1:
			if to, e := tr.Resolve(t.Context(), "d/in/g"); e == nil {
				if _, err = h.MoveTo(t.Context(), to); err == nil {
					back, e := tr.Resolve(t.Context(), "d/in/f")
					if e == nil {
						_, _ = to.MoveTo(t.Context(), back)
						_ = back.Close()
					}
				}
				_ = to.Close()
			}
		case 2:
			if n, e := tr.Resolve(t.Context(), "d/in/new"); e == nil {
				if _, err = n.Replace(t.Context(), []byte("new"), false, nil); err == nil {
					err = n.Remove(t.Context())
				}
				_ = n.Close()
			}
		}
		count(err)
		require.NoError(t, h.Close())
	}
	close(done)
	swapper.Wait()
	assert.Equal(t, evil, snapshot(t, dir+"/evil"), "the outside was touched")
	assert.NotZero(t, worked)
	for code := range refused {
		assert.Contains(t, []fault.Code{
			workspace.CodeOutside, workspace.CodeNotFound, workspace.CodeChanged, workspace.CodeExists, workspace.CodeCycle,
		}, code, refused)
	}
	noTemps(t, dir)
}

// Devices, pipes and sockets are never opened for content; they can be listed and removed.
func TestTree_SpecialFiles(t *testing.T) {
	dir := base(t)
	require.NoError(t, syscall.Mkfifo(dir+"/fifo", 0o644))
	socket, err := net.Listen("unix", dir+"/sock")
	require.NoError(t, err)
	defer func() { _ = socket.Close() }()
	tr := tree(t, dir, "/dev")
	for _, name := range []string{"fifo", "sock", "/dev/null", "/dev/zero"} {
		err := with(t, tr, name, func(h workspace.Handle) error {
			_, err := h.Read(t.Context(), 0, 10)
			assert.Equal(t, workspace.CodeNotRegular, fault.CodeOf(err), name)
			_, err = h.Replace(t.Context(), []byte("x"), false, nil)
			assert.Equal(t, workspace.CodeNotRegular, fault.CodeOf(err), name)
			_, _, err = h.List(t.Context(), 1)
			return err
		})
		assert.Equal(t, workspace.CodeNotDirectory, fault.CodeOf(err), name)
	}
	require.NoError(t, with(t, tr, "fifo", func(h workspace.Handle) error { return h.Remove(t.Context()) }))
	assert.NoFileExists(t, dir+"/fifo")
}

// The kernel's own links lead anywhere; none is followed, whatever the roots are.
func TestTree_MagicLinks(t *testing.T) {
	dir := base(t)
	require.NoError(t, os.Symlink("/proc/self/root/etc", dir+"/sneaky"))
	require.NoError(t, os.Symlink("/proc/self/fd/0", dir+"/stdin"))
	for _, tr := range []*Tree{tree(t, dir), tree(t, dir, "/proc"), tree(t, "/")} {
		for _, p := range []string{dir + "/sneaky", dir + "/sneaky/hostname", dir + "/stdin", "/proc/self/root", "/proc/self/cwd/x", "/proc/self/exe", "/proc/self"} {
			_, err := tr.Resolve(t.Context(), p)
			assert.Equal(t, workspace.CodeOutside, fault.CodeOf(err), p)
		}
	}
}

// A single file may be a root: it is read, and nothing beside it exists.
func TestTree_FileRoot(t *testing.T) {
	dir := base(t)
	write(t, dir+"/bin/tool", "#!tool")
	write(t, dir+"/bin/secret", "secret")
	write(t, dir+"/ws/a", "a")
	require.NoError(t, os.Symlink("../bin/tool", dir+"/ws/link"))
	tr := tree(t, dir+"/ws", dir+"/bin/tool")
	for _, p := range []string{dir + "/bin/tool", "link", "../bin/./tool"} {
		require.NoError(t, with(t, tr, p, func(h workspace.Handle) error {
			data, err := h.Read(t.Context(), 2, 100)
			assert.Equal(t, "tool", string(data))
			assert.Equal(t, dir+"/bin/tool", h.Info().Root)
			for what, err := range map[string]error{
				"replace": func() error { _, err := h.Replace(t.Context(), []byte("x"), false, nil); return err }(),
				"remove":  h.Remove(t.Context()),
				"move": with(t, tr, "moved", func(to workspace.Handle) error {
					_, err := h.MoveTo(t.Context(), to)
					return err
				}),
			} {
				assert.Equal(t, workspace.CodeOutside, fault.CodeOf(err), what)
			}
			return err
		}))
	}
	for p, want := range map[string]fault.Code{
		dir + "/bin/secret": workspace.CodeOutside, dir + "/bin": workspace.CodeOutside, dir + "/bin/tool/": workspace.CodeNotDirectory,
		dir + "/bin/tool/x": workspace.CodeNotDirectory, dir + "/bin/tool/..": workspace.CodeNotDirectory,
	} {
		_, err := tr.Resolve(t.Context(), p)
		assert.Equal(t, want, fault.CodeOf(err), p)
	}
	require.NoError(t, os.Rename(dir+"/bin/secret", dir+"/bin/tool"))
	assert.Equal(t, workspace.CodeChanged, fault.CodeOf(with(t, tr, dir+"/bin/tool", func(h workspace.Handle) error {
		_, err := h.Read(t.Context(), 0, 10)
		return err
	})), "another file under the name of the root")
	_, err := New([]string{dir + "/ws/a", dir + "/ws"}, Options{})
	require.NoError(t, err)
}

// A root inside a root: the innermost counts, and it must still be what was pinned.
func TestTree_NestedRoots(t *testing.T) {
	dir := base(t)
	write(t, dir+"/ws/out/f", "f")
	write(t, dir+"/ws/g", "g")
	tr := tree(t, dir+"/ws", dir+"/ws/out")
	for p, root := range map[string]string{"out/f": "/ws/out", "out": "/ws/out", "g": "/ws", "out/../g": "/ws", dir + "/ws/out/new": "/ws/out"} {
		require.NoError(t, with(t, tr, p, func(h workspace.Handle) error {
			assert.Equal(t, dir+root, h.Info().Root, p)
			return nil
		}))
	}
	require.NoError(t, with(t, tr, ".", func(h workspace.Handle) error {
		entries, _, err := h.List(t.Context(), 10)
		assert.Equal(t, []string{dir + "/ws", dir + "/ws/out"}, []string{entries[0].Root, entries[1].Root})
		return err
	}))
	require.NoError(t, os.Rename(dir+"/ws/out", dir+"/ws/old"))
	require.NoError(t, os.Mkdir(dir+"/ws/out", 0o755))
	_, err := tr.Resolve(t.Context(), "out/f")
	assert.Equal(t, workspace.CodeChanged, fault.CodeOf(err))
}

// Every bad root is told at once.
func TestNew_Refuses(t *testing.T) {
	dir := base(t)
	write(t, dir+"/file", "f")
	require.NoError(t, os.Mkdir(dir+"/real", 0o755))
	require.NoError(t, os.Symlink("real", dir+"/link"))
	require.NoError(t, syscall.Mkfifo(dir+"/fifo", 0o644))
	bad := []string{
		dir + "/missing", dir + "/link", dir + "/link/x", dir + "/fifo", dir + "/file/x", "relative", "", dir + "/", dir + "/real/..",
		dir + "/a\x00b", "/" + strings.Repeat("n", 300), "/" + strings.Repeat("n/", 3000) + "n",
	}
	for name, sys := range systems() {
		for _, b := range bad {
			_, err := open(sys, []string{dir + "/real", b}, Options{})
			assert.Equal(t, workspace.CodeRootInvalid, fault.CodeOf(err), "%s %.50q", name, b)
		}
	}
	_, err := New(bad, Options{})
	assert.Len(t, fault.From(err).Reasons, len(bad)-1, "the first carries the others")
	_, err = New(nil, Options{})
	assert.Equal(t, workspace.CodeRootInvalid, fault.CodeOf(err))
	tr := tree(t, dir+"/real", dir+"/file", dir+"/real")
	assert.Equal(t, []string{dir + "/file", dir + "/real"}, tr.Roots())
}

// Mode and owner survive, set-id bits do not, hard links part, and the umask rules what is new.
func TestReplace_KeepsModeAndOwner(t *testing.T) {
	dir := base(t)
	tr := tree(t, dir)
	write(t, dir+"/f", "old")
	require.NoError(t, os.Link(dir+"/f", dir+"/other"))
	require.NoError(t, os.Chmod(dir+"/f", 0o640|fs.ModeSetuid))
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chown(dir+"/f", 12345, 54321))
	}
	before, err := os.Stat(dir + "/f")
	require.NoError(t, err)
	require.NoError(t, replaceWith(t, tr, "f", "new"))
	after, err := os.Stat(dir + "/f")
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o640), after.Mode())
	assert.Equal(t, before.Sys().(*syscall.Stat_t).Uid, after.Sys().(*syscall.Stat_t).Uid)
	assert.Equal(t, before.Sys().(*syscall.Stat_t).Gid, after.Sys().(*syscall.Stat_t).Gid)
	assert.Equal(t, "old", contentOf(t, dir+"/other"), "the other name keeps the old content")

	require.NoError(t, replaceWith(t, tr, "new", "x"))
	require.NoError(t, os.WriteFile(dir+"/reference", nil, 0o644))
	made, err := os.Stat(dir + "/new")
	require.NoError(t, err)
	reference, err := os.Stat(dir + "/reference")
	require.NoError(t, err)
	assert.Equal(t, reference.Mode(), made.Mode())
}

// ordinary runs f without root's power over files; as an ordinary user it just runs.
func ordinary(t *testing.T, dir string, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		f()
		return
	}
	const nobody = 65534
	require.NoError(t, filepath.WalkDir(dir, func(p string, _ fs.DirEntry, err error) error {
		if err == nil {
			err = os.Lchown(p, nobody, nobody)
		}
		return err
	}))
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		_, _, _ = syscall.RawSyscall(syscall.SYS_SETFSGID, nobody, 0, 0)
		_, _, _ = syscall.RawSyscall(syscall.SYS_SETFSUID, nobody, 0, 0)
		f()
	}()
	<-done
}

// What the system forbids is forbidden, also where a rename could get around it.
func TestTree_Permissions(t *testing.T) {
	dir := base(t)
	for _, p := range []string{"closed/f", "blind/f", "fixed/f", "fixed/d/x", "open/readonly", "open/secret", "open/f"} {
		write(t, dir+"/"+p, "content")
	}
	tr := tree(t, dir)
	for p, mode := range map[string]fs.FileMode{"closed": 0, "blind": 0o300, "fixed": 0o500, "open/readonly": 0o444, "open/secret": 0} {
		require.NoError(t, os.Chmod(dir+"/"+p, mode))
		t.Cleanup(func() { _ = os.Chmod(dir+"/"+p, 0o700) })
	}
	do := func(path string, op func(h workspace.Handle) error) error { return with(t, tr, path, op) }
	replace := func(h workspace.Handle) error { _, err := h.Replace(t.Context(), []byte("x"), false, nil); return err }
	read := func(h workspace.Handle) error { _, err := h.Read(t.Context(), 0, 10); return err }
	list := func(h workspace.Handle) error { _, _, err := h.List(t.Context(), 10); return err }
	ordinary(t, dir, func() {
		for what, err := range map[string]error{
			"resolve below closed": do("closed/f", read),
			"list closed":          do("closed", list),
			"list blind":           do("blind", list),
			"create in fixed":      do("fixed/new", replace),
			"replace in fixed":     do("fixed/f", replace),
			"mkdir in fixed":       do("fixed/dir", func(h workspace.Handle) error { _, err := h.Mkdir(t.Context()); return err }),
			"remove in fixed":      do("fixed/f", func(h workspace.Handle) error { return h.Remove(t.Context()) }),
			"rmdir in fixed":       do("fixed/d", func(h workspace.Handle) error { return h.Rmdir(t.Context()) }),
			"replace a readonly":   do("open/readonly", replace),
			"replace a secret":     do("open/secret", replace),
			"read a secret":        do("open/secret", read),
			"move out of fixed":    moveErr(t, tr, "fixed/f", "open/g"),
			"move into fixed":      moveErr(t, tr, "open/f", "fixed/g"),
		} {
			if what == "rmdir in fixed" {
				assert.Contains(t, []fault.Code{workspace.CodePermission, workspace.CodeNotEmpty}, fault.CodeOf(err), what)
				continue
			}
			assert.Equal(t, workspace.CodePermission, fault.CodeOf(err), "%s: %v", what, err)
		}
		assert.NoError(t, do("blind/f", read), "a directory without list can still be passed")
		assert.NoError(t, do("blind/f", replace))
		assert.NoError(t, do("open/f", replace))
	})
	for p := range map[string]bool{"closed": true, "blind": true, "fixed": true} {
		require.NoError(t, os.Chmod(dir+"/"+p, 0o700))
	}
	require.NoError(t, os.Chmod(dir+"/open/secret", 0o600))
	noTemps(t, dir)
	assert.Equal(t, "content", contentOf(t, dir+"/open/readonly"))
	assert.Equal(t, "content", contentOf(t, dir+"/fixed/f"))
}

func moveErr(t *testing.T, tr *Tree, from, to string) error {
	return with(t, tr, from, func(h workspace.Handle) error {
		return with(t, tr, to, func(d workspace.Handle) error { _, err := h.MoveTo(t.Context(), d); return err })
	})
}

// Handles and walks give back every descriptor, also when they fail.
func TestTree_LeaksNoDescriptor(t *testing.T) {
	count := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		return len(entries)
	}
	dir := base(t)
	write(t, dir+"/d/e/f", "f")
	require.NoError(t, os.Symlink("d/e/../e", dir+"/link"))
	require.NoError(t, os.Symlink("/etc", dir+"/out"))
	require.NoError(t, os.Symlink("self", dir+"/self"))
	before := count()
	tr, err := New([]string{dir, dir + "/d", dir + "/d/e/f"}, Options{})
	require.NoError(t, err)
	for range 3 {
		for _, p := range []string{"d/e/f", "link/f", "link/..", "link/missing", "out/x", "self", "d/x/y", "d/e/f/g", ".", "../..", "d/e/f/", "new"} {
			if h, err := tr.Resolve(t.Context(), p); err == nil {
				_, _ = h.Read(t.Context(), 0, 1)
				_, _, _ = h.List(t.Context(), 1)
				if h.Info().Path != dir+"/d/e/f" {
					_, _ = h.Replace(t.Context(), []byte("x"), false, nil)
				}
				if p == "new" {
					_ = h.Remove(t.Context())
				}
				require.NoError(t, h.Close())
			}
		}
	}
	_, err = New([]string{dir, dir + "/missing", dir + "/self"}, Options{})
	require.Error(t, err)
	require.NoError(t, tr.Close())
	assert.Equal(t, before, count())
}
