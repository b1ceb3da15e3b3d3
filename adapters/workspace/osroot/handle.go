package osroot

import (
	"container/heap"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

const chunk = 1 << 20 // bytes moved between two looks at the context

// Handle is one resolved place. Its operations are one after the other; it may be shared.
type Handle struct {
	tree  *Tree
	path  string
	root  string // label
	name  string
	seq   uint64 // order of locking
	fixed bool   // a root itself: its entry lies in a directory outside
	slash bool   // asked for as a directory

	mu     sync.Mutex
	parent dir // nil for a directory root
	pin    pin // nil when there is nothing
	meta   meta
	closed bool
}

var (
	_ workspace.Handle    = (*Handle)(nil)
	_ workspace.Reclaimer = (*Handle)(nil)
)

var sequence atomic.Uint64

// handle ends a walk: the directory passes from the walk to the handle.
func (w *walk) handle(name, path string, p pin, m meta) *Handle {
	h := &Handle{
		tree: w.tree, path: path, root: w.label, name: name, seq: sequence.Add(1), slash: w.slash, parent: w.dir, pin: p, meta: m,
	}
	w.dir = nil
	return h
}

func (w *walk) rootHandle() (*Handle, error) {
	p, err := w.root.pin.dup()
	if err != nil {
		return nil, err
	}
	m, err := p.meta()
	if err != nil {
		p.close()
		return nil, err
	}
	h := &Handle{
		tree: w.tree, path: w.root.path, root: w.root.path, name: filepath.Base(w.root.path), seq: sequence.Add(1), fixed: true,
		pin: p, meta: m,
	}
	if w.root.isFile() {
		h.parent, w.dir = w.dir, nil
	}
	return h, nil
}

// Info implements workspace.Handle: the place as it was resolved, or as the last operation of this handle left it.
func (h *Handle) Info() workspace.Info {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.info()
}

func (h *Handle) info() workspace.Info {
	return workspace.Info{
		Path: h.path, Root: h.root, Name: h.name, Exists: h.pin != nil, Mode: h.meta.mode, Links: h.meta.links,
		Identity: h.meta.id,
	}
}

// Close implements workspace.Handle; closing twice is fine.
func (h *Handle) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil
	}
	h.closed = true
	if h.pin != nil {
		h.pin.close()
	}
	if h.parent != nil {
		h.parent.close()
	}
	return nil
}

// Reclaim implements workspace.Reclaimer.
func (h *Handle) Reclaim(ctx context.Context) error {
	end, err := h.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	if h.pin == nil || !h.meta.mode.IsDir() {
		return refuse(workspace.CodeNotDirectory, h.path)
	}
	if err = h.pin.reclaim(); err == nil {
		h.meta, err = h.pin.meta()
	}
	return coded(err, h.path)
}

// begin locks the handle for one operation.
func (h *Handle) begin(ctx context.Context) (end func(), err error) {
	h.mu.Lock()
	if h.closed {
		err = os.ErrClosed
	} else {
		err = ctx.Err()
	}
	if err != nil {
		h.mu.Unlock()
		return nil, coded(err, h.path)
	}
	return h.mu.Unlock, nil
}

// regular says why the place is no file with content.
func (h *Handle) regular() error {
	switch {
	case h.pin == nil:
		return refuse(workspace.CodeNotFound, h.path)
	case h.meta.mode.IsDir():
		return refuse(workspace.CodeIsDirectory, h.path)
	case !h.meta.mode.IsRegular():
		return refuse(workspace.CodeNotRegular, h.path)
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
	data, err := h.read(ctx, offset, limit)
	return data, coded(err, h.path)
}

func (h *Handle) read(ctx context.Context, offset int64, limit int) (data []byte, err error) {
	f, err := h.parent.open(h.name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errChanged
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	m, err := f.meta()
	if err != nil {
		return nil, err
	}
	if !m.same(h.meta) {
		return nil, errChanged
	}
	if offset < 0 {
		offset = max(0, m.id.Size+offset)
	}
	for len(data) < limit {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		want := limit - len(data)
		if left := m.id.Size - offset - int64(len(data)); left >= 0 {
			want = int(min(int64(want), left+1)) // one more, to meet the end
		}
		data = slices.Grow(data, min(want, chunk))
		n, err := f.ReadAt(data[len(data):len(data)+min(want, chunk)], offset+int64(len(data)))
		data = data[:len(data)+n]
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if n == 0 || err != nil {
			break
		}
	}
	return data, nil
}

// List implements workspace.Reader. Memory is bounded by limit, whatever the directory holds.
func (h *Handle) List(ctx context.Context, limit int) (entries []workspace.Info, total int, err error) {
	end, err := h.begin(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer end()
	switch {
	case h.pin == nil:
		return nil, 0, refuse(workspace.CodeNotFound, h.path)
	case !h.meta.mode.IsDir():
		return nil, 0, refuse(workspace.CodeNotDirectory, h.path)
	}
	entries, total, err = h.list(ctx, limit)
	return entries, total, coded(err, h.path)
}

func (h *Handle) list(ctx context.Context, limit int) (entries []workspace.Info, total int, err error) {
	d, err := h.pin.dir()
	if err != nil {
		return nil, 0, err
	}
	defer d.close()
	var least names
	err = d.names(func(some []string) error {
		total += len(some)
		for _, n := range some {
			least.offer(n, limit)
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, 0, err
	}
	slices.Sort(least)
	entries = make([]workspace.Info, 0, len(least))
	for _, n := range least {
		m, err := d.stat(n)
		if errors.Is(err, fs.ErrNotExist) {
			total-- // gone since
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		i := workspace.Info{
			Path: filepath.Join(h.path, n), Root: h.root, Name: n, Exists: true, Mode: m.mode, Links: m.links, Identity: m.id,
		}
		if h.tree.roots[i.Path] != nil {
			i.Root = i.Path
		}
		entries = append(entries, i)
	}
	return entries, total, ctx.Err()
}

// names is a heap with the greatest name on top.
type names []string

// offer keeps name when it is among the limit least so far.
func (n *names) offer(name string, limit int) {
	switch {
	case len(*n) < limit:
		heap.Push(n, name)
	case limit > 0 && name < (*n)[0]:
		(*n)[0] = name
		heap.Fix(n, 0)
	}
}

// Len implements heap.Interface.
func (n names) Len() int { return len(n) }

// Less implements heap.Interface.
func (n names) Less(i, j int) bool { return n[i] > n[j] }

// Swap implements heap.Interface.
func (n names) Swap(i, j int) { n[i], n[j] = n[j], n[i] }

// Push implements heap.Interface.
func (n *names) Push(x any) { *n = append(*n, x.(string)) }

// Pop implements heap.Interface.
func (n *names) Pop() any {
	last := (*n)[len(*n)-1]
	*n = (*n)[:len(*n)-1]
	return last
}
