// Package mem keeps the records of MCP Tasks in memory, for tests and for embedders that need no restart (ports/mcptask).
package mem

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/mcptask"
)

// Disk is what several stores share, as servers share a directory. The zero value is empty.
type Disk struct {
	mu      sync.Mutex
	records map[string]mcptask.Record
	living  map[string]bool
}

// Store implements mcptask.Store for one server.
type Store struct {
	disk   *Disk
	server string
}

var _ mcptask.Store = (*Store)(nil)

// Open returns the store of a server, which lives until Close.
func (d *Disk) Open(server string) *Store {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.records == nil {
		d.records, d.living = map[string]mcptask.Record{}, map[string]bool{}
	}
	d.living[server] = true
	return &Store{d, server}
}

// New returns a store that shares nothing.
func New() *Store { return (&Disk{}).Open("") }

// Close ends the server.
func (s *Store) Close() error {
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	delete(s.disk.living, s.server)
	return nil
}

// Put implements mcptask.Store.
func (s *Store) Put(ctx context.Context, r mcptask.Record) error {
	if err := ctx.Err(); err != nil {
		return fault.From(err)
	}
	if r.ID == "" || len(r.Key) > mcptask.MaxKey || len(r.Result)+len(r.Error)+len(r.Text)+len(r.Message) > mcptask.MaxBytes {
		return fault.Wrap(errors.New("no id, or too large"), mcptask.CodeFailed, "path", r.ID, "detail", "no id, or too large")
	}
	r.Result, r.Error = slices.Clone(r.Result), slices.Clone(r.Error)
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	s.disk.records[r.ID] = r
	return nil
}

// Get implements mcptask.Store.
func (s *Store) Get(ctx context.Context, id string) (mcptask.Record, error) {
	if err := ctx.Err(); err != nil {
		return mcptask.Record{}, fault.From(err)
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	r, ok := s.disk.records[id]
	if !ok || !s.shows(r.Head) {
		return mcptask.Record{}, fault.New(mcptask.CodeUnknown, "task", id)
	}
	r.Result, r.Error = slices.Clone(r.Result), slices.Clone(r.Error)
	return r, nil
}

func (s *Store) shows(h mcptask.Head) bool {
	return h.Server == s.server || !s.disk.living[h.Server]
}

// List implements mcptask.Store.
func (s *Store) List(ctx context.Context) (heads []mcptask.Head, err error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.From(err)
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	for _, r := range s.disk.records {
		if s.shows(r.Head) {
			heads = append(heads, r.Head)
		}
	}
	slices.SortFunc(heads, func(a, b mcptask.Head) int { return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID)) })
	return heads, nil
}

// Remove implements mcptask.Store.
func (s *Store) Remove(ctx context.Context, id string) error {
	if err := ctx.Err(); err != nil {
		return fault.From(err)
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	if r, ok := s.disk.records[id]; ok && s.shows(r.Head) {
		delete(s.disk.records, id)
	}
	return nil
}
