package toolbox

import (
	"context"
	"fmt"
	"strings"

	"github.com/agent-mcp/agent-mcp/app/lookout"
	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/core/tool"
)

// maxObeyed bounds the files of one call that are named to the owner.
const maxObeyed = 50

// survey finds what a run left that the owner's own tools would obey, records it, and has it told.
func (b *Box) survey(ctx context.Context, j *job) error {
	found, unseen, err := b.watch.After(ctx)
	if err != nil {
		return err
	}
	if unseen > 0 && !b.blind {
		b.blind = true
		b.notes = append(b.notes, fmt.Sprintf(blindWords, unseen))
		if err := b.record(audit.Guard(b.now(), j.ref, 0, unseen)); err != nil {
			return err
		}
	}
	for _, f := range found {
		if err := b.obeyed(j, f); err != nil {
			return err
		}
	}
	return nil
}

// blindWords tell of the places that were not looked into after a run.
const blindWords = "warning: the workspace has too many directories or names to look for new hooks and project settings in all of them (%d not seen); tell the user"

// wrote has a tool's own effect judged the same way.
func (b *Box) wrote(j *job, e tool.Effect) error {
	p := e.Path
	switch e.Kind {
	case tool.EffectMoved:
		p = e.Dest
	case tool.EffectCreated, tool.EffectChanged:
	default:
		return nil
	}
	if f, ok := b.watch.Wrote(context.Background(), p); ok {
		return b.obeyed(j, f)
	}
	return nil
}

func (b *Box) obeyed(j *job, f lookout.Found) error {
	if len(j.result.Obeyed) < maxObeyed {
		j.result.Obeyed = append(j.result.Obeyed, tool.Obeyed{Path: b.show(f.Path), Kind: f.Kind})
	}
	word := "changed"
	if f.New {
		word = "new"
	}
	what := ""
	if len(f.What) > 0 {
		what = " (" + line(strings.Join(f.What, ", ")) + ")"
	}
	b.notes = append(b.notes, fmt.Sprintf("tell the user: %s is %s%s, and outside the sandbox %s", b.show(f.Path), word, what, f.Why))
	return b.record(audit.Trigger(b.now(), j.ref, string(f.Kind), f.Path, f.What, f.New))
}
