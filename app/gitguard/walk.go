package gitguard

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

// visit is a directory to look at.
type visit struct {
	path string
	git  bool // a Git directory, or inside one
}

// walk is one look for Git directories.
type walk struct {
	*Guard
	seen  map[visit]bool
	first []visit // Git directories: a flood of others does not keep them waiting
	repos []visit // directories with a ".git"; filled when crowded
	queue []visit

	listed  int  // directories listed, of Bounds.Dirs
	asked   int  // directories asked for a ".git", of Bounds.Far
	crowded bool // there are more directories than may be listed, so those with a ".git" go first
	shut    int  // directories that cannot be listed
	unseen  int  // names that listings left out

	found  []string
	gone   []string // absent
	refuse []string // redirections that Git did not make
}

// within lists directories until none is left or the bound is reached, Git directories before repositories, and those
// before others.
func (w *walk) within(ctx context.Context) {
	for w.listed < w.bounds.Dirs && ctx.Err() == nil && w.next(ctx, &w.first, &w.repos, &w.queue) {
	}
}

// beyond asks the directories beyond the bound for a Git directory of their own, and looks into Git directories only.
func (w *walk) beyond(ctx context.Context) {
	w.crowd(ctx)
	for w.listed = 0; w.listed < w.bounds.Dirs && ctx.Err() == nil && w.next(ctx, &w.first); {
	}
	w.unseen += len(w.first) + len(w.repos) + len(w.queue)
}

// next lists the first directory of the first queue that has one.
func (w *walk) next(ctx context.Context, queues ...*[]visit) bool {
	for _, q := range queues {
		if len(*q) > 0 {
			v := (*q)[0]
			*q = (*q)[1:]
			w.dir(ctx, v)
			return true
		}
	}
	return false
}

func (w *walk) enqueue(ctx context.Context, v visit) {
	switch {
	case v.git:
		w.first = append(w.first, v)
	case w.crowded && w.repository(ctx, v.path):
		w.repos = append(w.repos, v)
	default:
		w.queue = append(w.queue, v)
	}
	if w.listed+len(w.queue) > w.bounds.Dirs {
		w.crowd(ctx)
	}
}

// crowd sorts what waits, once: from then on order decides what is seen.
func (w *walk) crowd(ctx context.Context) {
	if w.crowded || len(w.queue) == 0 {
		return
	}
	w.crowded = true
	waiting := w.queue
	w.queue = nil
	for _, v := range waiting {
		w.enqueue(ctx, v)
	}
}

// repository reports whether a directory has a ".git", and notes what it leads to: it may never be listed itself.
func (w *walk) repository(ctx context.Context, dir string) bool {
	if w.asked >= w.bounds.Far || ctx.Err() != nil {
		return false
	}
	w.asked++
	p := join(dir, ".git")
	if !w.exists(ctx, p) {
		return false
	}
	w.dotGit(ctx, dir, p)
	return true
}

// dir looks at one directory. Symlinks are not followed: where they lead to is visited on its own, if it is writable.
func (w *walk) dir(ctx context.Context, v visit) {
	if w.seen[v] {
		return
	}
	w.seen[v] = true
	w.listed++
	h, err := w.tree.Resolve(ctx, v.path)
	if err != nil {
		return
	}
	defer h.Close() //nolint:errcheck // nothing was written
	if h.Info().Path != v.path || !h.Info().Mode.IsDir() {
		return
	}
	entries, total, err := h.List(ctx, w.bounds.Entries)
	if err != nil {
		w.closed(v, h.Info(), err)
		return
	}
	if w.Guard.seen != nil {
		w.Guard.seen(h.Info(), entries)
	}
	if total > len(entries) { // what matters is not crowded out by a flood of names
		w.unseen += total - len(entries)
		entries = w.named(ctx, v.path, entries)
	}
	git := v.git || policy.InGitDir(v.path) || bare(entries)
	if git {
		w.missing(v.path, entries)
	}
	alien := git && w.alien(ctx, v.path, entries)
	for _, e := range entries {
		p := join(v.path, e.Name)
		switch {
		case alien && strings.EqualFold(e.Name, redirection):
			w.refuse = append(w.refuse, p)
		case git && guardedName(e.Name):
			w.guarded(ctx, p, e, v.path)
		case strings.EqualFold(e.Name, ".git"):
			w.dotGit(ctx, v.path, p)
		case e.Mode.IsDir() && git && bulk(e.Name):
		case e.Mode.IsDir():
			w.enqueue(ctx, visit{p, git})
		}
	}
}

// maxClosed bounds the directories that are kept as they are because they cannot be listed.
const maxClosed = 1000

// closed keeps a directory that cannot be listed as it is, whole: a process, which is the same user, could open it, give the Git
// directories in it what they obey, and close it again.
func (w *walk) closed(v visit, i workspace.Info, err error) {
	if !denied(err) || i.Path == i.Root || !v.git && w.shut >= maxClosed {
		w.unseen++
		return
	}
	if !v.git {
		w.shut++
	}
	w.found = append(w.found, v.path)
}

// dotGit notes a ".git" that is a file or a symlink and visits what any leads to.
func (w *walk) dotGit(ctx context.Context, dir, p string) {
	h, err := w.entry(ctx, p)
	if err != nil {
		return
	}
	mode := h.Info().Mode
	_ = h.Close()
	switch {
	case mode.IsDir():
		w.enqueue(ctx, visit{p, true})
	case mode.IsRegular():
		w.found = append(w.found, p)
		w.pointer(ctx, p, dir, "gitdir:")
	case mode.Type() == fs.ModeSymlink:
		w.found = append(w.found, p)
		w.follow(ctx, p)
	}
}

