package session

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// Apply is the machine. It never mutates s: what changes is copied first.
func Apply(s State, e Event) (State, []Effect) {
	if s.limits == (Limits{}) {
		s.limits = s.limits.withDefaults()
	}
	s.tick++
	m := machine{State: s}
	switch e := e.(type) {
	case Submitted:
		m.submit(e)
	case Waiting:
		m.change("waiting", e.TaskID, func(t *task) { t.Waits = e.Holder })
	case Noticed:
		m.change("noticed", e.TaskID, func(t *task) { t.Notices = t.Notices.with(e) })
	case Moved:
		m.moved(e)
	case Finished:
		m.finished(e)
	case CancelAsked:
		m.cancelAsked(e)
	case OwnerGone:
		for _, id := range s.OfOwner(e.Owner) {
			m.cancel(id, e.At)
		}
	case Stopping:
		m.stop(e.At)
	default:
		m.broken(fmt.Sprintf("%T", e), "", "")
	}
	m.next()
	return m.State, m.effects
}

// machine is one step under way: a State of its own and the effects so far.
type machine struct {
	State
	effects []Effect
}

func (m *machine) emit(e Effect) { m.effects = append(m.effects, e) }

func (m *machine) broken(event, id string, state service.State) {
	m.emit(Broken{fault.New(CodeBadEvent, "event", event, "task", id, "state", string(state))})
}

func (m *machine) refuse(id string, f *fault.Error) { m.emit(Refused{TaskID: id, Fault: f}) }

func (m *machine) submit(e Submitted) {
	if t, _ := m.find(e.TaskID); t != nil || e.TaskID == "" {
		m.broken("submitted", e.TaskID, "")
		return
	}
	ahead := len(m.open())
	id := e.SessionID
	known := m.sessions[id]
	switch {
	case m.stopping:
		m.refuse(e.TaskID, fault.New(service.CodeStopping))
		return
	case id != "" && (known == nil || known.owner != "" && known.owner != e.Owner):
		// Another client's Session is as unknown as one that never was.
		m.refuse(e.TaskID, fault.New(service.CodeUnknownSession, "session", id))
		return
	case m.active != nil && len(m.queue) >= m.limits.MaxQueued:
		m.refuse(e.TaskID, fault.New(service.CodeBusy, "limit", m.limits.MaxQueued))
		return
	case id == "" && (e.NewSession == "" || m.sessions[e.NewSession] != nil):
		m.broken("submitted", e.TaskID, "")
		return
	}
	if id == "" {
		id = e.NewSession
		m.putSession(id, sess{owner: e.Owner, open: 1, usedAt: m.tick})
	} else {
		m.useSession(id, +1)
	}
	t := &task{
		Task: Task{TaskID: e.TaskID, SessionID: id, Owner: e.Owner, State: service.Queued, AcceptedAt: e.At},
		start: Start{
			TaskID: e.TaskID, SessionID: id, Owner: e.Owner, Request: e.Request, Temperature: e.Temperature, Images: e.Images,
		},
	}
	m.queue = append(slices.Clone(m.queue), t)
	m.emit(Accepted{TaskID: e.TaskID, SessionID: id, Ahead: ahead})
	m.forget()
}

// next starts the first of the queue when nothing is started (FIFO, one at a time), and says when a stop is through.
func (m *machine) next() {
	if m.active == nil && len(m.queue) > 0 {
		t := *m.queue[0]
		m.queue = slices.Clone(m.queue[1:])
		start := t.start
		start.Memory = m.sessions[t.SessionID].memory
		t.start = Start{}
		m.active = &t
		m.emit(start)
	}
	if m.stopping && !m.drained && m.active == nil {
		m.drained = true
		m.emit(Drained{})
	}
}

// change replaces the started Task's record.
func (m *machine) change(event, id string, f func(*task)) bool {
	if m.active == nil || m.active.TaskID != id {
		m.broken(event, id, m.stateOf(id))
		return false
	}
	t := *m.active
	f(&t)
	m.active = &t
	return true
}

