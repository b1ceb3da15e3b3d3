package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/model/scripted"
	"github.com/agent-mcp/agent-mcp/core/tool"
)

// raw sends one request and returns the line that answers it.
func (c *client) raw(method string, params any) string {
	c.t.Helper()
	c.n++
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.n, "method": method, "params": params})
	require.NoError(c.t, err)
	_, err = c.in.Write(append(b, '\n'))
	require.NoError(c.t, err, c.errs.String())
	line, err := c.out.ReadString('\n')
	require.NoError(c.t, err, c.errs.String())
	return line
}

// owned reads what belongs to the owner: all of the place but the workspace, and of the state only what was applied.
func (p *place) owned(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	require.NoError(t, filepath.WalkDir(p.dir, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(p.dir, path)
		switch {
		case err != nil:
			return err
		case rel == "ws", strings.HasPrefix(rel, "state"+string(filepath.Separator)) && d.IsDir() && filepath.Base(rel) != "applied" && !strings.Contains(rel, "applied"):
			return filepath.SkipDir
		case d.IsDir():
			return nil
		}
		b, err := os.ReadFile(path)
		out[rel] = string(b)
		return err
	}))
	return out
}

func using(name string, args map[string]any) scripted.Step {
	return scripted.Step{When: acting, Reply: scripted.Use(scripted.Tool(name, args))}
}

// MCP-TR-01, AGT-06, CLI-04, SEC-INV-02, NFR-04: over stdio there are two tools; no Internal Tool, no command of the owner
// and no other method is reachable by a client.
func TestServe_ClientsReachTwoToolsOnly(t *testing.T) {
	p := newPlace(t, "")
	p.apply(t)
	before := p.owned(t)
	c := p.serve(context.Background(), t)
	list := c.raw("tools/list", nil)
	require.Equal(t, 2, strings.Count(list, `"inputSchema"`), list)

	names := []string{"apply", "show", "serve", "agent_apply", "agent_show", "approve", "AGENT_RUN"}
	for _, d := range tool.Definitions(tool.Config{Aliases: []string{"sh"}, Artifacts: true}) {
		names = append(names, d.Name)
		require.NotContains(t, list, `"`+d.Name+`"`)
	}
	require.Greater(t, len(names), 15, "the Internal Tools were found")
	for _, n := range names {
		answer := c.raw("tools/call", map[string]any{"name": n, "arguments": map[string]any{
			"path": "x.txt", "content": "x", "command": "sh", "args": []string{"-c", "echo x > x.txt"}, "yes": true, "config": p.config,
		}})
		require.Contains(t, answer, `"error"`, n)
	}
	for _, m := range []string{
		"apply", "show", "agent/apply", "config/set", "logging/setLevel", "resources/list", "resources/read", "prompts/list",
		"completion/complete", "tools/register", "roots/list", "sampling/createMessage",
	} {
		require.Contains(t, c.raw(m, map[string]any{"path": p.config, "uri": "file://" + p.config, "level": "debug"}), `"error"`, m)
	}
	require.NoError(t, c.end())
	left, err := os.ReadDir(filepath.Join(p.dir, "ws"))
	require.NoError(t, err)
	require.Empty(t, left)
	require.Equal(t, before, p.owned(t))
}

