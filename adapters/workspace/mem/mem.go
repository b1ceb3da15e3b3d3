// Package mem is a workspace in memory (ports/workspace): the twin of osroot for embedders and tests. It has directories,
// files, symlinks and hard roots, keeps the same rules and gives the same codes, but knows no permissions and no disk.
//
// Paths use slashes on every system. Time is counted, not read: every change is one nanosecond later than the one before,
// so that equal histories give equal trees. Nothing outside the process is ever touched.
package mem

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// Tree is a file system in memory, of which the roots are open. Safe for concurrent use.
type Tree struct {
	mu     sync.Mutex
	top    *node
	roots  map[string]*node
	first  string
	clock  int64
	lastID uint64
	done   bool
}

var (
	_ workspace.Tree          = (*Tree)(nil)
	_ workspace.EntryResolver = (*Tree)(nil)
)

// node is one object.
type node struct {
	id              uint64
	mode            fs.FileMode
	data            []byte
	target          string
	kids            map[string]*node
	parent          *node // of a directory, nil when removed
	changed, moment time.Time
}

// New makes a tree whose roots are empty directories at absolute clean slash paths; "/" is fine. Relative paths resolve
// against the first. It panics when a path is none: that is a mistake of the program.
func New(roots ...string) *Tree {
	t := &Tree{roots: map[string]*node{}, top: &node{mode: fs.ModeDir | 0o755, kids: map[string]*node{}}}
	for _, r := range roots {
		if !path.IsAbs(r) || path.Clean(r) != r {
			panic("mem: not an absolute clean path: " + r)
		}
		t.roots[r] = t.dirs(r)
		if t.first == "" {
			t.first = r
		}
	}
	if t.first == "" {
		panic("mem: no root")
	}
	return t
}

// Put makes a file with its parents, or changes its content, anywhere: inside a root or not. mode 0 means 0644.
func (t *Tree) Put(name, content string, mode fs.FileMode) {
	if mode == 0 {
		mode = 0o644
	}
	t.place(name, &node{mode: mode, data: []byte(content)})
}

// Symlink makes a symlink with its parents anywhere; target is taken as it is.
func (t *Tree) Symlink(target, name string) {
	t.place(name, &node{mode: fs.ModeSymlink | 0o777, target: target})
}

// MkdirAll makes a directory with its parents anywhere.
func (t *Tree) MkdirAll(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dirs(name)
}

// Drop removes whatever is at an absolute path, with all below it.
func (t *Tree) Drop(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	dir := t.dirs(path.Dir(name))
	if n := dir.kids[path.Base(name)]; n != nil {
		delete(dir.kids, path.Base(name))
		n.empty()
	}
}

// empty removes all below n, and n from its parent's point of view.
func (n *node) empty() {
	for _, kid := range n.kids {
		kid.empty()
	}
	clear(n.kids)
	n.parent = nil
}

// Snapshot maps every path to what is there: a file's content, "dir", or "-> target"; directories end in a slash.
func (t *Tree) Snapshot() map[string]string {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := map[string]string{}
	var walk func(at string, n *node)
	walk = func(at string, n *node) {
		for name, kid := range n.kids {
			p := path.Join(at, name)
			switch {
			case kid.mode.IsDir():
				all[p+"/"] = "dir"
				walk(p, kid)
			case kid.mode&fs.ModeSymlink != 0:
				all[p] = "-> " + kid.target
			default:
				all[p] = string(kid.data)
			}
		}
	}
	walk("/", t.top)
	return all
}

func (t *Tree) place(name string, n *node) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !path.IsAbs(name) || path.Clean(name) != name || name == "/" {
		panic("mem: not an absolute clean path: " + name)
	}
	dir := t.dirs(path.Dir(name))
	if old := dir.kids[path.Base(name)]; old != nil && old.mode.IsRegular() && n.mode.IsRegular() {
		old.data, old.mode = n.data, n.mode
		t.touch(old)
		return
	}
	dir.kids[path.Base(name)] = t.fresh(n)
}

func (t *Tree) fresh(n *node) *node {
	t.lastID++
	n.id = t.lastID
	t.touch(n)
	return n
}

func (t *Tree) touch(n *node) {
	t.clock++
	n.moment = time.Unix(0, t.clock).UTC()
	n.changed = n.moment
}

// dirs returns the directory at an absolute path, made with its parents.
func (t *Tree) dirs(name string) *node {
	n := t.top
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return r == '/' }) {
		kid := n.kids[part]
		if kid == nil {
			kid = t.fresh(&node{mode: fs.ModeDir | 0o755, kids: map[string]*node{}, parent: n})
			n.kids[part] = kid
		}
		if !kid.mode.IsDir() {
			panic("mem: not a directory: " + name)
		}
		n = kid
	}
	return n
}

// Close implements workspace.Tree. Handles given out stay usable.
func (t *Tree) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done = true
	return nil
}

// Resolve implements workspace.Tree.
func (t *Tree) Resolve(ctx context.Context, name string) (workspace.Handle, error) {
	return t.resolve(ctx, name, true)
}

// ResolveEntry implements workspace.EntryResolver.
func (t *Tree) ResolveEntry(ctx context.Context, name string) (workspace.Handle, error) {
	return t.resolve(ctx, name, false)
}

func (t *Tree) resolve(ctx context.Context, name string, follow bool) (workspace.Handle, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done {
		return nil, fault.Wrap(os.ErrClosed, workspace.CodeFailed, "path", name, "detail", os.ErrClosed.Error())
	}
	if err := ctx.Err(); err != nil {
		return nil, fault.From(err)
	}
	w := walk{tree: t, asked: name, follow: follow, at: t.first}
	h, code := w.run()
	if code != "" {
		return nil, fault.New(code, "path", name)
	}
	return h, nil
}

func (n *node) info(place, root, name string) workspace.Info {
	i := workspace.Info{Path: place, Root: root, Name: name}
	if n != nil {
		i.Exists, i.Mode, i.Links = true, n.mode, 1
		i.Identity = workspace.Identity{Volume: 1, File: n.id, Size: int64(len(n.data) + len(n.target)), ModifiedAt: n.moment, Change: n.changed}
	}
	return i
}

func (n *node) names() []string { return slices.Sorted(maps.Keys(n.kids)) }

// Rename moves what is at an absolute path to a free one, as another program would.
func (t *Tree) Rename(from, to string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	dir, dest := t.dirs(path.Dir(from)), t.dirs(path.Dir(to))
	n := dir.kids[path.Base(from)]
	delete(dir.kids, path.Base(from))
	dest.kids[path.Base(to)] = n
	if n.mode.IsDir() {
		n.parent = dest
	}
}
