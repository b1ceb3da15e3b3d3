package mem_test

import (
	"testing"

	"github.com/agent-mcp/agent-mcp/adapters/ledger/mem"
	"github.com/agent-mcp/agent-mcp/conformance/ledgertest"
	"github.com/agent-mcp/agent-mcp/ports/ledger"
)

func TestLedger_Contract(t *testing.T) {
	ledgertest.Run(t, func(*testing.T) (ledger.Ledger, func() ledger.Ledger) { return mem.New(), nil })
}
