package linux

import (
	"encoding/binary"
	"net"
	"os"
	"strconv"
	"syscall"

	"github.com/agent-mcp/agent-mcp/adapters/sandbox/linux/internal/kernel"
	"github.com/agent-mcp/agent-mcp/adapters/sandbox/linux/internal/relay"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// network is the Broker's side of a run's list. Nil is a run without one.
type network struct {
	c         *child
	relay     *relay.Relay
	endpoints int
}

func (r *run) newNetwork(c *child) *network {
	if len(r.endpoints) == 0 {
		return nil
	}
	return &network{c: c, endpoints: len(r.endpoints), relay: relay.New(relay.Config{
		Endpoints: r.endpoints, Connections: r.spec.Network.Connections, Bytes: r.spec.Network.Bytes,
		Resolver: r.s.options.Resolver, Dialer: r.s.options.Dialer, Own: relay.OwnAddresses, OnFlow: r.spec.OnFlow,
	})}
}

// take handles a message that concerns the network; it reports whether it did. It owns the message's descriptors.
func (n *network) take(m message) bool {
	if n != nil && m.dial != nil {
		n.asked(m.dial)
		return true
	}
	for i, fd := range m.fds {
		if n == nil || m.Kind != kindListening || i >= len(m.Listeners) || m.Listeners[i] < 0 || m.Listeners[i] >= n.endpoints {
			kernel.Close(fd)
			continue
		}
		n.serve(m.Listeners[i], fd)
	}
	return m.Kind == kindListening
}

func (n *network) serve(endpoint, fd int) {
	f := os.NewFile(uintptr(fd), "listener")
	defer func() { _ = f.Close() }()
	l, err := net.FileListener(f)
	if err != nil {
		return // the program is refused
	}
	raw, err := l.(syscall.Conn).SyscallConn()
	if err != nil {
		_ = l.Close()
		return
	}
	n.relay.Serve(endpoint, l, func() (waits bool) {
		_ = raw.Control(func(fd uintptr) { waits = kernel.ConnectionWaits(int(fd)) })
		return waits
	})
}

// asked dials for a program that is about to connect, and answers when it is known what became of it.
func (n *network) asked(question []byte) {
	cookie, endpoint := binary.LittleEndian.Uint32(question[1:]), binary.LittleEndian.Uint32(question[5:])
	n.relay.Ask(int(int32(endpoint)), func(f sandbox.Flow) {
		var b [answerSize]byte
		binary.LittleEndian.PutUint32(b[0:], cookie)
		binary.LittleEndian.PutUint32(b[4:], uint32(connectErrno(f)))
		_ = kernel.Send(n.c.ctl, b[:])
	})
}

// connectErrno is the error that a program gets for a connection which did not come about.
func connectErrno(f sandbox.Flow) syscall.Errno {
	switch {
	case f.Verdict == sandbox.FlowConnected:
		return 0
	case f.Verdict == sandbox.FlowRefused, f.Reason == sandbox.CodeFlowLimit: // one more than may be open is refused
		return syscall.ECONNREFUSED
	case f.Verdict == sandbox.FlowDenied:
		return syscall.EACCES
	}
	return syscall.EHOSTUNREACH
}

// close ends the network before the control socket, which its answers use.
func (n *network) close(finish bool) []sandbox.Flow {
	if n == nil {
		return nil
	}
	return n.relay.Close(finish)
}

// denials are those the helper saw and those the network judged.
func denials(seen []sandbox.Denial, flows []sandbox.Flow) []sandbox.Denial {
	for _, f := range flows {
		if f.Verdict == sandbox.FlowDenied || f.Verdict == sandbox.FlowCut {
			seen = append(seen, sandbox.Denial{
				Target: net.JoinHostPort(f.Host, strconv.Itoa(int(f.Port))), Right: "network", Reason: f.Reason, Times: f.Connections, Seen: true,
			})
		}
	}
	return seen
}
