package filter

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// interpret runs a classic BPF program over a struct seccomp_data.
func interpret(t *testing.T, prog []Insn, nr, arch uint32, args ...uint64) uint32 {
	t.Helper()
	var data [64]byte
	put := func(off int, v uint32) {
		for i := range 4 {
			data[off+i] = byte(v >> (8 * i))
		}
	}
	put(0, nr)
	put(4, arch)
	for i, a := range args {
		put(16+8*i, uint32(a))
		put(20+8*i, uint32(a>>32))
	}
	var acc uint32
	for pc, steps := 0, 0; ; steps++ {
		require.Less(t, pc, len(prog), "the program runs off its end")
		require.Less(t, steps, 4096)
		in := prog[pc]
		pc++
		jump := func(yes bool) {
			if yes {
				pc += int(in.Jt)
			} else {
				pc += int(in.Jf)
			}
		}
		switch in.Code {
		case opLoad:
			require.LessOrEqual(t, in.K, uint32(60))
			acc = uint32(data[in.K]) | uint32(data[in.K+1])<<8 | uint32(data[in.K+2])<<16 | uint32(data[in.K+3])<<24
		case opAnd:
			acc &= in.K
		case opJeq:
			jump(acc == in.K)
		case opJge:
			jump(acc >= in.K)
		case opJset:
			jump(acc&in.K != 0)
		case opRet:
			return in.K
		default:
			t.Fatalf("unknown instruction %#x", in.Code)
		}
	}
}

const high = 1 << 40 // set high bits, which the kernel ignores for int arguments

