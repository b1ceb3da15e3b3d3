package guard

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/core/prompt"
	"github.com/agent-mcp/agent-mcp/ports/model"
)

// Redacted is a request as a log may keep it: without thinking and without images (OLL-14, LOG-02).
func Redacted(r model.Request) model.Request {
	r.Messages = slices.Clone(r.Messages)
	for i := range r.Messages {
		r.Messages[i].Thinking, r.Messages[i].Images = "", nil
	}
	return r
}

// RedactedReply is a reply as a log may keep it: without thinking, in its own field or inside the words.
func RedactedReply(r model.Reply) model.Reply {
	r.Message.Thinking, r.Message.Images = "", nil
	r.Message.Content = Spoken(r.Message.Content)
	return r
}

// Spoken takes thinking out of words: everything up to the last closing mark, and an opening one that never closes
// (OLL-14).
func Spoken(s string) string {
	if i := strings.LastIndex(s, "</think>"); i >= 0 {
		s = s[i+len("</think>"):]
	}
	if i := strings.Index(s, "<think>"); i >= 0 {
		s = s[:i]
	}
	return strings.TrimSpace(s)
}

// Shortened is what the conversation keeps of a call's arguments: long texts are cut, or one large file that was written
// would fill the context of every later call (AGT-09). limit is a prompt.Weight. The call itself is made with all of it. The answer is always JSON.
func Shortened(args json.RawMessage, limit int) json.RawMessage {
	if !json.Valid(args) {
		return json.RawMessage("{}")
	}
	if prompt.Weight(string(args)) <= limit {
		return args
	}
	var fields map[string]any
	if json.Unmarshal(args, &fields) == nil {
		for k, v := range fields {
			if s, ok := v.(string); ok {
				fields[k] = prompt.Fit(s, max(limit/2, 200))
			}
		}
		if b, err := json.Marshal(fields); err == nil && prompt.Weight(string(b)) <= 2*limit {
			return b
		}
	}
	return json.RawMessage(fmt.Sprintf(`{"left_out":"%d bytes"}`, len(args)))
}
