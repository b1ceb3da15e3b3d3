package mcp

import (
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/agent-mcp/agent-mcp/adapters/front/mcp/internal/wire"
)

const (
	keyProgressToken = "progressToken" // of params._meta; both eras
	wholeProgress    = 100             // per cent
)

// asksProgress reads the token of a client that wants to see progress; null is none.
func (r *request) asksProgress(meta wire.Members) *wire.Error {
	raw := meta.Get(keyProgressToken)
	if wire.IsNull(raw) {
		return nil
	}
	token, ok := wire.ParseID(raw) // a string or an integer, like an id
	if !ok {
		return wire.Fail(wire.InvalidParams, wire.CodeBadParams, "field", "_meta."+keyProgressToken)
	}
	r.progress = token
	return nil
}

// tell notes one notification that goes out before the result. There is one per request, since no request waits for a Task
// (MCP-ASY-01) and a token is no longer valid once its request is answered.
func (r *request) tell(percent int, message string) {
	if !r.progress.Known() {
		return
	}
	params := map[string]any{keyProgressToken: r.progress, "progress": percent, "total": wholeProgress}
	if message != "" {
		params["message"] = message
	}
	r.before = append(r.before, wire.Note{Method: string(mcp.MethodNotificationProgress), Params: params})
}
