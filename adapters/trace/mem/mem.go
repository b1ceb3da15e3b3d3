// Package mem collects trace events in memory (ports/trace): for tests and embedding. It never writes anything.
package mem

import (
	"slices"
	"sync"

	"github.com/agent-mcp/agent-mcp/ports/trace"
)

// Sink keeps every event. Safe for concurrent use.
type Sink struct {
	mu     sync.Mutex
	events []trace.Event
}

var _ trace.Sink = (*Sink)(nil)

// New returns an empty sink.
func New() *Sink { return &Sink{} }

// Emit keeps the event.
func (s *Sink) Emit(e trace.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.Fields = slices.Clone(e.Fields)
	s.events = append(s.events, e)
}

// Events returns what came so far, in order of arrival.
func (s *Sink) Events() []trace.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.events)
}

// Stream returns what came so far on one stream.
func (s *Sink) Stream(want trace.Stream) []trace.Event {
	return slices.DeleteFunc(s.Events(), func(e trace.Event) bool { return e.Stream != want })
}
