// Package scripted answers questions from a list (ports/consent): the twin of a person, for tests and embedding. It shows
// nothing to anybody.
package scripted

import (
	"context"
	"slices"
	"sync"

	"github.com/agent-mcp/agent-mcp/ports/consent"
	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// Asker gives its answers one by one; after the last there is nobody. Safe for concurrent use.
type Asker struct {
	mu      sync.Mutex
	answers []bool
	asked   []string
}

var _ consent.Asker = (*Asker)(nil)

// New returns an Asker with these answers.
func New(answers ...bool) *Asker { return &Asker{answers: slices.Clone(answers)} }

// Ask implements consent.Asker.
func (a *Asker) Ask(ctx context.Context, question string) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, fault.From(err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.answers) == 0 {
		return false, fault.New(consent.CodeNobody)
	}
	yes := a.answers[0]
	a.answers = a.answers[1:]
	a.asked = append(a.asked, question)
	return yes, nil
}

// Asked returns the questions that were answered, in their order.
func (a *Asker) Asked() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.asked)
}
