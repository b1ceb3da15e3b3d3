package session

import (
	"slices"
	"time"

	"github.com/agent-mcp/agent-mcp/core/taskgraph"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
)

// Memory is what a Session holds between Tasks (SES-04): conversation, the last TaskGraph, Execution Results. Treat it as
// immutable. It never holds thinking (OLL-14) or images.
type Memory struct {
	Conversation []model.Message // user and assistant messages, oldest first; no system message, no open tool call
	Results      []Result        // of every Planner Task that ended, oldest first
	Plan         taskgraph.Graph // of the last Task
	Denied       []DeniedCall    // security decisions, kept through summaries (SES-06)
	Skills       []string        // names loaded so far
}

// Result is one Planner Task's Execution Result.
type Result struct {
	TaskID   string // Agent Task
	ID       taskgraph.ID
	Title    string
	State    taskgraph.State // completed or failed
	Report   string          // the model's own words, bounded; a claim, not evidence
	Evidence []tool.Effect   // what was observed, bounded
	Usage    taskgraph.Usage
}

// Proof is what was observed of one completed Planner Task, as it stands in the end (AGT-04): no report, nothing undone.
type Proof struct {
	ID      taskgraph.ID
	Effects []tool.Effect // the newest; without differences
	More    int           // of them that are not kept
}

// DeniedCall is one policy denial: the call's tool, its subject and the code that denied it.
type DeniedCall struct {
	Tool    tool.Name
	Subject string
	Code    fault.Code
}

// Size estimates the bytes that a Memory keeps alive.
func (m Memory) Size() int {
	n := 512 * m.Plan.Len()
	for i := range m.Conversation {
		n += messageSize(&m.Conversation[i])
	}
	for i := range m.Results {
		n += resultSize(&m.Results[i])
	}
	for _, d := range m.Denied {
		n += deniedSize(d)
	}
	for _, s := range m.Skills {
		n += len(s) + 16
	}
	return n
}

func messageSize(m *model.Message) int {
	n := len(m.Content) + 64
	for _, c := range m.ToolCalls {
		n += len(c.Arguments) + 64
	}
	return n
}

func resultSize(r *Result) int {
	n := len(r.Title) + len(r.Report) + 128
	for _, e := range r.Evidence {
		n += len(e.Path) + len(e.Dest) + len(e.SHA256) + 96
	}
	return n
}

func deniedSize(d DeniedCall) int { return len(d.Subject) + 64 }

// keepResults is how many Execution Results outlive the conversation when memory is short.
const keepResults = 8

// Bounded drops the oldest Results and messages until Size is at most limit. core/agent summarises long before (SES-05);
// this is the last wall against growth without limit. A conversation never starts with a tool message.
func (m Memory) Bounded(limit int) Memory {
	over := m.Size() - limit
	if over <= 0 {
		return m
	}
	m.Results, over = dropOld(m.Results, keepResults, over, resultSize)
	m.Conversation, over = dropOld(m.Conversation, 0, over, messageSize)
	for len(m.Conversation) > 0 && m.Conversation[0].Role == model.ToolRole {
		m.Conversation = m.Conversation[1:]
	}
	m.Results, over = dropOld(m.Results, 0, over, resultSize)
	m.Denied, over = dropOld(m.Denied, 0, over, func(d *DeniedCall) int { return deniedSize(*d) })
	if over > 0 {
		m.Plan, m.Skills = taskgraph.Graph{}, nil
	}
	return m
}

// dropOld leaves out the oldest items, but never the last keep, until over bytes are gone; what is left is a copy, so
// that the old array can be freed.
func dropOld[T any](items []T, keep, over int, size func(*T) int) ([]T, int) {
	n := 0
	for n < len(items)-keep && over > 0 {
		over -= size(&items[n])
		n++
	}
	return slices.Clone(items[n:]), over
}

// Notices is what the owner should know of a Task besides its answer.
type Notices struct {
	Refused int      // accesses that the policy refused
	Obeyed  []Obeyed // new or changed files that the owner's own tools take commands from; the first MaxObeyed
	More    int      // of them that are not kept
}

// MaxObeyed bounds what a Task keeps of such files.
const MaxObeyed = 50

// Obeyed is one such file.
type Obeyed struct {
	Path string // relative to the workspace where it lies in it
	Kind string // what obeys it (core/trigger)
}

// with adds what was noticed.
func (n Notices) with(e Noticed) Notices {
	n.Refused += e.Refused
	for _, o := range e.Obeyed {
		switch {
		case slices.Contains(n.Obeyed, o):
		case len(n.Obeyed) >= MaxObeyed:
			n.More++
		default:
			n.Obeyed = append(slices.Clone(n.Obeyed), o)
		}
	}
	return n
}

// Progress is what a Task has done so far; the front end shows it (MCP-STS-03).
type Progress struct {
	Plan         taskgraph.View // empty before there is a plan
	Current      taskgraph.ID   // the Planner Task being worked on, "" = none
	Iterations   int            // model calls
	Replans      int
	InputTokens  int // counted by the server (OLL-13)
	OutputTokens int
	Spent        int          // tokens of Current against its Token Budget Class (PLN-07)
	Read, Spoken Pace         // how fast the model took in and gave out
	Proof        []Proof      // of the Planner Tasks completed so far
	LastError    *fault.Error // the last failure, also one that was recovered from; nil = none
}

// Pace is how many tokens took how long, where the server told both.
type Pace struct {
	Tokens int
	Time   time.Duration
}

// Add is the pace with one call more; one without a time tells nothing.
func (p Pace) Add(tokens int, took time.Duration) Pace {
	if tokens <= 0 || took <= 0 {
		return p
	}
	return Pace{p.Tokens + tokens, p.Time + took}
}

// PerSecond is 0 when nothing is known.
func (p Pace) PerSecond() float64 {
	if p.Time <= 0 {
		return 0
	}
	return float64(p.Tokens) / p.Time.Seconds()
}
