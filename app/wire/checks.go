package wire

import (
	"context"

	"github.com/agent-mcp/agent-mcp/core/config"
	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// checkTransport refuses what this version does not serve: at apply, in show, and at every start.
func checkTransport(_ context.Context, cfg config.Config) ([]*fault.Error, error) {
	if t := cfg.MCP.Transport; t != config.TransportStdio {
		return nil, fault.New(CodeTransport, "transport", t)
	}
	return nil, nil
}
