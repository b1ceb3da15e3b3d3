// Package mem keeps directories as names in memory (ports/keep), for tests. Every base exists and belongs to the caller.
package mem

import (
	"context"
	"errors"
	"path/filepath"
	"sync"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/keep"
)

// Keeper implements keep.Keeper. The zero value holds nothing.
type Keeper struct {
	mu   sync.Mutex
	made map[string]bool
}

var _ keep.Keeper = (*Keeper)(nil)

// Make implements keep.Keeper.
func (k *Keeper) Make(ctx context.Context, base, below string) error {
	path, err := place(ctx, base, below)
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.made == nil {
		k.made = map[string]bool{}
	}
	k.made[path] = true
	return nil
}

// Check implements keep.Keeper.
func (k *Keeper) Check(ctx context.Context, base, below string) error {
	path, err := place(ctx, base, below)
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.made[path] {
		return fault.New(keep.CodeMissing, "path", path)
	}
	return nil
}

// Remove forgets a directory.
func (k *Keeper) Remove(path string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.made, path)
}

func place(ctx context.Context, base, below string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", fault.From(err)
	}
	path := filepath.Join(base, below)
	if !filepath.IsAbs(base) || !filepath.IsLocal(below) || filepath.Clean(below) != below || below == "." {
		return "", fault.Wrap(errors.New("not a place below a directory"), keep.CodeFailed, "path", path, "detail", "not a place below a directory")
	}
	return path, nil
}
