package mem_test

import (
	"testing"

	"github.com/agent-mcp/agent-mcp/adapters/journal/mem"
	"github.com/agent-mcp/agent-mcp/conformance/journaltest"
	"github.com/agent-mcp/agent-mcp/ports/journal"
)

func TestJournal_Contract(t *testing.T) {
	journaltest.Run(t, func(*testing.T) (journal.Journal, func() journal.Journal) { return mem.New(), nil })
}
