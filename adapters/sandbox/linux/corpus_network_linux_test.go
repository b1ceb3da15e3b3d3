package linux

import (
	"errors"
	"os"
	"strconv"
	"syscall"
)

func socket(family, kind, proto int) func() error {
	return func() error {
		fd, err := syscall.Socket(family, kind, proto)
		if err == nil {
			_ = syscall.Close(fd)
		}
		return err
	}
}

// unixTo connects to a path, or to an abstract name when it begins with @.
func unixTo(path string, kind int) (int, error) {
	fd, err := syscall.Socket(syscall.AF_UNIX, kind, 0)
	if err != nil {
		return -1, err
	}
	if err = syscall.Connect(fd, &syscall.SockaddrUnix{Name: path}); err != nil {
		_ = syscall.Close(fd)
		return -1, err
	}
	return fd, nil
}

func env(name string) int {
	n, _ := strconv.Atoi(os.Getenv(name))
	return n
}

// tcpTo connects to a port outside.
func tcpTo(to syscall.Sockaddr, proto int) error {
	family := syscall.AF_INET
	if _, ok := to.(*syscall.SockaddrInet6); ok {
		family = syscall.AF_INET6
	}
	fd, err := syscall.Socket(family, syscall.SOCK_STREAM, proto)
	if err != nil {
		return err
	}
	defer func() { _ = syscall.Close(fd) }()
	return syscall.Connect(fd, to)
}

// sendTo sends one datagram, or opens a connection with its first data (flags MSG_FASTOPEN).
func sendTo(to syscall.Sockaddr, kind, flags int) error {
	family := syscall.AF_INET
	if _, ok := to.(*syscall.SockaddrInet6); ok {
		family = syscall.AF_INET6
	}
	fd, err := syscall.Socket(family, kind, 0)
	if err != nil {
		return err
	}
	defer func() { _ = syscall.Close(fd) }()
	return syscall.Sendto(fd, []byte("evil"), flags, to)
}

// onPair tries something with one end of a connected pair, the only socket there is without a network.
func onPair(kind int, try func(fd int) error) func() error {
	return func() error {
		p, err := syscall.Socketpair(syscall.AF_UNIX, kind, 0)
		if err != nil {
			return err
		}
		defer func() { _, _ = syscall.Close(p[0]), syscall.Close(p[1]) }()
		return try(p[0])
	}
}

