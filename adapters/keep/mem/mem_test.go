package mem_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/keep/mem"
	"github.com/agent-mcp/agent-mcp/conformance/keeptest"
)

func TestContract(t *testing.T) {
	k := &mem.Keeper{}
	keeptest.Run(t, k, keeptest.Host{Base: t.TempDir(), Remove: func(t *testing.T, path string) {
		t.Helper()
		k.Remove(path)
		require.NotEmpty(t, path)
	}})
}
