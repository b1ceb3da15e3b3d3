package agent_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/agent"
	"github.com/agent-mcp/agent-mcp/core/guard"
	"github.com/agent-mcp/agent-mcp/core/prompt"
	"github.com/agent-mcp/agent-mcp/core/session"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

func (r *run) modelFails(code fault.Code) *run {
	r.t.Helper()
	return r.step(agent.ModelFailed{CallID: r.ask().CallID, Fault: fault.New(code)})
}

// REC-01: a transient failure reaches the machine only after the retries; it ends the Task and says why.
func TestStep_ModelFailures(t *testing.T) {
	for _, code := range []fault.Code{
		model.CodeUnreachable, model.CodeConnectTimeout, model.CodeFirstChunk, model.CodeIdle, model.CodeIncomplete, model.CodeRunnerDied,
		model.CodeServer, model.CodeBusy, model.CodeNotFound, model.CodeNoTools, model.CodeNoVision, model.CodeBadRequest,
		model.CodeForbidden, model.CodeQuota, model.CodeSignIn, model.CodeProtocol, "some.thing",
	} {
		for _, r := range []*run{start(t, began("x")), working(t)} {
			o := r.modelFails(code).failed(agent.CodeModel)
			require.Equal(t, code, o.Fault.Reasons[0].Code)
		}
	}
	require.Equal(t, agent.CauseServer, working(t).modelFails(model.CodeServer).notes(agent.NoteFailure)[0].Cause.Code)
	require.Equal(t, agent.CauseTransport, working(t).modelFails(model.CodeIdle).notes(agent.NoteFailure)[0].Cause.Code)
}

// OLL-14: a model that refuses think is asked without it, for the rest of the Task.
func TestStep_ThinkIsTurnedOffOnce(t *testing.T) {
	b := began("x")
	b.Settings.Think = model.Think{Set: true, On: true}
	r := start(t, b)
	require.True(t, r.ask().Request.Think.Set)
	r.modelFails(model.CodeNoThinking)
	require.False(t, r.ask().Request.Think.Set)
	r.says(plan("t1: a | file:a"))
	require.False(t, r.ask().Request.Think.Set)
	r.modelFails(model.CodeNoThinking).failed(agent.CodeModel)
}

// OLL-14: thinking is sent back only while calls continue it; it is in no result, conversation or log.
func TestStep_ThinkingStaysInside(t *testing.T) {
	const secret = "the-hidden-thought"
	r := working(t)
	r.reply(model.Reply{Message: model.Message{Content: "<think>" + secret + "</think>Now.", Thinking: secret, ToolCalls: []model.ToolCall{call("write_file", writeArgs)}}})
	r.observe(wrote("hello.py"))
	msgs := r.ask().Request.Messages
	require.Equal(t, secret, msgs[len(msgs)-2].Thinking, "the call continues it")
	require.NotContains(t, encode(t, guard.Redacted(r.ask().Request)), secret)
	require.Equal(t, secret, r.ask().Request.Messages[len(msgs)-2].Thinking, "the request itself is untouched")
	reply := model.Reply{Message: model.Message{Content: secret + "</think>Done.<think>" + secret, Thinking: secret}}
	require.NotContains(t, encode(t, guard.RedactedReply(reply)), secret)
	o := r.reply(reply).done()
	require.Equal(t, "Done.", o.Answer)
	require.NotContains(t, encode(t, o), secret)
	require.NotContains(t, encode(t, r.s), secret)
	require.NotContains(t, encode(t, r.notes(agent.NoteCompleted)), secret)
}

