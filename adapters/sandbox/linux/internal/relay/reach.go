package relay

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"syscall"
	"time"

	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// reach connects to an endpoint and fills the attempt.
func (r *Relay) reach(e Endpoint, d *dialing) {
	ctx, cancel := context.WithTimeout(r.life, DialWithin)
	defer cancel()
	addrs, err := r.addresses(ctx, e)
	if err != nil {
		d.failed(e, err)
		return
	}
	allowed := addrs
	if !e.Local {
		allowed = r.judged(addrs)
	}
	if len(allowed) == 0 {
		d.flow.Address, d.flow.Verdict, d.flow.Reason = addrs[0].String(), sandbox.FlowDenied, sandbox.CodeAddress
		return
	}
	for _, a := range allowed {
		d.flow.Address = a.String()
		if d.conn, err = r.connect(ctx, a, e.Port, DialWithin/time.Duration(len(allowed))); err == nil {
			d.flow.Verdict, d.flow.Reason = sandbox.FlowConnected, ""
			return
		}
		d.failed(e, err)
	}
}

var errNoAddress = errors.New("the name has no address")

func (r *Relay) addresses(ctx context.Context, e Endpoint) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(e.Host); err == nil {
		return []netip.Addr{a}, nil
	}
	addrs, err := r.c.Resolver.LookupNetIP(ctx, "ip", e.Host)
	if err == nil && len(addrs) == 0 {
		err = errNoAddress
	}
	return addrs, err
}

// judged leaves the addresses that may be dialled. A Broker that does not know its own addresses reaches nothing.
func (r *Relay) judged(addrs []netip.Addr) (allowed []netip.Addr) {
	own, err := r.c.Own()
	if err != nil {
		return nil
	}
	for _, a := range addrs {
		if sandbox.MayReach(a, own) {
			allowed = append(allowed, a.Unmap())
		}
	}
	return allowed
}

// connect gives one address its part of the time, so that a silent one does not hide the next.
func (r *Relay) connect(ctx context.Context, a netip.Addr, port uint16, within time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	network := "tcp4"
	if a.Is6() {
		network = "tcp6"
	}
	c, err := r.c.Dialer.DialContext(ctx, network, net.JoinHostPort(a.String(), strconv.Itoa(int(port))))
	if err != nil && c != nil {
		c = nil // a typed nil of a careless dialer
	}
	return c, err
}

// failed puts an error into a verdict.
func (d *dialing) failed(e Endpoint, err error) {
	d.conn = nil
	if errors.Is(err, syscall.ECONNREFUSED) || e.Local && errors.Is(err, syscall.EADDRNOTAVAIL) { // or no IPv6 on this host
		d.flow.Verdict, d.flow.Reason = sandbox.FlowRefused, ""
		return
	}
	d.flow.Verdict, d.flow.Reason = sandbox.FlowFailed, sandbox.CodeNoAnswer
}

// OwnAddresses are the addresses of this machine's interfaces.
func OwnAddresses() (out []netip.Addr, err error) {
	all, err := net.InterfaceAddrs()
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok {
			if addr, ok := netip.AddrFromSlice(n.IP); ok {
				out = append(out, addr.Unmap())
			}
		}
	}
	return out, err
}
