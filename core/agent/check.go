package agent

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/core/guard"
	"github.com/agent-mcp/agent-mcp/core/plan"
	"github.com/agent-mcp/agent-mcp/core/prompt"
	"github.com/agent-mcp/agent-mcp/core/session"
	"github.com/agent-mcp/agent-mcp/core/taskgraph"
	"github.com/agent-mcp/agent-mcp/core/tool"
)

// maxUnmet is how many reports with missing effects a Planner Task may give before the plan itself is doubted.
const maxUnmet = 3

// maxAnnounced is how often a mere announcement is sent back; then it is taken for the answer it may be.
const maxAnnounced = 2

// judge compares a report with what was observed (AGT-04, AGT-07): completed, nudged, or a new plan. What a program did to
// files is in no result: after one ran, the files are looked at first.
func (m *machine) judge(report string) {
	places := m.claimed(report)
	if m.blind {
		places = append(m.touched(), places...)
	}
	if len(places) > 0 {
		m.said = report
		m.askLook(lookAfter, places)
		return
	}
	m.judgeSeen(report)
}

// judgeSeen judges a report by what is known now. An empty one is no claim, and ends a Planner Task all the same when
// everything was observed.
func (m *machine) judgeSeen(report string) {
	n, _ := m.graph.Task(m.current)
	if prompt.Reveals(report) {
		m.revealed(n)
		return
	}
	missing := m.missing(n)
	planned := len(missing)
	missing = append(missing, m.unserved(n)...)
	bare := m.bare(n, report)
	if len(missing) == 0 && !bare {
		m.doubted(report)
		return
	}
	c := Cause{Code: CauseClaimed}
	if report == "" {
		c.Code = CauseEmpty
	}
	if m.failure(c, "") {
		return
	}
	m.say(report)
	why := strings.Join(missing, "; ")
	switch {
	case report == "" && !m.work.Wrap:
		m.tell(PhaseAct, "Your reply was empty, and the task is not finished: not observed: "+why+". Do what is missing, then report.")
		m.ask(PhaseAct)
	case m.work.Wrap:
		m.overspent = true
		m.failed(report, "the token budget of "+string(n.ID)+" was used up; missing: "+why)
	case m.work.Denied > 0:
		m.failed(report, "the policy denied what "+string(n.ID)+" needs; missing: "+why)
	case bare:
		m.work.Bare++
		m.tell(PhaseAct, m.nudgeBare(n, report, why))
		m.ask(PhaseAct)
	default:
		if planned < m.work.Missing {
			m.work.Unmet = 0 // it gets on
		}
		m.work.Missing = planned
		if m.work.Unmet++; m.work.Unmet >= maxUnmet {
			m.failed(report, string(n.ID)+" was reported as done, but was not observed: "+why)
			return
		}
		m.tell(PhaseAct, "Not finished: not observed: "+why+". If a program made a file, read it to show it. Do what is missing, then report.")
		m.ask(PhaseAct)
	}
}

// doubted completes a Planner Task of which everything was observed. A report that tells of more than there is, is sent back once;
// after that the work counts, and those words do not.
func (m *machine) doubted(report string) {
	more := m.unbacked(report)
	switch {
	case len(more) == 0:
		m.completed(report)
	case m.work.Doubted || m.work.Wrap:
		m.completed("")
	case !m.failure(Cause{Code: CauseClaimed}, ""):
		m.work.Doubted = true
		m.say(report)
		m.tell(PhaseAct, notThere(more)+" Make what is needed, then report what there really is.")
		m.ask(PhaseAct)
	}
}

func notThere(files []string) string {
	return "Not observed: " + prompt.Short(strings.Join(files, ", "), 300) + ", which you say was made, is not there."
}

func (m *machine) nudgeBare(n taskgraph.Node, report, missing string) string {
	switch {
	case !n.Action && guard.Announces(report) && missing == "":
		return "Do not announce it: do the next step now through the tool interface, or give the whole result in words."
	case n.Action || missing != "":
		return "Nothing was done: no tool call has worked. Words change nothing. Missing: " + missing + ". " + m.callHelp()
	}
	return "No tool was used. If this task needs a file, a program or any change, do it now through the tool interface. If it needs only an explanation, give it again and do not say that something was done."
}

// failed ends the current Planner Task's attempt and asks for a changed plan (AGT-08).
func (m *machine) failed(report, why string) {
	g, err := m.graph.Fail(m.current)
	if err == nil {
		m.graph = g
	}
	m.note(Note{Kind: NoteFailed})
	m.record(taskgraph.Failed, report)
	m.forgetThinking()
	m.current = ""
	m.askReplan(why)
}

// bare reports a missing tool call: an action is needed and none worked; or the report of a task without one claims side
// effects that nobody observed; or the plan left open what the task needs and this is the first answer.
func (m *machine) bare(n taskgraph.Node, report string) bool {
	switch {
	case n.Action:
		return m.work.OK == 0
	case guard.Announces(report) && m.work.Bare < maxAnnounced:
		return true
	case m.work.Mutating > 0:
		return false
	case guard.Claims(report) && !m.anyMutation():
		return m.work.OK == 0 || m.work.Bare < maxAnnounced // what was read may tell of the doings of others
	case guard.ClaimsPassively(report) && !m.anyMutation():
		return m.work.Bare == 0
	case plan.Unsure(n.Task):
		return m.work.OK == 0 && m.work.Bare == 0
	}
	return false
}

