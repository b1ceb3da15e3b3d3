package linux

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// facts is what preflight found on the host. judge decides from them alone (OBS-01).
type facts struct {
	Arch    string // GOARCH
	Table   bool   // there is a system call table for it
	Kernel  string // release: "6.8.0-45-generic"
	Version string // of the kernel's build, as in /proc/version

	ABI         int  // Landlock, 0 = none
	LandlockOff bool // the kernel has Landlock, and its boot parameters leave it out
	Seccomp     bool // with user notification

	Root      bool   // this process has user id 0
	Nested    bool   // it is in a user namespace that is not the first
	Container string // "docker", "podman", "kubernetes", "lxc", "container"; "" = none that shows
	Profile   string // of AppArmor that confines this process, "" = none
	Masked    bool   // something is mounted over parts of /proc

	MaxUserNS      string // user.max_user_namespaces
	UnprivUserNS   string // kernel.unprivileged_userns_clone, a switch of Debian
	AppArmorUserNS string // kernel.apparmor_restrict_unprivileged_userns, a switch of Ubuntu

	Full   trial // of a helper with namespaces
	Shared trial // of one without, when the first failed

	Group   string // what control groups work: their mechanism; "" = none
	NoGroup noGroup
}

// trial is how a helper came out that was started to see whether it gets ready.
type trial struct {
	Step   string // that failed, "" = it got ready
	With   string // its error text
	Detail *fault.Error
}

// judge turns facts into a level, with every cause that keeps the host from a higher one and its remedy. Nothing degrades
// silently.
func judge(f facts) (level sandbox.Level, missing []*fault.Error) {
	if name := f.emulated(); name != "" {
		return sandbox.LevelNone, []*fault.Error{fault.New(sandbox.CodeEmulated, "name", name, "remedy", emulatedRemedy[name])}
	}
	if !f.Table {
		missing = append(missing, fault.New(sandbox.CodeArchitecture, "arch", f.Arch))
	}
	if f.ABI < leastABI {
		missing = append(missing, f.landlock())
	}
	if !f.Seccomp {
		missing = append(missing, fault.New(sandbox.CodeNoSeccomp))
	}
	if len(missing) > 0 {
		return sandbox.LevelNone, missing
	}
	if f.Full.Step == "" {
		if f.Group == "" {
			return sandbox.L2, []*fault.Error{fault.New(sandbox.CodeNoCgroup, "reason", f.NoGroup.Reason, "remedy", f.NoGroup.Remedy)}
		}
		return sandbox.L3, nil
	}
	missing = f.causes(f.Full)
	switch {
	case f.ABI < sharedABI:
		return sandbox.LevelNone, append(missing, fault.New(sandbox.CodeOldLandlock, "have", f.ABI, "want", sharedABI))
	case f.Shared.Step == "":
		return sandbox.L1, missing
	}
	for _, m := range f.causes(f.Shared) {
		same := func(o *fault.Error) bool { return o.Code == m.Code }
		if !slices.ContainsFunc(missing, same) {
			missing = append(missing, m)
		}
	}
	return sandbox.LevelNone, missing
}

// emulatedRemedy says of kernels that are none how to get a real one.
var emulatedRemedy = map[string]string{
	"WSL 1":  "wsl --set-version Ubuntu 2",
	"gVisor": "docker run --runtime=runc …",
}

// emulated names the program that plays the kernel, "" for a real one.
func (f facts) emulated() string {
	switch {
	case strings.HasSuffix(f.Kernel, "-Microsoft"):
		return "WSL 1"
	case strings.Contains(f.Version, "Sun Jan 10 15:06:54 PST 2016"): // gVisor says so on every host
		return "gVisor"
	}
	return ""
}

// landlock says why there is too little of it.
func (f facts) landlock() *fault.Error {
	switch {
	case f.LandlockOff:
		return fault.New(sandbox.CodeLandlockOff)
	case f.ABI == 0 && newer(f.Kernel, 6, 2):
		return fault.New(sandbox.CodeLandlockHidden, "kernel", f.Kernel)
	}
	return fault.New(sandbox.CodeNoLandlock, "have", f.ABI, "want", leastABI, "kernel", f.Kernel)
}

// newer reports whether a release is at least major.minor.
func newer(release string, major, minor int) bool {
	a, rest, _ := strings.Cut(release, ".")
	b, _, _ := strings.Cut(rest, ".")
	b = b[:len(b)-len(strings.TrimLeft(b, "0123456789"))]
	x, err := strconv.Atoi(a)
	y, err2 := strconv.Atoi(b)
	return err == nil && err2 == nil && (x > major || x == major && y >= minor)
}

