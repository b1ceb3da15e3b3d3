package windows

// New returns a Sandbox that refuses: its calls of the system are not part of it yet.
func New(o Options) *Sandbox { return newSandbox(o, nil) }
