package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/core/prompt"
	"github.com/agent-mcp/agent-mcp/core/taskgraph"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

func (m *machine) askPlan() {
	m.askedBack = false
	text := prompt.Plan(m.setup.Settings.MaxTasks, len(m.skillNames()) > 0)
	m.side = []model.Message{{Role: model.User, Content: text}}
	m.ask(PhasePlan)
}

// askReplan asks for a changed plan, at most MaxReplans times (AGT-08).
func (m *machine) askReplan(why string) {
	set := m.setup.Settings
	if m.replans >= set.MaxReplans {
		m.giveUp(CodeMaxReplans, "limit", set.MaxReplans)
		return
	}
	m.replans++
	m.askedBack = false
	m.state = service.Planning
	m.note(Note{Kind: NoteReplan, Detail: why})
	m.progress()
	var denied strings.Builder
	for _, d := range m.denied {
		fmt.Fprintf(&denied, "- %s %s\n", d.Tool, d.Subject)
	}
	text := prompt.Replan(m.graph.View(), why, evidence(m.results, 20), denied.String(), set.MaxTasks)
	m.side = []model.Message{{Role: model.User, Content: text}}
	m.ask(PhaseReplan)
}

// planReply reads a plan: repaired by the rules, else asked for once more, else one task (or, for a replan, the end).
func (m *machine) planReply(text string, r model.Reply) {
	phase := m.want.Phase
	if text == "" {
		if !m.failure(Cause{Code: CauseEmpty}, "") {
			m.tell(phase, "Your reply was empty. Reply with the plan as JSON.")
			m.ask(phase)
		}
		return
	}
	p, why, ok := readPlan(text)
	if ok {
		g, did, err := m.propose(phase, p)
		if err == nil {
			m.accept(phase, g, did, p.skills)
			return
		}
		why = reasons(err)
	}
	if m.failure(Cause{Code: CauseBadPlan}, "") {
		return
	}
	switch {
	case !m.askedBack:
		m.askedBack = true
		m.side = push(m.side, model.Message{Role: model.Assistant, Content: prompt.Clip(text, 1500)},
			model.Message{Role: model.User, Content: prompt.PlanAgain(why)})
		m.ask(phase)
	case phase == PhaseReplan:
		m.giveUp(CodeReplanFailed)
	default:
		tasks, did := repair(onePlan(m.setup.Request), m.rules())
		g, err := m.graph.Update(taskgraph.Update{Add: tasks})
		if err != nil {
			m.fail(fault.From(err))
			return
		}
		m.accept(phase, g, append(did, "one task for the request"), nil)
	}
}

func (m *machine) rules() rules {
	r := rules{request: m.setup.Request, max: m.setup.Settings.MaxTasks, old: map[taskgraph.ID][]string{}, known: map[taskgraph.ID]bool{}}
	for _, e := range m.setup.Prompt.Runtime.Entries {
		r.aliases = append(r.aliases, e.Alias)
	}
	return r
}

// propose makes the plan to be, without accepting it.
func (m *machine) propose(phase Phase, p proposal) (taskgraph.Graph, []string, error) {
	if phase == PhasePlan {
		tasks, did := repair(p.drafts, m.rules())
		g, err := m.graph.Update(taskgraph.Update{Add: tasks})
		return g, did, err
	}
	return m.revise(p.drafts)
}

// revise merges a replan: an id that exists changes that task, a new one adds a task, completed ones stay (PLN-03), what is
// not mentioned stays, and a failed task that is not mentioned is replaced by the first new one. What a task must
// effect can be said anew but not be given up.
func (m *machine) revise(drafts []draft) (taskgraph.Graph, []string, error) {
	r := m.rules()
	view := m.graph.View()
	drafts = slices.Clone(drafts)
	m.adopt(drafts)
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
	r.max -= len(r.old) + len(r.known)
	open := slices.DeleteFunc(drafts, func(d draft) bool { return r.known[taskgraph.ID(cleanID(d.id))] })
	if len(open) == 0 {
		return m.graph, nil, fault.New(CodeUnchangedPlan)
	}
	tasks, did := repair(open, r)
	var u taskgraph.Update
	for _, t := range tasks {
		old, exists := m.graph.Task(t.ID)
		if !exists {
			u.Add = append(u.Add, t)
			continue
		}
		if old.Action && !t.Action {
			t.Action, t.Expects = true, nil
		}
		if m.overspent && old.State == taskgraph.Failed && t.Class.Tokens() <= old.Class.Tokens() {
			if c, ok := taskgraph.ClassFor(old.Class.Tokens() * 2); ok {
				t.Class = c
			}
		}
		u.Revise = append(u.Revise, t)
	}
	g, err := m.graph.Update(u)
	return g, did, err
}

