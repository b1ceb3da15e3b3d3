package wire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/model/scripted"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

func TestMain(m *testing.M) {
	Helper()
	connectIfAsked()
	crashChild()
	os.Exit(m.Run())
}

// place is a machine of its own: workspace, state, configuration, model server.
type place struct {
	dir, config string
	box         sandbox.Sandbox
	model       *scripted.Server
}

func newPlace(t *testing.T, more string, steps ...scripted.Step) *place {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	srv, err := scripted.NewServer(scripted.Script{Model: "m:latest", Steps: steps})
	require.NoError(t, err)
	t.Cleanup(srv.Close)
	p := &place{dir: dir, config: filepath.Join(dir, "agent.yaml"), box: newSandbox(), model: srv}
	t.Cleanup(func() { require.NoError(t, p.box.Close()) })
	require.NoError(t, os.Mkdir(filepath.Join(dir, "ws"), 0o755))
	sh, err := filepath.EvalSymlinks("/bin/sh")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(p.config, []byte(fmt.Sprintf(`schema_version: 2
application: {state_dir: ./state}
ollama: {base_url: %q, model: "m:latest", retry: {attempts: 0}}
sandbox:
  workspace: ./ws
  execution: {entries: [{alias: sh, path: %s}]}
%s`, srv.URL, sh, more)), 0o600))
	rep, err := p.box.Preflight(context.Background())
	require.NoError(t, err)
	if rep.Level == sandbox.LevelNone {
		t.Skipf("this host cannot confine anything: %v", rep.Missing)
	}
	return p
}

func (p *place) apply(t *testing.T) {
	t.Helper()
	_, err := Admin(Catalog, p.box, strings.NewReader(""), io.Discard, false).Apply(context.Background(), service.ApplyRequest{Path: p.config, Yes: true})
	require.NoError(t, err)
}

// client speaks MCP over pipes to a served instance.
type client struct {
	t    *testing.T
	in   *io.PipeWriter
	out  *bufio.Reader
	errs *lockedBuffer
	done chan error
	n    int
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (p *place) serve(ctx context.Context, t *testing.T) *client {
	t.Helper()
	eff, err := Admin(Catalog, p.box, strings.NewReader(""), io.Discard, false).Load(ctx, p.config)
	require.NoError(t, err)
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &client{t: t, in: inW, out: bufio.NewReader(outR), errs: &lockedBuffer{}, done: make(chan error, 1)}
	go func() {
		c.done <- Serve(ctx, eff, p.box, inR, outW, c.errs)
		_ = outW.Close()
	}()
	c.call("initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "t", "version": "1"}})
	return c
}

func (c *client) call(method string, params any) map[string]any {
	c.t.Helper()
	c.n++
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.n, "method": method, "params": params})
	require.NoError(c.t, err)
	_, err = c.in.Write(append(b, '\n'))
	require.NoError(c.t, err, c.errs.String())
	line, err := c.out.ReadBytes('\n')
	require.NoError(c.t, err, c.errs.String())
	var r map[string]any
	require.NoError(c.t, json.Unmarshal(line, &r), string(line))
	require.Nil(c.t, r["error"], string(line))
	return r["result"].(map[string]any)
}

func (c *client) tool(name string, args map[string]any) string {
	c.t.Helper()
	r := c.call("tools/call", map[string]any{"name": name, "arguments": args})
	text := r["content"].([]any)[0].(map[string]any)["text"].(string)
	require.NotEqual(c.t, true, r["isError"], text)
	return text
}

func (c *client) finish(id string) string {
	c.t.Helper()
	var status string
	require.Eventually(c.t, func() bool {
		status = c.tool("agent_status", map[string]any{"task_id": id})
		return strings.Contains(status, "(completed)") || strings.Contains(status, "(failed)") || strings.Contains(status, "(cancelled)")
	}, 30*time.Second, 20*time.Millisecond)
	return status
}

func (c *client) end() error {
	c.t.Helper()
	require.NoError(c.t, c.in.Close())
	select {
	case err := <-c.done:
		return err
	case <-time.After(30 * time.Second):
		c.t.Fatal("the server does not end at EOF: " + c.errs.String())
		return nil
	}
}

func taskID(accepted string) string {
	_, rest, _ := strings.Cut(accepted, "Task ID: ")
	id, _, _ := strings.Cut(rest, "\n")
	return id
}

var (
	planning = scripted.Match{Format: scripted.Yes}
	acting   = scripted.Match{Tools: scripted.Yes}
)

func onePlan(expects map[string]any) scripted.Turn {
	return scripted.JSON(map[string]any{"tasks": []any{map[string]any{
		"id": "t1", "title": "the work", "depends_on": []string{}, "o": 100, "m": 200, "p": 400, "budget": "4K", "expects": []any{expects},
	}}})
}

// AT-01, E2E-01 in small: a client's request becomes a file, made by a confined process; nothing remains.
func TestServe_DoesConfinedWorkOverStdio(t *testing.T) {
	p := newPlace(t, "",
		scripted.Step{When: planning, Reply: onePlan(map[string]any{"kind": "process", "alias": "sh"})},
		scripted.Step{When: acting, Reply: scripted.Use(scripted.Tool("write_file", map[string]any{"path": "job.sh", "content": "echo made > made.txt; cat /etc/shadow; ls /home; echo end"}))},
		scripted.Step{When: acting, Reply: scripted.Use(scripted.Tool("run_process", map[string]any{"command": "sh", "args": []string{"job.sh"}}))},
		scripted.Step{When: acting, Reply: scripted.Say("made.txt is there.")},
	)
	p.apply(t)
	c := p.serve(context.Background(), t)
	status := c.finish(taskID(c.tool("agent_run", map[string]any{"request": "make made.txt with a script"})))
	require.Contains(t, status, "made.txt is there.")
	require.Contains(t, status, "(completed)")
	made, err := os.ReadFile(filepath.Join(p.dir, "ws", "made.txt"))
	require.NoError(t, err)
	require.Equal(t, "made\n", string(made))
	require.NoError(t, c.end())
	require.Contains(t, c.errs.String(), "stdio")
	left, err := filepath.Glob(filepath.Join(p.dir, "state", "instances", "*", "*"))
	require.NoError(t, err)
	require.Empty(t, left, "SEC-INV-10")
}
