package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/model/scripted"
	"github.com/agent-mcp/agent-mcp/app/cli"
	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// auditLines reads every audit record of the place, by kind.
func (p *place) auditLines(t *testing.T) (records []map[string]any) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(p.dir, "state", "logs", "audit-*.jsonl"))
	require.NoError(t, err)
	for _, f := range files {
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		rep, err := audit.Verify(func(fn func([]byte) bool) error {
			for l := range strings.Lines(string(b)) {
				fn([]byte(strings.TrimSuffix(l, "\n")))
			}
			return nil
		})
		require.NoError(t, err)
		require.Nil(t, rep.Fault, f)
		for l := range strings.Lines(string(b)) {
			var r map[string]any
			require.NoError(t, json.Unmarshal([]byte(l), &r))
			records = append(records, r)
		}
	}
	return records
}

func kindsOf(records []map[string]any) map[string]int {
	n := map[string]int{}
	for _, r := range records {
		n[r["kind"].(string)]++
	}
	return n
}

// AT-07, FS-04: forbidden reads, writes and deletes are refused and are in the Audit; the run ends honestly.
func TestServe_DenialsAreAuditedAndNothingHappens(t *testing.T) {
	use := func(name string, args map[string]any) scripted.Step {
		return scripted.Step{When: acting, Reply: scripted.Use(scripted.Tool(name, args))}
	}
	p := newPlace(t, "  profile: readonly\n",
		scripted.Step{When: planning, Reply: onePlan(map[string]any{"kind": "file", "path": "keep.txt"})},
		use("read_file", map[string]any{"path": "/etc/shadow"}),
		use("read_file", map[string]any{"path": "../agent.yaml"}),
		use("run_process", map[string]any{"command": "/usr/bin/env"}),
		use("run_process", map[string]any{"command": "sh", "args": []string{"-c", "rm keep.txt; echo x > new.txt; exit 1"}}),
		scripted.Step{When: acting, Reply: scripted.Say("I changed keep.txt."), Times: scripted.Forever},
		scripted.Step{When: planning, Reply: onePlan(map[string]any{"kind": "file", "path": "keep.txt"}), Times: scripted.Forever},
		scripted.Step{Reply: scripted.Say("done"), Times: scripted.Forever},
	)
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "ws", "keep.txt"), []byte("keep"), 0o644))
	p.apply(t)
	c := p.serve(context.Background(), t)
	status := c.finish(taskID(c.tool("agent_run", map[string]any{"request": "change keep.txt"})))
	require.Contains(t, status, "(failed)")
	require.NotContains(t, status, "Answer:")
	require.NoError(t, c.end())
	kept, err := os.ReadFile(filepath.Join(p.dir, "ws", "keep.txt"))
	require.NoError(t, err)
	require.Equal(t, "keep", string(kept))
	require.NoFileExists(t, filepath.Join(p.dir, "ws", "new.txt"))
	kinds := kindsOf(p.auditLines(t))
	require.GreaterOrEqual(t, kinds["access.denied"], 3, "%v", kinds)
	require.Equal(t, 1, kinds["process.start"], "%v", kinds)
	raw, err := os.ReadFile(filepath.Join(p.dir, "state", "logs", "llm.jsonl"))
	require.NoError(t, err)
	require.NotContains(t, string(raw), "root:*", "nothing of /etc/shadow reached the model")
}

// Start: a model server that is down or has no such model warns and serves; a model without tools refuses (Bad input: Start).
func TestServe_LooksAtTheModelFirst(t *testing.T) {
	t.Run("down", func(t *testing.T) {
		p := newPlace(t, "")
		p.apply(t)
		p.model.Close()
		c := p.serve(context.Background(), t)
		require.Contains(t, c.errs.String(), "Warning")
		status := c.finish(taskID(c.tool("agent_run", map[string]any{"request": "x"})))
		require.Contains(t, status, "(failed)")
		require.Contains(t, status, "cannot be reached")
		require.Contains(t, status, "ollama serve", "the remedy")
		require.NoError(t, c.end())
	})
	t.Run("silent", func(t *testing.T) {
		p := newPlace(t, "")
		l, err := net.Listen("tcp", "127.0.0.1:0") // takes connections, says nothing
		require.NoError(t, err)
		t.Cleanup(func() { _ = l.Close() })
		b, err := os.ReadFile(p.config)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(p.config, []byte(strings.Replace(string(b), p.model.URL, "http://"+l.Addr().String(), 1)), 0o600))
		p.apply(t)
		c := p.serve(context.Background(), t)
		require.Contains(t, c.errs.String(), l.Addr().String())
		require.NoError(t, c.end())
	})
	t.Run("not pulled", func(t *testing.T) {
		p := newPlace(t, "")
		b, err := os.ReadFile(p.config)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(p.config, []byte(strings.Replace(string(b), "m:latest", "other:1b", 1)), 0o600))
		p.apply(t)
		c := p.serve(context.Background(), t)
		require.Contains(t, c.errs.String(), "ollama pull other:1b")
		require.NoError(t, c.end())
	})
	t.Run("without tools", func(t *testing.T) {
		p := newPlace(t, "")
		srv, err := scripted.NewServer(scripted.Script{Model: "m:latest", Capabilities: []string{"completion"}})
		require.NoError(t, err)
		t.Cleanup(srv.Close)
		b, err := os.ReadFile(p.config)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(p.config, []byte(strings.Replace(string(b), p.model.URL, srv.URL, 1)), 0o600))
		p.apply(t)
		eff, err := Admin(Catalog, p.box, strings.NewReader(""), io.Discard, false).Load(context.Background(), p.config)
		require.NoError(t, err)
		err = Serve(context.Background(), eff, p.box, strings.NewReader(""), io.Discard, io.Discard)
		require.Equal(t, model.CodeNoTools, fault.CodeOf(err))
	})
}

