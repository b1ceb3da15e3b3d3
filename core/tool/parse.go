package tool

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
)

// Bounds of one call's arguments.
const (
	MaxArgumentBytes = 4 << 20 // the whole JSON object
	MaxPathBytes     = 4096    // one path, alias or directory
	MaxPatternBytes  = 4096
	MaxArgs          = 512
	maxShown         = 60 // runes of a model's own text that a message repeats
)

// Codes. A bad call is the model's own mistake: it is told, counted by Cause, and nothing runs (AGT-03).
const (
	CodeUnknownTool   fault.Code = "tool.unknown"          // args: tool, known, nearest
	CodeBadArguments  fault.Code = "tool.bad_arguments"    // args: tool; one reason per problem
	CodeNotObject     fault.Code = "tool.arguments_object" // args: tool, detail
	CodeTooLarge      fault.Code = "tool.arguments_size"   // args: tool, size, limit
	CodeUnknownField  fault.Code = "tool.unknown_field"    // args: tool, field, known, nearest
	CodeMissingField  fault.Code = "tool.missing_field"    // args: tool, field, want
	CodeFieldType     fault.Code = "tool.field_type"       // args: tool, field, want, got
	CodeFieldValue    fault.Code = "tool.field_value"      // args: tool, field, detail
	CodeFieldTwice    fault.Code = "tool.field_twice"      // args: tool, field
	CodeFieldEncoding fault.Code = "tool.field_encoding"   // args: tool, field — NUL or invalid UTF-8
	CodeFieldTooLarge fault.Code = "tool.field_size"       // args: tool, field, size, limit
	CodeNoChange      fault.Code = "tool.patch_same"       // args: tool, field — old equals new
)

// Parse turns a native call into a Call. It is strict: unknown, missing, doubled and ill-typed arguments are named, all
// of them at once, with the nearest known name; only a lossless coercion is made ("5" → 5, "true" → true, 5 → "5",
// null → absent, a JSON list inside a string, one bare word → a list of one). The fault is CodeUnknownTool,
// CodeNotObject, CodeTooLarge or CodeBadArguments with its reasons.
func Parse(call model.ToolCall) (Call, *fault.Error) {
	s, ok := lookup(Name(call.Name))
	if !ok {
		return Call{}, unknownTool(call.Name)
	}
	if n := len(call.Arguments); n > MaxArgumentBytes {
		return Call{}, fault.New(CodeTooLarge, "tool", call.Name, "size", n, "limit", MaxArgumentBytes)
	}
	members, bad := object(call.Arguments)
	if bad != "" {
		return Call{}, fault.New(CodeNotObject, "tool", call.Name, "detail", bad)
	}
	c := Call{ID: call.ID, Name: s.name}
	reasons := fill(&c, s, members)
	if len(reasons) == 0 {
		reasons = check(c)
	}
	if len(reasons) > 0 {
		return Call{}, fault.New(CodeBadArguments, "tool", call.Name).With(reasons...)
	}
	defaults(&c)
	return c, nil
}

// fill sets every field of c from members and returns what is wrong, in the order of the arguments, missing ones last.
func fill(c *Call, s spec, members []member) []*fault.Error {
	var reasons []*fault.Error
	given := make(map[string]bool, len(members)) // named in the call
	seen := make(map[string]bool, len(members))  // named, and not only null
	for _, m := range members {
		if given[m.name] {
			reasons = append(reasons, fault.New(CodeFieldTwice, "tool", string(s.name), "field", show(m.name)))
			seen[m.name] = true
			continue
		}
		given[m.name] = true
		f, ok := s.field(m.name)
		if !ok {
			known := s.fieldNames()
			reasons = append(reasons, fault.New(CodeUnknownField, "tool", string(s.name), "field", show(m.name),
				"known", strings.Join(known, ", "), "nearest", nearest(m.name, known)))
			continue
		}
		if m.raw.isNull() {
			continue
		}
		seen[m.name] = true
		v, reason := convert(s.name, f, m.raw)
		if reason != nil {
			reasons = append(reasons, reason)
			continue
		}
		f.set(c, v)
	}
	for _, f := range s.fields {
		if f.required && !seen[f.name] {
			reasons = append(reasons, fault.New(CodeMissingField, "tool", string(s.name), "field", f.name, "want", f.kind.String()))
		}
	}
	return reasons
}

