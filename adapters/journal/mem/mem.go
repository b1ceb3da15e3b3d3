// Package mem is a Recovery Journal in memory (ports/journal): for tests and embedding. It never outlives the process, so
// it gives no crash safety.
package mem

import (
	"context"
	"slices"
	"sync"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/journal"
)

// Journal keeps records in memory. Safe for concurrent use.
type Journal struct {
	mu      sync.Mutex
	records []journal.Record
	closed  bool
}

var _ journal.Journal = (*Journal)(nil)

// New returns a journal that starts with the given records, as after a crash.
func New(records ...journal.Record) *Journal { return &Journal{records: slices.Clone(records)} }

// Append keeps the record.
func (j *Journal) Append(ctx context.Context, rec journal.Record) error {
	if err := ctx.Err(); err != nil {
		return fault.From(err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return fault.New(journal.CodeFailed, "path", "memory", "detail", "the journal is closed")
	}
	j.records = append(j.records, rec)
	return nil
}

// Replay returns a copy of the records.
func (j *Journal) Replay(ctx context.Context) ([]journal.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.From(err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.records), nil
}

// Close makes further appends fail.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed = true
	return nil
}
