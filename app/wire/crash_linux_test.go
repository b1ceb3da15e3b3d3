package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/ident/random"
	"github.com/agent-mcp/agent-mcp/adapters/model/scripted"
	"github.com/agent-mcp/agent-mcp/ports/journal"
)

// Names of what a crashing child is told.
const (
	crashConfig = "AGENT_MCP_TEST_CRASH_CONFIG"
	crashAt     = "AGENT_MCP_TEST_CRASH_AT" // 2n: before the n-th journal record is written, 2n+1: right after; -1: never
)

// deadly kills its own process at one point of the journal's life.
type deadly struct {
	journal.Journal
	at    int64
	count *atomic.Int64
}

func (d deadly) Append(ctx context.Context, rec journal.Record) error {
	n := d.count.Add(1) - 1
	if d.at == 2*n {
		die()
	}
	err := d.Journal.Append(ctx, rec)
	if d.at == 2*n+1 {
		die()
	}
	return err
}

func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// crashChild serves like the real program, and dies where it is told. It exits with 0 when it was never told to.
func crashChild() {
	path := os.Getenv(crashConfig)
	if path == "" {
		return
	}
	at, err := strconv.ParseInt(os.Getenv(crashAt), 10, 64)
	if err != nil {
		os.Exit(3)
	}
	box, count := newSandbox(), &atomic.Int64{}
	eff, err := Admin(Catalog, box, strings.NewReader(""), io.Discard, false).Load(context.Background(), path)
	if err != nil {
		os.Exit(4)
	}
	s := &server{eff: eff, box: box, err: os.Stderr, id: random.New().New(), openJournal: func(path string) (journal.Journal, error) {
		j, err := openJournal(path)
		return deadly{j, at, count}, err
	}}
	if err := errors.Join(s.serve(context.Background(), os.Stdin, os.Stdout), box.Close()); err != nil {
		os.Exit(5)
	}
	os.Exit(0)
}

