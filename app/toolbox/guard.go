package toolbox

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// Bounds of the look for Git directories. It goes level by level, so that what is near the roots is found first;
// beyond the bound only the rule by name protects.
const (
	guardDirs    = 20_000
	guardEntries = 65_536
	guardConfig  = 256 << 10
	guardPointer = 4096 // bytes of a ".git" or commondir file
)

// guard finds, once per Task and before anything is changed or run, the files of Git that exist below the writable roots
// and must stay read-only for processes too (sandbox.Spec.Protect). From then on the policy knows them as well.
func (b *Box) guard(ctx context.Context) error {
	if b.guarded {
		return nil
	}
	g := guarding{box: b, seen: map[visit]bool{}}
	for _, r := range b.Policy.ToolRoots() {
		if r.Rights&(rights.Write|rights.Delete) != 0 {
			g.queue = append(g.queue, visit{r.Path, policy.InGitDir(r.Path)})
		}
	}
	for n := 0; len(g.queue) > 0 && n < guardDirs; n++ {
		if err := ctx.Err(); err != nil {
			return fault.From(err)
		}
		next := g.queue[0]
		g.queue = g.queue[1:]
		g.dir(ctx, next)
	}
	slices.Sort(g.found)
	b.guards = slices.Compact(g.found)
	b.Policy = b.Policy.WithProtected(b.guards)
	b.guarded = true
	return nil
}

// present leaves out what the owner removed since the Task started: a sandbox refuses a Spec that names what is not there.
func (b *Box) present(ctx context.Context) []string {
	var out []string
	for _, p := range b.guards {
		h, err := b.Tree.Resolve(ctx, p)
		if err != nil {
			continue
		}
		if h.Info().Exists && h.Info().Path == p {
			out = append(out, p)
		}
		_ = h.Close()
	}
	return out
}

// Guarded looks for the protected paths that exist and returns them, sorted.
func (b *Box) Guarded(ctx context.Context) ([]string, error) {
	err := b.guard(ctx)
	return slices.Clone(b.guards), err
}

type visit struct {
	path string
	git  bool // a Git directory, or inside one
}

type guarding struct {
	box   *Box
	seen  map[visit]bool
	queue []visit
	found []string
}

// dir looks at one directory. Symlinks are not followed: where they lead to is visited on its own, if it is writable.
func (g *guarding) dir(ctx context.Context, v visit) {
	if g.seen[v] {
		return
	}
	g.seen[v] = true
	h, err := g.box.Tree.Resolve(ctx, v.path)
	if err != nil {
		return
	}
	defer h.Close() //nolint:errcheck // nothing was written
	if h.Info().Path != v.path || !h.Info().Mode.IsDir() {
		return
	}
	entries, _, err := h.List(ctx, guardEntries)
	if err != nil {
		return
	}
	git := v.git || policy.InGitDir(v.path) || bare(entries)
	for _, e := range entries {
		p := join(v.path, e.Name)
		switch {
		case git && guardedName(e.Name):
			g.guarded(ctx, p, e, v.path)
		case e.Mode.IsRegular() && strings.EqualFold(e.Name, ".git"):
			g.found = append(g.found, p)
			g.pointer(ctx, p, v.path, "gitdir:")
		case e.Mode.IsDir() && git && bulk(e.Name):
		case e.Mode.IsDir():
			g.queue = append(g.queue, visit{p, git})
		}
	}
}

// guarded notes one protected place and what it leads to: the target of a symlink, the common directory, and the hooks and
// settings that a configuration file names.
func (g *guarding) guarded(ctx context.Context, p string, e workspace.Info, dir string) {
	switch {
	case e.Mode.IsDir():
		g.found = append(g.found, p)
	case e.Mode.IsRegular():
		g.found = append(g.found, p)
		switch strings.ToLower(e.Name) {
		case "commondir":
			g.pointer(ctx, p, dir, "")
		case "config", "config.worktree":
			g.settings(ctx, p, dir)
		}
	default:
		g.target(ctx, p)
	}
}

// target notes what a path leads to, when that lies in the roots and is not a root itself.
func (g *guarding) target(ctx context.Context, p string) {
	h, err := g.box.Tree.Resolve(ctx, p)
	if err != nil {
		return
	}
	defer h.Close() //nolint:errcheck // nothing was written
	i := h.Info()
	if i.Exists && i.Path != i.Root && (i.Mode.IsDir() || i.Mode.IsRegular()) {
		g.found = append(g.found, i.Path)
	}
}

// settings reads where a configuration takes hooks and more settings from: core.hooksPath (relative to the work tree) and
// include.path (relative to the file), as git-config(1) defines them.
func (g *guarding) settings(ctx context.Context, file, dir string) {
	h, err := g.box.Tree.Resolve(ctx, file)
	if err != nil {
		return
	}
	data, err := h.Read(ctx, 0, guardConfig)
	_ = h.Close()
	if err != nil {
		return
	}
	work := dir
	if i := strings.Index(dir+"/", "/.git/"); i >= 0 {
		work = dir[:i]
	}
	section := ""
	for l := range strings.Lines(string(data)) {
		l = strings.TrimSpace(l)
		if strings.HasPrefix(l, "[") {
			section = strings.ToLower(strings.TrimLeft(l, "["))
			if i := strings.IndexByte(l, ']'); i >= 0 {
				l = strings.TrimSpace(l[i+1:])
			}
		}
		key, value, _ := strings.Cut(l, "=")
		value = strings.Trim(strings.TrimSpace(value), `"`)
		base := dir
		switch key = strings.ToLower(strings.TrimSpace(key)); {
		case value == "":
			continue
		case key == "hookspath" && strings.HasPrefix(section, "core"):
			base = work
		case key == "path" && strings.HasPrefix(section, "include"):
		default:
			continue
		}
		if !path.IsAbs(value) {
			value = join(base, value)
		}
		g.target(ctx, value)
	}
}

// pointer follows the text of a ".git" or commondir file to the Git directory it names, when that lies in the roots.
func (g *guarding) pointer(ctx context.Context, file, dir, prefix string) {
	h, err := g.box.Tree.Resolve(ctx, file)
	if err != nil {
		return
	}
	data, err := h.Read(ctx, 0, guardPointer)
	_ = h.Close()
	text, ok := strings.CutPrefix(strings.TrimSpace(string(data)), prefix)
	if err != nil || !ok {
		return
	}
	target := strings.TrimSpace(text)
	if !path.IsAbs(target) {
		target = join(dir, target)
	}
	to, err := g.box.Tree.Resolve(ctx, target)
	if err != nil {
		return
	}
	g.queue = append(g.queue, visit{to.Info().Path, true})
	_ = to.Close()
}

func guardedName(name string) bool {
	return slices.ContainsFunc(policy.GuardedNames(), func(n string) bool { return strings.EqualFold(n, name) })
}

// bulk names the parts of a Git directory that hold data only, and may be large.
func bulk(name string) bool {
	return name == "objects" || name == "refs" || name == "logs" || name == "lfs"
}

// bare recognises a Git directory whatever its name, as Git does: HEAD, objects and refs.
func bare(entries []workspace.Info) bool {
	found := 0
	for _, e := range entries {
		switch {
		case e.Name == "HEAD" && e.Mode.IsRegular(), e.Name == "objects" && e.Mode.IsDir(), e.Name == "refs" && e.Mode.IsDir():
			found++
		}
	}
	return found == 3
}
