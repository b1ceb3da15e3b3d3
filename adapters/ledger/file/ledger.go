// Package file is the audit sink on disk (ports/ledger, LOG-03): owner-only JSON Lines, one series of parts per instance,
//
//	<dir>/audit-<name>.00001.jsonl, audit-<name>.00002.jsonl, …
//
// The chain of lines runs on from part to part; the oldest part goes when there are more than MaxFiles. Parts of dead
// instances are kept as long as all of them together take no more than MaxFileBytes × MaxFiles. A part that is being
// written is locked, so a living instance's parts are never taken away. The package never reads what a line says.
package file

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/agent-mcp/agent-mcp/adapters/internal/hostfile"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/ledger"
)

// Options of a ledger.
type Options struct {
	Dir          string // made when missing, owner-only
	Name         string // the instance; a plain file name
	MaxFileBytes int64  // a part is closed before it grows beyond; 0 = 20 MiB
	MaxFiles     int    // parts kept of this instance, at least 1; 0 = 5
}

// Defaults of agent.yaml.
const (
	defaultFileBytes = 20 << 20
	defaultFiles     = 5
)

// Ledger is one instance's series of parts. Safe for concurrent use.
type Ledger struct {
	opt Options

	mu    sync.Mutex
	f     file
	part  int
	size  int64 // bytes of whole lines in the open part
	ended error // set when no line can be appended any more
}

// file is what a ledger needs of *os.File; tests put a failing one in its place.
type file interface {
	io.Writer
	Sync() error
	Truncate(size int64) error
	Close() error
}

var _ ledger.Ledger = (*Ledger)(nil)

// New opens or goes on with the ledger of opt.Name, and takes away what is too much of dead instances.
func New(opt Options) (*Ledger, error) {
	if opt.MaxFileBytes <= 0 {
		opt.MaxFileBytes = defaultFileBytes
	}
	if opt.MaxFiles <= 0 {
		opt.MaxFiles = defaultFiles
	}
	if opt.Name == "" || opt.Name != filepath.Base(opt.Name) || strings.HasPrefix(opt.Name, ".") {
		return nil, failed(errors.New("the name is not a plain file name"), opt.Name)
	}
	if err := hostfile.MakeDir(opt.Dir); err != nil {
		return nil, failed(err, opt.Dir)
	}
	l := &Ledger{opt: opt}
	parts, err := l.parts()
	if err != nil {
		return nil, err
	}
	part := 1
	if n := len(parts); n > 0 {
		part = parts[n-1].number
	}
	if err := l.openPart(part); err != nil {
		return nil, err
	}
	prune(opt) // best effort: rubbish never stops a start
	return l, nil
}

// Append writes one line with its newline in one call. A half-written line is cut off again.
func (l *Ledger) Append(ctx context.Context, line []byte) error {
	if err := ctx.Err(); err != nil {
		return fault.From(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.ended != nil:
		return failed(l.ended, l.path(l.part))
	case len(line) == 0 || bytes.IndexByte(line, '\n') >= 0:
		return failed(errors.New("a line is not empty and has no newline in it"), l.path(l.part))
	}
	need := int64(len(line)) + 1
	if l.size > 0 && l.size+need > l.opt.MaxFileBytes {
		if err := l.rotate(); err != nil {
			return err
		}
	}
	buf := append(append(make([]byte, 0, need), line...), '\n')
	if _, err := l.f.Write(buf); err != nil {
		if cutErr := l.f.Truncate(l.size); cutErr != nil {
			l.ended = errors.Join(err, cutErr)
		}
		return failed(err, l.path(l.part))
	}
	l.size += need
	return nil
}

// rotate opens the next part, then lets go of the present one and of parts that are too many.
func (l *Ledger) rotate() error {
	old, oldPart := l.f, l.part
	if err := l.openPart(l.part + 1); err != nil {
		return err // the present part stays open: the line is refused, nothing is lost
	}
	if err := errors.Join(old.Sync(), old.Close()); err != nil {
		return failed(err, l.path(oldPart))
	}
	parts, err := l.parts()
	if err != nil {
		return err
	}
	for _, p := range parts[:max(0, len(parts)-l.opt.MaxFiles)] {
		if err := os.Remove(p.path); err != nil {
			return failed(err, p.path)
		}
	}
	return nil
}

// openPart opens, locks and trims a part, and makes it the present one.
func (l *Ledger) openPart(number int) error {
	path := l.path(number)
	f, err := hostfile.TryLock(path)
	if err == nil && f == nil {
		err = errors.New("another process writes to it")
	}
	if err != nil {
		return failed(err, path)
	}
	size, err := wholeLines(f)
	if err == nil {
		err = f.Truncate(size) // a torn last line was never acknowledged
	}
	if err == nil && size == 0 {
		err = hostfile.SyncDir(l.opt.Dir)
	}
	if err != nil {
		_ = f.Close()
		return failed(err, path)
	}
	l.f, l.part, l.size = f, number, size
	return nil
}

// wholeLines is the number of bytes up to and with the last newline.
func wholeLines(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	buf := make([]byte, 64<<10)
	for end := info.Size(); end > 0; {
		start := max(0, end-int64(len(buf)))
		n, err := f.ReadAt(buf[:end-start], start)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			return start + int64(i) + 1, nil
		}
		end = start
	}
	return 0, nil
}

// Lines reads the parts as they are now; what is appended meanwhile is not shown.
func (l *Ledger) Lines(ctx context.Context, fn func(line []byte) bool) error {
	files, last, err := l.snapshot()
	defer func() {
		for _, f := range files {
			_ = f.Close()
		}
	}()
	if err != nil {
		return err
	}
	for i, f := range files {
		var r io.Reader = f
		if i == len(files)-1 {
			r = io.LimitReader(f, last)
		}
		more, err := scan(ctx, r, fn)
		if err != nil {
			return failed(err, f.Name())
		}
		if !more {
			return nil
		}
	}
	return nil
}

// snapshot opens every part, so that none can be taken away, and tells the size of the last.
func (l *Ledger) snapshot() (files []*os.File, last int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	parts, err := l.parts()
	if err != nil {
		return nil, 0, err
	}
	for _, p := range parts {
		f, err := os.Open(p.path)
		if err != nil {
			return files, 0, failed(err, p.path)
		}
		files = append(files, f)
	}
	return files, l.size, nil
}

func scan(ctx context.Context, r io.Reader, fn func(line []byte) bool) (more bool, err error) {
	br := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := br.ReadBytes('\n')
		if len(line) > 0 {
			if cerr := ctx.Err(); cerr != nil {
				return false, cerr
			}
			if !fn(bytes.TrimSuffix(line, []byte("\n"))) {
				return false, nil
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return true, nil
		case err != nil:
			return false, err
		}
	}
}

// Close syncs and closes; lines stay readable.
func (l *Ledger) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if errors.Is(l.ended, os.ErrClosed) {
		return nil
	}
	err := errors.Join(l.f.Sync(), l.f.Close())
	l.ended = os.ErrClosed
	if err != nil {
		return failed(err, l.path(l.part))
	}
	return nil
}

func failed(err error, path string) error {
	var f *fault.Error
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fault.From(err)
	}
	return fault.Wrap(err, ledger.CodeFailed, "path", path, "detail", err.Error())
}
