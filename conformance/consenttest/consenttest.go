// Package consenttest is the contract suite of ports/consent (CLI-02, CLI-04): only an explicit yes allows, and whatever
// else happens does not. It knows no adapter.
package consenttest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/consent"
	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// Person is what the asked one does.
type Person int

// Persons.
const (
	SaysYes Person = iota
	SaysNo
	SaysNothing // there, but answers with something that is neither
	Nobody
)

// Run runs the suite. open returns an Asker whose one question that person gets, and what they were shown.
func Run(t *testing.T, open func(t *testing.T, p Person) (a consent.Asker, shown func() string)) {
	t.Helper()
	for name, c := range map[string]struct {
		person Person
		want   bool
		code   fault.Code
	}{
		"yes":     {SaysYes, true, ""},
		"no":      {SaysNo, false, ""},
		"neither": {SaysNothing, false, ""},
		"nobody":  {Nobody, false, consent.CodeNobody},
	} {
		t.Run(name, func(t *testing.T) {
			a, shown := open(t, c.person)
			got, err := a.Ask(context.Background(), "Allow 許可? ")
			assert.Equal(t, c.want, got)
			assert.Equal(t, c.code, fault.CodeOf(err))
			if c.person != Nobody {
				assert.Equal(t, "Allow 許可? ", shown(), "the question as it was given")
			}
		})
	}
	t.Run("interrupted before the question", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		a, shown := open(t, SaysYes)
		got, err := a.Ask(ctx, "Allow?")
		assert.False(t, got)
		require.Equal(t, fault.CodeCancelled, fault.CodeOf(err))
		assert.Empty(t, shown())
	})
}
