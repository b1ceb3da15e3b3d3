// Package flock keeps instances as directories with a locked file in each (ports/instance):
//
//	<dir>/registry.lock      held while an instance is made and while the dead are recovered
//	<dir>/<id>/lock          locked for the life of the process that owns it
//	<dir>/<id>/journal       its Recovery Journal
//
// A lock ends with its process, whatever ends it, so a free lock means a dead owner. The package never undoes anything
// and never looks into a journal.
package flock

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/agent-mcp/agent-mcp/adapters/internal/hostfile"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/instance"
	"github.com/agent-mcp/agent-mcp/ports/journal"
)

const (
	registryLock = "registry.lock"
	lockName     = "lock"
	journalName  = "journal"
	gonePrefix   = ".gone-" // a retired instance on its way out
)

// OpenJournal opens or makes a journal; wiring passes the one of adapters/journal/file.
type OpenJournal func(path string) (journal.Journal, error)

// Registry is the instances of one directory. Safe for concurrent use.
type Registry struct {
	dir  string
	open OpenJournal
}

var _ instance.Registry = (*Registry)(nil)

// New uses <state_dir>/instances; the directory is made when it is first needed.
func New(dir string, open OpenJournal) *Registry { return &Registry{dir: dir, open: open} }

// Own makes this process's instance.
func (r *Registry) Own(ctx context.Context, id string) (instance.Owned, error) {
	if !safe(id) {
		return nil, fault.New(instance.CodeUnsafe, "id", id)
	}
	unlock, err := r.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	dir := filepath.Join(r.dir, id)
	if _, err := os.Lstat(dir); err == nil {
		return nil, fault.New(instance.CodeExists, "id", id)
	}
	if err := hostfile.MakeDir(dir); err != nil {
		return nil, failed(err, dir)
	}
	o, err := r.own(dir, id)
	if err != nil {
		_ = os.RemoveAll(dir) // nothing was journaled in it
		return nil, err
	}
	return o, nil
}

func (r *Registry) own(dir, id string) (*owned, error) {
	lock, err := hostfile.TryLock(filepath.Join(dir, lockName))
	if err == nil && lock == nil {
		err = errors.New("a new lock is already held")
	}
	if err != nil {
		return nil, failed(err, dir)
	}
	j, err := r.open(filepath.Join(dir, journalName))
	if err != nil {
		_ = lock.Close()
		return nil, failed(err, dir)
	}
	return &owned{id: id, dir: dir, lock: lock, journal: j}, nil
}

// Recover shows every dead instance to fn.
func (r *Registry) Recover(ctx context.Context, fn func(context.Context, instance.Dead) error) error {
	unlock, err := r.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	entries, err := os.ReadDir(r.dir) // sorted by name
	if err != nil {
		return failed(err, r.dir)
	}
	var reasons []*fault.Error
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return fault.From(err)
		}
		if f := fault.From(r.recoverOne(ctx, e, fn)); f != nil {
			reasons = append(reasons, f)
		}
	}
	if len(reasons) > 0 {
		return fault.New(instance.CodeRecovery, "count", len(reasons)).With(reasons...)
	}
	return nil
}

func (r *Registry) recoverOne(ctx context.Context, e fs.DirEntry, fn func(context.Context, instance.Dead) error) error {
	dir := filepath.Join(r.dir, e.Name())
	switch {
	case e.Name() == registryLock:
		return nil
	case strings.HasPrefix(e.Name(), gonePrefix):
		return remove(r.dir, dir)
	case !e.IsDir():
		return failed(errors.New("it is not an instance"), dir)
	}
	lock, err := hostfile.TryLock(filepath.Join(dir, lockName))
	switch {
	case errors.Is(err, fs.ErrNotExist): // retired since the listing
		return nil
	case err != nil:
		return failed(err, dir)
	case lock == nil: // alive
		return nil
	}
	defer func() { _ = lock.Close() }()
	j, err := r.open(filepath.Join(dir, journalName))
	if err != nil {
		return failed(err, dir)
	}
	err = fn(ctx, instance.Dead{ID: e.Name(), Journal: j})
	if cerr := j.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	_ = lock.Close() // Windows renames nothing that is open; the registry's lock keeps others away
	return remove(r.dir, dir)
}

// remove deletes an instance in one step: a crash in the middle leaves either the whole or rubbish with a name that
// says so.
func remove(base, dir string) error {
	gone := dir
	if name := filepath.Base(dir); !strings.HasPrefix(name, gonePrefix) {
		gone = filepath.Join(base, gonePrefix+name)
		if err := os.Rename(dir, gone); err != nil {
			return failed(err, dir)
		}
		if err := hostfile.SyncDir(base); err != nil {
			return failed(err, base)
		}
	}
	if err := os.RemoveAll(gone); err != nil {
		return failed(err, gone)
	}
	return nil
}

func (r *Registry) lock(ctx context.Context) (unlock func(), err error) {
	if err := hostfile.MakeDir(r.dir); err != nil {
		return nil, failed(err, r.dir)
	}
	f, err := hostfile.Lock(ctx, filepath.Join(r.dir, registryLock), nil)
	if err != nil {
		return nil, failed(err, r.dir)
	}
	return func() { _ = f.Close() }, nil
}

// owned is this process's instance.
type owned struct {
	id, dir string
	journal journal.Journal

	once sync.Once
	lock *os.File
}

func (o *owned) ID() string               { return o.id }
func (o *owned) Journal() journal.Journal { return o.journal }
func (o *owned) Close() error             { return o.end(false) }
func (o *owned) Retire() error            { return o.end(true) }

func (o *owned) end(retire bool) (err error) {
	o.once.Do(func() {
		err = o.journal.Close()
		if retire && err == nil {
			err = o.retire()
		}
		if cerr := o.lock.Close(); err == nil && cerr != nil && !errors.Is(cerr, os.ErrClosed) {
			err = failed(cerr, o.dir)
		}
	})
	return err
}

// safe allows what ident makes and what tests use: letters, digits, '-' and '_', at most 64.
func safe(id string) bool {
	if id == "" || len(id) > 64 {
		return false
	}
	return strings.IndexFunc(id, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	}) < 0
}

func failed(err error, path string) error {
	var f *fault.Error
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fault.From(err)
	}
	return fault.Wrap(err, instance.CodeFailed, "path", path, "detail", err.Error())
}
