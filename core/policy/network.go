package policy

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// NetworkInput is the network part as configured. Exactly the list that belongs to the mode may be filled (NET-04).
type NetworkInput struct {
	Mode  sandbox.NetworkMode
	Ports []int    // local: host loopback ports, 1..65535
	Hosts []string // restricted: "host:port", "203.0.113.7:443", "[2001:db8::1]:443"
}

// Codes of a refused network list.
const (
	CodeNetworkMode      fault.Code = "policy.network_mode"       // args: mode
	CodeNetworkEmpty     fault.Code = "policy.network_empty"      // args: mode
	CodeNetworkExtra     fault.Code = "policy.network_extra"      // args: mode, value — a list that contradicts the mode
	CodeNetworkPort      fault.Code = "policy.network_port"       // args: value
	CodeNetworkHost      fault.Code = "policy.network_host"       // args: value — not host:port
	CodeNetworkHostLocal fault.Code = "policy.network_host_local" // args: value — loopback, link-local, unspecified, multicast
	CodeNetworkTwice     fault.Code = "policy.network_twice"      // args: value
)

// Caps of one process tree's network: far above what ordinary work needs, so that a runaway ends.
const (
	MaxConnections = 256
	MaxFlowBytes   = 16 << 30
)

// maxHostName is the longest name DNS knows.
const maxHostName = 253

// network validates and sorts the lists.
func network(in NetworkInput) (sandbox.Network, []*fault.Error) {
	var bad []*fault.Error
	out := sandbox.Network{Mode: in.Mode}
	switch in.Mode {
	case sandbox.NetworkNone, sandbox.NetworkLocal, sandbox.NetworkRestricted:
	default:
		return sandbox.Network{Mode: sandbox.NetworkNone}, []*fault.Error{fault.New(CodeNetworkMode, "mode", string(in.Mode))}
	}
	for _, port := range in.Ports {
		switch {
		case in.Mode != sandbox.NetworkLocal:
			bad = append(bad, fault.New(CodeNetworkExtra, "mode", string(in.Mode), "value", strconv.Itoa(port)))
		case port < 1 || port > 65535:
			bad = append(bad, fault.New(CodeNetworkPort, "value", strconv.Itoa(port)))
		case slices.Contains(out.Ports, uint16(port)):
			bad = append(bad, fault.New(CodeNetworkTwice, "value", strconv.Itoa(port)))
		default:
			out.Ports = append(out.Ports, uint16(port))
		}
	}
	for _, text := range in.Hosts {
		if in.Mode != sandbox.NetworkRestricted {
			bad = append(bad, fault.New(CodeNetworkExtra, "mode", string(in.Mode), "value", text))
			continue
		}
		host, port, code := endpoint(text)
		canonical := joinEndpoint(host, port)
		switch {
		case code != "":
			bad = append(bad, fault.New(code, "value", text))
		case slices.Contains(out.Hosts, canonical):
			bad = append(bad, fault.New(CodeNetworkTwice, "value", text))
		default:
			out.Hosts = append(out.Hosts, canonical)
		}
	}
	if in.Mode == sandbox.NetworkLocal && len(in.Ports) == 0 || in.Mode == sandbox.NetworkRestricted && len(in.Hosts) == 0 {
		bad = append(bad, fault.New(CodeNetworkEmpty, "mode", string(in.Mode)))
	}
	slices.Sort(out.Ports)
	slices.Sort(out.Hosts)
	if in.Mode != sandbox.NetworkNone {
		out.Connections, out.Bytes = MaxConnections, MaxFlowBytes
	}
	return out, bad
}

// endpoint splits and normalises "host:port": names in lower case without a trailing dot, addresses in short form.
func endpoint(text string) (host string, port uint16, bad fault.Code) {
	i := strings.LastIndexByte(text, ':')
	if i <= 0 {
		return "", 0, CodeNetworkHost
	}
	n, err := strconv.ParseUint(text[i+1:], 10, 16)
	if err != nil || n == 0 || text[i+1] == '+' {
		return "", 0, CodeNetworkPort
	}
	host = text[:i]
	bracketed := strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]")
	if bracketed {
		host = host[1 : len(host)-1]
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		addr = addr.Unmap()
		switch {
		case addr.Zone() != "" || addr.Is6() && !bracketed:
			return "", 0, CodeNetworkHost
		case addr.IsLoopback() || addr.IsLinkLocalUnicast() || addr.IsUnspecified() || addr.IsMulticast():
			return "", 0, CodeNetworkHostLocal
		}
		return addr.String(), uint16(n), ""
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if bracketed || !hostName(host) {
		return "", 0, CodeNetworkHost
	}
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return "", 0, CodeNetworkHostLocal
	}
	return host, uint16(n), ""
}

// hostName accepts plain names only: no wildcard, no address-like last label.
func hostName(s string) bool {
	if s == "" || len(s) > maxHostName {
		return false
	}
	labels := strings.Split(s, ".")
	for _, l := range labels {
		if l == "" || len(l) > 63 || l[0] == '-' || l[len(l)-1] == '-' {
			return false
		}
		for _, c := range []byte(l) {
			if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
				return false
			}
		}
	}
	last := labels[len(labels)-1]
	return strings.Trim(last, "0123456789") != "" && !strings.HasPrefix(last, "0x") // "1.2.3", "0x7f.1" are addresses in disguise
}

func joinEndpoint(host string, port uint16) string {
	if strings.Contains(host, ":") {
		return fmt.Sprintf("[%s]:%d", host, port)
	}
	return fmt.Sprintf("%s:%d", host, port)
}

// sameEndpoint compares a listed endpoint with a request, without allocating for ordinary names.
func sameEndpoint(listed, host string, port uint16) bool {
	i := strings.LastIndexByte(listed, ':')
	if i < 0 {
		return false
	}
	n, err := strconv.ParseUint(listed[i+1:], 10, 16)
	if err != nil || n != uint64(port) {
		return false
	}
	name := strings.TrimSuffix(strings.TrimPrefix(listed[:i], "["), "]")
	if addr, err := netip.ParseAddr(host); err == nil {
		want, err := netip.ParseAddr(name)
		return err == nil && addr.Zone() == "" && want == addr.Unmap()
	}
	return strings.EqualFold(name, strings.TrimSuffix(host, "."))
}

// loopback reports whether host is this machine's loopback, as NET-02 means it.
func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Zone() == "" && (addr == netip.AddrFrom4([4]byte{127, 0, 0, 1}) || addr == netip.IPv6Loopback())
}

func (p *Policy) listed() string {
	items := append([]string(nil), p.network.Hosts...)
	for _, port := range p.network.Ports {
		items = append(items, strconv.Itoa(int(port)))
	}
	return strings.Join(items, ", ")
}
