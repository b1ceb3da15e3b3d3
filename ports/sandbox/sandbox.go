// Package sandbox is the port that runs one command, confined by the operating system, and reports what was REALLY
// enforced (spec section 8; design: nothing degrades silently). It executes a Spec; it never decides one (core/broker does).
package sandbox

import (
	"context"
	"slices"
	"time"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/rights"
)

// Sandbox runs commands. Implementations are safe for concurrent use.
type Sandbox interface {
	// Preflight finds out what this host gives, without leaving anything behind. A host that gives too little is not an
	// error: Report.Level is LevelNone and Report.Missing names each cause with its remedy.
	Preflight(ctx context.Context) (Report, error)
	// Run starts one command and returns when it AND every descendant are gone. Ending by exit code, signal, limit or
	// cancel is a Result, not an error; cancelling ctx kills the whole tree and yields EndCancelled. Errors are faults
	// with a code below and mean that nothing ran. The Spec is not retained.
	Run(ctx context.Context, spec Spec) (Result, error)
	// Close kills what still runs and waits for it (REC-03). Run after Close fails with CodeClosed.
	Close() error
}

// Level is how much the host can enforce. Linux: L1 Landlock+seccomp; L2 adds namespaces; L3 adds cgroups.
type Level uint8

// Levels in rising order.
const (
	LevelNone Level = iota
	L1
	L2
	L3
)

// Item is one enforced property.
type Item string

// Items of a report; every adapter reports each of them.
const (
	ItemRead        Item = "read"
	ItemWrite       Item = "write"
	ItemExecute     Item = "execute"
	ItemDelete      Item = "delete"
	ItemNetwork     Item = "network"
	ItemProcesses   Item = "processes"
	ItemMemory      Item = "memory"
	ItemWallClock   Item = "wall_clock"
	ItemKillAll     Item = "kill_all"
	ItemCredentials Item = "credentials"
	ItemEntry       Item = "entry"
)

// Items lists all items in their fixed order.
func Items() []Item {
	return []Item{ItemRead, ItemWrite, ItemExecute, ItemDelete, ItemNetwork, ItemProcesses, ItemMemory, ItemWallClock, ItemKillAll, ItemCredentials, ItemEntry}
}

// Strength is how well an item is enforced.
type Strength uint8

// Strengths in rising order.
const (
	StrengthNone Strength = iota
	Approximate
	Exact
)

// String names the strength as the configuration does.
func (s Strength) String() string {
	switch s {
	case Approximate:
		return "approximate"
	case Exact:
		return "exact"
	}
	return "none"
}

// Ability is what enforces one item, and how well.
type Ability struct {
	Item      Item
	Strength  Strength
	Mechanism string // technical name, not translated: "landlock+ro-bind", "rlimit+poll", "cgroup2"
}

// Report is what a host gives.
type Report struct {
	Platform  string // "linux", "windows", "fake"
	Level     Level
	Abilities []Ability      // in the order of Items
	Missing   []*fault.Error // what keeps the host from a higher level, each with its remedy as the code's hint
	Notes     []*fault.Error // what this level leaves open or takes away beside the items, for the owner to know before approving
	Baseline  []rights.Root  // OS runtime the tree may always use (PRF-01): read/execute, canonical
	Networks  []NetworkMode  // modes it can confine besides none; `apply` and start refuse any other
}

// Confines reports whether a network mode can be enforced.
func (r Report) Confines(mode NetworkMode) bool {
	return mode == NetworkNone || slices.Contains(r.Networks, mode)
}

// Ability returns the report's line for an item.
func (r Report) Ability(item Item) Ability {
	for _, a := range r.Abilities {
		if a.Item == item {
			return a
		}
	}
	return Ability{Item: item}
}

