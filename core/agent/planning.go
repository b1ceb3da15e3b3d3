package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/core/plan"
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
	p, why, ok := plan.Read(text)
	if ok {
		g, did, err := m.propose(phase, p)
		if err == nil {
			m.accept(phase, g, did, p.Skills)
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
		tasks, did := plan.Repair(plan.One(m.setup.Request), m.rules())
		g, err := m.graph.Update(taskgraph.Update{Add: tasks})
		if err != nil {
			m.fail(fault.From(err))
			return
		}
		m.accept(phase, g, append(did, "one task for the request"), nil)
	}
}

func (m *machine) rules() plan.Rules {
	r := plan.Rules{Request: m.setup.Request, Max: m.setup.Settings.MaxTasks}
	_, r.Reopen = m.undone()
	for _, e := range m.setup.Prompt.Runtime.Entries {
		r.Aliases = append(r.Aliases, e.Alias)
	}
	return r
}

// propose makes the plan to be, without accepting it. A replan that leaves nothing to do changed nothing (AGT-08).
func (m *machine) propose(phase Phase, p plan.Proposal) (taskgraph.Graph, []string, error) {
	var u taskgraph.Update
	var did []string
	if phase == PhasePlan {
		u.Add, did = plan.Repair(p.Drafts, m.rules())
	} else {
		var open bool
		if u, did, open = plan.Revise(m.graph, p.Drafts, m.rules(), m.overspent); !open {
			return m.graph, nil, fault.New(CodeUnchangedPlan)
		}
	}
	g, err := m.graph.Update(u)
	return g, did, err
}

// accept takes a plan into force. A replan that says the same as before ends the Task (AGT-08).
func (m *machine) accept(phase Phase, g taskgraph.Graph, did, skills []string) {
	if phase == PhaseReplan && plan.Same(m.graph, g, m.overspent) {
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
	if len(out) > 0 {
		m.note(Note{Kind: NoteSkills, Detail: strings.Join(out, ", ")})
	}
	if len(refused) > 0 {
		m.note(Note{Kind: NoteSkillsBad, Detail: strings.Join(refused, ", ")})
	}
	return out
}

// Shares of the context, as divisors.
const (
	skillShare = 8 // names and descriptions of all skills
	bodyShare  = 3 // bodies of the loaded ones
)

func (m *machine) bodyTokens(s prompt.LoadedSkill) int {
	return m.scale.Apply((prompt.Weight(s.Body) + 3) / 4)
}

// discover keeps the list of skills small beside the context; it is paid in every call.
func (m *machine) discover() {
	run := &m.setup.Prompt.Runtime
	list, cut := prompt.Discovery(run.Skills, m.scale.Quarters(m.setup.Settings.ContextTokens/skillShare))
	if run.Skills = list; cut >= 0 {
		m.note(Note{Kind: NoteSkillsCut, Count: cut})
	}
}

// skillsLoaded puts the bodies into the Runtime Context and begins to work. Bodies that were not asked for are dropped, and so is
// one that would leave too little of the context for the work.
func (m *machine) skillsLoaded(e SkillsLoaded) {
	known := m.skillNames()
	room := m.setup.Settings.ContextTokens / bodyShare
	failed := slices.Clone(e.Failed)
	for _, s := range m.loaded {
		room -= m.bodyTokens(s)
	}
	for _, s := range e.Skills {
		dup := slices.ContainsFunc(m.loaded, func(l prompt.LoadedSkill) bool { return l.Name == s.Name })
		switch n := m.bodyTokens(s); {
		case dup || !slices.Contains(known, s.Name):
		case n > room:
			failed = append(failed, fmt.Sprintf("%s (%d > %d)", s.Name, n, max(room, 0)))
		default:
			m.loaded = push(m.loaded, s)
			room -= n
		}
	}
	if len(failed) > 0 {
		m.note(Note{Kind: NoteSkillsOut, Detail: strings.Join(failed, ", ")})
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
