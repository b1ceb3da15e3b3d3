package engine

import (
	"slices"

	"github.com/agent-mcp/agent-mcp/core/agent"
	"github.com/agent-mcp/agent-mcp/core/session"
	"github.com/agent-mcp/agent-mcp/core/taskgraph"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// view picks what a status shows of a Task. given is the context that the server gives, where that is known.
func (e *Engine) view(t session.Task, m moment, given int) view {
	p := t.Progress
	v := view{
		task: t.TaskID, session: t.SessionID, state: t.State, ahead: t.Ahead,
		waitPID: t.Waits.PID, waitTask: t.Waits.Task,
		iterations: p.Iterations, maxIter: e.cfg.Agent.MaxIterations, replans: p.Replans,
		input: p.InputTokens, output: p.OutputTokens, fault: p.LastError,
	}
	if t.Fault != nil {
		v.fault = t.Fault
	}
	if t.State == service.Completed {
		v.answer, v.fault = t.Answer, nil
		if v.answer == "" {
			v.answer = e.Catalog.Text(agent.KeyNoAnswer, nil)
		}
	}
	if want := e.cfg.Agent.Options.NumCtx; want != nil && given > 0 && given < *want {
		v.context, v.asked = given, *want
	}
	if t.State.Final() {
		v.workspace, v.proof = e.cfg.Agent.Workspace, p.Proof
	}
	v.refused, v.obeyed, v.more = t.Notices.Refused, t.Notices.Obeyed, t.Notices.More
	v.moment, v.now, v.spent = m, e.now(), p.Spent
	v.left = p.Plan.Left(p.Current, int64(p.Spent))
	v.read, v.spoken = p.Read.PerSecond(), p.Spoken.PerSecond()
	if end := t.EndedAt; !t.StartedAt.IsZero() {
		if !t.State.Final() {
			end = v.now
		}
		v.took = end.Sub(t.StartedAt)
	}
	if t.State == service.Completed {
		v.left.Share = 100
	} else {
		v.left.Share = min(v.left.Share, 99)
	}
	v.critical, v.budget = int(p.Plan.Length.Tokens()), int(p.Plan.Budget)
	for _, n := range p.Plan.Tasks {
		if n.ID == p.Current {
			v.current, v.class = n.Title, int(n.Class.Tokens())
		}
		v.steps = append(v.steps, stepView{
			id: string(n.ID), title: n.Title, mark: mark(n, p.Current),
			critical: slices.Contains(p.Plan.CriticalPath, n.ID), budget: int(n.Class.Tokens()),
		})
	}
	return v
}

func mark(n taskgraph.Node, current taskgraph.ID) string {
	switch {
	case n.State == taskgraph.Completed:
		return markDone
	case n.State == taskgraph.Failed:
		return markFailed
	case n.ID == current || n.State == taskgraph.Running:
		return markRunning
	}
	return markWaiting
}