// anyMutation reports that some side effect was observed in this Task or Session, to which a report may refer.
func (m *machine) anyMutation() bool {
	has := func(r session.Result) bool { return len(r.Evidence) > 0 }
	return len(m.files) > 0 || slices.ContainsFunc(m.results, has) || slices.ContainsFunc(m.setup.Memory.Results, has)
}

// missing lists the expected effects that were not observed. A file counts when its last observed state was made in this
// Task and still stands: not removed, moved away, or changed back. A file that a program made counts once it was read
// after the program ran. A program counts when its last run in this Planner Task ended with the expected exit code, and none of the
// files that the request or the title names ended badly at its last run.
func (m *machine) missing(n taskgraph.Node) []string {
	if !n.Action {
		return nil
	}
	var out []string
	for _, e := range n.Expects {
		met := true
		switch e.Kind {
		case plan.File:
			met = m.fileMet(n, e)
		case plan.Removed:
			met = m.removedMet(e)
		case plan.Process:
			met = m.processMet(e)
		}
		if !met {
			out = append(out, prompt.Expectation(e)+m.hint(e))
		}
	}
	if len(n.Expects) == 0 && m.work.Mutating == 0 {
		out = append(out, "an effect of a tool")
	}
	return out
}

func (m *machine) fileMet(n taskgraph.Node, e taskgraph.Expect) bool {
	for _, f := range m.files {
		switch {
		case !m.matches(f.Path, e.Path):
		case f.Gone && f.Away && plan.Moves(n.Title):
			return true // the plan names where it was, not where it went
		case f.Gone:
		case m.misplaced(f.Path, e.Path) && m.work.Unmet == 0: // told once where it is
		case f.Orig != "" && f.SHA == f.Orig && !plan.Restores(n.Title):
			// It is as it was before the Task, whatever was between. That is right only when the request orders a content that it
			// had already, and the model said so once more after it was told.
			if !f.New && m.work.Unmet > 0 && m.ordered(f.Path) {
				return true
			}
		case f.SHA == "" || f.Base != f.SHA:
			return true
		}
	}
	ran := false
	for _, o := range m.work.Effects {
		switch o.Kind {
		case tool.EffectRan:
			ran = true
		case tool.EffectRead:
			if ran && e.Path != "" && m.matches(o.Path, e.Path) && !m.known(o.Path) {
				return true
			}
		}
	}
	return false
}

func (m *machine) removedMet(e taskgraph.Expect) bool {
	match := func(p string) bool { return m.matches(p, e.Path) }
	left := slices.ContainsFunc(m.files, func(f file) bool { return !f.Gone && match(f.Path) })
	places := m.places(e.Path)
	for _, p := range places {
		left = left || m.asBefore(p)
	}
	absent := slices.ContainsFunc(m.work.Absent, func(p string) bool { return slices.Contains(places, p) })
	return !left && (absent || slices.ContainsFunc(m.files, func(f file) bool { return f.Gone && match(f.Path) }))
}

// ordered reports that the request orders this very file to be made or written: then it is right also when it was so before.
func (m *machine) ordered(p string) bool {
	return slices.ContainsFunc(m.made, func(name string) bool { return strings.EqualFold(path.Base(p), name) })
}

func (m *machine) processMet(e taskgraph.Expect) bool {
	if e.Exit == 0 && len(m.work.Failing) > 0 {
		return false
	}
	for _, o := range slices.Backward(m.work.Effects) {
		if o.Kind == tool.EffectRan && (e.Alias == "" || sameProgram(o, e.Alias)) {
			return o.Exit == e.Exit && (o.End == "" || o.End == "exited")
		}
	}
	return false
}

func sameProgram(o tool.Effect, alias string) bool {
	return strings.EqualFold(o.Alias, alias) || path.Base(slashed(o.Path)) == path.Base(slashed(alias)) || path.Base(slashed(o.Alias)) == path.Base(slashed(alias))
}

// matches tells whether an observed host path is the one that the plan named: absolute, below the workspace, below a mount,
// or with the same trailing elements. An absolute path in a plan is taken at its word, but for two habits of models:
// "/workspace/x" and "/x" are meant below the workspace.
func (m *machine) matches(observed, planned string) bool {
	if planned == "" {
		return true
	}
	o, p := slashed(observed), slashed(planned)
	if o == p {
		return true
	}
	if rest, ok := strings.CutPrefix(p, "/workspace/"); ok {
		p = rest
	} else if strings.HasPrefix(p, "/") && strings.Count(p, "/") == 1 {
		p = p[1:]
	}
	set := m.setup.Settings
	switch {
	case strings.HasPrefix(p, "/"), len(p) > 1 && p[1] == ':':
		return false
	case o == path.Join(slashed(set.Workspace), p):
		return true
	}
	for _, mt := range set.Mounts {
		if rest, ok := strings.CutPrefix(p, mt.Name+"/"); ok && o == path.Join(slashed(mt.Path), rest) {
			return true
		}
	}
	if set.Workspace != "" {
		p = strings.TrimPrefix(p, path.Base(slashed(set.Workspace))+"/")
	}
	return strings.HasSuffix(o, "/"+p)
}
