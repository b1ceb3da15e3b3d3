package policy

import (
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// Codes of a refused policy. CodeInvalid carries the others as reasons.
const (
	CodeInvalid       fault.Code = "policy.invalid"
	CodeProfile       fault.Code = "policy.profile"        // args: profile
	CodeMountAccess   fault.Code = "policy.mount_access"   // args: root, access
	CodeMountName     fault.Code = "policy.mount_name"     // args: name — empty, or used twice
	CodeRootPath      fault.Code = "policy.root_path"      // args: root, path — not canonical
	CodeRootDenied    fault.Code = "policy.root_denied"    // args: root, path, denied, what
	CodeRootSame      fault.Code = "policy.root_same"      // args: path, root, other
	CodeRootNested    fault.Code = "policy.root_nested"    // args: path, root, have, other, other_path, other_have
	CodeRootDelete    fault.Code = "policy.root_delete"    // args: root, path — delete without write
	CodeRootProtected fault.Code = "policy.root_protected" // args: root, path — it would make Git's hooks or settings writable
	CodeEntryAlias    fault.Code = "policy.entry_alias"    // args: alias — empty, malformed, or used twice
	CodeEntryHash     fault.Code = "policy.entry_hash"     // args: alias — not a SHA-256
	CodeEntryWritable fault.Code = "policy.entry_writable" // args: root, path, other, other_path — a write root covers it
	CodeCacheOverlap  fault.Code = "policy.cache_overlap"  // args: path, other, other_path — the cache is, holds or lies in another root
	CodeRequire       fault.Code = "policy.require"        // args: value
)

// Build compiles a policy, or refuses with every reason (CodeInvalid). Nested roots may only add rights; two roots of one
// path, a root that takes rights away, and one that overlaps a denied place are refused, both named.
func Build(in Input) (*Policy, *fault.Error) {
	p := &Policy{profile: in.Profile, style: in.Style, require: in.Require}
	var bad []*fault.Error
	note := func(more ...*fault.Error) { bad = append(bad, more...) }

	note(p.collect(in)...)
	slices.SortStableFunc(p.roots, func(a, b Root) int { return strings.Compare(a.Path, b.Path) })
	note(p.checkDenied(in.Denied)...)
	note(p.checkNesting()...)
	note(p.checkEntries(in.Entries)...)
	var more []*fault.Error
	p.network, more = network(in.Network)
	note(more...)
	p.limits, more = limits(in.Resources)
	note(more...)
	if in.Require != sandbox.Approximate && in.Require != sandbox.Exact {
		note(fault.New(CodeRequire, "value", in.Require.String()))
	}
	if len(bad) > 0 {
		return nil, fault.New(CodeInvalid).With(bad...)
	}
	p.compile(in.Protected)
	return p, nil
}

// collect turns the input into roots (FS-01, FS-08, FS-09). Roots whose path is not canonical are refused and left out.
func (p *Policy) collect(in Input) []*fault.Error {
	var bad []*fault.Error
	add := func(r Root) {
		if !p.style.canonical(r.Path) {
			bad = append(bad, fault.New(CodeRootPath, "root", r.Name, "path", r.Path))
			return
		}
		if r.Rights.Has(rights.Delete) && !r.Rights.Has(rights.Write) {
			bad = append(bad, fault.New(CodeRootDelete, "root", r.Name, "path", r.Path))
			return
		}
		if r.Rights&(rights.Write|rights.Delete) != 0 && Protected(r.Path) {
			bad = append(bad, fault.New(CodeRootProtected, "root", r.Name, "path", r.Path))
			return
		}
		p.roots = append(p.roots, r)
	}
	ws := Root{Kind: Workspace, Name: "workspace", Path: in.Workspace, Rights: rights.Read}
	switch in.Profile {
	case Development:
		ws.Rights = rights.All
	case ReadOnly:
	default:
		bad = append(bad, fault.New(CodeProfile, "profile", string(in.Profile)))
	}
	add(ws)
	names := map[string]bool{}
	for _, m := range in.Mounts {
		set, ok := m.Access.Rights()
		if !ok {
			bad = append(bad, fault.New(CodeMountAccess, "root", "mounts."+m.Name, "access", string(m.Access)))
			continue
		}
		if m.Name == "" || names[m.Name] {
			bad = append(bad, fault.New(CodeMountName, "name", m.Name))
		}
		names[m.Name] = true
		add(Root{Kind: Mount, Name: "mounts." + m.Name, Path: m.Path, Rights: set})
	}
	if in.Profile == Development {
		for _, a := range in.Artifacts {
			add(Root{Kind: ArtifactRoot, Name: "artifacts", Path: a, Rights: rights.Read | rights.Execute})
		}
	}
	if in.Cache != "" {
		set := rights.Read | rights.Write | rights.Delete
		if in.Profile == Development { // test binaries and the like run from caches
			set |= rights.Execute
		}
		add(Root{Kind: Cache, Name: "cache", Path: in.Cache, Rights: set})
	}
	for _, b := range in.Baseline {
		add(Root{Kind: Baseline, Name: "system", Path: b.Path, Rights: b.Rights})
	}
	return append(bad, p.collectEntries(in.Entries, add)...)
}

// collectEntries adds the roots of entries: the file itself, and its runtime root. Shared ones appear once.
func (p *Policy) collectEntries(entries []Entry, add func(Root)) []*fault.Error {
	var bad []*fault.Error
	seen := map[string]bool{}
	for _, e := range entries {
		name := "entries." + e.Alias
		if !seen[e.Path] {
			seen[e.Path] = true
			add(Root{Kind: EntryFile, Name: name, Path: e.Path, Rights: rights.Read | rights.Execute, File: true})
		}
		for _, i := range e.Interpreters {
			if !seen[i.Path] {
				seen[i.Path] = true
				add(Root{Kind: EntryFile, Name: name + ".interpreter", Path: i.Path, Rights: rights.Read | rights.Execute, File: true})
			}
		}
		if e.RuntimeRoot != "" && !seen[e.RuntimeRoot] {
			seen[e.RuntimeRoot] = true
			add(Root{Kind: RuntimeRoot, Name: name + ".runtime_root", Path: e.RuntimeRoot, Rights: rights.Read | rights.Execute})
		}
	}
	return bad
}

// checkDenied refuses roots that are, hold or lie in a denied place (DENY-01). The baseline is the adapter's.
func (p *Policy) checkDenied(denied []Denied) []*fault.Error {
	var bad []*fault.Error
	for _, r := range p.roots {
		if r.Kind == Baseline {
			continue
		}
		for _, d := range denied {
			if r.Kind == Cache && d.What == State && p.style.within(r.Path, d.Path) {
				continue // its place is the agent's own state; it must not hold any of it
			}
			if p.style.canonical(d.Path) && (p.style.within(r.Path, d.Path) || p.style.within(d.Path, r.Path)) {
				bad = append(bad, fault.New(CodeRootDenied, "root", r.Name, "path", r.Path, "denied", d.Path, "what", d.What))
				break
			}
		}
		for c := range strings.SplitSeq(r.Path, string(p.style.separator())) {
			if secretName(c) && !slices.ContainsFunc(bad, func(f *fault.Error) bool { return f.Args["path"] == r.Path }) {
				bad = append(bad, fault.New(CodeRootDenied, "root", r.Name, "path", r.Path, "denied", c, "what", "credentials"))
			}
		}
	}
	return bad
}

// system reports whether a root serves processes only: such roots may repeat or nest without adding anything.
func (k Kind) system() bool { return k == RuntimeRoot || k == EntryFile || k == Baseline }

// checkNesting compares each root with every root above it. Both are named.
func (p *Policy) checkNesting() []*fault.Error {
	var bad []*fault.Error
	for i, r := range p.roots {
		for j, above := range p.roots {
			if i == j || !p.style.within(r.Path, above.Path) {
				continue
			}
			same := p.style.fold(r.Path) == p.style.fold(above.Path)
			if same && j > i {
				continue // judged from the other side
			}
			if f := p.overlap(r, above, same); f != nil {
				bad = append(bad, f)
			}
		}
	}
	return bad
}

// overlap judges root r, which is or lies below above.
func (p *Policy) overlap(r, above Root, same bool) *fault.Error {
	switch {
	case r.Kind == Cache:
		return fault.New(CodeCacheOverlap, "path", r.Path, "other", above.Name, "other_path", above.Path)
	case above.Kind == Cache:
		return fault.New(CodeCacheOverlap, "path", above.Path, "other", r.Name, "other_path", r.Path)
	case above.Kind == RuntimeRoot && r.Rights.Has(rights.Write): // what is below it starts without a hash (PRC-03)
		return fault.New(CodeEntryWritable, "root", above.Name, "path", above.Path, "other", r.Name, "other_path", r.Path)
	case (r.Kind == EntryFile || r.Kind == RuntimeRoot) && above.Rights.Has(rights.Write),
		same && (above.Kind == EntryFile || above.Kind == RuntimeRoot) && r.Rights.Has(rights.Write):
		if r.Rights.Has(rights.Write) {
			r, above = above, r
		}
		return fault.New(CodeEntryWritable, "root", r.Name, "path", r.Path, "other", above.Name, "other_path", above.Path)
	case r.Kind.system() && above.Kind.system():
		return nil // the union counts, and neither can be written
	case same:
		return fault.New(CodeRootSame, "path", r.Path, "root", r.Name, "other", above.Name)
	case !r.Rights.Has(above.Rights) || r.Rights == above.Rights && !r.Kind.system():
		return fault.New(CodeRootNested, "path", r.Path, "root", r.Name, "have", Words(r.Rights),
			"other", above.Name, "other_path", above.Path, "other_have", Words(above.Rights))
	}
	return nil
}

// checkEntries judges aliases and hashes (PRC-01, CFG-04) and keeps the entries sorted.
func (p *Policy) checkEntries(entries []Entry) []*fault.Error {
	var bad []*fault.Error
	seen := map[string]bool{}
	for _, e := range entries {
		if !alias(e.Alias) || seen[e.Alias] {
			bad = append(bad, fault.New(CodeEntryAlias, "alias", e.Alias))
		}
		seen[e.Alias] = true
		if !hash(e.SHA256) || slices.ContainsFunc(e.Interpreters, func(i sandbox.Image) bool { return !hash(i.SHA256) }) {
			bad = append(bad, fault.New(CodeEntryHash, "alias", e.Alias))
		}
		p.entries = append(p.entries, e)
	}
	slices.SortStableFunc(p.entries, func(a, b Entry) int { return strings.Compare(a.Alias, b.Alias) })
	return bad
}

// alias accepts 1..64 letters, digits, '.', '_', '-', '+', not starting with '.' or '-'.
func alias(s string) bool {
	if s == "" || len(s) > 64 || s[0] == '.' || s[0] == '-' {
		return false
	}
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("._-+", rune(c)) {
			return false
		}
	}
	return true
}

