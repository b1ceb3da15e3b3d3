package plan

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/agent-mcp/agent-mcp/core/prompt"
	"github.com/agent-mcp/agent-mcp/core/taskgraph"
)

// floorClass is the least Token Budget Class: smaller ones do not hold the calls of any task that acts.
const floorClass = taskgraph.Class("8K")

// Rules is what the repair may know besides the drafts.
type Rules struct {
	Request string
	Max     int            // Planner Tasks in this plan, at least 1
	Aliases []string       // what may be run by name
	Reopen  []taskgraph.ID // completed tasks whose effects are gone again: a draft that names one means a new task

	old   map[taskgraph.ID][]string // unfinished tasks that this plan does not mention, with what they wait for
	known map[taskgraph.ID]bool     // further ids that a dependency may name: completed tasks
}

// Repair turns drafts into tasks whose shape taskgraph accepts; it does not look for forbidden characters. It is
// deterministic and never asks anybody; each rule says what it did. The rules, in their order:
//
//	R1 no task           → one task with the request as its title, effects left open
//	R2 title, id         → a missing title is the id; ids keep A-Z a-z 0-9 . _ -, a missing one becomes t<n>
//	R3 duplicates        → an equal task is dropped; an equal id of another task gets -2, -3, …
//	R4 too many          → the first max-1 stay, the rest becomes one task that expects all that they expected
//	R5 dangling          → a dependency on an unknown task or on itself is dropped; a title may stand for an id
//	R6 cycles            → dependencies are taken in the order given; one that would close a cycle is dropped
//	R7 estimates         → missing O, M, P come from what is there, else from the class; then they are sorted
//	R8 class             → at least 8K, and at least the smallest that holds P; P is cut at the largest class
//	R9 effects           → a file whose removal the title names is expected removed, not changed; a program that nobody approved stands for any program; an action title without expected effects
//	                       is left open, so that words alone do not complete it at once
func Repair(drafts []Draft, r Rules) (tasks []taskgraph.Task, did []string) {
	say := func(rule, format string, args ...any) {
		did = append(did, rule+" "+fmt.Sprintf(format, args...))
	}
	if len(drafts) == 0 {
		say("R1", "no tasks")
		drafts = One(r.Request)
	}
	names := map[string]string{} // what a dependency may say → id
	drafts = identify(drafts, r, names, say)
	if len(drafts) > max(r.Max, 1) {
		say("R4", "%d tasks, at most %d", len(drafts), r.Max)
		drafts = merge(drafts, max(r.Max, 1), names)
	}
	connect(drafts, r, names, say)
	for _, d := range drafts {
		tasks = append(tasks, price(d, r, say))
	}
	return tasks, did
}

type sayer func(rule, format string, args ...any)

// identify does R2 and R3. A later task never takes the id of an earlier one.
func identify(drafts []Draft, r Rules, names map[string]string, say sayer) []Draft {
	var out []Draft
	taken := map[string]bool{}
	for id := range r.old {
		names[string(id)] = string(id)
	}
	for id := range r.known {
		names[string(id)] = string(id)
	}
	for i, d := range drafts {
		given := d.id
		d.title = prompt.Short(d.title, 400)
		if d.id = cleanID(d.id); d.id == "" {
			d.id = fmt.Sprintf("t%d", i+1)
			say("R2", "id %s", d.id)
		}
		if prompt.Reveals(d.title) { // titles are shown to people
			d.title = ""
		}
		if d.title == "" {
			d.title = d.id
			say("R2", "title of %s", d.id)
		}
		same := func(o Draft) bool {
			return o.title == d.title && slices.Equal(o.expects, d.expects) && slices.Equal(o.after, d.after)
		}
		if k := slices.IndexFunc(out, same); k >= 0 {
			say("R3", "%s repeats %s", d.id, out[k].id)
			if given != "" && names[given] == "" {
				names[given] = out[k].id
			}
			continue
		}
		if taken[d.id] {
			base := d.id
			for n := 2; taken[d.id]; n++ {
				d.id = fmt.Sprintf("%s-%d", base[:min(len(base), 56)], n)
			}
			say("R3", "%s twice, now %s", base, d.id)
		}
		taken[d.id] = true
		for _, n := range []string{given, d.id, strings.ToLower(d.title)} {
			if n != "" && (names[n] == "" || n == d.id) {
				names[n] = d.id
			}
		}
		out = append(out, d)
	}
	return out
}

func cleanID(s string) string {
	var b strings.Builder
	for _, c := range strings.TrimSpace(s) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '_', c == '-':
			b.WriteRune(c)
		case unicode.IsSpace(c):
			b.WriteByte('-')
		}
	}
	id := b.String()
	return id[:min(len(id), 60)]
}

// merge does R4.
func merge(drafts []Draft, limit int, names map[string]string) []Draft {
	keep, rest := slices.Clone(drafts[:limit-1]), drafts[limit-1:]
	all := rest[0]
	all.after, all.expects = slices.Clone(all.after), slices.Clone(all.expects)
	titles := []string{all.title}
	for _, d := range rest[1:] {
		titles = append(titles, d.title)
		all.after = append(all.after, d.after...)
		all.expects = append(all.expects, d.expects...)
		all.o, all.m, all.p = all.o+d.o, all.m+d.m, all.p+d.p
		all.declared = all.declared && d.declared
		for _, n := range []string{d.id, strings.ToLower(d.title)} {
			names[n] = all.id
		}
	}
	all.title = prompt.Short(strings.Join(titles, "; "), 400)
	all.expects = all.expects[:min(len(all.expects), taskgraph.MaxExpects)]
	return append(keep, all)
}