// check judges what the types alone do not say.
func check(c Call) []*fault.Error {
	bad := func(field, detail string) []*fault.Error {
		return []*fault.Error{fault.New(CodeFieldValue, "tool", string(c.Name), "field", field, "detail", detail)}
	}
	switch {
	case c.Name == Patch && c.Old == "":
		return bad("old", "is empty; give the exact text to replace")
	case c.Name == Patch && c.Old == c.New:
		return []*fault.Error{fault.New(CodeNoChange, "tool", string(c.Name), "field", "new")}
	case c.Name == Search && c.Pattern == "":
		return bad("pattern", "is empty")
	case c.Name == Move && c.Path == c.Dest:
		return bad("dest", "equals path")
	}
	return nil
}

func defaults(c *Call) {
	if (c.Name == List || c.Name == Search) && c.Path == "" {
		c.Path = "."
	}
	if c.Name == Read && c.Offset == 0 {
		c.Offset = 1
	}
}

func unknownTool(name string) *fault.Error {
	known := make([]string, 0, 11)
	for _, n := range Names() {
		known = append(known, string(n))
	}
	return fault.New(CodeUnknownTool, "tool", show(name), "known", strings.Join(known, ", "), "nearest", nearest(name, known))
}

func (s spec) field(name string) (field, bool) {
	for _, f := range s.fields {
		if f.name == name {
			return f, true
		}
	}
	return field{}, false
}

func (s spec) fieldNames() []string {
	names := make([]string, len(s.fields))
	for i, f := range s.fields {
		names[i] = f.name
	}
	return names
}

// show makes foreign text safe and short for a message.
func show(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	if utf8.RuneCountInString(s) <= maxShown {
		return s
	}
	return string([]rune(s)[:maxShown]) + "…"
}

// Explain says in English, for the model, what was wrong with its call and how to do it right.
func Explain(f *fault.Error) string {
	arg := func(e *fault.Error, key string) string { return fmt.Sprint(e.Args[key]) }
	maybe := func(e *fault.Error) string {
		if n := arg(e, "nearest"); n != "" && n != "<nil>" {
			return " Did you mean " + n + "?"
		}
		return ""
	}
	switch f.Code {
	case CodeUnknownTool:
		return fmt.Sprintf("There is no tool %q.%s Tools: %s.", arg(f, "tool"), maybe(f), arg(f, "known"))
	case CodeNotObject:
		return fmt.Sprintf("%s: the arguments must be one JSON object (%s).", arg(f, "tool"), arg(f, "detail"))
	case CodeTooLarge:
		return fmt.Sprintf("%s: the arguments have %s bytes; the limit is %s. Write the file in parts.", arg(f, "tool"), arg(f, "size"), arg(f, "limit"))
	case CodeBadArguments:
		lines := make([]string, 0, len(f.Reasons)+1)
		for _, r := range f.Reasons {
			lines = append(lines, explainField(r, arg, maybe))
		}
		return arg(f, "tool") + " was not run: " + strings.Join(lines, " ")
	}
	return string(f.Code)
}

func explainField(r *fault.Error, arg func(*fault.Error, string) string, maybe func(*fault.Error) string) string {
	field := arg(r, "field")
	switch r.Code {
	case CodeUnknownField:
		return fmt.Sprintf("Unknown argument %q.%s Arguments: %s.", field, maybe(r), arg(r, "known"))
	case CodeMissingField:
		return fmt.Sprintf("%s is missing (%s).", field, arg(r, "want"))
	case CodeFieldType:
		return fmt.Sprintf("%s must be %s, not %s.", field, arg(r, "want"), arg(r, "got"))
	case CodeFieldValue:
		return fmt.Sprintf("%s %s.", field, arg(r, "detail"))
	case CodeFieldTwice:
		return fmt.Sprintf("%s is given twice.", field)
	case CodeFieldEncoding:
		return fmt.Sprintf("%s holds a NUL or is not valid UTF-8.", field)
	case CodeFieldTooLarge:
		return fmt.Sprintf("%s is too long (%s, at most %s).", field, arg(r, "size"), arg(r, "limit"))
	case CodeNoChange:
		return "old and new are equal."
	}
	return string(r.Code)
}
