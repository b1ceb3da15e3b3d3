//go:build !windows

package windows

// New returns a Sandbox that refuses: this is another system.
func New(o Options) *Sandbox { return newSandbox(o, nil) }

// NewUndoer returns one that knows nothing: this system keeps none of these.
func NewUndoer() Undoer { return Undoer{} }
