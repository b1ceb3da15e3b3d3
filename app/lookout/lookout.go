// Package lookout finds, after a process ran, the files that the owner's own tools would obey outside the sandbox and that were
// not there, or not so, before (DENY-01, SEC-INV-13; core/trigger has the table): hooks and settings of a repository that a
// process made or cloned, editors' tasks, a shell's and package managers' project files.
//
// It knows the tree from the guard's walk before the first run, and afterwards lists only directories that changed since: a
// directory's change time cannot be set by a process. It changes nothing, follows no symlink, and decides nothing: what it
// finds is named to the model, the Audit and the user. What it could not see is told as a number.
package lookout

import (
	"context"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/core/trigger"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// Bounds of one look. Zero takes the usual.
type Bounds struct {
	Dirs    int // directories that are known; 20,000
	Entries int // names of one listing; 65,536
}

func (b Bounds) usual() Bounds {
	if b.Dirs <= 0 {
		b.Dirs = 20_000
	}
	if b.Entries <= 0 {
		b.Entries = 65_536
	}
	return b
}

// Found is one file that something else will obey.
type Found struct {
	Path string // canonical
	Kind trigger.Kind
	Why  string   // English, for the model
	What []string // settings of the file that are obeyed; empty = all of it
	New  bool     // there was no such file before
}

// tick is coarser than any file system's or kernel's clock: what changed within it of the newest change seen is listed again.
const tick = 50 * time.Millisecond

// dir is a directory as it was last listed.
type dir struct {
	Change   time.Time
	Git      bool
	Vendored bool
}

// Lookout is the lookout of one Task, used by one goroutine at a time.
type Lookout struct {
	tree   workspace.Tree
	roots  []string // writable
	bounds Bounds
	dirs   map[string]dir
	files  map[string]workspace.Identity // those that match the table, as last seen
	newest time.Time
	unseen int

	// apart are directories that were there before and were not listed: what the guard keeps read-only (a repository's hooks), and
	// what lay beyond its bounds. They are not taken for new ones. The value is what they were.
	apart map[string]uint64

	links map[string]workspace.Identity // symlinks that match the table, with what they lead to

	resumed bool // by another process, perhaps after a restart of the machine: file systems may have other numbers
}

// State is what a Lookout knows, for one that goes on in another process.
type State struct {
	Roots  []string // writable
	Dirs   map[string]dir
	Files  map[string]workspace.Identity
	Apart  map[string]uint64
	Links  map[string]workspace.Identity
	Newest time.Time
}

// State is what is known now. It shares the Lookout's maps: write it down before the next call.
func (l *Lookout) State() State {
	return State{Roots: l.roots, Dirs: l.dirs, Files: l.files, Apart: l.apart, Links: l.links, Newest: l.newest}
}

// Resume makes a Lookout that goes on where another one was.
func Resume(tree workspace.Tree, s State, b Bounds) *Lookout {
	l := &Lookout{
		tree: tree, bounds: b.usual(), roots: s.Roots, dirs: map[string]dir{}, files: map[string]workspace.Identity{},
		apart: map[string]uint64{}, links: map[string]workspace.Identity{}, newest: s.Newest, resumed: true,
	}
	maps.Copy(l.dirs, s.Dirs)
	maps.Copy(l.files, s.Files)
	maps.Copy(l.apart, s.Apart)
	maps.Copy(l.links, s.Links)
	return l
}

// same compares two states of one file.
func (l *Lookout) same(a, b workspace.Identity) bool {
	return (l.resumed || a.Volume == b.Volume) && a.File == b.File && a.Size == b.Size && a.ModifiedAt.Equal(b.ModifiedAt) && a.Change.Equal(b.Change)
}

// New makes a Lookout. Nothing is touched yet.
func New(tree workspace.Tree, p *policy.Policy, b Bounds) *Lookout {
	l := &Lookout{tree: tree, bounds: b.usual(), dirs: map[string]dir{}, files: map[string]workspace.Identity{}, apart: map[string]uint64{}, links: map[string]workspace.Identity{}}
	for _, r := range p.ToolRoots() {
		if r.Rights&(rights.Write|rights.Delete) != 0 {
			l.roots = append(l.roots, r.Path)
		}
	}
	return l
}

// Before notes a directory and its entries as they were before the first run.
func (l *Lookout) Before(d workspace.Info, entries []workspace.Info) {
	l.note(d, entries)
	delete(l.apart, d.Path)
	for _, e := range entries {
		at := join(d.Path, e.Name)
		if _, listed := l.dirs[at]; e.Mode.IsDir() && !listed {
			l.apart[at] = e.Identity.File
		}
	}
	for _, f := range l.matching(d, entries) {
		l.files[f.Path] = f.Identity
		l.link(context.Background(), f)
	}
}

// link keeps what a symlink leads to, and reports whether that is another state than before. What the link says stays when a
// process writes what it leads to.
func (l *Lookout) link(ctx context.Context, i workspace.Info) (changed bool) {
	was, known := l.links[i.Path]
	if i.Mode.Type() != fs.ModeSymlink {
		delete(l.links, i.Path)
		return false
	}
	var now workspace.Identity
	if h, err := l.tree.Resolve(ctx, i.Path); err == nil {
		now = h.Info().Identity
		_ = h.Close()
	}
	l.links[i.Path] = now
	l.age(now)
	return known && !l.same(was, now)
}

// note keeps a directory's state and the newest change seen.
func (l *Lookout) note(d workspace.Info, entries []workspace.Info) {
	if _, known := l.dirs[d.Path]; !known && len(l.dirs) >= l.bounds.Dirs {
		l.unseen++
		return
	}
	l.dirs[d.Path] = dir{Change: d.Identity.Change, Git: l.inGit(d.Path, entries), Vendored: l.isVendored(d.Path)}
	l.age(d.Identity)
	for _, e := range entries {
		l.age(e.Identity)
	}
}

func (l *Lookout) age(i workspace.Identity) {
	if i.Change.After(l.newest) {
		l.newest = i.Change
	}
}

// inGit reports whether a directory is or lies in a Git directory, by name or, as Git does, by what it holds.
func (l *Lookout) inGit(p string, entries []workspace.Info) bool {
	if policy.InGitDir(p) || l.dirs[filepath.Dir(p)].Git {
		return true
	}
	has := func(name string) bool {
		return slices.ContainsFunc(entries, func(e workspace.Info) bool { return e.Name == name })
	}
	return has("refs") && has("objects")
}

func (l *Lookout) isVendored(p string) bool {
	return trigger.Vendored(filepath.Base(p)) && !slices.Contains(l.roots, p) || l.dirs[filepath.Dir(p)].Vendored
}

// matching are the entries of a directory that the table knows.
func (l *Lookout) matching(d workspace.Info, entries []workspace.Info) (out []workspace.Info) {
	for _, e := range entries {
		if e.Mode.IsDir() {
			continue
		}
		e.Path = join(d.Path, e.Name)
		if _, ok := trigger.Match(l.place(e)); ok {
			out = append(out, e)
		}
	}
	return out
}

func (l *Lookout) place(e workspace.Info) trigger.Place {
	up := filepath.Dir(e.Path)
	return trigger.Place{
		Path: filepath.ToSlash(e.Path), Top: slices.Contains(l.roots, up), GitDir: l.dirs[up].Git, Vendored: l.dirs[up].Vendored,
		Executable: e.Mode&0o111 != 0, Link: e.Mode.Type() == fs.ModeSymlink,
	}
}

// After finds what is new or changed since the last look, sorted by path, and how many directories and names it could not see.
// Its only fault is that ctx ended.
func (l *Lookout) After(ctx context.Context) (found []Found, unseen int, err error) {
	l.unseen = 0
	racy := l.newest.Add(-tick)
	known := slices.Sorted(maps.Keys(l.dirs))
	changed := map[string]workspace.Info{}
	for _, f := range slices.Sorted(maps.Keys(l.files)) { // a file that is overwritten does not change its directory
		if i, ok := l.stat(ctx, f); ok && (l.link(ctx, i) || !l.same(i.Identity, l.files[f])) {
			changed[f] = i
		} else if !ok {
			delete(l.files, f) // a new one of that name is new
			delete(l.links, f)
		}
	}
	for _, p := range known {
		l.visit(ctx, p, racy, changed)
		if ctx.Err() != nil {
			return nil, 0, fault.From(ctx.Err())
		}
	}
	for _, p := range slices.Sorted(maps.Keys(changed)) {
		if f, ok := l.judge(ctx, changed[p]); ok {
			found = append(found, f)
		}
		l.files[p] = changed[p].Identity
		l.link(ctx, changed[p])
		l.age(changed[p].Identity)
	}
	return found, l.unseen, nil
}

// visit lists a known directory if it changed, and everything below it that is new.
func (l *Lookout) visit(ctx context.Context, p string, racy time.Time, changed map[string]workspace.Info) {
	h, err := l.entry(ctx, p)
	if err != nil {
		if code := fault.CodeOf(err); code != workspace.CodeNotFound && code != workspace.CodeNotDirectory {
			l.unseen++
		}
		delete(l.dirs, p)
		return
	}
	i := h.Info()
	old, known := l.dirs[p]
	if !i.Exists || i.Path != p || !i.Mode.IsDir() {
		_ = h.Close()
		delete(l.dirs, p)
		return
	}
	if known && i.Identity.Change.Equal(old.Change) && !old.Change.After(racy) {
		_ = h.Close()
		return
	}
	entries, total, err := h.List(ctx, l.bounds.Entries)
	_ = h.Close() // a tree may be deeper than there are descriptors
	if err != nil {
		l.closed(i, err, changed)
		return
	}
	l.unseen += total - len(entries)
	l.note(i, entries)
	if _, noted := l.dirs[p]; !noted {
		return
	}
	for _, e := range l.matching(i, entries) {
		if was, ok := l.files[e.Path]; !ok || !l.same(was, e.Identity) {
			changed[e.Path] = e
		}
	}
	for _, e := range entries {
		at := join(p, e.Name)
		if _, known := l.dirs[at]; known || !e.Mode.IsDir() || l.dirs[p].Git && bulk(e.Name) || ctx.Err() != nil {
			continue
		}
		if was, old := l.apart[at]; !old || was != e.Identity.File {
			l.visit(ctx, at, racy, changed)
		}
	}
}

// closed notes a directory that cannot be listed. Whoever knows the names in it can still use them, and so can the owner's tools.
func (l *Lookout) closed(i workspace.Info, err error, changed map[string]workspace.Info) {
	if fault.CodeOf(err) != workspace.CodePermission {
		l.unseen++
		return
	}
	if _, known := l.dirs[i.Path]; !known && len(l.dirs) >= l.bounds.Dirs {
		l.unseen++
		return
	}
	l.dirs[i.Path] = dir{Git: policy.InGitDir(i.Path) || l.dirs[filepath.Dir(i.Path)].Git, Vendored: l.isVendored(i.Path)} // tried again by the next look
	if was, ok := l.files[i.Path]; !ok || !l.same(was, i.Identity) {
		changed[i.Path] = i
	}
}

// bulk names the parts of a Git directory that hold data only.
func bulk(name string) bool {
	return name == "objects" || name == "refs" || name == "logs" || name == "lfs"
}

// Wrote judges one file that was just written or moved there by a tool; ok is false when nothing obeys it.
func (l *Lookout) Wrote(ctx context.Context, p string) (f Found, ok bool) {
	up := filepath.Dir(p)
	if _, known := l.dirs[up]; !known {
		l.dirs[up] = dir{Git: policy.InGitDir(up), Vendored: l.isVendored(up)} // listed by the next look: its change time is none
	}
	i, exists := l.stat(ctx, p)
	if _, match := trigger.Match(l.place(i)); !exists || !match || l.same(l.files[p], i.Identity) {
		return Found{}, false
	}
	f, ok = l.judge(ctx, i)
	l.files[p] = i.Identity
	return f, ok
}

// judge reads a file that the table knows.
func (l *Lookout) judge(ctx context.Context, i workspace.Info) (Found, bool) {
	if i.Mode.IsDir() { // it was found closed, or is a directory by now
		return Found{Path: i.Path, Kind: trigger.Hidden, Why: trigger.WhyHidden, New: true}, i.Mode.Perm()&0o500 != 0o500
	}
	rule, ok := trigger.Match(l.place(i))
	if !ok {
		return Found{}, false
	}
	_, old := l.files[i.Path]
	f := Found{Path: i.Path, Kind: rule.Kind, Why: rule.Why, New: !old}
	if rule.Reads == nil {
		return f, true
	}
	h, err := l.tree.Resolve(ctx, i.Path) // what it leads to is what is obeyed
	if err != nil {
		return f, !i.Mode.IsRegular() // a link out of the roots is obeyed all the same
	}
	defer h.Close() //nolint:errcheck // nothing was written
	data, err := h.Read(ctx, 0, trigger.MaxContent)
	if err != nil {
		return f, h.Info().Exists
	}
	f.What = rule.Reads(string(data))
	return f, len(f.What) > 0 || h.Info().Identity.Size > trigger.MaxContent
}

func (l *Lookout) stat(ctx context.Context, p string) (workspace.Info, bool) {
	h, err := l.entry(ctx, p)
	if err != nil {
		return workspace.Info{}, false
	}
	defer h.Close() //nolint:errcheck // nothing was written
	i := h.Info()
	return i, i.Exists && i.Path == p
}

func (l *Lookout) entry(ctx context.Context, p string) (workspace.Handle, error) {
	if r, ok := l.tree.(workspace.EntryResolver); ok {
		return r.ResolveEntry(ctx, p)
	}
	return l.tree.Resolve(ctx, p)
}

// join appends a name to a canonical directory with that directory's own separator.
func join(d, name string) string {
	if len(d) > 2 && d[1] == ':' && d[2] == '\\' {
		return strings.TrimSuffix(d, `\`) + `\` + name
	}
	return path.Join(d, name)
}
