package journal

import (
	"context"
	"time"
)

// Guard keeps a temporary thing in the journal for as long as it exists. Adapters that make such things take a Guard;
// where it is nil nothing is recorded, and a crash may leave one behind. Safe for concurrent use.
type Guard interface {
	// Open records that something is about to be made at path (absolute, canonical parent). When it fails, nothing may be
	// made (REC-06).
	Open(ctx context.Context, kind Kind, path string) (Resource, error)
	// Close records that it is gone. Call it only then: what stays open is removed by recovery.
	Close(ctx context.Context, res Resource) error
}

// Detailed is a Guard for things that a path alone does not tell; that of NewGuard is one.
type Detailed interface {
	Guard
	// OpenWith is Open with what is needed to undo the thing (Resource.Detail).
	OpenWith(ctx context.Context, kind Kind, path, detail string) (Resource, error)
}

var _ Detailed = guard{}

// NewGuard returns a Guard that writes to j. now and newID are the caller's clock and source of ids; task may be "".
func NewGuard(j Journal, now func() time.Time, newID func() string, task string) Guard {
	return guard{journal: j, now: now, newID: newID, task: task}
}

type guard struct {
	journal Journal
	now     func() time.Time
	newID   func() string
	task    string
}

// Open implements Guard.
func (g guard) Open(ctx context.Context, kind Kind, path string) (Resource, error) {
	return g.OpenWith(ctx, kind, path, "")
}

// OpenWith implements Detailed.
func (g guard) OpenWith(ctx context.Context, kind Kind, path, detail string) (Resource, error) {
	res := Resource{ID: g.newID(), Kind: kind, Path: path, Task: g.task, Detail: detail}
	if err := g.journal.Append(ctx, Record{At: g.now(), Op: OpOpen, Resource: res}); err != nil {
		return Resource{}, err
	}
	return res, nil
}

// Close implements Guard. A cancelled Task still closes what it opened.
func (g guard) Close(ctx context.Context, res Resource) error {
	return g.journal.Append(context.WithoutCancel(ctx), Record{At: g.now(), Op: OpClose, Resource: res})
}
