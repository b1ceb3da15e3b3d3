package agent

import (
	"slices"

	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// failure counts one failure and reports whether it ended the Task (AGT-03). sig is the failing call's signature, "" when
// there was none. Call it at most once per cause and step.
func (m *machine) failure(c Cause, sig string) (ended bool) {
	m.counts = slices.Clone(m.counts)
	i := slices.IndexFunc(m.counts, func(k count) bool { return k.Cause == c })
	if i < 0 {
		i = len(m.counts)
		m.counts = append(m.counts, count{Cause: c})
	}
	m.counts[i].N++
	m.counts[i].Sig = sig
	n := m.counts[i].N
	m.lastError = c.Fault()
	if m.trouble != nil && (c.Code == CauseDenied || c.Code == CauseClaimed || c.Code == CauseToolError) {
		m.lastError = m.lastError.With(m.trouble) // people act on what went wrong, and where
	}
	m.note(Note{Kind: NoteFailure, Cause: c, Count: n})
	if n < m.setup.Settings.SameFailureLimit {
		return false
	}
	m.stop(m.want.Phase, fault.New(CodeSameFailure, "count", n).With(c.Fault()))
	return true
}

// success lets the counters fall back, but only after a different call than those that failed and those that lately
// worked: a loop that mixes one good call into its failures is still a loop.
func (m *machine) success(sig string) {
	known := slices.Contains(m.good, sig) || slices.ContainsFunc(m.counts, func(c count) bool { return c.Sig == sig })
	m.good = last(push(m.good, sig), sameCallWindow)
	if !known {
		m.counts = nil
	}
}

// repeated notes one call with its result and tells how often the same came in the last steps, this one included.
func (m *machine) repeated(sig, result string) int {
	now := mark{sig, result}
	m.steps = last(push(m.steps, now), sameCallWindow)
	n := 0
	for _, s := range m.steps {
		if s == now {
			n++
		}
	}
	return n
}

// parseCause tells the cause of a call that did not pass its schema.
func parseCause(name tool.Name, f *fault.Error) Cause {
	if f.Code == tool.CodeUnknownTool {
		return Cause{Code: CauseUnknownTool, Tool: name}
	}
	c := Cause{Code: CauseBadArguments, Tool: name, Field: "*"}
	if len(f.Reasons) > 0 {
		if field, ok := f.Reasons[0].Args["field"].(string); ok && field != "" {
			c.Field = field
		}
	}
	return c
}