// SEC-INV, DENY-01: every row of the design's seccomp column, on both architectures.
func TestBuild_Verdicts(t *testing.T) {
	for arch, tab := range tables {
		for _, inet := range []bool{false, true} {
			prog, err := Build(arch, Options{Inet: inet, CountForks: true})
			require.NoError(t, err)
			ifInet := Errno(EACCES)
			if inet {
				ifInet = Allow
			}
			type row struct {
				call string
				args []uint64
				want uint32
			}
			rows := []row{
				{"socket", []uint64{2, 1, 0}, ifInet},
				{"socket", []uint64{2, 1 | 0o2000000, 6}, ifInet},
				{"socket", []uint64{10, 2 | 0o4000, 17}, ifInet},
				{"socket", []uint64{2 | high, 1 | high, high}, ifInet},
				{"socket", []uint64{2, 1, 262}, Errno(EACCES)}, // MPTCP
				{"socket", []uint64{2, 3, 0}, Errno(EACCES)},   // raw
				{"socket", []uint64{10, 3, 58}, Errno(EACCES)},
				{"socket", []uint64{1, 1, 0}, Errno(EACCES)},        // AF_UNIX
				{"socket", []uint64{1 | high, 2, 0}, Errno(EACCES)}, // AF_UNIX, hidden
				{"socket", []uint64{16, 3, 0}, Errno(EACCES)},       // netlink
				{"socket", []uint64{17, 3, 0}, Errno(EACCES)},       // packet
				{"socket", []uint64{38, 5, 0}, Errno(EACCES)},       // AF_ALG
				{"socket", []uint64{40, 1, 0}, Errno(EACCES)},       // AF_VSOCK
				{"socketpair", []uint64{1, 1 | 0o2000000, 0}, Allow},
				{"socketpair", []uint64{1, 5, 0}, Allow},
				{"socketpair", []uint64{1, 2, 0}, Errno(EACCES)}, // a datagram pair reaches any path
				{"socketpair", []uint64{2, 1, 0}, Errno(EACCES)},
				{"ioctl", []uint64{0, 0x5412}, Errno(EPERM)},        // TIOCSTI
				{"ioctl", []uint64{0, 0x5412 | high}, Errno(EPERM)}, // …behind a 64-bit compare
				{"ioctl", []uint64{0, 0x5412 | 1<<32}, Errno(EPERM)},
				{"ioctl", []uint64{0, 0x541c}, Errno(EPERM)}, // TIOCLINUX
				{"ioctl", []uint64{0, 0x5413}, Allow},        // TIOCGWINSZ
				{"ioctl", []uint64{0, 0x5423}, Errno(EPERM)}, // TIOCSETD
				{"ioctl", []uint64{0, 0x5423 | high}, Errno(EPERM)},
				{"ioctl", []uint64{0, 0x5000940f}, Errno(EPERM)}, // BTRFS_IOC_SNAP_DESTROY
				{"ioctl", []uint64{0, 0x50009417 | high}, Errno(EPERM)},
				{"ioctl", []uint64{0, 0xc018bc10}, Errno(EPERM)}, // bcachefs subvolumes
				{"ioctl", []uint64{0, 0x40049409}, Allow},        // FICLONE
				{"ioctl", []uint64{0, 0x4020940d}, Allow},        // FICLONERANGE
				{"ioctl", []uint64{0, 0xc0189436}, Allow},        // FIDEDUPERANGE
				{"ioctl", []uint64{0, 0x5401}, Allow},            // TCGETS
				{"fcntl", []uint64{3, 1024, 0}, Errno(EPERM)},    // F_SETLEASE
				{"fcntl", []uint64{3, 1024 | high, 1}, Errno(EPERM)},
				{"fcntl", []uint64{3, 6}, Allow}, // F_SETLK
				{"chmod", []uint64{0, 0o4755}, Errno(EPERM)},
				{"chmod", []uint64{0, 0o755}, Allow},
				{"fchmod", []uint64{0, 0o4755 | high}, Errno(EPERM)},
				{"fchmodat", []uint64{0, 0o4000, 0o4711}, Errno(EPERM)},
				{"fchmodat", []uint64{0, 0o4000, 0o711}, Allow},
				{"fchmodat2", []uint64{0, 0, 0o6755, 0x100}, Errno(EPERM)},
				{"fchmodat", []uint64{0, 0, 0o2755}, Allow}, // refused with NoSetGID, below
				{"sched_setaffinity", []uint64{0, 8, 0}, Allow},
				{"sched_setaffinity", []uint64{1, 8, 0}, Notify},
				{"sched_setattr", []uint64{high}, Allow},
				{"sched_setattr", []uint64{2 | high}, Notify},
				{"sched_setparam", []uint64{1}, Notify},
				{"sched_setscheduler", []uint64{1, 5, 0}, Notify},
				{"setpriority", []uint64{0, 0, 5}, Allow},
				{"setpriority", []uint64{0, 1, 5}, Notify},
				{"setpriority", []uint64{1 | high, 1 | high, 5}, Notify},
				{"setpriority", []uint64{2, 0, 5}, Errno(EPERM)}, // everything of the user
				{"setpriority", []uint64{2 | high, 1000, 5}, Errno(EPERM)},
				{"ioprio_set", []uint64{1, 0, 0}, Allow},
				{"ioprio_set", []uint64{1, 1, 0}, Notify},
				{"ioprio_set", []uint64{3, 0, 0}, Errno(EPERM)},
				{"memfd_create", []uint64{0, 0}, Errno(ENOSYS)},
				{"memfd_create", []uint64{0, 8 | 1}, Errno(ENOSYS)}, // RES-01: a file that no limit sees
				{"prlimit64", []uint64{0, 7, 0xdead, 0}, Allow},
				{"prlimit64", []uint64{high, 7, high, 0}, Allow},
				{"prlimit64", []uint64{1, 7, 0, 0xdead}, Allow},
				{"prlimit64", []uint64{1, 7, 0xdead, 0}, Errno(EPERM)}, // RES-01: the helper's own limits
				{"prlimit64", []uint64{5 | high, 7, 1 << 40, 0}, Errno(EPERM)},
				{"setsid", nil, Allow},
				{"setrlimit", []uint64{6, 1}, Allow},
				{"vmsplice", nil, Errno(ENOSYS)},
				{"mmap", []uint64{0, 1, 3, 0x21}, Notify}, // RES-01: shared and anonymous
				{"mmap", []uint64{0, 1, 3, 0x21 | 0x4000 | high}, Notify},
				{"mmap", []uint64{0, 1, 3, 0x23}, Notify},
				{"mmap", []uint64{0, 1, 3, 0x22}, Allow}, // private
				{"mmap", []uint64{0, 1, 3, 0x01}, Allow}, // a file
				{"clone", []uint64{0x11}, Notify},
				{"clone", []uint64{0x4111}, Notify}, // vfork
				{"clone", []uint64{0x10f00}, Allow}, // a thread
				{"clone", []uint64{0x8011}, Errno(EPERM)},
				{"clone3", nil, Errno(ENOSYS)},
				{"io_uring_setup", nil, Errno(ENOSYS)},
				{"memfd_secret", nil, Errno(ENOSYS)},
			}
			for bit := range 32 {
				if f := uint64(1) << bit; f&cloneNewNS != 0 {
					rows = append(rows, row{"clone", []uint64{f | 0x11 | high}, Errno(EPERM)}, row{"clone", []uint64{f | 0x10000}, Errno(EPERM)})
				}
			}
			for _, name := range denied {
				rows = append(rows, row{name, nil, Errno(EPERM)})
			}
			for _, r := range rows {
				nr, ok := tab.nr[r.call]
				if !ok {
					require.Equal(t, "arm64", arch, "amd64 lacks %s", r.call)
					continue
				}
				assert.Equal(t, r.want, interpret(t, prog, nr, tab.audit, r.args...), "%s %s(%#x) inet=%v", arch, r.call, r.args, inet)
				checkTold(t, arch, inet, r.want, nr, r.args)
				assert.Equal(t, uint32(Kill), interpret(t, prog, nr, tab.audit^1, r.args...), "another architecture")
				assert.Equal(t, Errno(ENOSYS), interpret(t, prog, nr|0x40000000, tab.audit, r.args...), "x32")
			}
			assert.Equal(t, Errno(ENOSYS), interpret(t, prog, newest+1, tab.audit))
			assert.Equal(t, uint32(Allow), interpret(t, prog, newest, tab.audit))
		}
	}
}

