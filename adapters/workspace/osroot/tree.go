package osroot

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/journal"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// Options of a Tree.
type Options struct {
	// Guard records temporary files before they are made. nil: a crash in the middle of Replace may leave one behind.
	Guard journal.Guard
}

// Tree is a set of pinned roots. Safe for concurrent use.
type Tree struct {
	guard journal.Guard
	roots map[string]*root
	first *root
	mu    sync.RWMutex
	done  bool
}

var (
	_ workspace.Tree          = (*Tree)(nil)
	_ workspace.EntryResolver = (*Tree)(nil)
)

// root is one pinned root: a directory, or one file with its directory.
type root struct {
	path string
	pin  pin
	meta meta
	dir  dir // of a file root: the directory it lies in
}

func (r *root) isFile() bool { return !r.meta.mode.IsDir() }

// New pins every root: absolute canonical paths of directories or of single regular files. Relative paths resolve against the
// first. A root may lie in another: a place belongs to the innermost. CodeRootInvalid with a reason for every bad root.
func New(roots []string, opt Options) (*Tree, error) { return open(native(), roots, opt) }

func open(sys system, roots []string, opt Options) (*Tree, error) {
	t := &Tree{guard: opt.Guard, roots: make(map[string]*root, len(roots))}
	var reasons []*fault.Error
	for _, path := range roots {
		if _, twice := t.roots[path]; twice {
			continue
		}
		r, err := openRoot(sys, path)
		if err != nil {
			reasons = append(reasons, fault.From(err))
			continue
		}
		t.roots[path] = r
		if t.first == nil {
			t.first = r
		}
	}
	if len(roots) == 0 {
		reasons = append(reasons, fault.New(workspace.CodeRootInvalid, "path", ""))
	}
	if len(reasons) > 0 {
		_ = t.Close()
		return nil, reasons[0].With(reasons[1:]...)
	}
	return t, nil
}

func openRoot(sys system, path string) (*root, error) {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path || badName(path) {
		return nil, refuse(workspace.CodeRootInvalid, path)
	}
	p, err := sys.root(path)
	if err != nil {
		return nil, rootFault(err, path)
	}
	r := &root{path: path, pin: p}
	if r.meta, err = p.meta(); err == nil {
		switch {
		case r.meta.mode.IsDir():
			r.dir, err = p.dir()
		case r.meta.mode.IsRegular():
			err = r.openParent(sys)
		default:
			err = refuse(workspace.CodeRootInvalid, path)
		}
	}
	if err != nil {
		p.close()
		return nil, rootFault(err, path)
	}
	return r, nil
}

// openParent pins the directory of a file root: a file is opened by its name in there, then compared with the pinned one.
func (r *root) openParent(sys system) error {
	p, err := sys.root(filepath.Dir(r.path))
	if err != nil {
		return err
	}
	defer p.close()
	r.dir, err = p.dir()
	return err
}

func rootFault(err error, path string) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOSYS) {
		return coded(err, path)
	}
	if fault.CodeOf(err) == workspace.CodeRootInvalid {
		return err
	}
	return fault.Wrap(err, workspace.CodeRootInvalid, "path", path)
}

// Resolve implements workspace.Tree.
func (t *Tree) Resolve(ctx context.Context, path string) (workspace.Handle, error) {
	return t.resolve(ctx, path, true)
}

// ResolveEntry implements workspace.EntryResolver.
func (t *Tree) ResolveEntry(ctx context.Context, path string) (workspace.Handle, error) {
	return t.resolve(ctx, path, false)
}

func (t *Tree) resolve(ctx context.Context, path string, follow bool) (workspace.Handle, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.done {
		return nil, coded(os.ErrClosed, path)
	}
	w := walk{tree: t, asked: path, follow: follow}
	defer w.leave()
	h, err := w.run(ctx)
	if err != nil {
		return nil, coded(err, path)
	}
	return h, nil
}

// Close releases the roots. Handles given out stay usable.
func (t *Tree) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done {
		return nil
	}
	t.done = true
	for _, r := range t.roots {
		r.dir.close()
		r.pin.close()
	}
	return nil
}

// Roots returns the roots' paths, sorted.
func (t *Tree) Roots() []string {
	paths := make([]string, 0, len(t.roots))
	for p := range t.roots {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	return paths
}
