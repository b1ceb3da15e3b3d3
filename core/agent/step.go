package agent

import (
	"slices"
	"strconv"

	"github.com/agent-mcp/agent-mcp/core/guard"
	"github.com/agent-mcp/agent-mcp/core/prompt"
	"github.com/agent-mcp/agent-mcp/core/session"
	"github.com/agent-mcp/agent-mcp/core/taskgraph"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// Step is the machine. It never mutates s and never fails: what went wrong is in the Outcome of Done. An event that does
// not answer what the machine waits for changes nothing.
func Step(s State, e Event) (State, []Effect) {
	if s.outcome != nil {
		return s, nil
	}
	m := machine{State: s}
	began := s.state != ""
	switch e := e.(type) {
	case Began:
		if began {
			return s, nil
		}
		m.begin(e)
	case Cancelled:
		m.cancelled(e)
	case Replied:
		if !began || e.CallID != s.want.ID || s.want.Phase == "" {
			return s, nil
		}
		m.clip(e.ContextTokens)
		m.replied(e.Reply)
	case ModelFailed:
		if !began || e.CallID != s.want.ID || s.want.Phase == "" {
			return s, nil
		}
		m.modelFailed(e.Fault)
	case Observed:
		if !began || e.CallID != s.want.ID || s.want.Phase != "" || s.want.Look != "" || len(s.pending) == 0 {
			return s, nil
		}
		m.observed(e.Results)
	case Looked:
		if !began || e.CallID != s.want.ID || s.want.Look == "" {
			return s, nil
		}
		m.found(e.Seen)
	case SkillsLoaded:
		if !began || e.CallID != s.want.ID || s.want.Phase != "" || s.want.Look != "" || len(s.pending) != 0 {
			return s, nil
		}
		m.skillsLoaded(e)
	default:
		return s, nil
	}
	return m.State, m.effects
}

// machine is one step under way: a State of its own and the effects so far.
type machine struct {
	State
	effects []Effect
}

func (m *machine) emit(e Effect) { m.effects = append(m.effects, e) }

func (m *machine) note(n Note) {
	if n.CallID == "" {
		n.CallID = m.want.ID
	}
	if n.Phase == "" {
		n.Phase = m.want.Phase
	}
	if n.PlannerTask == "" {
		n.PlannerTask = m.current
	}
	m.emit(n)
}

func (m *machine) progress() { m.emit(Progress{State: m.state, Progress: m.Snapshot()}) }

// nextID names the next thing to wait for.
func (m *machine) nextID(prefix string) string {
	m.seq++
	return prefix + strconv.Itoa(m.seq)
}

func (m *machine) begin(e Began) {
	e.Settings = e.Settings.withDefaults()
	e.Request = prompt.Words(e.Request)
	m.setup = e
	m.state = service.Planning
	m.names, m.made = guard.Demanded(e.Request), guard.Made(e.Request)
	m.graph = taskgraph.New(e.Settings.MaxTasks)
	m.loaded = slices.Clone(e.Prompt.Loaded)
	m.discover()
	for _, c := range e.Memory.Conversation {
		if c.Role == model.User || c.Role == model.Assistant && len(c.ToolCalls) == 0 {
			c.Thinking, c.Images = "", nil
			m.conv = push(m.conv, c)
		}
	}
	if old := evidence(e.Memory.Results, 20); old != "" {
		m.conv = push(m.conv, model.Message{Role: model.User, Content: prompt.Note + "Observed in earlier Tasks of this session:\n" + old})
	}
	m.requestAt = len(m.conv)
	m.conv = push(m.conv, model.Message{Role: model.User, Content: e.Request, Images: e.Images})
	m.progress()
	m.askPlan()
}

// cancelled ends the Task wherever it is. Every pending call gets its message, so that the history stays valid.
func (m *machine) cancelled(e Cancelled) {
	for n := range m.pending {
		if p := &m.pending[n]; p.Act && len(e.Results) > 0 {
			m.pending = slices.Clone(m.pending)
			m.result(&m.pending[n], e.Results[0])
			e.Results = e.Results[1:]
		}
	}
	why := e.Fault
	if why == nil {
		why = fault.New(fault.CodeCancelled)
	}
	m.finish(Outcome{State: service.Cancelled, Fault: why})
}

// fail ends the Task as failed.
func (m *machine) fail(f *fault.Error) {
	m.lastError = f
	m.finish(Outcome{State: service.Failed, Fault: f})
}

// giveUp ends a Task that replanning did not save (AGT-08): with the last failure, and with the denial that made the plan
// impossible, as reasons.
func (m *machine) giveUp(code fault.Code, kv ...any) {
	f := fault.New(code, kv...)
	if m.lastError != nil {
		f = f.With(m.lastError)
	}
	if n := len(m.denied); n > 0 && (m.lastError == nil || m.lastError.Code != CauseDenied) {
		f = f.With(Cause{Code: CauseDenied, Tool: m.denied[n-1].Tool}.Fault())
	}
	m.fail(f)
}

// finish closes what is open and emits Done.
func (m *machine) finish(o Outcome) {
	m.closePending()
	if m.current != "" {
		if g, err := m.graph.Fail(m.current); err == nil {
			m.graph = g
			m.note(Note{Kind: NoteFailed})
			m.record(taskgraph.Failed, "")
		}
		m.current = ""
	}
	m.forgetThinking()
	m.want = want{}
	o.Progress = m.Snapshot()
	o.Memory = m.remember(o)
	m.outcome = &o
	m.emit(Done{o})
}

// closePending answers every call that has no answer yet.
func (m *machine) closePending() {
	for i, p := range m.pending {
		if p.Answer == "" {
			m.pending = slices.Clone(m.pending)
			m.pending[i].Answer = prompt.Note + "Cancelled; it was not run, or its result is unknown."
		}
	}
	m.flush("")
}

// flush writes the answers of the pending calls into the conversation, in the order of the calls. hint is the runtime's
// own remark after the last one.
func (m *machine) flush(hint string) {
	for i, p := range m.pending {
		text := p.Answer
		if i == len(m.pending)-1 && hint != "" {
			text += "\n" + prompt.Note + hint
		}
		m.conv = push(m.conv, model.Message{Role: model.ToolRole, Content: text, ToolName: p.Name, ToolCallID: p.ID})
	}
	m.pending = nil
}

// record keeps the Execution Result of the current Planner Task.
func (m *machine) record(state taskgraph.State, report string) {
	n, _ := m.graph.Task(m.current)
	m.results = push(m.results, session.Result{
		TaskID: m.setup.TaskID, ID: n.ID, Title: n.Title, State: state, Report: prompt.Clip(report, maxReport),
		Evidence: mutating(m.work.Effects), Usage: n.Usage,
	})
}

// remember is what the Session keeps: the words that were said and what was observed. Calls, their results, thinking and
// images stay behind; what they did is in the Results.
func (m *machine) remember(o Outcome) session.Memory {
	old := m.setup.Memory
	mem := session.Memory{
		Conversation: slices.Clone(old.Conversation), Results: push(old.Results, m.results...), Plan: m.graph,
		Denied: slices.Clone(old.Denied), Skills: slices.Clone(old.Skills),
	}
	if m.state == "" {
		return mem
	}
	if m.digest {
		mem.Conversation = slices.Clone(m.conv[:m.requestAt])
	}
	request := m.setup.Request
	if n := len(m.setup.Images); n > 0 {
		request += "\n(with " + strconv.Itoa(n) + " images)"
	}
	said := o.Answer
	switch o.State {
	case service.Failed:
		said = prompt.Note + "This Task failed (" + string(o.Fault.Code) + ")."
	case service.Cancelled:
		said = prompt.Note + "This Task was cancelled by the user."
	}
	mem.Conversation = push(mem.Conversation, model.Message{Role: model.User, Content: request},
		model.Message{Role: model.Assistant, Content: said})
	for _, d := range m.denied {
		mem.Denied = push(mem.Denied, d.DeniedCall)
	}
	mem.Denied = last(mem.Denied, maxEvidence)
	for _, l := range m.loaded {
		if !slices.Contains(mem.Skills, l.Name) {
			mem.Skills = push(mem.Skills, l.Name)
		}
	}
	return mem
}

// mutating keeps the side effects, the newest of each path.
func mutating(effects []tool.Effect) []tool.Effect {
	var out []tool.Effect
	for i, e := range effects {
		newer := slices.ContainsFunc(effects[i+1:], func(f tool.Effect) bool { return f.Kind == e.Kind && f.Path == e.Path && f.Dest == e.Dest })
		if e.Mutates() && !newer {
			out = append(out, e)
		}
	}
	return out
}