// checkTold: a program that tells gives the same verdict, at once or as the answer to its question.
func checkTold(t *testing.T, arch string, inet bool, plain, nr uint32, args []uint64) {
	t.Helper()
	prog, err := Build(arch, Options{Inet: inet, CountForks: true, Tell: true, Connects: inet})
	require.NoError(t, err)
	got := interpret(t, prog, nr, tables[arch].audit, args...)
	if plain&^0xffff != errbit || plain == Errno(ENOSYS) {
		assert.Equal(t, plain, got, "only refusals are told")
		return
	}
	if got != Notify {
		assert.Equal(t, plain, got)
		return
	}
	book, err := NewRefusals(arch, inet)
	require.NoError(t, err)
	var six [6]uint64
	copy(six[:], args)
	kind, errno, ok := book.Of(nr, six)
	require.True(t, ok, "call %d", nr)
	assert.Equal(t, plain, Errno(errno))
	assert.NotEmpty(t, Kinds()[kind].Target)
}

// Issue 3, item 4: what a refused call is called, and what the C library tries all the time stays untold.
func TestRefusals_Names(t *testing.T) {
	for arch, tab := range tables {
		for _, c := range []struct {
			call string
			args [6]uint64
			inet bool
			want string
		}{
			{"mount", [6]uint64{}, false, "mount"},
			{"keyctl", [6]uint64{}, false, "keyctl"},
			{"socket", [6]uint64{1, 1}, false, "socket AF_UNIX"},
			{"socket", [6]uint64{high | 1, 0o2000001}, false, "socket AF_UNIX"},
			{"socket", [6]uint64{2, 1}, false, "socket AF_INET"},
			{"socket", [6]uint64{10, 2 | 0o4000, 17}, false, "socket AF_INET6"},
			{"socket", [6]uint64{2, 3, 1}, true, "socket AF_INET SOCK_RAW"},
			{"socket", [6]uint64{2, 1, 132}, true, "socket with another protocol than TCP and UDP"},
			{"socket", [6]uint64{2, 1, 262}, true, ""}, // MPTCP is tried before TCP
			{"socket", [6]uint64{10, 1, 262}, false, ""},
			{"socket", [6]uint64{40, 1}, true, "socket AF_VSOCK"},
			{"socket", [6]uint64{16, 3, 9}, false, "socket AF_NETLINK"},
			{"socket", [6]uint64{4000}, false, "socket of an unknown family"},
			{"ioctl", [6]uint64{0, high | 0x5412}, false, "ioctl TIOCSTI"},
			{"ioctl", [6]uint64{0, 0x541c}, false, "ioctl TIOCLINUX"},
			{"clone", [6]uint64{0x10000000}, false, "clone into a new namespace"},
			{"socket", [6]uint64{1, 0o2004001}, false, ""},
			{"socket", [6]uint64{16, 0o2000003}, false, ""},
		} {
			prog, err := Build(arch, Options{Tell: true, CountForks: true, Inet: c.inet})
			require.NoError(t, err)
			book, err := NewRefusals(arch, c.inet)
			require.NoError(t, err)
			got := interpret(t, prog, tab.nr[c.call], tab.audit, c.args[:]...)
			if c.want == "" {
				assert.Equal(t, Errno(EACCES), got)
				continue
			}
			require.Equal(t, uint32(Notify), got, c)
			kind, _, ok := book.Of(tab.nr[c.call], c.args)
			require.True(t, ok)
			assert.Equal(t, c.want, Kinds()[kind].Target)
			assert.Zero(t, testing.AllocsPerRun(10, func() { book.Of(tab.nr[c.call], c.args) }))
		}
	}
}

