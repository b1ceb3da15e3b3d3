// Package sequence makes predictable UUIDs for tests and examples (ports/ident): the n-th id ends in n. It is never for
// a running product, where ids must not be guessable.
package sequence

import (
	"fmt"
	"sync/atomic"

	"github.com/agent-mcp/agent-mcp/ports/ident"
)

// Source counts. Safe for concurrent use.
type Source struct{ n atomic.Uint64 }

var _ ident.Source = (*Source)(nil)

// New returns a source whose first id is ID(1).
func New() *Source { return &Source{} }

// New returns the next id.
func (s *Source) New() string { return ID(s.n.Add(1)) }

// ID is the n-th id of every sequence: a valid version 4 UUID, 1 ≤ n < 2^48.
func ID(n uint64) string { return fmt.Sprintf("00000000-0000-4000-8000-%012x", n&(1<<48-1)) }