// connect does R5 and R6, over the new tasks and the old ones that stay.
func connect(drafts []Draft, r Rules, names map[string]string, say sayer) {
	edges := map[string][]string{}
	for id, after := range r.old {
		edges[string(id)] = after
	}
	for i := range drafts {
		d := &drafts[i]
		var after []string
		for _, a := range d.after {
			id := names[a]
			if id == "" {
				id = names[cleanID(a)]
			}
			if id == "" {
				id = names[strings.ToLower(strings.TrimSpace(a))]
			}
			switch {
			case id == "" || id == d.id:
				say("R5", "%s on %s", d.id, prompt.Short(a, 40))
			case slices.Contains(after, id):
			case reaches(edges, id, d.id):
				say("R6", "%s on %s", d.id, id)
			default:
				after = append(after, id)
				edges[d.id] = after
			}
		}
		d.after = after
	}
}

// reaches reports a path along dependencies from one task to another.
func reaches(edges map[string][]string, from, to string) bool {
	seen, stack := map[string]bool{}, []string{from}
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if at == to {
			return true
		}
		if !seen[at] {
			seen[at] = true
			stack = append(stack, edges[at]...)
		}
	}
	return false
}

// price does R7, R8 and R9.
func price(d Draft, r Rules, say sayer) taskgraph.Task {
	t := taskgraph.Task{ID: taskgraph.ID(d.id), Title: d.title}
	for _, a := range d.after {
		t.After = append(t.After, taskgraph.ID(a))
	}
	class := taskgraph.Class(strings.ToUpper(strings.TrimSpace(d.class)))
	e := taskgraph.Estimate{O: d.o, M: d.m, P: d.p}
	if e.O <= 0 || e.M <= 0 || e.P <= 0 {
		say("R7", "%s", d.id)
		e = fill(e, class.Tokens())
	}
	if v := []int64{e.O, e.M, e.P}; !slices.IsSorted(v) {
		say("R7", "%s sorted", d.id)
		slices.Sort(v)
		e = taskgraph.Estimate{O: v[0], M: v[1], P: v[2]}
	}
	all := taskgraph.Classes()
	top := all[len(all)-1].Tokens()
	e.O, e.M, e.P = min(e.O, top), min(e.M, top), min(e.P, top)
	least, _ := taskgraph.ClassFor(max(e.P, floorClass.Tokens()))
	if class.Tokens() < least.Tokens() {
		if d.class != "" {
			say("R8", "%s %s to %s", d.id, prompt.Short(d.class, 10), least)
		}
		class = least
	}
	t.Class, t.Estimate = class, e
	t.Expects, t.Action = effectsOf(d, r, say)
	return t
}

// fill makes up what an estimate lacks.
func fill(e taskgraph.Estimate, budget int64) taskgraph.Estimate {
	if budget == 0 {
		budget = 4096
	}
	if e.M <= 0 {
		switch {
		case e.O > 0 && e.P > 0:
			e.M = (e.O + e.P) / 2
		case e.O > 0:
			e.M = e.O * 2
		case e.P > 0:
			e.M = max(e.P/2, 1)
		default:
			e.M = budget / 2
		}
	}
	if e.O <= 0 {
		e.O = max(e.M/2, 1)
	}
	if e.P <= 0 {
		e.P = max(e.M*3/2, e.M+1)
	}
	return e
}

// effectsOf does R9.
func effectsOf(d Draft, r Rules, say sayer) (out []taskgraph.Expect, action bool) {
	for _, e := range d.expects {
		e.Path, e.Alias = prompt.Short(e.Path, 1000), prompt.Short(e.Alias, 200)
		if e.Exit < 0 || e.Exit > 255 {
			e.Exit = 0
		}
		if e.Kind == Process && e.Alias != "" {
			word := strings.Fields(e.Alias)[0]
			known := slices.ContainsFunc(r.Aliases, func(a string) bool { return strings.EqualFold(a, word) })
			switch {
			case known, strings.ContainsAny(word, `/\`):
				e.Alias = word
			default:
				say("R9", "%s: %s stands for any program", d.id, prompt.Short(path.Base(word), 40))
				e.Alias = ""
			}
		}
		if e.Kind == File && Removes(d.title, e.Path) {
			say("R9", "%s: %s removed", d.id, prompt.Short(path.Base(e.Path), 40))
			e.Kind = Removed
		}
		if !slices.Contains(out, e) && len(out) < taskgraph.MaxExpects {
			out = append(out, e)
		}
	}
	if len(out) > 0 {
		return out, true
	}
	if d.declared && !acts(d.title) {
		return []taskgraph.Expect{{Kind: None}}, false
	}
	if d.declared {
		say("R9", "%s: effects left open", d.id)
	}
	return nil, false
}
