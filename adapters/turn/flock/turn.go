// Package flock hands out the turn between processes with a locked file (ports/turn; spec section 2, concurrency). Who
// holds it stands in a second file beside it, for the waiting only: the lock alone decides, so a dead holder's turn is
// free at once whatever that file says. It never breaks a lock and keeps no order among the waiting.
package flock

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/agent-mcp/agent-mcp/adapters/internal/hostfile"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/turn"
)

// Turn is the turn of one configuration. Safe for concurrent use.
type Turn struct{ lock, holder string }

var _ turn.Turn = (*Turn)(nil)

// New uses <dir>/<name>.lock and <dir>/<name>.holder; name is the configuration's id. Both are made when needed and
// stay: they belong to no Task.
func New(dir, name string) *Turn {
	base := filepath.Join(dir, name)
	return &Turn{lock: base + ".lock", holder: base + ".holder"}
}

// Acquire polls every 50 ms (hostfile.Poll) until the lock is free.
func (t *Turn) Acquire(ctx context.Context, me turn.Holder, onWait func(turn.Holder)) (func(), error) {
	if err := hostfile.MakeDir(filepath.Dir(t.lock)); err != nil {
		return nil, t.failed(err)
	}
	var last turn.Holder
	f, err := hostfile.Lock(ctx, t.lock, func() {
		if h, ok := t.read(); ok && h != last && onWait != nil {
			last = h
			onWait(h)
		}
	})
	if err != nil {
		return nil, t.failed(err)
	}
	data, err := json.Marshal(me)
	if err == nil {
		err = t.write(data)
	}
	if err != nil {
		_ = f.Close()
		return nil, t.failed(err)
	}
	var once sync.Once
	return func() {
		once.Do(func() {
			_ = os.Remove(t.holder) // only a hint: nobody reads it once the lock is free
			_ = f.Close()
		})
	}, nil
}

// write says who holds the turn. It needs no temporary file, which a crash could leave behind: only the holder of the lock
// writes, and who reads half of it reads again at the next poll.
func (t *Turn) write(data []byte) error {
	if err := os.Remove(t.holder); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, _, err := hostfile.OpenAppend(t.holder)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// maxHolder bounds what is read of a file that somebody else may have written, in bytes.
const maxHolder = 4096

func (t *Turn) read() (h turn.Holder, ok bool) {
	info, err := os.Lstat(t.holder)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxHolder {
		return h, false
	}
	data, err := os.ReadFile(t.holder)
	return h, err == nil && json.Unmarshal(data, &h) == nil
}

func (t *Turn) failed(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fault.From(err)
	}
	return fault.Wrap(err, turn.CodeFailed, "path", t.lock, "detail", err.Error())
}
