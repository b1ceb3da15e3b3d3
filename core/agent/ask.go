package agent

import (
	"strings"

	"github.com/agent-mcp/agent-mcp/core/guard"
	"github.com/agent-mcp/agent-mcp/core/prompt"
	"github.com/agent-mcp/agent-mcp/core/taskgraph"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
)

// minReply is the least room for an answer, in tokens.
const minReply = 64

// ask wants one model call. It summarises first when the request nears the context's limit (SES-05).
func (m *machine) ask(phase Phase) {
	set := m.setup.Settings
	if m.outcome != nil {
		return
	}
	if m.iterations >= set.MaxIterations {
		m.stop(phase, fault.New(CodeMaxIterations, "limit", set.MaxIterations))
		return
	}
	req := m.request(phase)
	raw := prompt.Estimate(req)
	est := m.scale.Apply(raw)
	if phase != PhaseSummary && est > int(set.SummarizeAt*float64(set.ContextTokens)) && m.canSummarize() {
		m.summarize(phase)
		return
	}
	for est > set.ContextTokens-minReply && phase != PhaseSummary && m.shrink() {
		req = m.request(phase)
		raw = prompt.Estimate(req)
		est = m.scale.Apply(raw)
	}
	if est > set.ContextTokens-minReply {
		m.stop(phase, fault.New(CodeContext, "tokens", est, "limit", set.ContextTokens))
		return
	}
	limit, room := m.replyCap(est)
	req.Options.NumPredict = &limit
	m.iterations++
	m.want = want{ID: m.nextID("m"), Phase: phase, Estimate: est, Raw: raw, Cap: limit, Room: room}
	ask := Ask{CallID: m.want.ID, Phase: phase, Iteration: m.iterations, Replan: m.replans, Request: req}
	if phase == PhaseAct {
		ask.PlannerTask = m.current
	}
	m.emit(ask)
}

// stop ends the Task for want of a model call: as failed, or, when only the closing words are missing, as completed.
func (m *machine) stop(phase Phase, f *fault.Error) {
	if phase == PhaseFinish || phase == PhaseSummary && m.resume == PhaseFinish {
		m.lastError = f
		m.complete(m.reports())
		return
	}
	m.fail(f)
}

// replyCap is the num_predict to send: always set, so that no reply is endless. The owner's own value is never exceeded.
func (m *machine) replyCap(estimate int) (limit int, byRoom bool) {
	ctx := m.setup.Settings.ContextTokens
	limit = min(max(ctx/4, 256), 8192)
	if m.raised {
		limit = max(ctx/2, 256)
	}
	if own := m.setup.Settings.Options.NumPredict; own != nil && *own > 0 {
		limit = *own
	}
	if room := ctx - estimate; room < limit {
		return max(room, minReply), true
	}
	return limit, false
}

// request builds what is sent in a phase. A schema and tools are never sent together: a schema blocks every tool call.
func (m *machine) request(phase Phase) model.Request {
	set := m.setup.Settings
	layers := m.setup.Prompt
	layers.Loaded = m.loaded
	no := false
	req := model.Request{
		Model: set.Model, Think: set.Think, Options: set.Options, KeepAlive: set.KeepAlive, Truncate: &no,
	}
	if m.thinkOff {
		req.Think = model.Think{}
	}
	switch phase {
	case PhaseAct:
		layers.Conversation = m.conv
		if !m.work.Wrap {
			req.Tools = m.setup.Tools
		}
	case PhasePlan, PhaseReplan:
		layers.Conversation = push(m.conv, m.side...)
		req.Format = prompt.PlanSchema(m.skillNames())
	case PhaseSummary:
		layers.Conversation = []model.Message{{Role: model.User, Content: prompt.Summarize(m.transcript())}}
	default:
		layers.Conversation = push(m.conv, m.side...)
	}
	req.Messages = prompt.Build(layers)
	return req
}

// replied takes a whole reply: counts, then the faults that no phase may overlook, then the phase.
func (m *machine) replied(r model.Reply) {
	phase := m.want.Phase
	m.spend(r)
	text := guard.Spoken(r.Message.Content)
	switch {
	case m.lost(phase, r.Usage):
		return
	case r.DoneReason == "length" && phase != PhaseSummary && !m.work.Wrap:
		m.cut(phase, r)
		return
	}
	if len(m.setup.Images) == 0 && phase != PhaseSummary { // what an image costs is not known, and a transcript is another kind of text
		m.scale = m.scale.Calibrate(m.want.Raw, r.Usage.PromptTokens)
	}
	if phase == PhaseAct {
		m.seen = seen{m.epoch, r.Usage.PromptTokens, m.want.Raw}
	}
	m.raised = false
	switch phase {
	case PhasePlan, PhaseReplan:
		m.planReply(text, r)
	case PhaseAct:
		m.actReply(text, r)
	case PhaseSummary:
		m.summaryReply(text, r)
	case PhaseFinish:
		m.finishReply(text, r)
	}
}