// done_reason length is never parsed as complete: the cap is raised once, then the Task fails.
func TestStep_CutReply(t *testing.T) {
	cut := func(r *run, m model.Message) *run { return r.reply(model.Reply{Message: m, DoneReason: "length"}) }
	t.Run("a plan", func(t *testing.T) {
		r := start(t, began("x"))
		first := *r.ask().Request.Options.NumPredict
		cut(r, model.Message{Content: plan("t1: a | file:a")})
		require.Equal(t, agent.PhasePlan, r.ask().Phase)
		require.Greater(t, *r.ask().Request.Options.NumPredict, first)
		cut(r, model.Message{Content: plan("t1: a | file:a")}).failed(agent.CodeCut)
	})
	t.Run("a call", func(t *testing.T) {
		r := cut(working(t), model.Message{ToolCalls: []model.ToolCall{call("write_file", writeArgs)}})
		require.Equal(t, agent.PhaseAct, r.ask().Phase, "a cut call is not made")
		r.calls(call("write_file", writeArgs)).observe(wrote("hello.py"))
		second := *r.ask().Request.Options.NumPredict
		cut(r, model.Message{Content: "It is"})
		require.Greater(t, *r.ask().Request.Options.NumPredict, second, "once per call, not once per Task")
		require.Equal(t, service.Completed, r.says("It is done.").done().State)
	})
	t.Run("the owner's own cap is not exceeded", func(t *testing.T) {
		b := began("x")
		own := 100
		b.Settings.Options.NumPredict = &own
		r := cut(start(t, b), model.Message{Content: "{"})
		require.Equal(t, 100, *r.ask().Request.Options.NumPredict)
		require.Contains(t, r.heard(), "shorter")
		require.Equal(t, 100, own)
	})
	t.Run("the closing words", func(t *testing.T) {
		r := start(t, began("x")).says(plan("t1: a | none", "t2: b | none")).says("One.").says("Two.")
		require.Equal(t, agent.PhaseFinish, r.ask().Phase)
		cut(r, model.Message{Content: "So"})
		o := cut(r, model.Message{Content: "So"}).done()
		require.Equal(t, service.Completed, o.State, "all was done; the reports stand for the closing words")
		require.Equal(t, "One.\n\nTwo.", o.Answer)
	})
}

// Every request has a cap.
func TestStep_NumPredictIsAlwaysSet(t *testing.T) {
	r := working(t).calls(call("write_file", writeArgs)).observe(wrote("hello.py")).says("ok")
	for _, e := range r.all {
		if a, ok := e.(agent.Ask); ok {
			require.Positive(t, *a.Request.Options.NumPredict)
			require.Equal(t, 16384, *a.Request.Options.NumCtx, "the same in every call: another one reloads the model")
		}
	}
	b := began("x")
	all := -1
	b.Settings.Options.NumPredict = &all
	require.Positive(t, *start(t, b).ask().Request.Options.NumPredict)
}

// crowded is a Task whose conversation fills most of a small context.
func crowded(t *testing.T) *run {
	b := began("Read the files. Never touch /w/keep.")
	ctx := 4096
	b.Settings.Options.NumCtx = &ctx
	b.Tools = b.Tools[:2]
	b.Memory = session.Memory{Conversation: []model.Message{
		{Role: model.User, Content: "Use tabs, never spaces."}, {Role: model.Assistant, Content: "Understood."},
	}}
	r := start(t, b).says(plan("t1: read | none", "t2: more <- t1 | file:a"))
	r.calls(call("read_file", `{"path":"/etc/shadow"}`)).observe(denied())
	for i := 0; r.ask().Phase == agent.PhaseAct; i++ {
		require.Less(t, i, 40)
		r.reply(model.Reply{Message: model.Message{ToolCalls: []model.ToolCall{call("read_file", `{"path":"f`+string(rune('a'+i))+`"}`)}}, Usage: model.Usage{OutputTokens: 5, OutputPresent: true}})
		r.observe(tool.Result{Text: strings.Repeat("word ", 100)})
	}
	return r
}

// SES-05, SES-06
func TestStep_SummarisesNearTheLimit(t *testing.T) {
	r := crowded(t)
	ask := r.ask()
	require.Equal(t, agent.PhaseSummary, ask.Phase)
	require.Empty(t, ask.Request.Tools)
	require.Empty(t, ask.Request.Format)
	r.says("Files fa to fe hold only words.")
	ask = r.ask()
	require.Equal(t, agent.PhaseAct, ask.Phase, "it goes on where it was")
	require.Len(t, r.notes(agent.NoteSummary), 1)
	all := encode(t, ask.Request.Messages)
	for _, kept := range []string{
		"Files fa to fe hold only words.", "t2 [pending] more", "t1 [now] read", "read_file /etc/shadow", "Use tabs, never spaces.",
		"Read the files. Never touch /w/keep.", "Now do t1",
	} {
		require.Contains(t, all, kept)
	}
	valid(t, ask.Request.Messages)
	require.Less(t, prompt.Estimate(ask.Request), 4096*8/10)
	require.NotContains(t, all, "/fa", "the old results are gone")

	o := r.step(agent.Cancelled{}).done()
	require.Contains(t, encode(t, o.Memory.Conversation), "Use tabs, never spaces.")
	require.Contains(t, encode(t, o.Memory.Conversation), "Files fa to fe")
}

