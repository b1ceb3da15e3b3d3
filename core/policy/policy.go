// Package policy is the Effective Sandbox Policy and its one judgement: rights + request → decision with every reason
// (spec section 8; FS-00..10, NET-01..04, RES-01, DENY-01). A Policy is compiled once, refuses contradictory input, and
// never changes; deciding is pure, deterministic and free of allocations when the answer is yes. It judges canonical
// paths only: resolving symlinks is ports/workspace's, enforcing is ports/sandbox's (FS-02, FS-05). It never looks at a
// file system, and the LLM can change none of it (SEC-INV-01).
//
// The same Policy yields the roots of every sandbox Spec (SandboxRoots) and answers for the Internal Tools (Decide), so
// that both give the same verdict. Four differences remain and are meant: inside the sandbox a rename also needs delete on
// the source's side and cannot cross roots; a protected path that did not exist when the Task started is protected from
// the tools only; the cache exists for processes only, to tools and Decide it is outside; and descendants run the OS runtime's programs, which the Broker does not start (PRC-07, PRF-01).
package policy

import (
	"time"

	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// Kind says where a root comes from (FS-01).
type Kind uint8

// Kinds of roots.
const (
	Workspace    Kind = iota + 1
	Mount             // never executable (FS-09)
	ArtifactRoot      // executables of a development workspace outside it
	RuntimeRoot       // files an entry needs (PRC-03)
	EntryFile         // one approved executable
	Baseline          // the OS runtime (PRF-01)
	Cache             // what programs keep between Tasks; no Internal Tool sees it
)

// String names the kind for data and logs.
func (k Kind) String() string {
	switch k {
	case Workspace:
		return "workspace"
	case Mount:
		return "mount"
	case ArtifactRoot:
		return "artifact_root"
	case RuntimeRoot:
		return "runtime_root"
	case EntryFile:
		return "entry"
	case Baseline:
		return "baseline"
	case Cache:
		return "cache"
	}
	return "unknown"
}

// Root is one root of the whitelist.
type Root struct {
	Kind   Kind
	Name   string // as the configuration calls it: "workspace", "mounts.docs", "entries.python"
	Path   string // canonical
	Rights rights.Set
	File   bool // a single file, not a directory
}

// Profile is FS-08.
type Profile string

// Profiles.
const (
	ReadOnly    Profile = "readonly"    // workspace: read
	Development Profile = "development" // workspace: read, write, delete, and Workspace Artifacts run
)

// Access of a mount (FS-09).
type Access string

// Accesses.
const (
	AccessRead   Access = "read_only"
	AccessWrite  Access = "read_write"
	AccessDelete Access = "read_write_delete"
)

// Rights of an access; ok is false for an unknown one, which gives nothing.
func (a Access) Rights() (set rights.Set, ok bool) {
	switch a {
	case AccessRead:
		return rights.Read, true
	case AccessWrite:
		return rights.Read | rights.Write, true
	case AccessDelete:
		return rights.Read | rights.Write | rights.Delete, true
	}
	return rights.None, false
}

// MountInput is one mount as resolved.
type MountInput struct {
	Name   string
	Path   string // canonical
	Access Access
}

// Entry is one Approved Entry Executable or Shell (PRC-01, CFG-04).
type Entry struct {
	Alias       string
	Path        string // canonical
	SHA256      string // lower-case hex
	RuntimeRoot string // canonical directory, "" = none

	Interpreters []sandbox.Image // of a script: what runs it, outer first (PRC-02)
}

// Style is how the host writes paths. The zero value is Unix.
type Style struct {
	Separator byte // 0 = '/'
	FoldCase  bool // names differ in more than case (Windows)
}

// Input is everything a Policy is made of: the Effective configuration after Resolution and Approval. All paths are
// canonical host paths.
type Input struct {
	Profile   Profile
	Workspace string
	Mounts    []MountInput
	Artifacts []string // more roots whose executables run in the development profile
	Entries   []Entry
	Cache     string        // directory that processes keep between Tasks, "" = none; the one root that may lie in the "state" of Denied
	Baseline  []rights.Root // what the sandbox lets every tree read and execute
	Network   NetworkInput
	Resources ResourceInput
	Require   sandbox.Strength // least enforcement of memory and process count
	Denied    []Denied         // DENY-01: see DeniedPlaces; plus the agent's own state
	Protected []string         // existing paths that stay read-only although no name rule says so (a gitdir elsewhere, a bare repository)
	Style     Style
}

// Limits bound one process tree (RES-01).
type Limits struct {
	Processes   int
	MemoryBytes int64
	WallClock   time.Duration
}

// Policy is compiled and immutable; safe for concurrent use. The zero value denies everything.
type Policy struct {
	profile   Profile
	style     Style
	roots     []Root // sorted by path
	tree      node
	protected node
	entries   []Entry // sorted by alias
	network   sandbox.Network
	limits    Limits
	require   sandbox.Strength
}

// Profile returns the workspace profile.
func (p *Policy) Profile() Profile { return p.profile }

// Roots returns a copy of all roots, sorted by path.
func (p *Policy) Roots() []Root { return append([]Root(nil), p.roots...) }

// Entries returns a copy of the approved entries, sorted by alias.
func (p *Policy) Entries() []Entry { return append([]Entry(nil), p.entries...) }

// Entry finds an approved entry by alias.
func (p *Policy) Entry(alias string) (Entry, bool) {
	for _, e := range p.entries {
		if e.Alias == alias {
			return e, true
		}
	}
	return Entry{}, false
}

// Network returns the mode with its sorted list.
func (p *Policy) Network() sandbox.Network {
	n := p.network
	n.Ports = append([]uint16(nil), n.Ports...)
	n.Hosts = append([]string(nil), n.Hosts...)
	return n
}

// Limits returns the bounds of one process tree.
func (p *Policy) Limits() Limits { return p.limits }

// Require returns the least enforcement accepted.
func (p *Policy) Require() sandbox.Strength { return p.require }

// Workspace returns the workspace's path.
func (p *Policy) Workspace() string {
	for _, r := range p.roots {
		if r.Kind == Workspace {
			return r.Path
		}
	}
	return ""
}

// Cache returns the directory that processes keep between Tasks, "" when there is none.
func (p *Policy) Cache() string {
	for _, r := range p.roots {
		if r.Kind == Cache {
			return r.Path
		}
	}
	return ""
}

// RootOf returns the deepest root that holds path, and every right that path has: the union along the way, as the
// sandbox enforces it. ok is false outside all roots, in the cache, and for a path that is not canonical.
func (p *Policy) RootOf(path string) (root Root, all rights.Set, ok bool) {
	w := p.walk(path)
	if !w.canonical || w.root < 0 {
		return Root{}, rights.None, false
	}
	return p.roots[w.root], w.rights, true
}

// SandboxRoots returns the roots of a Spec, sorted by path: all but the baseline (an adapter always has it) and those
// that add nothing to a root above them.
func (p *Policy) SandboxRoots() []rights.Root {
	var out []rights.Root
	for _, r := range p.roots {
		if r.Kind == Baseline || p.above(r.Path).Has(r.Rights) {
			continue
		}
		out = append(out, rights.Root{Path: r.Path, Rights: r.Rights})
	}
	return out
}

// ToolRoots returns the roots that the Internal Tools resolve in: every root but the cache, so that tools and processes see
// the same places; the workspace first, since relative paths start there, then mounts and artifact roots, then the read-only rest.
func (p *Policy) ToolRoots() []rights.Root {
	var out []rights.Root
	for want := Workspace; want <= Baseline; want++ {
		for _, r := range p.roots {
			if r.Kind == want {
				out = append(out, rights.Root{Path: r.Path, Rights: r.Rights})
			}
		}
	}
	return out
}
