package linux

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// This file decides, from facts alone, whether and where control groups can bound a run, and with which steps
// (cgroups(7); the kernel's cgroup-v2 and cgroup-v1/memory documents). It makes no system call.

// groupFacts is what the host tells of its control groups.
type groupFacts struct {
	MountInfo string              // /proc/self/mountinfo
	Self      string              // /proc/self/cgroup
	Cmdline   string              // /proc/cmdline
	Swapping  bool                // there is swap space
	PID       int                 // this process
	Dirs      map[string]groupDir // what groupPlaces named
}

// groupDir is one directory of a hierarchy.
type groupDir struct {
	Available []string // v2: cgroup.controllers
	Enabled   []string // v2: cgroup.subtree_control
	Top       bool     // v2: the hierarchy's real top, where processes and children may be side by side
	Delegated bool     // v2: its manager gave it away (xattr user.delegate or trusted.delegate)
	Make      bool     // this user may make children
	Move      bool     // this user may write its cgroup.procs, which a move below it needs
	Enable    bool     // this user may write its cgroup.subtree_control
	Procs     []int    // v2: its processes; a foreign one that this pid namespace cannot see is 0
}

// groupPlan is where directories for runs are made. Version 0 means nowhere.
type groupPlan struct {
	Version  int    // 1 or 2
	Memory   string // the directory below which ours is made, in the hierarchy with the memory controller
	Pids     string // the same for pids; equal to Memory on v2 and where v1 mounts both together
	Leaf     bool   // v2: Memory holds this process, which must first move into a directory of its own
	Swapping bool   // a missing swap limit would make the memory limit void
}

// noGroup says why there are none. Both are technical words, not translated.
type noGroup struct{ Reason, Remedy string }

// Remedies.
const (
	remedySystemd   = "systemd-run --user --scope -p Delegate=yes agent-mcp …"
	remedyContainer = "docker run --security-opt writable-cgroups=true … | podman run --security-opt unmask=/sys/fs/cgroup …"
	remedyBoot      = "cgroup_enable=memory, without cgroup.memory=nokmem (kernel command line)"
	remedyMount     = "mount -t cgroup2 cgroup2 /sys/fs/cgroup"
)

// groupMount is one mounted hierarchy.
type groupMount struct {
	Version     int
	At, Root    string
	Controllers []string // v1
	ReadOnly    bool
}

// groupMounts reads the text of /proc/self/mountinfo: proc_pid_mountinfo(5).
func groupMounts(text string) (out []groupMount) {
	for line := range strings.Lines(text) {
		front, back, ok := strings.Cut(line, " - ")
		f, b := strings.Fields(front), strings.Fields(back)
		if !ok || len(f) < 6 || len(b) < 3 {
			continue
		}
		m := groupMount{At: unescape(f[4]), Root: unescape(f[3])}
		super := strings.Split(b[2], ",")
		m.ReadOnly = slices.Contains(strings.Split(f[5], ","), "ro") || slices.Contains(super, "ro")
		switch b[0] {
		case "cgroup2":
			m.Version = 2
		case "cgroup":
			m.Version, m.Controllers = 1, super
		default:
			continue
		}
		out = append(out, m)
	}
	return out
}

// unescape undoes the octal escapes of blanks and backslashes.
func unescape(s string) string {
	for i := 0; i+3 < len(s); i++ {
		if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); s[i] == '\\' && err == nil {
			s = s[:i] + string(rune(n)) + s[i+4:]
		}
	}
	return s
}

// ownGroup is this process's path in the v2 hierarchy (controller "") or in the v1 hierarchy of a controller.
func ownGroup(self, controller string) (path string, ok bool) {
	for line := range strings.Lines(self) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		if controller == "" && f[0] == "0" && f[1] == "" || controller != "" && slices.Contains(strings.Split(f[1], ","), controller) {
			return f[2], true
		}
	}
	return "", false
}

