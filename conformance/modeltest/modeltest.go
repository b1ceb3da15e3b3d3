// Package modeltest is the contract of ports/model as a test suite. Every adapter passes it: one that talks to a server
// against a server that plays the turns, one that plays itself directly. It never reaches a real model.
// Spec section 4 (OLL-02, OLL-10, OLL-13, OLL-14).
package modeltest

import (
	"testing"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
)

// Turn is one answer that the subject has to give, in the order of the requests.
type Turn struct {
	Content, Thinking string
	Calls             []model.ToolCall // as a server would send them: no id, arguments as a string, …
	DoneReason        string           // "" = "stop"
	Prompt, Output    int              // token counts, 0 = the server sends none
	Fail              fault.Code       // the failure that ends the turn, after Content when it is one of a stream
	Stall             bool             // silence after Content, until the caller goes away
}

// Subject is an adapter under test. The model's name is Name; it can call tools, think and see.
type Subject struct {
	Model model.Model
	// Seen returns what reached the model, in order.
	Seen func() []model.Request
}

// Name of the model that every request asks for.
const Name = "test"

// Factory makes a subject that plays the turns. Its own time limits are at most a second where a turn fails with
// CodeFirstChunk or CodeIdle, and a minute otherwise. It cleans up with t.Cleanup.
type Factory func(t *testing.T, turns ...Turn) Subject

// Failures are the codes that an adapter must hand through. A connect timeout cannot be played by a server.
var Failures = []fault.Code{
	model.CodeUnreachable, model.CodeFirstChunk, model.CodeIdle, model.CodeIncomplete, model.CodeRunnerDied,
	model.CodeServer, model.CodeBusy, model.CodeContextOverflow, model.CodeBrokenCall, model.CodeRepetition,
	model.CodeNotFound, model.CodeNoTools, model.CodeNoVision, model.CodeNoThinking, model.CodeBadRequest,
	model.CodeForbidden, model.CodeQuota, model.CodeSignIn, model.CodeProtocol,
}

// Run checks the contract of model.Model.
func Run(t *testing.T, f Factory) {
	t.Run("replies", func(t *testing.T) { replies(t, f) })
	t.Run("calls", func(t *testing.T) { calls(t, f) })
	t.Run("chunks", func(t *testing.T) { chunks(t, f) })
	t.Run("failures", func(t *testing.T) { failures(t, f) })
	t.Run("cancel", func(t *testing.T) { cancelling(t, f) })
	t.Run("requests", func(t *testing.T) { requests(t, f) })
	t.Run("ownership", func(t *testing.T) { ownership(t, f) })
	t.Run("concurrent", func(t *testing.T) { concurrent(t, f) })
}
