package linux

import (
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// listedAttacks go beyond the list of a run with a network. LISTED is a port of the list; TCP4 and TCP6 are ports outside
// where somebody listens and that are not listed; SELF is an address of this machine.
func listedAttacks() []attack {
	const refused = "ECONNREFUSED EACCES ENETUNREACH EHOSTUNREACH EADDRNOTAVAIL EPERM"
	to := func(a, b, c, d byte, port string) *syscall.SockaddrInet4 {
		return &syscall.SockaddrInet4{Addr: [4]byte{a, b, c, d}, Port: env(port)}
	}
	v4 := func(a, b, c, d byte, port string) func() error {
		return func() error { return tcpTo(to(a, b, c, d, port), 0) }
	}
	v6 := func(port string, scope uint32, address ...byte) func() error {
		return func() error {
			s := &syscall.SockaddrInet6{Port: env(port), ZoneId: scope}
			copy(s.Addr[16-len(address):], address)
			return tcpTo(s, 0)
		}
	}
	option := func(level, name int, value []byte) func() error {
		return func() error {
			fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
			if err != nil {
				return err
			}
			defer func() { _ = syscall.Close(fd) }()
			return raw(nr(54, 208), uintptr(fd), uintptr(level), uintptr(name), addr(value), uintptr(len(value)))
		}
	}
	device := func(request uintptr) func() error {
		return func() error {
			fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0)
			if err != nil {
				return err
			}
			defer func() { _ = syscall.Close(fd) }()
			ifreq := make([]byte, 64)
			copy(ifreq, "lo")
			return raw(nr(16, 29), uintptr(fd), request, addr(ifreq))
		}
	}
	rows := []attack{
		{name: "another port", req: "NET-02", try: v4(127, 0, 0, 1, "TCP4"), want: refused},
		{name: "another port by IPv6", req: "NET-02", try: v6("TCP6", 0, 1), want: refused},
		{name: "another port mapped", req: "NET-02", try: v6("TCP4", 0, 0xff, 0xff, 127, 0, 0, 1), want: refused},
		{name: "another port of loopback 2", req: "NET-02", try: v4(127, 0, 0, 2, "TCP4"), want: refused},
		{name: "another port of address 0", req: "NET-02", try: v4(0, 0, 0, 0, "TCP4"), want: refused},
		{name: "another port of the synthetic host", req: "NET-03", try: v4(127, 77, 0, 1, "TCP4"), want: refused},
		{name: "an unlisted synthetic host", req: "NET-03", try: v4(127, 77, 0, 200, "LISTED"), want: refused},
		{name: "this machine's own address", req: "NET-02", try: func() error {
			var a [4]byte
			parts := strings.Split(os.Getenv("SELF"), ".")
			for i := range min(4, len(parts)) {
				n := 0
				for _, c := range parts[i] {
					n = n*10 + int(c-'0')
				}
				a[i] = byte(n)
			}
			return tcpTo(&syscall.SockaddrInet4{Addr: a, Port: env("TCP4")}, 0)
		}, want: refused},
		{name: "the LAN", req: "NET-02", try: v4(192, 168, 1, 1, "LISTED"), want: refused},
		{name: "the Internet", req: "NET-02", try: v4(192, 0, 2, 1, "LISTED"), want: refused},
		{name: "the metadata service", req: "NET-03", try: v4(169, 254, 169, 254, "LISTED"), want: refused},
		{name: "link-local", req: "NET-03", try: v6("LISTED", 1, 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1), want: refused},
		{name: "multicast", req: "NET-02", try: v4(224, 0, 0, 1, "LISTED"), want: refused},
		{name: "MPTCP", req: "NET-02", try: func() error { return tcpTo(to(127, 0, 0, 1, "TCP4"), 262) }, want: "EACCES"},
		{name: "first data with the connection", req: "NET-02", try: func() error {
			return sendTo(to(127, 0, 0, 1, "TCP4"), syscall.SOCK_STREAM, 0x20000000)
		}, want: refused + " EOPNOTSUPP EINPROGRESS"},
		{name: "first data to this machine", req: "NET-02", try: func() error {
			return sendTo(to(192, 0, 2, 1, "TCP4"), syscall.SOCK_STREAM, 0x20000000)
		}, want: refused + " EOPNOTSUPP"},
		// A datagram to loopback goes nowhere: the loopback is the sandbox's own. The test listens outside.
		{name: "datagram to loopback", req: "NET-02", try: func() error { return sendTo(to(127, 0, 0, 1, "TCP4"), syscall.SOCK_DGRAM, 0) }, want: "ok " + refused},
		{name: "datagram out", req: "NET-02", try: func() error { return sendTo(to(192, 0, 2, 1, "TCP4"), syscall.SOCK_DGRAM, 0) }, want: refused},
		{name: "name server out", req: "NET-03", try: func() error {
			return sendTo(&syscall.SockaddrInet4{Addr: [4]byte{8, 8, 8, 8}, Port: 53}, syscall.SOCK_DGRAM, 0)
		}, want: refused},
		{name: "broadcast", req: "NET-02", try: func() error { return sendTo(to(255, 255, 255, 255, "TCP4"), syscall.SOCK_DGRAM, 0) }, want: refused},
		{name: "dissolved and connected elsewhere", req: "NET-02", try: func() error {
			fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
			if err != nil {
				return err
			}
			defer func() { _ = syscall.Close(fd) }()
			_ = syscall.Connect(fd, to(127, 0, 0, 1, "LISTED"))
			_ = raw(nr(42, 203), uintptr(fd), addr(make([]byte, 16)), 16)
			return syscall.Connect(fd, to(127, 0, 0, 1, "TCP4"))
		}, want: refused + " EISCONN EINVAL"},
		{name: "an address that changes while it is judged", req: "NET-02", try: changing, want: "ok"},
		{name: "listen for outsiders", req: "NET-02", try: func() error {
			fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK, 0)
			if err != nil {
				return err
			}
			defer func() { _ = syscall.Close(fd) }()
			if err := errors.Join(syscall.Bind(fd, to(0, 0, 0, 0, "LISTEN")), syscall.Listen(fd, 8)); err != nil {
				return err
			}
			time.Sleep(200 * time.Millisecond) // the test knocks all the time
			_, _, err = syscall.Accept(fd)
			return err
		}, want: "EAGAIN"},
		{name: "transparent", req: "NET-02", try: option(0, 19, words(1)[:4]), want: "EPERM"},
		{name: "mark", req: "NET-02", try: option(1, 36, words(1)[:4]), want: "EPERM"},
		{name: "repair", req: "NET-02", try: option(6, 19, words(1)[:4]), want: "EPERM"},
		{name: "filter tables", req: "NET-02", try: option(0, 64, make([]byte, 96)), want: "EPERM ENOPROTOOPT"},
		{name: "set an address", req: "NET-02", try: device(0x8916), want: "EPERM"},
		{name: "set a device's flags", req: "NET-02", try: device(0x8914), want: "EPERM"},
		{name: "add a route", req: "NET-02", try: device(0x890b), want: "EPERM"},
		{name: "resolver of the host, listed", req: "NET-03", try: func() error { return read("/etc/resolv.conf") }, want: hidden},
		{name: "no proxy variables", req: "NET-03", want: "ok", try: func() error {
			for _, kv := range os.Environ() {
				if strings.Contains(strings.ToLower(kv), "proxy") {
					return errors.New(kv)
				}
			}
			return nil
		}},
	}
	inet := map[string]bool{ // rows of mode none that ask for what a list allows: a socket, or a name server on the own loopback
		"connect to loopback": true, "connect to loopback 2": true, "connect to loopback by IPv6": true, "connect to loopback mapped": true,
		"connect to the metadata service": true, "connect with its first data": true, "send a datagram": true, "send a datagram by IPv6": true,
		"ask a name server": true, "listen": true, "explicit TCP": true, "every family": true, "family with high bits": true, "kind with its flags": true,
	}
	for _, a := range socketAttacks() {
		if !inet[a.name] {
			a.name += ", with a list"
			rows = append(rows, a)
		}
	}
	return rows
}

// changing connects to an address that another thread changes between a listed and an unlisted port. Whatever comes about,
// nothing may reach the unlisted one outside; the test looks.
func changing() error {
	name := make([]byte, 16)
	name[0], name[4], name[7] = syscall.AF_INET, 127, 1
	set := func(port int) { name[2], name[3] = byte(port>>8), byte(port) }
	set(env("LISTED"))
	where := addr(name)
	var stop atomic.Bool
	go func() {
		for !stop.Load() {
			set(env("TCP4"))
			set(env("LISTED"))
		}
	}()
	defer stop.Store(true)
	for range 100 {
		fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		_ = raw(nr(42, 203), uintptr(fd), where, 16)
		_ = syscall.Close(fd)
	}
	return nil
}