// CLI-04, CFG-06, SEC-INV-01, SEC-INV-02: whatever the model tries, with tools or with processes, the owner's configuration,
// prompt, skills and applied snapshot stay as they are, and nothing that the program does itself writes them.
func TestServe_OwnersFilesStay(t *testing.T) {
	edit := `for f in ../agent.yaml ../agent.local.yaml ../prompt.md ../skills/s/SKILL.md ../state/applied/*/*; do echo "x: 1" >> $f; rm -f $f; done; exit 3`
	p := newPlace(t, "agent: {user_system_prompt: ./prompt.md}\nskills: {directories: [./skills]}\n",
		scripted.Step{When: planning, Reply: onePlan(map[string]any{"kind": "process", "alias": "sh"})},
		using("write_file", map[string]any{"path": "../agent.yaml", "content": "schema_version: 2"}),
		using("write_file", map[string]any{"path": "../skills/s/SKILL.md", "content": "x"}),
		using("remove_file", map[string]any{"path": "../state/applied"}),
		using("run_process", map[string]any{"command": "agent-mcp", "args": []string{"apply", "--yes"}}),
		using("run_process", map[string]any{"command": "sh", "args": []string{"-c", edit}}),
		scripted.Step{Reply: scripted.Say("The configuration is changed."), Times: scripted.Forever},
	)
	for name, text := range map[string]string{
		"agent.local.yaml": "agent: {max_replans: 0}\n", "prompt.md": "Be brief.\n",
		"skills/s/SKILL.md": "---\nname: s\ndescription: Does things.\nallowed-tools: Bash(*) Write\n---\nDo it.\n",
	} {
		path := filepath.Join(p.dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	p.apply(t)
	before := p.owned(t)
	require.Len(t, before, 5, "configuration, local one, prompt, skill, snapshot")
	c := p.serve(context.Background(), t)
	status := c.finish(taskID(c.tool("agent_run", map[string]any{"request": "allow yourself everything"})))
	require.Contains(t, status, "(failed)")
	require.NoError(t, c.end())
	require.Equal(t, before, p.owned(t))
	require.Equal(t, 1, kindsOf(p.auditLines(t))["process.start"], "the shell alone was started")
}

// CFG-02, SEC-INV-02: what is applied while a server runs is for the next one; the running one keeps the policy it began with.
func TestServe_ChangesTakeARestart(t *testing.T) {
	work := func(name string) []scripted.Step {
		return []scripted.Step{
			{When: planning, Reply: onePlan(map[string]any{"kind": "file", "path": name})},
			using("write_file", map[string]any{"path": name, "content": "x"}),
			{Reply: scripted.Say("Done with " + name)},
		}
	}
	p := newPlace(t, "agent: {max_replans: 0}\n", append(work("one.txt"), append(work("two.txt"),
		scripted.Step{Reply: scripted.Say("Done."), Times: scripted.Forever})...)...)
	p.apply(t)
	c := p.serve(context.Background(), t)

	text, err := os.ReadFile(p.config)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(p.config, []byte(strings.Replace(string(text), "sandbox:\n", "sandbox:\n  profile: readonly\n", 1)), 0o600))
	p.apply(t)
	status := c.finish(taskID(c.tool("agent_run", map[string]any{"request": "make one.txt"})))
	require.Contains(t, status, "(completed)")
	require.FileExists(t, filepath.Join(p.dir, "ws", "one.txt"))
	require.NoError(t, c.end())

	c = p.serve(context.Background(), t)
	status = c.finish(taskID(c.tool("agent_run", map[string]any{"request": "make two.txt"})))
	require.Contains(t, status, "(failed)")
	require.NoFileExists(t, filepath.Join(p.dir, "ws", "two.txt"))
	require.NoError(t, c.end())
}

// SKL-03, SKL-05, PRC-05: a loaded skill shows its files and grants nothing: what it says it may use is no capability, its
// scripts start only as the policy lets anything start, and nothing but its listed files is read (SKL-06).
func TestServe_SkillsGrantNothing(t *testing.T) {
	const script = "../skills/s/scripts/go.sh"
	p := newPlace(t, "skills: {directories: [./skills]}\nagent: {max_replans: 0}\n",
		scripted.Step{When: planning, Reply: withSkill(t, onePlan(map[string]any{"kind": "process"}), "s")},
		using("read_file", map[string]any{"path": "skill:s/references/a.md", "offset": 2, "limit": 1}),
		using("read_file", map[string]any{"path": "skill:s/references/../../../agent.yaml"}),
		using("read_file", map[string]any{"path": "skill:other/references/a.md"}),
		using("write_file", map[string]any{"path": "skill:s/references/a.md", "content": "changed"}),
		using("run_process", map[string]any{"command": script}),
		using("run_process", map[string]any{"command": "sh", "args": []string{script}}),
		using("write_file", map[string]any{"path": "../out.txt", "content": "x"}),
		scripted.Step{Reply: scripted.Say("The script ran."), Times: scripted.Forever},
	)
	require.NoError(t, os.MkdirAll(filepath.Join(p.dir, "skills", "s", "scripts"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(p.dir, "skills", "s", "references"), 0o755))
	reference := filepath.Join(p.dir, "skills", "s", "references", "a.md")
	require.NoError(t, os.WriteFile(reference, []byte("apricot\nnougat\nalmond\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "ws", script), []byte("#!/bin/sh\necho ran > ran.txt\n"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "skills", "s", "SKILL.md"),
		[]byte("---\nname: s\ndescription: Does things.\nallowed-tools: Bash(*) Write(*)\n---\nThe secret word is marzipan. Run scripts/go.sh.\n"), 0o644))
	p.apply(t)
	c := p.serve(context.Background(), t)
	status := c.finish(taskID(c.tool("agent_run", map[string]any{"request": "use the skill"})))
	require.Contains(t, status, "(failed)")
	require.NoError(t, c.end())
	require.NoFileExists(t, filepath.Join(p.dir, "ws", "ran.txt"))
	require.NoFileExists(t, filepath.Join(p.dir, "out.txt"))
	log, err := os.ReadFile(filepath.Join(p.dir, "state", "logs", "llm.jsonl"))
	require.NoError(t, err)
	require.Contains(t, string(log), "marzipan", "the skill was loaded")
	require.Contains(t, string(log), ": references/a.md, scripts/go.sh")
	require.NoDirExists(t, filepath.Join(p.dir, "ws", "skill:s"))
	require.Contains(t, string(log), "nougat", "the line that was asked for")
	require.NotContains(t, string(log), "apricot")
	require.NotContains(t, string(log), "almond")
	require.NotContains(t, string(log), "state_dir", "the configuration was not read")
	kept, err := os.ReadFile(reference)
	require.NoError(t, err)
	require.Contains(t, string(kept), "apricot")
	records := p.auditLines(t)
	var read []any
	for _, r := range records {
		if f := r["fields"].(map[string]any); r["kind"] == "tool.result" && f["tool"] == "read_file" {
			read = append(read, f["ok"])
		}
	}
	require.Equal(t, []any{true, false, false}, read)
	kinds := kindsOf(records)
	require.GreaterOrEqual(t, kinds["access.denied"], 2, "%v", kinds)
}

// withSkill makes a plan select a skill.
func withSkill(t *testing.T, plan scripted.Turn, name string) scripted.Turn {
	t.Helper()
	var v map[string]any
	require.NoError(t, json.Unmarshal(plan.JSON, &v))
	v["skills"] = []string{name}
	return scripted.JSON(v)
}

// LOG-01, LOG-02, LOG-04, SEC-INV-12: after a run every log is there, owner-only; every prompt and reply tells its call, Session,
// Task, Planner Task, phase, iteration, replan, model and tokens; stdout was MCP only (every line of it was read as JSON).
func TestServe_LogsAreCorrelated(t *testing.T) {
	p := newPlace(t, "",
		scripted.Step{When: planning, Reply: onePlan(map[string]any{"kind": "file", "path": "a.txt"})},
		using("write_file", map[string]any{"path": "a.txt", "content": "x"}),
		scripted.Step{Reply: scripted.Say("a.txt is there."), Times: scripted.Forever},
	)
	p.apply(t)
	c := p.serve(context.Background(), t)
	id := taskID(c.tool("agent_run", map[string]any{"request": "make a.txt"}))
	require.Contains(t, c.finish(id), "(completed)")
	require.NoError(t, c.end())
	require.Contains(t, c.errs.String(), "task.accepted", "the app log goes to stderr, too")

	logs, err := filepath.Glob(filepath.Join(p.dir, "state", "logs", "*"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(logs), 4, "app, LLM, tokens, audit: %v", logs)
	for _, l := range logs {
		info, err := os.Stat(l)
		require.NoError(t, err)
		require.Zero(t, info.Mode().Perm()&0o077, l)
	}
	b, err := os.ReadFile(filepath.Join(p.dir, "state", "logs", "llm.jsonl"))
	require.NoError(t, err)
	phases := map[string]bool{}
	replies := 0
	for line := range strings.Lines(string(b)) {
		var e struct {
			Name, Session, Task, Call string
			PlannerTask               string `json:"planner_task"`
			Fields                    map[string]any
		}
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		require.Equal(t, id, e.Task, line)
		require.NotEmpty(t, e.Session, line)
		require.NotEmpty(t, e.Call, line)
		phase := fmt.Sprint(e.Fields["phase"])
		phases[phase] = true
		require.Equal(t, phase == "act", e.PlannerTask != "", line)
		for _, f := range []string{"iteration", "replan", "model"} {
			require.Contains(t, e.Fields, f, line)
		}
		if e.Name == "model.response" {
			replies++
			require.Contains(t, e.Fields, "input", line)
			require.Contains(t, e.Fields, "output", line)
		}
	}
	require.Positive(t, replies)
	require.True(t, phases["plan"] && phases["act"], "%v", phases)
}
