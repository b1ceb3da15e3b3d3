// Package mem is an audit sink in memory (ports/ledger): for tests and embedding. It never writes a file.
package mem

import (
	"bytes"
	"context"
	"sync"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/ledger"
)

// Ledger keeps lines in memory. Safe for concurrent use.
type Ledger struct {
	mu     sync.Mutex
	lines  [][]byte
	closed bool
}

var _ ledger.Ledger = (*Ledger)(nil)

// New returns an empty ledger.
func New() *Ledger { return &Ledger{} }

// Append keeps a copy of line.
func (l *Ledger) Append(ctx context.Context, line []byte) error {
	if err := ctx.Err(); err != nil {
		return fault.From(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return failed("the ledger is closed")
	case bytes.IndexByte(line, '\n') >= 0 || len(line) == 0:
		return failed("a line is not empty and has no newline in it")
	}
	l.lines = append(l.lines, bytes.Clone(line))
	return nil
}

// Lines hands out copies of the lines that were there when it was called; fn may append.
func (l *Ledger) Lines(ctx context.Context, fn func(line []byte) bool) error {
	l.mu.Lock()
	lines := l.lines[:len(l.lines):len(l.lines)]
	l.mu.Unlock()
	for _, line := range lines {
		if err := ctx.Err(); err != nil {
			return fault.From(err)
		}
		if !fn(bytes.Clone(line)) {
			return nil
		}
	}
	return nil
}

// Close makes further appends fail; lines stay readable.
func (l *Ledger) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	return nil
}

func failed(detail string) error {
	return fault.New(ledger.CodeFailed, "path", "memory", "detail", detail)
}
