package fake

import (
	"errors"
	"io/fs"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// Errors of a simulated connection.
var (
	ErrRefused     = errors.New("connection refused")
	ErrUnreachable = errors.New("network is unreachable")
	ErrReset       = errors.New("connection reset by peer")
)

// Conn is an open connection of a program.
type Conn struct {
	m      *Machine
	server Server
	flow   *sandbox.Flow
	key    sandbox.Flow
	cut    bool
	closed bool
}

// Dial connects and closes at once.
func (m *Machine) Dial(network, address string) error {
	c, err := m.connect(network, address)
	if err == nil {
		c.Close()
	}
	return err
}

// Connect opens a TCP connection to "host:port", a name or an address, as far as the network of the Spec lets it. It counts
// as open until Close.
func (m *Machine) Connect(address string) (*Conn, error) { return m.connect("tcp", address) }

func (m *Machine) connect(network, address string) (*Conn, error) {
	host, port, listed := m.listed(network, address)
	if !listed {
		m.deny(address, sandbox.CodeNotListed)
		if m.spec.Network.Mode == sandbox.NetworkNone || !strings.HasPrefix(network, "tcp") {
			return nil, fail("dial", address, fs.ErrPermission)
		}
		return nil, fail("dial", address, ErrUnreachable)
	}
	flow, server := sandbox.Flow{Host: host, Port: port, Verdict: sandbox.FlowConnected}, Server(func([]byte) []byte { return nil })
	switch {
	case m.open >= m.spec.Network.Connections || m.moved >= m.spec.Network.Bytes:
		flow.Verdict, flow.Reason = sandbox.FlowDenied, sandbox.CodeFlowLimit
	case m.box.options.World != nil:
		flow, server = m.box.options.World.reach(host, port, m.spec.Network.Mode == sandbox.NetworkLocal)
	}
	sum := m.count(flow)
	switch flow.Verdict {
	case sandbox.FlowConnected:
		m.open++
		return &Conn{m: m, server: server, flow: sum, key: flow}, nil
	case sandbox.FlowDenied:
		m.deny(net.JoinHostPort(host, strconv.Itoa(int(port))), flow.Reason)
		if flow.Reason == sandbox.CodeAddress {
			return nil, fail("dial", address, fs.ErrPermission)
		}
		return nil, fail("dial", address, ErrRefused)
	case sandbox.FlowRefused:
		return nil, fail("dial", address, ErrRefused)
	}
	return nil, fail("dial", address, ErrUnreachable)
}

// listed finds the listed endpoint that an address means.
func (m *Machine) listed(network, address string) (host string, port uint16, ok bool) {
	n := m.spec.Network
	host, text, err := net.SplitHostPort(address)
	p, perr := strconv.ParseUint(text, 10, 16)
	if err != nil || perr != nil || !strings.HasPrefix(network, "tcp") {
		return "", 0, false
	}
	switch n.Mode {
	case sandbox.NetworkLocal:
		if host == "localhost" {
			host = "127.0.0.1"
		}
		return host, uint16(p), (host == "127.0.0.1" || host == "::1") && slices.Contains(n.Ports, uint16(p))
	case sandbox.NetworkRestricted:
		if a, err := netip.ParseAddr(host); err == nil {
			host = a.Unmap().String()
		}
		for _, h := range n.Hosts {
			if name, port, ok := sandbox.SplitEndpoint(h); ok && uint64(port) == p && strings.EqualFold(name, host) {
				return name, port, true
			}
		}
	}
	return "", 0, false
}

// Resolve finds a listed name; no other resolves.
func (m *Machine) Resolve(name string) error {
	for _, h := range m.spec.Network.Hosts {
		if host, _, ok := sandbox.SplitEndpoint(h); ok && strings.EqualFold(host, name) {
			return nil
		}
	}
	return &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

func (m *Machine) deny(target string, code fault.Code) {
	for i := range m.denials {
		if d := &m.denials[i]; d.Target == target && d.Reason == code {
			d.Times++
			return
		}
	}
	m.denials = append(m.denials, sandbox.Denial{Target: target, Right: "network", Reason: code, Times: 1, Seen: true})
}

// count adds one connection to the sum of its endpoint and verdict, and tells of the first.
func (m *Machine) count(f sandbox.Flow) *sandbox.Flow {
	for _, have := range m.flows {
		if have.Host == f.Host && have.Port == f.Port && have.Verdict == f.Verdict && have.Reason == f.Reason {
			have.Connections++
			have.Address = f.Address
			return have
		}
	}
	f.Connections = 1
	m.flows = append(m.flows, &f)
	if m.spec.OnFlow != nil {
		m.spec.OnFlow(f)
	}
	return &f
}

// take returns how many of n bytes may still be moved.
func (m *Machine) take(n int) int {
	may := int(min(int64(n), m.spec.Network.Bytes-m.moved))
	m.moved += int64(may)
	return may
}

// Exchange sends a request to its end and returns all that comes back. Beyond the bytes of the Spec the connection is cut.
func (c *Conn) Exchange(request []byte) ([]byte, error) {
	if c.closed || c.cut {
		return nil, fail("write", c.key.Host, ErrReset)
	}
	sent := c.m.take(len(request))
	reply := c.server(request[:sent])
	received := 0
	if sent == len(request) {
		received = c.m.take(len(reply))
	}
	if sent == len(request) && received == len(reply) {
		c.flow.Sent += int64(sent)
		c.flow.Received += int64(received)
		return reply, nil
	}
	c.cut = true
	c.flow.Connections--
	c.key.Verdict, c.key.Reason = sandbox.FlowCut, sandbox.CodeFlowLimit
	c.flow = c.m.count(c.key)
	c.m.deny(net.JoinHostPort(c.key.Host, strconv.Itoa(int(c.key.Port))), sandbox.CodeFlowLimit)
	c.flow.Sent += int64(sent)
	c.flow.Received += int64(received)
	return reply[:received], fail("read", c.key.Host, ErrReset)
}

// Close ends the connection.
func (c *Conn) Close() {
	if !c.closed {
		c.closed = true
		c.m.open--
	}
}

func (m *Machine) sums() (out []sandbox.Flow) {
	for _, f := range m.flows {
		if f.Connections > 0 {
			out = append(out, *f)
		}
	}
	return out
}