// ownDir is where a path of /proc/self/cgroup lies below a mount. A path or a mount that starts above the cgroup namespace
// (cgroup_namespaces(7)) has no name here.
func ownDir(m groupMount, own string) (dir string, ok bool) {
	if own != filepath.Clean(own) || strings.HasPrefix(own, "/..") || strings.HasPrefix(m.Root, "/..") {
		return "", false
	}
	rel, ok := strings.CutPrefix(own, strings.TrimSuffix(m.Root, "/"))
	if !ok || rel != "" && rel[0] != '/' {
		return "", false
	}
	return filepath.Join(m.At, rel), true
}

// groupPlaces names the directories whose facts choose wants: for v2 the own one and all above it, for v1 the own ones.
func groupPlaces(mountInfo, self string) (v2, v1memory, v1pids []string) {
	for _, m := range groupMounts(mountInfo) {
		if m.Version == 2 {
			if own, ok := ownGroup(self, ""); ok && v2 == nil && !m.ReadOnly {
				if dir, ok := ownDir(m, own); ok {
					for ; dir != m.At; dir = filepath.Dir(dir) {
						v2 = append(v2, dir)
					}
					v2 = append(v2, dir)
				}
			}
			continue
		}
		for controller, to := range map[string]*[]string{"memory": &v1memory, "pids": &v1pids} {
			if own, ok := ownGroup(self, controller); ok && *to == nil && !m.ReadOnly && slices.Contains(m.Controllers, controller) {
				if dir, ok := ownDir(m, own); ok {
					*to = []string{dir}
				}
			}
		}
	}
	return v2, v1memory, v1pids
}

// chooseGroup finds the nearest place where runs can be bounded without changing a setting that is not ours.
func chooseGroup(f groupFacts) (groupPlan, noGroup) {
	for word := range strings.FieldsSeq(f.Cmdline) {
		if list, ok := strings.CutPrefix(word, "cgroup.memory="); ok && slices.Contains(strings.Split(list, ","), "nokmem") {
			return groupPlan{}, noGroup{"cgroup.memory=nokmem: kernel memory is not counted", remedyBoot}
		}
	}
	v2, memory, pids := groupPlaces(f.MountInfo, f.Self)
	mounts := groupMounts(f.MountInfo)
	has := func(version int, controller string) bool {
		return slices.ContainsFunc(mounts, func(m groupMount) bool {
			return m.Version == version && (version == 2 || slices.Contains(m.Controllers, controller))
		})
	}
	if has(1, "memory") { // then v2 does not have it
		return chooseV1(f, memory, pids, has(1, "pids"))
	}
	switch {
	case !has(2, ""):
		return groupPlan{}, noGroup{"no cgroup file system with memory and pids is mounted", remedyMount}
	case len(v2) == 0:
		return groupPlan{}, unreachable(mounts, 2)
	}
	return chooseV2(f, v2)
}

func unreachable(mounts []groupMount, version int) noGroup {
	for _, m := range mounts {
		if m.Version == version && m.ReadOnly {
			return noGroup{"read-only: " + m.At, remedyContainer}
		}
	}
	return noGroup{"the own cgroup lies outside of what is mounted", remedyContainer}
}

func chooseV1(f groupFacts, memory, pids []string, hasPids bool) (groupPlan, noGroup) {
	switch {
	case !hasPids:
		return groupPlan{}, noGroup{"controller not mounted: pids", "mount -t cgroup -o pids pids /sys/fs/cgroup/pids"}
	case len(memory) == 0 || len(pids) == 0:
		return groupPlan{}, unreachable(groupMounts(f.MountInfo), 1)
	}
	for _, dir := range []string{memory[0], pids[0]} {
		if !f.Dirs[dir].Make {
			return groupPlan{}, noGroup{"not writable for this user: " + dir, remedyV1}
		}
	}
	return groupPlan{Version: 1, Memory: memory[0], Pids: pids[0], Swapping: f.Swapping}, noGroup{}
}

