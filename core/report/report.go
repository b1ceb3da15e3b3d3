package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/agent-mcp/agent-mcp/core/guard"
	"github.com/agent-mcp/agent-mcp/core/session"
	"github.com/agent-mcp/agent-mcp/core/taskgraph"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
	"github.com/agent-mcp/agent-mcp/ports/text"
)

// Task is everything a report tells.
type Task struct {
	TaskID, SessionID   string
	Model               string
	Began, Ended        time.Time
	Request             string
	State               string // in the owner's language
	Plan                taskgraph.View
	Steps               []Step // in their order
	Dropped             int    // steps that MaxSteps left out
	Iterations, Replans int
	Input, Output       int // tokens
	Fault               *fault.Error
	Answer              string
	Workspace           string // paths below it are shown without it
	Skills              Skills
	Look                []string // files that the owner's own tools will obey, one a line, in the owner's language
	Proof               []session.Proof
}

// Skills is what became of a selection of skills (SKL-04).
type Skills struct {
	Used    []string
	Unknown []string // selected, and there is no such skill
	Left    []string // could not be read, or had no room in the context
}

// Step is one Internal Tool call with what was observed.
type Step struct {
	PlannerTask string
	Call        tool.Call
	Result      tool.Result
	Took        time.Duration
}

// Bounds of one report.
const (
	MaxSteps     = 400
	maxBody      = 64 << 10 // request, answer
	maxDiffTotal = 256 << 10
	maxShownArgs = 200 // runes of a command line
)

// Texts.
const (
	keyTitle    text.Key = "report.title"       // state
	keyIDs      text.Key = "report.ids"         // task, session
	keyTime     text.Key = "report.time"        // began, ended, took
	keyModel    text.Key = "report.model"       // model
	keyTokens   text.Key = "report.tokens"      // input, output, iterations, replans
	keyFault    text.Key = "report.fault"       // code, message
	keyRequest  text.Key = "report.request"     //
	keyPlan     text.Key = "report.plan"        //
	keyPlanHead text.Key = "report.planhead"    // the table's header: step, title, planned, used
	keyDone     text.Key = "report.done"        //
	keyNothing  text.Key = "report.nothing"     //
	keyDropped  text.Key = "report.dropped"     // count
	keyOK       text.Key = "report.ok"          //
	keyFailed   text.Key = "report.step_failed" // code
	keyDenied   text.Key = "report.denied"      // code
	keyExit     text.Key = "report.exit"        // code
	keyEnd      text.Key = "report.end"         // end
	keyRefused  text.Key = "report.refused"     //
	keyAnswer   text.Key = "report.answer"      //
	keyHidden   text.Key = "report.hidden"      // a line that looks like a credential
	keyCut      text.Key = "report.cut"         // bytes
	keyObserved text.Key = "report.observed"    //
	keyUnproven text.Key = "report.unobserved"  // words only: nothing had to be observed
	keyStopped  text.Key = "report.refusals"    // count: accesses of a program that the policy refused
	keyNoDiff   text.Key = "report.diff_hidden" // the file holds credentials
	keyNoRoom   text.Key = "report.diff_left"   // the differences before it took all the room
	keySkills   text.Key = "report.skills"      // names
	keyNoSkill  text.Key = "report.no_skill"    // names
	keyNoSpace  text.Key = "report.skills_left" // names
	keyLook     text.Key = "report.look"        //

	keyCreated  text.Key = "effect.created"  // path
	keyChanged  text.Key = "effect.changed"  // path
	keyRemoved  text.Key = "effect.removed"  // path
	keyMoved    text.Key = "effect.moved"    // path, dest
	keyMadeDir  text.Key = "effect.made_dir" // path
	keyRan      text.Key = "effect.ran"      // program, code
	keyRanEnded text.Key = "effect.ended"    // program, end
	keyEffects  text.Key = "effect.more"     // count
)

// Markdown writes the report in the catalogue's language.
func Markdown(cat text.Catalog, t Task) string {
	w := &writer{cat: cat, room: maxDiffTotal}
	w.head(t)
	w.section(keyRequest)
	w.block("", t.Request)
	if len(t.Plan.Tasks) > 0 {
		w.plan(t.Plan)
	}
	w.section(keyDone)
	w.steps(t)
	w.proof(t)
	w.refusals(t.Steps)
	w.look(t.Look)
	if t.Answer != "" {
		w.section(keyAnswer)
		w.block("", t.Answer)
	}
	return w.out.String()
}

