package mem_test

import (
	"testing"

	"github.com/agent-mcp/agent-mcp/adapters/instance/mem"
	journalmem "github.com/agent-mcp/agent-mcp/adapters/journal/mem"
	"github.com/agent-mcp/agent-mcp/conformance/instancetest"
	"github.com/agent-mcp/agent-mcp/ports/instance"
	"github.com/agent-mcp/agent-mcp/ports/journal"
)

func TestRegistry_Contract(t *testing.T) {
	instancetest.Run(t, func(*testing.T) (a, b instance.Registry) {
		r := mem.New(func() journal.Journal { return journalmem.New() })
		return r, r
	})
}
