package windows

import (
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/adapters/internal/winpath"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/journal"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// This file turns a Spec and what lies at its paths into the calls that give the tree its rights, as plain data. It asks the
// system nothing.

// host is what this machine and this user are.
type host struct {
	Profile      string // name of the Application Profile
	Package      sid    // of the profile
	User         sid    // who runs the Broker
	SystemRoot   string // "C:\Windows"
	Processors   string
	Baseline     []rights.Root
	ConsoleHosts int    // processes that a program's console costs, see preflight
	Scratch      string // where temporary directories of runs are made
}

// object is a file or directory as it was found, without following a link in the last place.
type object struct {
	Place      place
	Final      string // what the system calls it
	Link       bool   // a junction, a symbolic link, or any other reparse point
	Remote     bool
	FileSystem string
	ACLs       bool // the file system keeps lists of rights
	Fixed      bool // the list may not be changed by this user
	List       dacl
}

// found are the objects at the paths a plan is about, by folded path.
type found map[string]object

func (f found) at(path string) (object, bool) {
	o, ok := f[winpath.Fold(path)]
	return o, ok
}

// subjects lists the paths that a plan is about: roots, what is protected, and every directory above either.
func subjects(s sandbox.Spec, h host) []string {
	var out []string
	for _, r := range needed(s, h) {
		out = append(append(out, r.Path), winpath.Above(r.Path)...)
	}
	for _, p := range s.Protect {
		out = append(append(out, p), winpath.Above(p)...)
	}
	if h.Scratch != "" {
		out = append(append(out, h.Scratch), winpath.Above(h.Scratch)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// needed are the roots that the system's own grants to every AppContainer do not cover.
func needed(s sandbox.Spec, h host) (out []rights.Root) {
	for _, r := range s.Roots {
		if b, ok := rootOf(h.Baseline, r.Path); !ok || !b.Rights.Has(r.Rights) {
			out = append(out, r)
		}
	}
	return out
}

// rootOf is sandbox.RootOf as the volume compares names.
func rootOf(roots []rights.Root, path string) (best rights.Root, ok bool) {
	for _, r := range roots {
		if winpath.Under(path, r.Path) && (!ok || len(r.Path) > len(best.Path)) {
			best, ok = r, true
		}
	}
	return best, ok
}

// check judges what depends on how Windows writes paths, beside sandbox.Check.
func check(s sandbox.Spec, h host) *fault.Error {
	var bad []*fault.Error
	spec := func(detail string) { bad = append(bad, fault.New(sandbox.CodeBadSpec, "detail", detail)) }
	form := func(what, path string) {
		if p := winpath.Canonical(path); p != winpath.None {
			spec(what + " is " + string(p) + ": " + path)
		}
	}
	for i, r := range s.Roots {
		form("root", r.Path)
		for _, outer := range s.Roots[:i] {
			switch {
			case winpath.Same(r.Path, outer.Path):
				spec("one root twice: " + outer.Path + ", " + r.Path)
			case winpath.Under(r.Path, outer.Path) && !r.Rights.Has(outer.Rights):
				bad = append(bad, fault.New(sandbox.CodeNestedRoots, "path", r.Path, "parent", outer.Path))
			}
		}
		if r.Rights&^(rights.Read|rights.Execute) != 0 && (winpath.Under(r.Path, h.SystemRoot) || winpath.Under(h.SystemRoot, r.Path)) {
			spec("the system's own directory: " + r.Path)
		}
	}
	for _, p := range s.Protect {
		form("protected path", p)
	}
	form("entry", s.Entry.Path)
	form("working directory", s.Dir)
	_, inRoot := rootOf(s.Roots, s.Entry.Path)
	_, inBase := rootOf(h.Baseline, s.Entry.Path)
	if !inRoot && !inBase {
		spec("the entry lies in no root: " + s.Entry.Path)
	}
	if len(bad) == 0 {
		return nil
	}
	return bad[0].With(bad[1:]...)
}

// planner collects the steps of one Spec.
type planner struct {
	spec  sandbox.Spec
	h     host
	found found
	roots []rights.Root
	steps []step
	bad   []*fault.Error

	given map[string][]ace // by folded path: what the profile will have on an object, inherited and its own
}

// planHold gives the steps that must stand while programs run: the entries of the roots, outer ones first, the way to them,
// and what keeps protected paths as they are. Undone in reverse order they leave the disk as it was.
func planHold(s sandbox.Spec, h host, f found) ([]step, *fault.Error) {
	p := &planner{spec: s, h: h, found: f, roots: needed(s, h), given: map[string][]ace{}}
	slices.SortStableFunc(p.roots, func(a, b rights.Root) int { return strings.Compare(winpath.Fold(a.Path), winpath.Fold(b.Path)) })
	for i, r := range p.roots {
		if slices.ContainsFunc(s.Protect, func(path string) bool { return winpath.Under(r.Path, path) }) {
			p.roots[i].Rights &^= rights.Write | rights.Delete // what lies in a protected directory is protected
		}
		p.root(p.roots[i])
	}
	p.ways()
	for _, path := range s.Protect {
		p.protect(path)
	}
	if len(p.bad) > 0 {
		return nil, p.bad[0].With(p.bad[1:]...)
	}
	return p.steps, nil
}

func (p *planner) refuse(code fault.Code, kv ...any) { p.bad = append(p.bad, fault.New(code, kv...)) }

// usable judges what lies at a path whose list is to be changed (FS-02, FS-03).
func (p *planner) usable(path string) (object, bool) {
	o, ok := p.found.at(path)
	kind := func(what string) { p.refuse(CodeRootKind, "path", path, "kind", what) }
	switch {
	case !ok:
		p.refuse(sandbox.CodeRootChanged, "path", path)
	case o.Remote:
		kind("a network drive")
	case o.Link:
		kind("a junction, a symbolic link or another reparse point")
	case winpath.Agree(path, o.Final) != winpath.None:
		p.refuse(sandbox.CodeRootChanged, "path", path, "detail", string(winpath.Agree(path, o.Final)))
	case !o.ACLs:
		kind(o.FileSystem + ", a file system without rights")
	case o.List.Null:
		kind("without any list of rights, so that everybody may do everything")
	case o.Fixed:
		p.refuse(CodeGrant, "path", path, "owner", string(o.List.Owner))
	default:
		return o, true
	}
	return object{}, false
}

func (p *planner) root(r rights.Root) {
	o, ok := p.usable(r.Path)
	if !ok {
		return
	}
	outer, nested := rootOf(p.roots, winpath.Dir(r.Path))
	var handed []ace
	if nested {
		handed = p.handedTo(outer.Path, r.Path, o.Place.Dir)
	}
	want := entries(p.h.Package, r.Rights, o.Place.Dir)
	p.foreign(r.Path, o, masks(want)|masks(handed))
	if covers(handed, want) {
		p.given[winpath.Fold(r.Path)] = handed
		return
	}
	p.given[winpath.Fold(r.Path)] = append(slices.Clone(handed), want...)
	_, added := o.List.with(want)
	if len(added) == 0 && slices.Equal(o.List.of(p.h.Package, true), handed) {
		return // converged
	}
	s := step{Do: grant{Place: o.Place, Who: p.h.Package, Aces: added, Handed: handed, Spread: o.Place.Dir, Roots: p.below(r.Path)}}
	if len(added) > 0 {
		s.Record = p.record(journal.KindGrant, o.Place, detail{Aces: packAces(added)})
	}
	p.steps = append(p.steps, s)
}

func (p *planner) record(kind journal.Kind, at place, d detail) *record {
	full := at.detail(p.h.Package)
	full.Aces, full.Turned = d.Aces, d.Turned
	return recordOf(kind, at.Path, full)
}

// covers reports whether entries that come from above already give all of want.
func covers(handed, want []ace) bool {
	here, below := granted(handed)
	wantHere, wantBelow := granted(want)
	return here&wantHere == wantHere && below&wantBelow == wantBelow
}

func masks(aces []ace) (m uint32) {
	for _, a := range aces {
		m |= a.Mask
	}
	return m
}

// below lists the roots inside a root: their own entries are judged with them.
func (p *planner) below(path string) (out []string) {
	for _, r := range p.roots {
		if !winpath.Same(r.Path, path) && winpath.Under(r.Path, path) {
			out = append(out, r.Path)
		}
	}
	return out
}

// handedTo is what an object inherits from the root above it, through the directories between.
func (p *planner) handedTo(root, path string, dir bool) []ace {
	aces := p.given[winpath.Fold(root)]
	for _, between := range winpath.Above(path) {
		if winpath.Under(between, root) && !winpath.Same(between, root) {
			aces = handDown(aces, true)
		}
	}
	return handDown(aces, dir)
}

// foreign refuses an object that already gives the profile more than it may have, by entries that are not ours to take out.
func (p *planner) foreign(path string, o object, most uint32) {
	here, below := granted(o.List.of(p.h.Package, false))
	if (here|below)&^most != 0 {
		p.refuse(CodeForeignGrant, "path", path, "have", setOf(here|below).String(), "sid", string(p.h.Package))
	}
}

// ways lets the tree pass and look at the directories above its roots, and no more: programs ask for each part of their own
// path. Where that cannot be given it is left out.
func (p *planner) ways() {
	var paths []string
	for _, r := range p.roots {
		paths = append(paths, winpath.Above(r.Path)...)
	}
	if p.h.Scratch != "" {
		paths = append(append(paths, p.h.Scratch), winpath.Above(p.h.Scratch)...)
	}
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		o, ok := p.found.at(path)
		if !ok {
			p.refuse(sandbox.CodeRootChanged, "path", path)
			continue
		}
		if _, covered := rootOf(p.roots, path); covered {
			continue
		}
		p.foreign(path, o, maskWay)
		if _, below := granted(o.List.of(p.h.Package, false)); below != 0 {
			p.refuse(CodeForeignGrant, "path", path, "have", setOf(below).String(), "sid", string(p.h.Package))
		}
		here, _ := granted(slices.Concat(o.List.of(p.h.Package, false), o.List.of(p.h.Package, true), o.List.of(sidLowPackages, false), o.List.of(sidLowPackages, true)))
		if here&fileReadAttr != 0 || o.Fixed || o.List.Null || o.Link || !o.ACLs || o.Remote {
			continue
		}
		_, added := o.List.with(wayThrough(p.h.Package))
		p.steps = append(p.steps, step{
			Record: p.record(journal.KindGrant, o.Place, detail{Aces: packAces(added)}),
			Do:     grant{Place: o.Place, Who: p.h.Package, Aces: added, Handed: o.List.of(p.h.Package, true)},
		})
	}
}

// protect keeps a path as it is (Spec.Protect): it inherits nothing, gives no more than to read, and is held with every
// directory up to its root, so that none of them is renamed or removed.
func (p *planner) protect(path string) {
	r, ok := rootOf(p.roots, path)
	if !ok || r.Rights&(rights.Write|rights.Delete) == 0 {
		return
	}
	if o, ok := p.found.at(path); ok && o.Link { // a link has no content; it is held in its place
		p.steps = append(p.steps, step{Do: pin{Place: o.Place}})
	} else if !p.seal(path, r) {
		return
	}
	for _, above := range slices.Backward(winpath.Above(path)) {
		if !winpath.Under(above, r.Path) || winpath.Same(above, r.Path) {
			break
		}
		o, ok := p.found.at(above)
		if !ok {
			p.refuse(sandbox.CodeRootChanged, "path", above)
			return
		}
		hold := step{Do: pin{Place: o.Place}}
		if !slices.ContainsFunc(p.steps, func(s step) bool { return s.Do == hold.Do }) {
			p.steps = append(p.steps, hold)
		}
	}
}

func (p *planner) seal(path string, r rights.Root) bool {
	o, ok := p.usable(path)
	if !ok {
		return false
	}
	handed := p.handedTo(r.Path, path, o.Place.Dir)
	p.foreign(path, o, masks(handed)&maskKept)
	kept := make([]ace, 0, len(handed))
	for _, a := range handed {
		a.Flags &^= flagInherited
		if a.Mask &= maskKept; a.Mask&^(maskReadControl|maskSynchronize) != 0 {
			kept = append(kept, a)
		}
	}
	p.given[winpath.Fold(path)] = kept
	if !o.List.Protected {
		list, turned := o.List.sealed(p.h.Package)
		_, added := list.with(kept)
		p.steps = append(p.steps, step{
			Record: p.record(journal.KindSeal, o.Place, detail{Aces: packAces(added), Turned: packAces(turned)}),
			Do:     seal{Place: o.Place, Who: p.h.Package, Turned: turned, Aces: added},
		})
	}
	p.steps = append(p.steps, step{Do: pin{Place: o.Place}})
	return true
}
