// Package ledger is the port to the audit sink (LOG-03). Form, redaction and the hash chain are core/audit's; a ledger
// stores lines and gives them back.
package ledger

import (
	"context"

	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// Ledger is one chain of lines. Safe for concurrent use; Append keeps the order of the calls.
type Ledger interface {
	// Append stores one line (no newline in it). It returns after the line has been handed to the operating system.
	// CodeFailed: the caller must stop doing what it records.
	Append(ctx context.Context, line []byte) error
	// Lines calls fn for every stored line in order, over rotated parts too, until fn returns false. The slice is only
	// valid during the call.
	Lines(ctx context.Context, fn func(line []byte) bool) error
	// Close flushes to disk.
	Close() error
}

// CodeFailed means that a line could not be stored; args: path, detail.
const CodeFailed fault.Code = "ledger.failed"
