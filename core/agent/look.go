package agent

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/core/guard"
	"github.com/agent-mcp/agent-mcp/core/plan"
	"github.com/agent-mcp/agent-mcp/core/session"
	"github.com/agent-mcp/agent-mcp/core/tool"
)

// When a Look was asked for.
const (
	lookBefore = "before" // work on a plan begins, or goes on after a change of it
	lookAfter  = "after"  // something is reported, and a program ran since the files were last looked at, or it names others
	lookEnd    = "end"    // the closing words name files that nobody saw
)

// maxLook bounds the paths of one Look.
const maxLook = 128

// glimpse is how a path was found when it began to matter.
type glimpse struct {
	Asked string
	tool.Seen
}

// askLook asks for the state of paths.
func (m *machine) askLook(when string, paths []string) {
	m.want = want{ID: m.nextID("f"), Look: when}
	m.emit(Look{CallID: m.want.ID, PlannerTask: m.current, Paths: paths})
}

// found takes what was seen, and goes on with what waited for it.
func (m *machine) found(seen []tool.Seen) {
	if m.want.Look == lookBefore {
		m.base = slices.Clone(m.base)
		for i, asked := range m.unseen() {
			g := glimpse{Asked: asked}
			if i < len(seen) {
				g.Seen = seen[i]
			}
			m.base = append(m.base, g)
		}
		m.startNext()
		return
	}
	when, said := m.want.Look, m.said
	m.absent = nil
	for _, s := range seen {
		if s.Known && !s.Exists {
			m.absent = append(m.absent, slashed(s.Path))
		}
		if when == lookAfter {
			m.reconcile(s)
		}
	}
	m.said = ""
	if when == lookEnd {
		m.want.Phase = PhaseFinish
		m.closeSeen(said)
		return
	}
	m.blind = false
	m.judgeSeen(said)
}

