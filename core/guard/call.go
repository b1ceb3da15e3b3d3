package guard

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/agent-mcp/agent-mcp/ports/model"
)

// Marks of a call that a model printed instead of making it.
var callMarks = regexp.MustCompile(`(?i)<tool_call>|<function_call>|<function=|<invoke\s+name=|<tool\s+name=|\[TOOL_CALLS?\]|<\|python_tag\|>|<\|tool_call`)

// PrintedCall recognises a call printed as text: marks of the known chat templates, JSON with a call's shape (bare, fenced or
// in a list), or an offered tool's name used like a function at the start of a line. It is never run.
func PrintedCall(s string, tools []model.Tool) bool {
	if callMarks.MatchString(s) {
		return true
	}
	offered := map[string]bool{}
	for _, t := range tools {
		offered[t.Name] = true
	}
	for l := range strings.Lines(s) {
		name, rest, ok := strings.Cut(strings.Trim(l, " \t`\n"), "(")
		if ok && offered[name] && strings.HasSuffix(strings.TrimRight(rest, "; "), ")") {
			return true
		}
	}
	whole := strings.TrimSpace(s)
	if looksLikeCall(whole, offered, true) {
		return true
	}
	parts := strings.Split(s, "```")
	for i := 1; i < len(parts); i += 2 {
		if _, body, ok := strings.Cut(parts[i], "\n"); ok && looksLikeCall(body, offered, false) {
			return true
		}
	}
	if i := strings.IndexAny(s, "{"); i > 0 && i < len(s) {
		return looksLikeCall(s[i:], offered, false)
	}
	return false
}

// looksLikeCall reads s as JSON. An unknown name counts only when nothing else is in the reply.
func looksLikeCall(s string, offered map[string]bool, alone bool) bool {
	var v any
	d := json.NewDecoder(strings.NewReader(s))
	if d.Decode(&v) != nil {
		return false
	}
	return callShaped(v, offered, alone && !d.More())
}

func callShaped(v any, offered map[string]bool, alone bool) bool {
	switch v := v.(type) {
	case []any:
		return len(v) > 0 && callShaped(v[0], offered, alone)
	case map[string]any:
		for _, k := range []string{"tool_calls", "function", "tool_call", "function_call"} {
			switch inner := v[k].(type) {
			case map[string]any, []any:
				return callShaped(inner, offered, alone)
			case string:
				v = map[string]any{"name": inner, "arguments": firstOf(v, "arguments", "parameters", "args", "input")}
			}
		}
		name, _ := firstOf(v, "name", "tool", "tool_name", "action").(string)
		args := firstOf(v, "arguments", "parameters", "args", "input", "action_input")
		_, object := args.(map[string]any)
		_, text := args.(string)
		return name != "" && (offered[name] || alone && (object || text))
	}
	return false
}

// firstOf returns the first of the names that is there.
func firstOf(v map[string]any, names ...string) any {
	for _, n := range names {
		if x, ok := v[n]; ok {
			return x
		}
	}
	return nil
}