// Spec is everything one run may do. All paths are canonical host paths and appear at the same place inside.
type Spec struct {
	ID      string        // names the run in reports
	Roots   []rights.Root // sorted by path; a nested root may only add rights (else CodeNestedRoots)
	Protect []string      // existing files, directories or symlinks below a root that stay what they are: read-only, neither renamed nor removed (git hooks and config)
	Entry   Entry
	Args    []string // argv[1:]
	Dir     string   // working directory, inside a root
	Env     []string // "NAME=value"; the whole environment besides what the adapter must add (PATH, HOME, TMPDIR, LANG)
	Stdin   []byte   // never the caller's own stdin
	Network Network
	Limits  Limits
	Require Strength // least Strength for memory and processes; less → CodeTooWeak, nothing runs

	// OnFlow, if set, is told of the first connection to an endpoint with a verdict while the program runs, so that it is on
	// record when the Broker dies; Result.Flows has the sums. Calls do not overlap, and end before Run returns.
	OnFlow func(Flow)
}

// Entry is the Entry Process's executable. The adapter opens it without following symlinks, hashes it, and starts the
// very file it hashed (PRC-01).
type Entry struct {
	Name   string // argv[0]
	Path   string // canonical
	SHA256 string // lower-case hex; "" = not pinned (Workspace Artifact, PRC-04)

	// Interpreters are the files that run a pinned script, as approved. The adapter compares each with its hash before the
	// start and looks again after it; any other file there is CodeEntryChanged with its path (PRC-02).
	Interpreters []Image
}

// Image is one executable file: its canonical path and lower-case hex SHA-256.
type Image struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// NetworkMode is how far the tree may reach.
type NetworkMode string

// Network modes (NET-01..03). An unknown mode is refused.
const (
	NetworkNone       NetworkMode = "none"
	NetworkLocal      NetworkMode = "local"
	NetworkRestricted NetworkMode = "restricted"
)

// Network is the mode with its list and, where there is a list, its caps.
type Network struct {
	Mode        NetworkMode
	Ports       []uint16 // local: host loopback ports
	Hosts       []string // restricted: "host:port"
	Connections int      // open at once; one more is refused
	Bytes       int64    // moved in both directions over the whole run; the connection that would pass it is cut
}

// Flow is all connections of a run to one endpoint that got one verdict (NET-02, NET-03, LOG-03). It holds no content.
type Flow struct {
	Host           string // as listed: a name or an address; local: "127.0.0.1" or "::1"
	Port           uint16
	Address        string // the address that was dialled or judged last; "" when the name gave none
	Verdict        Verdict
	Reason         fault.Code // of FlowDenied, FlowFailed and FlowCut; else ""
	Connections    int
	Sent, Received int64 // payload bytes, as the tree sees it
}

// Verdict is what became of a connection.
type Verdict string

// Verdicts.
const (
	FlowConnected Verdict = "connected"
	FlowRefused   Verdict = "refused" // nobody listens there
	FlowDenied    Verdict = "denied"  // the name leads to an address that is never reached (CodeAddress), or a cap (CodeFlowLimit)
	FlowFailed    Verdict = "failed"  // no such name, no route, no answer (CodeNoAnswer)
	FlowCut       Verdict = "cut"     // connected, then ended by a cap (CodeFlowLimit)
)

// Limits bound the whole tree (RES-01). Zero values are refused with CodeBadSpec: there is no "unlimited".
type Limits struct {
	Processes   int
	MemoryBytes int64
	WallClock   time.Duration
	OutputBytes int // of each of stdout and stderr kept in the Result: half from the head, half from the tail
}

// End says how a run ended.
type End string

// Ends.
const (
	EndExited    End = "exited"
	EndSignaled  End = "signaled"
	EndTimedOut  End = "timed_out"
	EndMemory    End = "out_of_memory"
	EndCancelled End = "cancelled"
)

// Result is what happened.
type Result struct {
	End            End
	ExitCode       int    // EndExited; else -1
	Signal         string // EndSignaled: "SIGSEGV"
	Stdout, Stderr Capture
	Enforced       []Ability // what was really enforced in this run, in the order of Items
	Started        bool
	Elapsed        time.Duration
	Denials        []Denial // what the adapter could see being refused; diagnosis never decides
	Flows          []Flow   // in the order of their first connection
}

// Capture is bounded output. Total counts every byte that was written, also the dropped ones.
type Capture struct {
	Head, Tail []byte // Tail is empty when nothing was dropped and everything is in Head
	Total      int64
}

// Denial is one refused access. Equal ones are told once.
type Denial struct {
	Target string // path, "address:port", or what was asked of the system ("socket AF_UNIX", "mount")
	Right  string // "read", "write", "execute", "delete", "network", "system"
	Reason fault.Code
	Times  int  // at least 1
	Seen   bool // the enforcing mechanism saw it; false: concluded from what the program printed
}

