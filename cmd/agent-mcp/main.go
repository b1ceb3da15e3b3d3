// Command agent-mcp is a confined local agent behind MCP: `agent-mcp --help` tells how to use it.
package main

import (
	"os"

	"github.com/agent-mcp/agent-mcp/app/wire"
)

func main() { os.Exit(wire.Main()) }
