package session

import (
	"time"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/service"
	"github.com/agent-mcp/agent-mcp/ports/turn"
)

// Event is a fact from outside. The types below are all of them.
type Event interface{ event() }

// Submitted asks to accept a Task (agent_run). Request is not judged here: the caller checked text, images, temperature.
type Submitted struct {
	At          time.Time
	TaskID      string   // fresh
	NewSession  string   // fresh; used when SessionID is empty
	SessionID   string   // "" = a new Session (MCP-RUN-02)
	Owner       string   // "" = nobody's (REC-05)
	Request     string   // MCP-RUN-01
	Temperature *float64 // of this Task only (MCP-RUN-03)
	Images      [][]byte // dropped when the Task ends
}

// Waiting says that a started Task waits for another instance's turn. A zero Holder clears it.
type Waiting struct {
	TaskID string
	Holder turn.Holder
}

// Noticed adds what the owner should know of a started Task: accesses that the policy refused, and files that the owner's own
// tools will obey. A file that is known already is not added.
type Noticed struct {
	TaskID  string
	Refused int
	Obeyed  []Obeyed
}

// Moved reports a started Task's state (planning or running) and progress.
type Moved struct {
	At       time.Time
	TaskID   string
	State    service.State
	Progress Progress
}

// Finished reports how a started Task ended, after clean-up. State must be final; Completed is legal only from running.
// A Task whose cancel was asked ends as cancelled unless it was completed before the cancel reached it.
type Finished struct {
	At       time.Time
	TaskID   string
	State    service.State
	Progress Progress
	Answer   string       // Completed: the final answer
	Fault    *fault.Error // Failed: why; Cancelled: may say why
	Memory   Memory       // what the Session remembers from now on
}

// CancelAsked asks to stop one Task. Idempotent; final states never change.
type CancelAsked struct {
	At     time.Time
	TaskID string
}

// OwnerGone stops every Task of an owner (REC-04). An empty owner is nobody and stops nothing.
type OwnerGone struct {
	At    time.Time
	Owner string
}

// Stopping cancels everything and accepts nothing more (REC-05).
type Stopping struct{ At time.Time }

func (Submitted) event()   {}
func (Waiting) event()     {}
func (Moved) event()       {}
func (Noticed) event()     {}
func (Finished) event()    {}
func (CancelAsked) event() {}
func (OwnerGone) event()   {}
func (Stopping) event()    {}

// Effect is something for the caller to do. The types below are all of them.
type Effect interface{ effect() }

// Accepted answers Submitted.
type Accepted struct {
	TaskID, SessionID string
	Ahead             int // unfinished Tasks before this one
}

// Refused answers Submitted or CancelAsked; nothing was changed. Codes: service.CodeBusy, CodeUnknownSession, CodeStopping,
// CodeUnknownTask.
type Refused struct {
	TaskID string
	Fault  *fault.Error
}

// Start says whose turn it is. At most one Task is started and not finished.
type Start struct {
	TaskID, SessionID, Owner string
	Request                  string
	Temperature              *float64
	Images                   [][]byte
	Memory                   Memory // of the Session, as the Tasks before left it
}

// Cancel asks the caller to stop a started Task. Comes at most once per Task.
type Cancel struct{ TaskID string }

// Ended tells that a Task reached a final state.
type Ended struct {
	TaskID, SessionID string
	State             service.State
	Fault             *fault.Error
}

// Forgot names what left the memory bounds: finished Tasks and idle Sessions that can no longer be asked for.
type Forgot struct{ Tasks, Sessions []string }

// Drained follows Stopping when no Task is started any more.
type Drained struct{}

// Broken reports an event that the machine's rules do not allow. The state is unchanged.
type Broken struct{ Fault *fault.Error }

func (Accepted) effect() {}
func (Refused) effect()  {}
func (Start) effect()    {}
func (Cancel) effect()   {}
func (Ended) effect()    {}
func (Forgot) effect()   {}
func (Drained) effect()  {}
func (Broken) effect()   {}

// CodeBadEvent says that an event cannot happen in this state: a bug of the caller. args: event, task, state
const CodeBadEvent fault.Code = "session.bad_event"
