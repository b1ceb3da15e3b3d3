// Package file keeps the records of MCP Tasks as one JSON file each in one directory, for their owner only (ports/mcptask). A
// locked file for each server tells which servers live; the lock ends with the process, however it ends.
//
// It never follows a symlink in its directory, and a file appears whole or not at all.
package file

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-mcp/agent-mcp/adapters/internal/hostfile"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/mcptask"
)

// Store implements mcptask.Store for one server.
type Store struct {
	dir, server string
	lock        *os.File
	mu          sync.Mutex // one write at a time
}

var _ mcptask.Store = (*Store)(nil)

const (
	record = ".json"
	alive  = ".lock"
	half   = ".new-*"
)

var plain = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)

func failed(path string, err error) error {
	return fault.Wrap(err, mcptask.CodeFailed, "path", path, "detail", hostfile.Reason(err))
}

// Open returns the store of a server, a plain name; the server lives until Close or the end of the process. mcptask.CodeFailed.
func Open(dir, server string) (*Store, error) {
	if !plain.MatchString(server) {
		return nil, failed(dir, errors.New("the server's name is not plain"))
	}
	if err := hostfile.MakeDir(dir); err != nil {
		return nil, failed(dir, err)
	}
	path := filepath.Join(dir, server+alive)
	lock, err := hostfile.TryLock(path)
	if err == nil && lock == nil {
		err = errors.New("a server of this name lives")
	}
	if err != nil {
		return nil, failed(path, err)
	}
	s := &Store{dir: dir, server: server, lock: lock}
	s.sweep()
	return s, nil
}

// sweep removes what servers left that are gone: their locks, and files half written.
func (s *Store) sweep() {
	locks, _ := filepath.Glob(filepath.Join(s.dir, "*"+alive))
	for _, path := range locks {
		if f, err := hostfile.TryLock(path); err == nil && f != nil {
			_ = os.Remove(path)
			_ = f.Close()
		}
	}
	halves, _ := filepath.Glob(filepath.Join(s.dir, half))
	for _, path := range halves {
		if info, err := os.Lstat(path); err == nil && time.Since(info.ModTime()) > time.Hour {
			_ = os.Remove(path)
		}
	}
}

// Close ends the server.
func (s *Store) Close() error {
	_ = os.Remove(s.lock.Name())
	if err := s.lock.Close(); err != nil {
		return failed(s.lock.Name(), err)
	}
	return nil
}

// lives reports whether another server holds its lock.
func (s *Store) lives(server string) bool {
	if server == s.server || !plain.MatchString(server) {
		return false
	}
	path := filepath.Join(s.dir, server+alive)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return false
	}
	f, err := hostfile.TryLock(path)
	if f != nil {
		_ = os.Remove(path)
		_ = f.Close()
	}
	return f == nil || err != nil
}

func (s *Store) path(id string) (string, error) {
	if !plain.MatchString(id) {
		return "", fault.New(mcptask.CodeUnknown, "task", id)
	}
	return filepath.Join(s.dir, id+record), nil
}

// Put implements mcptask.Store.
func (s *Store) Put(ctx context.Context, r mcptask.Record) error {
	if err := ctx.Err(); err != nil {
		return fault.From(err)
	}
	path, err := s.path(r.ID)
	if err != nil || len(r.Key) > mcptask.MaxKey {
		return failed(s.dir, errors.New("the id is not plain, or the key too long"))
	}
	text, err := json.Marshal(r)
	if err == nil && len(text) > mcptask.MaxBytes {
		err = errors.New("too large")
	}
	if err != nil {
		return failed(path, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := replace(path, text); err != nil {
		return failed(path, err)
	}
	return nil
}

// replace makes the content of a file durable under its name.
func replace(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), half) // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return err
	}
	return hostfile.SyncDir(filepath.Dir(path))
}

// Get implements mcptask.Store.
func (s *Store) Get(ctx context.Context, id string) (mcptask.Record, error) {
	if err := ctx.Err(); err != nil {
		return mcptask.Record{}, fault.From(err)
	}
	path, err := s.path(id)
	if err != nil {
		return mcptask.Record{}, err
	}
	r, err := read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && (r.ID != id || s.lives(r.Server)):
		return mcptask.Record{}, fault.New(mcptask.CodeUnknown, "task", id)
	case err != nil:
		return mcptask.Record{}, failed(path, err)
	}
	return r, nil
}

func read(path string) (r mcptask.Record, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return r, err
	}
	if !info.Mode().IsRegular() {
		return r, errors.New("not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return r, err
	}
	defer f.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(io.LimitReader(f, mcptask.MaxBytes+1))
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(text, &r)
}

// List implements mcptask.Store.
func (s *Store) List(ctx context.Context) (heads []mcptask.Head, err error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, failed(s.dir, err)
	}
	living := map[string]bool{}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, fault.From(err)
		}
		id, ok := strings.CutSuffix(e.Name(), record)
		if !ok || !e.Type().IsRegular() || !plain.MatchString(id) {
			continue
		}
		r, err := read(filepath.Join(s.dir, e.Name()))
		if err != nil || r.ID != id {
			continue
		}
		lives, known := living[r.Server]
		if !known {
			lives = s.lives(r.Server)
			living[r.Server] = lives
		}
		if !lives {
			heads = append(heads, r.Head)
		}
	}
	slices.SortFunc(heads, func(a, b mcptask.Head) int { return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID)) })
	return heads, nil
}

// Remove implements mcptask.Store.
func (s *Store) Remove(ctx context.Context, id string) error {
	if _, err := s.Get(ctx, id); fault.CodeOf(err) == mcptask.CodeUnknown {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return fault.From(err)
	}
	path := filepath.Join(s.dir, id+record)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failed(path, err)
	}
	return nil
}
