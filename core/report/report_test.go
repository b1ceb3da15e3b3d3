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
			{PlannerTask: "a", Call: tool.Call{Name: tool.Run, Alias: "sh"}, Result: tool.Result{Effects: []tool.Effect{{Kind: tool.EffectRan, Exit: -1, End: "timed_out"}}, Refused: 2}},
			{PlannerTask: "a", Call: tool.Call{Name: tool.Remove, Path: "/etc/x"}, Result: tool.Result{Denied: true, Fault: fault.New("policy.denied")}},
			{PlannerTask: "a", Call: tool.Call{Name: tool.Remove, Path: "/etc/x"}, Result: tool.Result{Denied: true, Fault: fault.New("policy.denied")}},
			{PlannerTask: "a", Call: tool.Call{Name: tool.Move, Path: "a", Dest: "b"}, Result: tool.Result{Fault: fault.New("workspace.exists")}},
		},
		Skills: report.Skills{Used: []string{"pdf", "a*b"}, Unknown: []string{"none"}, Left: []string{"big (9 > 3)"}}, Look: []string{"  .envrc: Git", "x"},
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
		"# report.title state=completed\n", "session=`s-1` task=`t-1`", "took=duration.minutes minutes=1 seconds=30", "input=100 iterations=4 output=20 replans=1", "- report.skills names=pdf, a\\*b\n- report.no_skill names=none\n- report.skills_left names=big (9 > 3)\n",
		"## report.request\n\n```\nMake it work.\n```\n", "## report.plan", `| ✓ ` + "`a`" + ` | Fix \| it |`,
		"## report.done", `### Fix | it`, "- did.read `x.go` — report.ok\n", "- did.patch `x.go` — report.ok\n```diff\n@@ -1 +1 @@\n-a\n+b\n```\n",
		"- did.run `sh -c true` — report.exit code=3 (duration.seconds seconds=1)", "report.end end=timed_out, report.refusals count=2\n", "report.denied code=`policy.denied`",
		"`a` → `b` — report.step_failed code=`workspace.exists`",
		"## report.observed\n\n- Fix | it\n  - effect.created dest= path=x\\*.go (SHA-256 abababababab…)\n  - effect.moved dest=/v/b path=a\n  - effect.ran code=3 program=sh\n",
		"  - effect.ended end=timed\\_out program=app\n  - effect.removed dest= path=c\n  - effect.more count=2\n- b\n  - report.unobserved\n",
		"## report.refused\n\n- did.remove `/etc/x` — fault policy.denied\n\n## report.look\n\n- .envrc: Git\n- x\n\n## report.answer\n\n```\nDone.\n```\n",
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
		{Call: tool.Call{Name: tool.Write, Path: "/w/.env.local"}, Result: tool.Result{Effects: []tool.Effect{{Kind: tool.EffectCreated, Path: "/w/.env.local", Diff: "+PLAIN_WORD=opensesame\n"}}}},
		{Call: tool.Call{Name: tool.Write, Path: "/w/.env.example"}, Result: tool.Result{Effects: []tool.Effect{{Kind: tool.EffectCreated, Path: "/w/.env.example", Diff: "+PLAIN=value\n"}}}},
		{Call: tool.Call{Name: tool.Patch, Path: "key.pem"}, Result: tool.Result{Effects: []tool.Effect{{Kind: tool.EffectChanged, Path: `C:\w\Key.PEM`, Diff: "-MIIEvQIBADANBgkq\n+MIIEvQIBADANBgkr\n"}}}},
		{Call: tool.Call{Name: tool.Write, Path: "k"}, Result: tool.Result{Effects: []tool.Effect{{Kind: tool.EffectCreated, Diff: "+ password = hunter2secret\n+ok\n"}}}},
	}
	got := report.Markdown(words{}, task)
	for _, bad := range []string{"abcdef123456", "\nabc\n", "secretpass", "hunter2secret", "opensesame", "MIIEvQ", "\x1b", "\n# b", "<script>"} {
		assert.NotContains(t, got, bad)
	}
	assert.Contains(t, got, "`````\n```\n# fake\n````\nreport.hidden\n")
	assert.Contains(t, got, "\n+ok\n")
	assert.Contains(t, got, "\n+PLAIN=value\n")
	assert.Equal(t, 2, strings.Count(got, "report.diff_hidden"))
	assert.Contains(t, got, "report.cut bytes=")
	assert.Less(t, len(got), 80<<10)
}

// A report has an end: a difference that has no room is said to be left out, and a later, smaller one is still shown.
func TestMarkdown_SaysWhatHadNoRoom(t *testing.T) {
	task := example()
	wrote := func(path, diff string) report.Step {
		return report.Step{Call: tool.Call{Name: tool.Write, Path: path}, Result: tool.Result{Effects: []tool.Effect{{Kind: tool.EffectCreated, Path: path, Diff: diff}}}}
	}
	task.Steps = []report.Step{wrote("a", strings.Repeat("+a\n", 60<<10)), wrote("b", strings.Repeat("+b\n", 60<<10)), wrote("c", "+c is small\n")}
	got := report.Markdown(words{}, task)
	assert.Equal(t, 1, strings.Count(got, "report.diff_left"))
	assert.NotContains(t, got, "\n+b\n")
	assert.Contains(t, got, "+c is small")
	assert.Less(t, len(got), 400<<10)
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
