package weave

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// maxShown bounds what is shown of one value of a document, in characters.
const maxShown = 200

// tame makes what a stranger's document says fit for a terminal: control and formatting characters are written as escapes, so
// that they can neither move the cursor nor add lines, and long values are cut.
func tame(f *fault.Error) *fault.Error {
	if f == nil {
		return nil
	}
	out := *f
	out.Args = make(fault.Args, len(f.Args))
	for name, value := range f.Args { // a set: order does not matter here
		if s, ok := value.(string); ok {
			value = plain(s)
		}
		out.Args[name] = value
	}
	out.Reasons = nil
	for _, inner := range f.Reasons {
		out.Reasons = append(out.Reasons, tame(inner))
	}
	return &out
}

func plain(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n++; n > maxShown {
			b.WriteString("…")
			break
		}
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co) || r == unicode.ReplacementChar {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
