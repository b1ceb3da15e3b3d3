package wire

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/model/scripted"
	"github.com/agent-mcp/agent-mcp/ports/model"
)

// canary is what only a model's thinking says.
const canary = "CANARY-OF-A-THOUGHT"

// musing gives a turn a thought in its own field, one leaked into the words, and one that never closes.
func musing(t scripted.Turn) scripted.Turn {
	t.Thinking = canary + " 1"
	if t.Content != "" {
		t.Content = "<think>" + canary + " 2</think>" + t.Content + "\n<think>" + canary + " 3"
	}
	return t
}

// placeWith is a place with a model server of its own, and settings laid over the others.
func placeWith(t *testing.T, script scripted.Script, ollama, more string) *place {
	t.Helper()
	p := newPlace(t, "")
	srv, err := scripted.NewServer(script)
	require.NoError(t, err)
	t.Cleanup(srv.Close)
	p.model = srv
	p.settings(t, ollama, more)
	p.apply(t)
	return p
}

func (p *place) settings(t *testing.T, ollama, more string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "agent.local.yaml"), []byte(fmt.Sprintf(
		"ollama: {base_url: %q, retry: {attempts: 3, backoff: 1ms, max_backoff: 1ms}, %s}\n%s\n", p.model.URL, ollama, more)), 0o600))
}

// lacks fails when a text is in a file of the place, whatever its name.
func (p *place) lacks(t *testing.T, secret string) {
	t.Helper()
	looked := 0
	require.NoError(t, filepath.WalkDir(p.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		looked++
		for line := range strings.Lines(string(b)) {
			if strings.Contains(line, secret) {
				assert.Fail(t, "it is written down", "%s: %s", path, line)
			}
		}
		return nil
	}))
	require.Greater(t, looked, 6, "configuration, snapshot, logs, audit, report: something was looked at")
}

// OLL-14: what a model thinks, and what leaks of it into words and errors, is in no log, audit, report, journal, status, answer or
// message to the client, nor in what the Session remembers. It goes back to the model inside the message that a call continues,
// and nowhere else.
func TestServe_ThinkingIsNowhere(t *testing.T) {
	step := func(id, file string, after ...string) map[string]any {
		return map[string]any{
			"id": id, "title": "make " + file, "depends_on": after, "o": 100, "m": 200, "p": 400, "budget": "8K",
			"expects": []any{map[string]any{"kind": "file", "path": file}},
		}
	}
	plan := scripted.JSON(map[string]any{"tasks": []any{step("t1", "a.txt"), step("t2", "b.txt", "t1")}})
	write := func(path string) scripted.Turn {
		return scripted.Use(scripted.Tool("write_file", map[string]any{"path": path, "content": "x"}))
	}
	broken := func(f scripted.Fault) scripted.Turn {
		t := musing(scripted.Say("half of it"))
		t.Fault = &f
		return t
	}
	const chat = `{"model":"m","message":{"role":"assistant","content":"","thinking":"` + canary + ` 4`
	steps := []scripted.Step{
		{When: planning, Reply: musing(scripted.Say("No plan yet."))},
		{When: planning, Reply: musing(plan)},
		{When: acting, Reply: broken(scripted.Fault{End: true})},
		{When: acting, Reply: broken(scripted.Fault{Line: "an error was encountered while running the model: <think>" + canary + " 5"})},
		{When: acting, Reply: broken(scripted.Fault{Line: "error parsing tool call: raw='<think>" + canary + " 6</think>{', err=unexpected end"})},
		{When: acting, Reply: musing(write("a.txt"))},
		{When: acting, Reply: musing(scripted.Say("I made a.txt."))},
		{When: acting, Reply: musing(scripted.Use(scripted.Tool("no_such_tool", map[string]any{})))},
		{When: acting, Reply: musing(scripted.Turn{})},
		{When: acting, Reply: musing(write("b.txt"))},
		{When: acting, Reply: musing(scripted.Say("I made b.txt."))},
		{Reply: musing(scripted.Say("Both files are made."))},
		// the second Task of the Session: a line that is no JSON ends it
		{When: planning, Reply: scripted.Turn{Fault: &scripted.Fault{Raw: chat + "\x01\"}}\n"}}},
	}
	p := placeWith(t, scripted.Script{Model: "m:latest", Capabilities: []string{"completion", "tools", "thinking"}, Steps: steps}, "think: high", "logging: {level: debug}")
	c := p.serve(context.Background(), t)
	var told []string
	accepted := c.tool("agent_run", map[string]any{"request": "make both files"})
	status := c.finish(taskID(accepted))
	require.Contains(t, status, "(completed)")
	require.Contains(t, status, "Both files are made.")
	_, session, _ := strings.Cut(accepted, "Session ID: ")
	session, _, _ = strings.Cut(session, "\n")
	first := len(p.model.Model.Requests())
	again := c.tool("agent_run", map[string]any{"request": "and once more", "session_id": session})
	failed := c.finish(taskID(again))
	require.Contains(t, failed, "(failed)")
	require.Contains(t, failed, "broken JSON in a line of 93 bytes")
	require.NoError(t, c.end())
	told = append(told, accepted, status, again, failed, c.errs.String())

	for _, text := range told {
		require.NotContains(t, text, canary)
	}
	p.lacks(t, canary)
	thoughts := 0
	for i, r := range p.model.Model.Requests() {
		require.Equal(t, "high", r.Think.Level)
		for _, m := range r.Messages {
			require.NotContains(t, m.Content, canary, "request %d", i)
			for _, call := range m.ToolCalls {
				require.NotContains(t, string(call.Arguments), canary)
			}
			if m.Thinking != "" {
				thoughts++
				require.Less(t, i, first, "the Session does not remember it")
				require.True(t, m.Role == model.Assistant && len(m.ToolCalls) > 0, "only what a call continues: %+v", m)
			}
		}
	}
	require.Positive(t, thoughts, "it is sent back where a call continues it")
}
