// Package consent is the port that asks a person to allow something. Only `apply` uses it (CLI-02, CLI-04).
package consent

import (
	"context"

	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// Asker asks the person at the keyboard.
type Asker interface {
	// Ask shows question (already in the user's language) and returns true only for an explicit yes. No person there
	// (not a terminal) → CodeNobody, never a yes; the end of a person's input (Ctrl-D) is a no.
	Ask(ctx context.Context, question string) (bool, error)
}

// CodeNobody means that there is nobody to ask; `--yes` is the remedy.
const CodeNobody fault.Code = "consent.nobody"