const remedyV1 = "systemd.unified_cgroup_hierarchy=1 (kernel command line), then " + remedySystemd

var groupControllers = []string{"memory", "pids"}

func both(have []string) bool {
	return !slices.ContainsFunc(groupControllers, func(c string) bool { return !slices.Contains(have, c) })
}

// chooseV2 walks from the own directory (dirs[0]) upwards. Controllers are enabled in the own directory alone, and only
// when nobody else is in it: a directory with controllers for its children holds no processes. A move needs cgroup.procs of
// the common ancestor, which is the directory the new one is made in.
func chooseV2(f groupFacts, dirs []string) (groupPlan, noGroup) {
	own := f.Dirs[dirs[0]]
	if !both(own.Available) {
		return groupPlan{}, noGroup{"controllers memory and pids are not given to " + dirs[0], remedySystemd}
	}
	plan := groupPlan{Version: 2, Memory: dirs[0], Pids: dirs[0], Swapping: f.Swapping}
	if own.Top && own.Make && own.Move && both(own.Enabled) {
		return plan, noGroup{}
	}
	alone := len(own.Procs) == 1 && own.Procs[0] == f.PID
	leaf := plan
	leaf.Leaf = true
	may := own.Make && own.Move && own.Enable && !own.Top && alone
	if may && (own.Delegated || len(dirs) == 1) {
		return leaf, noGroup{}
	}
	unused := "" // the nearest place that lacks nothing but its owner's word
	for i, dir := range dirs {
		d := f.Dirs[dir]
		if i == 0 {
			if own.Top && own.Make && own.Move {
				unused = dir
			}
			continue
		}
		if unused == "" && d.Make && d.Move && both(d.Available) && !both(d.Enabled) {
			unused = dir
		}
		if d.Make && d.Move && both(d.Enabled) && !groupName.MatchString(filepath.Base(dir)) {
			plan.Memory, plan.Pids = dir, dir
			return plan, noGroup{}
		}
	}
	switch {
	case may:
		return leaf, noGroup{}
	case own.Make && own.Move && own.Enable && !own.Top:
		return groupPlan{}, noGroup{"other processes share the own cgroup " + dirs[0], remedySystemd}
	}
	if unused != "" {
		return groupPlan{}, noGroup{"controllers memory and pids are not enabled below " + unused, "echo " + enable + " > " + unused + "/cgroup.subtree_control"}
	}
	return groupPlan{}, noGroup{"not writable for this user: " + dirs[0] + " and all above", remedySystemd}
}

// groupName is what our directories are called; nothing else is ever removed.
var groupName = regexp.MustCompile(`^agent-mcp-(trial-)?[0-9a-f]{16}$`)

const trialPrefix = "agent-mcp-trial-"

// groupStep is one change below a hierarchy.
type groupStep struct {
	Do         stepKind
	Path, Text string
	May        bool // may fail because the file does not exist
}

type stepKind uint8

const (
	stepMake stepKind = iota
	stepWrite
	stepRemove
)

// homes are the directories of one instance, one per hierarchy.
func (p groupPlan) homes(name string) []string {
	all := []string{filepath.Join(p.Memory, name)}
	if p.Pids != p.Memory {
		all = append(all, filepath.Join(p.Pids, name))
	}
	return all
}

const (
	leafName = "broker" // where this process goes when it must leave the own directory
	enable   = "+memory +pids"
	disable  = "-memory -pids"
)

// openHome are the steps after the directories were made.
func (p groupPlan) openHome(name string) (steps []groupStep) {
	home := p.homes(name)[0]
	if p.Version != 2 {
		return nil
	}
	if p.Leaf {
		steps = []groupStep{
			{Do: stepMake, Path: home + "/" + leafName},
			{Do: stepWrite, Path: home + "/" + leafName + "/cgroup.procs", Text: "0"},
			{Do: stepWrite, Path: p.Memory + "/cgroup.subtree_control", Text: enable},
		}
	}
	return append(steps, groupStep{Do: stepWrite, Path: home + "/cgroup.subtree_control", Text: enable})
}

