package scripted_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/consent/scripted"
	"github.com/agent-mcp/agent-mcp/conformance/consenttest"
	"github.com/agent-mcp/agent-mcp/ports/consent"
	"github.com/agent-mcp/agent-mcp/ports/fault"
)

func TestAsker_Contract(t *testing.T) {
	consenttest.Run(t, func(_ *testing.T, p consenttest.Person) (consent.Asker, func() string) {
		a := scripted.New(p == consenttest.SaysYes)
		if p == consenttest.Nobody {
			a = scripted.New()
		}
		return a, func() string { return strings.Join(a.Asked(), "\n") }
	})
}

func TestAsker_AfterTheLastAnswerThereIsNobody(t *testing.T) {
	a := scripted.New(true)
	yes, err := a.Ask(context.Background(), "one")
	require.True(t, yes)
	require.NoError(t, err)
	yes, err = a.Ask(context.Background(), "two")
	require.False(t, yes)
	require.Equal(t, consent.CodeNobody, fault.CodeOf(err))
	require.Equal(t, []string{"one"}, a.Asked())
}
