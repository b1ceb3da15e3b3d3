package gitguard

import (
	"context"
	"io/fs"
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/core/policy"
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
	queue []visit
	found []string
	gone  []string // absent
}

// dir looks at one directory. Symlinks are not followed: where they lead to is visited on its own, if it is writable.
func (w *walk) dir(ctx context.Context, v visit) {
	if w.seen[v] {
		return
	}
	w.seen[v] = true
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
		return
	}
	if total > len(entries) { // what matters is not crowded out by a flood of names
		entries = w.named(ctx, v.path, entries)
	}
	git := v.git || policy.InGitDir(v.path) || bare(entries)
	if git {
		w.missing(v.path, entries)
	}
	for _, e := range entries {
		p := join(v.path, e.Name)
		switch {
		case git && guardedName(e.Name):
			w.guarded(ctx, p, e, v.path)
		case strings.EqualFold(e.Name, ".git"):
			w.dotGit(ctx, v.path, p)
		case e.Mode.IsDir() && git && bulk(e.Name):
		case e.Mode.IsDir():
			w.enqueue(visit{p, git})
		}
	}
}

// rest looks at the directories beyond the bound for a Git directory of their own, and nothing else.
func (w *walk) rest(ctx context.Context) {
	far := w.queue
	w.queue = nil
	for _, v := range far[:min(len(far), w.bounds.Far)] {
		p := join(v.path, ".git")
		if ctx.Err() != nil || !w.exists(ctx, p) {
			continue
		}
		w.dotGit(ctx, v.path, p)
	}
	for n := 0; len(w.first) > 0 && n < w.bounds.Dirs; n++ {
		w.next(ctx)
	}
}

// next visits one directory, Git directories before others.
func (w *walk) next(ctx context.Context) {
	from := &w.queue
	if len(w.first) > 0 {
		from = &w.first
	}
	v := (*from)[0]
	*from = (*from)[1:]
	w.dir(ctx, v)
}

func (w *walk) enqueue(v visit) {
	if v.git {
		w.first = append(w.first, v)
	} else {
		w.queue = append(w.queue, v)
	}
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
		w.enqueue(visit{p, true})
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

// missing notes what a Git directory does not have: a process that makes it would have the owner's Git run its programs.
func (w *walk) missing(dir string, entries []workspace.Info) {
	has := func(name string) bool {
		return slices.ContainsFunc(entries, func(e workspace.Info) bool { return strings.EqualFold(e.Name, name) })
	}
	if !has("HEAD") {
		return // "modules", "info" and the like
	}
	for _, name := range policy.GuardedNames() {
		if !has(name) {
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
		w.enqueue(visit{i.Path, true})
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
		case "commondir":
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

// target notes what a path leads to, when that lies in the roots and is not a root itself.
func (w *walk) target(ctx context.Context, p string) {
	h, err := w.tree.Resolve(ctx, p)
	if err != nil {
		return
	}
	defer h.Close() //nolint:errcheck // nothing was written
	i := h.Info()
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
