package mem_test

import (
	"testing"

	"github.com/agent-mcp/agent-mcp/adapters/mcptask/mem"
	"github.com/agent-mcp/agent-mcp/conformance/mcptasktest"
)

func TestStore_Contract(t *testing.T) {
	mcptasktest.Run(t, func(*testing.T) func(string) mcptasktest.Store {
		d := &mem.Disk{}
		return func(server string) mcptasktest.Store { return d.Open(server) }
	})
}
