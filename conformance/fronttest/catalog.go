package fronttest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/text"
)

// Catalog is a text.Catalog without a language: a text is its key and its sorted arguments, "mcp.id_in_use" or
// "run.busy limit=4". A test can so name what it expects.
type Catalog struct{}

var _ text.Catalog = Catalog{}

// Text implements text.Catalog.
func (Catalog) Text(key text.Key, args map[string]any) string {
	keys := make([]string, 0, len(args))
	for k := range args {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	var b strings.Builder
	b.WriteString(string(key))
	for _, k := range keys {
		fmt.Fprintf(&b, " %s=%v", k, args[k])
	}
	return b.String()
}

// Fault implements text.Catalog.
func (c Catalog) Fault(f *fault.Error) string {
	lines := []string{c.Text(text.Key(f.Code), f.Args)}
	for _, r := range f.Reasons {
		lines = append(lines, c.Fault(r))
	}
	return strings.Join(lines, "\n")
}

// Tag implements text.Catalog: "und", no language.
func (Catalog) Tag() string { return "und" }
