package session

import (
	"slices"

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

// DeniedCall is one policy denial: the call's tool, its subject and the code that denied it.
type DeniedCall struct {
	Tool    tool.Name
	Subject string
	Code    fault.Code
}

// Size estimates the bytes that a Memory keeps alive.
func (m Memory) Size() int {
	n := 0
	for _, c := range m.Conversation {
		n += len(c.Content) + 64
		for _, t := range c.ToolCalls {
			n += len(t.Arguments) + 64
		}
	}
	for _, r := range m.Results {
		n += len(r.Title) + len(r.Report) + 128
		for _, e := range r.Evidence {
			n += len(e.Path) + len(e.Dest) + len(e.SHA256) + 96
		}
	}
	for _, d := range m.Denied {
		n += len(d.Subject) + 64
	}
	return n + 512*m.Plan.Len()
}

// Bounded drops the oldest Results and messages until Size is at most limit. The caller of the machine summarises long
// before (SES-05); this is the last wall against growth without limit. A conversation never starts with a tool message.
func (m Memory) Bounded(limit int) Memory {
	m.Results, m.Conversation, m.Denied = slices.Clone(m.Results), slices.Clone(m.Conversation), slices.Clone(m.Denied)
	for m.Size() > limit {
		switch {
		case len(m.Results) > 8:
			m.Results = m.Results[1:]
		case len(m.Conversation) > 0:
			m.Conversation = m.Conversation[1:]
			for len(m.Conversation) > 0 && m.Conversation[0].Role == model.ToolRole {
				m.Conversation = m.Conversation[1:]
			}
		case len(m.Results) > 0:
			m.Results = m.Results[1:]
		case len(m.Denied) > 0:
			m.Denied = m.Denied[1:]
		default:
			m.Plan = taskgraph.Graph{}
			return m
		}
	}
	return m
}

// Progress is what a Task has done so far; the front end shows it (MCP-STS-03).
type Progress struct {
	Plan         taskgraph.View // empty before there is a plan
	Current      taskgraph.ID   // the Planner Task being worked on, "" = none
	Iterations   int            // model calls
	Replans      int
	InputTokens  int // counted by the server (OLL-13)
	OutputTokens int
	LastError    *fault.Error // the last failure, also one that was recovered from; nil = none
}
