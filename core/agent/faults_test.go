package agent_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/agent"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// AGT-03, AGT-07, OLL-11: each mistake of a weak model is fed back with a cause of its own, and the fifth of the same cause
// in a row ends the Task.
func TestStep_FiveFailuresOfOneCauseEndTheTask(t *testing.T) {
	long := strings.Repeat("and then I will do the next thing, ", 60)
	n := 0
	cases := []struct {
		cause string
		code  fault.Code
		heard string
		do    func(r *run)
	}{
		{"empty_response", agent.CauseEmpty, "empty", func(r *run) {
			r.reply(model.Reply{Usage: model.Usage{PromptTokens: 900, OutputTokens: 1, PromptPresent: true, OutputPresent: true}})
		}},
		{"empty_response", agent.CauseEmpty, "empty", func(r *run) {
			r.reply(model.Reply{Message: model.Message{Thinking: "hm"}})
		}},
		{"swallowed_call", agent.CauseSwallowed, "Tools: read_file", func(r *run) { r.says("") }},
		{"swallowed_call", agent.CauseSwallowed, "Tools: read_file", func(r *run) {
			r.step(agent.ModelFailed{CallID: r.ask().CallID, Fault: fault.New(model.CodeBrokenCall, "detail", "x")})
		}},
		{"unknown_tool:shell", agent.CauseUnknownTool, "no tool", func(r *run) { r.calls(call("shell", `{}`)) }},
		{"bad_arguments:write_file:content", agent.CauseBadArguments, "content", func(r *run) { r.calls(call("write_file", `{"path":"a"}`)) }},
		{"text_tool_call", agent.CauseTextCall, "tool interface", func(r *run) {
			r.says(`{"name":"write_file","arguments":` + writeArgs + `}`)
		}},
		{"claimed_no_tool_call", agent.CauseClaimed, "hello.py created or changed", func(r *run) { r.says("I have written hello.py.") }},
		{"repetition", agent.CauseRepetition, "repeated", func(r *run) { r.says(long) }},
		{"repetition", agent.CauseRepetition, "repeated", func(r *run) {
			r.step(agent.ModelFailed{CallID: r.ask().CallID, Fault: fault.New(model.CodeRepetition)})
		}},
		{"tool_error:write_file:workspace.full", agent.CauseToolError, "failed", func(r *run) {
			n++
			r.calls(call("write_file", fmt.Sprintf(`{"path":"hello.py","content":"%d"}`, n))).observe(toolError("workspace.full"))
		}},
		{"denied:write_file", agent.CauseDenied, "policy", func(r *run) {
			n++
			r.calls(call("write_file", fmt.Sprintf(`{"path":"f%d","content":""}`, n))).observe(denied())
		}},
	}
	for i, c := range cases {
		t.Run(fmt.Sprintf("%02d %s", i, c.cause), func(t *testing.T) {
			r := working(t)
			for range 4 {
				c.do(r)
				require.Equal(t, agent.PhaseAct, r.ask().Phase)
				require.Contains(t, r.heard(), c.heard)
			}
			c.do(r)
			o := r.failed(agent.CodeSameFailure)
			require.Equal(t, c.code, o.Fault.Reasons[0].Code)
			notes := r.notes(agent.NoteFailure)
			require.Len(t, notes, 5)
			require.Equal(t, c.cause, notes[4].Cause.String())
			require.Equal(t, 5, notes[4].Count)
		})
	}
}

// AGT-03: a counter falls back only after a different call that worked.
func TestStep_CountersFallBackOnlyAfterADifferentSuccessfulCall(t *testing.T) {
	bad := func(r *run) { r.calls(call("nope", `{}`)) }
	r := working(t)
	for range 4 {
		bad(r)
	}
	r.calls(call("read_file", `{"path":"a"}`)).observe(tool.Result{Text: "x"})
	for range 4 {
		bad(r)
	}
	require.Equal(t, agent.PhaseAct, r.ask().Phase, "the good call let the counter fall back")
	r.calls(call("read_file", `{"path":"a"}`)).observe(tool.Result{Text: "y"})
	bad(r)
	r.failed(agent.CodeSameFailure) // the same good call again did not
}

// AGT-05, SEC-INV-01: a call printed as text is never run (core/guard's tests show the dresses it is known in).
func TestStep_PrintedCallsAreNeverRun(t *testing.T) {
	body := `{"name": "write_file", "arguments": ` + writeArgs + `}`
	for _, s := range []string{body, "Sure, I will do it:\n```\n" + body + "\n```\nDone.", "<tool_call>" + body + "</tool_call>", `write_file(path="hello.py", content="print(1)")`} {
		r := working(t).says(s)
		require.Equal(t, agent.PhaseAct, r.ask().Phase, s)
		notes := r.notes(agent.NoteFailure)
		require.Len(t, notes, 1, s)
		require.Equal(t, agent.CauseTextCall, notes[0].Cause.Code, s)
	}
	for _, s := range []string{"The file holds {\"name\": \"Ada\", \"age\": 36}.", "Use print(1) to print."} {
		r := start(t, began("explain")).says(plan("t1: explain it | none")).says(s)
		require.Equal(t, service.Completed, r.done().State, s)
	}
}

