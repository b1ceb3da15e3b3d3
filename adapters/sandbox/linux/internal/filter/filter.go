// Package filter assembles the seccomp program of the Linux sandbox as plain data, for any architecture on any system,
// so that it can be tested by interpretation. It makes no system call and decides nothing from the host.
// Design: sandbox.md, rows "network none", "terminal", "execute" and "syscalls"; seccomp(2).
package filter

import "errors"

// Insn is one classic BPF instruction, laid out like struct sock_filter.
type Insn struct {
	Code   uint16
	Jt, Jf uint8
	K      uint32
}

// Options vary the program.
type Options struct {
	Inet       bool // AF_INET and AF_INET6 stream and datagram sockets are allowed (network local and restricted)
	NoSetGID   bool // no set-group-ID modes either: the owner's group is the system's
	CountForks bool // new processes (not threads) and shared anonymous memory are asked for through the listener
	Tell       bool // refused calls that ordinary programs do not try all the time are asked for: see Refusals
	Connects   bool // connect is asked for
	// CountThreads asks for threads, new sessions and shared anonymous memory, and keeps the limit of tasks. A signal
	// interrupts a call that waits to be asked: libraries block signals while they make a thread, but not around fork(2).
	CountThreads bool
	Shared       bool // the tree has no namespaces of its own (level 1): see shared.go; new threads are asked for as well
}

// ErrArch means that there is no table for the architecture.
var ErrArch = errors.New("filter: no system call table for this architecture")

// Actions and errors as the kernel encodes them (linux/seccomp.h; errno numbers are the same on both architectures).
const (
	Allow  = 0x7fff0000
	Kill   = 0x80000000 // the whole process
	Notify = 0x7fc00000
	errbit = 0x00050000
	EPERM  = 1
	EACCES = 13
	ENOTTY = 25
	ENOSYS = 38
)

// Errno is the action that makes a call fail with e.
func Errno(e uint32) uint32 { return errbit | e }

// refuse makes a call fail with e, or asks first.
func (o Options) refuse(e uint32) uint32 {
	if o.Tell {
		return Notify
	}
	return Errno(e)
}

const (
	opLoad = 0x20 // BPF_LD|BPF_W|BPF_ABS
	opJeq  = 0x15
	opJge  = 0x35
	opJset = 0x45
	opAnd  = 0x54
	opRet  = 0x06

	offNr   = 0
	offArch = 4
	// newest is the highest call number known to be harmless or ruled below (mseal). Newer calls do not exist inside:
	// file_setattr or open_tree_attr would bypass rules that were written before them.
	newest = 462

	cloneNewNS    = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000 | 0x00000080
	cloneParent   = 0x00008000
	cloneThread   = 0x00010000
	mapSharedAnon = 0x21 // MAP_SHARED and MAP_ANONYMOUS; MAP_SHARED_VALIDATE has the first bit as well
	limitTasks    = 6    // RLIMIT_NPROC
	tiocsti       = 0x5412
	tioclinux     = 0x541c
	afUnix        = 1
	afInet        = 2
	afInet6       = 10
	sockStream    = 1
	sockDgram     = 2
	sockSeqpacket = 5
	sockTypeMask  = 0xf
	afNetlink     = 16
	mptcp         = 262
	nameService   = 0o2004001 // SOCK_STREAM|SOCK_CLOEXEC|SOCK_NONBLOCK: how the C library looks for the name service cache, in every look-up
)

// low is the offset of the low word of argument i (little endian). Comparing the low word alone means that set high
// bits, which the kernel ignores for int arguments, cannot hide a match.
func low(i uint32) uint32 { return 16 + 8*i }

type program struct{ out []Insn }

func (p *program) op(code uint16, k uint32, jt, jf uint8) {
	p.out = append(p.out, Insn{Code: code, Jt: jt, Jf: jf, K: k})
}

func (p *program) ret(action uint32) { p.op(opRet, action, 0, 0) }

// call runs body, which must end by returning, when the loaded call number is nr. The program goes on after it with
// the number still loaded.
func (p *program) call(nr uint32, body func(*program)) {
	var b program
	body(&b)
	p.op(opJeq, nr, 0, uint8(len(b.out)))
	p.out = append(p.out, b.out...)
}

