package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-mcp/agent-mcp/core/guard"
	"github.com/agent-mcp/agent-mcp/core/plan"
	"github.com/agent-mcp/agent-mcp/core/prompt"
	"github.com/agent-mcp/agent-mcp/core/session"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// actReply takes a reply while working: calls go out, words are judged.
func (m *machine) actReply(text string, r model.Reply) {
	calls := r.Message.ToolCalls
	switch {
	case len(calls) > 0 && !m.work.Wrap:
		m.work.Empty = 0
		m.calls(text, r.Message)
	case m.work.Wrap:
		if guard.Repeats(text) || guard.PrintedCall(text, m.setup.Tools) || plan.Printed(text) {
			text = "" // nothing to show anybody; what was observed counts all the same
		}
		m.judge(text)
	case text == "":
		m.empty(r)
	case guard.Repeats(text):
		m.mistake(PhaseAct, model.CodeRepetition)
	case guard.PrintedCall(text, m.setup.Tools):
		if m.failure(Cause{Code: CauseTextCall}, "") {
			return
		}
		m.say(prompt.Clip(text, 1500))
		m.tell(PhaseAct, "That was a call printed as text; it was not run. "+m.callHelp())
		m.ask(PhaseAct)
	case plan.Printed(text):
		if m.failure(Cause{Code: CauseBadPlan}, "") {
			return
		}
		m.tell(PhaseAct, "There is a plan already. Do the task that is under way, or report on it in words.")
		m.ask(PhaseAct)
	default:
		m.judge(text)
	}
}

// say keeps words of the model.
func (m *machine) say(text string) {
	if text != "" {
		m.conv = push(m.conv, model.Message{Role: model.Assistant, Content: text})
	}
}

// empty handles a reply without words and calls. Output that was counted but not seen is a call that the server swallowed.
// A second empty reply in a row is taken as the end of a Planner Task whose effects were all observed.
func (m *machine) empty(r model.Reply) {
	m.work.Empty++
	n, _ := m.graph.Task(m.current)
	if m.work.Empty > 1 && n.Action && m.work.OK > 0 {
		m.judge("")
		return
	}
	c, words := Cause{Code: CauseEmpty}, "Your reply was empty. Do the next step, or report if the task is finished."
	if r.Usage.OutputTokens > 2 && r.Message.Thinking == "" {
		c, words = Cause{Code: CauseSwallowed}, "Your reply arrived empty: a call that could not be read. "+m.callHelp()
	}
	if m.failure(c, "") {
		return
	}
	m.tell(PhaseAct, words)
	m.ask(PhaseAct)
}

// calls takes the tool calls of one reply. What can not run is answered at once; the rest goes out as one Act.
func (m *machine) calls(text string, msg model.Message) {
	m.pending, m.work.Dropped = nil, len(msg.ToolCalls) > maxCalls
	causes := []Cause{}
	var again *pending
	for i, c := range msg.ToolCalls {
		if i == maxCalls {
			break
		}
		p, cause := m.check(c)
		if p.Sig != "" && m.wasDenied(p.Sig) {
			p.Answer, p.Act = prompt.Note+"Denied before; it is not run again.", false
			again = &p
		}
		if cause.Code != "" && !slices.Contains(causes, cause) {
			causes = append(causes, cause)
		}
		m.pending = append(m.pending, p)
	}
	shown := model.Message{Role: model.Assistant, Content: text, Thinking: msg.Thinking}
	for i, p := range m.pending {
		args := guard.Shortened(msg.ToolCalls[i].Arguments, m.resultWeight())
		shown.ToolCalls = append(shown.ToolCalls, model.ToolCall{ID: p.ID, Name: p.Name, Arguments: args})
	}
	m.conv = push(m.conv, shown)
	if again != nil {
		m.fail(fault.New(CodeDeniedAgain).With(Cause{Code: CauseDenied, Tool: again.Call.Name}.Fault()))
		return
	}
	for _, c := range causes {
		if m.failure(c, "") {
			return
		}
	}
	var out []tool.Call
	for _, p := range m.pending {
		if p.Act {
			out = append(out, p.Call)
		}
	}
	if len(out) == 0 {
		m.goOn("")
		return
	}
	m.want = want{ID: m.nextID("t")}
	m.emit(Act{CallID: m.want.ID, PlannerTask: m.current, Calls: out})
}

// check parses one call. Nothing that was not offered is ever run, whatever the parser knows.
func (m *machine) check(c model.ToolCall) (pending, Cause) {
	p := pending{ID: m.freeID(c.ID), Name: prompt.Short(c.Name, 64)}
	offered := slices.ContainsFunc(m.setup.Tools, func(t model.Tool) bool { return t.Name == c.Name })
	if !offered {
		p.Answer = prompt.Note + "There is no tool " + strconv.Quote(p.Name) + ". " + m.callHelp()
		return p, Cause{Code: CauseUnknownTool, Tool: tool.Name(p.Name)}
	}
	call, f := tool.Parse(c)
	if f != nil {
		p.Answer = prompt.Note + tool.Explain(f)
		return p, parseCause(tool.Name(c.Name), f)
	}
	p.Sig = signature(call)
	call.ID = p.ID
	p.Call, p.Act = call, true
	return p, Cause{}
}

// freeID gives a call an id that no other call of the reply has.
func (m *machine) freeID(id string) string {
	taken := func(id string) bool {
		return slices.ContainsFunc(m.pending, func(p pending) bool { return p.ID == id })
	}
	if id = prompt.Short(id, 64); id != "" && !taken(id) {
		return id
	}
	for n := len(m.pending) + 1; ; n++ {
		if id = "call_" + strconv.Itoa(n); !taken(id) {
			return id
		}
	}
}

