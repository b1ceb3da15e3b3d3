package agent

import (
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/core/prompt"
	"github.com/agent-mcp/agent-mcp/core/session"
	"github.com/agent-mcp/agent-mcp/core/taskgraph"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// startNext begins the next Planner Task in CPM order, finishes when all are completed, or fails when none can start
// (AGT-01, AGT-08).
func (m *machine) startNext() {
	if m.graph.Done() {
		if why, _ := m.undone(); why != "" {
			m.askReplan(why)
			return
		}
		m.closing()
		return
	}
	if places := m.unseen(); len(places) > 0 {
		m.askLook(lookBefore, places)
		return
	}
	id, ok := m.graph.Next()
	g, err := m.graph.Start(id)
	if !ok || err != nil {
		m.giveUp(CodeNoRunnable)
		return
	}
	m.graph, m.current, m.work, m.side = g, id, work{}, nil
	m.state = service.Running
	m.conv = push(m.conv, m.brief())
	m.epoch++
	m.note(Note{Kind: NoteStarted, Phase: PhaseAct})
	m.progress()
	m.ask(PhaseAct)
}

// brief is the message that starts the current Planner Task.
func (m *machine) brief() model.Message {
	n, _ := m.graph.Task(m.current)
	text := prompt.Brief(m.graph.View(), n, m.graph.Len() == 1, m.setup.Prompt.Runtime.Language)
	return model.Message{Role: model.User, Content: text}
}

// budget compares what the Planner Task took with its Token Budget Class: a warning at 80 %, the end of its calls at 100 %
// (PLN-07). Counted is all output and the growth of the input, not the resent prefix.
func (m *machine) budget() string {
	n, _ := m.graph.Task(m.current)
	limit := int(n.Class.Tokens())
	switch {
	case limit == 0:
	case m.work.Spent >= limit && !m.work.Wrap:
		m.work.Wrap = true
		m.epoch++
		m.note(Note{Kind: NoteBudget, Count: m.work.Spent, Detail: "used up"})
		return "The token budget of this task is used up. No more calls: report now what is done and what is not."
	case m.work.Spent >= limit*8/10 && !m.work.Warned:
		m.work.Warned = true
		m.note(Note{Kind: NoteBudget, Count: m.work.Spent, Detail: "80 %"})
		return "Most of the token budget of this task is used. Finish it now with the fewest calls."
	}
	return ""
}

// completed ends the current Planner Task for good (PLN-03).
func (m *machine) completed(report string) {
	g, err := m.graph.Complete(m.current)
	if err != nil {
		m.fail(fault.From(err))
		return
	}
	m.graph = g
	left := proof(m.work.Effects)
	shown := last(left, maxProof)
	m.proofs = push(m.proofs, session.Proof{ID: m.current, Effects: shown, More: len(left) - len(shown)})
	m.note(Note{Kind: NoteCompleted, Detail: strings.TrimSuffix(effects(left), "\n"), Effects: left})
	m.record(taskgraph.Completed, report)
	m.say(report)
	m.forgetThinking()
	m.current, m.counts = "", nil
	m.startNext()
}

// forgetThinking drops thinking once the calls that it led to are over (OLL-14).
func (m *machine) forgetThinking() {
	m.conv = slices.Clone(m.conv)
	for i := range m.conv {
		m.conv[i].Thinking = ""
	}
}
