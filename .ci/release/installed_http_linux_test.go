package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// free finds a port of a loopback address that nothing listens on.
func free(t *testing.T, host string) string {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	return l.Addr().String()
}

// ask sends one tool call as a client of 2026-07-28 does, over a connection of its own, and returns the text of its result.
func ask(t *testing.T, url, tool string, args map[string]any) string {
	t.Helper()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{
		"name": tool, "arguments": args, "_meta": map[string]any{
			"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": map[string]any{},
			"io.modelcontextprotocol/clientInfo": map[string]any{"name": "a script", "version": "1"},
		},
	}})
	require.NoError(t, err)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(body))
	require.NoError(t, err)
	req.Close = true // the end of a connection ends no Task (REC-05)
	for k, v := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28",
		"Mcp-Method": "tools/call", "Mcp-Name": tool,
	} {
		req.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	said, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, res.StatusCode, "%s", said)
	assert.Empty(t, res.Header.Get("Mcp-Session-Id"), "MCP-2026-02")
	var answer struct {
		Result struct {
			Content []struct{ Text string }
			IsError bool
		}
	}
	require.NoError(t, json.Unmarshal(said, &answer), "%s", said)
	require.Len(t, answer.Result.Content, 1, "%s", said)
	require.False(t, answer.Result.IsError, "%s", said)
	return answer.Result.Content[0].Text
}

const request = "家計簿の CSV を集計する Python プログラムと、それを subprocess で動かすテストを書いて、実行してください。"

// serveHTTP configures the unpacked bundle for HTTP, applies, and starts it.
func serveHTTP(t *testing.T, h *home, four, six string) *serving {
	t.Helper()
	h.configure(t, fmt.Sprintf("mcp: {transport: http, http: {listen: [%q, %q]}}\n", four, six), script(t)...)
	assert.Contains(t, h.run(t, 0, "apply", "--yes"), "適用しました")
	s := h.listen(t, h.agent(t.Context()))
	for _, want := range []string{"http://" + four + "/mcp", "http://" + six + "/mcp", "2026-07-28", h.state("logs/app.log")} {
		assert.Contains(t, s.text(), want, "OBS-02")
	}
	return s
}

// E2E-02, AT-02, OBS-02, REC-05: from the bundle, outside the sources, over HTTP, in Japanese: the same work on 127.0.0.1 by a
// client of others and on ::1 by a client of 2026-07-28 that opens a connection for each request. The audit is complete and
// nothing remains.
func TestInstalled_E2E02_HTTP(t *testing.T) {
	h := settle(t)
	four, six := free(t, "127.0.0.1"), free(t, "::1")
	s := serveHTTP(t, h, four, six)

	cl, err := client.NewStreamableHttpClient("http://" + four + "/mcp")
	require.NoError(t, err)
	require.NoError(t, cl.Start(t.Context()))
	connect(t, cl)
	first, status := work(t, func(tool string, args map[string]any) string { return call(t, cl, tool, args) })
	h.done(t, status)
	require.NoError(t, cl.Close())

	h.again(t)
	second, status := work(t, func(tool string, args map[string]any) string { return ask(t, "http://"+six+"/mcp", tool, args) })
	h.done(t, status)
	assert.NotEqual(t, first, second)

	require.NoError(t, s.c.Process.Signal(syscall.SIGTERM))
	s.end()
	h.trail(t, first)
	h.trail(t, second)
	h.clean(t)
}

// The commands that the README gives to scripts do what it says, against the bundle.
func TestInstalled_TheReadmesScripts(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	scripts := map[string]string{}
	for _, m := range regexp.MustCompile("(?s)\n```sh\n# over (\\w+)[^\n]*\n(.*?\n)```\n").FindAllStringSubmatch(string(readme), -1) {
		scripts[m[1]] = m[2]
	}
	require.Contains(t, scripts, "HTTP")
	require.Contains(t, scripts, "stdio")
	h := settle(t)
	four, six := free(t, "127.0.0.1"), free(t, "::1")
	s := serveHTTP(t, h, four, six)
	_, status := work(t, func(tool string, args map[string]any) string {
		out, err := h.shell(t, strings.ReplaceAll(scripts["HTTP"], "127.0.0.1:8765", four), tool, args)
		require.NoError(t, err, out)
		return out
	})
	h.done(t, status)
	require.NoError(t, s.c.Process.Signal(syscall.SIGTERM))
	s.end()

	local, err := os.ReadFile(filepath.Join(h.folder, "agent.local.yaml"))
	require.NoError(t, err)
	stdio := strings.Replace(string(local), "transport: http", "transport: stdio", 1)
	require.NoError(t, os.WriteFile(filepath.Join(h.folder, "agent.local.yaml"), []byte(stdio), 0o600))
	h.run(t, 0, "apply", "--yes")
	out, err := h.shell(t, strings.ReplaceAll(scripts["stdio"], "/path/to/agent-mcp/agent-mcp", filepath.Join(h.folder, "agent-mcp")), "", nil)
	require.NoError(t, err, out)
	assert.Contains(t, out, `"agent_run"`)
	assert.Contains(t, out, `"agent_status"`)
	h.clean(t)
}

// shell runs a script of the README; its request is replaced by the call of tool, so that its form is what is tested.
func (h *home) shell(t *testing.T, script, tool string, args map[string]any) (string, error) {
	t.Helper()
	if tool != "" {
		given, err := json.Marshal(args)
		require.NoError(t, err)
		form := regexp.MustCompile(`"name": *"\w+", *"arguments": *\{[^}]*\}`)
		require.Len(t, form.FindAllString(script, -1), 1, script)
		script = form.ReplaceAllLiteralString(script, fmt.Sprintf(`"name": %q, "arguments": %s`, tool, given))
	}
	c := exec.CommandContext(t.Context(), "/bin/sh", "-eu", "-c", script)
	c.Env, c.Dir = h.agent(t.Context()).Env, h.dir
	c.WaitDelay = 5 * time.Second
	out, err := c.CombinedOutput()
	if err == nil && tool != "" {
		var m struct {
			Result struct{ Content []struct{ Text string } }
		}
		if json.Unmarshal(out, &m) == nil && len(m.Result.Content) > 0 {
			return m.Result.Content[0].Text, nil
		}
	}
	return string(out), err
}
