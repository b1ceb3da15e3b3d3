// Package gitguard keeps what Git would obey out of the reach of a Task (spec section 8, FS-05, DENY-01): hooks, settings and
// redirections of the Git directories below the writable roots. It finds them before anything is changed or run, so that
// policy and sandbox keep them as they are, and afterwards puts aside what a process gave to a Git directory that had none.
//
// A commondir that lies where Git never makes one, in a Git directory with settings or objects of its own, is taken for what a
// process left when the Broker died before it could sweep: nothing is followed or protected through it, and it is put aside as
// well, when a Task first changes or runs something. It may be the owner's after all; then renaming it back is up to the owner.
//
// It never runs Git, never follows a link or a redirection out of the roots, never writes or removes a content (what it puts
// aside is renamed, and told), and records nothing: its caller does.
package gitguard

import (
	"context"
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// Bounds of the look for Git directories. It goes level by level, so that what is near the roots is found first, and when there
// are more directories than may be listed, those with a ".git" come first at every level; beyond the bounds only the rule by
// name (core/policy) protects, and Found.Unseen says so. Zero takes the usual.
type Bounds struct {
	Dirs    int // directories that are listed; 20,000
	Entries int // names of one listing; 65,536
	Far     int // directories beyond Dirs that are only asked for a ".git"; 200,000
}

func (b Bounds) usual() Bounds {
	for _, d := range []struct {
		value *int
		usual int
	}{{&b.Dirs, 20_000}, {&b.Entries, 65_536}, {&b.Far, 200_000}} {
		if *d.value <= 0 {
			*d.value = d.usual
		}
	}
	return b
}

// CodeRedirected says in the Audit why a commondir was put aside (args: path).
const CodeRedirected fault.Code = "gitguard.redirected"

// Guard is the guard of one Task, used by one goroutine at a time.
type Guard struct {
	tree   workspace.Tree
	policy *policy.Policy
	bounds Bounds
	done   bool // Find has looked
	unseen int
	refuse []string // what is to be put aside
	found  []string // what stays as it is
	seen   func(dir workspace.Info, entries []workspace.Info)
	left   []string // of absent: what the last Sweep could not put aside
	absent []string // what a Git directory may not get from a process: missing when the Task started
}

// New makes a Guard. Nothing is touched yet.
func New(tree workspace.Tree, p *policy.Policy, b Bounds) *Guard {
	return &Guard{tree: tree, policy: p, bounds: b.usual()}
}

// Watch has every directory that Find lists told to seen as well, with its entries: one walk serves both. Call it before Find.
func (g *Guard) Watch(seen func(dir workspace.Info, entries []workspace.Info)) { g.seen = seen }

// Found is what a look for Git directories gave.
type Found struct {
	Protect []string // must stay read-only for tools and processes (sandbox.Spec.Protect), sorted
	Refused []string // a commondir that Git did not make, sorted; the caller records each, then calls PutAside
	Unseen  int      // directories, and names in listings, that the bounds left out; 0 when everything was seen
}

// Find finds, once per Task and before anything is changed or run, the files of Git that exist below the writable roots. It
// changes nothing. Later calls return what is so by then. Its only fault is that ctx ended.
func (g *Guard) Find(ctx context.Context) (Found, error) {
	if !g.done {
		if err := g.look(ctx); err != nil {
			return Found{}, err
		}
	}
	return Found{Protect: slices.Clone(g.found), Refused: slices.Clone(g.refuse), Unseen: g.unseen}, nil
}

func (g *Guard) look(ctx context.Context) error {
	w := walk{Guard: g, seen: map[visit]bool{}}
	for _, r := range g.policy.ToolRoots() {
		if r.Rights&(rights.Write|rights.Delete) != 0 {
			w.enqueue(ctx, visit{r.Path, policy.InGitDir(r.Path)})
		}
	}
	w.within(ctx)
	w.beyond(ctx)
	if err := ctx.Err(); err != nil {
		return fault.From(err)
	}
	g.refuse, g.unseen = sorted(w.refuse), w.unseen
	g.found, g.absent, g.done = sorted(append(w.found, g.refuse...)), sorted(w.gone), true
	return nil
}

func sorted(paths []string) []string {
	slices.Sort(paths)
	return slices.Compact(paths)
}

// Absent is what no process may give to a Git directory of the owner's, sorted: all that a Sweep needs to know. It changes when
// Present finds that the owner made some of it.
func (g *Guard) Absent() []string { return slices.Clone(g.absent) }

// Resume makes a Guard that can only Sweep: for what a run may have left that nobody saw end. absent is a Guard's Absent.
func Resume(tree workspace.Tree, absent []string) *Guard {
	return &Guard{tree: tree, absent: absent, done: true}
}

// Present is what was found, and what the owner made since, as far as it is there now: a sandbox refuses a Spec that names
// what is not there. It is called before each process starts. A directory that a process closed, so that nobody can tell, is
// opened again; where that fails nothing may be started.
func (g *Guard) Present(ctx context.Context) (out []string, err error) {
	g.arrived(ctx)
	for _, p := range g.found {
		there, err := g.opened(ctx, p)
		if err != nil {
			return nil, err
		}
		if there {
			out = append(out, p)
		}
	}
	return out, nil
}

// arrived moves what the owner made since the last look from what may not appear to what stays as it is.
func (g *Guard) arrived(ctx context.Context) {
	g.absent = slices.DeleteFunc(g.absent, func(p string) bool {
		if slices.Contains(g.left, p) || !g.exists(ctx, p) { // what could not be put aside is not the owner's
			return false
		}
		g.found = append(g.found, p)
		return true
	})
	slices.Sort(g.found)
}

// exists reports whether a path, itself when it is a symlink, is there under that very name.
func (g *Guard) exists(ctx context.Context, p string) bool {
	there, err := g.there(ctx, p)
	return err == nil && there
}

// there is exists; its error is that nobody can tell.
func (g *Guard) there(ctx context.Context, p string) (bool, error) {
	h, err := g.entry(ctx, p)
	switch fault.CodeOf(err) {
	case workspace.CodePermission, workspace.CodeFailed, fault.CodeCancelled, fault.CodeTimeout:
		return false, err
	}
	if err != nil { // its directory is gone, or is none
		return false, nil
	}
	defer h.Close()                                                              //nolint:errcheck // nothing was written
	if i := h.Info(); i.Exists && i.Path != p && !strings.EqualFold(i.Path, p) { // what leads there was made since
		return false, fault.New(workspace.CodeFailed, "path", p, "detail", "it leads to "+i.Path)
	}
	return h.Info().Exists && h.Info().Path == p, nil
}

// entry resolves a path without following a symlink at its end, where the tree can.
func (g *Guard) entry(ctx context.Context, p string) (workspace.Handle, error) {
	if r, ok := g.tree.(workspace.EntryResolver); ok {
		return r.ResolveEntry(ctx, p)
	}
	return g.tree.Resolve(ctx, p)
}
