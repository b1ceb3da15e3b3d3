package linux

import (
	"path/filepath"
	"slices"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// This file decides what level 1 does, as plain data: the tree shares the host's namespaces, so that Landlock rules on the
// host's real paths and seccomp are all there is. Rights that they cannot take away are not given at all.

// sharedABI: scopes for signals and abstract sockets; before, the tree could kill the owner's other processes.
const sharedABI = 6

// Notes of level 1: what it leaves open or takes away beside the strengths of the items.
const (
	NoteMetadata  fault.Code = "sandbox.note_metadata"  // names, sizes and owners outside the roots can be asked for
	NoteExecute   fault.Code = "sandbox.note_execute"   // what may be read can be run by ld.so
	NoteAttribute fault.Code = "sandbox.note_attribute" // modes, owners, times and attributes cannot be changed
	NoteAccounts  fault.Code = "sandbox.note_accounts"  // the host's passwd and group are readable
	NoteMissing   fault.Code = "sandbox.note_missing"   // no /proc/PID, no pseudo terminals, no shared memory, no System V IPC
	NoteScratch   fault.Code = "sandbox.note_scratch"   // the temporary directory is on disk, in a place of ours
	NoteProtect   fault.Code = "sandbox.note_protect"   // beside what stays read-only nothing can be made or removed
	NoteKilled    fault.Code = "sandbox.note_killed"    // what remains when the helper itself is killed
	NoteForks     fault.Code = "sandbox.note_forks"     // fork(2) waits to be asked, and a child's end at that moment makes it fail in programs that do not try again
)

// levelNotes are what the owner should know of a level before approving.
func levelNotes(level sandbox.Level) (out []*fault.Error) {
	if level != sandbox.L1 {
		return nil
	}
	for _, c := range []fault.Code{NoteMetadata, NoteExecute, NoteAttribute, NoteAccounts, NoteMissing, NoteScratch, NoteProtect, NoteKilled, NoteForks} {
		out = append(out, fault.New(c))
	}
	return out
}

// sharedAbilities is what level 1 enforces.
func sharedAbilities() []sandbox.Ability {
	return []sandbox.Ability{
		{Item: sandbox.ItemRead, Strength: sandbox.Exact, Mechanism: "landlock"},
		{Item: sandbox.ItemWrite, Strength: sandbox.Exact, Mechanism: "landlock+seccomp"},
		{Item: sandbox.ItemExecute, Strength: sandbox.Approximate, Mechanism: "landlock"},
		{Item: sandbox.ItemDelete, Strength: sandbox.Exact, Mechanism: "landlock"},
		{Item: sandbox.ItemNetwork, Strength: sandbox.Exact, Mechanism: "seccomp"},
		{Item: sandbox.ItemProcesses, Strength: sandbox.Approximate, Mechanism: "seccomp-listener+proc"},
		{Item: sandbox.ItemMemory, Strength: sandbox.Approximate, Mechanism: "rlimit+poll"},
		{Item: sandbox.ItemWallClock, Strength: sandbox.Exact, Mechanism: "subreaper+seccomp-listener"},
		{Item: sandbox.ItemKillAll, Strength: sandbox.Approximate, Mechanism: "subreaper+seccomp-listener"},
		{Item: sandbox.ItemCredentials, Strength: sandbox.Exact, Mechanism: "environment+seccomp+landlock-scopes+close-range"},
		{Item: sandbox.ItemEntry, Strength: sandbox.Exact, Mechanism: "sha256+exec-descriptor"},
	}
}

// globalProc are the files of /proc that tell of the machine alone. /proc itself would show other processes' command lines.
var globalProc = []string{
	"/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/filesystems", "/proc/version", "/proc/uptime", "/proc/loadavg",
	"/proc/sys/kernel/cap_last_cap", "/proc/sys/kernel/ngroups_max", "/proc/sys/kernel/osrelease", "/proc/sys/kernel/ostype",
	"/proc/sys/kernel/overflowgid", "/proc/sys/kernel/overflowuid", "/proc/sys/kernel/pid_max", "/proc/sys/kernel/random",
	"/proc/sys/kernel/threads-max", "/proc/sys/kernel/version", "/proc/sys/fs/file-max", "/proc/sys/fs/nr_open",
	"/proc/sys/fs/pipe-max-size", "/proc/sys/vm/max_map_count", "/proc/sys/vm/overcommit_memory",
}

// object is a file as the plan sees it.
type object struct {
	Name     string
	Dev, Ino uint64
	Link     bool
}

// lister gives the content of a directory.
type lister func(dir string) ([]object, error)

// mostBeside bounds the rules that protected paths cost.
const mostBeside = 4096

// sharedRules are the Landlock rules of a run at level 1. Landlock only adds rights up: a protected path gets none because
// no directory above it gives any, and what lies beside it gets its own. The directories on the way can then be read, and
// nothing can be made or removed in them. kept are the protected files themselves, which may have other names.
func sharedRules(s sandbox.Spec, baseline []baseItem, tmp string, list lister, kept []object) (out []rule, f *fault.Error) {
	for _, b := range baseline {
		if b.Link != "" {
			continue
		}
		a := uint64(llRead)
		if b.Exec {
			a |= llExecute
		}
		out = append(out, rule{Path: b.Path, Access: a})
	}
	for _, p := range append([]string{"/etc/passwd", "/etc/group"}, globalProc...) {
		out = append(out, rule{Path: p, Access: llRead, Maybe: true})
	}
	for _, d := range []string{"null", "full", "random", "urandom"} {
		out = append(out, rule{Path: "/dev/" + d, Access: llDevice, Maybe: true})
	}
	out = append(out, rule{Path: "/dev/zero", Access: llReadFile, Maybe: true})
	tmpAccess := uint64(llRead | llWrite | llDelete)
	if tmpExec(s.Roots) {
		tmpAccess |= llExecute
	}
	out = append(out, rule{Path: tmp, Access: tmpAccess})
	b := beside{protect: s.Protect, list: list, kept: kept}
	for _, r := range s.Roots {
		if f := b.root(r); f != nil {
			return nil, f
		}
	}
	return append(out, b.rules...), nil
}

// beside spreads a root's rights around what is protected in it.
type beside struct {
	protect []string
	list    lister
	kept    []object
	rules   []rule
	count   int
}

const llUnchanging = llRead | llExecute

func (b *beside) root(r rights.Root) *fault.Error {
	a := access(r.Rights)
	under := func(p string) bool { return sandbox.Under(r.Path, p) }
	if slices.ContainsFunc(b.protect, under) { // what lies in a protected directory, also a root, stays protected
		a &= llUnchanging
	}
	return b.spread(r.Path, a)
}

func (b *beside) spread(path string, a uint64) *fault.Error {
	inside := slices.ContainsFunc(b.protect, func(p string) bool { return p != path && sandbox.Under(p, path) })
	if !inside || a&^llUnchanging == 0 {
		b.rules = append(b.rules, rule{Path: path, Access: a})
		return nil
	}
	b.rules = append(b.rules, rule{Path: path, Access: a & llUnchanging})
	entries, err := b.list(path)
	if err != nil {
		return fault.Wrap(err, sandbox.CodeRootChanged, "path", path)
	}
	if b.count += len(entries); b.count > mostBeside {
		return fault.New(sandbox.CodeProtect, "path", path, "limit", mostBeside)
	}
	for _, e := range entries {
		child := filepath.Join(path, e.Name)
		same := func(k object) bool { return k.Dev == e.Dev && k.Ino == e.Ino }
		if e.Link || slices.Contains(b.protect, child) || slices.ContainsFunc(b.kept, same) {
			continue
		}
		if f := b.spread(child, a); f != nil {
			return f
		}
	}
	return nil
}
