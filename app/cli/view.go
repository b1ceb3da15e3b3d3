package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
	"github.com/agent-mcp/agent-mcp/ports/service"
	"github.com/agent-mcp/agent-mcp/ports/text"
)

// screen renders one view.
type screen struct {
	page
	c text.Catalog
	v service.View
}

func (s *screen) t(key text.Key) string { return s.c.Text(key, nil) }

// word is a value of an enumeration as people read it; one that has no words is shown as it is.
func (s *screen) word(w text.Word) string {
	if w.Key == "" {
		return w.Plain
	}
	return s.t(w.Key)
}

// Show renders desired, resolved, applied and effective state with the whole permission matrix (CLI-03), in Columns.
func Show(v service.View, c text.Catalog, style Style) string {
	s := &screen{page: page{style: style}, c: c, v: v}
	s.head()
	s.filesystem()
	s.execution()
	s.network()
	s.enforcement()
	if v.Standing != service.Current || len(v.Changes) > 0 {
		s.difference()
	}
	s.tasks()
	s.faults(keyDrift, v.Drift, yellow)
	s.faults(keyProblems, v.Problems, red)
	s.faults(keyWarnings, v.Warnings, yellow)
	return s.b.String()
}

// Difference renders what `apply` asks about: one difference, then what the owner should know.
func Difference(v service.View, c text.Catalog, style Style) string {
	s := &screen{page: page{style: style}, c: c, v: v}
	s.pairs(0, [][2]string{{s.t(keyConfig), v.Config}, {s.t(keyLocal), orNone(v.Local)}, {s.t(keyState), s.t(standingKey(v.Standing))}})
	s.skills()
	s.difference()
	s.faults(keyWarnings, v.Warnings, yellow)
	return s.b.String()
}

// Warnings renders warnings alone, "" when there are none.
func Warnings(list []*fault.Error, c text.Catalog, style Style) string {
	s := &screen{page: page{style: style}, c: c}
	s.faults(keyWarnings, list, yellow)
	return s.b.String()
}

