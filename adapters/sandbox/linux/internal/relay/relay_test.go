package relay

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// names resolve as the test says.
type names map[string][]string

func (n names) LookupNetIP(_ context.Context, _, host string) (out []netip.Addr, err error) {
	all, ok := n[host]
	if !ok {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	for _, a := range all {
		out = append(out, netip.MustParseAddr(a))
	}
	return out, nil
}

// wires connect addresses to functions that speak for the peer.
type wires struct {
	mu     sync.Mutex
	peers  map[string]func(net.Conn)
	fails  map[string]error
	dialed []string
}

func (w *wires) DialContext(ctx context.Context, _, address string) (net.Conn, error) {
	w.mu.Lock()
	w.dialed = append(w.dialed, address)
	peer, err := w.peers[address], w.fails[address]
	w.mu.Unlock()
	switch {
	case err != nil:
		return nil, err
	case peer == nil:
		<-ctx.Done() // it does not answer
		return nil, ctx.Err()
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer func() { _ = l.Close() }()
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp4", l.Addr().String())
	if err != nil {
		return nil, err
	}
	far, err := l.Accept() // before the listener is closed, which would reset it
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	go peer(far)
	return c, nil
}

type rig struct {
	*Relay
	t     *testing.T
	at    []string
	wires *wires
	told  []sandbox.Flow
}

// newRig serves endpoints on listeners; programs of the tree connect to those.
func newRig(t *testing.T, c Config, w *wires, n names, endpoints ...Endpoint) *rig {
	t.Helper()
	g := &rig{t: t, wires: w}
	c.Endpoints, c.Dialer, c.Resolver = endpoints, w, n
	if c.Connections == 0 {
		c.Connections = 8
	}
	if c.Bytes == 0 {
		c.Bytes = 1 << 20
	}
	if c.Own == nil {
		c.Own = func() ([]netip.Addr, error) { return []netip.Addr{netip.MustParseAddr("192.0.2.77")}, nil }
	}
	c.OnFlow = func(f sandbox.Flow) { g.told = append(g.told, f) }
	g.Relay = New(c)
	for i := range endpoints {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		require.NoError(t, err)
		g.at = append(g.at, l.Addr().String())
		g.Serve(i, l, func() bool { return false })
	}
	return g
}

func (g *rig) connect(i int) *net.TCPConn {
	g.t.Helper()
	c, err := g.dialIn(i)
	require.NoError(g.t, err)
	return c
}

// dialIn fails where the relay has reset the connection before it was whole.
func (g *rig) dialIn(i int) (*net.TCPConn, error) {
	c, err := net.Dial("tcp4", g.at[i])
	if err != nil {
		return nil, err
	}
	g.t.Cleanup(func() { _ = c.Close() })
	return c.(*net.TCPConn), c.SetDeadline(time.Now().Add(30 * time.Second))
}

// read is all that a connection brings.
func (g *rig) read(i int) (string, error) {
	c, err := g.dialIn(i)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(c)
	_ = c.Close()
	return string(text), err
}

// exchange sends a text, ends its direction and reads to the end.
func (g *rig) exchange(i int, text string) (string, error) {
	c, err := g.dialIn(i)
	if err != nil {
		return "", err
	}
	if _, err := io.WriteString(c, text); err != nil {
		return "", err
	}
	if err := c.CloseWrite(); err != nil {
		return "", err
	}
	got, err := io.ReadAll(c)
	return string(got), err
}

// echo answers with what it got, after its end: a half-closed connection still carries the answer.
func echo(c net.Conn) {
	text, _ := io.ReadAll(c)
	_, _ = c.Write(bytes.ToUpper(text))
	_ = c.Close()
}

const out = "203.0.113.9"

func site() *wires { return &wires{peers: map[string]func(net.Conn){out + ":443": echo}} }

// NET-02, NET-03: bytes go both ways and are counted; the end of one direction is passed on, and the other goes on.
func TestRelay_MovesAndCounts(t *testing.T) {
	g := newRig(t, Config{}, site(), names{"example.com": {out}}, Endpoint{Host: "example.com", Port: 443})
	for range 3 {
		got, err := g.exchange(0, "hello")
		require.NoError(t, err)
		require.Equal(t, "HELLO", got)
	}
	flows := g.Close(true)
	require.Equal(t, []sandbox.Flow{{Host: "example.com", Port: 443, Address: out, Verdict: sandbox.FlowConnected, Connections: 3, Sent: 15, Received: 15}}, flows)
	require.Len(t, g.told, 1, "the first of its kind is told while it happens")
}

// NET-03: the address is judged when it is dialled, whatever the name was; of several only those that may be reached.
func TestRelay_JudgesAddresses(t *testing.T) {
	for name, c := range map[string]struct {
		addrs   []string
		own     func() ([]netip.Addr, error)
		verdict sandbox.Verdict
		dialed  []string
	}{
		"outside":          {[]string{out}, nil, sandbox.FlowConnected, []string{out + ":443"}},
		"loopback":         {[]string{"127.0.0.1"}, nil, sandbox.FlowDenied, nil},
		"mapped loopback":  {[]string{"::ffff:127.0.0.1"}, nil, sandbox.FlowDenied, nil},
		"metadata":         {[]string{"169.254.169.254"}, nil, sandbox.FlowDenied, nil},
		"own":              {[]string{"192.0.2.77"}, nil, sandbox.FlowDenied, nil},
		"mapped own":       {[]string{"::ffff:192.0.2.77"}, nil, sandbox.FlowDenied, nil},
		"unspecified":      {[]string{"0.0.0.0"}, nil, sandbox.FlowDenied, nil},
		"bad and good":     {[]string{"127.0.0.1", out}, nil, sandbox.FlowConnected, []string{out + ":443"}},
		"mapped":           {[]string{"::ffff:" + out}, nil, sandbox.FlowConnected, []string{out + ":443"}},
		"own is not known": {[]string{out}, func() ([]netip.Addr, error) { return nil, errors.New("no") }, sandbox.FlowDenied, nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, Config{Own: c.own}, site(), names{"example.com": c.addrs}, Endpoint{Host: "example.com", Port: 443})
			_, err := g.exchange(0, "x")
			if c.verdict == sandbox.FlowConnected {
				require.NoError(t, err)
			}
			flows := g.Close(true)
			require.Len(t, flows, 1)
			assert.Equal(t, c.verdict, flows[0].Verdict)
			assert.Equal(t, c.dialed, g.wires.dialed)
			if c.verdict == sandbox.FlowDenied {
				assert.Equal(t, sandbox.CodeAddress, flows[0].Reason)
				assert.Equal(t, c.addrs[0], flows[0].Address)
			}
		})
	}
}