// A summary that fails costs nothing but its quality.
func TestStep_UselessSummaryIsReplaced(t *testing.T) {
	for name, do := range map[string]func(r *run){
		"empty":      func(r *run) { r.says("") },
		"cut":        func(r *run) { r.reply(model.Reply{Message: model.Message{Content: "So"}, DoneReason: "length"}) },
		"repetition": func(r *run) { r.modelFails(model.CodeRepetition) },
		"too long":   func(r *run) { r.modelFails(model.CodeContextOverflow) },
		"a call":     func(r *run) { r.says("<tool_call>{}</tool_call>") },
	} {
		t.Run(name, func(t *testing.T) {
			r := crowded(t)
			do(r)
			require.Equal(t, agent.PhaseAct, r.ask().Phase)
			require.Contains(t, encode(t, r.ask().Request.Messages), "t2 [pending] more")
			valid(t, r.ask().Request.Messages)
		})
	}
}

// valid checks that every call has its results right behind it, in order, and no result stands alone.
func valid(t *testing.T, msgs []model.Message) {
	t.Helper()
	for i := 0; i < len(msgs); i++ {
		require.NotEqual(t, model.ToolRole, msgs[i].Role, "a result without its call")
		for _, c := range msgs[i].ToolCalls {
			i++
			require.Less(t, i, len(msgs))
			require.Equal(t, model.ToolRole, msgs[i].Role)
			require.Equal(t, c.ID, msgs[i].ToolCallID)
		}
	}
	require.Equal(t, model.System, msgs[0].Role)
}

// A prompt that the server cut without a word is noticed by its count; the Task goes on with a summary.
func TestStep_SilentTruncationIsNoticed(t *testing.T) {
	long := func(r *run) *run { // three results, an estimate around 3,000 of 4,096 tokens
		for i := range 3 {
			r.reply(model.Reply{Message: model.Message{ToolCalls: []model.ToolCall{call("read_file", `{"path":"f`+string(rune('a'+i))+`"}`)}}, Usage: model.Usage{PromptTokens: 1000 + 600*i, OutputTokens: 5, PromptPresent: true, OutputPresent: true}})
			r.observe(tool.Result{Text: strings.Repeat("word ", 450)})
		}
		return r
	}
	task := func() *run {
		b := began("x")
		ctx := 4096
		b.Settings.Options.NumCtx, b.Settings.SummarizeAt, b.Tools = &ctx, 0.95, b.Tools[:2]
		return long(start(t, b).says(plan("t1: read | none")))
	}
	for _, count := range []int{4096, 1900, 2195} { // at the limit; below the turn before
		r := task()
		require.Equal(t, agent.PhaseAct, r.ask().Phase)
		r.reply(model.Reply{Message: model.Message{Content: "All is read."}, Usage: model.Usage{PromptTokens: count, OutputTokens: 5, PromptPresent: true, OutputPresent: true}})
		require.Len(t, r.notes(agent.NoteTruncated), 1, count)
		require.Equal(t, agent.PhaseSummary, r.ask().Phase)
		require.Equal(t, agent.PhaseAct, r.says("short").ask().Phase)
	}
	// Half of the context in the first call, of which much more was sent: there is no turn before to compare with.
	b := began(strings.Repeat("many words ", 1000))
	ctx := 4096
	b.Settings.Options.NumCtx = &ctx
	first := start(t, b)
	first.reply(model.Reply{Message: model.Message{Content: plan("t1: a | none")}, Usage: model.Usage{PromptTokens: 2050, PromptPresent: true}})
	require.Empty(t, first.notes(agent.NoteTruncated))
	first.reply(model.Reply{Message: model.Message{Content: plan("t1: a | none")}, Usage: model.Usage{PromptTokens: 2050, PromptPresent: true}})
	require.Len(t, first.notes(agent.NoteTruncated), 1)
	first.failed(agent.CodeContext)
	r := task()
	r.reply(model.Reply{Message: model.Message{Content: "All is read."}, Usage: model.Usage{PromptTokens: 2600, OutputTokens: 5, PromptPresent: true, OutputPresent: true}})
	require.Equal(t, service.Completed, r.done().State)
	r = started(t) // where a cut would end, by chance: it is asked again, and the count grows
	for _, count := range []int{2052, 2071} {
		require.Equal(t, agent.PhaseAct, r.ask().Phase)
		r.reply(model.Reply{Message: model.Message{Content: "All is read."}, Usage: model.Usage{PromptTokens: count, OutputTokens: 5, PromptPresent: true, OutputPresent: true}})
	}
	require.Empty(t, r.notes(agent.NoteTruncated))
	require.Equal(t, service.Completed, r.done().State)
}

