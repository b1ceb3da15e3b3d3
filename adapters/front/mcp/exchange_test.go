package mcp_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/front/mcp"
	"github.com/agent-mcp/agent-mcp/conformance/fronttest"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

const owner = "client-1"

func options(r service.Runner) mcp.Options {
	return mcp.Options{Runner: r, Catalog: fronttest.Catalog{}, Name: "agent-mcp", Version: "1.2.3", OwnerID: owner}
}

// piped serves input to its end and returns the lines that came back.
func piped(t testing.TB, o mcp.Options, input string) []string {
	t.Helper()
	var out bytes.Buffer
	end, err := serverOf(o).ServeStdio(context.Background(), strings.NewReader(input), &out)
	require.NoError(t, err)
	assert.Equal(t, mcp.EndInput, end)
	if out.Len() == 0 {
		return nil
	}
	text, ended := strings.CutSuffix(out.String(), "\n")
	require.True(t, ended, "the last line is not terminated")
	return strings.Split(text, "\n")
}

type stdio struct{}

func (stdio) Exchange(t *testing.T, r service.Runner, message string) []string {
	return piped(t, options(r), message+"\n")
}

// AT-01, AT-04, MCP-RUN-*, MCP-STS-*, MCP-2026-01, MCP-2026-03 over stdio
func TestServeStdio_Exchanges(t *testing.T) {
	fronttest.TestFront(t, stdio{}, true)
}
