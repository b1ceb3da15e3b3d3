package linux

import (
	"context"
	"net"
	"net/netip"
	"time"

	"github.com/agent-mcp/agent-mcp/ports/journal"
)

// Options of a Sandbox. The zero value is right for a Broker.
type Options struct {
	// RootUID is the unprivileged host user (and group) that runs the programs of a Broker that is the system's root;
	// files in the roots keep the owners root sees. Default 65533; must be no real account.
	RootUID int
	// NoSpare switches the prepared helper off: each Run then starts its own (about twice as slow).
	NoSpare bool
	// PollEvery is how often memory is looked at. Default 10 ms, range 1 ms to 1 s.
	PollEvery time.Duration
	// Resolver finds the addresses of the names of network restricted, on the host, when a program connects. Default
	// net.DefaultResolver.
	Resolver Resolver
	// Dialer connects to what a program may reach, on the host. Default a net.Dialer. It is only given addresses that were
	// judged, never names.
	Dialer Dialer
	// NoCgroup keeps a host that has control groups at L2.
	NoCgroup bool
	// Guard records directories of control groups from the start; Record does so later. nil: a crash leaves them behind.
	Guard journal.Guard
}

// Resolver finds the addresses of a name; *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Dialer connects to an address; *net.Dialer is one. The connection should have CloseWrite, so that the end of a stream can
// be passed on, as those of package net have.
type Dialer interface {
	DialContext(ctx context.Context, network, address string) (net.Conn, error)
}

func (o Options) withDefaults() Options {
	if o.RootUID == 0 {
		o.RootUID = 65533
	}
	if o.Resolver == nil {
		o.Resolver = net.DefaultResolver
	}
	if o.Dialer == nil {
		o.Dialer = &net.Dialer{}
	}
	if o.PollEvery == 0 {
		o.PollEvery = 10 * time.Millisecond
	}
	o.PollEvery = min(max(o.PollEvery, time.Millisecond), time.Second)
	return o
}
