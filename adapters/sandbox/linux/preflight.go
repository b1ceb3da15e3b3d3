package linux

import (
	"slices"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// abilities is what a level enforces, item by item.
func abilities(level sandbox.Level) []sandbox.Ability {
	how := map[sandbox.Item]sandbox.Ability{}
	if level == sandbox.L1 {
		for _, a := range sharedAbilities() {
			how[a.Item] = a
		}
	}
	if level >= sandbox.L2 {
		for _, a := range []sandbox.Ability{
			{Item: sandbox.ItemRead, Strength: sandbox.Exact, Mechanism: "mount-namespace+landlock"},
			{Item: sandbox.ItemWrite, Strength: sandbox.Exact, Mechanism: "landlock+read-only-bind"},
			{Item: sandbox.ItemExecute, Strength: sandbox.Exact, Mechanism: "landlock+noexec-bind"},
			{Item: sandbox.ItemDelete, Strength: sandbox.Exact, Mechanism: "landlock"},
			{Item: sandbox.ItemNetwork, Strength: sandbox.Exact, Mechanism: "network-namespace+seccomp"},
			{Item: sandbox.ItemProcesses, Strength: sandbox.Approximate, Mechanism: "rlimit+seccomp-listener"},
			{Item: sandbox.ItemMemory, Strength: sandbox.Approximate, Mechanism: "rlimit+poll"},
			{Item: sandbox.ItemWallClock, Strength: sandbox.Exact, Mechanism: "pid-namespace"},
			{Item: sandbox.ItemKillAll, Strength: sandbox.Exact, Mechanism: "pid-namespace"},
			{Item: sandbox.ItemCredentials, Strength: sandbox.Exact, Mechanism: "environment+keyring+close-range"},
			{Item: sandbox.ItemEntry, Strength: sandbox.Exact, Mechanism: "sha256+exec-descriptor"},
		} {
			how[a.Item] = a
		}
	}
	out := make([]sandbox.Ability, 0, len(sandbox.Items()))
	for _, item := range sandbox.Items() {
		a := how[item]
		a.Item = item
		out = append(out, a)
	}
	return out
}

// withGroup is what control groups add: the kernel itself bounds memory, and tasks behind the count of processes.
func withGroup(all []sandbox.Ability, mechanism string) []sandbox.Ability {
	if mechanism == "" {
		return all
	}
	for i := range all {
		switch all[i].Item {
		case sandbox.ItemMemory:
			all[i].Strength, all[i].Mechanism = sandbox.Exact, mechanism
		case sandbox.ItemProcesses:
			all[i].Strength, all[i].Mechanism = sandbox.Exact, mechanism+"+rlimit" // the wall of tasks is the kernel's own
		}
	}
	return all
}

func strongEnough(r sandbox.Report, want sandbox.Strength) *fault.Error {
	if r.Level < sandbox.L1 {
		detail := "the host gives no level this sandbox can use"
		return fault.New(sandbox.CodeUnavailable, "detail", detail).With(r.Missing...)
	}
	var found []*fault.Error
	for _, item := range []sandbox.Item{sandbox.ItemMemory, sandbox.ItemProcesses} {
		if have := r.Ability(item).Strength; have < want {
			found = append(found, fault.New(sandbox.CodeTooWeak, "item", item.Word(), "have", have.Word(), "want", want.Word()))
		}
	}
	if len(found) == 0 {
		return nil
	}
	return found[0].With(found[1:]...)
}

// checkHere judges what depends on this system's layout.
func checkHere(s sandbox.Spec, baseline []rights.Root) *fault.Error {
	var found []*fault.Error
	for _, r := range s.Roots {
		if systemPath(r.Path) {
			found = append(found, fault.New(sandbox.CodeBadSpec, "detail", "the sandbox builds this place itself: "+r.Path))
		}
		for _, b := range baseline {
			if r.Path != b.Path && sandbox.Under(r.Path, b.Path) && !r.Rights.Has(rights.Read) {
				found = append(found, fault.New(sandbox.CodeNestedRoots, "path", r.Path, "parent", b.Path))
			}
		}
	}
	_, inRoot := sandbox.RootOf(s.Roots, s.Entry.Path)
	_, inBase := sandbox.RootOf(baseline, s.Entry.Path)
	if !inRoot && !inBase {
		found = append(found, fault.New(sandbox.CodeBadSpec, "detail", "the entry lies in no root: "+s.Entry.Path))
	}
	if len(found) == 0 {
		return nil
	}
	return found[0].With(found[1:]...)
}

// writable reports that the tree could change the file at path, or put another in its place.
func writable(roots []rights.Root, path string) bool {
	return slices.ContainsFunc(roots, func(r rights.Root) bool { return sandbox.Under(path, r.Path) && r.Rights.Has(rights.Write) })
}

// rules are the Landlock rules of a run. A rule on a directory covers what is mounted below.
func rules(s sandbox.Spec, baseline []baseItem, tmp string) (out []rule) {
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
	for _, f := range []string{"/etc/passwd", "/etc/group", "/etc/hosts"} {
		out = append(out, rule{Path: f, Access: llRead})
	}
	tmpAccess := uint64(llRead | llWrite | llDelete)
	if tmpExec(s.Roots) {
		tmpAccess |= llExecute
	}
	out = append(out, rule{Path: "/proc", Access: llRead}, rule{Path: tmp, Access: tmpAccess}, rule{Path: "/dev/shm", Access: llRead | llWrite | llDelete},
		rule{Path: "/dev/pts", Access: llRead | llDevice})
	for _, d := range []string{"null", "full", "random", "urandom", "tty"} {
		out = append(out, rule{Path: "/dev/" + d, Access: llDevice})
	}
	out = append(out, rule{Path: "/dev/zero", Access: llReadFile}) // mapped shared and writable it would be memory that nobody counts
	for _, r := range s.Roots {
		out = append(out, rule{Path: r.Path, Access: access(r.Rights)})
	}
	return out
}
