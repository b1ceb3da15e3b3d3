package mem_test

import (
	"testing"

	"github.com/agent-mcp/agent-mcp/adapters/skills/mem"
	"github.com/agent-mcp/agent-mcp/conformance/skillstest"
	"github.com/agent-mcp/agent-mcp/ports/skills"
)

func TestSource_Contract(t *testing.T) {
	skillstest.Run(t, func(_ *testing.T, files map[string]string) skills.Source { return mem.New(files) })
}
