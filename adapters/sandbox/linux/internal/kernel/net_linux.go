package kernel

import (
	"encoding/binary"
	"errors"
	"net/netip"

	"golang.org/x/sys/unix"
)

// LoopbackUp brings the loopback device of this network namespace up: netdevice(7).
func LoopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer Close(fd)
	ifr, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	ifr.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, ifr)
}

// LocalRoute makes an address one of this network namespace's own, at once and without duplicate address detection: a
// route of type local over the loopback device, whose index is always 1, in the table local (rtnetlink(7)).
func LocalRoute(addr netip.Addr) error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer Close(fd)
	family, dst := byte(unix.AF_INET), addr.AsSlice()
	if addr.Is6() {
		family = unix.AF_INET6
	}
	ne := binary.NativeEndian
	b := make([]byte, 28, 64) // struct nlmsghdr, struct rtmsg
	ne.PutUint16(b[4:], unix.RTM_NEWROUTE)
	ne.PutUint16(b[6:], unix.NLM_F_REQUEST|unix.NLM_F_ACK|unix.NLM_F_CREATE)
	b[16], b[17], b[20], b[21], b[22], b[23] = family, byte(8*len(dst)), unix.RT_TABLE_LOCAL, unix.RTPROT_BOOT, unix.RT_SCOPE_HOST, unix.RTN_LOCAL
	attr := func(kind uint16, value []byte) {
		b = ne.AppendUint16(b, uint16(4+len(value)))
		b = append(ne.AppendUint16(b, kind), value...)
	}
	attr(unix.RTA_DST, dst)
	attr(unix.RTA_OIF, ne.AppendUint32(nil, 1))
	ne.PutUint32(b, uint32(len(b)))
	if err := unix.Sendto(fd, b, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	var answer [256]byte
	n, _, err := unix.Recvfrom(fd, answer[:], 0)
	if err != nil || n < 20 {
		return errors.Join(unix.EIO, err)
	}
	if no := -int32(ne.Uint32(answer[16:])); no != 0 && unix.Errno(no) != unix.EEXIST {
		return unix.Errno(no)
	}
	return nil
}

// Listen makes a TCP listener on one address that need not be configured, only routed here: ip(7) and ipv6(7) FREEBIND.
func Listen(at netip.AddrPort) (int, error) {
	family, level, freebind := unix.AF_INET, unix.IPPROTO_IP, unix.IP_FREEBIND
	var sa unix.Sockaddr
	if at.Addr().Is6() {
		family, level, freebind = unix.AF_INET6, unix.IPPROTO_IPV6, unix.IPV6_FREEBIND
		sa = &unix.SockaddrInet6{Port: int(at.Port()), Addr: at.Addr().As16()}
	} else {
		sa = &unix.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return -1, err
	}
	if err = unix.SetsockoptInt(fd, level, freebind, 1); err == nil {
		err = unix.Bind(fd, sa)
	}
	if err == nil {
		err = unix.Listen(fd, unix.SOMAXCONN)
	}
	if err != nil {
		Close(fd)
		return -1, err
	}
	return fd, nil
}

// socketBuffer is what a TCP socket may buffer in each direction; the memory limit counts sockets by it.
const socketBuffer = "4096 131072 212992"

// LimitTCP bounds what the sockets of this network namespace buffer: tcp(7), tcp_rmem and tcp_wmem. A kernel that lets
// nobody but the system's root set them is no error.
func LimitTCP(proc int) {
	for _, name := range []string{"sys/net/ipv4/tcp_rmem", "sys/net/ipv4/tcp_wmem"} {
		if fd, err := unix.Openat(proc, name, unix.O_WRONLY|unix.O_CLOEXEC, 0); err == nil {
			_, _ = unix.Write(fd, []byte(socketBuffer))
			Close(fd)
		}
	}
}

// ConnectionWaits reports whether a listener has a connection to accept.
func ConnectionWaits(listener int) bool {
	fds := [1]unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}}
	n, err := unix.Poll(fds[:], 0)
	return err == nil && n == 1 && fds[0].Revents&unix.POLLIN != 0
}
