package mem_test

import (
	"testing"

	"github.com/agent-mcp/agent-mcp/adapters/snapshot/mem"
	"github.com/agent-mcp/agent-mcp/conformance/snapshottest"
	"github.com/agent-mcp/agent-mcp/ports/snapshot"
)

func TestStore_Contract(t *testing.T) {
	snapshottest.Run(t, func(*testing.T) snapshot.Store { return mem.New() })
}
