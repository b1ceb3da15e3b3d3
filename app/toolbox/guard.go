package toolbox

import (
	"context"
	"io/fs"
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
	guardFar     = 200_000 // directories beyond guardDirs that are only asked for a ".git"
	guardPointer = 4096    // bytes of a ".git" or commondir file
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
			g.enqueue(visit{r.Path, policy.InGitDir(r.Path)})
		}
	}
	for n := 0; len(g.queue)+len(g.first) > 0 && n < guardDirs; n++ {
		if err := ctx.Err(); err != nil {
			return fault.From(err)
		}
		g.next(ctx)
	}
	g.rest(ctx)
	slices.Sort(g.found)
	b.guards = slices.Compact(g.found)
	slices.Sort(g.absent)
	b.absent = slices.Compact(g.absent)
	b.Policy = b.Policy.WithProtected(b.guards)
	b.guarded = true
	return nil
}

// present leaves out what the owner removed since the Task started: a sandbox refuses a Spec that names what is not there.
func (b *Box) present(ctx context.Context) []string {
	var out []string
	for _, p := range b.guards {
		if b.exists(ctx, p) {
			out = append(out, p)
		}
	}
	return out
}

// exists reports whether a path, itself when it is a symlink, is there under that very name.
func (b *Box) exists(ctx context.Context, p string) bool {
	h, err := b.entry(ctx, p)
	if err != nil {
		return false
	}
	defer h.Close() //nolint:errcheck // nothing was written
	return h.Info().Exists && h.Info().Path == p
}

// entry resolves a path without following a symlink at its end, where the tree can.
func (b *Box) entry(ctx context.Context, p string) (workspace.Handle, error) {
	if r, ok := b.Tree.(workspace.EntryResolver); ok {
		return r.ResolveEntry(ctx, p)
	}
	return b.Tree.Resolve(ctx, p)
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
	box    *Box
	seen   map[visit]bool
	first  []visit // Git directories: a flood of others does not keep them waiting
	queue  []visit
	found  []string
	absent []string
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
	entries, total, err := h.List(ctx, guardEntries)
	if err != nil {
		return
	}
	if total > len(entries) { // what matters is not crowded out by a flood of names
		entries = g.named(ctx, v.path, entries)
	}
	git := v.git || policy.InGitDir(v.path) || bare(entries)
	if git {
		g.missing(v.path, entries)
	}
	for _, e := range entries {
		p := join(v.path, e.Name)
		switch {
		case git && guardedName(e.Name):
			g.guarded(ctx, p, e, v.path)
		case strings.EqualFold(e.Name, ".git"):
			g.dotGit(ctx, v.path, p)
		case e.Mode.IsDir() && git && bulk(e.Name):
		case e.Mode.IsDir():
			g.enqueue(visit{p, git})
		}
	}
}

// rest looks at the directories beyond the bound for a Git directory of their own, and nothing else.
func (g *guarding) rest(ctx context.Context) {
	far := g.queue
	g.queue = nil
	for _, v := range far[:min(len(far), guardFar)] {
		p := join(v.path, ".git")
		if ctx.Err() != nil || !g.box.exists(ctx, p) {
			continue
		}
		g.dotGit(ctx, v.path, p)
	}
	for n := 0; len(g.first) > 0 && n < guardDirs; n++ {
		g.next(ctx)
	}
}

// next visits one directory, Git directories before others.
func (g *guarding) next(ctx context.Context) {
	from := &g.queue
	if len(g.first) > 0 {
		from = &g.first
	}
	v := (*from)[0]
	*from = (*from)[1:]
	g.dir(ctx, v)
}

func (g *guarding) enqueue(v visit) {
	if v.git {
		g.first = append(g.first, v)
	} else {
		g.queue = append(g.queue, v)
	}
}

// dotGit notes a ".git" that is a file or a symlink and visits what any leads to.
func (g *guarding) dotGit(ctx context.Context, dir, p string) {
	h, err := g.box.entry(ctx, p)
	if err != nil {
		return
	}
	mode := h.Info().Mode
	_ = h.Close()
	switch {
	case mode.IsDir():
		g.enqueue(visit{p, true})
	case mode.IsRegular():
		g.found = append(g.found, p)
		g.pointer(ctx, p, dir, "gitdir:")
	case mode.Type() == fs.ModeSymlink:
		g.found = append(g.found, p)
		g.follow(ctx, p)
	}
}

// named adds the names that matter to a listing that was cut short.
func (g *guarding) named(ctx context.Context, dir string, entries []workspace.Info) []workspace.Info {
	for _, name := range append([]string{".git", "HEAD", "objects", "refs", "modules", "worktrees"}, policy.GuardedNames()...) {
		if slices.ContainsFunc(entries, func(e workspace.Info) bool { return e.Name == name }) {
			continue
		}
		h, err := g.box.entry(ctx, join(dir, name))
		if err != nil {
			continue
		}
		if i := h.Info(); i.Exists {
			i.Name = name
			entries = append(entries, i)
		}
		_ = h.Close()
	}
	return entries
}

// missing notes what a Git directory does not have: a process that makes it would have the owner's Git run its programs.
func (g *guarding) missing(dir string, entries []workspace.Info) {
	has := func(name string) bool {
		return slices.ContainsFunc(entries, func(e workspace.Info) bool { return strings.EqualFold(e.Name, name) })
	}
	if !has("HEAD") {
		return // "modules", "info" and the like
	}
	for _, name := range policy.GuardedNames() {
		if !has(name) {
			g.absent = append(g.absent, join(dir, name))
		}
	}
}

// follow visits what a symlink or file named ".git" leads to.
func (g *guarding) follow(ctx context.Context, p string) {
	h, err := g.box.Tree.Resolve(ctx, p)
	if err != nil {
		return
	}
	if i := h.Info(); i.Exists && i.Mode.IsDir() {
		g.enqueue(visit{i.Path, true})
	}
	_ = h.Close()
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
		if e.Mode.Type() == fs.ModeSymlink {
			g.found = append(g.found, p) // it stays, and so does what it leads to
		}
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
		value = gitValue(value)
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

// gitValue reads the value of a line as git-config(1) does: without quotes, escapes, and a comment.
func gitValue(line string) string {
	var out strings.Builder
	quoted, length := false, 0
	line = strings.TrimSpace(line)
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == '"':
			quoted = !quoted
			continue
		case c == '\\' && i+1 < len(line):
			i++
			c = line[i]
		case (c == '#' || c == ';') && !quoted:
			return out.String()[:length]
		}
		out.WriteByte(c)
		if quoted || c != ' ' && c != '\t' {
			length = out.Len()
		}
	}
	return out.String()[:length]
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
	g.enqueue(visit{to.Info().Path, true})
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