// A peer that refuses, a name that is none, and a first address that fails before a second that works.
func TestRelay_Failures(t *testing.T) {
	const second = "203.0.113.10"
	for name, c := range map[string]struct {
		names   names
		fails   map[string]error
		verdict sandbox.Verdict
	}{
		"refused":      {names{"h": {out}}, map[string]error{out + ":443": syscall.ECONNREFUSED}, sandbox.FlowRefused},
		"unreachable":  {names{"h": {out}}, map[string]error{out + ":443": syscall.EHOSTUNREACH}, sandbox.FlowFailed},
		"no name":      {names{}, nil, sandbox.FlowFailed},
		"no address":   {names{"h": nil}, nil, sandbox.FlowFailed},
		"first failed": {names{"h": {out, second}}, map[string]error{out + ":443": syscall.EHOSTUNREACH}, sandbox.FlowConnected},
	} {
		t.Run(name, func(t *testing.T) {
			w := &wires{peers: map[string]func(net.Conn){out + ":443": echo, second + ":443": echo}, fails: c.fails}
			g := newRig(t, Config{}, w, c.names, Endpoint{Host: "h", Port: 443})
			got, err := g.exchange(0, "x")
			if c.verdict == sandbox.FlowConnected {
				require.NoError(t, err)
				require.Equal(t, "X", got)
			} else {
				require.Empty(t, got)
			}
			flows := g.Close(true)
			require.Len(t, flows, 1)
			assert.Equal(t, c.verdict, flows[0].Verdict)
			assert.Equal(t, c.verdict == sandbox.FlowFailed, flows[0].Reason == sandbox.CodeNoAnswer)
		})
	}
}

// The cap on bytes holds over all connections and both directions; what was moved is told as cut, and nothing is dialled afterwards.
func TestRelay_CapOnBytes(t *testing.T) {
	g := newRig(t, Config{Bytes: 1000}, site(), names{"h": {out}}, Endpoint{Host: "h", Port: 443})
	_, err := g.exchange(0, strings.Repeat("x", 400))
	require.NoError(t, err) // 800 of 1000
	_, _ = g.exchange(0, strings.Repeat("x", 5000))
	require.Eventually(t, func() bool { g.mu.Lock(); defer g.mu.Unlock(); return g.open == 0 }, 10*time.Second, time.Millisecond)
	_, _ = g.exchange(0, "x")
	flows := g.Close(true)
	byVerdict := map[sandbox.Verdict]sandbox.Flow{}
	var moved int64
	for _, f := range flows {
		byVerdict[f.Verdict] = f
		moved += f.Sent + f.Received
	}
	assert.EqualValues(t, 1000, moved)
	assert.Equal(t, 1, byVerdict[sandbox.FlowConnected].Connections)
	assert.Equal(t, sandbox.CodeFlowLimit, byVerdict[sandbox.FlowCut].Reason)
	assert.Equal(t, sandbox.CodeFlowLimit, byVerdict[sandbox.FlowDenied].Reason)
	assert.Len(t, g.wires.dialed, 2)
}

