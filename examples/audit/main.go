// Command audit checks the hash chain of audit files and counts what they record:
//
//	go run ./examples/audit ~/.local/state/agent-mcp/logs/audit-*.jsonl
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/agent-mcp/agent-mcp/core/audit"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: audit FILE…")
		os.Exit(2)
	}
	good := true
	for _, name := range os.Args[1:] {
		ok, err := check(name, os.Stdout)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		good = good && ok && err == nil
	}
	if !good {
		os.Exit(1)
	}
}

// check verifies one file. A chain whose first part was rotated away is good, but said not to be whole.
func check(name string, out io.Writer) (ok bool, err error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return false, err
	}
	kinds := map[string]int{}
	rep, err := audit.Verify(func(fn func([]byte) bool) error {
		for line := range bytes.Lines(data) {
			var r struct{ Kind string }
			if json.Unmarshal(line, &r) == nil {
				kinds[r.Kind]++
			}
			if !fn(bytes.TrimSuffix(line, []byte("\n"))) {
				break
			}
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	verdict := "good"
	if rep.Fault != nil {
		verdict = "BROKEN: " + rep.Fault.Error()
	} else if !rep.Whole() {
		verdict = fmt.Sprintf("good, but not whole: %d records before it are missing, torn end: %t", rep.Pruned, rep.Torn)
	}
	_, err = fmt.Fprintf(out, "%s: %d records, %s\n", name, rep.Lines, verdict)
	for _, k := range slices.Sorted(maps.Keys(kinds)) {
		_, _ = fmt.Fprintf(out, "  %-18s %d\n", k, kinds[k])
	}
	return rep.Fault == nil, err
}
