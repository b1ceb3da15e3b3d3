package agent

import (
	"slices"

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
	r.Message.Content = clean(r.Message.Content)
	return r
}
