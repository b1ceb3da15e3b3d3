package agent_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/agent"
)

// AGT-03: every cause is told to people (README) and to the next developer (package doc); locales' own test shows that each has its
// words in every language, and app/wire's that each ends as it should.
func TestCauses_AreDocumented(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	for _, c := range agent.Causes() {
		name := strings.TrimPrefix(string(c), "cause.")
		require.Contains(t, string(readme), "`"+name+"`")
		require.Regexp(t, `(?m)^//\t.*\b`+name+`\b`, string(doc))
	}
	require.Len(t, agent.Causes(), 16)
}
