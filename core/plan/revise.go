package plan

import (
	"slices"

	"github.com/agent-mcp/agent-mcp/core/taskgraph"
)

// Revise merges a replan: an id that exists changes that task, a new one adds a task, completed ones stay (PLN-03), what is
// not mentioned stays, and a failed task that is not mentioned is replaced by the first new one. What a task must
// effect can be said anew but not be given up. larger says that a budget was used up: what failed gets at least the next
// class. open is false when the drafts name nothing that is still to be done. did is as for Repair.
func Revise(g taskgraph.Graph, drafts []Draft, r Rules, larger bool) (u taskgraph.Update, did []string, open bool) {
	view := g.View()
	drafts = slices.Clone(drafts)
	for i, d := range drafts {
		if slices.Contains(r.Reopen, taskgraph.ID(cleanID(d.id))) {
			drafts[i].id = cleanID(d.id) + "-again"
		}
	}
	adopt(g, drafts)
	r.old, r.known = map[taskgraph.ID][]string{}, map[taskgraph.ID]bool{}
	mentioned := map[taskgraph.ID]bool{}
	for _, d := range drafts {
		mentioned[taskgraph.ID(cleanID(d.id))] = true
	}
	for _, n := range view.Tasks {
		switch {
		case n.State == taskgraph.Completed:
			r.known[n.ID] = true
		case !mentioned[n.ID]:
			r.old[n.ID] = []string{}
			for _, a := range n.After {
				r.old[n.ID] = append(r.old[n.ID], string(a))
			}
		}
	}
	r.Max -= len(r.old) + len(r.known)
	drafts = slices.DeleteFunc(drafts, func(d Draft) bool { return r.known[taskgraph.ID(cleanID(d.id))] })
	if len(drafts) == 0 {
		return u, nil, false
	}
	tasks, did := Repair(drafts, r)
	for _, t := range tasks {
		old, exists := g.Task(t.ID)
		if !exists {
			u.Add = append(u.Add, t)
			continue
		}
		if old.Action && !t.Action {
			t.Action, t.Expects = true, nil
		}
		if larger && old.State == taskgraph.Failed && t.Class.Tokens() <= old.Class.Tokens() {
			if c, ok := taskgraph.ClassFor(old.Class.Tokens() * 2); ok {
				t.Class = c
			}
		}
		u.Revise = append(u.Revise, t)
	}
	return u, did, true
}

// adopt gives the id of a failed task that no draft mentions to the first draft with a new id.
func adopt(g taskgraph.Graph, drafts []Draft) {
	for _, failed := range g.In(taskgraph.Failed) {
		if slices.ContainsFunc(drafts, func(d Draft) bool { return cleanID(d.id) == string(failed) }) {
			continue
		}
		for i, d := range drafts {
			if _, exists := g.Task(taskgraph.ID(cleanID(d.id))); exists {
				continue
			}
			was := d.id
			drafts[i].id = string(failed)
			for k := range drafts {
				drafts[k].after = slices.Clone(drafts[k].after)
				for j, a := range drafts[k].after {
					if a == was && was != "" {
						drafts[k].after[j] = string(failed)
					}
				}
			}
			break
		}
	}
}

// Same compares what is to be done, not what it may cost; with classes, as after a budget was used up, a larger class is a
// change too (AGT-08).
func Same(a, b taskgraph.Graph, classes bool) bool {
	return slices.EqualFunc(a.View().Tasks, b.View().Tasks, func(x, y taskgraph.Node) bool {
		return (!classes || x.Class == y.Class) && x.ID == y.ID && x.Title == y.Title && x.Action == y.Action && slices.Equal(x.After, y.After) && slices.Equal(x.Expects, y.Expects)
	})
}
