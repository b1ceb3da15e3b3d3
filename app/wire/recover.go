package wire

import (
	"context"
	"maps"
	"os"
	"strings"

	"github.com/agent-mcp/agent-mcp/adapters/clock/system"
	"github.com/agent-mcp/agent-mcp/adapters/workspace/osroot"
	"github.com/agent-mcp/agent-mcp/app/aftermath"
	"github.com/agent-mcp/agent-mcp/app/restore"
	"github.com/agent-mcp/agent-mcp/core/guard"
	"github.com/agent-mcp/agent-mcp/core/recovery"
	"github.com/agent-mcp/agent-mcp/ports/instance"
	"github.com/agent-mcp/agent-mcp/ports/journal"
	"github.com/agent-mcp/agent-mcp/ports/text"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// Texts of what a Task left that nobody saw end.
const (
	keySwept       text.Key = "server.swept"        // path, to
	keySweptAway   text.Key = "server.swept_away"   // path
	keySweptObeyed text.Key = "server.swept_obeyed" // path, what
	keySweptUnseen text.Key = "server.swept_unseen" // count
	keySweptMore   text.Key = "server.swept_more"   // count
)

// recover undoes what dead instances left (REC-06, REC-07).
func (s *server) recover(ctx context.Context, registry instance.Registry) error {
	files := undoer(s.eff.Config)
	notes := aftermath.Undoer{
		Read: os.ReadFile, Files: files, Audit: s.audit, Clock: system.New(), Tell: s.swept,
		Open: func(roots ...string) (workspace.Tree, error) { return osroot.New(roots, osroot.Options{}) },
	}
	undo := map[journal.Kind]journal.Undoer{journal.KindFile: files, journal.KindTree: files, journal.KindNote: notes}
	maps.Copy(undo, hostUndoers())
	undone, err := restore.Run(ctx, restore.Deps{Registry: registry, Clock: system.New(), Audit: s.audit, Undo: undo})
	if undone > 0 {
		s.say(keyRecovered, map[string]any{"count": undone})
	}
	return err
}

// maxSwept bounds the lines of one sweep that the owner sees at once; all of it is in the Audit.
const maxSwept = 20

// swept tells the owner what a killed Task left.
func (s *server) swept(f aftermath.Found) {
	lines := 0
	tell := func(key text.Key, args map[string]any) {
		if lines++; lines <= maxSwept {
			s.say(key, args)
		}
	}
	plain := func(p string) string { return strings.ReplaceAll(guard.Plain(p), "\n", "\uFFFD") }
	for _, a := range f.Aside {
		tell(keySwept, map[string]any{"path": plain(a.From), "to": plain(a.To)})
	}
	for _, p := range f.Away {
		tell(keySweptAway, map[string]any{"path": plain(p)})
	}
	for _, o := range f.Obeyed {
		tell(keySweptObeyed, map[string]any{"path": plain(o.Path), "what": s.eff.Catalog.Text(text.Key("obeyed."+string(o.Kind)), nil)})
	}
	if f.Unseen > 0 {
		tell(keySweptUnseen, map[string]any{"count": f.Unseen})
	}
	if lines > maxSwept {
		s.say(keySweptMore, map[string]any{"count": lines - maxSwept})
	}
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
