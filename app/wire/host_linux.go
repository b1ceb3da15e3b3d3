package wire

import (
	"path/filepath"

	"github.com/agent-mcp/agent-mcp/adapters/sandbox/linux"
	"github.com/agent-mcp/agent-mcp/ports/journal"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// Helper turns this process into the sandbox's helper when it was started as one; it does not return then.
func Helper() { linux.RunHelperIfAsked() }

// keepRuns lets a sandbox that needs directories of its own make them in the instance's folder, on record.
func keepRuns(box sandbox.Sandbox, instance string, guard journal.Guard) {
	if b, ok := box.(*linux.Sandbox); ok {
		b.UseScratch(filepath.Join(instance, "runs"), guard)
	}
}

func newSandbox() sandbox.Sandbox { return linux.New(linux.Options{}) }

// hostUndoers take back what this system's sandbox leaves when it is killed: control groups.
func hostUndoers() map[journal.Kind]journal.Undoer {
	return map[journal.Kind]journal.Undoer{journal.KindCgroup: linux.Undoer{}}
}
