package faulty

import (
	"context"

	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// Workspace wraps a tree and every handle it gives out; calls "workspace.resolve", "workspace.read", "workspace.list",
// "workspace.replace", "workspace.mkdir", "workspace.move", "workspace.remove", "workspace.rmdir". Replace is atomic by
// contract, so Short on it is Before.
func Workspace(inner workspace.Tree, s *Script) workspace.Tree { return faultyTree{inner, s} }

type faultyTree struct {
	workspace.Tree
	s *Script
}

func (t faultyTree) Resolve(ctx context.Context, path string) (h workspace.Handle, err error) {
	err = t.s.call(ctx, "workspace.resolve", func() (err error) { h, err = t.Tree.Resolve(ctx, path); return err }, nil)
	if err != nil {
		if h != nil {
			_ = h.Close()
		}
		return nil, err
	}
	return &faultyHandle{h, t.s}, nil
}

type faultyHandle struct {
	workspace.Handle
	s *Script
}

func (h *faultyHandle) Read(ctx context.Context, offset int64, limit int) (data []byte, err error) {
	err = h.s.call(ctx, "workspace.read", func() (err error) { data, err = h.Handle.Read(ctx, offset, limit); return err }, nil)
	return data, err
}

func (h *faultyHandle) List(ctx context.Context, limit int) (entries []workspace.Info, total int, err error) {
	err = h.s.call(ctx, "workspace.list", func() (err error) { entries, total, err = h.Handle.List(ctx, limit); return err }, nil)
	return entries, total, err
}

func (h *faultyHandle) Replace(ctx context.Context, data []byte, exec bool, want *workspace.Identity) (workspace.Info, error) {
	return h.info(ctx, "workspace.replace", func() (workspace.Info, error) { return h.Handle.Replace(ctx, data, exec, want) })
}

func (h *faultyHandle) Mkdir(ctx context.Context) (workspace.Info, error) {
	return h.info(ctx, "workspace.mkdir", func() (workspace.Info, error) { return h.Handle.Mkdir(ctx) })
}

func (h *faultyHandle) MoveTo(ctx context.Context, dest workspace.Handle) (workspace.Info, error) {
	if d, ok := dest.(*faultyHandle); ok { // a real tree only knows its own handles
		dest = d.Handle
	}
	return h.info(ctx, "workspace.move", func() (workspace.Info, error) { return h.Handle.MoveTo(ctx, dest) })
}

func (h *faultyHandle) Remove(ctx context.Context) error {
	return h.s.call(ctx, "workspace.remove", func() error { return h.Handle.Remove(ctx) }, nil)
}

func (h *faultyHandle) Rmdir(ctx context.Context) error {
	return h.s.call(ctx, "workspace.rmdir", func() error { return h.Handle.Rmdir(ctx) }, nil)
}

func (h *faultyHandle) info(ctx context.Context, name string, do func() (workspace.Info, error)) (info workspace.Info, err error) {
	err = h.s.call(ctx, name, func() (err error) { info, err = do(); return err }, nil)
	if err != nil {
		info = workspace.Info{}
	}
	return info, err
}
