package aftermath

import (
	"context"
	"errors"
	"io/fs"

	"github.com/agent-mcp/agent-mcp/app/gitguard"
	"github.com/agent-mcp/agent-mcp/app/lookout"
	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/ports/clock"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/journal"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// Audit takes the security record.
type Audit interface {
	Record(r audit.Record) error
}

// Undoer undoes journal.KindNote: it sweeps, records and tells, and has the Note removed.
type Undoer struct {
	Read   func(path string) ([]byte, error)             // a Note; fs.ErrNotExist when it was never written
	Open   func(roots ...string) (workspace.Tree, error) // fails for a root that is not there
	Files  journal.Undoer                                // removes the Note
	Audit  Audit
	Clock  clock.Clock
	Tell   func(Found) // to the owner; nil: nobody
	Bounds lookout.Bounds
}

var _ journal.Undoer = Undoer{}

// Undo implements journal.Undoer. What cannot be put aside is journal.CodeUndoFailed, and the Note stays: the owner's Git would
// obey it, so nothing is served until it is gone.
func (u Undoer) Undo(ctx context.Context, res journal.Resource) error {
	if res.Kind != journal.KindNote {
		return fault.New(journal.CodeUnknown, "kind", string(res.Kind), "path", res.Path)
	}
	data, err := u.Read(res.Path)
	var n Note
	whole := false
	switch {
	case errors.Is(err, fs.ErrNotExist): // nothing was started
	case err == nil:
		n, whole, err = Decode(data)
		fallthrough
	default:
		if err != nil {
			return fault.Wrap(err, journal.CodeUndoFailed, "path", res.Path, "detail", err.Error())
		}
	}
	if whole {
		if err := u.sweep(ctx, n); err != nil {
			return err
		}
	}
	res.Kind = journal.KindFile
	return u.Files.Undo(ctx, res)
}

func (u Undoer) sweep(ctx context.Context, n Note) error {
	var found Found
	var roots []string
	for _, r := range n.Roots {
		if u.there(ctx, r) {
			roots = append(roots, r.Path)
		} else {
			found.Away = append(found.Away, r.Path)
		}
	}
	if len(roots) > 0 {
		tree, err := u.Open(roots...)
		if err != nil {
			return err
		}
		defer tree.Close() //nolint:errcheck // nothing is written through it any more
		if found.Aside, err = gitguard.Resume(tree, n.Absent).Sweep(ctx); err != nil {
			return errors.Join(fault.Wrap(err, journal.CodeUndoFailed, "path", roots[0], "detail", err.Error()), u.record(n.Ref, found))
		}
		if found.Obeyed, found.Unseen, err = lookout.Resume(tree, n.Watch, u.Bounds).After(ctx); err != nil {
			return err
		}
	}
	if err := u.record(n.Ref, found); err != nil {
		return err
	}
	if u.Tell != nil {
		u.Tell(found)
	}
	return nil
}

// there reports whether a root is the directory that it was.
func (u Undoer) there(ctx context.Context, r Root) bool {
	tree, err := u.Open(r.Path)
	if err != nil {
		return false
	}
	defer tree.Close() //nolint:errcheck // nothing was written
	h, err := tree.Resolve(ctx, r.Path)
	if err != nil {
		return false
	}
	defer h.Close() //nolint:errcheck // nothing was written
	return h.Info().Identity.File == r.File
}

// record has the same in the Audit as an ordinary run's end.
func (u Undoer) record(ref audit.Ref, f Found) error {
	var all []audit.Record
	now := u.Clock.Now()
	for _, a := range f.Aside {
		all = append(all, audit.Denied(now, ref, "sandbox", a.From, rights.Write, nil))
	}
	for _, o := range f.Obeyed {
		all = append(all, audit.Trigger(now, ref, string(o.Kind), o.Path, o.What, o.New))
	}
	if f.Unseen > 0 {
		all = append(all, audit.Guard(now, ref, 0, f.Unseen))
	}
	for _, p := range f.Away {
		all = append(all, audit.Denied(now, ref, "sweep", p, rights.Read, fault.New(workspace.CodeRootInvalid, "path", p)))
	}
	for _, r := range all {
		if err := u.Audit.Record(r); err != nil {
			return err
		}
	}
	return nil
}
