package osroot

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/journal"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// guardian is a Guard that checks the order: recorded before it exists, forgotten after it is gone.
type guardian struct {
	t    *testing.T
	mu   sync.Mutex
	open map[string]journal.Resource
	seen int
	fail error
}

func newGuardian(t *testing.T) *guardian { return &guardian{t: t, open: map[string]journal.Resource{}} }

func (g *guardian) Open(_ context.Context, kind journal.Kind, path string) (journal.Resource, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.fail != nil {
		return journal.Resource{}, g.fail
	}
	g.seen++
	assert.NoFileExists(g.t, path, "made before it was recorded")
	res := journal.Resource{ID: path, Kind: kind, Path: path}
	g.open[path] = res
	return res, nil
}

func (g *guardian) Close(_ context.Context, res journal.Resource) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	assert.NoFileExists(g.t, res.Path, "forgotten before it was gone")
	delete(g.open, res.Path)
	return nil
}

// each runs scene with the first, second, third… call failing until none is left to fail.
func each(t *testing.T, after bool, cause error, scene func(t *testing.T, f *flaky, g *guardian, dir string, tree *Tree)) {
	for name, sys := range systems() {
		t.Run(name, func(t *testing.T) {
			for n := 1; n < 100; n++ {
				dir := base(t)
				f, g := &flaky{system: sys}, newGuardian(t)
				tree, err := open(f, []string{dir}, Options{Guard: g})
				require.NoError(t, err)
				f.arm(n, after, cause)
				scene(t, f, g, dir, tree)
				require.NoError(t, tree.Close())
				if f.last == "" {
					require.Greater(t, n, 3, "hardly anything could fail")
					return
				}
			}
			t.Fatal("it never came to an end")
		})
	}
}

func replaceWith(t *testing.T, tree *Tree, name, content string) error {
	h, err := tree.Resolve(t.Context(), name)
	if err != nil {
		return err
	}
	defer func() { require.NoError(t, h.Close()) }()
	_, err = h.Replace(t.Context(), []byte(content), false, nil)
	return err
}

func contentOf(t *testing.T, path string) string {
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return "(nothing)"
	}
	require.NoError(t, err)
	return string(data)
}

// EDT-01, PRF-02: whichever call fails on a full disk, the content is the old or the new one, a failure before the rename
// leaves the old one, and no temporary file stays unless the journal still knows it.
func TestReplace_SurvivesEveryFailure(t *testing.T) {
	for _, old := range []string{"old content", "(nothing)"} {
		each(t, false, syscall.ENOSPC, func(t *testing.T, f *flaky, g *guardian, dir string, tree *Tree) {
			path := filepath.Join(dir, "f")
			if old != "(nothing)" {
				require.NoError(t, os.WriteFile(path, []byte(old), 0o640))
			}
			err := replaceWith(t, tree, "f", "new content")
			got := contentOf(t, path)
			switch {
			case f.last == "":
				require.NoError(t, err)
				assert.Equal(t, "new content", got)
			case err == nil:
				assert.Equal(t, "new content", got, f.last)
			default:
				assert.Equal(t, workspace.CodeNoSpace, fault.CodeOf(err), f.last)
				assert.Contains(t, []string{old, "new content"}, got, f.last)
				for _, early := range []string{"create", "write", "adopt", "sync", "file meta", "stat", "meta", "replace", "move"} {
					if f.last == early {
						assert.Equal(t, old, got, early)
					}
				}
			}
			assert.Empty(t, g.open, f.last)
			noTemps(t, dir)
		})
	}
}

// REC-06, PRF-02: after a crash at any call, what the journal knows is enough to clean up.
func TestReplace_CrashAnywhereIsUndone(t *testing.T) {
	each(t, true, syscall.EIO, func(t *testing.T, f *flaky, g *guardian, dir string, tree *Tree) {
		path := filepath.Join(dir, "f")
		require.NoError(t, os.WriteFile(path, []byte("old"), 0o640))
		err := replaceWith(t, tree, "f", "new")
		if f.last == "" {
			require.NoError(t, err)
		}
		undo := NewUndoer()
		for _, res := range g.open {
			require.NoError(t, undo.Undo(t.Context(), res), f.last)
			require.NoError(t, undo.Undo(t.Context(), res), "again: "+f.last)
		}
		assert.Contains(t, []string{"old", "new"}, contentOf(t, path), f.last)
		noTemps(t, dir)
	})
}

