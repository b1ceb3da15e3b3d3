package osroot

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// MoveTo implements workspace.Writer. Afterwards dest is the handle on the object and h one on nothing.
func (h *Handle) MoveTo(ctx context.Context, dest workspace.Handle) (workspace.Info, error) {
	to, ok := dest.(*Handle)
	if !ok || to.tree != h.tree {
		return workspace.Info{}, fault.New(workspace.CodeFailed, "path", h.path, "detail", "the destination belongs to another tree")
	}
	if to == h {
		return h.Info(), refuse(workspace.CodeExists, h.path)
	}
	first, second := h, to
	if second.seq < first.seq {
		first, second = second, first
	}
	end, err := first.begin(ctx)
	if err != nil {
		return workspace.Info{}, err
	}
	defer end()
	end2, err := second.begin(ctx)
	if err != nil {
		return workspace.Info{}, err
	}
	defer end2()
	if err = h.movable(to); err == nil {
		err = h.moveTo(to)
	}
	return to.info(), coded(err, h.path, "dest", to.path)
}

func (h *Handle) movable(to *Handle) error {
	switch {
	case h.pin == nil:
		return refuse(workspace.CodeNotFound, h.path)
	case to.pin != nil:
		return refuse(workspace.CodeExists, to.path)
	case to.slash && !h.meta.mode.IsDir():
		return refuse(workspace.CodeNotDirectory, to.path)
	case h.meta.mode.IsDir() && strings.HasPrefix(to.path, h.path+string(filepath.Separator)):
		return fault.New(workspace.CodeFailed, "path", h.path, "detail", "a directory cannot move into itself")
	}
	if err := h.entry(); err != nil {
		return err
	}
	return h.unchanged()
}

func (h *Handle) moveTo(to *Handle) error {
	if err := h.parent.move(h.name, to.parent, to.name); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return refuse(workspace.CodeExists, to.path)
		}
		if errors.Is(err, fs.ErrNotExist) { // either parent is gone, or the source
			return errChanged
		}
		return err
	}
	moved := h.meta
	h.drop()
	return to.repin(moved)
}

// Remove implements workspace.Remover. A fifo, a socket and a device node can be removed too.
func (h *Handle) Remove(ctx context.Context) error {
	end, err := h.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	switch {
	case h.pin == nil:
		return refuse(workspace.CodeNotFound, h.path)
	case h.meta.mode.IsDir():
		return refuse(workspace.CodeIsDirectory, h.path)
	}
	return coded(h.remove(dir.unlink), h.path)
}

// Rmdir implements workspace.Remover.
func (h *Handle) Rmdir(ctx context.Context) error {
	end, err := h.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	switch {
	case h.pin == nil:
		return refuse(workspace.CodeNotFound, h.path)
	case !h.meta.mode.IsDir():
		return refuse(workspace.CodeNotDirectory, h.path)
	}
	return coded(h.remove(dir.rmdir), h.path)
}

func (h *Handle) remove(how func(dir, string) error) error {
	if err := h.entry(); err != nil {
		return err
	}
	if err := h.unchanged(); err != nil {
		return err
	}
	if err := how(h.parent, h.name); err != nil {
		return err
	}
	h.drop()
	return nil
}
