package windows

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// This file turns a network list into filters of the Windows Filtering Platform, as plain data. Every filter is bound to the
// profile's own identifier, so that no other program of the machine is touched. They block at every layer at which a
// connection, a listener or a datagram is authorized; permits stand above them in a sublayer of our own. Permits are soft:
// what the owner's firewall blocks stays blocked.

// Layers of authorization (fwpmu.h), in both families.
const (
	layerConnect4 guid = "c38d57d1-05a7-4c33-904f-7fbceee60e82"
	layerConnect6 guid = "4a72393b-319f-44bc-84c3-ba54dcb3b6b4"
	layerAccept4  guid = "e1cd9fe7-f4b5-4273-96c0-592e487b8650"
	layerAccept6  guid = "a3b42c97-9f04-4672-b87e-cee9c483257f"
	layerListen4  guid = "88bb5dad-76d7-4227-9c71-df0a3ed7be7e"
	layerListen6  guid = "7ac9de24-17dd-4814-b4bd-a9fbc95a321b"
)

var layerNames = map[guid]string{
	layerConnect4: "connect4", layerConnect6: "connect6", layerAccept4: "accept4", layerAccept6: "accept6", layerListen4: "listen4", layerListen6: "listen6",
}

// Fields of conditions.
const (
	fieldPackage  guid = "71bc78fa-f17c-4997-a602-6abb261f351c"
	fieldAddress  guid = "b235ae9a-1d64-49b8-a44c-5ff3d9095045" // remote
	fieldPort     guid = "c35a604d-d22b-4e1a-91b4-68f674ee674b" // remote
	fieldProtocol guid = "3971ef2b-623e-4f9a-8cb1-6e79b806b9a7"
)

// Weights within the sublayer, and of it.
const (
	weightBlock    uint8  = 0
	weightPermit   uint8  = 15
	sublayerWeight uint16 = 0xffff

	protocolTCP uint8 = 6
)

// filter is one filter. Package is always a condition; the others are none when they are zero.
type filter struct {
	Key     guid
	Layer   guid
	Permit  bool
	Weight  uint8
	Package sid
	Remote  netip.Addr
	Port    uint16
	TCP     bool
}

func (f filter) String() string {
	var b strings.Builder
	verb := "block"
	if f.Permit {
		verb = "permit"
	}
	fmt.Fprintf(&b, "wfp.add %s %-8s weight %d", verb, layerNames[f.Layer], f.Weight)
	if f.TCP {
		b.WriteString(" tcp")
	}
	if f.Remote.IsValid() {
		fmt.Fprintf(&b, " to %s", netip.AddrPortFrom(f.Remote, f.Port))
	}
	return b.String()
}

// endpoint is one address that may be reached.
type endpoint struct {
	Host    string
	Address netip.Addr
	Port    uint16
}

// filters are those of one run. Their keys follow from its name and their place in the list.
func filters(run string, who sid, permits []endpoint) (out []filter) {
	add := func(f filter) {
		f.Key, f.Package = nameGUID(run, "filter", strconv.Itoa(len(out))), who
		out = append(out, f)
	}
	for _, layer := range []guid{layerConnect4, layerConnect6, layerAccept4, layerAccept6, layerListen4, layerListen6} {
		add(filter{Layer: layer, Weight: weightBlock})
	}
	for _, e := range permits {
		layer := layerConnect4
		if e.Address.Is6() {
			layer = layerConnect6
		}
		add(filter{Layer: layer, Permit: true, Weight: weightPermit, Remote: e.Address, Port: e.Port, TCP: true})
	}
	return out
}

// sublayer is the key of a run's own sublayer.
func sublayer(run string) guid { return nameGUID(run, "sublayer") }

// loopback are the endpoints of mode local (NET-02).
func loopback(ports []uint16) (out []endpoint) {
	for _, p := range ports {
		for _, a := range []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()} {
			out = append(out, endpoint{Host: a.String(), Address: a, Port: p})
		}
	}
	return out
}

// resolved is what a listed host led to.
type resolved struct {
	Host      string
	Port      uint16
	Addresses []netip.Addr
	Failed    string // why there are none
}

// reachable judges what the list leads to (NET-03, SEC-INV-07): the addresses that may be permitted, and a flow for each
// that was not, so that the program's failure is explained.
func reachable(list []resolved, own []netip.Addr) (permits []endpoint, flows []sandbox.Flow) {
	for _, r := range list {
		if len(r.Addresses) == 0 {
			flows = append(flows, sandbox.Flow{Host: r.Host, Port: r.Port, Verdict: sandbox.FlowFailed, Reason: sandbox.CodeNoAnswer, Connections: 1})
			continue
		}
		for _, a := range r.Addresses {
			e := endpoint{Host: r.Host, Address: a.Unmap(), Port: r.Port}
			switch {
			case !sandbox.MayReach(a, own):
				flows = append(flows, sandbox.Flow{
					Host: r.Host, Port: r.Port, Address: a.String(), Verdict: sandbox.FlowDenied, Reason: sandbox.CodeAddress, Connections: 1,
				})
			case !slices.ContainsFunc(permits, func(p endpoint) bool { return p.Address == e.Address && p.Port == e.Port }):
				permits = append(permits, e)
			}
		}
	}
	return permits, flows
}

// capabilities are what the tree's token holds: registry read and own instrumentation always (PRF-01), the network's only
// where the filters let something through. COM is in none.
func capabilities(mode sandbox.NetworkMode) []sid {
	out := []sid{capabilitySID("registryRead"), capabilitySID("lpacInstrumentation")}
	if mode == sandbox.NetworkRestricted {
		out = append(out, sidInternet, sidPrivateNet)
	}
	return out
}