// crash runs one child through one Task and reports whether it was killed.
func (p *place) crash(t *testing.T, at int) (killed bool) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), crashConfig+"="+p.config, crashAt+"="+strconv.Itoa(at))
	in, err := c.StdinPipe()
	require.NoError(t, err)
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	_, _ = io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`+"\n"+
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"agent_run","arguments":{"request":"edit"}}}`+"\n")
	buf := make([]byte, 64<<10)
	deadline := time.Now().Add(30 * time.Second)
	for text := ""; time.Now().Before(deadline); {
		n, err := out.Read(buf)
		text += string(buf[:n])
		if err != nil {
			break
		}
		if i := strings.Index(text, "Task ID: "); i >= 0 && len(text) > i+45 {
			id := text[i+9 : i+45]
			if strings.Contains(text, "(completed)") || strings.Contains(text, "(failed)") {
				break
			}
			time.Sleep(5 * time.Millisecond)
			_, _ = io.WriteString(in, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"agent_status","arguments":{"task_id":"`+id+`"}}}`+"\n")
		}
	}
	_ = in.Close()
	_, _ = io.Copy(io.Discard, out)
	err = c.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		killed = exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
		require.True(t, killed, "exit: %v", err)
	}
	return killed
}

func editing() []scripted.Step {
	use := func(name string, args map[string]any) scripted.Turn { return scripted.Use(scripted.Tool(name, args)) }
	turns := []scripted.Turn{
		use("write_file", map[string]any{"path": "new.txt", "content": "new\n"}),
		use("write_file", map[string]any{"path": "old.txt", "content": strings.Repeat("after\n", 100)}),
		use("patch_file", map[string]any{"path": "old.txt", "old": "after\n", "new": "last\n", "all": true}),
		use("run_process", map[string]any{"command": "sh", "args": []string{"-c", "echo ran > ran.txt"}}),
		scripted.Say("edited"),
	}
	steps := []scripted.Step{{When: planning, Reply: onePlan(map[string]any{"kind": "process", "alias": "sh"})}}
	for _, turn := range turns {
		steps = append(steps, scripted.Step{When: acting, Reply: turn})
	}
	return steps
}

// REC-06, AT-13, SEC-INV-10, NFR-03: killed at every step of the journal, before and after its record; after the next start
// nothing of the dead instance is left, and every file is whole: its old or its new content.
func TestCrash_SweepEveryJournalStep(t *testing.T) {
	for at := 0; ; at++ {
		require.Less(t, at, 200, "the sweep does not end")
		p := newPlace(t, "agent: {edit: {memory_backup_bytes: 0}}\n", editing()...)
		old := filepath.Join(p.dir, "ws", "old.txt")
		require.NoError(t, os.WriteFile(old, []byte(strings.Repeat("before\n", 100)), 0o644))
		p.apply(t)
		killed := p.crash(t, at)

		c := p.serve(context.Background(), t)
		require.NoError(t, c.end())
		content, err := os.ReadFile(old)
		require.NoError(t, err)
		require.Contains(t, []string{strings.Repeat("before\n", 100), strings.Repeat("after\n", 100), strings.Repeat("last\n", 100)}, string(content), "step %d", at)
		entries, err := os.ReadDir(filepath.Join(p.dir, "ws"))
		require.NoError(t, err)
		for _, e := range entries {
			require.Contains(t, []string{"new.txt", "old.txt", "ran.txt"}, e.Name(), "step %d", at)
		}
		left, err := filepath.Glob(filepath.Join(p.dir, "state", "instances", "*", "*"))
		require.NoError(t, err)
		require.Empty(t, left, "step %d", at)
		p.auditLines(t) // every chain verifies, also those of the dead
		if !killed {
			require.Greater(t, at, 8, "edits, backups and their ends are journaled")
			t.Logf("%d points", at)
			return
		}
	}
}

// leaving is a Task whose program leaves in the workspace what the owner's own tools would obey, says so, and does not end.
func leaving() []scripted.Step {
	return []scripted.Step{
		{When: planning, Reply: onePlan(map[string]any{"kind": "process", "alias": "sh"})},
		{When: acting, Reply: scripted.Use(scripted.Tool("run_process", map[string]any{"command": "sh", "args": []string{
			"-c",
			"mkdir -p .git/hooks d && echo '#!/bin/sh' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit && echo evil > .git/commondir && " +
				"echo evil > d/.envrc && : > \"$(printf 'd/a\\nb.desktop')\" && : > left.txt && sleep 600",
		}}))},
	}
}

// leave has a server run such a Task and kills the server when the program has done its worst.
func (p *place) leave(t *testing.T) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), crashConfig+"="+p.config, crashAt+"=-1")
	in, err := c.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	_, _ = io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`+"\n"+
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"agent_run","arguments":{"request":"run"}}}`+"\n")
	require.Eventually(t, func() bool { _, err := os.Stat(p.at("left.txt")); return err == nil }, 20*time.Second, 5*time.Millisecond)
	require.NoError(t, c.Process.Kill())
	_ = c.Wait()
	_ = in.Close()
}

func (p *place) at(name string) string { return filepath.Join(p.dir, "ws", name) }

// repository makes one without hooks, as its owner has it.
func (p *place) repository(t *testing.T) {
	t.Helper()
	for _, d := range []string{"objects", "refs"} {
		require.NoError(t, os.MkdirAll(p.at(".git/"+d), 0o755))
	}
	for _, f := range []string{"HEAD", "config"} {
		require.NoError(t, os.WriteFile(p.at(".git/"+f), nil, 0o644))
	}
}

// sweptAfter checks that what such a Task left is out of Git's sight, on record and told.
func (p *place) sweptAfter(t *testing.T, told string) {
	t.Helper()
	for _, name := range []string{"hooks", "commondir"} {
		require.NoFileExists(t, p.at(".git/"+name))
		require.NoDirExists(t, p.at(".git/"+name))
		_, err := os.Stat(p.at(".git/" + name + ".refused"))
		require.NoError(t, err, "nothing is lost")
		require.Contains(t, told, p.at(".git/"+name+".refused"))
	}
	require.Contains(t, told, p.at("d/.envrc"))
	require.Contains(t, told, p.at("d/a\uFFFDb.desktop"), "a name is one line")
	require.NotContains(t, told, p.at(".git/config"), "it is the owner's")
	lines := fmt.Sprint(p.auditLines(t))
	require.Contains(t, lines, "obeyed_by:environment")
	require.Contains(t, lines, p.at(".git/hooks"))
}

// DENY-01, SEC-INV-13, REC-06: what a run left whose end nobody saw is put aside and named by the next start, as after any
// other run, and nothing is taken for the owner's.
func TestCrash_WhatARunLeftIsSweptByTheNextStart(t *testing.T) {
	p := newPlace(t, "", leaving()...)
	p.repository(t)
	p.apply(t)
	p.leave(t)
	c := p.serve(context.Background(), t)
	require.NoError(t, c.end())
	p.sweptAfter(t, c.errs.String())

	require.NoError(t, os.Mkdir(p.at(".git/hooks"), 0o755))
	c = p.serve(context.Background(), t)
	require.NoError(t, c.end())
	require.DirExists(t, p.at(".git/hooks"), "what the owner makes later stays")
}

// The same when a server that lives already takes over the turn: before it looks at anything.
func TestCrash_WhatARunLeftIsSweptBeforeAnothersTask(t *testing.T) {
	p := newPlace(t, "", append(leaving(), scripted.Step{When: planning, Reply: onePlan(map[string]any{"kind": "read", "path": "left.txt"})},
		scripted.Step{When: acting, Reply: scripted.Say("nothing to do")})...)
	p.repository(t)
	p.apply(t)
	living := p.serve(context.Background(), t)
	p.leave(t)
	text := living.tool("agent_run", map[string]any{"request": "go on"})
	i := strings.Index(text, "Task ID: ")
	require.GreaterOrEqual(t, i, 0, text)
	living.finish(text[i+9 : i+45])
	p.sweptAfter(t, living.errs.String())
	require.NoError(t, living.end())
}

// A workspace that is gone, or another one, is not swept: the owner is told.
func TestCrash_AnotherWorkspaceIsNotSwept(t *testing.T) {
	p := newPlace(t, "", leaving()...)
	p.repository(t)
	p.apply(t)
	p.leave(t)
	require.NoError(t, os.Rename(filepath.Join(p.dir, "ws"), filepath.Join(p.dir, "old")))
	require.NoError(t, os.Mkdir(filepath.Join(p.dir, "ws"), 0o755))
	p.repository(t)
	require.NoError(t, os.Mkdir(p.at(".git/hooks"), 0o755))
	p.apply(t)
	c := p.serve(context.Background(), t)
	require.NoError(t, c.end())
	require.DirExists(t, p.at(".git/hooks"))
	require.Contains(t, c.errs.String(), filepath.Join(p.dir, "ws")+" is not there any more")
}

// REC-03, PRC-08: when the server is killed, everything it started dies with it.
func TestCrash_KillsTheTree(t *testing.T) {
	p := newPlace(t, "",
		scripted.Step{When: planning, Reply: onePlan(map[string]any{"kind": "process", "alias": "sh"})},
		scripted.Step{When: acting, Reply: scripted.Use(scripted.Tool("run_process", map[string]any{"command": "sh", "args": []string{"-c", "trap '' TERM HUP INT; (while :; do echo x >> alive.txt; sleep 0.02; done) & while :; do sleep 1; done"}}))},
	)
	p.apply(t)
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), crashConfig+"="+p.config, crashAt+"=-1")
	in, err := c.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	_, _ = io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`+"\n"+
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"agent_run","arguments":{"request":"run"}}}`+"\n")
	alive := filepath.Join(p.dir, "ws", "alive.txt")
	require.Eventually(t, func() bool { _, err := os.Stat(alive); return err == nil }, 20*time.Second, 10*time.Millisecond)
	require.NoError(t, c.Process.Kill())
	_ = c.Wait()
	_ = in.Close()
	size := func() int64 {
		i, err := os.Stat(alive)
		require.NoError(t, err)
		return i.Size()
	}
	require.Eventually(t, func() bool { a := size(); time.Sleep(200 * time.Millisecond); return size() == a }, 10*time.Second, 10*time.Millisecond)
	again := p.serve(context.Background(), t)
	require.NoError(t, again.end())
}
