package wire

import (
	"path/filepath"

	"github.com/agent-mcp/agent-mcp/adapters/sandbox/windows"
	"github.com/agent-mcp/agent-mcp/ports/journal"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// Helper does nothing here: the sandbox starts programs itself.
func Helper() {}

// keepRuns has the temporary directories of runs made in the instance's folder, which the next start empties.
func keepRuns(box sandbox.Sandbox, instance string, _ journal.Guard) {
	if b, ok := box.(*windows.Sandbox); ok {
		b.UseScratch(filepath.Join(instance, "runs"))
	}
}

func newSandbox() sandbox.Sandbox { return windows.New(windows.Options{}) }

// hostUndoers take back what this system's sandbox leaves when it is killed: entries in lists of rights, filters, the
// loopback exemption, and what lies in the profile.
func hostUndoers() map[journal.Kind]journal.Undoer {
	u, out := windows.NewUndoer(), map[journal.Kind]journal.Undoer{}
	for _, kind := range u.Kinds() {
		out[kind] = u
	}
	return out
}
