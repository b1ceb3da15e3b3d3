package agent

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/core/prompt"
	"github.com/agent-mcp/agent-mcp/core/session"
	"github.com/agent-mcp/agent-mcp/core/tool"
)

// slashed is a clean path with forward slashes.
func slashed(p string) string {
	if p == "" {
		return ""
	}
	return path.Clean(strings.ReplaceAll(p, `\`, "/"))
}

// effect files one observed effect.
func (m *machine) effect(e tool.Effect) {
	e.Diff = "" // for people; a Session keeps no content
	m.work.Effects = last(push(m.work.Effects, e), maxEvidence)
	if e.Mutates() {
		m.work.Mutating++
	}
	if e.Kind == tool.EffectRan {
		m.blind = true
	}
	m.look(e)
	p := slashed(e.Path)
	switch e.Kind {
	case tool.EffectCreated, tool.EffectChanged, tool.EffectMadeDir:
		m.put(p, e.SHA256, e.Before)
	case tool.EffectRemoved:
		m.drop(p, e.Before, false)
	case tool.EffectMoved:
		was := e.Before
		for _, f := range m.files {
			if f.Path == p && was == "" {
				was = f.SHA
			}
		}
		m.blind = m.blind || was == "" // what came to the new name is not known
		m.drop(p, was, true)
		m.put(slashed(e.Dest), was, "")
	}
}

// put notes that a path has this content now. was is what it had before, where that is known.
func (m *machine) put(p, sha, was string) {
	m.files = slices.Clone(m.files)
	for i := range m.files {
		f := &m.files[i]
		if f.Path != p {
			continue
		}
		if f.By != m.current {
			f.Base, f.By = f.SHA, m.current
			if f.Gone {
				f.Base = "" // it was not there when this Planner Task began
			}
		}
		f.SHA, f.Gone, f.Away = sha, false, false
		f.New = f.New || sha != f.Orig
		return
	}
	if g, ok := m.glimpsed(p); ok {
		was = g.SHA256
	}
	m.files = last(append(m.files, file{Path: p, SHA: sha, Base: was, Orig: was, New: sha != was || sha == "", By: m.current}), maxFiles)
}

// drop notes that a path, and all below it, is gone; was is its last content where that is known, away says that it was moved.
func (m *machine) drop(p, was string, away bool) {
	m.files = slices.Clone(m.files)
	known := false
	for i := range m.files {
		if f := &m.files[i]; f.Path == p || strings.HasPrefix(f.Path, p+"/") {
			f.Gone, f.Away, f.By = true, away, m.current
			known = known || f.Path == p
		}
	}
	if known {
		return
	}
	if g, ok := m.glimpsed(p); ok {
		was = g.SHA256
	}
	m.files = last(append(m.files, file{Path: p, SHA: was, Base: was, Orig: was, By: m.current, Gone: true, Away: away}), maxFiles)
}

// effects writes effects as lines for the model and for the evidence.
func effects(list []tool.Effect) string {
	var b strings.Builder
	for _, e := range list {
		switch e.Kind {
		case tool.EffectRan:
			name := e.Alias
			if name == "" {
				name = e.Path
			}
			fmt.Fprintf(&b, "- ran %s: exit code %d", prompt.Short(name, 200), e.Exit)
			if e.End != "" && e.End != "exited" {
				b.WriteString(" (" + e.End + ")")
			}
			b.WriteByte('\n')
		case tool.EffectMoved:
			fmt.Fprintf(&b, "- moved %s to %s\n", prompt.Short(e.Path, 200), prompt.Short(e.Dest, 200))
		default:
			fmt.Fprintf(&b, "- %s %s\n", strings.ReplaceAll(string(e.Kind), "_", " "), prompt.Short(e.Path, 200))
		}
	}
	return b.String()
}

// evidence writes the newest Execution Results as lines.
func evidence(results []session.Result, limit int) string {
	var b strings.Builder
	for _, r := range last(results, limit) {
		fmt.Fprintf(&b, "%s (%s):\n", prompt.Short(r.Title, 200), r.State)
		b.WriteString(effects(last(r.Evidence, 20)))
	}
	return b.String()
}
