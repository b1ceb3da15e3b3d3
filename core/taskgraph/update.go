package taskgraph

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// Dependency says that Task may start only after On is completed.
type Dependency struct {
	Task ID `json:"task"`
	On   ID `json:"on"`
}

// Update is one change of a plan (PLN-03, PLN-04). Nothing is ever taken away.
type Update struct {
	Add    []Task       `json:"add,omitempty"`    // new Planner Tasks; their ids must be free
	Depend []Dependency `json:"depend,omitempty"` // more dependencies between Planner Tasks, old or new
	Revise []Task       `json:"revise,omitempty"` // pending or failed Planner Tasks said anew; a failed one is pending again
}

// Update returns the plan with u applied and CPM computed anew (PLN-05), or g itself and CodeRejected with every reason:
// an update is accepted whole or not at all. The caller keeps its slices.
func (g Graph) Update(u Update) (Graph, error) {
	d := newDraft(g, len(u.Add))
	for _, t := range u.Add {
		d.add(t.clone())
	}
	d.revise(u.Revise)
	d.depend(u.Depend)
	p, sorted := d.plan()
	if len(d.reasons) > 0 {
		slices.SortFunc(d.reasons, func(a, b *fault.Error) int { return strings.Compare(a.Error(), b.Error()) })
		d.reasons = slices.CompactFunc(d.reasons, func(a, b *fault.Error) bool { return a.Error() == b.Error() })
		return g, fault.New(CodeRejected, "count", len(d.reasons)).With(d.reasons...)
	}
	p.schedule(sorted)
	at := make([]progress, len(p.tasks))
	for i := range p.tasks {
		at[i].state = Pending
		if old, ok := g.find(p.tasks[i].ID); ok {
			at[i] = g.at[old]
			if d.revised[p.tasks[i].ID] {
				at[i].state = Pending
			}
		}
	}
	return Graph{max: g.max, plan: p, at: at}, nil
}

// draft collects the tasks of a plan to be and every reason against it.
type draft struct {
	g       Graph
	tasks   []Task
	index   map[ID]int // in tasks
	revised map[ID]bool
	reasons []*fault.Error
}

func newDraft(g Graph, more int) *draft {
	d := &draft{g: g, index: make(map[ID]int, g.Len()+more), tasks: make([]Task, 0, g.Len()+more)}
	if g.plan != nil {
		d.tasks = append(d.tasks, g.plan.tasks...)
		for i := range d.tasks {
			d.index[d.tasks[i].ID] = i
		}
	}
	return d
}

func (d *draft) reject(code fault.Code, id ID, kv ...any) {
	d.reasons = append(d.reasons, fault.New(code, append([]any{"id", shown(id)}, kv...)...))
}

func (d *draft) add(t Task) {
	d.check(t)
	if _, taken := d.index[t.ID]; taken {
		if i, old := d.g.find(t.ID); old && d.g.at[i].state == Completed {
			d.reject(CodeCompleted, t.ID)
			return
		}
		d.repeat(t)
		return
	}
	d.index[t.ID] = len(d.tasks)
	d.tasks = append(d.tasks, t)
}

// repeat rejects a second task of one id. Its dependencies are judged all the same, so that the reasons do not depend on
// which of the two came first.
func (d *draft) repeat(t Task) {
	d.reject(CodeDuplicate, t.ID)
	first := &d.tasks[d.index[t.ID]]
	first.After = append(slices.Clone(first.After), t.After...)
}

func (d *draft) revise(tasks []Task) {
	d.revised = make(map[ID]bool, len(tasks))
	for _, t := range tasks {
		t = t.clone()
		d.check(t)
		if !d.open(t.ID) {
			continue
		}
		if d.revised[t.ID] {
			d.repeat(t)
			continue
		}
		d.revised[t.ID] = true
		d.tasks[d.index[t.ID]] = t
	}
}

