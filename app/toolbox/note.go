package toolbox

import (
	"context"
	"slices"

	"github.com/agent-mcp/agent-mcp/app/aftermath"
	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/rights"
)

// note is what this Task left with Config.Notes, so that what its runs do is swept after even when this process is killed.
type note struct {
	name   string   // "" = none yet
	absent []string // what it says
	due    bool     // the last run was not wholly swept after
}

// remember writes down, before a process starts, what a sweep has to know (REC-06). What cannot be written down is not started.
func (b *Box) remember(ctx context.Context, ref audit.Ref) error {
	absent := b.git.Absent()
	if b.Notes == nil || b.note.name != "" && slices.Equal(absent, b.note.absent) {
		return nil
	}
	n := aftermath.Note{Ref: ref, Absent: absent, Watch: b.watch.State()}
	for _, r := range b.Policy.ToolRoots() {
		if r.Rights&(rights.Write|rights.Delete) == 0 {
			continue
		}
		h, err := b.Tree.Resolve(ctx, r.Path)
		if err != nil {
			return err
		}
		n.Roots = append(n.Roots, aftermath.Root{Path: r.Path, File: h.Info().Identity.File})
		_ = h.Close()
	}
	data, err := n.Encode()
	if err != nil {
		return fault.Wrap(err, fault.CodeInternal, "detail", err.Error())
	}
	name, err := b.Notes.Keep(ctx, data)
	if err != nil {
		return err
	}
	old := b.note.name
	b.note.name, b.note.absent = name, absent
	if old != "" {
		return b.Notes.Drop(ctx, old)
	}
	return nil
}

// forget drops the note when everything was swept and told; else the next start sweeps.
func (b *Box) forget(ctx context.Context) error {
	if b.note.name == "" || b.note.due {
		return nil
	}
	return b.Notes.Drop(ctx, b.note.name)
}