// AGT-04, AGT-07: what was expected is compared with what was observed.
func TestStep_ExpectedEffectsAreCompared(t *testing.T) {
	write := call("write_file", writeArgs)
	run_ := call("run_process", `{"command":"python","args":["hello.py"]}`)
	created := func(path, sha string) tool.Result {
		return tool.Result{Effects: []tool.Effect{{Kind: tool.EffectCreated, Path: path, SHA256: sha}}}
	}
	effect := func(e ...tool.Effect) tool.Result { return tool.Result{Text: "ok", Effects: e} }
	cases := []struct {
		name    string
		expects string
		calls   []model.ToolCall
		results []tool.Result
		met     bool
	}{
		{"the file was written", "file:hello.py", []model.ToolCall{write}, []tool.Result{wrote("hello.py")}, true},
		{"below the workspace", "file:src/a.py", []model.ToolCall{write}, []tool.Result{created("/w/src/a.py", "1")}, true},
		{"with a dot", "file:./hello.py", []model.ToolCall{write}, []tool.Result{wrote("hello.py")}, true},
		{"absolute", "file:/w/hello.py", []model.ToolCall{write}, []tool.Result{wrote("hello.py")}, true},
		{"windows separators", `file:src\a.py`, []model.ToolCall{write}, []tool.Result{created(`C:\w\src\a.py`, "1")}, true},
		{"below the root", "file:/hello.py", []model.ToolCall{write}, []tool.Result{wrote("hello.py")}, true},
		{"below /workspace", "file:/workspace/hello.py", []model.ToolCall{write}, []tool.Result{wrote("hello.py")}, true},
		{"with the workspace's name", "file:w/hello.py", []model.ToolCall{write}, []tool.Result{wrote("hello.py")}, true},
		{"in a mount", "file:docs/a.md", []model.ToolCall{write}, []tool.Result{created("/srv/d/a.md", "1")}, true},
		{"an absolute path elsewhere", "file:/etc/motd", []model.ToolCall{write}, []tool.Result{wrote("etc/motd")}, false},
		{"another file", "file:hello.py", []model.ToolCall{write}, []tool.Result{wrote("hullo.py")}, false},
		{"a name that only ends alike", "file:hello.py", []model.ToolCall{write}, []tool.Result{created("/w/xhello.py", "1")}, false},
		{
			"only read", "file:hello.py",
			[]model.ToolCall{call("read_file", `{"path":"hello.py"}`)},
			[]tool.Result{effect(tool.Effect{Kind: tool.EffectRead, Path: "/w/hello.py"})},
			false,
		},
		{
			"written, then removed", "file:hello.py",
			[]model.ToolCall{write, call("remove_file", `{"path":"hello.py"}`)},
			[]tool.Result{wrote("hello.py"), effect(tool.Effect{Kind: tool.EffectRemoved, Path: "/w/hello.py"})},
			false,
		},
		{
			"written, then its directory removed", "file:d/a",
			[]model.ToolCall{write, write},
			[]tool.Result{created("/w/d/a", "1"), effect(tool.Effect{Kind: tool.EffectRemoved, Path: "/w/d"})},
			false,
		},
		{
			"written, then moved away", "file:hello.py",
			[]model.ToolCall{write, write},
			[]tool.Result{wrote("hello.py"), effect(tool.Effect{Kind: tool.EffectMoved, Path: "/w/hello.py", Dest: "/w/b.py"})},
			false,
		},
		{
			"moved to its name", "file:b.py",
			[]model.ToolCall{write, write},
			[]tool.Result{wrote("hello.py"), effect(tool.Effect{Kind: tool.EffectMoved, Path: "/w/hello.py", Dest: "/w/b.py"})},
			true,
		},
		{"the program succeeded", "process:python", []model.ToolCall{run_}, []tool.Result{ran("python", 0)}, true},
		{"the program failed", "process:python", []model.ToolCall{run_}, []tool.Result{ran("python", 1)}, false},
		{"failed, then succeeded", "process:python", []model.ToolCall{run_, run_}, []tool.Result{ran("python", 1), ran("python", 0)}, true},
		{"succeeded, then failed", "process:python", []model.ToolCall{run_, run_}, []tool.Result{ran("python", 0), ran("python", 1)}, false},
		{"another program", "process:python", []model.ToolCall{run_}, []tool.Result{ran("sh", 0)}, false},
		{"any program", "process:", []model.ToolCall{run_}, []tool.Result{ran("sh", 0)}, true},
		{
			"timed out", "process:python",
			[]model.ToolCall{run_},
			[]tool.Result{effect(tool.Effect{Kind: tool.EffectRan, Alias: "python", Exit: 0, End: "timed_out"})},
			false,
		},
		{
			"a program made the file, and it was read", "file:out.txt",
			[]model.ToolCall{run_, run_},
			[]tool.Result{ran("python", 0), effect(tool.Effect{Kind: tool.EffectRead, Path: "/w/out.txt"})},
			true,
		},
		{
			"the file was read before the program ran", "file:out.txt",
			[]model.ToolCall{run_, run_},
			[]tool.Result{effect(tool.Effect{Kind: tool.EffectRead, Path: "/w/out.txt"}), ran("python", 0)},
			false,
		},
		{"one of two is missing", "file:hello.py process:python", []model.ToolCall{write}, []tool.Result{wrote("hello.py")}, false},
		{"both", "file:hello.py process:python", []model.ToolCall{write, run_}, []tool.Result{wrote("hello.py"), ran("python", 0)}, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := start(t, began("do it")).says(plan("t1: do it | " + c.expects)).calls(c.calls...).observe(c.results...).says("It is done.")
			if c.met {
				require.Equal(t, service.Completed, r.done().State)
				return
			}
			require.Equal(t, agent.PhaseAct, r.ask().Phase)
			require.Contains(t, r.heard(), "not observed")
		})
	}
}

