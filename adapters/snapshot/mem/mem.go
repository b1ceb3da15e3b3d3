// Package mem keeps Applied Configurations in memory (ports/snapshot), for tests and for embedding. It persists nothing.
package mem

import (
	"context"
	"slices"
	"sync"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/snapshot"
)

// Store implements snapshot.Store.
type Store struct {
	mu   sync.Mutex
	data map[string][]byte
}

var _ snapshot.Store = (*Store)(nil)

// New returns an empty store.
func New() *Store { return &Store{data: map[string][]byte{}} }

// Load implements snapshot.Store.
func (s *Store) Load(ctx context.Context, configID string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.From(err)
	}
	if !snapshot.ValidID(configID) {
		return nil, fault.New(snapshot.CodeFailed, "path", configID, "detail", "invalid id")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	data, ok := s.data[configID]
	if !ok {
		return nil, fault.New(snapshot.CodeNone, "config", configID)
	}
	return slices.Clone(data), nil
}

// Save implements snapshot.Store.
func (s *Store) Save(ctx context.Context, configID string, data []byte) error {
	if err := ctx.Err(); err != nil {
		return fault.From(err)
	}
	if !snapshot.ValidID(configID) {
		return fault.New(snapshot.CodeFailed, "path", configID, "detail", "invalid id")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.data[configID] = slices.Clone(data)
	return nil
}