func orNone(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func (s *screen) head() {
	v := s.v
	applied := "-"
	if !v.AppliedAt.IsZero() {
		by := v.AppliedBy
		if by == "person" {
			by = s.t(keyByPerson)
		}
		applied = s.c.Text(keyBy, map[string]any{"at": v.AppliedAt.UTC().Format("2006-01-02 15:04:05 UTC"), "by": by})
	}
	s.pairs(0, [][2]string{
		{s.t(keyConfig), v.Config},
		{s.t(keyLocal), orNone(v.Local)},
		{s.t(keyState), s.t(standingKey(v.Standing))},
		{s.t(keyApplyState), applied},
		{s.t(keyStateDir), v.StateDir},
		{s.t(keyID), v.ID},
		{s.t(keyLanguage), v.Language},
		{s.t(keyTransport), strings.TrimSpace(s.word(service.Transport(v.Transport)) + " " + strings.Join(v.Endpoints, " "))},
		{s.t(keyModel), v.Model + "  " + v.Server},
		{s.t(keyHost), s.c.Text(keyHostLevel, map[string]any{"platform": v.Host.Platform, "level": fmt.Sprintf("L%d", v.Host.Level)})},
	})
	s.skills()
}

// skills lists every directory of skills with what was found in it.
func (s *screen) skills() {
	if len(s.v.Skills) == 0 {
		return
	}
	s.title(s.t(keySkills), "")
	for _, k := range s.v.Skills {
		s.text(2, "", k.Directory, "")
		names := strings.Join(k.Names, ", ")
		if names == "" {
			names = s.t(keyNoSkills)
		}
		s.text(4, "", names, "")
	}
}

// tasks lists the last Tasks with where their reports are.
func (s *screen) tasks() {
	if len(s.v.Tasks) == 0 {
		return
	}
	s.title(s.t(keyTasks), "")
	for _, k := range s.v.Tasks {
		s.text(2, "", k.Ended.UTC().Format("2006-01-02 15:04 UTC")+"  "+s.t(text.Key("state."+k.State))+"  "+k.Title, "")
		if k.Place != "" {
			s.text(4, "", k.Place, "")
		}
	}
}

// marks writes the rights in fixed places.
func marks(set rights.Set) string {
	b := []byte("----")
	for i, r := range []rights.Set{rights.Read, rights.Write, rights.Execute, rights.Delete} {
		if set.Has(r) {
			b[i] = "rwxd"[i]
		}
	}
	return string(b)
}

func (s *screen) filesystem() {
	s.title(s.t(keyFilesystem), s.t(keyLegend))
	rows := make([][]string, 0, len(s.v.Filesystem))
	for _, f := range s.v.Filesystem {
		name := f.Name
		switch f.Kind {
		case service.ItemRuntimeRoot, service.ItemCache:
			name = s.word(f.Kind.Word()) + " " + f.Name
		case service.ItemWorkspace, service.ItemSystem:
			name = s.word(f.Kind.Word())
		}
		path := f.Path
		switch {
		case path == "":
			path = f.Written + " (" + s.t(keyUnresolved) + ")"
		case path != f.Written:
			path += " (" + s.t(keyWritten) + " " + f.Written + ")"
		}
		rows = append(rows, []string{name, marks(f.Rights), path})
	}
	s.table([]string{s.t(keyName), s.t(keyRights), s.t(keyPath)}, rows)
}

func (s *screen) execution() {
	s.title(s.t(keyExecution), "")
	if len(s.v.Execution) == 0 {
		s.text(2, "", s.t(keyNoEntries), "")
	}
	for _, e := range s.v.Execution {
		kind, state, color := s.t(keyProgram), s.t(keyNotApproved), yellow
		if e.Shell {
			kind = s.t(keyShell)
		}
		if e.Approved {
			state, color = s.t(keyApproved), green
		}
		s.line("  " + pad(e.Alias, 16) + "  " + pad(kind, 12) + "  " + s.style.paint(color, state))
		rows := [][2]string{{s.t(keyPath), e.Path}}
		if e.Path == "" {
			rows[0][1] = s.t(keyUnresolved)
		}
		if e.Written != e.Path {
			rows = append(rows, [2]string{s.t(keyWritten), e.Written})
		}
		if e.SHA256 != "" {
			rows = append(rows, [2]string{"SHA-256", e.SHA256})
		}
		for _, i := range e.Interpreters {
			rows = append(rows, [2]string{s.t(keyInterpreter), i.Path}, [2]string{"SHA-256", i.SHA256})
		}
		if e.RuntimeRoot != "" {
			rows = append(rows, [2]string{s.t(keyRuntime), e.RuntimeRoot})
		}
		s.pairs(4, rows)
	}
}

// duration writes 30m0s as 30m.
func duration(d time.Duration) string {
	out := d.String()
	if strings.HasSuffix(out, "m0s") {
		out = strings.TrimSuffix(out, "0s")
	}
	if strings.HasSuffix(out, "h0m") {
		out = strings.TrimSuffix(out, "0m")
	}
	return out
}

func (s *screen) network() {
	s.title(s.t(keyNetwork), "")
	s.pairs(2, [][2]string{
		{s.t(keyMode), s.word(s.v.Network.Mode.Word())},
		{s.t(keyEndpoints), orNone(strings.Join(s.v.Network.Endpoints, ", "))},
	})
	r := s.v.Resources
	s.title(s.t(keyResources), "")
	s.pairs(2, [][2]string{
		{s.t(keyProfile), s.word(service.Limits(r.Profile))},
		{s.t(keyMemory), fmt.Sprintf("%d MiB", r.MemoryMiB)},
		{s.t(keyProcesses), fmt.Sprint(r.Processes)},
		{s.t(keyTimeout), duration(r.Timeout)},
		{s.t(keyRequire), s.word(r.Require.Word())},
	})
}

func (s *screen) enforcement() {
	s.title(s.t(keyEnforcement), fmt.Sprintf("L%d", s.v.Host.Level))
	var rows [][]string
	for _, item := range sandbox.Items() {
		a := s.v.Host.Ability(item)
		rows = append(rows, []string{s.word(item.Word()), s.word(a.Strength.Word()), orNone(a.Mechanism)})
	}
	s.table([]string{s.t(keyItem), s.t(keyStrength), s.t(keyMechanism)}, rows)
	s.faults(keyMissing, s.v.Host.Missing, "")
}

func (s *screen) difference() {
	s.title(s.t(keyDifference), "")
	if len(s.v.Changes) == 0 {
		s.text(2, "", s.t(keyNoChange), "")
	}
	for _, c := range s.v.Changes {
		mark, color := "~", yellow
		switch c.Op {
		case service.Added:
			mark, color = "+", green
		case service.Removed:
			mark, color = "-", red
		}
		head := mark + " " + s.word(c.Item.Word())
		if c.Name != "" {
			head += " " + c.Name
		}
		if c.Widens && c.Op == service.ChangedOp {
			head += "  (" + s.t(keyWidens) + ")"
		}
		s.line(s.style.paint(color, head))
		s.text(4, "", s.c.Text(c.Meaning.Key, c.Meaning.Args), "")
		s.attributes("-", c.Before, red)
		s.attributes("+", c.After, green)
	}
}

func (s *screen) attributes(mark string, list []service.Attribute, color string) {
	label := 0
	for _, a := range list {
		label = max(label, width(s.t(a.Name)))
	}
	for _, a := range list {
		first := mark + " " + pad(s.t(a.Name), label) + "  "
		s.text(4, first, s.word(text.Word{Plain: a.Value, Key: a.Word}), color)
	}
}

// faults writes a section of rendered faults, nothing when there are none.
func (s *screen) faults(title text.Key, list []*fault.Error, color string) {
	if len(list) == 0 {
		return
	}
	s.title(s.t(title), "")
	shown := map[string]bool{}
	for _, f := range list {
		for i, l := range strings.Split(s.c.Fault(f), "\n") {
			first := "  "
			if i == 0 {
				first = "! "
			} else if shown[l] {
				continue // a hint that stands above already
			}
			shown[l] = true
			trimmed := strings.TrimLeft(l, " ")
			s.text(len(l)-len(trimmed), first, trimmed, color)
		}
	}
}