// The cap on connections counts those that are open; one that ends makes room.
func TestRelay_CapOnConnections(t *testing.T) {
	hold := make(chan struct{})
	w := &wires{peers: map[string]func(net.Conn){out + ":443": func(c net.Conn) { <-hold; _ = c.Close() }}}
	g := newRig(t, Config{Connections: 2}, w, names{"h": {out}}, Endpoint{Host: "h", Port: 443})
	first, second := g.connect(0), g.connect(0)
	opened := func(n int) func() bool {
		return func() bool { g.mu.Lock(); defer g.mu.Unlock(); return g.open == n && len(g.conns) == n }
	}
	require.Eventually(t, opened(2), 10*time.Second, time.Millisecond)
	_, err := g.read(0)
	require.Error(t, err, "it is reset, not ended")
	close(hold)
	_, _ = first.Close(), second.Close()
	require.Eventually(t, opened(0), 10*time.Second, time.Millisecond)
	_, err = g.read(0)
	require.NoError(t, err)
	flows := g.Close(true)
	require.Len(t, flows, 2)
	for _, f := range flows {
		assert.Equal(t, map[sandbox.Verdict]int{sandbox.FlowConnected: 3, sandbox.FlowDenied: 1}[f.Verdict], f.Connections, f.Verdict)
	}
}

// A peer that vanishes resets the program's connection: half of an answer is not taken for the whole.
func TestRelay_APeerThatVanishes(t *testing.T) {
	w := &wires{peers: map[string]func(net.Conn){out + ":443": func(c net.Conn) {
		_, _ = io.WriteString(c, "half of")
		time.Sleep(50 * time.Millisecond)
		_ = c.(*net.TCPConn).SetLinger(0)
		_ = c.Close()
	}}}
	g := newRig(t, Config{}, w, names{"h": {out}}, Endpoint{Host: "h", Port: 443})
	_, err := g.read(0)
	require.ErrorIs(t, err, syscall.ECONNRESET)
	flows := g.Close(true)
	require.Len(t, flows, 1)
	assert.EqualValues(t, 7, flows[0].Received)
}

// Close ends what is open, at once when nothing is to be finished, and nothing goes on afterwards. A peer that is silent is not waited for.
func TestRelay_Close(t *testing.T) {
	silent := &wires{peers: map[string]func(net.Conn){out + ":443": func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }}}
	g := newRig(t, Config{}, silent, names{"h": {out}, "none": {"203.0.113.11"}}, Endpoint{Host: "h", Port: 443}, Endpoint{Host: "none", Port: 443})
	open, dialling := g.connect(0), g.connect(1)
	_, err := io.WriteString(open, "x")
	require.NoError(t, err)
	require.Eventually(t, func() bool { g.mu.Lock(); defer g.mu.Unlock(); return len(g.conns) == 2 }, 10*time.Second, time.Millisecond)
	began := time.Now()
	g.Close(false)
	assert.Less(t, time.Since(began), DialWithin/2)
	for _, c := range []net.Conn{open, dialling} {
		_, err := io.ReadAll(c)
		require.Error(t, err)
	}
	_, err = net.Dial("tcp4", g.at[0])
	require.Error(t, err)
	g.Close(true) // again: nothing happens
}

// Mode local: an endpoint on the loopback is what the owner listed, and one that nobody listens at is refused like any other.
func TestRelay_Local(t *testing.T) {
	w := &wires{peers: map[string]func(net.Conn){"127.0.0.1:5432": echo}, fails: map[string]error{"127.0.0.1:5433": syscall.ECONNREFUSED, "[::1]:5432": syscall.EADDRNOTAVAIL}}
	g := newRig(t, Config{}, w, nil, Endpoint{"127.0.0.1", 5432, true}, Endpoint{"127.0.0.1", 5433, true}, Endpoint{"::1", 5432, true})
	got, err := g.exchange(0, "x")
	require.NoError(t, err)
	require.Equal(t, "X", got)
	for i := 1; i <= 2; i++ {
		_, _ = g.exchange(i, "x")
	}
	var verdicts []sandbox.Verdict
	for _, f := range g.Close(true) {
		verdicts = append(verdicts, f.Verdict)
	}
	assert.ElementsMatch(t, []sandbox.Verdict{sandbox.FlowConnected, sandbox.FlowRefused, sandbox.FlowRefused}, verdicts)
}
