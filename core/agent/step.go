package agent

// Step is the machine. It never mutates s and never fails: what went wrong is in the Outcome of Done.
func Step(s State, e Event) (State, []Effect) {
	return s, nil
}

// State is a Task's machine. The zero value waits for Began.
type State struct{}
