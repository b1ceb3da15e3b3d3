package engine

import (
	"encoding/json"
	"time"

	"github.com/agent-mcp/agent-mcp/core/agent"
	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/core/guard"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
	"github.com/agent-mcp/agent-mcp/ports/service"
	"github.com/agent-mcp/agent-mcp/ports/trace"
)

// auditState records one step of a Task's life. The Audit Log going away stops the Task (ledger.CodeFailed): the caller
// cancels it, except when it is over anyway.
func (e *Engine) auditState(ref audit.Ref, from, to service.State, code string) error {
	err := e.Audit.Record(audit.Task(e.now(), ref, from, to, fault.Code(code)))
	if err != nil {
		e.emit(trace.Error, "audit.failed", ref, trace.F("detail", err.Error()))
	}
	return err
}

// stopTask cancels a Task for a reason of the runtime's own.
func (t *task) stopTask(why *fault.Error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if stop := t.cancel[t.scope.Task]; stop != nil {
		stop(why)
	}
}

// note hands a fact of the agent to the logs.
func (t *task) note(n agent.Note) {
	ref := t.scope
	ref.PlannerTask, ref.Call = string(n.PlannerTask), n.CallID
	t.diary.note(n)
	level := trace.Info
	switch n.Kind {
	case agent.NoteUsage:
		t.Trace.Emit(trace.Event{
			At: t.now(), Stream: trace.Tokens, Level: trace.Info, Name: "call.tokens",
			Session: ref.Session, Task: ref.Task, PlannerTask: ref.PlannerTask, Call: ref.Call,
			Fields: []trace.Field{trace.F("phase", string(n.Phase)), trace.F("model", t.cfg.Agent.Model), trace.F("input", n.Input), trace.F("output", n.Output)},
		})
		return
	case agent.NoteCompleted:
		if err := t.Audit.Record(audit.Evidence(t.now(), ref, n.Effects)); err != nil {
			t.emit(trace.Error, "audit.failed", ref, trace.F("detail", err.Error()))
			t.stopTask(fault.From(err)) // a success that is not on record is none
		}
	case agent.NoteFailure, agent.NoteDenied, agent.NoteFailed, agent.NoteTruncated, agent.NoteContext, agent.NoteBudget, agent.NoteSkillsBad,
		agent.NoteSkillsOut, agent.NoteSkillsCut:
		level = trace.Warn
	}
	fields := []trace.Field{}
	if n.Cause != (agent.Cause{}) {
		fields = append(fields, trace.F("cause", n.Cause.String()))
	}
	if n.Count > 0 {
		fields = append(fields, trace.F("count", n.Count))
	}
	if n.Detail != "" {
		fields = append(fields, trace.F("detail", n.Detail))
	}
	t.emit(level, "agent."+string(n.Kind), ref, fields...)
}

// logPrompt writes one LLM call to the LLM log (LOG-02): never images, never thinking (OLL-14).
func (t *task) logPrompt(ref audit.Ref, a agent.Ask) {
	if !t.cfg.LLMLog {
		return
	}
	req := guard.Redacted(a.Request)
	t.llm(ref, a, "model.request", trace.F("messages", asJSON(messages(req.Messages))), trace.F("tools", len(req.Tools)), trace.F("schema", len(req.Format) > 0))
}

func (t *task) logReply(ref audit.Ref, a agent.Ask, r model.Reply, err error, took time.Duration) {
	if err != nil {
		t.emit(trace.Warn, "model.failed", ref, trace.F("phase", string(a.Phase)), trace.F("code", string(fault.CodeOf(err))), trace.F("elapsed", took))
	} else {
		t.emit(trace.Debug, "model.replied", ref, trace.F("phase", string(a.Phase)), trace.F("elapsed", took), trace.F("calls", len(r.Message.ToolCalls)))
	}
	if !t.cfg.LLMLog {
		return
	}
	fields := []trace.Field{trace.F("elapsed", took)}
	if err != nil {
		fields = append(fields, trace.F("error", err.Error()))
	} else {
		r = guard.RedactedReply(r)
		fields = append(fields,
			trace.F("message", asJSON(messages([]model.Message{r.Message})[0])), trace.F("done_reason", r.DoneReason),
			trace.F("input", r.Usage.PromptTokens), trace.F("output", r.Usage.OutputTokens))
	}
	t.llm(ref, a, "model.response", fields...)
}

func (t *task) llm(ref audit.Ref, a agent.Ask, name string, fields ...trace.Field) {
	t.Trace.Emit(trace.Event{
		At: t.now(), Stream: trace.LLM, Level: trace.Info, Name: name,
		Session: ref.Session, Task: ref.Task, PlannerTask: ref.PlannerTask, Call: ref.Call,
		Fields: append([]trace.Field{
			trace.F("phase", string(a.Phase)), trace.F("iteration", a.Iteration), trace.F("replan", a.Replan), trace.F("model", a.Request.Model),
		}, fields...),
	})
}

// logMessage is a message as the LLM log keeps it.
type logMessage struct {
	Role    string           `json:"role"`
	Content string           `json:"content,omitempty"`
	Images  int              `json:"images,omitempty"`
	Calls   []model.ToolCall `json:"calls,omitempty"`
	Tool    string           `json:"tool,omitempty"`
}

func messages(in []model.Message) []logMessage {
	out := make([]logMessage, len(in))
	for i, m := range in {
		out[i] = logMessage{Role: string(m.Role), Content: m.Content, Images: len(m.Images), Calls: m.ToolCalls, Tool: m.ToolName}
	}
	return out
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "unprintable: " + err.Error() // a model's broken arguments are no reason to lose the entry
	}
	return string(b)
}
