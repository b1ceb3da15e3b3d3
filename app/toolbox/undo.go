package toolbox

import (
	"context"
	"slices"

	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// step is one side effect with what takes it back.
type step struct {
	task  string // Planner Task
	kind  tool.EffectKind
	path  string // resolved
	dest  string // EffectMoved
	after string // SHA-256 of what the tool wrote
	exec  bool
	dir   bool // EffectRemoved: a directory
	lost  bool // EffectRemoved: the content was not kept

	old    []byte // the content before, unless it lies in Scratch
	name   string // in Scratch
	backed bool
}

// backup keeps the old content: in memory up to the limit for the whole Task, above it in Scratch.
func (b *Box) backup(ctx context.Context, s *step, old []byte) error {
	if b.inMem+int64(len(old)) <= b.Limits.MemoryBackupBytes {
		s.old, s.backed = old, true
		b.inMem += int64(len(old))
		return nil
	}
	if b.Scratch == nil {
		return fault.New(CodeNoBackup, "path", b.show(s.path))
	}
	name, err := b.Scratch.Keep(ctx, old)
	if err != nil {
		return err
	}
	s.name, s.backed = name, true
	return nil
}

// content returns the old content.
func (b *Box) content(ctx context.Context, s *step) ([]byte, error) {
	if s.name != "" {
		return b.Scratch.Load(ctx, s.name)
	}
	return s.old, nil
}

// drop gives a backup up.
func (b *Box) drop(ctx context.Context, s *step) error {
	if !s.backed {
		return nil
	}
	s.backed = false
	if s.name != "" {
		return b.Scratch.Drop(ctx, s.name)
	}
	b.inMem -= int64(len(s.old))
	s.old = nil
	return nil
}

// keep adds a step to the history. Of several edits of one file in a row, only the oldest content matters.
func (b *Box) keep(s *step) {
	if s.kind == tool.EffectChanged {
		for i := len(b.history) - 1; i >= 0; i-- {
			h := b.history[i]
			if h.task != s.task || h.kind != tool.EffectChanged && h.kind != tool.EffectCreated {
				break
			}
			if h.path == s.path {
				h.after = s.after
				_ = b.drop(context.Background(), s)
				return
			}
		}
	}
	b.history = append(b.history, s)
}

// Commit forgets how to undo a Planner Task and drops its backups.
func (b *Box) Commit(ctx context.Context, plannerTask string) error {
	return b.forget(ctx, func(s *step) bool { return s.task == plannerTask })
}

func (b *Box) forget(ctx context.Context, which func(*step) bool) error {
	var first error
	b.history = slices.DeleteFunc(b.history, func(s *step) bool {
		if !which(s) {
			return false
		}
		if err := b.drop(ctx, s); err != nil && first == nil {
			first = err
		}
		return true
	})
	return first
}

// Undo takes back what the Internal Tools did for one Planner Task, latest first. It can do no more than the tools: every
// step is judged by the policy, and what somebody else changed since is left alone. It goes on after a step that could
// not be undone; those are the reasons of the fault. What processes did is not undone.
func (b *Box) Undo(ctx context.Context, ref audit.Ref) ([]tool.Effect, *fault.Error) {
	r := tool.Result{Name: "undo"}
	var reasons []*fault.Error
	for i := len(b.history) - 1; i >= 0; i-- {
		s := b.history[i]
		if s.task != ref.PlannerTask {
			continue
		}
		if err := b.takeBack(ctx, &job{ref: ref, result: &r}, s); err != nil {
			reasons = append(reasons, fault.From(err))
		}
	}
	if err := b.Commit(ctx, ref.PlannerTask); err != nil {
		reasons = append(reasons, fault.From(err))
	}
	if len(reasons) > 0 {
		return r.Effects, fault.New(CodeConflict, "path", reasons[0].Args["path"]).With(reasons...)
	}
	return r.Effects, nil
}

// takeBack undoes one step.
func (b *Box) takeBack(ctx context.Context, j *job, s *step) error {
	conflict := fault.New(CodeConflict, "path", b.show(s.path))
	at := s.path
	if s.kind == tool.EffectMoved {
		at = s.dest
	}
	h, err := b.entry(ctx, at)
	if err != nil {
		return err
	}
	defer h.Close() //nolint:errcheck // the operations report what matters
	if h.Info().Path != at || h.Info().Exists == (s.kind == tool.EffectRemoved) {
		return conflict
	}
	switch s.kind {
	case tool.EffectCreated, tool.EffectChanged:
		data, err := b.whole(ctx, h)
		if err != nil {
			return err
		}
		if digest(data) != s.after {
			return conflict
		}
		if s.kind == tool.EffectCreated {
			return b.undoing(j, policy.Request{Op: policy.OpDelete, Path: at}, func() error { return h.Remove(ctx) },
				tool.Effect{Kind: tool.EffectRemoved, Path: at})
		}
		return b.putBack(ctx, j, s, h)
	case tool.EffectRemoved:
		switch {
		case s.lost:
			return conflict
		case s.dir:
			return b.undoing(j, policy.Request{Op: policy.OpMkdir, Path: at}, func() error { _, err := h.Mkdir(ctx); return err },
				tool.Effect{Kind: tool.EffectMadeDir, Path: at})
		}
		return b.putBack(ctx, j, s, h)
	case tool.EffectMadeDir:
		return b.undoing(j, policy.Request{Op: policy.OpRmdir, Path: at}, func() error { return h.Rmdir(ctx) },
			tool.Effect{Kind: tool.EffectRemoved, Path: at})
	case tool.EffectMoved:
		to, err := b.entry(ctx, s.path)
		if err != nil {
			return err
		}
		defer to.Close() //nolint:errcheck // MoveTo reports what matters
		if to.Info().Exists || to.Info().Path != s.path {
			return conflict
		}
		return b.undoing(j, policy.Request{Op: policy.OpMove, Path: at, Dest: s.path}, func() error { _, err := h.MoveTo(ctx, to); return err },
			tool.Effect{Kind: tool.EffectMoved, Path: at, Dest: s.path})
	}
	return conflict
}

func (b *Box) putBack(ctx context.Context, j *job, s *step, h workspace.Handle) error {
	old, err := b.content(ctx, s)
	if err != nil {
		return err
	}
	kind := tool.EffectChanged
	if s.kind == tool.EffectRemoved {
		kind = tool.EffectCreated
	}
	return b.undoing(j, policy.Request{Op: policy.OpWrite, Path: s.path}, func() error { _, err := h.Replace(ctx, old, s.exec, nil); return err },
		tool.Effect{Kind: kind, Path: s.path, SHA256: digest(old)})
}

// undoing judges, acts and records one undoing operation.
func (b *Box) undoing(j *job, ask policy.Request, act func() error, e tool.Effect) error {
	if err := b.judge(j, ask, rights.Write); err != nil {
		return err
	}
	if err := act(); err != nil {
		return err
	}
	return b.effect(j, e)
}

// entry resolves a place without following a symlink at its end.
func (b *Box) entry(ctx context.Context, path string) (workspace.Handle, error) {
	if r, ok := b.Tree.(workspace.EntryResolver); ok {
		return r.ResolveEntry(ctx, path)
	}
	return b.Tree.Resolve(ctx, path)
}
