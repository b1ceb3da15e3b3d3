// Command peers is what the official Go SDK and mcp-go make of MCP: a client, and two bare servers that the product is measured
// against.
//
//	peers client REQUEST URL                    follows one Task over Streamable HTTP
//	peers client REQUEST COMMAND [ARGUMENT...]  over stdio
//	peers gosdk|mcpgo stdio                     serves agent_run and agent_status, which answer at once with fixed texts
//	peers gosdk|mcpgo ADDRESS                   over Streamable HTTP, stateless, at /mcp
package main

import (
	"fmt"
	"os"
)

func main() {
	var err error
	switch args := os.Args[1:]; {
	case len(args) > 2 && args[0] == "client":
		err = client(args[1], args[2], args[3:])
	case len(args) == 2 && args[0] == "gosdk":
		err = goSDK(args[1])
	case len(args) == 2 && args[0] == "mcpgo":
		err = mcpGo(args[1])
	default:
		err = fmt.Errorf("see the top of main.go")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
