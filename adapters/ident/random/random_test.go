package random_test

import (
	"testing"

	"github.com/agent-mcp/agent-mcp/adapters/ident/random"
	"github.com/agent-mcp/agent-mcp/conformance/identtest"
)

func TestSource_Contract(t *testing.T) { identtest.Run(t, random.New()) }
