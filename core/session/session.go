package session

// Limits bound what one process keeps. Zero means the default.
type Limits struct {
	MaxQueued    int // Tasks waiting while one runs; 64. Above it service.CodeBusy
	KeepFinished int // finished Tasks that can still be asked for; 1000, the oldest leave first
	KeepSessions int // Sessions; 256, the longest idle leave first
	MemoryBytes  int // of all Sessions together; 32 MiB
	SessionBytes int // of one Session; 1 MiB
	AnswerBytes  int // of a final answer that is kept; 64 KiB
}

// State is all Tasks and Sessions of one process.
type State struct{ limits Limits }

// New is the empty state.
func New(l Limits) State { return State{limits: l} }

// Apply is the machine. It never mutates s.
func Apply(s State, e Event) (State, []Effect) { return s, nil }
