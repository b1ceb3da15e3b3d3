package fake

import (
	"net/netip"
	"slices"
	"sync"

	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// Server answers what a connection sent with what it gets back.
type Server func(request []byte) (reply []byte)

// World is the network outside the fake, for network local and restricted: names, servers at addresses, and which addresses
// are this machine's. Safe for concurrent use. The zero value is empty: every connection to it finds nobody.
type World struct {
	mu      sync.Mutex
	names   map[string][]netip.Addr
	servers map[netip.AddrPort]Server
	own     []netip.Addr
	dialed  []netip.AddrPort
}

// Name makes a name lead to addresses.
func (w *World) Name(name string, addresses ...netip.Addr) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.names == nil {
		w.names = map[string][]netip.Addr{}
	}
	w.names[name] = addresses
}

// Serve puts a server at an address; on the loopback it is one of network local.
func (w *World) Serve(at netip.AddrPort, s Server) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.servers == nil {
		w.servers = map[netip.AddrPort]Server{}
	}
	w.servers[at] = s
}

// Own says which addresses are this machine's: they are never reached through a name.
func (w *World) Own(addresses ...netip.Addr) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.own = append(w.own, addresses...)
}

// Dialed lists what was connected to or tried, oldest first, except on the loopback.
func (w *World) Dialed() []netip.AddrPort {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.dialed)
}

// reach gives the verdict for a listed host, as a real adapter's Broker does.
func (w *World) reach(host string, port uint16, local bool) (f sandbox.Flow, s Server) {
	f = sandbox.Flow{Host: host, Port: port, Verdict: sandbox.FlowFailed, Reason: sandbox.CodeNoAnswer}
	w.mu.Lock()
	defer w.mu.Unlock()
	addrs := w.names[host]
	if a, err := netip.ParseAddr(host); err == nil {
		addrs = []netip.Addr{a}
	}
	denied := false
	for _, a := range addrs {
		if !local && !sandbox.MayReach(a, w.own) {
			if denied = true; f.Address == "" {
				f.Address = a.String()
			}
			continue
		}
		at := netip.AddrPortFrom(a.Unmap(), port)
		f.Address = at.Addr().String()
		if !local {
			w.dialed = append(w.dialed, at)
		}
		if s = w.servers[at]; s != nil {
			f.Verdict, f.Reason = sandbox.FlowConnected, ""
			return f, s
		}
		denied = false
		if local {
			f.Verdict, f.Reason = sandbox.FlowRefused, ""
			return f, nil
		}
	}
	if denied {
		f.Verdict, f.Reason = sandbox.FlowDenied, sandbox.CodeAddress
	}
	return f, nil
}