func (m *machine) stateOf(id string) service.State {
	if t, _ := m.find(id); t != nil {
		return t.State
	}
	return ""
}

func (m *machine) moved(e Moved) {
	from := m.stateOf(e.TaskID)
	if e.State.Final() || from != e.State && !CanMove(from, e.State) {
		m.broken("moved", e.TaskID, from)
		return
	}
	m.change("moved", e.TaskID, func(t *task) {
		if t.StartedAt.IsZero() {
			t.StartedAt = e.At
		}
		t.State, t.Progress = e.State, e.Progress
		t.Waits.Instance, t.Waits.PID, t.Waits.Task = "", 0, ""
	})
}

func (m *machine) finished(e Finished) {
	if m.active == nil || m.active.TaskID != e.TaskID {
		m.broken("finished", e.TaskID, m.stateOf(e.TaskID))
		return
	}
	t := *m.active
	state, why := e.State, e.Fault
	switch {
	case !state.Final() || !CanMove(t.State, state):
		// The Task is over whatever was said; a queue that waits for ever would be worse.
		m.broken("finished", e.TaskID, t.State)
		state, why = service.Failed, fault.New(CodeBadEvent, "event", "finished", "task", e.TaskID, "state", string(t.State))
	case t.Cancelling && state == service.Failed:
		state = service.Cancelled
		if why != nil && why.Code != fault.CodeCancelled {
			why = fault.New(fault.CodeCancelled).With(why)
		}
	}
	t.State, t.Progress, t.Cancelling = state, e.Progress, false
	if state == service.Completed {
		t.Answer = clip(e.Answer, m.limits.AnswerBytes)
	} else if t.Fault = why; why == nil && state == service.Cancelled {
		t.Fault = fault.New(fault.CodeCancelled)
	}
	m.active = nil
	if old := m.sessions[t.SessionID]; e.Memory.Size() > 0 {
		s := *old
		s.memory = e.Memory.Bounded(m.limits.SessionBytes)
		s.size = s.memory.Size()
		m.used += s.size - old.size
		m.putSession(t.SessionID, s)
	}
	m.end(&t, e.At)
}

// end files a Task in its final state.
func (m *machine) end(t *task, at time.Time) {
	t.EndedAt, t.start = at, Start{}
	m.done = maps.Clone(m.done)
	if m.done == nil {
		m.done = map[string]*task{}
	}
	m.done[t.TaskID] = t
	m.order = append(slices.Clone(m.order), t.TaskID)
	m.useSession(t.SessionID, -1)
	m.emit(Ended{TaskID: t.TaskID, SessionID: t.SessionID, State: t.State, Fault: t.Fault})
	m.forget()
}

func (m *machine) cancelAsked(e CancelAsked) {
	if t, _ := m.find(e.TaskID); t == nil {
		m.refuse(e.TaskID, fault.New(service.CodeUnknownTask, "task", e.TaskID))
		return
	}
	m.cancel(e.TaskID, e.At)
}

// cancel ends a queued Task at once and asks the caller to stop a started one.
func (m *machine) cancel(id string, at time.Time) {
	if m.active != nil && m.active.TaskID == id {
		if !m.active.Cancelling {
			m.change("cancel", id, func(t *task) { t.Cancelling = true })
			m.emit(Cancel{TaskID: id})
		}
		return
	}
	for i, q := range m.queue {
		if q.TaskID == id {
			m.queue = slices.Delete(slices.Clone(m.queue), i, i+1)
			t := *q
			t.State, t.Fault = service.Cancelled, fault.New(fault.CodeCancelled)
			m.end(&t, at)
			return
		}
	}
}

func (m *machine) stop(at time.Time) {
	m.stopping = true
	for _, t := range m.open() {
		m.cancel(t.TaskID, at)
	}
}

// clip cuts s to at most limit bytes at a rune boundary.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}
