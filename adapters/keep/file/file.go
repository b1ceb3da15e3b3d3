// Package file keeps directories on the host's file system (ports/keep): owner-only, one component at a time, never
// through a symlink. It never looks at what is in them.
package file

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-mcp/agent-mcp/adapters/internal/hostfile"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/keep"
)

const mode fs.FileMode = 0o700

// Keeper implements keep.Keeper. The zero value is ready.
type Keeper struct{}

var _ keep.Keeper = Keeper{}

// New returns a Keeper.
func New() Keeper { return Keeper{} }

// Make implements keep.Keeper.
func (Keeper) Make(ctx context.Context, base, below string) error {
	names, err := parts(ctx, base, below)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(base, mode); err != nil {
		return failed(base, err)
	}
	if err := look(base, true); err != nil {
		return err
	}
	dir := base
	for i, name := range names {
		dir = filepath.Join(dir, name)
		if err := os.Mkdir(dir, mode); err != nil && !errors.Is(err, fs.ErrExist) {
			return failed(dir, err)
		}
		last := i == len(names)-1
		if err := look(dir, !last); err != nil {
			return err
		}
		if !last {
			continue
		}
		if err := tighten(dir); err != nil {
			return failed(dir, err)
		}
	}
	return nil
}

// Check implements keep.Keeper.
func (Keeper) Check(ctx context.Context, base, below string) error {
	names, err := parts(ctx, base, below)
	if err != nil {
		return err
	}
	if err := look(base, true); err != nil {
		return err
	}
	dir := base
	for i, name := range names {
		dir = filepath.Join(dir, name)
		if err := look(dir, i < len(names)-1); err != nil {
			return err
		}
	}
	return nil
}

func parts(ctx context.Context, base, below string) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.From(err)
	}
	if !filepath.IsAbs(base) || !filepath.IsLocal(below) || filepath.Clean(below) != below || below == "." {
		return nil, failed(filepath.Join(base, below), errors.New("not a place below a directory"))
	}
	return strings.Split(below, string(filepath.Separator)), nil
}

// look refuses what is no directory of this user's. closed: nobody else may write it.
func look(dir string, closed bool) error {
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.Wrap(err, keep.CodeMissing, "path", dir)
	case err != nil:
		return failed(dir, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return fault.New(keep.CodeUnsafe, "path", dir, "detail", "it is a symbolic link")
	case !info.IsDir():
		return fault.New(keep.CodeUnsafe, "path", dir, "detail", "it is not a directory")
	}
	if detail := foreign(info, closed); detail != "" {
		return fault.New(keep.CodeUnsafe, "path", dir, "detail", detail)
	}
	return nil
}

func failed(path string, err error) error {
	return fault.Wrap(err, keep.CodeFailed, "path", path, "detail", hostfile.Reason(err))
}
