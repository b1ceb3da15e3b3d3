package file

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/agent-mcp/agent-mcp/adapters/internal/hostfile"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/trace"
)

// log is one stream's file; one goroutine uses it.
type log struct {
	path     string
	maxBytes int64
	maxFiles int
	report   func(*fault.Error)

	f       *os.File
	failing bool // the last write failed, and it was reported
	torn    bool // the file may end within a line of ours
}

// write appends a batch of whole lines, in pieces that fit into a file. What cannot be written is lost, and said once.
func (l *log) write(batch []byte) {
	for len(batch) > 0 {
		n := piece(batch, l.maxBytes)
		if err := l.writePiece(batch[:n]); err != nil {
			if !l.failing {
				l.report(fault.Wrap(err, trace.CodeFailed, "path", l.path, "detail", err.Error()))
			}
			l.failing = true
		} else {
			l.failing = false
		}
		batch = batch[n:]
	}
}

// piece is the length of the most whole lines that fit into limit, at least one line.
func piece(batch []byte, limit int64) int {
	if int64(len(batch)) <= limit {
		return len(batch)
	}
	if i := bytes.LastIndexByte(batch[:limit], '\n'); i >= 0 {
		return i + 1
	}
	return bytes.IndexByte(batch, '\n') + 1
}

func (l *log) writePiece(lines []byte) error {
	if err := l.ready(int64(len(lines))); err != nil {
		return err
	}
	if l.torn {
		lines = append([]byte("\n"), lines...)
	}
	n, err := l.f.Write(lines)
	switch {
	case err == nil:
		l.torn = false
	case n > 0:
		l.torn = lines[n-1] != '\n'
	}
	return err
}

// ready makes l.f the file that path names now, with room for need bytes.
func (l *log) ready(need int64) error {
	if l.f != nil && !hostfile.Same(l.f, l.path) { // another instance rotated, or somebody removed it
		l.close()
	}
	if l.f == nil {
		if err := l.open(); err != nil {
			return err
		}
	}
	info, err := l.f.Stat()
	if err != nil {
		return err
	}
	if info.Size() == 0 || info.Size()+need <= l.maxBytes {
		return nil
	}
	return l.rotate(need)
}

// rotate moves every file one place on. Only one instance does it at a time; who cannot get the lock at once writes on
// into the present file.
func (l *log) rotate(need int64) error {
	lock, err := hostfile.TryLock(filepath.Join(filepath.Dir(l.path), ".rotate.lock"))
	if err != nil || lock == nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	info, err := os.Lstat(l.path)
	if err == nil && info.Size() > 0 && info.Size()+need > l.maxBytes { // still: nobody else has done it
		l.close()
		err = l.shift()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	l.close()
	return l.open()
}

func (l *log) shift() error {
	name := func(n int) string {
		if n == 0 {
			return l.path
		}
		return fmt.Sprintf("%s.%d", l.path, n)
	}
	if err := os.Remove(name(l.maxFiles - 1)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for n := l.maxFiles - 2; n >= 0; n-- {
		if err := os.Rename(name(n), name(n+1)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (l *log) open() error {
	f, _, err := hostfile.OpenAppend(l.path)
	if err == nil {
		l.f, l.torn = f, false
	}
	return err
}

func (l *log) close() {
	if l.f != nil {
		_ = l.f.Close()
		l.f = nil
	}
}
