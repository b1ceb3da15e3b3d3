package osroot

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/agent-mcp/agent-mcp/ports/journal"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// Names of temporary files: TempPrefix, 32 hexadecimal digits, TempSuffix.
const (
	TempPrefix = ".agent-mcp-"
	TempSuffix = ".tmp"
)

func tempName() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return TempPrefix + hex.EncodeToString(b[:]) + TempSuffix
}

// isTempName reports that name is one tempName makes.
func isTempName(name string) bool {
	if len(name) != len(TempPrefix)+32+len(TempSuffix) || name[:len(TempPrefix)] != TempPrefix {
		return false
	}
	rest := name[len(TempPrefix):]
	_, err := hex.DecodeString(rest[:32])
	return err == nil && rest[32:] == TempSuffix
}

// entry says why the place's name cannot be changed.
func (h *Handle) entry() error {
	if h.fixed {
		return refuse(workspace.CodeOutside, h.path) // its name stands in a directory outside the roots
	}
	return nil
}

// unchanged makes sure that the name still means what was resolved (FS-03).
func (h *Handle) unchanged() error {
	m, err := h.parent.stat(h.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if h.pin == nil {
			return nil
		}
		return errChanged
	case err != nil:
		return err
	case h.pin == nil || !m.same(h.meta):
		return errChanged
	}
	return nil
}

// Replace implements workspace.Writer. A new file is 0644, with exec 0755, less umask; an existing one keeps its permission
// bits (set-id bits fall, as they do on any write) and gets the execute bits beside its read bits when exec is true. Its
// owner is kept as far as the process may give files away. A file the process may not write is CodePermission, though the
// directory would allow it: a process in the sandbox meets the same answer.
func (h *Handle) Replace(ctx context.Context, data []byte, exec bool, want *workspace.Identity) (workspace.Info, error) {
	end, err := h.begin(ctx)
	if err != nil {
		return workspace.Info{}, err
	}
	defer end()
	if err = h.replaceable(want); err == nil {
		err = h.replace(ctx, data, exec)
	}
	return h.info(), coded(err, h.path)
}

func (h *Handle) replaceable(want *workspace.Identity) error {
	if err := h.entry(); err != nil {
		return err
	}
	if h.pin == nil {
		if want != nil {
			return errChanged
		}
		if h.slash {
			return refuse(workspace.CodeIsDirectory, h.path)
		}
		return h.unchanged()
	}
	if err := h.regular(); err != nil {
		return err
	}
	if err := h.asWanted(want); err != nil {
		return err
	}
	return h.pin.writable()
}

// asWanted compares the name and the pinned content with what the caller believes.
func (h *Handle) asWanted(want *workspace.Identity) error {
	if err := h.unchanged(); err != nil || h.pin == nil {
		return err
	}
	m, err := h.pin.meta()
	if err != nil {
		return err
	}
	if want != nil && !equal(m.id, *want) {
		return errChanged
	}
	h.meta = m
	return nil
}

func equal(a, b workspace.Identity) bool {
	return a.Volume == b.Volume && a.File == b.File && a.Size == b.Size && a.ModifiedAt.Equal(b.ModifiedAt) &&
		a.Change.Equal(b.Change)
}

// replace writes beside the target and renames. Whatever fails, the old content stays and the temporary file goes.
func (h *Handle) replace(ctx context.Context, data []byte, exec bool) error {
	temp := tempName()
	forget, err := h.tree.record(ctx, filepath.Join(filepath.Dir(h.path), temp))
	if err != nil {
		return err
	}
	m, err := h.make(ctx, temp, data, exec)
	if err == nil {
		err = h.publish(temp, m)
	}
	if err != nil {
		if h.parent.unlink(temp) != nil {
			if _, gone := h.parent.stat(temp); !errors.Is(gone, fs.ErrNotExist) {
				return err // the journal keeps it, and recovery removes it
			}
		}
	}
	h.parent.sync() // before the journal forgets it
	forget(ctx)
	if err != nil {
		return err
	}
	return h.repin(m)
}

// make writes the temporary file, durable and with the target's mode and owner, and describes it.
func (h *Handle) make(ctx context.Context, temp string, data []byte, exec bool) (m meta, err error) {
	perm := fs.FileMode(0o644)
	switch {
	case h.pin != nil:
		perm = 0o600 // private until it is whole
	case exec:
		perm = 0o755
	}
	f, err := h.parent.create(temp, perm)
	if err != nil {
		return meta{}, err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	for len(data) > 0 {
		if err := ctx.Err(); err != nil {
			return meta{}, err
		}
		n, err := f.Write(data[:min(len(data), chunk)])
		if err != nil {
			return meta{}, err
		}
		data = data[n:]
	}
	if h.pin != nil {
		perm = h.meta.mode.Perm()
		if exec {
			perm |= perm & 0o444 >> 2
		}
		if err := f.adopt(h.meta, perm); err != nil {
			return meta{}, err
		}
	}
	if err := f.sync(); err != nil {
		return meta{}, err
	}
	return f.meta()
}

// publish gives the temporary file the target's name, if both are still what they were.
func (h *Handle) publish(temp string, made meta) error {
	m, err := h.parent.stat(temp)
	if err != nil {
		return err
	}
	if !m.same(made) {
		return errChanged
	}
	if h.pin == nil {
		err = h.parent.move(temp, h.parent, h.name)
		if errors.Is(err, fs.ErrExist) {
			return errChanged
		}
		return err
	}
	old := h.meta.id
	if err := h.asWanted(&old); err != nil {
		return err
	}
	return h.parent.replace(temp, h.name)
}

// repin makes the handle one on what its name means now, which must be made.
func (h *Handle) repin(made meta) error {
	p, m, err := h.parent.look(h.name)
	if err != nil {
		return err
	}
	if !m.same(made) {
		p.close()
		return errChanged
	}
	h.drop()
	h.pin, h.meta = p, m
	return nil
}

// drop makes the handle one on nothing.
func (h *Handle) drop() {
	if h.pin != nil {
		h.pin.close()
	}
	h.pin, h.meta = nil, meta{}
}

// record tells the guard of a temporary file; forget tells it that the file is gone. A failing forget is no failure: the
// record stays open, and recovery will find nothing to do.
func (t *Tree) record(ctx context.Context, path string) (forget func(context.Context), err error) {
	if t.guard == nil {
		return func(context.Context) {}, nil
	}
	res, err := t.guard.Open(ctx, journal.KindFile, path)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { _ = t.guard.Close(ctx, res) }, nil
}

// Mkdir implements workspace.Writer.
func (h *Handle) Mkdir(ctx context.Context) (workspace.Info, error) {
	end, err := h.begin(ctx)
	if err != nil {
		return workspace.Info{}, err
	}
	defer end()
	if h.pin != nil {
		return h.info(), refuse(workspace.CodeExists, h.path)
	}
	if err = h.parent.mkdir(h.name); err == nil {
		h.pin, h.meta, err = h.parent.look(h.name)
	}
	return h.info(), coded(err, h.path)
}
