// Package mcptask is the port to the records of MCP Tasks: what a client may still ask about work whose request is long
// answered, also after a restart of the server (MCP-2026-07). adapters/front/mcp writes and reads them.
package mcptask

import (
	"context"
	"encoding/json"
	"time"

	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// Head is what is known about an MCP Task without what came out of it. Times are UTC, whole milliseconds.
type Head struct {
	ID      string    `json:"id"`      // = the Agent Task ID, a UUID (MCP-2026-05)
	Session string    `json:"session"` // the Agent Session ID
	Server  string    `json:"server"`  // the instance that runs it
	Text    string    `json:"text"`    // what a client without the extension was answered
	Created time.Time `json:"created"`
	Ended   time.Time `json:"ended"` // zero = unfinished

	Status  string `json:"status"`  // of the extension: working, input_required, completed, failed, cancelled
	Message string `json:"message"` // for people

	Key    string `json:"key"`    // idempotency key, "" = none; at most MaxKey bytes
	Digest string `json:"digest"` // of the arguments that came with the key, hexadecimal SHA-256
}

// Record is a Head and, of a finished Task, what tasks/get answers beside it.
type Record struct {
	Head

	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

// Bounds.
const (
	MaxKey   = 256     // bytes of an idempotency key
	MaxBytes = 4 << 20 // of one encoded record
)

// Store keeps records. It shows those of its own server and of servers that are gone, never those of another that lives: one
// state directory can serve several. Safe for concurrent use.
type Store interface {
	// Put keeps a record durably in place of an earlier one with its ID. CodeFailed.
	Put(ctx context.Context, r Record) error
	// Get returns a record. CodeUnknown, CodeFailed.
	Get(ctx context.Context, id string) (Record, error)
	// List returns every record's Head, the oldest first. What cannot be read is left out. CodeFailed.
	List(ctx context.Context) ([]Head, error)
	// Remove forgets a record; one that is not there is none. CodeFailed.
	Remove(ctx context.Context, id string) error
}

// Codes.
const (
	CodeUnknown fault.Code = "mcptask.unknown" // args: task
	CodeFailed  fault.Code = "mcptask.failed"  // args: path, detail
)
