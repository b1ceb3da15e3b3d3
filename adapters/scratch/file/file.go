// Package file is the Scratch of ports/workspace on disk (EDT-01, PRF-02): old contents, kept outside the workspace while an
// edit is checked, in a directory of ours. Every file is recorded by the Guard before it exists, is readable by its owner
// alone, and is gone after Drop, Close or recovery. The package never touches anything else in that directory.
//
// Notes is the same for what recovery has to read before it removes it: durable, and on record as journal.KindNote.
package file

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/agent-mcp/agent-mcp/adapters/internal/hostfile"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/journal"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

const chunk = 1 << 20 // bytes written between two looks at the context

// Scratch keeps contents as files of one directory. Safe for concurrent use.
type Scratch struct {
	root  *os.Root
	dir   string
	guard journal.Guard
	kind  journal.Kind
	sync  bool // a content is on the disk when Keep returns

	mu   sync.Mutex
	kept map[string]journal.Resource
}

var _ workspace.Scratch = (*Scratch)(nil)

// New opens dir, an absolute canonical path, and makes it (0700) when it is missing. guard may be nil: then a crash leaves files
// behind. workspace.CodeRootInvalid when dir is a symlink or no directory.
func New(dir string, guard journal.Guard) (*Scratch, error) {
	return open(dir, guard, journal.KindFile, false)
}

// Notes is New for contents that outlive a crash: when Keep returns, both the content and its record are durable, and the next
// start's recovery is told of every one that was not dropped. What Keep did not finish may be cut short.
func Notes(dir string, guard journal.Guard) (*Scratch, error) {
	return open(dir, guard, journal.KindNote, true)
}

func open(dir string, guard journal.Guard, kind journal.Kind, sync bool) (*Scratch, error) {
	if !filepath.IsAbs(dir) || filepath.Clean(dir) != dir {
		return nil, fault.New(workspace.CodeRootInvalid, "path", dir)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, coded(err, dir)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return nil, coded(err, dir)
	}
	if !info.IsDir() {
		return nil, fault.New(workspace.CodeRootInvalid, "path", dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, coded(err, dir)
	}
	return &Scratch{root: root, dir: dir, guard: guard, kind: kind, sync: sync, kept: map[string]journal.Resource{}}, nil
}

// Keep implements workspace.Scratch. On failure nothing is left.
func (s *Scratch) Keep(ctx context.Context, data []byte) (string, error) {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	name := ".agent-mcp-" + hex.EncodeToString(b[:]) + ".tmp"
	path := filepath.Join(s.dir, name)
	if err := ctx.Err(); err != nil {
		return "", fault.From(err)
	}
	var res journal.Resource
	if s.guard != nil {
		var err error
		if res, err = s.guard.Open(ctx, s.kind, path); err != nil {
			return "", err
		}
	}
	s.mu.Lock()
	s.kept[name] = res
	s.mu.Unlock()
	if err := s.write(ctx, name, data); err != nil {
		_ = s.Drop(context.WithoutCancel(ctx), name) // what cannot be removed stays in the journal
		return "", coded(err, path)
	}
	return name, nil
}

func (s *Scratch) write(ctx context.Context, name string, data []byte) (err error) {
	f, err := s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for len(data) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := f.Write(data[:min(len(data), chunk)])
		if err != nil {
			return err
		}
		data = data[n:]
	}
	if !s.sync {
		return nil
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return hostfile.SyncDir(s.dir)
}

// Load implements workspace.Scratch. workspace.CodeNotFound for a name that Keep did not give, or that was dropped.
func (s *Scratch) Load(ctx context.Context, name string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.From(err)
	}
	if !s.knows(name) {
		return nil, fault.New(workspace.CodeNotFound, "path", name)
	}
	data, err := s.root.ReadFile(name)
	return data, coded(err, filepath.Join(s.dir, name))
}

func (s *Scratch) knows(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.kept[name]
	return ok
}

// Drop implements workspace.Scratch. When the file cannot be removed it stays in the journal, and may be dropped again.
func (s *Scratch) Drop(ctx context.Context, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	res, ok := s.kept[name]
	if !ok {
		return nil
	}
	if err := s.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return coded(err, filepath.Join(s.dir, name))
	}
	delete(s.kept, name)
	if s.guard != nil {
		_ = s.guard.Close(ctx, res) // a record that stays open finds nothing to undo
	}
	return nil
}

// Close drops everything that is still kept, but for Notes: what was not dropped is the next start's. The directory stays.
func (s *Scratch) Close() error {
	if s.kind == journal.KindNote {
		return s.root.Close()
	}
	s.mu.Lock()
	names := make([]string, 0, len(s.kept))
	for n := range s.kept {
		names = append(names, n)
	}
	s.mu.Unlock()
	var errs []error
	for _, n := range names {
		errs = append(errs, s.Drop(context.Background(), n))
	}
	return errors.Join(append(errs, s.root.Close())...)
}

// coded gives the system's errors their codes.
func coded(err error, path string) error {
	var f *fault.Error
	code := workspace.CodeFailed
	switch {
	case err == nil:
		return nil
	case errors.As(err, &f):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fault.From(err)
	case errors.Is(err, fs.ErrNotExist):
		code = workspace.CodeNotFound
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		code = workspace.CodeNoSpace
	case errors.Is(err, syscall.EROFS):
		code = workspace.CodeReadOnly
	case errors.Is(err, fs.ErrPermission):
		code = workspace.CodePermission
	case errors.Is(err, syscall.ENOTDIR):
		code = workspace.CodeRootInvalid
	}
	return fault.Wrap(err, code, "path", path, "detail", err.Error())
}