// Codes.
const (
	CodeClosed          fault.Code = "sandbox.closed"
	CodeBadSpec         fault.Code = "sandbox.bad_spec"           // args: detail — a Broker's mistake; nothing ran
	CodeNestedRoots     fault.Code = "sandbox.nested_roots"       // args: path, parent — a nested root would remove rights
	CodeRootChanged     fault.Code = "sandbox.root_changed"       // args: path — missing, or a symlink by now
	CodeEntryMissing    fault.Code = "sandbox.entry_missing"      // args: path
	CodeEntryChanged    fault.Code = "sandbox.entry_changed"      // args: path, want, got — the hash differs (PRC-02)
	CodeEntryFailed     fault.Code = "sandbox.entry_failed"       // args: path, detail — the kernel refused to start it
	CodeTooWeak         fault.Code = "sandbox.too_weak"           // args: item, have, want
	CodeUnavailable     fault.Code = "sandbox.unavailable"        // args: detail — the host gives too little to confine at all
	CodeNetworkMode     fault.Code = "sandbox.network_mode"       // args: mode — this adapter cannot do it (yet)
	CodeProtect         fault.Code = "sandbox.protect"            // args: path, limit — too much lies beside what must stay read-only
	CodeNoUserNS        fault.Code = "sandbox.no_user_namespaces" // preflight; hint says how
	CodeAppArmorUserNS  fault.Code = "sandbox.apparmor_userns"    // preflight
	CodeNoLandlock      fault.Code = "sandbox.no_landlock"        // preflight; args: have, want (ABI)
	CodeOldLandlock     fault.Code = "sandbox.old_landlock"       // preflight; args: have, want (ABI) — too old to do without namespaces
	CodeLandlockOff     fault.Code = "sandbox.landlock_off"       // preflight: the boot parameters leave it out
	CodeLandlockHidden  fault.Code = "sandbox.landlock_hidden"    // preflight; args: kernel — new enough, but the calls are refused
	CodeEmulated        fault.Code = "sandbox.emulated_kernel"    // preflight; args: name, remedy — gVisor, WSL 1
	CodeArchitecture    fault.Code = "sandbox.architecture"       // preflight; args: arch
	CodeSeccompBusy     fault.Code = "sandbox.seccomp_busy"       // preflight: the container's runtime listens itself
	CodeUserNSSwitch    fault.Code = "sandbox.userns_switch"      // preflight; args: sysctl, value
	CodeUserNSKernel    fault.Code = "sandbox.userns_kernel"      // preflight; args: kernel — built without them
	CodeNestedUserNS    fault.Code = "sandbox.nested_userns"      // preflight: what this process runs in allows none
	CodeContainer       fault.Code = "sandbox.container_seccomp"  // preflight; args: container, remedy
	CodeAppArmorProfile fault.Code = "sandbox.apparmor_profile"   // preflight; args: profile, remedy
	CodeNoSeccomp       fault.Code = "sandbox.no_seccomp"         // preflight
	CodeMaskedProc      fault.Code = "sandbox.masked_proc"        // preflight; args: remedy — a container masks /proc
	CodeNoCgroup        fault.Code = "sandbox.no_cgroup"          // preflight; args: reason, remedy (technical words): memory is approximate
	CodeAddress         fault.Code = "sandbox.address"            // args: host, address — loopback, link-local, metadata or this machine's own (NET-03)
	CodeFlowLimit       fault.Code = "sandbox.flow_limit"         // args: limit — connections or bytes of the run are used up
	CodeNoAnswer        fault.Code = "sandbox.no_answer"          // args: host, detail — cannot be resolved or reached
	CodeNotListed       fault.Code = "sandbox.not_listed"         // args: target — the network list does not have it
	CodeSystemCall      fault.Code = "sandbox.system_call"        // args: target — nothing a confined program may ask for
	CodeArgument        fault.Code = "sandbox.argument"           // args: index, detail — argv[index] cannot be given to a program on this system
	CodePlatform        fault.Code = "sandbox.platform"           // args: platform — no adapter for this system
)
