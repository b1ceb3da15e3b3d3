package windows

// New makes a Sandbox. It starts nothing.
func New(o Options) *Sandbox { return newSandbox(o, system{}) }

// NewUndoer makes one that takes back what a killed Broker left on this machine.
func NewUndoer() Undoer { return Undoer{system{}} }
