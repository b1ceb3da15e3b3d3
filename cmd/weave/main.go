// Command weave verifies, signs and canonicalises Signed Documents of MissionWeave and runs its conformance bundles:
// `weave --help` tells how to use it.
package main

import (
	"os"

	"github.com/agent-mcp/agent-mcp/app/wire/weave"
)

func main() { os.Exit(weave.Main()) }
