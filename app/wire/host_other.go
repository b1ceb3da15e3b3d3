//go:build !linux

package wire

import (
	"github.com/agent-mcp/agent-mcp/adapters/sandbox/unsupported"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// Helper does nothing here: there is no sandbox that needs one.
func Helper() {}

// newSandbox refuses honestly: nothing is run without confinement.
func newSandbox() sandbox.Sandbox { return unsupported.New() }
