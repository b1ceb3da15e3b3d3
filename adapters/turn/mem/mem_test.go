package mem_test

import (
	"testing"

	"github.com/agent-mcp/agent-mcp/adapters/turn/mem"
	"github.com/agent-mcp/agent-mcp/conformance/turntest"
	"github.com/agent-mcp/agent-mcp/ports/turn"
)

func TestTurn_Contract(t *testing.T) {
	turntest.Run(t, func(*testing.T) (a, b turn.Turn) {
		x := mem.New()
		return x, x
	})
}
