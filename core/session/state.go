package session

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/service"
	"github.com/agent-mcp/agent-mcp/ports/turn"
)

// Limits bound what one process keeps. Zero means the default.
type Limits struct {
	MaxQueued    int // Tasks waiting while one runs; 64, negative = none. Above it service.CodeBusy
	KeepFinished int // finished Tasks that can still be asked for; 1000, the oldest leave first
	KeepSessions int // Sessions; 256, the longest idle leave first
	MemoryBytes  int // of all Sessions together; 32 MiB
	SessionBytes int // of one Session; 1 MiB
	AnswerBytes  int // of a final answer that is kept; 64 KiB
}

func (l Limits) withDefaults() Limits {
	set := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	set(&l.MaxQueued, 64)
	l.MaxQueued = max(l.MaxQueued, 0)
	set(&l.KeepFinished, 1000)
	set(&l.KeepSessions, 256)
	set(&l.MemoryBytes, 32<<20)
	set(&l.SessionBytes, 1<<20)
	set(&l.AnswerBytes, 64<<10)
	return l
}

// State is all Tasks and Sessions of one process. Use New; a value is never mutated, so a copy is a snapshot.
type State struct {
	limits   Limits
	queue    []*task          // accepted, not started; oldest first
	active   *task            // started, not finished
	done     map[string]*task // finished, by id
	order    []string         // of done, oldest first
	sessions map[string]*sess
	used     int // bytes of all Sessions' Memory
	tick     uint64
	stopping bool
	drained  bool
}

// task is one record; replaced, never changed.
type task struct {
	Task
	start Start // cleared once handed out
}

// sess is one Session; replaced, never changed.
type sess struct {
	owner  string
	memory Memory
	size   int
	open   int    // Tasks queued or started
	usedAt uint64 // tick of the last use
}

// Task is what is known about one Task.
type Task struct {
	TaskID     string
	SessionID  string
	Owner      string
	State      service.State
	Ahead      int // unfinished Tasks before it
	Waits      turn.Holder
	Cancelling bool // a cancel was asked and is under way
	Progress   Progress
	Notices    Notices
	Answer     string
	Fault      *fault.Error // Failed, Cancelled: why
	AcceptedAt time.Time
	StartedAt  time.Time // first Moved
	EndedAt    time.Time
}

// New is the empty state.
func New(l Limits) State { return State{limits: l.withDefaults()} }

// Limits are the limits in force.
func (s State) Limits() Limits { return s.limits }

// Counts tells how many Tasks are waiting, started (0 or 1) and finished, and how many Sessions are held.
func (s State) Counts() (queued, active, finished, sessions int) {
	if s.active != nil {
		active = 1
	}
	return len(s.queue), active, len(s.done), len(s.sessions)
}

// Find answers agent_status: service.CodeUnknownTask, or CodeWrongSession when sessionID is given and is not the Task's
// (MCP-STS-02).
func (s State) Find(taskID, sessionID string) (Task, *fault.Error) {
	t, ahead := s.find(taskID)
	if t == nil {
		return Task{}, fault.New(service.CodeUnknownTask, "task", taskID)
	}
	if sessionID != "" && sessionID != t.SessionID {
		return Task{}, fault.New(service.CodeWrongSession, "task", taskID, "session", sessionID)
	}
	v := t.Task
	v.Ahead = ahead
	return v, nil
}

// Memory returns what a Session remembers; ok is false when it is unknown.
func (s State) Memory(sessionID string) (m Memory, ok bool) {
	if e := s.sessions[sessionID]; e != nil {
		return e.memory, true
	}
	return Memory{}, false
}

// OfOwner lists an owner's unfinished Tasks, the started one first.
func (s State) OfOwner(owner string) []string {
	var ids []string
	for _, t := range s.open() {
		if owner != "" && t.Owner == owner {
			ids = append(ids, t.TaskID)
		}
	}
	return ids
}

// open lists the unfinished Tasks, the started one first.
func (s State) open() []*task {
	if s.active == nil {
		return s.queue
	}
	return append([]*task{s.active}, s.queue...)
}

func (s State) find(id string) (t *task, ahead int) {
	for i, t := range s.open() {
		if t.TaskID == id {
			return t, i
		}
	}
	return s.done[id], 0
}

// MarshalJSON writes the canonical form: equal states give equal bytes.
func (s State) MarshalJSON() ([]byte, error) {
	type session struct {
		ID     string
		Owner  string
		Open   int
		Size   int
		Memory Memory
	}
	v := struct {
		Open     []Task
		Finished []Task
		Sessions []session
		Stopping bool
	}{Stopping: s.stopping}
	for _, t := range s.open() {
		v.Open = append(v.Open, t.Task)
	}
	for _, id := range s.order {
		v.Finished = append(v.Finished, s.done[id].Task)
	}
	for _, id := range slices.Sorted(maps.Keys(s.sessions)) {
		e := s.sessions[id]
		v.Sessions = append(v.Sessions, session{id, e.owner, e.open, e.size, e.memory})
	}
	return json.Marshal(v)
}

// CanMove is the table of Task states (spec section 2).
func CanMove(from, to service.State) bool {
	switch from {
	case service.Queued:
		return to == service.Planning || to == service.Cancelled || to == service.Failed
	case service.Planning:
		return to == service.Running || to == service.Failed || to == service.Cancelled
	case service.Running:
		return to == service.Planning || to.Final()
	}
	return false
}