// A journal that cannot be written means that nothing is made (REC-06).
func TestReplace_NoJournalNoFile(t *testing.T) {
	dir := base(t)
	g := newGuardian(t)
	g.fail = fault.New(journal.CodeFailed, "path", "j", "detail", "full")
	tree, err := New([]string{dir}, Options{Guard: g})
	require.NoError(t, err)
	defer func() { require.NoError(t, tree.Close()) }()
	assert.Equal(t, journal.CodeFailed, fault.CodeOf(replaceWith(t, tree, "f", "x")))
	assert.Empty(t, snapshot(t, dir))
	g.fail = nil
	require.NoError(t, replaceWith(t, tree, "f", "x"))
	assert.Equal(t, 1, g.seen)
	assert.Empty(t, g.open)
}

// Everything else fails whole, too: with a code, and with nothing done or all of it.
func TestOperations_SurviveEveryFailure(t *testing.T) {
	for name, op := range map[string]func(t *testing.T, tree *Tree) error{
		"mkdir": func(t *testing.T, tree *Tree) error {
			return with(t, tree, "new", func(h workspace.Handle) error { _, err := h.Mkdir(t.Context()); return err })
		},
		"move": func(t *testing.T, tree *Tree) error {
			return with(t, tree, "f", func(h workspace.Handle) error {
				return with(t, tree, "d/moved", func(to workspace.Handle) error { _, err := h.MoveTo(t.Context(), to); return err })
			})
		},
		"remove": func(t *testing.T, tree *Tree) error {
			return with(t, tree, "f", func(h workspace.Handle) error { return h.Remove(t.Context()) })
		},
		"read": func(t *testing.T, tree *Tree) error {
			return with(t, tree, "d/../f", func(h workspace.Handle) error { _, err := h.Read(t.Context(), 0, 10); return err })
		},
		"list": func(t *testing.T, tree *Tree) error {
			return with(t, tree, "d/..", func(h workspace.Handle) error { _, _, err := h.List(t.Context(), 10); return err })
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, false, syscall.EIO, func(t *testing.T, f *flaky, _ *guardian, dir string, tree *Tree) {
				require.NoError(t, os.Mkdir(filepath.Join(dir, "d"), 0o755))
				require.NoError(t, os.WriteFile(filepath.Join(dir, "f"), []byte("f"), 0o644))
				err := op(t, tree)
				if f.last == "" {
					require.NoError(t, err)
					return
				}
				assert.Equal(t, workspace.CodeFailed, fault.CodeOf(err), f.last)
				all := snapshot(t, dir)
				_, stays := all[filepath.Join(dir, "f")]
				_, moved := all[filepath.Join(dir, "d", "moved")]
				if name != "remove" {
					assert.NotEqual(t, stays, moved, f.last)
				}
			})
		})
	}
}

func with(t *testing.T, tree *Tree, path string, do func(workspace.Handle) error) error {
	h, err := tree.Resolve(t.Context(), path)
	if err != nil {
		return err
	}
	defer func() { require.NoError(t, h.Close()) }()
	return do(h)
}

func TestCoded_KnowsEverySystemError(t *testing.T) {
	for err, want := range map[error]fault.Code{
		syscall.ENOENT: workspace.CodeNotFound, syscall.EEXIST: workspace.CodeExists, syscall.ENOTEMPTY: workspace.CodeNotEmpty,
		syscall.ENAMETOOLONG: workspace.CodeBadName, syscall.EILSEQ: workspace.CodeBadName, syscall.EINVAL: workspace.CodeBadName,
		syscall.ENOSYS: fault.CodeUnsupported, syscall.EISDIR: workspace.CodeIsDirectory,
		syscall.ENOTDIR: workspace.CodeNotDirectory, syscall.ENXIO: workspace.CodeNotRegular, syscall.EXDEV: workspace.CodeCrossVolume,
		syscall.ENOSPC: workspace.CodeNoSpace, syscall.EDQUOT: workspace.CodeNoSpace, syscall.EFBIG: workspace.CodeNoSpace,
		syscall.EROFS: workspace.CodeReadOnly, syscall.EACCES: workspace.CodePermission, syscall.EPERM: workspace.CodePermission,
		syscall.ELOOP: workspace.CodeChanged, syscall.EIO: workspace.CodeFailed, errOutside: workspace.CodeOutside,
		context.Canceled: fault.CodeCancelled, context.DeadlineExceeded: fault.CodeTimeout,
	} {
		got := fault.From(coded(&os.PathError{Op: "open", Path: "x", Err: err}, "p"))
		assert.Equal(t, want, got.Code, err)
		if want == workspace.CodeFailed {
			assert.Contains(t, got.Args["detail"], "open x")
		}
	}
	assert.NoError(t, coded(nil, "p"))
}
