// Package model is the port to a language model (OLL-01..14). An adapter translates one request into one reply; it does
// not retry, log or judge. Retries are a decorator's (REC-01); the meaning of weak-model faults is core/agent's.
package model

import (
	"context"
	"encoding/json"
	"time"

	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// Model asks a language model. Implementations are safe for concurrent use.
type Model interface {
	// Chat sends one request and returns the whole reply. onChunk, when not nil, is called in order from one goroutine
	// for every piece that arrives; it must not block. Cancelling ctx closes the connection, which stops generation.
	//
	// Errors are faults with one of the codes below. A reply that ended without the server's end mark is
	// CodeIncomplete, never a success. The request is not retained; the reply belongs to the caller.
	Chat(ctx context.Context, req Request, onChunk func(Chunk)) (Reply, error)
}

// Inspector reads what a server knows about a model, before it is used.
type Inspector interface {
	// Inspect returns the model's abilities. CodeNotFound when the model is not pulled.
	Inspect(ctx context.Context, name string) (Info, error)
	// Loaded returns the context length the server really gave the loaded model, 0 when it is not loaded or unknown.
	Loaded(ctx context.Context, name string) (contextTokens int, err error)
}

// Info describes a model.
type Info struct {
	Name          string
	Capabilities  []string // as the server names them: "completion", "tools", "vision", "thinking"
	ContextLength int      // trained length in tokens, 0 when unknown
	Remote        bool     // runs on another machine through the local server (":cloud")
	Refuses       bool     // the server is known to refuse a prompt that is too long when Request.Truncate is false; others may cut it
}

// Has reports whether the model declares a capability.
func (i Info) Has(capability string) bool {
	for _, c := range i.Capabilities {
		if c == capability {
			return true
		}
	}
	return false
}

// Role says who speaks.
type Role string

// Roles of the chat API.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// Message is one entry of the conversation.
type Message struct {
	Role       Role
	Content    string
	Thinking   string   // only sent back inside the assistant message that a tool call continues (OLL-14); never shown or logged
	Images     [][]byte // decoded bytes
	ToolCalls  []ToolCall
	ToolName   string // role tool: the call's name
	ToolCallID string // role tool: the call's id
}

// ToolCall is a native call. Arguments is always a JSON object; an adapter also accepts a string that holds one. What is
// neither is handed over as it came, for core/tool to refuse.
type ToolCall struct {
	ID        string // made up by the adapter ("call_1"…, unique within the reply) when the server sent none
	Name      string
	Arguments json.RawMessage
}

// Tool offers one Internal Tool. Schema is a JSON object schema of the subset that reaches the model
// (type, description, enum, items, properties, required).
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage
}

// Think is the native boolean or level (OLL-14). The zero value leaves it to the server.
type Think struct {
	Set   bool
	On    bool
	Level string // "", "low", "medium", "high", "max"; wins over On when not empty
}

// Options are the known generation options; nil means the server's default. Ranges are validated by core/config.
type Options struct {
	NumCtx, NumPredict, NumKeep, Seed, TopK, RepeatLastN  *int
	NumBatch, NumGPU, MainGPU, NumThread, DraftNumPredict *int
	Temperature, TopP, MinP, TypicalP                     *float64
	RepeatPenalty, PresencePenalty, FrequencyPenalty      *float64
	UseMmap                                               *bool
	Stop                                                  []string
	Extra                                                 map[string]any // passed through; a known name here loses (OLL-05)
}

// Request is one call.
type Request struct {
	Model     string
	Messages  []Message
	Tools     []Tool
	Format    json.RawMessage // nil, "json" or a schema; never together with Tools (a schema blocks every tool call)
	Think     Think
	Options   Options
	KeepAlive string // duration text, "" = server default
	Truncate  *bool  // false: the server must refuse instead of dropping the oldest messages
}

// Chunk is a piece of a streamed reply.
type Chunk struct {
	Content, Thinking string
	Calls             int // tool calls seen in this piece
}

// Usage is what the server counted. Present tells a count from an absent one.
type Usage struct {
	PromptTokens, OutputTokens   int
	PromptPresent, OutputPresent bool
	LoadTime, TotalTime          time.Duration
	PromptTime, OutputTime       time.Duration // spent on the tokens of each; 0 = not told
}

// Reply is a whole answer.
type Reply struct {
	Message    Message
	DoneReason string // "stop", "length", "load", "unload", ""
	Usage      Usage
}

// Codes. The class says what a caller may do; see ClassOf.
const (
	CodeUnreachable     fault.Code = "model.unreachable"      // args: url, detail — nothing listens, connection refused or reset before a reply
	CodeConnectTimeout  fault.Code = "model.connect_timeout"  // args: url, limit
	CodeFirstChunk      fault.Code = "model.first_chunk"      // args: limit — no first piece in time
	CodeIdle            fault.Code = "model.idle"             // args: limit — a stream that stopped moving
	CodeIncomplete      fault.Code = "model.incomplete"       // body ended without the end mark
	CodeRunnerDied      fault.Code = "model.runner_died"      // args: detail — an error line after a 200
	CodeServer          fault.Code = "model.server_error"     // args: status, detail — 5xx that is not ours
	CodeBusy            fault.Code = "model.busy"             // args: detail — 503/502, queue full
	CodeContextOverflow fault.Code = "model.context_overflow" // args: detail — the prompt does not fit
	CodeBrokenCall      fault.Code = "model.broken_call"      // args: detail — the server could not parse the model's tool call
	CodeRepetition      fault.Code = "model.repetition"       // the server's repeat guard or ours
	CodeNotFound        fault.Code = "model.not_found"        // args: model — not pulled
	CodeNoTools         fault.Code = "model.no_tools"         // args: model
	CodeNoVision        fault.Code = "model.no_vision"        // args: model
	CodeNoThinking      fault.Code = "model.no_thinking"      // args: model — 400 because of think
	CodeBadRequest      fault.Code = "model.bad_request"      // args: status, detail — our fault (option type, format)
	CodeForbidden       fault.Code = "model.forbidden"        // args: detail — foreign Host/Origin
	CodeQuota           fault.Code = "model.quota"            // args: detail — usage limit, subscription
	CodeSignIn          fault.Code = "model.sign_in"          // args: url
	CodeProtocol        fault.Code = "model.protocol"         // args: detail — not the protocol: HTML, broken JSON, too large a line
)

// Class says what a failed call allows.
type Class uint8

// Classes of failure.
const (
	Permanent Class = iota // never retry; tell the user
	Transient              // retry with back-off (REC-01)
	OfModel                // the model's own mistake: feed back, count its cause
	OfContext              // summarise, then once more
)

// ClassOf maps a fault's code to its class. Unknown codes are Permanent: a retry needs a reason.
func ClassOf(code fault.Code) Class {
	switch code {
	case CodeUnreachable, CodeConnectTimeout, CodeFirstChunk, CodeIdle, CodeIncomplete, CodeRunnerDied, CodeServer, CodeBusy:
		return Transient
	case CodeBrokenCall, CodeRepetition:
		return OfModel
	case CodeContextOverflow:
		return OfContext
	}
	return Permanent
}