// AGT-04: what an earlier Planner Task made and a later one put back does not count for the later one.
func TestStep_AWriteThatIsUndoneDoesNotCount(t *testing.T) {
	r := start(t, began("x")).says(plan("t1: write | file:a", "t2: change <- t1 | file:a"))
	eff := func(kind tool.EffectKind, sha string) tool.Result {
		return tool.Result{Effects: []tool.Effect{{Kind: kind, Path: "/w/a", SHA256: sha}}}
	}
	w := call("write_file", `{"path":"a","content":"1"}`)
	r.calls(w).observe(eff(tool.EffectCreated, "h1")).says("ok")
	require.EqualValues(t, "t2", r.ask().PlannerTask)
	r.calls(w, w).observe(eff(tool.EffectChanged, "h2"), eff(tool.EffectChanged, "h1")).says("changed")
	require.Contains(t, r.heard(), "not observed")
	r.calls(w).observe(eff(tool.EffectChanged, "h3")).says("changed")
	require.Equal(t, agent.PhaseFinish, r.ask().Phase)
}

// AGT-07: pure explanation needs no tool call; a claim of a side effect without one is no explanation.
func TestStep_ExplanationNeedsNoCallButMayNotClaim(t *testing.T) {
	r := start(t, began("explain recursion")).says(plan("t1: explain recursion | none")).says("A function that calls itself.")
	require.Equal(t, "A function that calls itself.", r.done().Answer)
	require.Equal(t, 2, r.done().Progress.Iterations, "plan and report; the report is the answer")

	for _, s := range []string{"I have created hello.py.", "The file has been saved.", "hello.py を作成しました。"} {
		r = start(t, began("explain")).says(plan("t1: explain | none")).says(s)
		require.Contains(t, r.heard(), "No tool was used", s)
	}
	// A plan that calls writing "none" is not believed at once.
	r = start(t, began("x")).says(plan("t1: Write a poem | none")).says("Roses are red.")
	require.Contains(t, r.heard(), "No tool was used")
	require.Equal(t, service.Completed, r.says("Roses are red.").done().State)
}

// AGT-02
func TestStep_MaxIterations(t *testing.T) {
	b := began("x")
	b.Settings.MaxIterations = 3
	r := start(t, b).says(plan("t1: a | file:hello.py"))
	r.calls(call("list_dir", `{}`)).observe(tool.Result{Text: "empty"})
	r.calls(call("list_dir", `{"path":"b"}`)).observe(tool.Result{Text: "empty"})
	o := r.failed(agent.CodeMaxIterations)
	require.Equal(t, 3, o.Progress.Iterations)
	b.Settings.MaxIterations = 0
	require.Equal(t, 1, start(t, b).ask().Iteration)
}

// The same call with the same result more than five times in ten steps stops the Task, also when others come between.
func TestStep_SameCallWithSameResult(t *testing.T) {
	r := working(t)
	for i := range 5 {
		r.calls(call("list_dir", `{}`)).observe(tool.Result{Text: "empty"})
		if i == 2 {
			require.Contains(t, r.heard(), "3 times")
		}
	}
	o := r.calls(call("list_dir", `{}`)).observe(tool.Result{Text: "empty"}).failed(agent.CodeSameFailure)
	require.Equal(t, agent.CauseSameCall, o.Fault.Reasons[0].Code)

	r = working(t)
	for i := range 12 {
		r.calls(call("list_dir", `{}`)).observe(tool.Result{Text: fmt.Sprint(i)})
	}
	require.Equal(t, agent.PhaseAct, r.ask().Phase, "another result each time is progress")
}

