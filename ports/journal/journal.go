// Package journal is the port to the Recovery Journal (REC-06): a minimal append-only durable log of Task Resources, so
// that a crash can be cleaned up. A record is durable before the thing it names exists.
package journal

import (
	"context"
	"time"

	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// Kind is what a resource is; it says how to undo it.
type Kind string

// Kinds of Task Resources. An unknown kind in a journal fails recovery closed (REC-07).
const (
	KindFile   Kind = "file"   // a temporary file of ours: unlink
	KindTree   Kind = "tree"   // a temporary directory of ours: remove with its content, never through a symlink
	KindSocket Kind = "socket" // unlink
	KindCgroup Kind = "cgroup" // kill what is in it, rmdir
	KindNote   Kind = "note"   // a file of ours with what to look for after a run that nobody saw end: look, then unlink

	// Kinds of Windows. Detail says exactly what is ours; nothing else at Path is touched. The last three name the run by its
	// temporary directory, which need not exist any more.
	KindGrant     Kind = "grant"     // access control entries on Path and what it hands down: take them out
	KindSeal      Kind = "seal"      // Path inherits nothing while it is sealed: let it inherit again
	KindFirewall  Kind = "firewall"  // filters: delete them
	KindExemption Kind = "exemption" // the profile may use the loopback: take it off the list
	KindProfile   Kind = "profile"   // what programs left in the profile's own directory and key: empty them
)

// Resource names one thing that must not remain.
type Resource struct {
	ID   string `json:"id"` // unique within the journal
	Kind Kind   `json:"kind"`
	Path string `json:"path"` // absolute, canonical parent
	Task string `json:"task,omitempty"`

	Detail string `json:"detail,omitempty"` // what its maker needs to undo it, in its own form; never a secret
}

// Op is what happened to a resource.
type Op string

// Ops: OpOpen is written before the resource is made, OpClose after it is gone.
const (
	OpOpen  Op = "open"
	OpClose Op = "close"
)

// Record is one line.
type Record struct {
	At       time.Time `json:"at"`
	Op       Op        `json:"op"`
	Resource Resource  `json:"resource"`
}

// Journal is one instance's log. Safe for concurrent use.
type Journal interface {
	// Append makes the record durable (written and synced) before it returns. CodeFailed: then the resource must not be made.
	Append(ctx context.Context, rec Record) error
	// Replay returns every whole record in order. A torn last record (crash while writing) is left out; damage anywhere
	// else is CodeDamaged.
	Replay(ctx context.Context) ([]Record, error)
	Close() error
}

// Undoer removes one kind of resource. It is idempotent: already gone is success.
type Undoer interface {
	Undo(ctx context.Context, res Resource) error
}

// Codes.
const (
	CodeFailed     fault.Code = "journal.failed"       // args: path, detail
	CodeDamaged    fault.Code = "journal.damaged"      // args: path, line
	CodeUndoFailed fault.Code = "journal.undo_failed"  // args: path, detail
	CodeUnknown    fault.Code = "journal.unknown_kind" // args: kind, path
)
