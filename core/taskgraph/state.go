package taskgraph

import (
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// State of a Planner Task. Ready is not a state of its own: see Node.Ready.
type State string

// States. A completed Planner Task is final (PLN-03); a failed one may be retried or revised.
const (
	Pending   State = "pending"
	Running   State = "running"
	Completed State = "completed"
	Failed    State = "failed"
)

// Usage is what a Planner Task really took, in tokens, over all its calls (PLN-09). Recorded, never learned from.
type Usage struct {
	Input  int64 `json:"input"`
	Output int64 `json:"output"`
	Calls  int64 `json:"calls"`
}

// Total is input plus output.
func (u Usage) Total() int64 { return u.Input + u.Output }

func (u Usage) plus(v Usage) Usage {
	return Usage{Input: u.Input + v.Input, Output: u.Output + v.Output, Calls: u.Calls + v.Calls}
}

// Start takes a ready Planner Task from pending to running. CodeUnknown, CodeState, CodeBlocked.
func (g Graph) Start(id ID) (Graph, error) {
	if i, ok := g.find(id); ok && g.at[i].state == Pending {
		if by := g.blockers(i); len(by) > 0 {
			return g, fault.New(CodeBlocked, "id", string(id), "by", strings.Join(by, ", "))
		}
	}
	return g.move(id, Running, Pending)
}

// Complete takes a running Planner Task to completed, for good (PLN-03). CodeUnknown, CodeState.
func (g Graph) Complete(id ID) (Graph, error) { return g.move(id, Completed, Running) }

// Fail takes a running Planner Task to failed. CodeUnknown, CodeState.
func (g Graph) Fail(id ID) (Graph, error) { return g.move(id, Failed, Running) }

// Retry takes a running or failed Planner Task back to pending; what it used stays counted. CodeUnknown, CodeState.
func (g Graph) Retry(id ID) (Graph, error) { return g.move(id, Pending, Running, Failed) }

// Spend adds what one call used to an unfinished Planner Task (PLN-09). CodeUnknown, CodeCompleted, CodeUsage.
func (g Graph) Spend(id ID, u Usage) (Graph, error) {
	i, ok := g.find(id)
	switch {
	case !ok:
		return g, fault.New(CodeUnknown, "id", string(id))
	case g.at[i].state == Completed:
		return g, fault.New(CodeCompleted, "id", string(id))
	case u.Input < 0 || u.Output < 0 || u.Calls < 0:
		return g, fault.New(CodeUsage, "id", string(id))
	}
	return g.with(i, progress{state: g.at[i].state, usage: g.at[i].usage.plus(u)}), nil
}

func (g Graph) move(id ID, to State, from ...State) (Graph, error) {
	i, ok := g.find(id)
	if !ok {
		return g, fault.New(CodeUnknown, "id", string(id))
	}
	if !slices.Contains(from, g.at[i].state) {
		return g, fault.New(CodeState, "id", string(id), "from", string(g.at[i].state), "to", string(to))
	}
	return g.with(i, progress{state: to, usage: g.at[i].usage}), nil
}

func (g Graph) with(i int, p progress) Graph {
	g.at = slices.Clone(g.at)
	g.at[i] = p
	return g
}

// blockers are the dependencies of task i that are not completed, in id order.
func (g Graph) blockers(i int) []string {
	var by []string
	for _, d := range g.plan.deps.of(i) {
		if g.at[d].state != Completed {
			by = append(by, string(g.plan.tasks[d].ID))
		}
	}
	return by
}

func (g Graph) ready(i int) bool {
	if g.at[i].state != Pending {
		return false
	}
	for _, d := range g.plan.deps.of(i) {
		if g.at[d].state != Completed {
			return false
		}
	}
	return true
}

// Runnable lists the ready Planner Tasks in the order to start them: critical first, then least slack, then id.
func (g Graph) Runnable() []ID {
	var ready []int
	for i := range g.at {
		if g.ready(i) {
			ready = append(ready, i)
		}
	}
	slices.SortFunc(ready, g.before)
	ids := make([]ID, len(ready))
	for k, i := range ready {
		ids[k] = g.plan.tasks[i].ID
	}
	return ids
}

// Next is the first of Runnable; ok is false when there is none.
func (g Graph) Next() (id ID, ok bool) {
	best := -1
	for i := range g.at {
		if g.ready(i) && (best < 0 || g.before(i, best) < 0) {
			best = i
		}
	}
	if best < 0 {
		return "", false
	}
	return g.plan.tasks[best].ID, true
}

// before orders by slack (0 = critical), then by position, which is the order of ids.
func (g Graph) before(a, b int) int {
	if d := g.plan.slots[a].Slack - g.plan.slots[b].Slack; d != 0 {
		return int(d)
	}
	return a - b
}

// In lists the Planner Tasks in a state, by id.
func (g Graph) In(s State) []ID {
	var ids []ID
	for i := range g.at {
		if g.at[i].state == s {
			ids = append(ids, g.plan.tasks[i].ID)
		}
	}
	return ids
}

// Done reports that there is a plan and every Planner Task of it is completed (AGT-01).
func (g Graph) Done() bool { return g.Len() > 0 && len(g.In(Completed)) == g.Len() }
