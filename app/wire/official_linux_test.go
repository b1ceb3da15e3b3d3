package wire

import (
	"encoding/json"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/model/scripted"
	"github.com/agent-mcp/agent-mcp/conformance/officialtest"
	"github.com/agent-mcp/agent-mcp/ports/model"
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
	var written atomic.Int64
	p := newPlace(t, more,
		scripted.Step{When: planning, Times: scripted.Forever, Reply: onePlan(map[string]any{"kind": "file", "path": "made.txt"})},
		scripted.Step{When: scripted.Match{Tool: "write_file"}, Times: scripted.Forever, Reply: scripted.Say("The file is written.")},
		scripted.Step{When: acting, Times: scripted.Forever, Do: func(model.Request) scripted.Turn {
			return scripted.Use(scripted.Tool("write_file", map[string]any{"path": "made.txt", "content": fmt.Sprintln("time", written.Add(1))}))
		}},
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

// freePorts are addresses of the loopback that nobody listens on.
func freePorts(t *testing.T) (listen, urls []string) {
	t.Helper()
	for _, host := range []string{"127.0.0.1", "::1"} {
		l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
		require.NoError(t, err)
		listen, urls = append(listen, l.Addr().String()), append(urls, "http://"+l.Addr().String()+"/mcp")
		require.NoError(t, l.Close())
	}
	return listen, urls
}

// MCP-TR-02, MCP-2026-01..03: the official suite and the clients people have, against the real program over HTTP.
func TestOfficial_HTTP(t *testing.T) {
	programs := officialtest.Find(t)
	exe := binary(t)
	listen, urls := freePorts(t)
	p := writer(t, fmt.Sprintf("mcp: {transport: http, http: {listen: [%q, %q]}}\n", listen[0], listen[1]))
	startHTTP(t, exe, p.config, urls[0])
	for _, s := range []struct {
		revision, name string
		excused        map[string]string
	}{
		{"2026-07-28", "server-stateless", map[string]string{
			"sep-2575-http-server-no-independent-requests-on-stream": "needs the tool test_streaming_elicitation",
			"sep-2575-server-no-log-without-loglevel":                "needs the tool test_logging_tool",
			"sep-2575-server-rejects-undeclared-capability":          "needs the tool test_missing_capability",
			"sep-2575-missing-capability-http-400":                   "needs the tool test_missing_capability; TestOfficial_Tasks has it",
		}},
		{"2026-07-28", "tools-list", nil},
		{"2026-07-28", "dns-rebinding-protection", nil},
		{"2026-07-28", "caching", map[string]string{
			"sep-2549-prompts-list-caching-hints": "no prompts", "sep-2549-resources-list-caching-hints": "no resources",
			"sep-2549-resources-templates-list-caching-hints": "no resources", "sep-2549-resources-read-caching-hints": "no resources",
		}},
		{"2026-07-28", "http-header-validation", nil},
		{"2026-07-28", "server-sse-multiple-streams", nil},
		{"2025-11-25", "server-initialize", nil},
		{"2025-11-25", "ping", nil},
		{"2025-11-25", "tools-list", nil},
		{"2025-11-25", "dns-rebinding-protection", nil},
		{"2025-11-25", "server-session-lifecycle", map[string]string{"server-session-lifecycle-skipped": "no sessions (MCP-2026-02)"}},
		{"2025-11-25", "server-sse-multiple-streams", map[string]string{"server-sse-multiple-streams-session": "no sessions (MCP-2026-02)"}},
	} {
		t.Run(s.revision+" "+s.name, func(t *testing.T) { programs.Scenario(t, urls[0], s.name, s.revision, s.excused) })
	}
	for i, url := range urls {
		t.Run(url, func(t *testing.T) {
			served(t, programs.TypeScript(t, []string{"legacy", "modern"}[i], "write a file", url), []string{"2025-11-25", "2026-07-28"}[i])
			served(t, programs.Go(t, "write a file", url), "2026-07-28")
			inspected(t, programs, "modern", url)
			inspected(t, programs, "legacy", url)
		})
	}
}