// Build returns the program for a GOARCH.
func Build(goarch string, o Options) ([]Insn, error) {
	t, ok := tables[goarch]
	if !ok {
		return nil, ErrArch
	}
	var p program
	p.op(opLoad, offArch, 0, 0)
	p.op(opJeq, t.audit, 1, 0)
	p.ret(Kill)
	p.op(opLoad, offNr, 0, 0)
	p.op(opJge, newest+1, 0, 1) // x32 calls have bit 30 set and end here as well
	p.ret(Errno(ENOSYS))
	for _, name := range absent {
		if nr, ok := t.nr[name]; ok {
			p.call(nr, func(b *program) { b.ret(Errno(ENOSYS)) })
		}
	}
	for _, name := range denied {
		if nr, ok := t.nr[name]; ok {
			p.call(nr, func(b *program) { b.ret(o.refuse(EPERM)) })
		}
	}
	birth, thread, share := uint32(Allow), uint32(Allow), uint32(Allow)
	if o.CountForks {
		birth, share = Notify, Notify
	}
	if o.CountThreads {
		thread, share = Notify, Notify
		p.call(t.nr["setsid"], func(b *program) { b.ret(Notify) })
		p.call(t.nr["setrlimit"], func(b *program) {
			b.op(opLoad, low(0), 0, 0)
			b.op(opJeq, limitTasks, 0, 1)
			b.ret(Errno(EPERM))
			b.ret(Allow)
		})
	}
	if o.Shared {
		thread = birth
		p.shared(goarch)
	}
	for _, name := range []string{"fork", "vfork"} {
		if nr, ok := t.nr[name]; ok && o.CountForks {
			p.call(nr, func(b *program) { b.ret(birth) })
		}
	}
	p.call(t.nr["clone"], func(b *program) {
		b.op(opLoad, low(0), 0, 0)
		b.op(opJset, cloneNewNS|cloneParent, 0, 1)
		b.ret(o.refuse(EPERM))
		b.op(opJset, cloneThread, 0, 1)
		b.ret(thread)
		b.ret(birth)
	})
	p.call(t.nr["mmap"], func(b *program) { // its pages stay when nobody maps them any more: only the grant can be counted
		b.op(opLoad, low(3), 0, 0)
		b.op(opAnd, mapSharedAnon, 0, 0)
		b.op(opJeq, mapSharedAnon, 0, 1)
		b.ret(share)
		b.ret(Allow)
	})
	p.call(t.nr["ioctl"], func(b *program) {
		if o.Shared {
			b.sharedIoctl()
			return
		}
		b.ioctl(o)
	})
	p.call(t.nr["fcntl"], (*program).fcntl)
	t.chmod(&p, o)
	t.schedule(&p, o)
	p.call(t.nr["prlimit64"], func(b *program) { // of others, limits may be asked but not set: the helper has the same user
		b.op(opLoad, low(0), 0, 0)
		if o.CountThreads { // the own limit of tasks may not be set either
			b.op(opJeq, 0, 0, 2)
			b.op(opLoad, low(1), 0, 0)
			b.op(opJeq, limitTasks, 0, 4)
		} else {
			b.op(opJeq, 0, 4, 0)
		}
		b.op(opLoad, low(2), 0, 0)
		b.op(opJeq, 0, 0, 3)
		b.op(opLoad, low(2)+4, 0, 0)
		b.op(opJeq, 0, 0, 1)
		b.ret(Allow)
		b.ret(o.refuse(EPERM))
	})
	p.call(t.nr["socket"], func(b *program) { b.socket(o) })
	p.call(t.nr["socketpair"], func(b *program) { b.socketpair(o) })
	if o.Connects {
		p.call(t.nr["connect"], func(b *program) { b.ret(Notify) })
	}
	p.ret(Allow)
	return p.out, nil
}

// socket allows TCP and UDP when there is a network at all, and nothing else: AF_UNIX paths pass the network namespace
// and read-only mounts, AF_VSOCK is not in the namespace, raw, packet and netlink sockets are for outsiders. An
// explicit protocol (MPTCP, SCTP…) is refused with the rest.
func (p *program) socket(o Options) {
	if o.Inet {
		p.op(opLoad, low(0), 0, 0)
		p.op(opJeq, afInet, 1, 0)
		p.op(opJeq, afInet6, 0, 9)
		p.op(opLoad, low(2), 0, 0)
		p.op(opJeq, 0, 2, 0)  // default protocol
		p.op(opJeq, 6, 1, 0)  // TCP
		p.op(opJeq, 17, 0, 5) // UDP
		p.op(opLoad, low(1), 0, 0)
		p.op(opAnd, sockTypeMask, 0, 0)
		p.op(opJeq, sockStream, 1, 0)
		p.op(opJeq, sockDgram, 0, 1)
		p.ret(Allow)
	}
	if o.Tell {
		p.op(opLoad, low(0), 0, 0)
		p.call(afUnix, func(b *program) {
			b.op(opLoad, low(1), 0, 0)
			b.call(nameService, func(b *program) { b.ret(Errno(EACCES)) })
			b.ret(Notify)
		})
		for _, often := range []struct{ family, protocol uint32 }{
			{afNetlink, 0},                    // asking for the interfaces
			{afInet, mptcp}, {afInet6, mptcp}, // tried before TCP
		} {
			p.call(often.family, func(b *program) {
				b.op(opLoad, low(2), 0, 0)
				b.call(often.protocol, func(b *program) { b.ret(Errno(EACCES)) })
				b.ret(Notify)
			})
		}
	}
	p.ret(o.refuse(EACCES))
}

// socketpair allows connected AF_UNIX pairs, which cannot be connected elsewhere. A datagram pair can send to any path.
func (p *program) socketpair(o Options) {
	p.op(opLoad, low(0), 0, 0)
	p.op(opJeq, afUnix, 0, 4)
	p.op(opLoad, low(1), 0, 0)
	p.op(opAnd, sockTypeMask, 0, 0)
	p.op(opJeq, sockStream, 2, 0)
	p.op(opJeq, sockSeqpacket, 1, 0)
	p.ret(o.refuse(EACCES))
	p.ret(Allow)
}
