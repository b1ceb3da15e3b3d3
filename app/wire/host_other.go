//go:build !linux && !windows

package wire

import (
	"github.com/agent-mcp/agent-mcp/adapters/sandbox/unsupported"
	"github.com/agent-mcp/agent-mcp/ports/journal"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// Helper does nothing here: there is no sandbox that needs one.
func Helper() {}

// newSandbox refuses honestly: nothing is run without confinement.
func newSandbox() sandbox.Sandbox { return unsupported.New() }

// hostUndoers is empty here: no sandbox leaves anything, and a journal that tells of such a thing is refused (REC-07).
func hostUndoers() map[journal.Kind]journal.Undoer { return nil }

// keepRuns does nothing: this system's sandbox makes no directories.
func keepRuns(sandbox.Sandbox, string, journal.Guard) {}
