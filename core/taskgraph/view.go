package taskgraph

import (
	"encoding/json"
)

// Node is everything known about one Planner Task.
type Node struct {
	Task
	State State `json:"state"`
	Ready bool  `json:"ready"` // pending with every dependency completed
	Usage Usage `json:"usage"`
	Slot  Slot  `json:"slot"`
}

// View is the whole plan in its canonical form: tasks by id, dependencies sorted. Equal plans have equal views.
type View struct {
	Tasks        []Node `json:"tasks"`
	CriticalPath []ID   `json:"critical_path"`
	Length       Sixths `json:"length_sixths"` // the critical path's sum of E
	Budget       int64  `json:"budget_tokens"` // the sum of all budgets, kept apart from the critical path (PLN-08)
	Usage        Usage  `json:"usage"`
}

// View returns the canonical form. The caller owns it.
func (g Graph) View() View {
	v := View{Tasks: make([]Node, g.Len()), CriticalPath: g.CriticalPath(), Length: g.Length(), Budget: g.Budget(), Usage: g.Usage()}
	for i := range v.Tasks {
		v.Tasks[i] = g.node(i)
	}
	return v
}

func (g Graph) node(i int) Node {
	return Node{
		Task: g.plan.tasks[i].clone(), State: g.at[i].state, Ready: g.ready(i), Usage: g.at[i].usage, Slot: g.plan.slots[i],
	}
}

// CriticalPath is the way through the plan with the greatest sum of E; among equals the least in id order. Never nil.
func (g Graph) CriticalPath() []ID {
	if g.plan == nil {
		return []ID{}
	}
	return append([]ID{}, g.plan.path...)
}

// Length is the critical path's sum of E.
func (g Graph) Length() Sixths {
	if g.plan == nil {
		return 0
	}
	return g.plan.length
}

// Budget is the sum of all Token Budget Classes, in tokens.
func (g Graph) Budget() int64 {
	if g.plan == nil {
		return 0
	}
	return g.plan.budget
}

// Usage is what all Planner Tasks took together.
func (g Graph) Usage() Usage {
	var u Usage
	for i := range g.at {
		u = u.plus(g.at[i].usage)
	}
	return u
}

// MarshalJSON writes the canonical form.
func (g Graph) MarshalJSON() ([]byte, error) { return json.Marshal(g.View()) }
