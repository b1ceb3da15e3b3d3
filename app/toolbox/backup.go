package toolbox

import (
	"context"
	"errors"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// backup is a file's old content while an edit of it is checked (EDT-01). It is gone when the edit is over.
type backup struct {
	path  string // resolved
	fresh bool   // there was no file
	exec  bool
	old   []byte // the content, unless it lies in Scratch
	name  string // in Scratch
}

// keep fills b with the old content: in memory up to the limit, above it in Scratch.
func (b *Box) keep(ctx context.Context, k *backup, old []byte) error {
	if int64(len(old)) <= b.Limits.MemoryBackupBytes {
		k.old = old
		return nil
	}
	if b.Scratch == nil {
		return fault.New(CodeNoBackup, "path", b.show(k.path))
	}
	name, err := b.Scratch.Keep(ctx, old)
	if err != nil {
		return err
	}
	k.name = name
	return nil
}

// restore puts the old content back, or removes what did not exist.
func (b *Box) restore(ctx context.Context, k backup) error {
	h, err := b.Tree.Resolve(ctx, k.path)
	if err != nil {
		return err
	}
	defer h.Close()              //nolint:errcheck // Replace and Remove report what matters
	if h.Info().Path != k.path { // the name leads elsewhere by now, where nobody judged a write
		return fault.New(workspace.CodeChanged, "path", b.show(k.path))
	}
	if k.fresh {
		return h.Remove(ctx)
	}
	old := k.old
	if k.name != "" {
		if old, err = b.Scratch.Load(ctx, k.name); err != nil {
			return err
		}
	}
	_, err = h.Replace(ctx, old, k.exec, nil)
	return err
}

// drop gives a backup up. What Scratch does not let go of now is tried again by Close (PRF-02).
func (b *Box) drop(ctx context.Context, k backup) {
	if k.name != "" && b.Scratch.Drop(ctx, k.name) != nil {
		b.left = append(b.left, k.name)
	}
}

// dropLeft is what Close does about backups.
func (b *Box) dropLeft(ctx context.Context) (err error) {
	for _, name := range b.left {
		err = errors.Join(err, b.Scratch.Drop(ctx, name))
	}
	b.left = nil
	return err
}
