// Package file keeps Applied Configurations below a state directory, one per configuration: <dir>/<id>/snapshot.json,
// for its owner only (CFG-05). It stores bytes; it never reads their meaning.
//
// A snapshot is replaced by write, sync, rename, sync: after a crash the old or the new one is there, whole.
package file

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-mcp/agent-mcp/adapters/internal/hostfile"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/snapshot"
)

const (
	name     = "snapshot.json"
	temp     = ".new-"
	maxBytes = 4 << 20
)

// Store implements snapshot.Store. Safe for concurrent use, by several processes too.
type Store struct {
	dir  string
	step func(string) error // tests make a step fail
}

var _ snapshot.Store = (*Store)(nil)

// New returns the store in dir, which is made at the first Save.
func New(dir string) *Store { return &Store{dir: dir, step: func(string) error { return nil }} }

func failed(path string, err error) error {
	return fault.Wrap(err, snapshot.CodeFailed, "path", path, "detail", hostfile.Reason(err))
}

func unsafe(path, detail string) error {
	return fault.New(snapshot.CodeUnsafe, "path", path, "detail", detail)
}

func (s *Store) place(ctx context.Context, configID string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", fault.From(err)
	}
	if !snapshot.ValidID(configID) {
		return "", failed(configID, errors.New("invalid id"))
	}
	return filepath.Join(s.dir, configID), nil
}

// Load implements snapshot.Store. The file, its directory, the store's directory and the one above must belong to this user and be
// writable by nobody else; a symlink is nobody's snapshot.
func (s *Store) Load(ctx context.Context, configID string) ([]byte, error) {
	dir, err := s.place(ctx, configID)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, name)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(snapshot.CodeNone, "config", configID)
	}
	if err := s.check(dir); err != nil {
		return nil, err
	}
	f, err := openFile(path)
	if err != nil {
		return nil, failed(path, err)
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	if err != nil {
		return nil, failed(path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, unsafe(path, "not a regular file")
	}
	if detail := foreign(info); detail != "" {
		return nil, unsafe(path, detail)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return nil, failed(path, err)
	}
	if len(data) > maxBytes {
		return nil, failed(path, errors.New("too large"))
	}
	return data, nil
}

// check refuses a place that somebody else could have changed: the configuration's directory, the store's, and the state
// directory that holds it, where a whole store could be put in its place. That one may be a symlink of the owner's.
func (s *Store) check(dir string) error {
	state := filepath.Dir(s.dir)
	info, err := os.Stat(state)
	if err != nil {
		return failed(state, err)
	}
	if detail := foreign(info); detail != "" {
		return unsafe(state, detail)
	}
	for _, d := range []string{s.dir, dir} {
		if err := checkDir(d); err != nil {
			return err
		}
	}
	return nil
}

// checkDir refuses a directory of ours that somebody else could have changed.
func checkDir(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return failed(dir, err)
	}
	if !info.IsDir() {
		return unsafe(dir, "not a directory")
	}
	if detail := foreign(info); detail != "" {
		return unsafe(dir, detail)
	}
	return nil
}

// Save implements snapshot.Store.
func (s *Store) Save(ctx context.Context, configID string, data []byte) error {
	dir, err := s.place(ctx, configID)
	if err != nil {
		return err
	}
	if len(data) > maxBytes {
		return failed(dir, errors.New("too large"))
	}
	if err := s.do("mkdir", func() error { return os.MkdirAll(dir, 0o700) }); err != nil {
		return failed(dir, err)
	}
	if err := s.check(dir); err != nil {
		return err
	}
	unlock, err := lock(dir)
	if err != nil {
		return failed(dir, err)
	}
	defer unlock()
	sweep(dir)
	if err := s.replace(dir, data); err != nil {
		return failed(filepath.Join(dir, name), err)
	}
	return nil
}

func (s *Store) do(step string, fn func() error) error {
	if err := s.step(step); err != nil {
		return err
	}
	return fn()
}

func (s *Store) replace(dir string, data []byte) (err error) {
	var f *os.File
	err = s.do("create", func() error {
		f, err = os.CreateTemp(dir, temp)
		return err
	})
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // the failure that is reported came first
		}
	}()
	for _, part := range []struct {
		step string
		fn   func() error
	}{
		{"write", func() error { _, err := f.Write(data); return err }},
		{"sync", f.Sync},
		{"close", f.Close},
		{"rename", func() error { return os.Rename(f.Name(), filepath.Join(dir, name)) }},
	} {
		if err = s.do(part.step, part.fn); err != nil {
			_ = f.Close()
			return err
		}
	}
	// The new snapshot stands; a directory that cannot be synced costs durability only, and a parent's entry with it.
	syncDir(dir)
	syncDir(filepath.Dir(dir))
	return nil
}

// sweep removes what a crashed Save left; the lock says that no other Save is at work.
func sweep(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), temp) {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}