// Two clients of one user, one configuration: both are served, one Task works at a time, and the waiting one says for whom.
func TestServe_TwoInstancesShareOneTurn(t *testing.T) {
	hold := scripted.Turn{Fault: &scripted.Fault{Stall: true}}
	p := newPlace(t, "", scripted.Step{When: planning, Reply: hold, Times: scripted.Forever})
	p.apply(t)
	first, second := p.serve(context.Background(), t), p.serve(context.Background(), t)
	one := taskID(first.tool("agent_run", map[string]any{"request": "first"}))
	require.Eventually(t, func() bool {
		return strings.Contains(first.tool("agent_status", map[string]any{"task_id": one}), "(planning)")
	}, 10*time.Second, 10*time.Millisecond)
	two := taskID(second.tool("agent_run", map[string]any{"request": "second"}))
	require.Eventually(t, func() bool {
		s := second.tool("agent_status", map[string]any{"task_id": two})
		return strings.Contains(s, "(queued)") && strings.Contains(s, one) && strings.Contains(s, fmt.Sprint(os.Getpid()))
	}, 10*time.Second, 10*time.Millisecond)
	require.NoError(t, first.end(), "EOF stops the first client's Task")
	require.Eventually(t, func() bool {
		return strings.Contains(second.tool("agent_status", map[string]any{"task_id": two}), "(planning)")
	}, 10*time.Second, 10*time.Millisecond)
	require.NoError(t, second.end())
	ends := 0
	for _, r := range p.auditLines(t) {
		if f, _ := r["fields"].(map[string]any); r["kind"] == "task.state" && f["to"] == "cancelled" {
			ends++
		}
	}
	require.Equal(t, 2, ends, "REC-04")
}

// I18N-03, AT-19, AT-20: a dropped-in locale works without code; a broken one or an unknown key refuses start and apply.
func TestLocales_DropInAndBroken(t *testing.T) {
	p := newPlace(t, "")
	dir := filepath.Join(p.dir, "words")
	require.NoError(t, os.Mkdir(dir, 0o755))
	b, err := os.ReadFile(p.config)
	require.NoError(t, err)
	set := func(locale string) {
		text := strings.Replace(string(b), "{state_dir: ./state}", "{state_dir: ./state, language: "+locale+", locales_dir: ./words}", 1)
		require.NoError(t, os.WriteFile(p.config, []byte(text), 0o600))
	}
	set("zh-CN")
	owner := Admin(Catalog, p.box, strings.NewReader(""), io.Discard, false)
	_, err = owner.Apply(context.Background(), service.ApplyRequest{Path: p.config, Yes: true})
	require.Error(t, err, "no such locale yet")
	file := filepath.Join(dir, "zh-CN.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"state.failed": "失败", "state.queued": "排队中"}`), 0o600))
	p.apply(t)
	p.model.Close()
	c := p.serve(context.Background(), t)
	status := c.finish(taskID(c.tool("agent_run", map[string]any{"request": "x"})))
	require.Contains(t, status, "失败 (failed)")
	require.NoError(t, c.end())
	for _, broken := range []string{`{"state.failed": `, `{"state.fialed": "x"}`, `{"state.failed": 1}`, `[]`, "\xff"} {
		require.NoError(t, os.WriteFile(file, []byte(broken), 0o600))
		_, err = owner.Load(context.Background(), p.config)
		require.Error(t, err, broken)
		_, err = owner.Apply(context.Background(), service.ApplyRequest{Path: p.config, Yes: true})
		require.Error(t, err, broken)
	}
}

// SEC-INV-11, REC-07: state that cannot be written refuses the start before anything is served.
func TestServe_RefusesABadStateDirectory(t *testing.T) {
	p := newPlace(t, "")
	p.apply(t)
	eff, err := Admin(Catalog, p.box, strings.NewReader(""), io.Discard, false).Load(context.Background(), p.config)
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(filepath.Join(p.dir, "state", "logs")))
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "state", "logs"), []byte("a file"), 0o600))
	err = Serve(context.Background(), eff, p.box, strings.NewReader(""), io.Discard, io.Discard)
	require.Error(t, err)
	require.NotEqual(t, fault.CodeInternal, fault.CodeOf(err))
}

type unreadable struct{}

func (unreadable) Read([]byte) (int, error) {
	return 0, &os.PathError{Op: "read", Path: "/dev/stdin", Err: syscall.EISDIR}
}

// Input that cannot be read is told as such, and counts as a failure while serving, not as a refused start.
func TestServe_UnreadableInput(t *testing.T) {
	p := newPlace(t, "")
	p.apply(t)
	eff, err := Admin(Catalog, p.box, strings.NewReader(""), io.Discard, false).Load(context.Background(), p.config)
	require.NoError(t, err)
	err = Serve(context.Background(), eff, p.box, unreadable{}, io.Discard, io.Discard)
	require.Equal(t, CodeInput, fault.CodeOf(err))
	var served *cli.ServedError
	require.ErrorAs(t, err, &served)
	require.Contains(t, fault.From(err).Args["detail"], "directory")
}