// socketAttacks reach for any network under mode none. Listeners wait outside, on loopback, in a root and in the abstract
// name space; the test counts what reaches them.
func socketAttacks() []attack {
	four := func(last byte, port string) func() error {
		return func() error { return tcpTo(&syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, last}, Port: env(port)}, 0) }
	}
	six := func() *syscall.SockaddrInet6 { return &syscall.SockaddrInet6{Addr: [16]byte{15: 1}, Port: env("TCP6")} }
	here := func() *syscall.SockaddrInet4 {
		return &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}, Port: env("TCP4")}
	}
	path := &syscall.SockaddrUnix{Name: "agent.sock"}
	return []attack{
		{name: "connect to loopback", req: "NET-01", try: four(1, "TCP4"), want: "EACCES"},
		{name: "connect to loopback 2", req: "NET-01", try: four(2, "TCP4"), want: "EACCES"},
		{name: "connect to loopback by IPv6", req: "NET-01", try: func() error { return tcpTo(six(), 0) }, want: "EACCES"},
		{name: "connect to loopback mapped", req: "NET-01", try: func() error {
			return tcpTo(&syscall.SockaddrInet6{Addr: [16]byte{10: 0xff, 0xff, 127, 0, 0, 1}, Port: env("TCP4")}, 0)
		}, want: "EACCES"},
		{name: "connect to the metadata service", req: "NET-01", try: func() error {
			return tcpTo(&syscall.SockaddrInet4{Addr: [4]byte{169, 254, 169, 254}, Port: 80}, 0)
		}, want: "EACCES"},
		{name: "connect by MPTCP", req: "NET-01", try: func() error { return tcpTo(here(), 262) }, want: "EACCES"},
		{name: "connect with its first data", req: "NET-01", try: func() error { return sendTo(here(), syscall.SOCK_STREAM, 0x20000000) }, want: "EACCES"},
		{name: "send a datagram", req: "NET-01", try: func() error { return sendTo(here(), syscall.SOCK_DGRAM, 0) }, want: "EACCES"},
		{name: "send a datagram by IPv6", req: "NET-01", try: func() error { return sendTo(six(), syscall.SOCK_DGRAM, 0) }, want: "EACCES"},
		{name: "ask a name server", req: "NET-01", try: func() error {
			return sendTo(&syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 53}, Port: 53}, syscall.SOCK_DGRAM, 0)
		}, want: "EACCES"},
		{name: "listen", req: "NET-01", try: func() error {
			fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
			if err != nil {
				return err
			}
			return errors.Join(syscall.Bind(fd, &syscall.SockaddrInet4{}), syscall.Listen(fd, 1))
		}, want: "EACCES"},
		{name: "explicit TCP", req: "NET-01", try: socket(syscall.AF_INET, syscall.SOCK_STREAM, 6), want: "EACCES"},
		{name: "SCTP", req: "NET-01", try: socket(syscall.AF_INET, syscall.SOCK_STREAM, 132), want: "EACCES"},
		{name: "SCTP of many", req: "NET-01", try: socket(syscall.AF_INET, syscall.SOCK_SEQPACKET, 132), want: "EACCES"},
		{name: "DCCP", req: "NET-01", try: socket(syscall.AF_INET, 6, 33), want: "EACCES"},
		{name: "UDP-Lite", req: "NET-01", try: socket(syscall.AF_INET, syscall.SOCK_DGRAM, 136), want: "EACCES"},
		{name: "SMC", req: "NET-01", try: socket(43, syscall.SOCK_STREAM, 0), want: "EACCES"},
		{name: "ping", req: "NET-01", try: socket(syscall.AF_INET, syscall.SOCK_DGRAM, 1), want: "EACCES"},
		{name: "ping by IPv6", req: "NET-01", try: socket(syscall.AF_INET6, syscall.SOCK_DGRAM, 58), want: "EACCES"},
		{name: "raw", req: "NET-01", try: socket(syscall.AF_INET, syscall.SOCK_RAW, 255), want: "EACCES"},
		{name: "raw by IPv6", req: "NET-01", try: socket(syscall.AF_INET6, syscall.SOCK_RAW, 255), want: "EACCES"},
		{name: "packet", req: "NET-01", try: socket(syscall.AF_PACKET, syscall.SOCK_RAW, 0x300), want: "EACCES"},
		{name: "netlink", req: "NET-01", try: socket(syscall.AF_NETLINK, syscall.SOCK_RAW, 0), want: "EACCES"},
		{name: "netlink of the devices", req: "NET-01", try: socket(syscall.AF_NETLINK, syscall.SOCK_DGRAM, 15), want: "EACCES"},
		{name: "vsock", req: "NET-01", try: socket(40, syscall.SOCK_STREAM, 0), want: "EACCES"},
		{name: "vsock datagrams", req: "NET-01", try: socket(40, syscall.SOCK_DGRAM, 0), want: "EACCES"},
		{name: "kernel crypto", req: "NET-01", try: socket(38, syscall.SOCK_SEQPACKET, 0), want: "EACCES"},
		{name: "every family", req: "NET-01", try: func() error {
			var last error
			for family := range 64 {
				for _, kind := range []int{1, 2, 3, 4, 5, 6, 10} {
					if last = socket(family, kind, 0)(); !errors.Is(last, syscall.EACCES) {
						return last
					}
				}
			}
			return last
		}, want: "EACCES"},
		{name: "family with high bits", req: "NET-01", try: call(41, 198, 1<<32|2, 1, 0), want: "EACCES"},
		{name: "kind with its flags", req: "NET-01", try: socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0), want: "EACCES"},
		{name: "unix socket in a root", req: "DENY-01", try: func() error { _, err := unixTo("agent.sock", syscall.SOCK_STREAM); return err }, want: "EACCES"},
		{name: "unix datagrams in a root", req: "DENY-01", try: func() error { _, err := unixTo("agent.sock", syscall.SOCK_DGRAM); return err }, want: "EACCES"},
		{name: "abstract unix socket", req: "DENY-01", try: func() error { _, err := unixTo("@"+os.Getenv("ABSTRACT"), syscall.SOCK_STREAM); return err }, want: "EACCES"},
		{name: "pair of datagrams", req: "DENY-01", try: func() error { _, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_DGRAM, 0); return err }, want: "EACCES"},
		{name: "pair of raw unix", req: "DENY-01", try: func() error { _, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_RAW, 0); return err }, want: "EACCES"},
		{name: "pair of IPv4", req: "NET-01", try: func() error { _, err := syscall.Socketpair(syscall.AF_INET, syscall.SOCK_STREAM, 0); return err }, want: "EACCES"},
		{name: "pair of TIPC", req: "NET-01", try: func() error { _, err := syscall.Socketpair(30, syscall.SOCK_STREAM, 0); return err }, want: "EACCES"},
		{name: "pair, connected elsewhere", req: "DENY-01", try: onPair(syscall.SOCK_STREAM, func(fd int) error { return syscall.Connect(fd, path) }), want: "EISCONN EINVAL"},
		{name: "packet pair, connected elsewhere", req: "DENY-01", try: onPair(syscall.SOCK_SEQPACKET, func(fd int) error { return syscall.Connect(fd, &syscall.SockaddrUnix{Name: "packet.sock"}) }), want: "EISCONN EINVAL"},
		{name: "pair, dissolved and connected", req: "DENY-01", try: onPair(syscall.SOCK_STREAM, func(fd int) error {
			_ = raw(nr(42, 203), uintptr(fd), addr(make([]byte, 16)), 16) // AF_UNSPEC
			return syscall.Connect(fd, path)
		}), want: "EISCONN EINVAL"},
		{name: "pair, sending elsewhere", req: "DENY-01", try: onPair(syscall.SOCK_STREAM, func(fd int) error { return syscall.Sendto(fd, []byte("evil"), 0, path) }), want: "EISCONN EOPNOTSUPP"},
		{name: "packet pair, sending elsewhere goes to its peer", req: "DENY-01", try: onPair(syscall.SOCK_SEQPACKET, func(fd int) error { return syscall.Sendto(fd, []byte("evil"), 0, path) }), want: "ok EISCONN"},
		{name: "pair, listening", req: "DENY-01", try: onPair(syscall.SOCK_STREAM, func(fd int) error { return syscall.Listen(fd, 1) }), want: "EINVAL"},
		{name: "pair, bound and listening", req: "DENY-01", try: onPair(syscall.SOCK_STREAM, func(fd int) error {
			_ = syscall.Bind(fd, &syscall.SockaddrUnix{Name: "mine.sock"})
			return syscall.Listen(fd, 1)
		}), want: "EINVAL"},
		{name: "pair, accepting", req: "DENY-01", try: onPair(syscall.SOCK_STREAM, func(fd int) error { _, _, err := syscall.Accept(fd); return err }), want: "EINVAL"},
		{name: "pair", req: "PRF-01", try: onPair(syscall.SOCK_STREAM, func(int) error { return nil }), want: "ok"},
		{name: "interfaces of the host", req: "NET-01", want: "ok", try: func() error {
			b, err := os.ReadFile("/proc/net/route")
			if err == nil && len(b) > 200 {
				return errors.New(string(b))
			}
			return err
		}},
	}
}
