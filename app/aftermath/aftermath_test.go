package aftermath_test

import (
	"context"
	"errors"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/clock/system"
	"github.com/agent-mcp/agent-mcp/adapters/workspace/mem"
	"github.com/agent-mcp/agent-mcp/app/aftermath"
	"github.com/agent-mcp/agent-mcp/app/gitguard"
	"github.com/agent-mcp/agent-mcp/app/lookout"
	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/journal"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// scene is a tree, a note of how it was, and what the sweep did.
type scene struct {
	tree    *mem.Tree
	note    []byte
	found   []aftermath.Found
	removed []string
	records []audit.Record
	fail    audit.Kind
	stuck   bool // nothing can be renamed
}

// held is not closed, and may rename nothing.
type held struct {
	*mem.Tree
	stuck bool
}

type fixed struct{ workspace.Handle }

func (fixed) MoveTo(context.Context, workspace.Handle) (workspace.Info, error) {
	return workspace.Info{}, fault.New(workspace.CodeReadOnly, "path", "/w/.git/hooks")
}

func (h held) ResolveEntry(ctx context.Context, p string) (workspace.Handle, error) {
	e, err := h.Tree.ResolveEntry(ctx, p)
	if h.stuck && err == nil {
		e = fixed{e}
	}
	return e, err
}

func (held) Close() error { return nil }

func (s *scene) Record(r audit.Record) error {
	if r.Kind == s.fail {
		return errors.New("disk full")
	}
	s.records = append(s.records, r)
	return nil
}

func (s *scene) Undo(_ context.Context, r journal.Resource) error {
	s.removed = append(s.removed, string(r.Kind)+" "+r.Path)
	return nil
}

func (s *scene) undo(read error) error {
	return aftermath.Undoer{
		Read:  func(string) ([]byte, error) { return s.note, read },
		Open:  func(roots ...string) (workspace.Tree, error) { return held{s.tree, s.stuck}, nil },
		Files: s, Audit: s, Clock: system.New(), Tell: func(f aftermath.Found) { s.found = append(s.found, f) },
	}.Undo(context.Background(), journal.Resource{ID: "1", Kind: journal.KindNote, Path: "/state/note"})
}

func play(t *testing.T) *scene {
	s := &scene{tree: mem.New("/w")}
	for _, p := range []string{"HEAD", "config", "objects/a", "refs/b"} {
		s.tree.Put("/w/.git/"+p, "", 0)
	}
	s.tree.Put("/w/bad\xff/.envrc", "the owner's", 0)
	p, f := policy.Build(policy.Input{
		Profile: policy.Development, Workspace: "/w", Network: policy.NetworkInput{Mode: sandbox.NetworkNone},
		Resources: policy.ResourceInput{Profile: "normal"}, Require: sandbox.Approximate,
	})
	require.Nil(t, f)
	l, g := lookout.New(s.tree, p, lookout.Bounds{}), gitguard.New(s.tree, p, gitguard.Bounds{})
	g.Watch(l.Before)
	_, err := g.Find(context.Background())
	require.NoError(t, err)
	h, err := s.tree.Resolve(context.Background(), "/w")
	require.NoError(t, err)
	n := aftermath.Note{
		Ref: audit.Ref{Task: "t"}, Roots: []aftermath.Root{{Path: "/w", File: h.Info().Identity.File}}, Absent: g.Absent(), Watch: l.State(),
	}
	s.note, err = n.Encode()
	require.NoError(t, err)
	s.tree.Put("/w/.git/hooks/pre-commit", "x", 0o755)
	s.tree.Put("/w/d\xff/.envrc", "x", 0)
	return s
}

// REC-06, DENY-01: it is done what an ordinary run's end does, whatever bytes the names hold; then the note goes.
func TestUndo_SweepsAndNames(t *testing.T) {
	s := play(t)
	require.NoError(t, s.undo(nil))
	require.Len(t, s.found, 1)
	assert.Equal(t, []gitguard.Aside{{From: "/w/.git/hooks", To: "/w/.git/hooks.refused"}}, s.found[0].Aside)
	require.Len(t, s.found[0].Obeyed, 1)
	assert.Equal(t, "/w/d\xff/.envrc", s.found[0].Obeyed[0].Path)
	assert.Equal(t, []string{"file /state/note"}, s.removed)
	var kinds []audit.Kind
	for _, r := range s.records {
		assert.Equal(t, "t", r.Ref.Task)
		kinds = append(kinds, r.Kind)
	}
	assert.Equal(t, []audit.Kind{audit.KindDenied, audit.KindTrigger}, kinds)
}

// A note that is not there, or was cut short, is of a run that never started: nothing is swept.
func TestUndo_NothingWasStarted(t *testing.T) {
	for cut := range 3 {
		s := play(t)
		var read error
		if s.note = s.note[:cut*(len(s.note)-1)/2]; cut == 0 {
			read = fs.ErrNotExist
		}
		require.NoError(t, s.undo(read))
		assert.Empty(t, s.found)
		assert.Len(t, s.removed, 1)
		assert.Contains(t, s.tree.Snapshot(), "/w/.git/hooks/pre-commit")
	}
}

// REC-07: what cannot be read, put aside or recorded stays for the next start, which is refused.
func TestUndo_FailsClosed(t *testing.T) {
	for name, spoil := range map[string]func(*scene) error{
		"unreadable": func(*scene) error { return errors.New("input/output error") },
		"damaged":    func(s *scene) error { s.note = []byte("x\nend\n"); return nil },
		"record":     func(s *scene) error { s.fail = audit.KindTrigger; return nil },
		"stuck":      func(s *scene) error { s.stuck = true; return nil },
	} {
		t.Run(name, func(t *testing.T) {
			s := play(t)
			require.Error(t, s.undo(spoil(s)))
			assert.Empty(t, s.removed)
			assert.Empty(t, s.found)
		})
	}
	err := (aftermath.Undoer{}).Undo(context.Background(), journal.Resource{Kind: journal.KindFile, Path: "/x"})
	assert.Equal(t, journal.CodeUnknown, fault.CodeOf(err))
}