// Calls without a rule pass.
func TestBuild_OrdinaryCallsPass(t *testing.T) {
	for arch, tab := range tables {
		ruled := map[uint32]bool{}
		for _, nr := range tab.nr {
			ruled[nr] = true
		}
		prog, err := Build(arch, Options{})
		require.NoError(t, err)
		assert.Less(t, len(prog), 4096)
		for nr := range uint32(newest + 1) {
			if !ruled[nr] {
				assert.Equal(t, uint32(Allow), interpret(t, prog, nr, tab.audit), fmt.Sprint(arch, " ", nr))
			}
		}
	}
}

func TestBuild_UnknownArchitecture(t *testing.T) {
	_, err := Build("riscv64", Options{})
	assert.ErrorIs(t, err, ErrArch)
}

// RES-01: threads are asked for, processes are not, and the limit that counts both is nobody's to set.
func TestBuild_CountsThreads(t *testing.T) {
	for arch, tab := range tables {
		prog, err := Build(arch, Options{CountThreads: true})
		require.NoError(t, err)
		for _, r := range []struct {
			call string
			args []uint64
			want uint32
		}{
			{"clone", []uint64{0x11}, Allow},
			{"clone", []uint64{0x4111}, Allow}, // vfork
			{"clone", []uint64{0x10f00}, Notify},
			{"clone", []uint64{0x10f00 | 0x8000}, Errno(EPERM)},
			{"clone3", nil, Errno(ENOSYS)},
			{"fork", nil, Allow},
			{"vfork", nil, Allow},
			{"setsid", nil, Notify},
			{"mmap", []uint64{0, 1, 3, 0x21}, Notify},
			{"mmap", []uint64{0, 1, 3, 0x22}, Allow},
			{"setrlimit", []uint64{6 | high, 1}, Errno(EPERM)},
			{"setrlimit", []uint64{7, 1}, Allow},
			{"prlimit64", []uint64{0, 6, 0xdead, 0}, Errno(EPERM)},
			{"prlimit64", []uint64{0, 6 | high, 1 << 40, 0}, Errno(EPERM)},
			{"prlimit64", []uint64{high, 6, 0, 0xdead}, Allow},
			{"prlimit64", []uint64{0, 7, 0xdead, 0}, Allow},
			{"prlimit64", []uint64{1, 7, 0, 0xdead}, Allow},
			{"prlimit64", []uint64{1, 7, 0xdead, 0}, Errno(EPERM)},
			{"prlimit64", []uint64{1, 6, 0xdead, 0}, Errno(EPERM)},
		} {
			nr, ok := tab.nr[r.call]
			if !ok {
				require.Equal(t, "arm64", arch, "amd64 lacks %s", r.call)
				continue
			}
			assert.Equal(t, r.want, interpret(t, prog, nr, tab.audit, r.args...), "%s %s(%#x)", arch, r.call, r.args)
		}
	}
}