func started(t *testing.T) *run {
	b := began("x")
	ctx := 4096
	b.Settings.Options.NumCtx = &ctx
	return start(t, b).says(plan("t1: read | none"))
}

// A prompt far denser than estimated that ends close to the limit may have lost its front: the reply is not acted upon, and the count, which
// is the least it can be, is learned from.
func TestStep_ACrowdedPromptIsSummarised(t *testing.T) {
	usage := func(n int) model.Usage {
		return model.Usage{PromptTokens: n, OutputTokens: 5, PromptPresent: true, OutputPresent: true}
	}
	reads := func(r *run, n int, path string) {
		r.reply(model.Reply{Message: model.Message{ToolCalls: []model.ToolCall{call("read_file", `{"path":"`+path+`"}`)}}, Usage: usage(n)})
	}
	for name, c := range map[string]struct {
		count  int
		mayCut bool
		lost   bool
	}{
		"as estimated":                   {2150, false, false},
		"dense, far from the limit":      {2600, false, false},
		"dense, near it":                 {3300, false, true},
		"near it as estimated":           {2760, false, false},
		"near it, an old server":         {2760, true, true},
		"far from it, and an old server": {2300, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := began("x")
			ctx := 4096
			b.Settings.Options.NumCtx, b.Settings.SummarizeAt, b.Settings.MayCut, b.Tools = &ctx, 0.95, c.mayCut, b.Tools[:2]
			r := start(t, b).says(plan("t1: read | none"))
			reads(r, 1000, "a")
			r.observe(tool.Result{Text: strings.Repeat("word ", 450)})
			reads(r, 1600, "b")
			r.observe(tool.Result{Text: strings.Repeat("word ", 450)})
			if c.count == 2760 { // so much was estimated
				reads(r, 2200, "c")
				r.observe(tool.Result{Text: strings.Repeat("word ", 450)})
			}
			reads(r, c.count, "keep")
			require.Equal(t, c.lost, len(r.notes(agent.NoteTruncated)) == 1)
			if !c.lost {
				require.Len(t, r.act().Calls, 1)
				return
			}
			require.Equal(t, agent.PhaseSummary, r.ask().Phase)
		})
	}
}

func TestStep_ContextOverflow(t *testing.T) {
	r := working(t).modelFails(model.CodeContextOverflow)
	r.failed(agent.CodeContext) // nothing to summarise
	require.Equal(t, agent.CauseContext, r.notes(agent.NoteFailure)[0].Cause.Code)

	b := began(strings.Repeat("very long request ", 2000))
	ctx := 4096
	b.Settings.Options.NumCtx = &ctx
	start(t, b).failed(agent.CodeContext)
}

// AGT-09: a result never takes more than its share of the context; head and tail stay.
func TestStep_ResultsAreBounded(t *testing.T) {
	r := working(t).calls(call("read_file", `{"path":"big"}`)).observe(tool.Result{Text: "HEAD" + strings.Repeat("x", 1<<20) + "TAIL"})
	got := r.heard()
	require.Less(t, len(got), 16384*4/4)
	require.Contains(t, got, "HEAD")
	require.Contains(t, got, "TAIL")
	require.Contains(t, got, "left out")
}

