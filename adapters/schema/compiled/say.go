package compiled

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/ports/schema"
)

// say writes what a keyword asks for, in the words of the schema: the same in every language.
func (f failure) say(doc schema.Tree) string {
	r := f.by
	switch f.rule {
	case "required", "additionalProperties", "propertyNames":
		return strings.ToValidUTF8(f.name, "\uFFFD")
	case "type":
		return strings.Join(r.typeNames(), ", ")
	case "const":
		return brief(r.is.doc, r.is.n)
	case "enum":
		var words []string
		for _, l := range r.enum {
			words = append(words, brief(l.doc, l.n))
		}
		return strings.Join(words, ", ")
	case "pattern":
		return r.patternText
	case "format":
		return r.formatName
	case "minLength":
		return fmt.Sprint(r.leastLength)
	case "maxLength":
		return fmt.Sprint(r.mostLength - 1)
	case "minItems":
		return fmt.Sprint(r.leastItems)
	case "maxItems":
		return fmt.Sprint(r.mostItems - 1)
	case "minProperties":
		return fmt.Sprint(r.leastMembers)
	case "maxProperties":
		return fmt.Sprint(r.mostMembers - 1)
	case "minimum":
		return r.least.text()
	case "maximum":
		return r.most.text()
	case "exclusiveMinimum":
		return r.above.text()
	case "exclusiveMaximum":
		return r.below.text()
	case "uniqueItems":
		return brief(doc, f.node)
	}
	return ""
}

func (r *rule) typeNames() (out []string) {
	for kind, name := range []string{schema.Null: "null", schema.True: "boolean", schema.Number: "number", schema.String: "string", schema.Array: "array", schema.Object: "object"} {
		if name != "" && r.kinds>>kind&1 == 1 {
			out = append(out, name)
		}
	}
	if r.integer {
		out = append(out, "integer")
	}
	slices.Sort(out)
	return out
}

// brief shows a value of a schema or document.
func brief(doc schema.Tree, n int) string {
	switch doc.Kind(n) {
	case schema.Null:
		return "null"
	case schema.False:
		return "false"
	case schema.True:
		return "true"
	case schema.Number:
		return string(doc.Text(n))
	case schema.String:
		text := strings.ToValidUTF8(string(doc.Text(n)), "\uFFFD")
		if r := []rune(text); len(r) > 60 {
			text = string(r[:60]) + "…"
		}
		return fmt.Sprintf("%q", text)
	}
	return "…"
}

func (d *decimal) text() string { return string(d.source) }
