package compiled_test

import (
	"testing"

	"github.com/agent-mcp/agent-mcp/adapters/schema/compiled"
	"github.com/agent-mcp/agent-mcp/conformance/schematest"
	"github.com/agent-mcp/agent-mcp/ports/schema"
)

func TestContract(t *testing.T) {
	schematest.Run(t, func(formats map[string]func([]byte) bool) schema.Compiler { return compiled.New(formats) })
}
