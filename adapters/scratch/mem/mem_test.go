package mem_test

import (
	"testing"

	"github.com/agent-mcp/agent-mcp/adapters/scratch/mem"
	"github.com/agent-mcp/agent-mcp/conformance/scratchtest"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

func TestScratch_Contract(t *testing.T) {
	scratchtest.Run(t, func(*testing.T) (workspace.Scratch, func() int) {
		s := mem.New()
		return s, s.Len
	})
}