// adopt gives the id of a failed task that no draft mentions to the first draft with a new id.
func (m *machine) adopt(drafts []draft) {
	for _, failed := range m.graph.In(taskgraph.Failed) {
		if slices.ContainsFunc(drafts, func(d draft) bool { return cleanID(d.id) == string(failed) }) {
			continue
		}
		for i, d := range drafts {
			if _, exists := m.graph.Task(taskgraph.ID(cleanID(d.id))); exists {
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

// accept takes a plan into force. A replan that says the same as before ends the Task (AGT-08).
func (m *machine) accept(phase Phase, g taskgraph.Graph, did, skills []string) {
	if phase == PhaseReplan && samePlan(m.graph, g, m.overspent) {
		m.giveUp(CodeUnchangedPlan)
		return
	}
	m.overspent = false
	m.graph, m.side = g, nil
	m.note(Note{Kind: NotePlan, Count: g.Len(), Detail: strings.Join(did, "; ")})
	m.progress()
	if names := m.choose(skills); len(names) > 0 {
		m.want = want{ID: m.nextID("s")}
		m.emit(LoadSkills{CallID: m.want.ID, Names: names})
		return
	}
	m.startNext()
}

// samePlan compares what is to be done, not what it may cost; after a budget was used up a larger class is a change.
func samePlan(a, b taskgraph.Graph, classes bool) bool {
	return slices.EqualFunc(a.View().Tasks, b.View().Tasks, func(x, y taskgraph.Node) bool {
		return (!classes || x.Class == y.Class) && x.ID == y.ID && x.Title == y.Title && x.Action == y.Action && slices.Equal(x.After, y.After) && slices.Equal(x.Expects, y.Expects)
	})
}

func (m *machine) skillNames() []string {
	out := make([]string, len(m.setup.Prompt.Runtime.Skills))
	for i, s := range m.setup.Prompt.Runtime.Skills {
		out[i] = s.Name
	}
	return out
}

// choose checks a selection: only known skills, each once, and those that the Session used before (SKL-04).
func (m *machine) choose(names []string) []string {
	known := m.skillNames()
	var out, refused []string
	for _, n := range append(slices.Clone(names), m.setup.Memory.Skills...) {
		loaded := slices.ContainsFunc(m.loaded, func(l prompt.LoadedSkill) bool { return l.Name == n })
		switch {
		case loaded || slices.Contains(out, n):
		case slices.Contains(known, n):
			out = append(out, n)
		default:
			refused = append(refused, prompt.Short(n, 64))
		}
	}
	if len(out)+len(refused) > 0 {
		detail := strings.Join(out, ", ")
		if len(refused) > 0 {
			detail += "; refused: " + strings.Join(refused, ", ")
		}
		m.note(Note{Kind: NoteSkills, Detail: detail})
	}
	return out
}

// skillsLoaded puts the bodies into the Runtime Context and begins to work. Bodies that were not asked for are dropped.
func (m *machine) skillsLoaded(e SkillsLoaded) {
	known := m.skillNames()
	for _, s := range e.Skills {
		dup := slices.ContainsFunc(m.loaded, func(l prompt.LoadedSkill) bool { return l.Name == s.Name })
		if !dup && slices.Contains(known, s.Name) {
			m.loaded = push(m.loaded, s)
		}
	}
	if len(e.Failed) > 0 {
		m.note(Note{Kind: NoteSkills, Detail: "not loaded: " + strings.Join(e.Failed, ", ")})
	}
	m.epoch++
	m.startNext()
}

// reasons says in short why a plan was rejected.
func reasons(err error) string {
	f := fault.From(err)
	out := []string{string(f.Code)}
	for _, r := range f.Reasons {
		out = append(out, strings.TrimPrefix(r.Error(), "plan."))
	}
	return prompt.Short(strings.Join(out, "; "), 300)
}