// Bad arguments of every kind keep the history valid: every call has its answer, in order, with an id of its own.
func TestStep_EveryCallIsAnsweredInOrder(t *testing.T) {
	r := working(t).calls(
		model.ToolCall{ID: "a", Name: "list_dir", Arguments: json.RawMessage(`{}`)},
		model.ToolCall{ID: "a", Name: "nope", Arguments: json.RawMessage(`{`)},
		model.ToolCall{Name: "write_file", Arguments: json.RawMessage(writeArgs)},
		model.ToolCall{ID: "b", Name: "read_file", Arguments: json.RawMessage(`[]`)},
	)
	act := r.act()
	require.Len(t, act.Calls, 2)
	r.observe(tool.Result{Text: "first"}, wrote("hello.py"))
	msgs := r.ask().Request.Messages
	tail := msgs[len(msgs)-5:]
	require.Len(t, tail[0].ToolCalls, 4)
	ids := map[string]bool{}
	for i, c := range tail[0].ToolCalls {
		require.Equal(t, c.ID, tail[i+1].ToolCallID)
		require.Equal(t, c.Name, tail[i+1].ToolName)
		require.True(t, json.Valid(c.Arguments))
		require.False(t, ids[c.ID])
		ids[c.ID] = true
	}
	require.Contains(t, tail[1].Content, "first")
	require.Contains(t, tail[2].Content, "no tool")
}

func TestStep_TooManyCallsAtOnce(t *testing.T) {
	var many []model.ToolCall
	for i := range 20 {
		many = append(many, call("list_dir", fmt.Sprintf(`{"path":"d%d"}`, i)))
	}
	r := working(t).calls(many...)
	require.Len(t, r.act().Calls, 8)
	results := make([]tool.Result, 8)
	r.observe(results...)
	require.Contains(t, r.heard(), "Only the first 8")
}

func TestStep_AnswersThatComeTooLateAreIgnored(t *testing.T) {
	r := working(t)
	before := encode(t, r.s)
	for _, e := range []agent.Event{
		agent.Replied{CallID: "m1"},
		agent.ModelFailed{CallID: "m0"},
		agent.Observed{CallID: r.ask().CallID},
		agent.Began{},
		agent.SkillsLoaded{CallID: r.ask().CallID},
		nil,
	} {
		s, effects := agent.Step(r.s, e)
		require.Empty(t, effects)
		require.Equal(t, before, encode(t, s))
	}
}

// A weak model announces the next step and stops. That is no result of a task without expected effects.
func TestStep_AnAnnouncementIsNoResult(t *testing.T) {
	for _, say := range []string{"I'll start by reading the file.", "Sure, let me look at it first.", "まずファイルを確認します。"} {
		r := start(t, began("summarize a.txt")).says(plan("t1: summarize a.txt | none")).says(say)
		require.Equal(t, agent.PhaseAct, r.ask().Phase, say)
		require.Contains(t, r.heard(), "Do not announce", say)
		r.calls(call("read_file", `{"path":"a.txt"}`)).observe(tool.Result{Text: "hello"})
		require.Equal(t, "It says hello.", r.says("It says hello.").done().Answer)
	}
	r := start(t, began("x")).says(plan("t1: think | none"))
	o := r.says("I will.").says("I will.").says("I will.").done()
	require.Equal(t, service.Completed, o.State, "it may be the answer after all")
	for _, s := range []string{"Let me explain: recursion is a function that calls itself.", "A cat."} {
		require.Equal(t, service.Completed, start(t, began("x")).says(plan("t1: think | none")).says(s).done().State, s)
	}
	b := began("x")
	b.Prompt.Runtime.Language = "ja"
	require.Equal(t, service.Completed, start(t, b).says(plan("t1: think | none")).says("結果は 4 です。").done().State)
}

// A model that gets on, one effect after the other, with a report between, is not replanned.
func TestStep_ReportsBetweenStepsAreNoFailure(t *testing.T) {
	r := start(t, began("x")).says(plan("t1: four files | file:a file:b file:c file:d"))
	for _, f := range []string{"a", "b", "c"} {
		r.calls(call("write_file", `{"path":"`+f+`","content":""}`)).observe(wrote(f)).says("Wrote " + f + ".")
		require.Equal(t, agent.PhaseAct, r.ask().Phase)
	}
	require.Equal(t, service.Completed, r.calls(call("write_file", `{"path":"d","content":""}`)).observe(wrote("d")).says("All.").done().State)
}