type writer struct {
	out  strings.Builder
	cat  text.Catalog
	room int // bytes of differences left
}

func (w *writer) say(key text.Key, kv ...any) string {
	args := map[string]any{}
	for i := 0; i+1 < len(kv); i += 2 {
		args[fmt.Sprint(kv[i])] = kv[i+1]
	}
	return w.cat.Text(key, args)
}

func (w *writer) section(key text.Key) { w.out.WriteString("\n## " + w.say(key) + "\n\n") }

func (w *writer) item(s string) { w.out.WriteString("- " + s + "\n") }

func (w *writer) head(t Task) {
	w.out.WriteString("# " + w.say(keyTitle, "state", t.State) + "\n\n")
	w.item(w.say(keyIDs, "task", code(t.TaskID), "session", code(t.SessionID)))
	w.item(w.say(keyTime, "began", t.Began.UTC().Format(time.RFC3339), "ended", t.Ended.UTC().Format(time.RFC3339), "took", Lasted(w.cat, t.Ended.Sub(t.Began))))
	w.item(w.say(keyModel, "model", code(t.Model)))
	w.item(w.say(keyTokens, "input", t.Input, "output", t.Output, "iterations", t.Iterations, "replans", t.Replans))
	for _, k := range []struct {
		key   text.Key
		names []string
	}{{keySkills, t.Skills.Used}, {keyNoSkill, t.Skills.Unknown}, {keyNoSpace, t.Skills.Left}} {
		if len(k.names) > 0 {
			w.item(w.say(k.key, "names", w.inline(strings.Join(k.names, ", "))))
		}
	}
	if t.Fault != nil {
		w.item(w.say(keyFault, "code", code(string(t.Fault.Code)), "message", w.inline(w.cat.Fault(t.Fault))))
	}
}

func (w *writer) plan(p taskgraph.View) {
	w.section(keyPlan)
	w.out.WriteString(w.say(keyPlanHead) + "\n| --- | --- | ---: | ---: |\n")
	for _, n := range p.Tasks {
		fmt.Fprintf(&w.out, "| %s %s | %s | %d | %d |\n", mark(n.State), code(string(n.ID)), strings.ReplaceAll(w.inline(n.Title), "|", `\|`),
			n.Class.Tokens(), n.Usage.Input+n.Usage.Output)
	}
}

func mark(s taskgraph.State) string {
	switch s {
	case taskgraph.Completed:
		return "✓"
	case taskgraph.Failed:
		return "✗"
	}
	return "–"
}

func (w *writer) steps(t Task) {
	if len(t.Steps) == 0 {
		w.out.WriteString(w.say(keyNothing) + "\n")
		return
	}
	titles := map[string]string{}
	for _, n := range t.Plan.Tasks {
		titles[string(n.ID)] = n.Title
	}
	last := ""
	for i, s := range t.Steps {
		if s.PlannerTask != last || i == 0 {
			last = s.PlannerTask
			if title := w.inline(titles[last]); title != "" {
				w.out.WriteString("\n### " + title + "\n\n")
			}
		}
		w.step(s)
	}
	if t.Dropped > 0 {
		w.item(w.say(keyDropped, "count", t.Dropped))
	}
}

// proof tells what the Planner Tasks are believed for (AGT-04).
func (w *writer) proof(t Task) {
	if len(t.Proof) == 0 {
		return
	}
	w.section(keyObserved)
	for _, p := range t.Proof {
		title := string(p.ID)
		for _, n := range t.Plan.Tasks {
			if n.ID == p.ID {
				title = n.Title
			}
		}
		w.item(w.inline(title))
		for _, e := range p.Effects {
			line := Effect(w.cat, t.Workspace, e)
			sum := ""
			if len(e.SHA256) >= 12 && !strings.HasPrefix(e.SHA256, "state:") {
				sum = " (SHA-256 " + e.SHA256[:12] + "…)"
			}
			w.out.WriteString("  - " + w.inline(line) + sum + "\n")
		}
		switch {
		case p.More > 0:
			w.out.WriteString("  - " + w.say(keyEffects, "count", p.More) + "\n")
		case len(p.Effects) == 0:
			w.out.WriteString("  - " + w.say(keyUnproven) + "\n")
		}
	}
}

