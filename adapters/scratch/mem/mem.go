// Package mem is the Scratch of ports/workspace in memory: for embedders and tests. It never touches a disk.
package mem

import (
	"context"
	"slices"
	"strconv"
	"sync"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// Scratch keeps contents in memory. The zero value is ready. Safe for concurrent use.
type Scratch struct {
	mu   sync.Mutex
	last int
	kept map[string][]byte
}

var _ workspace.Scratch = (*Scratch)(nil)

// New returns an empty Scratch.
func New() *Scratch { return &Scratch{} }

// Keep implements workspace.Scratch.
func (s *Scratch) Keep(ctx context.Context, data []byte) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", fault.From(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		s.kept = map[string][]byte{}
	}
	s.last++
	name := strconv.Itoa(s.last)
	s.kept[name] = slices.Clone(data)
	return name, nil
}

// Load implements workspace.Scratch.
func (s *Scratch) Load(ctx context.Context, name string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.From(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	data, ok := s.kept[name]
	if !ok {
		return nil, fault.New(workspace.CodeNotFound, "path", name)
	}
	return slices.Clone(data), nil
}

// Drop implements workspace.Scratch.
func (s *Scratch) Drop(_ context.Context, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.kept, name)
	return nil
}

// Len is the number of contents kept.
func (s *Scratch) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.kept)
}