func hash(s string) bool { return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == "" }

// compile fills the trees.
func (p *Policy) compile(protected []string) {
	for i, r := range p.roots {
		if r.Kind == Cache {
			continue // Decide answers for the tools, which do not see it
		}
		n := p.tree.insert(p.style, r.Path)
		n.rights |= r.Rights
		if n.root == 0 || p.roots[n.root-1].Kind.system() && !r.Kind.system() {
			n.root = i + 1
		}
	}
	p.tree.spread(rights.None)
	p.guard(protected)
}

func (p *Policy) guard(protected []string) {
	for _, path := range protected {
		if p.style.canonical(path) {
			p.protected.insert(p.style, path).marked = true
		}
	}
}

// WithProtected returns a policy that also protects these existing paths (found on disk when a Task starts). Paths that
// are not canonical are left out: nothing canonical could equal them. The receiver is unchanged.
func (p *Policy) WithProtected(paths []string) *Policy {
	q := *p
	q.protected = node{}
	q.guard(p.Protected())
	q.guard(paths)
	return &q
}

// Protected returns the existing protected paths given to Build and WithProtected, sorted.
func (p *Policy) Protected() []string {
	var out []string
	var visit func(n *node, at string)
	visit = func(n *node, at string) {
		if n.marked {
			out = append(out, at)
			return
		}
		for name, c := range n.children {
			next := at + string(p.style.separator()) + name
			if at == "" && p.style.separator() != '/' {
				next = name
			}
			visit(c, next)
		}
	}
	visit(&p.protected, "")
	slices.Sort(out)
	return out
}