// claimed are the places of files that words say were made, and of which nothing is known.
func (m *machine) claimed(words string) (out []string) {
	for _, n := range guard.Claimed(words) {
		if m.backed(n) {
			continue
		}
		for _, p := range m.places(n) {
			if len(out) < maxLook && !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	return out
}

// unbacked are the files that words say were made, and that are not there. What could not be looked at is not among them.
func (m *machine) unbacked(words string) (out []string) {
	for _, n := range guard.Claimed(words) {
		places := m.places(n)
		gone := len(places) > 0 && !slices.ContainsFunc(places, func(p string) bool { return !slices.Contains(m.absent, p) })
		if gone && !m.backed(n) {
			out = append(out, n)
		}
	}
	return out
}

// backed reports that a file of this name was observed in this Task or Session, wherever it is.
func (m *machine) backed(name string) bool {
	base := path.Base(slashed(name))
	same := func(p string) bool { return strings.EqualFold(path.Base(slashed(p)), base) }
	return slices.ContainsFunc(m.files, func(f file) bool { return !f.Gone && same(f.Path) }) ||
		slices.ContainsFunc(m.work.Effects, func(e tool.Effect) bool { return e.Kind == tool.EffectRead && same(e.Path) }) ||
		slices.ContainsFunc(m.setup.Memory.Results, func(r session.Result) bool {
			return slices.ContainsFunc(r.Evidence, func(e tool.Effect) bool { return same(e.Path) || same(e.Dest) })
		})
}

// places are where a path of a plan or of a request may be, in the order of likelihood: below the workspace, below a mount
// that it names, or where it says.
func (m *machine) places(planned string) (out []string) {
	p := slashed(planned)
	add := func(s string) {
		if s != "" && s != "." && s != "/" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	set := m.setup.Settings
	ws := slashed(set.Workspace)
	absolute := strings.HasPrefix(p, "/") || len(p) > 1 && p[1] == ':'
	switch {
	case p == "":
		return nil
	case strings.HasPrefix(p, "/workspace/"):
		add(path.Join(ws, strings.TrimPrefix(p, "/workspace/")))
	case strings.HasPrefix(p, "/") && strings.Count(p, "/") == 1:
		add(path.Join(ws, p))
	case !absolute:
		add(path.Join(ws, p))
		if ws != "" {
			if rest, ok := strings.CutPrefix(p, path.Base(ws)+"/"); ok {
				add(path.Join(ws, rest))
			}
		}
		for _, mt := range set.Mounts {
			if rest, ok := strings.CutPrefix(p, mt.Name+"/"); ok {
				add(path.Join(slashed(mt.Path), rest))
			}
		}
	}
	if absolute {
		add(p)
	}
	return out
}

// mattering are the places of every file that the plan expects or the request names.
func (m *machine) mattering() (out []string) {
	add := func(planned string) {
		for _, p := range m.places(planned) {
			if !slices.Contains(out, p) && len(out) < maxLook {
				out = append(out, p)
			}
		}
	}
	for _, t := range m.graph.View().Tasks {
		for _, e := range t.Expects {
			if e.Kind == plan.File || e.Kind == plan.Removed {
				add(e.Path)
			}
		}
	}
	for _, n := range guard.Names(m.setup.Request) {
		add(n)
	}
	return out
}

// unseen are the places that matter and were not looked at yet.
func (m *machine) unseen() []string {
	return slices.DeleteFunc(m.mattering(), func(p string) bool {
		return slices.ContainsFunc(m.base, func(g glimpse) bool { return g.Asked == p })
	})
}

// touched are the places to look at before a report is believed: those that matter, and every file that was made or changed
// in this Task, the newest first.
func (m *machine) touched() []string {
	out := m.mattering()
	for _, f := range slices.Backward(m.files) {
		if len(out) < maxLook && !slices.Contains(out, f.Path) {
			out = append(out, f.Path)
		}
	}
	return out
}

// glimpsed is how a path was when it began to matter. What a program did before to a path that only a later plan
// names, nobody saw.
func (m *machine) glimpsed(p string) (glimpse, bool) {
	i := slices.IndexFunc(m.base, func(g glimpse) bool { return g.Known && slashed(g.Path) == p })
	if i < 0 {
		return glimpse{}, false
	}
	return m.base[i], true
}

// reconcile turns the difference between what is known of a path and how it was found into an observed effect: whatever made
// it, a program or something that it left running.
func (m *machine) reconcile(s tool.Seen) {
	if !s.Known {
		return
	}
	p := slashed(s.Path)
	e := tool.Effect{Path: s.Path, SHA256: s.SHA256}
	if i := slices.IndexFunc(m.files, func(f file) bool { return f.Path == p }); i >= 0 {
		switch f := m.files[i]; {
		case f.Gone && s.Exists:
			e.Kind = tool.EffectCreated
		case !f.Gone && !s.Exists:
			e.Kind, e.SHA256, e.Before = tool.EffectRemoved, "", f.SHA
		case s.Exists && f.SHA == "":
			m.files = slices.Clone(m.files)
			m.files[i].SHA = s.SHA256 // a move brought it there
		case s.Exists && f.SHA != s.SHA256:
			e.Kind, e.Before = tool.EffectChanged, f.SHA
		}
	} else if g, ok := m.glimpsed(p); ok {
		switch {
		case !g.Exists && s.Exists:
			e.Kind = tool.EffectCreated
		case g.Exists && !s.Exists:
			e.Kind, e.SHA256, e.Before = tool.EffectRemoved, "", g.SHA256
		case s.Exists && g.SHA256 != s.SHA256:
			e.Kind, e.Before = tool.EffectChanged, g.SHA256
		}
	}
	if e.Kind != "" {
		m.effect(e)
	}
}

// known reports that the state of a path is known, so that a read of it adds nothing.
func (m *machine) known(p string) bool {
	_, ok := m.glimpsed(slashed(p))
	return ok || slices.ContainsFunc(m.files, func(f file) bool { return f.Path == slashed(p) })
}

// asBefore reports that a file, which nothing touched as far as is known, was there when it began to matter.
func (m *machine) asBefore(p string) bool {
	g, ok := m.glimpsed(slashed(p))
	return ok && g.Exists && !slices.ContainsFunc(m.files, func(f file) bool { return f.Path == slashed(p) })
}
