package mem

import (
	"context"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// Handle is one resolved place; everything happens under the tree's lock.
type Handle struct {
	tree       *Tree
	path, root string
	name       string
	parent     *node // nil for a root: its entry lies outside
	node       *node // nil when there is nothing
	slash      bool
	closed     bool
}

var _ workspace.Handle = (*Handle)(nil)

func (h *Handle) refuse(code fault.Code) error { return fault.New(code, "path", h.path) }

// begin locks the tree for one operation.
func (h *Handle) begin(ctx context.Context) (end func(), err error) {
	h.tree.mu.Lock()
	if h.closed {
		err = fault.Wrap(os.ErrClosed, workspace.CodeFailed, "path", h.path, "detail", os.ErrClosed.Error())
	} else if ctx.Err() != nil {
		err = fault.From(ctx.Err())
	}
	if err != nil {
		h.tree.mu.Unlock()
		return nil, err
	}
	return h.tree.mu.Unlock, nil
}

// Info implements workspace.Handle.
func (h *Handle) Info() workspace.Info {
	h.tree.mu.Lock()
	defer h.tree.mu.Unlock()
	return h.info()
}

func (h *Handle) info() workspace.Info { return h.node.info(h.path, h.root, h.name) }

// Close implements workspace.Handle.
func (h *Handle) Close() error {
	h.tree.mu.Lock()
	defer h.tree.mu.Unlock()
	h.closed = true
	return nil
}

// unchanged makes sure that the name still means what was resolved.
func (h *Handle) unchanged() error {
	switch {
	case h.parent == nil:
		return h.refuse(workspace.CodeOutside)
	case h.parent.kids[h.name] != h.node:
		return h.refuse(workspace.CodeChanged)
	}
	return nil
}

func (h *Handle) regular() error {
	switch {
	case h.node == nil:
		return h.refuse(workspace.CodeNotFound)
	case h.node.mode.IsDir():
		return h.refuse(workspace.CodeIsDirectory)
	case !h.node.mode.IsRegular():
		return h.refuse(workspace.CodeNotRegular)
	}
	return nil
}

// Read implements workspace.Reader.
func (h *Handle) Read(ctx context.Context, offset int64, limit int) ([]byte, error) {
	end, err := h.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	if err := h.regular(); err != nil {
		return nil, err
	}
	if err := h.unchanged(); err != nil {
		return nil, err
	}
	size := int64(len(h.node.data))
	if offset < 0 {
		offset = max(0, size+offset)
	}
	offset = min(offset, size)
	return slices.Clone(h.node.data[offset:min(size, offset+int64(max(0, limit)))]), nil
}

// List implements workspace.Reader.
func (h *Handle) List(ctx context.Context, limit int) (entries []workspace.Info, total int, err error) {
	end, err := h.begin(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer end()
	switch {
	case h.node == nil:
		return nil, 0, h.refuse(workspace.CodeNotFound)
	case !h.node.mode.IsDir():
		return nil, 0, h.refuse(workspace.CodeNotDirectory)
	}
	names := h.node.names()
	entries = []workspace.Info{}
	for _, name := range names[:min(len(names), max(0, limit))] {
		place, root := path.Join(h.path, name), h.root
		if h.tree.roots[place] != nil {
			root = place
		}
		entries = append(entries, h.node.kids[name].info(place, root, name))
	}
	return entries, len(names), nil
}

// Replace implements workspace.Writer.
func (h *Handle) Replace(ctx context.Context, data []byte, exec bool, want *workspace.Identity) (workspace.Info, error) {
	end, err := h.begin(ctx)
	if err != nil {
		return workspace.Info{}, err
	}
	defer end()
	if err := h.replaceable(want); err != nil {
		return h.info(), err
	}
	mode := fs.FileMode(0o644)
	if h.node != nil {
		mode = h.node.mode.Perm()
	}
	if exec {
		mode |= mode & 0o444 >> 2
	}
	h.put(h.tree.fresh(&node{mode: mode, data: slices.Clone(data)}))
	return h.info(), nil
}

func (h *Handle) replaceable(want *workspace.Identity) error {
	if h.parent == nil {
		return h.refuse(workspace.CodeOutside)
	}
	if h.node == nil {
		switch {
		case want != nil:
			return h.refuse(workspace.CodeChanged)
		case h.slash:
			return h.refuse(workspace.CodeIsDirectory)
		}
		return h.creatable(workspace.CodeChanged)
	}
	if err := h.regular(); err != nil {
		return err
	}
	if err := h.unchanged(); err != nil {
		return err
	}
	if want != nil && h.info().Identity != *want {
		return h.refuse(workspace.CodeChanged)
	}
	return nil
}

// creatable says why nothing can be made at a missing place.
func (h *Handle) creatable(taken fault.Code) error {
	switch {
	case !h.tree.holds(h.parent):
		return h.refuse(workspace.CodeNotFound)
	case h.parent.kids[h.name] != nil:
		return h.refuse(taken)
	}
	return nil
}

// holds reports that a directory has not been removed.
func (t *Tree) holds(dir *node) bool {
	for ; dir != nil; dir = dir.parent {
		if dir == t.top {
			return true
		}
	}
	return false
}

func (h *Handle) put(n *node) {
	h.parent.kids[h.name], h.node = n, n
	if n.mode.IsDir() {
		n.parent = h.parent
	}
	h.tree.touch(h.parent)
}

func (h *Handle) take() {
	delete(h.parent.kids, h.name)
	h.node = nil
	h.tree.touch(h.parent)
}

// Mkdir implements workspace.Writer.
func (h *Handle) Mkdir(ctx context.Context) (workspace.Info, error) {
	end, err := h.begin(ctx)
	if err != nil {
		return workspace.Info{}, err
	}
	defer end()
	if h.node != nil {
		return h.info(), h.refuse(workspace.CodeExists)
	}
	if err := h.creatable(workspace.CodeExists); err != nil {
		return h.info(), err
	}
	h.put(h.tree.fresh(&node{mode: fs.ModeDir | 0o755, kids: map[string]*node{}}))
	return h.info(), nil
}

// MoveTo implements workspace.Writer. Afterwards dest is the handle on the object and h one on nothing.
func (h *Handle) MoveTo(ctx context.Context, dest workspace.Handle) (workspace.Info, error) {
	to, ok := dest.(*Handle)
	if !ok || to.tree != h.tree {
		return workspace.Info{}, fault.New(workspace.CodeFailed, "path", h.path, "detail", "the destination belongs to another tree")
	}
	end, err := h.begin(ctx)
	if err != nil {
		return workspace.Info{}, err
	}
	defer end()
	if err := h.movable(to); err != nil {
		return to.info(), err
	}
	n := h.node
	h.take()
	to.put(n)
	modified := n.moment
	h.tree.touch(n)
	n.moment = modified // a move changes the object's place, not its content
	return to.info(), nil
}

func (h *Handle) movable(to *Handle) error {
	switch {
	case h.node == nil:
		return h.refuse(workspace.CodeNotFound)
	case to.node != nil:
		return to.refuse(workspace.CodeExists)
	case to.closed:
		return fault.Wrap(os.ErrClosed, workspace.CodeFailed, "path", to.path, "detail", os.ErrClosed.Error())
	case to.slash && !h.node.mode.IsDir():
		return to.refuse(workspace.CodeNotDirectory)
	case h.node.mode.IsDir() && strings.HasPrefix(to.path, h.path+"/"):
		return fault.New(workspace.CodeFailed, "path", h.path, "detail", "a directory cannot move into itself")
	}
	if err := h.unchanged(); err != nil {
		return err
	}
	return to.creatable(workspace.CodeExists)
}

// Remove implements workspace.Remover.
func (h *Handle) Remove(ctx context.Context) error {
	end, err := h.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	switch {
	case h.node == nil:
		return h.refuse(workspace.CodeNotFound)
	case h.node.mode.IsDir():
		return h.refuse(workspace.CodeIsDirectory)
	}
	if err := h.unchanged(); err != nil {
		return err
	}
	h.take()
	return nil
}

// Rmdir implements workspace.Remover.
func (h *Handle) Rmdir(ctx context.Context) error {
	end, err := h.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	switch {
	case h.node == nil:
		return h.refuse(workspace.CodeNotFound)
	case !h.node.mode.IsDir():
		return h.refuse(workspace.CodeNotDirectory)
	}
	if err := h.unchanged(); err != nil {
		return err
	}
	if len(h.node.kids) > 0 {
		return h.refuse(workspace.CodeNotEmpty)
	}
	h.node.parent = nil
	h.take()
	return nil
}
