// Package report is the port to where the reports of Tasks are kept for their owner. core/report writes them.
package report

import (
	"context"
	"time"

	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// Entry says which Task a report is about.
type Entry struct {
	Task  string    `json:"task"`  // the Agent Task ID
	State string    `json:"state"` // final
	Title string    `json:"title"` // one line, at most MaxTitle bytes
	Ended time.Time `json:"ended"` // UTC, whole seconds
}

// Bounds of a report.
const (
	MaxTitle = 256
	MaxBytes = 4 << 20
)

// Store keeps a bounded number of reports, the newest. Safe for concurrent use.
type Store interface {
	// Put keeps a report and tells where its owner finds it: a file's path, or "" when it is nowhere to be opened. A second
	// one about a Task replaces the first. CodeFailed.
	Put(ctx context.Context, e Entry, markdown string) (place string, err error)
	// Last lists the newest reports, the newest first, at most n. What cannot be read is left out. CodeFailed.
	Last(ctx context.Context, n int) ([]Kept, error)
}

// Kept is a report that is there.
type Kept struct {
	Entry
	Place string
}

// CodeFailed means that reports could not be written or listed; args: path, detail.
const CodeFailed fault.Code = "report.failed"
