package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/core/guard"
	"github.com/agent-mcp/agent-mcp/core/prompt"
	"github.com/agent-mcp/agent-mcp/core/session"
	"github.com/agent-mcp/agent-mcp/ports/model"
)

// What a summary leaves as it is.
const (
	keptWords  = 12  // of the user's earlier messages …
	wordWeight = 600 // … so much of each, and what sets a limit in it besides (SES-06)
	wordShare  = 6   // divisor of the context: what they may take together before all but the limits goes
	leastClip  = 400 // prompt.Weight; a result is not shrunk below
)

// tailAt is where the part begins that a summary leaves alone: at most a quarter of the context, at least the last message
// with all that belongs to it. A call is never parted from its results.
func (m *machine) tailAt() int {
	budget := m.setup.Settings.ContextTokens / 4
	at, used := len(m.conv), 0
	for i := len(m.conv) - 1; i > m.requestAt; i-- {
		used += m.tokens(m.conv[i : i+1])
		if used > budget && at < len(m.conv) {
			break
		}
		if m.conv[i].Role != model.ToolRole {
			at = i
		}
	}
	return at
}

func (m *machine) tokens(msgs []model.Message) int {
	return m.scale.Apply(prompt.Estimate(model.Request{Messages: msgs}))
}

// head lists what a summary would replace: all before the tail, without the request and what was kept before.
func (m *machine) head() []model.Message {
	var out []model.Message
	for i, c := range m.conv[:m.tailAt()] {
		if i != m.requestAt && !(m.digest && i < m.requestAt && c.Role == model.User && i > 0) {
			out = append(out, c)
		}
	}
	return out
}

// canSummarize reports that a summary would make a real difference.
func (m *machine) canSummarize() bool {
	h := m.head()
	if m.digest && len(h) > 0 {
		h = h[1:]
	}
	return m.tokens(h) >= m.setup.Settings.ContextTokens/10
}

// summarize asks for a summary before phase goes on (SES-05).
func (m *machine) summarize(phase Phase) {
	m.resume = phase
	m.ask(PhaseSummary)
}

// transcript is the older part as text, bounded to half the context.
func (m *machine) transcript() string {
	var b strings.Builder
	for _, c := range m.head() {
		switch c.Role {
		case model.ToolRole:
			fmt.Fprintf(&b, "result of %s: %s\n", c.ToolName, prompt.Clip(c.Content, 800))
		default:
			fmt.Fprintf(&b, "%s: %s\n", c.Role, prompt.Clip(c.Content, 2000))
		}
		for _, t := range c.ToolCalls {
			fmt.Fprintf(&b, "called %s %s\n", t.Name, prompt.Short(string(t.Arguments), 300))
		}
	}
	return prompt.Fit(b.String(), m.scale.Quarters(m.setup.Settings.ContextTokens)*2/5)
}

// summaryReply takes the summary; what is no use as one is replaced by the clipped transcript.
func (m *machine) summaryReply(text string, r model.Reply) {
	if r.DoneReason == "length" || guard.Repeats(text) || guard.PrintedCall(text, m.setup.Tools) {
		text = ""
	}
	m.summarized(text)
}

// summarized replaces the older part and resumes. Kept word for word: the user's messages, unfinished Planner Tasks,
// security decisions, observed results (SES-06), and loaded skills, which are not part of the conversation.
func (m *machine) summarized(text string) {
	if text == "" {
		text = prompt.Fit(m.transcript(), m.scale.Quarters(m.setup.Settings.ContextTokens)/10)
	}
	at := m.tailAt()
	next := []model.Message{{Role: model.User, Content: prompt.Summary(text, m.kept())}}
	next = append(next, m.words(at)...)
	requestAt := len(next)
	next = append(next, m.conv[m.requestAt])
	tail := m.conv[max(at, m.requestAt+1):]
	if m.current != "" && !slices.ContainsFunc(tail, func(c model.Message) bool { return c.Content == m.brief().Content }) {
		next = append(next, m.brief())
	}
	m.conv = slices.Concat(next, tail)
	m.requestAt, m.digest = requestAt, true
	m.epoch++
	m.note(Note{Kind: NoteSummary})
	m.want.Phase = m.resume
	m.ask(m.resume)
}

