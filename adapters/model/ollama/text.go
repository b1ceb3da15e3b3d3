package ollama

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/agent-mcp/agent-mcp/ports/model"
)

const (
	openTag  = "<think>"
	closeTag = "</think>"
)

// splitThink takes leaked reasoning out of content: everything up to the last closing tag, and everything from an opening
// tag at the start of a line that is never closed. JSON is left alone: there a tag is data.
func splitThink(content string) (thinking, answer string) {
	if !strings.Contains(content, openTag) && !strings.Contains(content, closeTag) {
		return "", content
	}
	if json.Valid([]byte(content)) {
		return "", content
	}
	answer = content
	if i := strings.LastIndex(answer, closeTag); i >= 0 {
		thinking, answer = answer[:i], strings.TrimLeftFunc(answer[i+len(closeTag):], unicode.IsSpace)
	}
	for at := 0; ; {
		i := strings.Index(answer[at:], openTag)
		if i < 0 {
			break
		}
		i += at
		head := answer[:i]
		if before := strings.TrimRight(head, " \t"); before == "" || strings.HasSuffix(before, "\n") {
			thinking += answer[i:]
			answer = strings.TrimRightFunc(head, unicode.IsSpace)
			break
		}
		at = i + len(openTag)
	}
	thinking = strings.NewReplacer(openTag, "", closeTag, "").Replace(thinking)
	return strings.TrimSpace(thinking), answer
}

// headFilter sorts streamed content: what stands between tags at the very head is reasoning. It holds back only what may
// still become the opening tag.
type headFilter struct {
	held  string
	state uint8 // 0 head, 1 inside, 2 after
}

func (f *headFilter) push(s string) (content, thinking string) {
	f.held += s
	if f.state == 0 {
		head := strings.TrimLeftFunc(f.held, unicode.IsSpace)
		switch {
		case strings.HasPrefix(head, openTag):
			f.state, f.held = 1, head[len(openTag):]
		case strings.HasPrefix(openTag, head):
			return "", ""
		default:
			f.state = 2
		}
	}
	if f.state == 1 {
		i := strings.Index(f.held, closeTag)
		if i < 0 {
			keep := len(f.held) - suffixOf(f.held, closeTag)
			thinking, f.held = f.held[:keep], f.held[keep:]
			return "", thinking
		}
		thinking, f.held, f.state = f.held[:i], f.held[i+len(closeTag):], 2
	}
	content, f.held = f.held, ""
	return content, thinking
}

// suffixOf is the length of the longest end of s that begins tag.
func suffixOf(s, tag string) int {
	for n := min(len(s), len(tag)-1); n > 0; n-- {
		if strings.HasPrefix(tag, s[len(s)-n:]) {
			return n
		}
	}
	return 0
}

// repeats tells whether a text ends in at least ten equal pieces of at most 200 bytes, 20 bytes together.
func repeats(s string) bool {
	const times, longest = 10, 200
	tail := s[max(0, len(s)-times*longest):]
	for p := 1; p <= longest && p*times <= len(tail); p++ {
		span := max(p*times, 20)
		if span > len(tail) {
			continue
		}
		end := tail[len(tail)-span:]
		if end[p:] == end[:span-p] {
			return true
		}
	}
	return false
}

// arguments is an object, also from a string that holds one; what is neither comes back as it was. Absent means none.
func arguments(raw json.RawMessage) json.RawMessage {
	b := bytes.ToValidUTF8(bytes.TrimSpace(raw), []byte("\uFFFD")) // it goes back to the server, into a body that must be UTF-8
	if len(b) == 0 || string(b) == "null" || string(b) == `""` {
		return json.RawMessage("{}")
	}
	var s string
	if b[0] == '"' && json.Unmarshal(b, &s) == nil {
		in := []byte(strings.TrimSpace(s))
		var probe map[string]json.RawMessage
		if json.Unmarshal(in, &probe) == nil && probe != nil {
			return in
		}
	}
	return slices.Clone(b)
}

// named gives every call an id of its own.
func named(calls []model.ToolCall) []model.ToolCall {
	taken := map[string]bool{}
	for _, c := range calls {
		taken[c.ID] = true
	}
	seen := map[string]bool{"": true}
	for i := range calls {
		id := calls[i].ID
		for n := i + 1; seen[id]; n++ {
			if id = fmt.Sprintf("call_%d", n); taken[id] {
				id = ""
			}
		}
		calls[i].ID, seen[id] = id, true
	}
	return calls
}
