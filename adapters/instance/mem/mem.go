// Package mem keeps instances in memory (ports/instance): for tests and embedding. It sees no other process; Crash plays
// the death of one.
package mem

import (
	"context"
	"slices"
	"sync"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/instance"
	"github.com/agent-mcp/agent-mcp/ports/journal"
)

// Registry is a set of instances. Safe for concurrent use.
type Registry struct {
	newJournal func() journal.Journal
	recovering chan struct{} // holds one token

	mu   sync.Mutex
	live map[string]journal.Journal
	dead map[string]journal.Journal
}

var _ instance.Registry = (*Registry)(nil)

// New returns an empty registry; newJournal makes each instance's journal.
func New(newJournal func() journal.Journal) *Registry {
	return &Registry{
		newJournal: newJournal, recovering: make(chan struct{}, 1),
		live: map[string]journal.Journal{}, dead: map[string]journal.Journal{},
	}
}

// Own makes a live instance.
func (r *Registry) Own(ctx context.Context, id string) (instance.Owned, error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.From(err)
	}
	if id == "" {
		return nil, fault.New(instance.CodeUnsafe, "id", id)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.live[id] != nil || r.dead[id] != nil {
		return nil, fault.New(instance.CodeExists, "id", id)
	}
	j := r.newJournal()
	r.live[id] = j
	return &owned{r: r, id: id, journal: j}, nil
}

// Crash turns a live instance into a dead one, its journal as it is.
func (r *Registry) Crash(id string) { r.end(id, true) }

// Recover shows the dead to fn, one process at a time.
func (r *Registry) Recover(ctx context.Context, fn func(context.Context, instance.Dead) error) error {
	select {
	case r.recovering <- struct{}{}:
		defer func() { <-r.recovering }()
	case <-ctx.Done():
		return fault.From(ctx.Err())
	}
	var reasons []*fault.Error
	for _, d := range r.list() {
		if err := ctx.Err(); err != nil {
			return fault.From(err)
		}
		if f := fault.From(fn(ctx, d)); f != nil {
			reasons = append(reasons, f)
			continue
		}
		r.mu.Lock()
		delete(r.dead, d.ID)
		r.mu.Unlock()
	}
	if len(reasons) > 0 {
		return fault.New(instance.CodeRecovery, "count", len(reasons)).With(reasons...)
	}
	return nil
}

func (r *Registry) list() []instance.Dead {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []instance.Dead
	for id, j := range r.dead { // sorted below
		out = append(out, instance.Dead{ID: id, Journal: j})
	}
	slices.SortFunc(out, func(a, b instance.Dead) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	return out
}

func (r *Registry) end(id string, keep bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if j, ok := r.live[id]; ok {
		delete(r.live, id)
		if keep {
			r.dead[id] = j
		}
	}
}

type owned struct {
	r       *Registry
	id      string
	journal journal.Journal
}

func (o *owned) ID() string               { return o.id }
func (o *owned) Journal() journal.Journal { return o.journal }
func (o *owned) Close() error             { o.r.end(o.id, true); return nil }
func (o *owned) Retire() error            { o.r.end(o.id, false); return nil }