// named adds the names that matter to a listing that was cut short.
func (w *walk) named(ctx context.Context, dir string, entries []workspace.Info) []workspace.Info {
	for _, name := range append([]string{".git", "HEAD", "objects", "refs", "modules", "worktrees"}, policy.GuardedNames()...) {
		if slices.ContainsFunc(entries, func(e workspace.Info) bool { return e.Name == name }) {
			continue
		}
		h, err := w.entry(ctx, join(dir, name))
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

// redirection is the file that has Git take objects, settings and hooks from another directory.
const redirection = "commondir"

// alien reports whether a redirection in this Git directory cannot be Git's own. Git makes one in the directory of a linked
// worktree only, which has neither settings nor objects; beside those it would replace them, and with them the owner's hooks.
// Either is enough, since a process may move objects away. Where Git does make one, it stays the owner's whatever a process
// puts beside it.
func (w *walk) alien(ctx context.Context, dir string, entries []workspace.Info) bool {
	return (has(entries, "config") || has(entries, "objects")) && !w.linked(ctx, dir)
}

// linked reports whether dir is "worktrees/<name>" of another Git directory.
func (w *walk) linked(ctx context.Context, dir string) bool {
	up, _ := split(dir)
	top, name := split(up)
	if !strings.EqualFold(name, "worktrees") {
		return false
	}
	return policy.InGitDir(top) || !policy.InGitDir(dir) && w.exists(ctx, join(top, "HEAD")) && w.exists(ctx, join(top, "config"))
}

func has(entries []workspace.Info, name string) bool {
	return slices.ContainsFunc(entries, func(e workspace.Info) bool { return strings.EqualFold(e.Name, name) })
}

// missing notes what a Git directory does not have: a process that makes it would have the owner's Git run its programs.
func (w *walk) missing(dir string, entries []workspace.Info) {
	_, name := split(dir)
	if !strings.EqualFold(name, ".git") && !bare(entries) && !has(entries, "HEAD") {
		return // "modules", "info" and the like
	}
	for _, name := range policy.GuardedNames() {
		if !has(entries, name) {
			w.gone = append(w.gone, join(dir, name))
		}
	}
}

// follow visits what a symlink or file named ".git" leads to.
func (w *walk) follow(ctx context.Context, p string) {
	h, err := w.tree.Resolve(ctx, p)
	if err != nil {
		return
	}
	if i := h.Info(); i.Exists && i.Mode.IsDir() {
		w.enqueue(ctx, visit{i.Path, true})
	}
	_ = h.Close()
}

// guarded notes one protected place and what it leads to: the target of a symlink, the common directory, and the hooks and
// settings that a configuration file names.
func (w *walk) guarded(ctx context.Context, p string, e workspace.Info, dir string) {
	switch {
	case e.Mode.IsDir():
		w.found = append(w.found, p)
	case e.Mode.IsRegular():
		w.found = append(w.found, p)
		switch strings.ToLower(e.Name) {
		case redirection:
			w.pointer(ctx, p, dir, "")
		case "config", "config.worktree":
			w.settings(ctx, p, dir)
		}
	default:
		if e.Mode.Type() == fs.ModeSymlink {
			w.found = append(w.found, p) // it stays, and so does what it leads to
		}
		w.target(ctx, p)
	}
}

// awaited notes a place that the owner's Git would obey and that is not there: a process that makes it gives Git its programs.
func (w *walk) awaited(p string) {
	if !strings.Contains(p, `\`) {
		p = path.Clean(p)
	}
	for _, r := range w.policy.ToolRoots() {
		if r.Rights&(rights.Write|rights.Delete) != 0 && strings.HasPrefix(p, join(r.Path, "")) {
			w.gone = append(w.gone, p)
			return
		}
	}
}

// target notes what a path leads to, when that lies in the roots and is not a root itself.
func (w *walk) target(ctx context.Context, p string) {
	h, err := w.tree.Resolve(ctx, p)
	if err != nil {
		if fault.CodeOf(err) == workspace.CodeNotFound { // neither is what would hold it
			w.awaited(p)
		}
		return
	}
	defer h.Close() //nolint:errcheck // nothing was written
	i := h.Info()
	if !i.Exists {
		w.awaited(i.Path)
	}
	if i.Exists && i.Path != i.Root && (i.Mode.IsDir() || i.Mode.IsRegular()) {
		w.found = append(w.found, i.Path)
	}
}

func guardedName(name string) bool {
	return slices.ContainsFunc(policy.GuardedNames(), func(n string) bool { return strings.EqualFold(n, name) })
}

// bulk names the parts of a Git directory that hold data only, and may be large.
func bulk(name string) bool {
	return name == "objects" || name == "refs" || name == "logs" || name == "lfs"
}

// bare recognises a Git directory whatever its name, by HEAD, objects and refs as Git does. Not all of them have to be there: a
// process of an earlier Task may have moved one away, to bring it back when it has written the hooks.
func bare(entries []workspace.Info) bool {
	found, obeyed := 0, 0
	for _, e := range entries {
		switch {
		case e.Name == "HEAD" && !e.Mode.IsDir(), e.Name == "objects" && !e.Mode.IsRegular(), e.Name == "refs" && !e.Mode.IsRegular():
			found++
		case e.Name == "config" && !e.Mode.IsDir(), e.Name == "hooks" && !e.Mode.IsRegular():
			obeyed++
		}
	}
	return found > 1 || found == 1 && obeyed == 2
}