// causes names everything known that makes a trial fail: who lifts one must know the next.
func (f facts) causes(t trial) (out []*fault.Error) {
	add := func(code fault.Code, args ...any) { out = append(out, fault.New(code, args...)) }
	namespaces := t.Step == "clone" || t.Step == "mount tmpfs"
	denied := namespaces || t.Step == "mount proc" && !f.Masked
	switch {
	case t.Step == "seccomp" && strings.Contains(t.With, "busy"):
		add(sandbox.CodeSeccompBusy)
	case namespaces && f.MaxUserNS == "0" && f.Nested:
		add(sandbox.CodeNestedUserNS)
	case namespaces && f.MaxUserNS == "0":
		add(sandbox.CodeUserNSSwitch, "sysctl", "user.max_user_namespaces", "value", "15000")
	case namespaces && f.UnprivUserNS == "0" && !f.Root:
		add(sandbox.CodeUserNSSwitch, "sysctl", "kernel.unprivileged_userns_clone", "value", "1")
	case namespaces && strings.Contains(t.With, "invalid argument"):
		add(sandbox.CodeUserNSKernel, "kernel", f.Kernel)
	case t.Step == "clone" && f.Container != "":
		add(sandbox.CodeContainer, "container", f.Container, "remedy", flag(f.Container, flagSeccomp))
	case denied && f.AppArmorUserNS == "1" && !f.Root && f.Profile == "":
		add(sandbox.CodeAppArmorUserNS)
	case t.Step == "mount tmpfs" && f.Profile != "":
		add(sandbox.CodeAppArmorProfile, "profile", f.Profile, "remedy", flag(f.Container, flagAppArmor))
	case namespaces:
		add(sandbox.CodeNoUserNS)
	}
	if f.Masked && (t.Step == "mount proc" || namespaces) {
		add(sandbox.CodeMaskedProc, "remedy", flag(f.Container, flagProc))
	}
	if len(out) > 0 {
		return out
	}
	if t.Detail != nil {
		return []*fault.Error{t.Detail}
	}
	return []*fault.Error{fault.New(sandbox.CodeUnavailable, "detail", t.Step+": "+t.With)}
}

type containerFlag int

const (
	flagSeccomp containerFlag = iota
	flagAppArmor
	flagProc
)

// flag is what a container must be started with, ready to paste.
func flag(container string, what containerFlag) string {
	text := map[string][3]string{
		"podman":     {"--security-opt seccomp=unconfined", "--security-opt apparmor=unconfined", "--security-opt unmask=ALL"},
		"kubernetes": {"securityContext: {seccompProfile: {type: Unconfined}}", "securityContext: {appArmorProfile: {type: Unconfined}}", "securityContext: {procMount: Unmasked}"},
		"lxc":        {"lxc config set NAME security.nesting true", "lxc config set NAME raw.lxc lxc.apparmor.profile=unconfined", "lxc config set NAME security.nesting true"},
	}
	if t, ok := text[container]; ok {
		return t[what]
	}
	return [3]string{"--security-opt seccomp=unconfined", "--security-opt apparmor=unconfined", "--security-opt systempaths=unconfined"}[what]
}

// masked reports mounts over parts of /proc in the text of /proc/self/mountinfo.
func masked(mountinfo string) bool {
	for line := range strings.Lines(mountinfo) {
		if f := strings.Fields(line); len(f) > 4 && strings.HasPrefix(f[4], "/proc/") {
			return true
		}
	}
	return false
}

// isInitial reports that the text of /proc/self/uid_map is the identity over all ids.
func isInitial(uidMap string) bool {
	return slices.Equal(strings.Fields(uidMap), []string{"0", "0", fmt.Sprint(uint32(1<<32 - 1))})
}

// container tells which kind of container this is, by what it leaves to be seen; "" when nothing shows.
func container(exists func(string) bool, getenv func(string) string) string {
	switch {
	case getenv("KUBERNETES_SERVICE_HOST") != "":
		return "kubernetes"
	case exists("/run/.containerenv"):
		return "podman"
	case exists("/.dockerenv"):
		return "docker"
	case exists("/dev/lxd/sock") || getenv("container") == "lxc":
		return "lxc"
	case getenv("container") != "":
		return "container"
	}
	return ""
}

// apparmorProfile is the confining profile in the text of attr/apparmor/current: "docker-default (enforce)".
func apparmorProfile(text string) string {
	name, mode, _ := strings.Cut(strings.TrimSpace(text), " ")
	if name == "unconfined" || !strings.Contains(mode, "enforce") {
		return ""
	}
	return name
}
