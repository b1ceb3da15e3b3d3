package engine

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/agent-mcp/agent-mcp/core/agent"
	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/core/guard"
	"github.com/agent-mcp/agent-mcp/core/report"
	"github.com/agent-mcp/agent-mcp/core/session"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	reports "github.com/agent-mcp/agent-mcp/ports/report"
	"github.com/agent-mcp/agent-mcp/ports/trace"
)

// diary collects what the report of a Task tells.
type diary struct {
	began   time.Time
	steps   []report.Step
	dropped int
	skills  report.Skills
}

// note keeps what became of a selection of skills.
func (d *diary) note(n agent.Note) {
	keep := func(list *[]string) {
		for _, name := range strings.Split(n.Detail, ", ") {
			if !slices.Contains(*list, name) {
				*list = append(*list, name)
			}
		}
	}
	switch n.Kind {
	case agent.NoteSkills:
		keep(&d.skills.Used)
	case agent.NoteSkillsBad:
		keep(&d.skills.Unknown)
	case agent.NoteSkillsOut:
		keep(&d.skills.Left)
		d.skills.Used = slices.DeleteFunc(d.skills.Used, func(used string) bool {
			return slices.ContainsFunc(d.skills.Left, func(left string) bool { return left == used || strings.HasPrefix(left, used+" (") })
		})
	}
}

func (d *diary) add(planner string, c tool.Call, r tool.Result, took time.Duration) {
	if len(d.steps) == report.MaxSteps {
		d.dropped++
		return
	}
	r.Text, c.Content, c.Old, c.New, c.Stdin = "", "", "", "", "" // bodies; the effects hold the difference
	d.steps = append(d.steps, report.Step{PlannerTask: planner, Call: c, Result: r, Took: took})
}

// keepReport stores the report of a Task that ends now. A report that cannot be kept changes nothing else.
func (t *task) keepReport(start session.Start, out agent.Outcome) {
	if t.Reports == nil {
		return
	}
	ended := t.now()
	words := report.Markdown(t.Catalog, report.Task{
		TaskID: start.TaskID, SessionID: start.SessionID, Model: t.cfg.Agent.Model, Began: t.diary.began, Ended: ended,
		Request: start.Request, State: t.Catalog.Text(stateKey(out.State), nil),
		Plan: out.Progress.Plan, Steps: t.diary.steps, Dropped: t.diary.dropped,
		Iterations: out.Progress.Iterations, Replans: out.Progress.Replans, Input: out.Progress.InputTokens, Output: out.Progress.OutputTokens,
		Fault: out.Fault, Answer: out.Answer, Workspace: t.cfg.Agent.Workspace, Proof: out.Progress.Proof,
		Skills: t.diary.skills, Look: t.lookAt(start.TaskID),
	})
	entry := reports.Entry{Task: start.TaskID, State: string(out.State), Title: title(start.Request), Ended: ended.UTC().Truncate(time.Second)}
	place, err := t.Reports.Put(context.Background(), entry, words) // also for a Task that was cancelled
	if err != nil {
		t.emit(trace.Warn, "report.failed", t.scope, trace.F("detail", err.Error()), trace.F("code", string(fault.CodeOf(err))))
	}
	if place == "" {
		return
	}
	t.mu.Lock()
	t.places[start.TaskID] = place
	t.mu.Unlock()
}

// lookAt are the files that the owner must look at, as agent_status names them.
func (t *task) lookAt(id string) []string {
	t.mu.Lock()
	st, f := t.state.Find(id, "")
	t.mu.Unlock()
	if f != nil {
		return nil
	}
	var out []string
	for _, o := range st.Notices.Obeyed {
		out = append(out, obeyedLine(t.Catalog, o))
	}
	if st.Notices.More > 0 {
		out = append(out, t.Catalog.Text(keyObeyedMore, map[string]any{"count": st.Notices.More}))
	}
	return out
}

// title is the first line of a request that says something, unless it looks like a credential.
func title(request string) string {
	for l := range strings.Lines(guard.Plain(request)) {
		if l = cutRunes(l, maxTitleRunes); l == "" {
			continue
		}
		if audit.Secret(l) {
			return "…"
		}
		return strings.ToValidUTF8(l[:min(len(l), reports.MaxTitle)], "")
	}
	return ""
}
