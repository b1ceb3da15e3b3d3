package osroot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/journal"
)

// Undoer removes what a crash left behind: files, sockets and directory trees of ours (REC-06, PRF-02). It touches nothing but
// names that a Tree or a Scratch makes for temporary files, and what lies below the directories that are ours altogether. It
// follows no symlink, neither on the way nor inside a tree, and enters no other file system.
type Undoer struct {
	sys system
	own []string
}

var _ journal.Undoer = (*Undoer)(nil)

// NewUndoer makes an Undoer. own are absolute canonical directories in which everything is ours; they are never removed
// themselves.
func NewUndoer(own ...string) *Undoer { return &Undoer{sys: native(), own: own} }

// Undo implements journal.Undoer for KindFile, KindSocket and KindTree; other kinds are journal.CodeUnknown. A path that is
// not ours, a symlink on the way, and a thing of another kind than recorded are journal.CodeUndoFailed: nothing is removed.
func (u *Undoer) Undo(ctx context.Context, res journal.Resource) error {
	switch res.Kind {
	case journal.KindFile, journal.KindSocket, journal.KindTree:
	default:
		return fault.New(journal.CodeUnknown, "kind", string(res.Kind), "path", res.Path)
	}
	err := ctx.Err()
	if err == nil {
		err = u.undo(ctx, res)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return fault.From(err)
	}
	return fault.Wrap(err, journal.CodeUndoFailed, "path", res.Path, "detail", err.Error())
}

func (u *Undoer) undo(ctx context.Context, res journal.Resource) error {
	if err := u.ours(res.Path); err != nil {
		return err
	}
	parent, err := openDir(u.sys, filepath.Dir(res.Path))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil // gone with its parent
	}
	if err != nil {
		return err
	}
	defer parent.close()
	name := filepath.Base(res.Path)
	m, err := parent.stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if m.mode.IsDir() != (res.Kind == journal.KindTree) {
		return fmt.Errorf("a %s was recorded, %s is there", res.Kind, m.mode.Type())
	}
	if res.Kind != journal.KindTree {
		err = parent.unlink(name)
	} else {
		err = removeTree(ctx, parent, name)
	}
	parent.sync()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (u *Undoer) ours(path string) error {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path || badName(path) || filepath.Dir(path) == path {
		return errors.New("not an absolute canonical path")
	}
	if isTempName(filepath.Base(path)) {
		return nil
	}
	for _, own := range u.own {
		if own != "" && strings.HasPrefix(path, strings.TrimSuffix(own, string(filepath.Separator))+string(filepath.Separator)) {
			return nil
		}
	}
	return errors.New("neither a temporary name of ours nor below a directory of ours")
}

func openDir(sys system, path string) (dir, error) {
	p, err := sys.root(path)
	if err != nil {
		return nil, err
	}
	defer p.close()
	m, err := p.meta()
	switch {
	case err != nil:
		return nil, err
	case m.mode&fs.ModeSymlink != 0:
		return nil, syscall.ELOOP
	case !m.mode.IsDir():
		return nil, syscall.ENOTDIR
	}
	return p.dir()
}

// removeTree removes a directory with its content. However deep it is, two directories are open at most: subdirectories of
// subdirectories are first moved up under a temporary name.
func removeTree(ctx context.Context, parent dir, name string) error {
	top, err := parent.claim(name)
	if err != nil {
		return err
	}
	defer top.close()
	for {
		var dirs []string
		if err := removeFiles(ctx, top, func(n string) error { dirs = append(dirs, n); return nil }); err != nil {
			return err
		}
		if len(dirs) == 0 {
			return parent.rmdir(name)
		}
		for _, d := range dirs {
			if err := flatten(ctx, top, d); err != nil {
				return err
			}
		}
	}
}

// flatten removes the files of a subdirectory, moves its directories up, and removes it.
func flatten(ctx context.Context, top dir, name string) error {
	sub, err := top.claim(name)
	if err != nil {
		return err
	}
	defer sub.close()
	err = removeFiles(ctx, sub, func(n string) error {
		d, err := sub.claim(n) // what cannot be claimed is not moved either
		if err != nil {
			return err
		}
		d.close()
		return sub.move(n, top, tempName())
	})
	if err != nil {
		return err
	}
	return top.rmdir(name)
}

// removeFiles removes all that is no directory and tells the rest to each.
func removeFiles(ctx context.Context, d dir, each func(name string) error) error {
	var names []string
	err := d.names(func(some []string) error { names = append(names, some...); return ctx.Err() })
	if err != nil {
		return err
	}
	for _, n := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		m, err := d.stat(n)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err == nil && m.mode.IsDir():
			err = each(n)
		case err == nil:
			err = d.unlink(n)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