// spend adds one call's actual tokens to the Task and the Planner Task (OLL-13, PLN-09).
func (m *machine) spend(r model.Reply) {
	in, out := max(r.Usage.PromptTokens, 0), max(r.Usage.OutputTokens, 0)
	m.input += in
	m.output += out
	m.read, m.spoken = m.read.Add(in, r.Usage.PromptTime), m.spoken.Add(out, r.Usage.OutputTime)
	m.note(Note{Kind: NoteUsage, Input: in, Output: out})
	if m.want.Phase != PhaseAct || m.current == "" {
		return
	}
	if g, err := m.graph.Spend(m.current, taskgraph.Usage{Input: int64(in), Output: int64(out), Calls: 1}); err == nil {
		m.graph = g
	}
	if !r.Usage.PromptPresent {
		in = m.want.Estimate
	}
	if !r.Usage.OutputPresent {
		out = len(r.Message.Content) / 4
	}
	grown := 0
	if m.work.LastIn > 0 {
		grown = max(in-m.work.LastIn-m.work.LastOut, 0)
	}
	m.work.Spent += out + grown
	m.work.LastIn, m.work.LastOut = in, out
}

// cut handles done_reason length: what was cut is never read as complete. A full context is summarised; else the cap is
// raised once, or, where the owner set it, a shorter answer is asked for once; then the Task fails.
func (m *machine) cut(phase Phase, r model.Reply) {
	own := m.setup.Settings.Options.NumPredict != nil && *m.setup.Settings.Options.NumPredict > 0
	if m.want.Room || r.Usage.PromptTokens+r.Usage.OutputTokens >= m.setup.Settings.ContextTokens*9/10 {
		m.overflow(phase)
		return
	}
	if m.raised {
		m.lastError = fault.New(CodeCut, "limit", m.want.Cap)
		m.stop(phase, m.lastError)
		return
	}
	if m.failure(Cause{Code: CauseCut}, "") {
		return
	}
	m.raised = true
	m.note(Note{Kind: NoteCapRaised})
	if own {
		m.tell(phase, "Your reply was cut because it was too long. Be much shorter; write large files in several parts.")
	}
	m.ask(phase)
}

// tell adds the runtime's words to what the phase sends next.
func (m *machine) tell(phase Phase, text string) {
	msg := model.Message{Role: model.User, Content: prompt.Note + text}
	if phase == PhaseAct {
		m.conv = push(m.conv, msg)
		return
	}
	m.side = push(m.side, msg)
}

// modelFailed handles a call that gave no reply.
func (m *machine) modelFailed(f *fault.Error) {
	phase := m.want.Phase
	if f == nil {
		f = fault.New(fault.CodeInternal, "detail", "model failed without a fault")
	}
	switch model.ClassOf(f.Code) {
	case model.OfContext:
		m.overflow(phase)
	case model.OfModel:
		m.mistake(phase, f.Code)
	case model.Transient:
		c := Cause{Code: CauseTransport}
		if f.Code == model.CodeServer || f.Code == model.CodeBusy || f.Code == model.CodeRunnerDied {
			c.Code = CauseServer
		}
		if !m.failure(c, "") {
			m.stop(phase, fault.New(CodeModel).With(f))
		}
	default:
		if f.Code == model.CodeNoThinking && !m.thinkOff && m.setup.Settings.Think.Set {
			m.thinkOff = true
			m.note(Note{Kind: NoteThinkOff})
			m.ask(phase)
			return
		}
		m.stop(phase, fault.New(CodeModel).With(f))
	}
}

// mistake is the model's own failure: fed back and counted.
func (m *machine) mistake(phase Phase, code fault.Code) {
	c, words := Cause{Code: CauseSwallowed}, "Your last call could not be read. "+m.callHelp()
	if code == model.CodeRepetition {
		c, words = Cause{Code: CauseRepetition}, "You repeated the same words without end. Do the next step, or report shortly."
	}
	if m.failure(c, "") {
		return
	}
	switch phase {
	case PhaseSummary:
		m.summarized("")
	case PhaseFinish:
		m.retryFinish(words)
	default:
		m.tell(phase, words)
		m.ask(phase)
	}
}

// callHelp says how to call a tool.
func (m *machine) callHelp() string {
	names := make([]string, len(m.setup.Tools))
	for i, t := range m.setup.Tools {
		names[i] = t.Name
	}
	return "Call a tool through the tool interface with valid JSON arguments. Tools: " + strings.Join(names, ", ") + "."
}
