package sandboxtest

import (
	"context"
	"io"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Internet is a Network for adapters that resolve and dial in this process: give it to them as their resolver and their
// dialer. Names and outside addresses are what the suite says; what it dials ends at echo servers on the loopback, and the
// loopback itself is the real one. Safe for concurrent use.
type Internet struct {
	mu      sync.Mutex
	names   map[string][]netip.Addr
	servers map[netip.AddrPort]string // where they really listen
	dialed  []netip.AddrPort
}

var _ Network = (*Internet)(nil)

// LookupNetIP knows the given names only.
func (n *Internet) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if a, ok := n.names[host]; ok {
		return slices.Clone(a), nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

// DialContext reaches the loopback and the outside servers.
func (n *Internet) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, err // a name: an adapter never dials one
	}
	if !at.Addr().IsLoopback() {
		n.mu.Lock()
		n.dialed = append(n.dialed, at)
		server, ok := n.servers[at]
		n.mu.Unlock()
		if !ok {
			return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.EHOSTUNREACH}
		}
		network, address = "tcp", server
	}
	return new(net.Dialer).DialContext(ctx, network, address)
}

// Echo implements Network.
func (n *Internet) Echo(t testing.TB) (port uint16, v6 bool) {
	for range 20 {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		require.NoError(t, err)
		at := netip.MustParseAddrPort(l.Addr().String())
		l6, err := net.Listen("tcp6", net.JoinHostPort("::1", strconv.Itoa(int(at.Port()))))
		if err != nil && hasIPv6() {
			_ = l.Close() // somebody has the port on the other family
			continue
		}
		serve(t, l)
		if err == nil {
			serve(t, l6)
		}
		return at.Port(), err == nil
	}
	t.Fatal("no port is free on both families")
	return 0, false
}

func hasIPv6() bool {
	l, err := net.Listen("tcp6", "[::1]:0")
	if err == nil {
		_ = l.Close()
	}
	return err == nil
}

func serve(t testing.TB, l net.Listener) {
	var wait sync.WaitGroup
	t.Cleanup(func() {
		_ = l.Close()
		wait.Wait()
	})
	wait.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wait.Go(func() {
				_, _ = io.Copy(c, struct{ io.Reader }{c})
				_ = c.Close()
			})
		}
	})
}

// Free implements Network.
func (n *Internet) Free(t testing.TB) uint16 {
	for range 20 {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		require.NoError(t, err)
		at := netip.MustParseAddrPort(l.Addr().String())
		_ = l.Close()
		if l, err = net.Listen("tcp", ":"+strconv.Itoa(int(at.Port()))); err == nil {
			_ = l.Close()
			return at.Port()
		}
	}
	t.Fatal("no port is free")
	return 0
}

// Name implements Network.
func (n *Internet) Name(name string, addresses ...netip.Addr) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.names == nil {
		n.names = map[string][]netip.Addr{}
	}
	n.names[name] = addresses
}

// Outside implements Network.
func (n *Internet) Outside(t testing.TB, at netip.AddrPort) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	serve(t, l)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.servers == nil {
		n.servers = map[netip.AddrPort]string{}
	}
	n.servers[at] = l.Addr().String()
}

// Dialed implements Network.
func (n *Internet) Dialed() []netip.AddrPort {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.dialed)
}
