package session_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/session"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
	"github.com/agent-mcp/agent-mcp/ports/service"
	"github.com/agent-mcp/agent-mcp/ports/turn"
)

// box is a machine under test.
type box struct {
	t       testing.TB
	s       session.State
	at      time.Time
	effects []session.Effect
}

func open(t testing.TB, l session.Limits) *box {
	return &box{t: t, s: session.New(l), at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
}

func (b *box) feed(e session.Event) []session.Effect {
	b.at = b.at.Add(time.Second)
	b.s, b.effects = session.Apply(b.s, e)
	return b.effects
}

func (b *box) submit(id, sessionID, owner string) []session.Effect {
	return b.feed(session.Submitted{
		At: b.at, TaskID: id, NewSession: "s-" + id, SessionID: sessionID, Owner: owner, Request: "do " + id, Images: [][]byte{{1}},
	})
}

func (b *box) moved(id string, s service.State) []session.Effect {
	return b.feed(session.Moved{At: b.at, TaskID: id, State: s, Progress: session.Progress{Iterations: 7}})
}

func (b *box) finish(id string, s service.State) []session.Effect {
	e := session.Finished{At: b.at, TaskID: id, State: s, Answer: "answer of " + id, Memory: session.Memory{
		Conversation: []model.Message{{Role: model.User, Content: "do " + id}, {Role: model.Assistant, Content: "did " + id}},
	}}
	if s == service.Failed {
		e.Fault = fault.New("agent.x")
	}
	return b.feed(e)
}

func (b *box) state(id string) service.State {
	b.t.Helper()
	task, f := b.s.Find(id, "")
	require.Nil(b.t, f)
	return task.State
}

func started(effects []session.Effect) (ids []string) {
	for _, e := range effects {
		if s, ok := e.(session.Start); ok {
			ids = append(ids, s.TaskID)
		}
	}
	return ids
}

// Spec section 2: the table of states, [D] planning → cancelled included.
func TestCanMove_IsTheTable(t *testing.T) {
	all := []service.State{service.Queued, service.Planning, service.Running, service.Completed, service.Failed, service.Cancelled}
	want := map[service.State]string{
		service.Queued: "planning failed cancelled", service.Planning: "running failed cancelled",
		service.Running: "planning completed failed cancelled",
	}
	for _, from := range all {
		for _, to := range all {
			allowed := false
			for _, w := range strings.Fields(want[from]) {
				allowed = allowed || w == string(to)
			}
			require.Equal(t, allowed, session.CanMove(from, to), "%s to %s", from, to)
		}
	}
}

// MCP-ASY-01, SES-01, SES-02: accepted at once with both ids; FIFO; at most one started.
func TestApply_FirstInFirstOut(t *testing.T) {
	b := open(t, session.Limits{})
	effects := b.submit("a", "", "")
	require.Equal(t, session.Accepted{TaskID: "a", SessionID: "s-a"}, effects[0])
	start := effects[1].(session.Start)
	require.Equal(t, "do a", start.Request)
	require.Len(t, start.Images, 1)
	require.Equal(t, session.Accepted{TaskID: "b", SessionID: "s-b", Ahead: 1}, b.submit("b", "", "")[0])
	require.Equal(t, []session.Effect{session.Accepted{TaskID: "c", SessionID: "s-c", Ahead: 2}}, b.submit("c", "", ""))
	require.Equal(t, service.Queued, b.state("a"))
	b.moved("a", service.Planning)
	require.Empty(t, b.moved("a", service.Running))
	require.Empty(t, b.moved("a", service.Planning), "a replan")
	b.moved("a", service.Running)
	require.Equal(t, []string{"b"}, started(b.finish("a", service.Completed)))
	require.Equal(t, service.Completed, b.state("a"))
	c, _ := b.s.Find("c", "s-c")
	require.Equal(t, 1, c.Ahead)
	require.Equal(t, []string{"c"}, started(b.finish("b", service.Failed)), "failed from queued: it could not begin")
	require.Equal(t, service.Failed, b.state("b"))
}

// max_queued
func TestApply_Busy(t *testing.T) {
	b := open(t, session.Limits{MaxQueued: 2})
	for _, id := range []string{"a", "b", "c"} {
		require.IsType(t, session.Accepted{}, b.submit(id, "", "")[0])
	}
	before := bytes(t, b.s)
	r := b.submit("d", "", "")[0].(session.Refused)
	require.Equal(t, service.CodeBusy, r.Fault.Code)
	require.Equal(t, 2, r.Fault.Args["limit"])
	require.Equal(t, before, bytes(t, b.s), "nothing changed")
	b = open(t, session.Limits{MaxQueued: -1})
	b.submit("a", "", "")
	require.IsType(t, session.Refused{}, b.submit("b", "", "")[0])
}

// MCP-RUN-02: a Session goes on only when it exists and is the same client's.
func TestApply_Sessions(t *testing.T) {
	b := open(t, session.Limits{})
	r := b.submit("a", "nope", "me")[0].(session.Refused)
	require.Equal(t, service.CodeUnknownSession, r.Fault.Code)
	b.submit("a", "", "me")
	require.Equal(t, service.CodeUnknownSession, b.submit("x", "s-a", "you")[0].(session.Refused).Fault.Code)
	require.Equal(t, session.Accepted{TaskID: "b", SessionID: "s-a", Ahead: 1}, b.submit("b", "s-a", "me")[0])
	b.moved("a", service.Planning)
	b.moved("a", service.Running)
	start := b.finish("a", service.Completed)[1].(session.Start)
	require.Equal(t, "did a", start.Memory.Conversation[1].Content, "SES-04: it knows what was before")
	m, ok := b.s.Memory("s-a")
	require.True(t, ok)
	require.Len(t, m.Conversation, 2)
	b.feed(session.Finished{At: b.at, TaskID: "b", State: service.Failed, Fault: fault.New("x.y")})
	m, _ = b.s.Memory("s-a")
	require.Len(t, m.Conversation, 2, "a Task that could not begin takes nothing away")
	require.IsType(t, session.Accepted{}, b.submit("c", "", "")[0])
	require.IsType(t, session.Accepted{}, b.submit("d", "s-c", "you")[0], "nobody's Session is everybody's")
}

// MCP-STS-01..03
func TestFind_WhatTheStatusNeeds(t *testing.T) {
	b := open(t, session.Limits{})
	b.submit("a", "", "")
	b.submit("b", "", "")
	_, f := b.s.Find("zzz", "")
	require.Equal(t, service.CodeUnknownTask, f.Code)
	_, f = b.s.Find("a", "s-b")
	require.Equal(t, service.CodeWrongSession, f.Code)
	b.feed(session.Waiting{TaskID: "a", Holder: turn.Holder{Instance: "i", PID: 4, Task: "t"}})
	task, _ := b.s.Find("a", "s-a")
	require.Equal(t, 4, task.Waits.PID)
	b.moved("a", service.Planning)
	task, _ = b.s.Find("a", "")
	require.Equal(t, turn.Holder{}, task.Waits)
	require.Equal(t, 7, task.Progress.Iterations)
	require.False(t, task.StartedAt.IsZero())
	b.moved("a", service.Running)
	b.finish("a", service.Completed)
	task, _ = b.s.Find("a", "")
	require.Equal(t, "answer of a", task.Answer)
	require.Nil(t, task.Fault)
	require.True(t, task.EndedAt.After(task.StartedAt))
	b.finish("b", service.Failed)
	task, _ = b.s.Find("b", "")
	require.Empty(t, task.Answer, "only a completed Task has an answer")
	require.Equal(t, fault.Code("agent.x"), task.Fault.Code)
}

// REC-05 and the [D] of spec section 2: a cancel at every state ends as cancelled.
func TestApply_CancelAtEveryState(t *testing.T) {
	b := open(t, session.Limits{})
	b.submit("a", "", "")
	b.submit("b", "", "")
	b.submit("c", "", "")
	effects := b.feed(session.CancelAsked{At: b.at, TaskID: "b"})
	require.IsType(t, session.Ended{}, effects[0])
	require.Len(t, effects, 1)
	require.Equal(t, service.Cancelled, b.state("b"), "queued: at once")
	require.Empty(t, b.feed(session.CancelAsked{TaskID: "b"}), "idempotent")
	require.Equal(t, service.CodeUnknownTask, b.feed(session.CancelAsked{TaskID: "zzz"})[0].(session.Refused).Fault.Code)

	for i, from := range []service.State{service.Queued, service.Planning, service.Running} {
		b := open(t, session.Limits{})
		b.submit("a", "", "")
		b.submit("b", "", "")
		if i > 0 {
			b.moved("a", service.Planning)
		}
		if i > 1 {
			b.moved("a", service.Running)
		}
		require.Equal(t, []session.Effect{session.Cancel{TaskID: "a"}}, b.feed(session.CancelAsked{TaskID: "a"}))
		require.Empty(t, b.feed(session.CancelAsked{TaskID: "a"}), "asked once")
		require.Equal(t, from, b.state("a"), "it is over when its resources are gone")
		effects := b.finish("a", service.Failed) // the executor saw only a broken call
		require.Equal(t, service.Cancelled, effects[0].(session.Ended).State)
		require.Equal(t, fault.CodeCancelled, effects[0].(session.Ended).Fault.Code, "with what broke as the reason")
		require.Equal(t, []string{"b"}, started(effects))
		require.Empty(t, b.feed(session.CancelAsked{TaskID: "a"}))
		require.Equal(t, service.Cancelled, b.state("a"))
	}
	b = open(t, session.Limits{})
	b.submit("a", "", "")
	b.moved("a", service.Planning)
	b.moved("a", service.Running)
	b.feed(session.CancelAsked{TaskID: "a"})
	b.finish("a", service.Completed)
	require.Equal(t, service.Completed, b.state("a"), "it was done before the cancel reached it")
}

// REC-04: the end of a client stops its Tasks and nobody else's.
func TestApply_OwnerGone(t *testing.T) {
	b := open(t, session.Limits{})
	b.submit("a", "", "me")
	b.submit("b", "", "you")
	b.submit("c", "", "me")
	b.submit("d", "", "")
	require.Equal(t, []string{"a", "c"}, b.s.OfOwner("me"))
	b.feed(session.OwnerGone{At: b.at, Owner: "me"})
	require.Contains(t, b.effects, session.Effect(session.Cancel{TaskID: "a"}))
	require.Equal(t, service.Cancelled, b.state("c"))
	require.Equal(t, service.Queued, b.state("b"))
	require.Empty(t, b.feed(session.OwnerGone{Owner: ""}), "nobody's Tasks are nobody's")
	require.Equal(t, []string{"b"}, started(b.finish("a", service.Cancelled)))
}

func TestApply_Stopping(t *testing.T) {
	b := open(t, session.Limits{})
	require.Equal(t, []session.Effect{session.Drained{}}, b.feed(session.Stopping{}))
	require.Empty(t, b.feed(session.Stopping{}), "said once")
	b = open(t, session.Limits{})
	b.submit("a", "", "")
	b.submit("b", "", "")
	b.feed(session.Stopping{At: b.at})
	require.Contains(t, b.effects, session.Effect(session.Cancel{TaskID: "a"}))
	require.NotContains(t, b.effects, session.Effect(session.Drained{}))
	require.Equal(t, service.CodeStopping, b.submit("c", "", "")[0].(session.Refused).Fault.Code)
	effects := b.finish("a", service.Cancelled)
	require.Equal(t, session.Drained{}, effects[len(effects)-1])
	require.Empty(t, started(effects))
}

// Events that can not be are reported; the queue never blocks.
func TestApply_BrokenEvents(t *testing.T) {
	b := open(t, session.Limits{})
	b.submit("a", "", "")
	b.submit("b", "", "")
	b.moved("a", service.Planning)
	before := bytes(t, b.s)
	for _, e := range []session.Event{
		session.Moved{TaskID: "b", State: service.Planning},
		session.Moved{TaskID: "zzz", State: service.Planning},
		session.Moved{TaskID: "a", State: service.Queued},
		session.Moved{TaskID: "a", State: service.Completed},
		session.Finished{TaskID: "b", State: service.Completed},
		session.Waiting{TaskID: "b"},
		session.Submitted{TaskID: "a", NewSession: "q"},
		session.Submitted{TaskID: "", NewSession: "q"},
		session.Submitted{TaskID: "q"},
		session.Submitted{TaskID: "q", NewSession: "s-a"},
		nil,
	} {
		effects := b.feed(e)
		require.Len(t, effects, 1, "%T", e)
		require.Equal(t, session.CodeBadEvent, effects[0].(session.Broken).Fault.Code)
		require.Equal(t, before, bytes(t, b.s))
	}
	effects := b.finish("a", service.Completed) // never ran
	require.IsType(t, session.Broken{}, effects[0])
	require.Equal(t, service.Failed, b.state("a"))
	require.Equal(t, []string{"b"}, started(effects))
}

// 1,000 Tasks and more through one process: what is kept is bounded.
func TestApply_MemoryIsBounded(t *testing.T) {
	b := open(t, session.Limits{KeepFinished: 50, KeepSessions: 20, SessionBytes: 4096, MemoryBytes: 40_000, AnswerBytes: 100})
	forgot := 0
	for i := range 1000 {
		id := fmt.Sprint("t", i)
		in := ""
		if i%3 == 0 && i > 0 {
			in = fmt.Sprint("s-t", i-1)
		}
		require.IsType(t, session.Accepted{}, b.submit(id, in, "")[0])
		b.moved(id, service.Planning)
		b.moved(id, service.Running)
		big := session.Memory{}
		for range 20 {
			big.Conversation = append(big.Conversation, model.Message{Role: model.User, Content: strings.Repeat("x", 500)})
		}
		b.feed(session.Finished{At: b.at, TaskID: id, State: service.Completed, Answer: strings.Repeat("あ", 1000), Memory: big})
		for _, e := range b.effects {
			if f, ok := e.(session.Forgot); ok {
				forgot += len(f.Tasks)
			}
		}
		queued, active, finished, sessions := b.s.Counts()
		require.Zero(t, queued+active)
		require.LessOrEqual(t, finished, 50)
		require.LessOrEqual(t, sessions, 20)
	}
	require.Equal(t, 950, forgot)
	require.Less(t, len(bytes(t, b.s)), 300_000)
	_, f := b.s.Find("t0", "")
	require.Equal(t, service.CodeUnknownTask, f.Code)
	task, _ := b.s.Find("t999", "")
	require.LessOrEqual(t, len(task.Answer), 103)
	require.Equal(t, service.CodeUnknownSession, b.submit("z", "s-t0", "")[0].(session.Refused).Fault.Code)
}

func TestMemory_BoundedKeepsTheNewest(t *testing.T) {
	m := session.Memory{Denied: []session.DeniedCall{{Tool: "write_file", Subject: "/etc/x"}}}
	for i := range 100 {
		m.Conversation = append(m.Conversation, model.Message{Role: model.User, Content: fmt.Sprintf("%0200d", i)})
		m.Results = append(m.Results, session.Result{Title: fmt.Sprint(i)})
	}
	s := m.Bounded(4000)
	require.LessOrEqual(t, s.Size(), 4000)
	require.Len(t, s.Results, 8)
	require.Equal(t, "99", s.Results[7].Title)
	require.Contains(t, s.Conversation[len(s.Conversation)-1].Content, "99")
	require.Len(t, s.Denied, 1, "security decisions go last")
	require.Len(t, m.Conversation, 100, "the original is untouched")
	require.Equal(t, m, m.Bounded(1<<20))
	require.LessOrEqual(t, m.Bounded(10).Size(), 10)
}

func bytes(t testing.TB, s session.State) string {
	t.Helper()
	b, err := json.Marshal(s)
	require.NoError(t, err)
	return string(b)
}