// closeHome undoes it, when no cell is left.
func (p groupPlan) closeHome(name string) (steps []groupStep) {
	home := p.homes(name)[0]
	if p.Leaf {
		steps = []groupStep{
			{Do: stepWrite, Path: home + "/cgroup.subtree_control", Text: disable},
			{Do: stepWrite, Path: p.Memory + "/cgroup.subtree_control", Text: disable},
			{Do: stepWrite, Path: p.Memory + "/cgroup.procs", Text: "0"},
			{Do: stepRemove, Path: home + "/" + leafName},
		}
	}
	for _, h := range p.homes(name) {
		steps = append(steps, groupStep{Do: stepRemove, Path: h})
	}
	return steps
}

func (p groupPlan) cells(name, cell string) (memory, pids string) {
	return filepath.Join(p.Memory, name, cell), filepath.Join(p.Pids, name, cell)
}

// openCell puts one helper, and with it all it will start, into a directory of its own.
func (p groupPlan) openCell(name, cell string, pid int) (steps []groupStep) {
	memory, pids := p.cells(name, cell)
	id := strconv.Itoa(pid)
	steps = []groupStep{{Do: stepMake, Path: memory}}
	if p.Version == 2 {
		return append(steps,
			groupStep{Do: stepWrite, Path: memory + "/memory.oom.group", Text: "1"},
			groupStep{Do: stepWrite, Path: memory + "/memory.swap.max", Text: "0", May: !p.Swapping},
			groupStep{Do: stepWrite, Path: memory + "/cgroup.procs", Text: id})
	}
	if pids != memory {
		steps = append(steps, groupStep{Do: stepMake, Path: pids})
	}
	steps = append(steps, // a parent may have handed down that nobody is killed: all would hang
		groupStep{Do: stepWrite, Path: memory + "/memory.oom_control", Text: "0"},
		groupStep{Do: stepWrite, Path: memory + "/cgroup.procs", Text: id})
	if pids != memory {
		steps = append(steps, groupStep{Do: stepWrite, Path: pids + "/cgroup.procs", Text: id})
	}
	return steps
}

// limit binds a cell: bytes of memory without swap, and tasks.
func (p groupPlan) limit(name, cell string, bytes int64, tasks int) []groupStep {
	memory, pids := p.cells(name, cell)
	most, count := strconv.FormatInt(bytes, 10), groupStep{Do: stepWrite, Path: pids + "/pids.max", Text: strconv.Itoa(tasks)}
	if p.Version == 2 {
		return []groupStep{{Do: stepWrite, Path: memory + "/memory.max", Text: most}, count}
	}
	return []groupStep{
		{Do: stepWrite, Path: memory + "/memory.limit_in_bytes", Text: most}, // memsw may not be below it
		{Do: stepWrite, Path: memory + "/memory.memsw.limit_in_bytes", Text: most, May: !p.Swapping},
		count,
	}
}

func (p groupPlan) closeCell(name, cell string) []groupStep {
	memory, pids := p.cells(name, cell)
	steps := []groupStep{{Do: stepRemove, Path: memory}}
	if pids != memory {
		steps = append(steps, groupStep{Do: stepRemove, Path: pids})
	}
	return steps
}

// usageFile and eventsFile of a cell: bytes in use; the counter of processes that the kernel killed for memory.
func (p groupPlan) usageFile(name, cell string) string {
	memory, _ := p.cells(name, cell)
	if p.Version == 2 {
		return memory + "/memory.current"
	}
	return memory + "/memory.usage_in_bytes"
}

func (p groupPlan) eventsFile(name, cell string) string {
	memory, _ := p.cells(name, cell)
	if p.Version == 2 {
		return memory + "/memory.events"
	}
	return memory + "/memory.oom_control"
}

// mechanism is the name in reports.
func (p groupPlan) mechanism() string { return fmt.Sprintf("cgroup%d", p.Version) }
