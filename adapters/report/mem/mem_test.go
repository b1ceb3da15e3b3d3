package mem_test

import (
	"testing"

	"github.com/agent-mcp/agent-mcp/adapters/report/mem"
	"github.com/agent-mcp/agent-mcp/conformance/reporttest"
	"github.com/agent-mcp/agent-mcp/ports/report"
)

func TestStore_Contract(t *testing.T) {
	reporttest.Run(t, func(_ *testing.T, keep int) report.Store { return mem.New(keep) })
}
