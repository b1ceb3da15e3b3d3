package report_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agent-mcp/agent-mcp/core/report"
	"github.com/agent-mcp/agent-mcp/core/session"
	"github.com/agent-mcp/agent-mcp/core/taskgraph"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/text"
)

// words prints keys with their arguments.
type words struct{ text.Catalog }

func (words) Text(key text.Key, args map[string]any) string {
	var names []string
	for n := range args {
		names = append(names, n)
	}
	slices.Sort(names)
	out := string(key)
	for _, n := range names {
		out += fmt.Sprintf(" %s=%v", n, args[n])
	}
	return out
}

func (words) Fault(f *fault.Error) string { return "fault " + string(f.Code) }

func example() report.Task {
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	return report.Task{
		TaskID: "t-1", SessionID: "s-1", Model: "m", Began: at, Ended: at.Add(90 * time.Second), Request: "Make it work.\n", State: "completed",
		Plan: taskgraph.View{Tasks: []taskgraph.Node{{Task: taskgraph.Task{ID: "a", Title: "Fix | it"}, State: taskgraph.Completed}}},
		Steps: []report.Step{
			{PlannerTask: "a", Call: tool.Call{Name: tool.Read, Path: "x.go"}},
			{PlannerTask: "a", Call: tool.Call{Name: tool.Patch, Path: "x.go"}, Result: tool.Result{Effects: []tool.Effect{{Kind: tool.EffectChanged, Diff: "@@ -1 +1 @@\n-a\n+b\n"}}}},
			{PlannerTask: "a", Call: tool.Call{Name: tool.Run, Alias: "sh", Args: []string{"-c", "true"}}, Took: time.Second, Result: tool.Result{Effects: []tool.Effect{{Kind: tool.EffectRan, Exit: 3}}}},
			{PlannerTask: "a", Call: tool.Call{Name: tool.Run, Alias: "sh"}, Result: tool.Result{Effects: []tool.Effect{{Kind: tool.EffectRan, Exit: -1, End: "timed_out"}}}},
			{PlannerTask: "a", Call: tool.Call{Name: tool.Remove, Path: "/etc/x"}, Result: tool.Result{Denied: true, Fault: fault.New("policy.denied")}},
			{PlannerTask: "a", Call: tool.Call{Name: tool.Remove, Path: "/etc/x"}, Result: tool.Result{Denied: true, Fault: fault.New("policy.denied")}},
			{PlannerTask: "a", Call: tool.Call{Name: tool.Move, Path: "a", Dest: "b"}, Result: tool.Result{Fault: fault.New("workspace.exists")}},
		},
		Workspace: "/w", Proof: []session.Proof{{ID: "a", More: 2, Effects: []tool.Effect{
			{Kind: tool.EffectCreated, Path: "/w/x*.go", SHA256: strings.Repeat("ab", 32)},
			{Kind: tool.EffectMoved, Path: "/w/a", Dest: "/v/b"},
			{Kind: tool.EffectRan, Alias: "sh", Exit: 3},
			{Kind: tool.EffectRan, Path: "/w/app", End: "timed_out", Exit: -1},
			{Kind: tool.EffectRemoved, Path: "/w/c"},
		}}, {ID: "b"}},
		Iterations: 4, Replans: 1, Input: 100, Output: 20, Answer: "Done.",
	}
}

// NFR-07: a person finds request, plan, steps with their differences, refusals, tokens and answer.
func TestMarkdown_TellsTheWholeStory(t *testing.T) {
	got := report.Markdown(words{}, example())
	at := 0
	for _, part := range []string{
		"# report.title state=completed\n", "session=`s-1` task=`t-1`", "took=1m30s", "input=100 iterations=4 output=20 replans=1",
		"## report.request\n\n```\nMake it work.\n```\n", "## report.plan", `| ✓ ` + "`a`" + ` | Fix \| it |`,
		"## report.done", `### Fix | it`, "- `read_file` `x.go` — report.ok\n", "- `patch_file` `x.go` — report.ok\n```diff\n@@ -1 +1 @@\n-a\n+b\n```\n",
		"- `run_process` `sh -c true` — report.exit code=3 (1s)", "report.end end=timed_out", "report.denied code=`policy.denied`",
		"`a` → `b` — report.step_failed code=`workspace.exists`",
		"## report.observed\n\n- Fix | it\n  - effect.created dest= path=x\\*.go (SHA-256 abababababab…)\n  - effect.moved dest=/v/b path=a\n  - effect.ran code=3 program=sh\n",
		"  - effect.ended end=timed\\_out program=app\n  - effect.removed dest= path=c\n  - effect.more count=2\n- b\n  - report.unobserved\n",
		"## report.refused\n\n- `remove_file` `/etc/x` — fault policy.denied\n\n## report.answer\n\n```\nDone.\n```\n",
	} {
		i := strings.Index(got[at:], part)
		if !assert.GreaterOrEqual(t, i, 0, "%q is not after %q in\n%s", part, got[:at], got) {
			return
		}
		at += i
	}
	empty := report.Markdown(words{}, report.Task{State: "failed", Fault: fault.New("agent.x")})
	assert.Contains(t, empty, "report.fault code=`agent.x` message=fault agent.x")
	assert.Contains(t, empty, "report.nothing")
	assert.NotContains(t, empty, "report.answer")
}

// What others wrote can neither leave its place nor carry a credential into the report.
func TestMarkdown_HoldsForeignWords(t *testing.T) {
	task := example()
	key := "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\ndef\n-----END OPENSSH PRIVATE KEY-----"
	task.Request = "```\n# fake\n````\nAPI_KEY=abcdef123456\n" + key + "\nafter \x1b[2J"
	task.Answer = strings.Repeat("x", 100<<10)
	task.Plan.Tasks[0].Title = "a\n# b <script> `c`"
	task.Steps = []report.Step{
		{Call: tool.Call{Name: tool.Run, Alias: "curl", Args: []string{"https://user:secretpass@host/"}}},
		{Call: tool.Call{Name: tool.Read, Path: "a`\n# b"}},
		{Call: tool.Call{Name: tool.Write, Path: "k"}, Result: tool.Result{Effects: []tool.Effect{{Kind: tool.EffectCreated, Diff: "+ password = hunter2secret\n+ok\n"}}}},
	}
	got := report.Markdown(words{}, task)
	for _, bad := range []string{"abcdef123456", "\nabc\n", "secretpass", "hunter2secret", "\x1b", "\n# b", "<script>"} {
		assert.NotContains(t, got, bad)
	}
	assert.Contains(t, got, "`````\n```\n# fake\n````\nreport.hidden\n")
	assert.Contains(t, got, "\n+ok\n")
	assert.Contains(t, got, "report.cut bytes=")
	assert.Less(t, len(got), 80<<10)
}

func FuzzMarkdown(f *testing.F) {
	f.Add("request", "`", "a b")
	f.Fuzz(func(t *testing.T, request, path, diff string) {
		task := example()
		task.Request, task.Steps[0].Call.Path, task.Steps[1].Result.Effects[0].Diff = request, path, diff
		got := report.Markdown(words{}, task)
		for _, r := range got {
			if r < ' ' && r != '\n' && r != '\t' {
				t.Fatalf("control character %q", r)
			}
		}
	})
}