// signature tells equal calls: the name and every argument, without the id.
func signature(c tool.Call) string {
	c.ID = ""
	b, err := json.Marshal(c)
	if err != nil {
		panic("agent: a call always marshals: " + err.Error())
	}
	return string(b)
}

func (m *machine) wasDenied(sig string) bool {
	return slices.ContainsFunc(m.denied, func(d denial) bool { return d.Sig == sig })
}

// observed takes the results of an Act, counts, and goes on.
func (m *machine) observed(results []tool.Result) {
	same := 0
	var causes []Cause
	var sigs []string
	for _, o := range m.take(results) {
		if o.cause.Code == "" {
			m.work.OK++
			m.success(o.sig)
		} else if !slices.Contains(causes, o.cause) {
			causes, sigs = append(causes, o.cause), append(sigs, o.sig)
		}
		same = max(same, m.repeated(o.sig, o.answer))
	}
	for i, c := range causes {
		if m.failure(c, sigs[i]) {
			return
		}
	}
	if m.work.Again {
		m.fail(fault.New(CodeDeniedAgain).With(m.lastError))
		return
	}
	if same > sameCallLimit {
		c := Cause{Code: CauseSameCall}
		m.note(Note{Kind: NoteFailure, Cause: c, Count: same})
		m.fail(fault.New(CodeSameFailure, "count", same).With(c.Fault()))
		return
	}
	hint := ""
	if same > sameCallLimit/2 {
		hint = "You made this call " + strconv.Itoa(same) + " times with the same result. Do something else."
	}
	m.progress()
	m.goOn(hint)
}

// outcome of one call.
type observation struct {
	sig, answer string
	cause       Cause // zero: it worked
}

// take files the results of the calls that went out, each with its call; a missing one is an error of the caller.
func (m *machine) take(results []tool.Result) []observation {
	m.pending = slices.Clone(m.pending)
	var out []observation
	for i := range m.pending {
		p := &m.pending[i]
		if !p.Act {
			continue
		}
		r := tool.Result{Fault: fault.New(fault.CodeInternal, "detail", "no result")}
		if len(results) > 0 {
			r, results = results[0], results[1:]
		}
		c := m.result(p, r)
		out = append(out, observation{p.Sig, p.Answer, c})
	}
	return out
}

// result files one result and returns the cause of its failure.
func (m *machine) result(p *pending, r tool.Result) Cause {
	p.Act = false
	m.touch(p.Call)
	m.ran(p.Call, r.Effects)
	if r.Fault != nil && r.Fault.Code == workspace.CodeNotFound && p.Call.Path != "" {
		m.work.Absent = last(push(m.work.Absent, m.places(p.Call.Path)...), maxEvidence)
	}
	for _, e := range r.Effects {
		m.effect(e)
	}
	text := r.Text
	if r.Fault != nil && text == "" {
		text = "failed: " + string(r.Fault.Code)
	}
	if text == "" {
		text = "done"
	}
	p.Answer = prompt.Data(string(p.Call.Name), prompt.Fit(text, m.resultWeight()))
	if r.Fault != nil {
		m.trouble = r.Fault
	} else if p.Call.Name.Mutates() {
		m.trouble = nil
	}
	switch {
	case r.Fault == nil:
		return Cause{}
	case r.Denied:
		d := denial{session.DeniedCall{Tool: p.Call.Name, Subject: subject(p.Call), Code: r.Fault.Code}, p.Sig}
		same := func(o denial) bool { return o.DeniedCall == d.DeniedCall }
		m.work.Denied++
		m.work.Again = m.work.Again || slices.ContainsFunc(m.denied, same)
		m.denied = push(m.denied, d)
		p.Answer += "\n" + prompt.Note + "Denied by the owner's policy. Do not make this call again; use what is allowed."
		c := Cause{Code: CauseDenied, Tool: p.Call.Name}
		m.note(Note{Kind: NoteDenied, Cause: c, Detail: string(r.Fault.Code)})
		return c
	}
	return Cause{Code: CauseToolError, Tool: p.Call.Name, Field: string(r.Fault.Code)}
}

// subject names what a call was about.
func subject(c tool.Call) string {
	if c.Name == tool.Run {
		return prompt.Short(c.Alias, 200)
	}
	s := c.Path
	if c.Dest != "" {
		s += " -> " + c.Dest
	}
	return prompt.Short(s, 200)
}

// resultWeight is how much of one result (prompt.Weight) enters the conversation; it shrinks with the context, and with the number of
// results that arrive together (AGT-09).
func (m *machine) resultWeight() int {
	room := m.scale.Quarters(m.setup.Settings.ContextTokens)
	return max(min(room/6, room/3/max(len(m.pending), 1)), 400)
}

// goOn writes the answers, adds what the runtime has to say about calls left out and the budget, and asks again.
func (m *machine) goOn(hint string) {
	hints := []string{}
	if hint != "" {
		hints = append(hints, hint)
	}
	if m.work.Dropped {
		m.work.Dropped = false
		hints = append(hints, fmt.Sprintf("Only the first %d calls were taken; make fewer calls at once.", maxCalls))
	}
	if b := m.budget(); b != "" {
		hints = append(hints, b)
	}
	m.flush(strings.Join(hints, " "))
	m.ask(PhaseAct)
}