// Effect says one observed effect in the catalogue's language. Paths below the workspace are shown without it.
func Effect(cat text.Catalog, workspace string, e tool.Effect) string {
	short := func(p string) string {
		if rest, ok := strings.CutPrefix(p, strings.TrimSuffix(workspace, "/")+"/"); ok && workspace != "" {
			p = rest
		}
		return strings.Join(strings.Fields(guard.Plain(p)), " ")
	}
	keys := map[tool.EffectKind]text.Key{
		tool.EffectCreated: keyCreated, tool.EffectChanged: keyChanged, tool.EffectRemoved: keyRemoved, tool.EffectMoved: keyMoved, tool.EffectMadeDir: keyMadeDir,
	}
	if key := keys[e.Kind]; key != "" {
		return cat.Text(key, map[string]any{"path": short(e.Path), "dest": short(e.Dest)})
	}
	name := e.Alias
	if name == "" {
		name = short(e.Path)
	}
	if e.End != "" && e.End != "exited" {
		return cat.Text(keyRanEnded, map[string]any{"program": name, "end": sandbox.End(e.End).Word()})
	}
	return cat.Text(keyRan, map[string]any{"program": name, "code": e.Exit})
}

// step is one line, and the difference it made.
func (w *writer) step(s Step) {
	end := w.outcome(s)
	if n := s.Result.Refused; n > 0 && !s.Result.Denied {
		end += ", " + w.say(keyStopped, "count", n)
	}
	w.item(w.verb(s.Call.Name) + " " + w.subject(s.Call) + " — " + end)
	for _, e := range s.Result.Effects {
		switch {
		case e.Diff == "":
		case secretFile(e.Path):
			w.out.WriteString("  " + w.say(keyNoDiff) + "\n")
		case len(e.Diff) > w.room:
			w.out.WriteString("  " + w.say(keyNoRoom) + "\n")
		default:
			w.room -= len(e.Diff)
			w.block("diff", e.Diff)
		}
	}
}

// look lists the files that the owner must look at before running programs of their own.
func (w *writer) look(lines []string) {
	for i, l := range lines {
		if i == 0 {
			w.section(keyLook)
		}
		w.item(w.inline(l))
	}
}

func (w *writer) subject(c tool.Call) string {
	switch {
	case c.Name == tool.Run:
		line := []rune(strings.Join(append([]string{c.Alias}, c.Args...), " "))
		if len(line) > maxShownArgs {
			line = append(line[:maxShownArgs], '…')
		}
		return w.codeOf(string(line))
	case c.Dest != "":
		return w.codeOf(c.Path) + " → " + w.codeOf(c.Dest)
	case c.Pattern != "":
		return w.codeOf(c.Pattern) + " " + w.codeOf(c.Path)
	}
	return w.codeOf(c.Path)
}

func (w *writer) outcome(s Step) string {
	r := s.Result
	switch {
	case r.Denied:
		return w.say(keyDenied, "code", code(string(r.Fault.Code)))
	case r.Fault != nil:
		return w.say(keyFailed, "code", code(string(r.Fault.Code)))
	}
	for _, e := range r.Effects {
		if e.Kind != tool.EffectRan {
			continue
		}
		took := ""
		if s.Took >= time.Second {
			took = " (" + Lasted(w.cat, s.Took) + ")"
		}
		if e.Exit >= 0 {
			return w.say(keyExit, "code", e.Exit) + took
		}
		return w.say(keyEnd, "end", sandbox.End(e.End).Word()) + took
	}
	return w.say(keyOK)
}

// refusals lists what the owner's policy refused, once each.
func (w *writer) refusals(steps []Step) {
	seen := map[string]bool{}
	for _, s := range steps {
		if !s.Result.Denied {
			continue
		}
		line := w.verb(s.Call.Name) + " " + w.subject(s.Call) + " — " + w.inline(w.cat.Fault(s.Result.Fault))
		if seen[line] {
			continue
		}
		if len(seen) == 0 {
			w.section(keyRefused)
		}
		seen[line] = true
		w.item(line)
	}
}
