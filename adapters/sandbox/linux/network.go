package linux

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/agent-mcp/agent-mcp/adapters/sandbox/linux/internal/relay"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// networkOrder is what the helper makes of a network with a list; the zero value is network none.
type networkOrder struct {
	Listen []listenAt
	Hosts  string // lines for /etc/hosts
	// Patience is how long a non-blocking connect waits for the Broker's dial, so that a refusal is a refusal. Then it goes on,
	// so that an event loop does not stand still, and a dial that fails later resets the connection.
	Patience time.Duration
}

const (
	localPatience  = 2 * time.Second        // the loopback answers at once; only a busy machine takes time
	remotePatience = 500 * time.Millisecond // most networks answer, or say that they cannot, within it
)

// listenAt is one listener inside. Its index is that of its endpoint.
type listenAt struct {
	At       netip.AddrPort
	Route    bool // an address that is not the loopback device's by itself
	Optional bool // IPv6 loopback, where the host has no IPv6
}

// networks are the modes besides none that a level can confine: a list needs a network namespace.
func networks(level sandbox.Level) []sandbox.NetworkMode {
	if level < sandbox.L2 {
		return nil
	}
	return []sandbox.NetworkMode{sandbox.NetworkLocal, sandbox.NetworkRestricted}
}

// planNetwork gives each listed endpoint a place inside (NET-02, NET-03). Ports of local are the loopback addresses of both
// families. A name of restricted gets an address of its own below 127.77, where nothing else is; a listed address is itself.
func planNetwork(n sandbox.Network) (o networkOrder, endpoints []relay.Endpoint) {
	add := func(l listenAt, e relay.Endpoint) {
		e.Port = l.At.Port()
		o.Listen = append(o.Listen, l)
		endpoints = append(endpoints, e)
	}
	for _, port := range n.Ports {
		v4, v6 := netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()
		add(listenAt{At: netip.AddrPortFrom(v4, port)}, relay.Endpoint{Host: v4.String(), Local: true})
		add(listenAt{At: netip.AddrPortFrom(v6, port), Optional: true}, relay.Endpoint{Host: v6.String(), Local: true})
	}
	var hosts strings.Builder
	names := map[string]netip.Addr{}
	for _, text := range n.Hosts {
		host, port, _ := sandbox.SplitEndpoint(text)
		at, err := netip.ParseAddr(host)
		route := err == nil
		if err != nil {
			known, ok := names[host]
			if at = known; !ok {
				i := len(names)
				at = netip.AddrFrom4([4]byte{127, 77, byte(i / 254), byte(i%254 + 1)})
				names[host] = at
				fmt.Fprintf(&hosts, "%s %s\n", at, host)
			}
		}
		l := listenAt{At: netip.AddrPortFrom(at, port), Route: route && !at.IsLoopback()}
		if slices.ContainsFunc(o.Listen, func(have listenAt) bool { return have.At == l.At }) {
			continue
		}
		add(l, relay.Endpoint{Host: host})
	}
	o.Hosts, o.Patience = hosts.String(), remotePatience
	if n.Mode == sandbox.NetworkLocal {
		o.Patience = localPatience
	}
	return o, endpoints
}
