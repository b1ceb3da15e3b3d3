package engine

import (
	"slices"

	"github.com/agent-mcp/agent-mcp/core/agent"
	"github.com/agent-mcp/agent-mcp/core/session"
	"github.com/agent-mcp/agent-mcp/core/taskgraph"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// view picks what a status shows of a Task.
func (e *Engine) view(t session.Task) view {
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
	v.refused, v.obeyed, v.more = t.Notices.Refused, t.Notices.Obeyed, t.Notices.More
	v.critical, v.budget = int(p.Plan.Length.Tokens()), int(p.Plan.Budget)
	for _, n := range p.Plan.Tasks {
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