// words are the user's own messages of the older part, shortened. What sets a limit or a rule in them is never left out (SES-06): where
// there is too much of everything else, it alone stays; where it alone is too much, the Task ends for want of context.
func (m *machine) words(at int) []model.Message {
	var said []string
	for i, c := range m.conv[:at] {
		if c.Role == model.User && i != m.requestAt && !strings.HasPrefix(c.Content, prompt.Note) {
			said = append(said, gist(c.Content))
		}
	}
	for len(said) > keptWords { // the oldest go first
		i := slices.IndexFunc(said, func(s string) bool { return !guard.Constrains(s) })
		if i < 0 || i >= len(said)-keptWords {
			break
		}
		said = slices.Delete(said, i, i+1)
	}
	room := m.scale.Quarters(m.setup.Settings.ContextTokens / wordShare)
	for i := 0; i < len(said) && prompt.Weight(strings.Join(said, "")) > room; i++ {
		said[i] = strings.Join(guard.Limits(said[i]), "\n")
	}
	var out []model.Message
	for i, s := range said {
		if s != "" && !slices.Contains(said[i+1:], s) {
			out = append(out, model.Message{Role: model.User, Content: s})
		}
	}
	return out
}

// gist is what stays of a long message: its beginning, and every sentence that sets a limit. The gist of a gist is the same.
func gist(text string) string {
	if prompt.Weight(text) <= wordWeight {
		return text
	}
	limits := guard.Limits(text)
	rest := strings.Join(limits, "\n")
	room := wordWeight - prompt.Weight(rest) - 16
	if room < wordWeight/4 {
		return rest
	}
	begin := []rune(text)
	begin = begin[:min(len(begin), room)]
	for prompt.Weight(string(begin)) > room {
		begin = begin[:len(begin)*9/10]
	}
	return strings.TrimSpace(strings.TrimSpace(string(begin)) + " …\n" + rest)
}

// kept is what the runtime itself knows and no summary may lose.
func (m *machine) kept() string {
	var b strings.Builder
	if m.graph.Len() > 0 {
		b.WriteString(prompt.State(m.graph.View(), m.current))
	}
	if done := evidence(slices.Concat(m.setup.Memory.Results, m.results), 20) + effects(last(mutating(m.work.Effects), 20)); done != "" {
		b.WriteString("Observed:\n" + done)
	}
	denied := slices.Clone(m.setup.Memory.Denied)
	for _, d := range m.denied {
		denied = append(denied, d.DeniedCall)
	}
	if len(denied) > 0 {
		b.WriteString("Denied by the owner's policy:\n")
		for _, d := range last(slices.CompactFunc(denied, func(a, b session.DeniedCall) bool { return a == b }), 20) {
			fmt.Fprintf(&b, "- %s %s (%s)\n", d.Tool, d.Subject, d.Code)
		}
	}
	return b.String()
}

// shrink halves the largest tool result of the conversation; false when none is worth it.
func (m *machine) shrink() bool {
	at := m.largest()
	if at < 0 {
		return false
	}
	m.conv = slices.Clone(m.conv)
	m.conv[at].Content = prompt.Fit(m.conv[at].Content, prompt.Weight(m.conv[at].Content)/2)
	m.epoch++
	return true
}

// largest is where the largest tool result of the conversation stands, -1 when none is worth shrinking.
func (m *machine) largest() int {
	at, most := -1, leastClip*2
	for i, c := range m.conv {
		if n := prompt.Weight(c.Content); c.Role == model.ToolRole && n > most {
			at, most = i, n
		}
	}
	return at
}