// PLN-07: a warning at 80 %, the end of the calls at 100 %.
func TestStep_TokenBudgetClass(t *testing.T) {
	spend := func(r *run, out int) *run {
		r.reply(model.Reply{Message: model.Message{ToolCalls: []model.ToolCall{call("list_dir", `{"path":"d`+strings.Repeat("x", out%7)+`"}`)}}, Usage: model.Usage{PromptTokens: 900, OutputTokens: out, PromptPresent: true, OutputPresent: true}})
		return r.observe(tool.Result{Text: "x" + strings.Repeat("y", out%11)})
	}
	r := spend(working(t), 6600)
	require.Contains(t, r.heard(), "Most of the token budget")
	require.NotEmpty(t, r.ask().Request.Tools)
	spend(r, 100)
	require.NotContains(t, r.heard(), "Most of the token budget", "said once")
	spend(r, 1600)
	require.Contains(t, r.heard(), "used up")
	require.Empty(t, r.ask().Request.Tools)
	require.Len(t, r.notes(agent.NoteBudget), 2)
	r.says("I got no further.")
	require.Equal(t, agent.PhaseReplan, r.ask().Phase)
	r.says(plan("t1: write hello.py | file:hello.py"))
	require.Equal(t, agent.PhaseAct, r.ask().Phase, "more budget is a change")
	n := r.effects[len(r.effects)-2].(agent.Progress).Progress.Plan.Tasks[0]
	require.EqualValues(t, "16K", n.Class, "what was cut gets the next class")

	r = spend(working(t).calls(call("write_file", writeArgs)).observe(wrote("hello.py")), 8200)
	require.Equal(t, service.Completed, r.says("It is written.").done().State, "what was observed counts also at the end")
}

// A small model often says nothing after its work: what was observed ends the Planner Task.
func TestStep_EmptyReportAfterObservedWork(t *testing.T) {
	r := working(t).calls(call("write_file", writeArgs)).observe(wrote("hello.py"))
	silent := model.Reply{Usage: model.Usage{PromptTokens: 900, OutputTokens: 1, PromptPresent: true, OutputPresent: true}}
	r.reply(silent)
	require.Equal(t, agent.PhaseAct, r.ask().Phase)
	r.reply(silent)
	require.Equal(t, agent.PhaseFinish, r.ask().Phase)
	for range 3 {
		r.reply(silent)
	}
	o := r.done()
	require.Equal(t, service.Completed, o.State)
	require.Empty(t, o.Answer, "the caller shows agent.KeyNoAnswer")
}

func TestStep_FinalAnswerClaimsNothingUnseen(t *testing.T) {
	r := start(t, began("x")).says(plan("t1: a | none", "t2: b | none")).says("One.").says("Two.")
	r.says("I have created the file.")
	require.Contains(t, r.heard(), "Nothing was created")
	require.Equal(t, "One and two.", r.says("One and two.").done().Answer)
}

// MCP states: cancel at every state; every pending call gets its message.
func TestStep_CancelAtEveryState(t *testing.T) {
	why := fault.New(fault.CodeCancelled)
	points := map[string]func() *run{
		"before the start": func() *run { return &run{t: t} },
		"planning":         func() *run { return start(t, began("x")) },
		"working":          func() *run { return working(t) },
		"acting":           func() *run { return working(t).calls(call("write_file", writeArgs), call("list_dir", `{}`)) },
		"summary":          func() *run { return crowded(t) },
		"replanning": func() *run {
			return working(t).calls(call("write_file", writeArgs)).observe(denied()).says("no")
		},
		"finishing": func() *run {
			return start(t, began("x")).says(plan("t1: a | none", "t2: b | none")).says("1").says("2")
		},
		"skills": func() *run {
			b := began("x")
			b.Prompt.Runtime.Skills = []prompt.Skill{{Name: "pdf", Description: "d"}}
			return start(t, b).says(`{"tasks":[],"skills":["pdf"]}`)
		},
	}
	for name, at := range points {
		t.Run(name, func(t *testing.T) {
			r := at()
			o := r.step(agent.Cancelled{Fault: why}).done()
			require.Equal(t, service.Cancelled, o.State)
			require.Equal(t, why, o.Fault)
			require.Empty(t, o.Answer)
			valid(t, append([]model.Message{{Role: model.System}}, r.s.Conversation()...))
			for _, c := range o.Memory.Conversation {
				require.Empty(t, c.ToolCalls)
			}
		})
	}
	r := working(t).calls(call("write_file", writeArgs), call("list_dir", `{}`))
	o := r.step(agent.Cancelled{Results: []tool.Result{wrote("hello.py")}}).done()
	require.Len(t, o.Memory.Results, 1)
	require.Equal(t, "/w/hello.py", o.Memory.Results[0].Evidence[0].Path, "what happened before the cancel is on record")
}
