package kernel

import (
	"encoding/binary"
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What PID 1 looks up about a thread that waits for an answer. Nothing here allocates, and nothing here decides what the
// thread may do: between the look and the call the thread's process can change everything.

// Waits reports whether the asker of a question still waits: what was read about it was then its own.
func Waits(listener int, q Question) bool {
	_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_ID_VALID, uintptr(unsafe.Pointer(&q.id)))
	return e == 0
}

// AddressOf reads the socket address that a connect(2) names, with IPv4 in IPv6 taken out; ok is false for other families
// and for what cannot be read. The unspecified address is the loopback one, as connect takes it.
func AddressOf(q Question) (at netip.AddrPort, ok bool) {
	const v4, v6 = 16, 24 // the least lengths that the kernel takes
	size := int(int32(q.Args[2]))
	if size < v4 || size > 128 {
		return at, false
	}
	var b [28]byte
	size = min(size, len(b))
	local := unix.Iovec{Base: &b[0], Len: uint64(size)}
	remote := unix.RemoteIovec{Base: uintptr(q.Args[1]), Len: size}
	n, _, e := unix.Syscall6(unix.SYS_PROCESS_VM_READV, uintptr(q.TID), uintptr(unsafe.Pointer(&local)), 1, uintptr(unsafe.Pointer(&remote)), 1, 0)
	if e != 0 || int(n) != size {
		return at, false
	}
	port := binary.BigEndian.Uint16(b[2:])
	var addr netip.Addr
	switch family := binary.NativeEndian.Uint16(b[:]); {
	case family == unix.AF_INET:
		addr = netip.AddrFrom4([4]byte(b[4:8]))
	case family == unix.AF_INET6 && size >= v6:
		addr = netip.AddrFrom16([16]byte(b[8:24])).Unmap()
	default:
		return at, false
	}
	if addr.IsUnspecified() {
		if addr = netip.IPv6Loopback(); b[0] == unix.AF_INET {
			addr = netip.AddrFrom4([4]byte{127, 0, 0, 1})
		}
	}
	return netip.AddrPortFrom(addr, port), true
}

// Socket is what a descriptor of an asker is.
type Socket struct{ Stream, NonBlocking bool }

// SocketOf looks at the descriptor that a connect(2) names: pidfd_open(2), pidfd_getfd(2). ok is false when it is no socket
// or cannot be looked at.
func (t *Tree) SocketOf(q Question) (s Socket, ok bool) {
	pidfd, _, e := unix.Syscall(unix.SYS_PIDFD_OPEN, uintptr(q.TID), 0, 0)
	if e != 0 { // not the first thread of its process
		leader := field(t.read(q.TID, "/status\x00"), "Tgid:")
		if pidfd, _, e = unix.Syscall(unix.SYS_PIDFD_OPEN, uintptr(leader), 0, 0); e != 0 {
			return s, false
		}
	}
	fd, _, e := unix.Syscall(unix.SYS_PIDFD_GETFD, pidfd, uintptr(uint32(q.Args[0])), 0)
	Close(int(pidfd))
	if e != 0 {
		return s, false
	}
	defer Close(int(fd))
	kind, size := int32(0), uint32(4)
	if _, _, e = unix.Syscall6(unix.SYS_GETSOCKOPT, fd, unix.SOL_SOCKET, unix.SO_TYPE, uintptr(unsafe.Pointer(&kind)), uintptr(unsafe.Pointer(&size)), 0); e != 0 {
		return s, false
	}
	flags, _, e := unix.Syscall(unix.SYS_FCNTL, fd, unix.F_GETFL, 0)
	return Socket{Stream: kind == unix.SOCK_STREAM, NonBlocking: flags&unix.O_NONBLOCK != 0}, e == 0
}

// Interrupted reports that a signal waits for a thread which catches it.
func (t *Tree) Interrupted(tid int32) bool {
	text := t.read(tid, "/status\x00")
	pending := hex(text, "SigPnd:") | hex(text, "ShdPnd:")
	return pending&^hex(text, "SigBlk:")&hex(text, "SigCgt:") != 0
}

// hex finds "\nName:\t00ff" and returns 0xff.
func hex(b []byte, name string) (v uint64) {
	for i := 1; i+len(name) < len(b); i++ {
		if b[i-1] != '\n' || string(b[i:i+len(name)]) != name {
			continue
		}
		for _, c := range b[i+len(name):] {
			switch {
			case c >= '0' && c <= '9':
				v = v<<4 | uint64(c-'0')
			case c >= 'a' && c <= 'f':
				v = v<<4 | uint64(c-'a'+10)
			case c == '\n':
				return v
			}
		}
	}
	return v
}

// Listeners looks up listening sockets of this network namespace: sock_diag(7).
type Listeners struct {
	fd int
	b  [4096]byte
}

// NewListeners opens the netlink socket it asks through.
func NewListeners() (*Listeners, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	return &Listeners{fd: fd}, err
}

// At reports whether a TCP socket (or, without stream, a UDP one) is bound there and takes what comes.
func (l *Listeners) At(at netip.AddrPort, stream bool) bool {
	const head, size = 16, 16 + 56 // struct nlmsghdr, struct inet_diag_req_v2
	ne := binary.NativeEndian
	b := l.b[:size]
	clear(b)
	ne.PutUint32(b, size)
	ne.PutUint16(b[4:], unix.SOCK_DIAG_BY_FAMILY)
	ne.PutUint16(b[6:], unix.NLM_F_REQUEST)
	b[head], b[head+1] = unix.AF_INET, unix.IPPROTO_TCP
	if !stream {
		b[head+1] = unix.IPPROTO_UDP
	}
	ne.PutUint32(b[head+4:], ^uint32(0))
	binary.BigEndian.PutUint16(b[head+8:], at.Port())
	if at.Addr().Is6() {
		b[head] = unix.AF_INET6
		a := at.Addr().As16()
		copy(b[head+12:], a[:])
	} else {
		a := at.Addr().As4()
		copy(b[head+12:], a[:])
	}
	ne.PutUint64(b[head+48:], ^uint64(0)) // INET_DIAG_NOCOOKIE
	if _, _, e := unix.Syscall6(unix.SYS_SENDTO, uintptr(l.fd), uintptr(unsafe.Pointer(&b[0])), size, 0, 0, 0); e != 0 {
		return false
	}
	n, _, e := unix.Syscall6(unix.SYS_RECVFROM, uintptr(l.fd), uintptr(unsafe.Pointer(&l.b[0])), uintptr(len(l.b)), 0, 0, 0)
	return e == 0 && n >= head && ne.Uint16(l.b[4:]) == unix.SOCK_DIAG_BY_FAMILY
}

// SendNow writes a small message without waiting and without allocating.
func SendNow(socket int, b []byte) bool {
	_, _, e := unix.Syscall6(unix.SYS_SENDTO, uintptr(socket), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
	return e == 0
}

// ReceiveNow reads a small message without waiting and without allocating; ok is false when there is none.
func ReceiveNow(socket int, b []byte) (n int, ok bool) {
	got, _, e := unix.Syscall6(unix.SYS_RECVFROM, uintptr(socket), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), unix.MSG_DONTWAIT, 0, 0)
	return int(got), e == 0 && got > 0
}
