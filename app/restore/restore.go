// Package restore cleans up what dead instances left, before anything is served (REC-06, REC-07, SEC-INV-11, NFR-03). The
// order and the refusals are core/recovery's; removing is ports/journal.Undoer's.
package restore

import (
	"context"

	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/core/recovery"
	"github.com/agent-mcp/agent-mcp/ports/clock"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/instance"
	"github.com/agent-mcp/agent-mcp/ports/journal"
)

// Audit takes the security record.
type Audit interface {
	Record(r audit.Record) error
}

// Deps are the ports. Undo has one Undoer per kind that this host can leave behind.
type Deps struct {
	Registry instance.Registry
	Undo     map[journal.Kind]journal.Undoer
	Clock    clock.Clock
	Audit    Audit
}

// Run undoes every open resource of every dead instance and returns how many there were. Any failure is a fault, and the
// caller must not serve; the journal is kept, so that the next start tries again.
func Run(ctx context.Context, d Deps) (undone int, err error) {
	err = d.Registry.Recover(ctx, func(ctx context.Context, dead instance.Dead) error {
		n, err := d.one(ctx, dead)
		undone += n
		return err
	})
	return undone, err
}

func (d Deps) one(ctx context.Context, dead instance.Dead) (undone int, err error) {
	records, err := dead.Journal.Replay(ctx)
	if err != nil {
		return 0, err
	}
	plan, bad := recovery.Plan(records)
	if bad != nil {
		return 0, bad
	}
	var failed []*fault.Error
	for _, res := range plan {
		f := d.undo(ctx, res)
		if err := d.Audit.Record(audit.Recovered(d.Clock.Now(), dead.ID, res, f)); err != nil {
			return undone, err
		}
		if f != nil {
			failed = append(failed, f)
			continue
		}
		if err := dead.Journal.Append(ctx, journal.Record{At: d.Clock.Now(), Op: journal.OpClose, Resource: res}); err != nil {
			return undone, err
		}
		undone++
	}
	if len(failed) > 0 {
		return undone, failed[0].With(failed[1:]...)
	}
	return undone, nil
}

func (d Deps) undo(ctx context.Context, res journal.Resource) *fault.Error {
	u := d.Undo[res.Kind]
	if u == nil {
		return fault.New(journal.CodeUnknown, "kind", string(res.Kind), "path", res.Path)
	}
	return fault.From(u.Undo(ctx, res))
}
