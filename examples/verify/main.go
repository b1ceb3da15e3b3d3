// Command verify checks one command of MissionWeave: verify DATA REGISTRY DOCUMENT, where DATA is the protocol's data folder.
package main

import (
	"fmt"
	"os"

	"github.com/agent-mcp/agent-mcp/adapters/schema/compiled"
	"github.com/agent-mcp/agent-mcp/app/signed"
)

func main() {
	desk, err := signed.Open(os.DirFS(os.Args[1]), compiled.New(signed.Formats()))
	if err != nil {
		panic(err)
	}
	registry, _ := os.ReadFile(os.Args[2])
	document, _ := os.ReadFile(os.Args[3]) // what cannot be read fails at stage 1
	r, err := desk.Verify(signed.Request{Profile: "command", Text: document, Registry: registry})
	if err != nil || !r.Verified {
		fmt.Println("not verified:", r.Stage, r.Reason, err)
		os.Exit(1)
	}
	fmt.Println(r.PrincipalType, r.PrincipalID, "signed it at", r.Time, r.Hash)
}
