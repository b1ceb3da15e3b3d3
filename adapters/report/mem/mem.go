// Package mem keeps reports in memory (ports/report), for tests and for embedding. It persists nothing.
package mem

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/report"
)

// Store implements report.Store.
type Store struct {
	mu   sync.Mutex
	max  int
	kept []kept
}

type kept struct {
	report.Entry
	text string
}

var _ report.Store = (*Store)(nil)

// New returns a store that keeps at most so many reports, at least one.
func New(keep int) *Store { return &Store{max: max(keep, 1)} }

// Put implements report.Store.
func (s *Store) Put(ctx context.Context, e report.Entry, markdown string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", fault.From(err)
	}
	if e.Task == "" || len(e.Title) > report.MaxTitle || len(markdown) > report.MaxBytes {
		return "", fault.New(report.CodeFailed, "path", e.Task, "detail", "no task, or too large")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = slices.DeleteFunc(s.kept, func(k kept) bool { return k.Task == e.Task })
	s.kept = append(s.kept, kept{e, markdown})
	slices.SortStableFunc(s.kept, func(a, b kept) int { return cmp.Or(b.Ended.Compare(a.Ended), cmp.Compare(b.Task, a.Task)) })
	s.kept = s.kept[:min(len(s.kept), s.max)]
	return "", nil
}

// Last implements report.Store.
func (s *Store) Last(ctx context.Context, n int) ([]report.Kept, error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.From(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]report.Kept, 0, max(0, min(n, len(s.kept))))
	for _, k := range s.kept[:max(0, min(n, len(s.kept)))] {
		out = append(out, report.Kept{Entry: k.Entry})
	}
	return out, nil
}

// Text returns the report about a Task.
func (s *Store) Text(task string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.kept {
		if k.Task == task {
			return k.text
		}
	}
	return ""
}
