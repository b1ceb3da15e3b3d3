package kernel

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Rule gives Landlock access below (or on) an open O_PATH descriptor.
type Rule struct {
	FD     int
	Access uint64
}

// LandlockABI is the version the kernel offers, 0 for none: landlock_create_ruleset(2).
func LandlockABI() int {
	v, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if e != 0 {
		return 0
	}
	return int(v)
}

// LandlockOff reports that the kernel has Landlock, but was started without it: landlock_create_ruleset(2), EOPNOTSUPP.
func LandlockOff() bool {
	_, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	return e == unix.EOPNOTSUPP
}

// Release gives the kernel's release and the text of its build: uname(2).
func Release() (release, version string) {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return "", ""
	}
	return unix.ByteSliceToString(u.Release[:]), unix.ByteSliceToString(u.Version[:])
}

// Restrict confines the calling thread to the rules. handled and scoped must fit the kernel's ABI: nothing is dropped
// silently.
func Restrict(handled, scoped uint64, rules []Rule) error {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: handled, Scoped: scoped}
	size := unsafe.Sizeof(attr)
	if scoped == 0 {
		size = 8 // ABI 1 knows the first field only; a longer structure is refused unless it is zero
	}
	fd, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if e != 0 {
		return e
	}
	defer Close(int(fd))
	for _, r := range rules {
		b := unix.LandlockPathBeneathAttr{Allowed_access: r.Access & handled, Parent_fd: int32(r.FD)}
		if b.Allowed_access == 0 {
			continue
		}
		if _, _, e := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, fd, unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&b)), 0, 0, 0); e != 0 {
			return e
		}
	}
	if _, _, e := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); e != 0 {
		return e
	}
	return nil
}

// NoNewPrivs sets the bit for the calling thread.
func NoNewPrivs() error { return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }

// NewKeyring leaves the caller's session keyring. A kernel without keyrings is no error.
func NewKeyring() error {
	_, err := unix.KeyctlJoinSessionKeyring("agent-mcp-sandbox")
	if err == unix.ENOSYS {
		return nil
	}
	return err
}

// CapDACOverride is the only capability that may stay (over ids of the own user namespace alone).
const CapDACOverride = unix.CAP_DAC_OVERRIDE

// SetupCaps are the capabilities the helper needs inside its own user namespace until it confines the program.
func SetupCaps() []uintptr {
	return []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP, unix.CAP_SYS_RESOURCE, unix.CAP_DAC_OVERRIDE, unix.CAP_NET_ADMIN, unix.CAP_NET_BIND_SERVICE, unix.CAP_SYS_PTRACE}
}

// DropCaps leaves the calling thread (and what it starts) no capability but keep; keep < 0 leaves none.
func DropCaps(keep int) error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	for c := 0; c <= 63; c++ {
		if c == keep {
			continue
		}
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0); err != nil {
			if err == unix.EINVAL && c > unix.CAP_CHECKPOINT_RESTORE {
				break // beyond the kernel's last capability
			}
			return err
		}
	}
	h := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var d [2]unix.CapUserData
	if keep >= 0 {
		bit := uint32(1) << (keep % 32)
		d[keep/32] = unix.CapUserData{Effective: bit, Permitted: bit, Inheritable: bit}
	}
	if err := unix.Capset(&h, &d[0]); err != nil {
		return err
	}
	if keep >= 0 {
		return unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_RAISE, uintptr(keep), 0, 0)
	}
	return nil
}

// Limit lowers soft and hard limit of a resource of a process; it never raises one.
func Limit(pid, resource int, value uint64) error {
	var old unix.Rlimit
	if err := unix.Prlimit(pid, resource, nil, &old); err != nil {
		return err
	}
	value = min(value, old.Max)
	return unix.Prlimit(pid, resource, &unix.Rlimit{Cur: value, Max: value}, nil)
}

// SoftLimit sets the soft limit of a resource of a process within its hard one.
func SoftLimit(pid, resource int, value uint64) error {
	var old unix.Rlimit
	if err := unix.Prlimit(pid, resource, nil, &old); err != nil || old.Cur == min(value, old.Max) {
		return err
	}
	return unix.Prlimit(pid, resource, &unix.Rlimit{Cur: min(value, old.Max), Max: old.Max}, nil)
}

// Resources for Limit.
const (
	LimitCore  = unix.RLIMIT_CORE
	LimitTasks = unix.RLIMIT_NPROC
	LimitData  = unix.RLIMIT_DATA
	LimitFiles = unix.RLIMIT_NOFILE
)

// Hide makes the process's /proc entries unreadable for others of its user, and dies with the creating thread.
func Hide() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0)
}

// CloseOnExecFrom marks every descriptor from first on.
func CloseOnExecFrom(first uint) error {
	return unix.CloseRange(first, ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC)
}
