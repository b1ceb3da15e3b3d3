package toolbox

import (
	"context"
	"path"
	"strings"

	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// open resolves a path as a model wrote it. follow: a symlink as the last component means its target.
func (b *Box) open(ctx context.Context, j *job, name string, follow bool) (workspace.Handle, error) {
	var h workspace.Handle
	var err error
	if r, ok := b.Tree.(workspace.EntryResolver); ok && !follow {
		h, err = r.ResolveEntry(ctx, name)
	} else {
		h, err = b.Tree.Resolve(ctx, name)
	}
	switch {
	case err == nil:
		return h, nil
	case is(err, workspace.CodeOutside):
		path, _ := j.call.Name.Needs()
		f := fault.New(policy.CodeDenied, "op", string(j.call.Name), "path", name).
			With(fault.New(policy.CodeOutside, "path", name, "need", policy.Words(path)))
		return nil, b.denied(j, name, path, f)
	case is(err, workspace.CodeNotFound):
		return nil, b.helpMissing(ctx, name, err)
	}
	return nil, err
}

// judge asks the policy about a resolved path. A denial is recorded.
func (b *Box) judge(j *job, r policy.Request, need rights.Set) error {
	d := b.Policy.Decide(r)
	if d.Allowed {
		return nil
	}
	return b.denied(j, r.Path, need, d.Fault(r))
}

func (b *Box) denied(j *job, target string, need rights.Set, f *fault.Error) error {
	if err := b.record(audit.Denied(b.now(), j.ref, "policy", target, need, f)); err != nil {
		return err
	}
	return f
}

// reach resolves and judges in one step; the caller closes the handle.
func (b *Box) reach(ctx context.Context, j *job, name string, op policy.Op, follow bool) (workspace.Handle, error) {
	h, err := b.open(ctx, j, name, follow)
	if err != nil {
		return nil, err
	}
	need, _ := j.call.Name.Needs()
	if err := b.judge(j, policy.Request{Op: op, Path: h.Info().Path}, need); err != nil {
		_ = h.Close()
		return nil, err
	}
	return h, nil
}

// reachExisting is reach for something that must be there.
func (b *Box) reachExisting(ctx context.Context, j *job, name string, op policy.Op, follow bool) (workspace.Handle, error) {
	h, err := b.reach(ctx, j, name, op, follow)
	if err != nil {
		return nil, err
	}
	if !h.Info().Exists {
		_ = h.Close()
		return nil, b.helpMissing(ctx, name, fault.New(workspace.CodeNotFound, "path", name))
	}
	return h, nil
}

// make resolves a place to create, making missing directories on the way. All of them and the place itself are judged
// before the first is made, so that a denial leaves nothing behind; each is an effect.
func (b *Box) make(ctx context.Context, j *job, name string, op policy.Op) (workspace.Handle, error) {
	h, err := b.Tree.Resolve(ctx, name)
	if err == nil {
		_ = h.Close()
	}
	if err == nil || !is(err, workspace.CodeNotFound) || climbs(name) {
		return b.reach(ctx, j, name, op, true)
	}
	missing, err := b.missing(ctx, j, name, op)
	if err != nil {
		return nil, err
	}
	for _, dir := range missing {
		up, err := b.open(ctx, j, dir, true)
		if err != nil {
			return nil, err
		}
		if up.Info().Path != dir { // something was put there meanwhile
			_ = up.Close()
			return nil, fault.New(workspace.CodeChanged, "path", b.show(dir))
		}
		err = b.makeDir(ctx, j, up)
		_ = up.Close()
		if err != nil {
			return nil, err
		}
	}
	return b.reach(ctx, j, name, op, true)
}

// missing finds the deepest parent that can be resolved, judges everything below it down to name, and returns the
// directories to make, canonical, outer first.
func (b *Box) missing(ctx context.Context, j *job, name string, op policy.Op) ([]string, error) {
	at, rest := path.Clean(name), []string{}
	for {
		parent := path.Dir(at)
		if parent == at {
			return nil, fault.New(workspace.CodeNotFound, "path", name)
		}
		rest = append([]string{path.Base(at)}, rest...)
		at = parent
		h, err := b.Tree.Resolve(ctx, at)
		if is(err, workspace.CodeNotFound) {
			continue
		}
		if err != nil {
			return nil, b.onlyFault(b.open(ctx, j, at, true)) // the same fault, with words
		}
		info := h.Info()
		_ = h.Close()
		return b.judgeChain(j, info, rest, op)
	}
}

// judgeChain judges the directories to make below (or at) a resolved place, and the place at the end.
func (b *Box) judgeChain(j *job, base workspace.Info, rest []string, op policy.Op) ([]string, error) {
	need, _ := j.call.Name.Needs()
	var dirs []string
	if !base.Exists {
		dirs = append(dirs, base.Path)
	}
	at := base.Path
	for i, c := range rest {
		at = join(at, c)
		if i < len(rest)-1 {
			dirs = append(dirs, at)
		}
	}
	if err := b.judge(j, policy.Request{Op: op, Path: at}, need); err != nil {
		return nil, err
	}
	for _, dir := range dirs {
		if err := b.judge(j, policy.Request{Op: policy.OpMkdir, Path: dir}, rights.Write); err != nil {
			return nil, err
		}
	}
	return dirs, nil
}

// onlyFault gives up a handle that was only wanted for its error.
func (b *Box) onlyFault(h workspace.Handle, err error) error {
	if err == nil {
		_ = h.Close()
		return fault.New(workspace.CodeChanged, "path", b.show(h.Info().Path))
	}
	return err
}

// climbs reports a ".." component: below something missing it has no meaning.
func climbs(name string) bool {
	for c := range strings.SplitSeq(name, "/") {
		if c == ".." {
			return true
		}
	}
	return false
}

func (b *Box) makeDir(ctx context.Context, j *job, h workspace.Handle) error {
	if h.Info().Exists {
		return fault.New(workspace.CodeExists, "path", b.show(h.Info().Path))
	}
	info, err := h.Mkdir(ctx)
	if err != nil {
		return err
	}
	return b.effect(j, tool.Effect{Kind: tool.EffectMadeDir, Path: info.Path})
}

// show writes a path as the model knows it: relative to the workspace where it lies in it, with slashes.
func (b *Box) show(p string) string {
	ws := b.Policy.Workspace()
	if p == ws {
		return "."
	}
	if rest, ok := strings.CutPrefix(p, join(ws, "")); ok && ws != "" {
		return line(slashes(ws, rest))
	}
	return line(p)
}

// windows reports whether a canonical path is written the Windows way.
func windows(p string) bool { return len(p) > 2 && p[1] == ':' && p[2] == '\\' }

// slashes writes a part of the canonical path whole with slashes; elsewhere a backslash is part of a name.
func slashes(whole, part string) string {
	if windows(whole) {
		return strings.ReplaceAll(part, `\`, "/")
	}
	return part
}

// join appends a name to a canonical directory with that directory's own separator.
func join(dir, name string) string {
	if windows(dir) {
		return strings.TrimSuffix(dir, `\`) + `\` + name
	}
	return strings.TrimSuffix(dir, "/") + "/" + name
}
