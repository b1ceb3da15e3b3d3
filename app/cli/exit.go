package cli

import (
	"strings"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/ledger"
	"github.com/agent-mcp/agent-mcp/ports/model"
	"github.com/agent-mcp/agent-mcp/ports/snapshot"
)

// Exit codes.
const (
	ExitDone        = 0
	ExitFailed      = 1   // the operation failed
	ExitRefused     = 2   // start-up refused: usage, configuration, preflight, applied snapshot, recovery
	ExitDeclined    = 3   // `apply` declined
	ExitInterrupted = 130 // interrupted
)

// ExitCode is the one table from faults to exit codes. applying tells `apply`, whose stores fail as an operation, from a
// start, which they refuse.
func ExitCode(f *fault.Error, applying bool) int {
	if f == nil {
		return ExitDone
	}
	switch f.Code {
	case fault.CodeCancelled:
		return ExitInterrupted
	case snapshot.CodeFailed, ledger.CodeFailed:
		if applying {
			return ExitFailed
		}
		return ExitRefused
	case model.CodeNotFound, model.CodeNoTools, model.CodeForbidden, model.CodeUnreachable, model.CodeConnectTimeout:
		return ExitRefused // a Task's model faults never end the process: these come from start-up
	}
	area, _, _ := strings.Cut(string(f.Code), ".")
	switch area {
	case "usage", "config", "locale", "admin", "change", "snapshot", "consent", "policy", "broker", "image", "sandbox",
		"skill", "skills", "prompt", "workspace", "trace", "server", "journal", "instance", "recovery", "turn":
		return ExitRefused
	}
	return ExitFailed
}
