package wire

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/model/scripted"
	"github.com/agent-mcp/agent-mcp/conformance/officialtest"
)

// binary builds the real program.
func binary(t *testing.T) string {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "agent-mcp")
	out, err := exec.Command("go", "build", "-o", exe, "github.com/agent-mcp/agent-mcp/cmd/agent-mcp").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return exe
}

// writer makes a place whose model writes one file for every request.
func writer(t *testing.T, more string) *place {
	t.Helper()
	p := newPlace(t, more,
		scripted.Step{When: planning, Times: scripted.Forever, Reply: onePlan(map[string]any{"kind": "file", "path": "made.txt"})},
		scripted.Step{When: scripted.Match{Tool: "write_file"}, Times: scripted.Forever, Reply: scripted.Say("The file is written.")},
		scripted.Step{When: acting, Times: scripted.Forever, Reply: scripted.Use(scripted.Tool("write_file", map[string]any{"path": "made.txt", "content": "done\n"}))},
	)
	p.apply(t)
	return p
}

var tools = []string{"agent_run", "agent_status"}

// served is what every official client must have seen.
func served(t *testing.T, s officialtest.Seen, version string) {
	t.Helper()
	assert.Equal(t, version, s.Version)
	assert.Equal(t, "agent-mcp", s.Server)
	assert.Equal(t, tools, s.Tools)
	assert.Contains(t, s.Status, "(completed)")
	assert.True(t, s.Bad, "a wrong argument is a result that says so")
}

// inspected asks for the tools in the inspector's strict mode.
func inspected(t *testing.T, p officialtest.Programs, era string, target ...string) {
	t.Helper()
	said, err := p.Inspector(t, append([]string{"--protocol-era", era, "--strict", "--format", "json", "--method", "tools/list"}, target...)...)
	require.NoError(t, err, said)
	var got struct {
		Result struct {
			Tools []struct{ Name string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(said), &got), said)
	names := []string{}
	for _, tool := range got.Result.Tools {
		names = append(names, tool.Name)
	}
	assert.Equal(t, tools, names, said)
}

// MCP-TR-01, MCP-2026-03: the clients people have talk to the real program over stdio, in both eras.
func TestOfficial_Stdio(t *testing.T) {
	programs := officialtest.Find(t)
	exe := binary(t)
	for name, see := range map[string]func(config string) (officialtest.Seen, string){
		"TypeScript, legacy": func(config string) (officialtest.Seen, string) {
			return programs.TypeScript(t, "legacy", "write a file", exe, config), "2025-11-25"
		},
		"TypeScript, modern": func(config string) (officialtest.Seen, string) {
			return programs.TypeScript(t, "modern", "write a file", exe, config), "2026-07-28"
		},
		"Go": func(config string) (officialtest.Seen, string) {
			return programs.Go(t, "write a file", exe, config), "2026-07-28"
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, version := see(writer(t, "").config)
			served(t, s, version)
		})
	}
	t.Run("inspector", func(t *testing.T) {
		p := writer(t, "")
		inspected(t, programs, "modern", exe, p.config)
		inspected(t, programs, "legacy", exe, p.config)
	})
}