func (d *draft) depend(deps []Dependency) {
	for _, dep := range deps {
		if _, added := d.index[dep.Task]; added && !d.isOld(dep.Task) || d.open(dep.Task) {
			t := &d.tasks[d.index[dep.Task]]
			t.After = append(slices.Clone(t.After), dep.On)
		}
	}
}

func (d *draft) isOld(id ID) bool { _, ok := d.g.find(id); return ok }

// open reports that id is an old Planner Task whose plan may change, and says why when it is not.
func (d *draft) open(id ID) bool {
	i, ok := d.g.find(id)
	switch {
	case !ok:
		d.reject(CodeUnknown, id)
	case d.g.at[i].state == Completed:
		d.reject(CodeCompleted, id)
	case d.g.at[i].state == Running:
		d.reject(CodeRunning, id)
	default:
		return true
	}
	return false
}

// check judges one task for itself.
func (d *draft) check(t Task) {
	if !validID(t.ID) {
		d.reject(CodeBadID, t.ID)
	}
	if strings.TrimSpace(t.Title) == "" || !validText(t.Title) {
		d.reject(CodeBadText, t.ID, "field", "title", "limit", MaxTextBytes)
	}
	budget := t.Class.Tokens()
	if budget == 0 {
		d.reject(CodeClass, t.ID, "class", shown(ID(t.Class)), "known", knownClasses())
		budget = classes[len(classes)-1].Tokens()
	}
	if e := t.Estimate; !e.valid(budget) {
		d.reject(CodeEstimate, t.ID, "o", e.O, "m", e.M, "p", e.P, "budget", budget)
	}
	if len(t.Expects) > MaxExpects {
		d.reject(CodeExpects, t.ID, "count", len(t.Expects), "limit", MaxExpects)
	}
	for _, x := range t.Expects {
		if x.Kind == "" || !validText(x.Kind) || !validText(x.Path) || !validText(x.Alias) {
			d.reject(CodeBadText, t.ID, "field", "expects", "limit", MaxTextBytes)
			break
		}
	}
}

// plan judges the tasks together: their number, dangling dependencies, cycles.
func (d *draft) plan() (p *plan, sorted []int) {
	if n, limit := len(d.tasks), d.g.MaxTasks(); n > limit {
		d.reasons = append(d.reasons, fault.New(CodeTooMany, "count", n, "limit", limit))
	}
	p = &plan{tasks: d.tasks, index: d.index}
	if byID := func(a, b Task) int { return cmp.Compare(a.ID, b.ID) }; !slices.IsSortedFunc(p.tasks, byID) {
		slices.SortFunc(p.tasks, byID)
		for i := range p.tasks {
			p.index[p.tasks[i].ID] = i
		}
	}
	for i := range p.tasks {
		t := &p.tasks[i]
		if !slices.IsSorted(t.After) {
			slices.Sort(t.After)
		}
		t.After = slices.Compact(t.After)
	}
	p.deps, p.next = link(p.tasks, p.index, func(id, on ID) { d.reject(CodeDangling, id, "dependency", shown(on)) })
	sorted, rest := order(p.deps, p.next)
	for _, path := range cycles(p, rest) {
		d.reasons = append(d.reasons, fault.New(CodeCycle, "path", path))
	}
	return p, sorted
}

func validID(id ID) bool {
	if id == "" || len(id) > MaxIDBytes {
		return false
	}
	for i := range len(id) {
		c := id[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

// validText accepts text a person and a terminal can take: UTF-8, bounded, no control characters but tab and newline.
func validText(s string) bool {
	if len(s) > MaxTextBytes || !utf8.ValidString(s) {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' })
}

// shown makes a name that may be anything fit for a message.
func shown(id ID) string {
	s := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(string(id), string(utf8.RuneError)))
	if r := []rune(s); len(r) > MaxIDBytes {
		return string(r[:MaxIDBytes]) + "…"
	}
	return s
}