// SEC-INV-01: a root Broker's programs lend no group either; without a listener nobody else is scheduled.
func TestBuild_WithoutListenerAndGroups(t *testing.T) {
	for arch, tab := range tables {
		prog, err := Build(arch, Options{NoSetGID: true})
		require.NoError(t, err)
		for name, arg := range modes {
			nr, ok := tab.nr[name]
			if !ok {
				continue
			}
			for mode, want := range map[uint64]uint32{0o2755: Errno(EPERM), 0o4755: Errno(EPERM), 0o1777: Allow, 0o644: Allow} {
				args := make([]uint64, 3)
				args[arg] = mode | high
				assert.Equal(t, want, interpret(t, prog, nr, tab.audit, args...), "%s %s %o", arch, name, mode)
			}
		}
		for _, name := range []string{"sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler"} {
			assert.Equal(t, Errno(EPERM), interpret(t, prog, tab.nr[name], tab.audit, 1), name)
			assert.Equal(t, uint32(Allow), interpret(t, prog, tab.nr[name], tab.audit, 0), name)
		}
		for _, name := range []string{"setpriority", "ioprio_set"} {
			assert.Equal(t, Errno(EPERM), interpret(t, prog, tab.nr[name], tab.audit, 1, 1), name)
		}
	}
}

// Both architectures rule the same calls, but for those that one of them lacks.
func TestTables_AreComplete(t *testing.T) {
	ruled := map[string]bool{
		"clone": true, "mmap": true, "ioctl": true, "fcntl": true, "prlimit64": true, "socket": true, "socketpair": true, "connect": true, "setsid": true, "setrlimit": true,
		"setpriority": true, "ioprio_set": true, "sched_setaffinity": true, "sched_setattr": true, "sched_setparam": true, "sched_setscheduler": true,
	}
	for _, list := range [][]string{absent, denied} {
		for _, name := range list {
			ruled[name] = true
		}
	}
	for name := range modes {
		ruled[name] = true
	}
	lacks := map[string]bool{ // on arm64
		"chmod": true, "create_module": true, "ioperm": true, "iopl": true, "modify_ldt": true, "uselib": true, "fork": true, "vfork": true, "setrlimit": true,
	}
	for name := range ruled {
		assert.Contains(t, tables["amd64"].nr, name)
		if !lacks[name] {
			assert.Contains(t, tables["arm64"].nr, name)
		}
	}
	for arch, tab := range tables {
		seen := map[uint32]string{}
		for name, nr := range tab.nr {
			assert.Empty(t, seen[nr], "%s: %s has the same number", arch, name)
			seen[nr] = name
			assert.LessOrEqual(t, nr, uint32(newest), name)
		}
	}
}
