// Package trace carries events to the logs (LOG-01, LOG-02, LOG-04, OBS-03). Core returns facts; app emits them here.
// There is no global logger. The Audit Log is not a trace: it is ports/ledger's.
package trace

import (
	"time"

	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// Stream is the log an event belongs to.
type Stream string

// Streams.
const (
	App    Stream = "app"    // people: what the program does
	LLM    Stream = "llm"    // prompts and responses, never images or thinking
	Tokens Stream = "tokens" // token metrics per Task and call
	HTTP   Stream = "http"   // the HTTP request log
)

// Level of an event.
type Level int8

// Levels.
const (
	Debug Level = iota
	Info
	Warn
	Error
)

// Event is one fact. Correlation fields may be empty.
type Event struct {
	At          time.Time
	Stream      Stream
	Level       Level
	Name        string // stable, "task.state", "model.reply"
	Session     string
	Task        string
	PlannerTask string
	Call        string
	Fields      []Field
}

// Field is a named value: string, bool, integer, float, time, duration or a slice of strings.
type Field struct {
	Name  string
	Value any
}

// F makes a field.
func F(name string, value any) Field { return Field{Name: name, Value: value} }

// Sink takes events. Emit never blocks for long and never fails the caller. Safe for concurrent use.
type Sink interface {
	Emit(Event)
}

// CodeFailed means that the logs cannot be opened at all; args: path, detail. Later failures never reach the caller of Emit.
const CodeFailed fault.Code = "trace.failed"
