package agent

import (
	"github.com/agent-mcp/agent-mcp/core/prompt"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
)

// clip takes a smaller context into account from now on: what was sent may have been cut to it already.
func (m *machine) clip(tokens int) {
	if tokens > 0 && tokens < m.setup.Settings.ContextTokens {
		m.setup.Settings.ContextTokens = max(tokens, minContext)
		m.note(Note{Kind: NoteContext, Count: tokens})
	}
}

// keepSlack is how far beyond half of the context a prompt may count that the server cut: it keeps num_keep tokens of the front and as
// much of the end as leaves half of the rest free.
const keepSlack = 8

// lost reports that the reply answers a prompt of which the server dropped a part without a word, or may have, and has already asked
// again. Such a reply is never acted upon: the part that is missing may be what the user forbade. The count is all there is to see:
//
//   - at the context's limit, or less than a shorter version of the same took: dropped.
//   - where a cut to half ends, or near it when much more was sent: perhaps. The same is asked with one line more; if that adds nothing
//     to the count, it was dropped.
//   - close to the limit and far above the estimate, so that the text is denser than all before it and more of it may have been sent
//     than fits: perhaps. The conversation has to be summarised now anyway. Where the server is not known to refuse what is too long, it
//     is enough that the newest part would not fit if every character of it were a token: a cut that takes as much as the estimate
//     missed leaves no other sign.
func (m *machine) lost(phase Phase, u model.Usage) bool {
	ctx, n := m.setup.Settings.ContextTokens, u.PromptTokens
	if !u.PromptPresent || n <= 0 {
		return false
	}
	before := m.probed
	m.probed.Count = 0
	at := m.cutAt()
	exact := n >= at-2 && n <= at+keepSlack
	shorter := phase == PhaseAct && m.seen.Epoch == m.epoch && (n < m.seen.Count || n == m.seen.Count && exact) && max(m.seen.Count, m.want.Estimate) >= ctx/2
	same := before.Count > 0 && before.Phase == phase && n < before.Count+probeTokens/2
	worst := m.want.Estimate + 3*prompt.Estimate(model.Request{Messages: m.conv})
	if phase == PhaseAct && m.seen.Epoch == m.epoch {
		worst = m.seen.Count + 4*(m.want.Raw-m.seen.Raw)
	}
	dense := n-m.want.Estimate > ctx/10 || m.setup.Settings.MayCut && worst > ctx
	crowded := phase != PhaseSummary && n >= ctx*2/3 && dense
	if n >= ctx || shorter || same || crowded && (m.canSummarize() || m.largest() >= 0 || n >= ctx*15/16) {
		m.note(Note{Kind: NoteTruncated, Input: n})
		m.scale = max(m.scale, m.scale.Calibrate(m.want.Raw, n)) // it took at least so many
		m.overflow(phase)
		return true
	}
	near := n-ctx/2 <= ctx/32 && ctx/2-n <= ctx/32 && m.want.Estimate > ctx*3/4 && before.Epoch != m.epoch
	if phase == PhaseSummary || before.Count > 0 || !exact && !near {
		return false
	}
	m.tell(phase, probeWords)
	m.probed = probe{Epoch: m.epoch, Phase: phase, Count: n}
	m.ask(phase)
	return true
}

// What asks the same once more: a line of some 20 tokens.
const (
	probeWords  = "Nothing of what is above has changed; go on with the work that it asks for, as it says."
	probeTokens = 18
)

// cutAt is the count of a prompt that was cut to half.
func (m *machine) cutAt() int {
	keep := 4
	if k := m.setup.Settings.Options.NumKeep; k != nil && *k > 0 {
		keep = *k
	}
	return keep + (m.setup.Settings.ContextTokens-keep)/2
}

// probe is a prompt that was sent again, a little longer, to see whether its count grows.
type probe struct {
	Epoch int // of the last one
	Phase Phase
	Count int // what it counted before; 0 = none is under way
}

// overflow summarises and asks once more; without anything to summarise the Task can not go on.
func (m *machine) overflow(phase Phase) {
	if m.failure(Cause{Code: CauseContext}, "") {
		return
	}
	m.epoch++
	switch {
	case phase == PhaseSummary:
		m.summarized("")
	case m.canSummarize():
		m.summarize(phase)
	case m.shrink():
		m.ask(phase)
	default:
		m.stop(phase, fault.New(CodeContext, "tokens", m.want.Estimate, "limit", m.setup.Settings.ContextTokens))
	}
}
