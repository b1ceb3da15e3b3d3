// Package instance is the port to the running agent-mcp processes of one user. Every process owns one instance with its
// own Recovery Journal; recovery touches only what dead instances left (REC-06, SEC-INV-11), so that several processes
// can use one configuration.
package instance

import (
	"context"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/journal"
)

// Registry knows the instances of one state directory. Safe for concurrent use, by several processes too.
type Registry interface {
	// Recover calls fn for every instance whose process is gone, oldest id first, and forgets the instance when fn
	// returns nil. Only one process recovers at a time; others wait here until it has finished, or ctx ends. When fn
	// fails the instance is kept for the next start, the rest is still tried, and Recover returns one fault that
	// carries every reason (REC-07: the caller must not serve). No instance that lives is ever shown to fn.
	Recover(ctx context.Context, fn func(context.Context, Dead) error) error
	// Own makes a new instance of the given id for this process; it counts as alive until Retire, Close or the end of
	// the process, whatever ends it. CodeExists when the id is in use.
	Own(ctx context.Context, id string) (Owned, error)
}

// Dead is what a dead instance left.
type Dead struct {
	ID      string
	Journal journal.Journal // append OpClose after each undo; closed by Recover
}

// Owned is this process's instance.
type Owned interface {
	ID() string
	// Journal is this instance's Recovery Journal.
	Journal() journal.Journal
	// Retire forgets the instance without a trace. Call it only when no Task Resource is open.
	Retire() error
	// Close lets go of the instance and leaves its journal to the next start's recovery.
	Close() error
}

// Codes.
const (
	CodeFailed   fault.Code = "instance.failed"    // args: path, detail — state_dir is full, read-only or not ours
	CodeExists   fault.Code = "instance.exists"    // args: id
	CodeRecovery fault.Code = "instance.recovery"  // args: count — reasons carry each failure
	CodeUnsafe   fault.Code = "instance.unsafe_id" // args: id — not a plain name
)
