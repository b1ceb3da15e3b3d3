package wire

import (
	"context"

	"github.com/agent-mcp/agent-mcp/adapters/clock/system"
	"github.com/agent-mcp/agent-mcp/app/restore"
	"github.com/agent-mcp/agent-mcp/core/recovery"
	"github.com/agent-mcp/agent-mcp/ports/instance"
	"github.com/agent-mcp/agent-mcp/ports/journal"
)

// recover undoes what dead instances left (REC-06, REC-07).
func (s *server) recover(ctx context.Context, registry instance.Registry) error {
	files := undoer(s.eff.Config)
	undone, err := restore.Run(ctx, restore.Deps{
		Registry: registry, Clock: system.New(), Audit: s.audit,
		Undo: map[journal.Kind]journal.Undoer{journal.KindFile: files, journal.KindTree: files, journal.KindCgroup: cgroupUndoer()},
	})
	if undone > 0 {
		s.say(keyRecovered, map[string]any{"count": undone})
	}
	return err
}

// leftovers counts resources of this instance that are still open.
func (s *server) leftovers() (int, error) {
	records, err := s.own.Journal().Replay(context.Background())
	if err != nil {
		return 0, err
	}
	plan, bad := recovery.Plan(records)
	if bad != nil {
		return 0, bad
	}
	return len(plan), nil
}
