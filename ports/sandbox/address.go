package sandbox

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// MayReach judges an address that a listed name leads to, or that is listed itself, before it is dialled (NET-03,
// SEC-INV-07). It refuses what is this machine (loopback, unspecified, own: the addresses of its interfaces), its link
// (link-local, multicast, broadcast, reserved), a cloud's metadata service, and every IPv6 form that hides an IPv4
// address which would be refused. Private networks (RFC 1918, fc00::/7, 100.64.0.0/10) may be reached: the owner listed
// the name. Own is compared without zones.
func MayReach(addr netip.Addr, own []netip.Addr) bool {
	if !addr.IsValid() || addr.Zone() != "" {
		return false
	}
	addr = addr.Unmap()
	if slices.ContainsFunc(own, func(o netip.Addr) bool { return o.WithZone("").Unmap() == addr }) {
		return false
	}
	for _, p := range never {
		if p.Contains(addr) {
			return false
		}
	}
	if hidden, ok := embedded(addr); ok {
		return MayReach(hidden, own)
	}
	return true
}

var never = func() (out []netip.Prefix) {
	for _, text := range []string{
		"0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24", "224.0.0.0/4", "240.0.0.0/4", "100.100.100.200/32", "168.63.129.16/32",
		"::/128", "::1/128", "fe80::/10", "fec0::/10", "ff00::/8", "fd00:ec2::/32", "fd20:ce::/32", "100::/64",
		"64:ff9b:1::/48", // NAT64 of local use (RFC 8215): where in it the IPv4 address lies is the network's choice
		"2001::/32",      // Teredo: the client's address is scrambled, the server's is open; nobody serves from there
	} {
		out = append(out, netip.MustParsePrefix(text))
	}
	return out
}()

// embedded returns the IPv4 address that an IPv6 address leads to: IPv4-compatible, NAT64 (RFC 6052), 6to4 (RFC 3056),
// IPv4-translated (RFC 2765), ISATAP (RFC 5214).
func embedded(addr netip.Addr) (netip.Addr, bool) {
	if !addr.Is6() {
		return netip.Addr{}, false
	}
	b := addr.As16()
	var at int
	switch head, half := string(b[:12]), string(b[8:12]); {
	case head == strings.Repeat("\x00", 12), head == "\x00\x64\xff\x9b"+strings.Repeat("\x00", 8), head == strings.Repeat("\x00", 8)+"\xff\xff\x00\x00":
		at = 12
	case b[0] == 0x20 && b[1] == 0x02:
		at = 2
	case half == "\x00\x00\x5e\xfe", half == "\x02\x00\x5e\xfe":
		at = 12
	default:
		return netip.Addr{}, false
	}
	return netip.AddrFrom4([4]byte(b[at : at+4])), true
}

// SplitEndpoint takes "host:port" of Network.Hosts apart: a plain name, an IPv4 address, or an IPv6 address in brackets.
// Names are given back in lower case without a trailing dot, addresses in their short form.
func SplitEndpoint(text string) (host string, port uint16, ok bool) {
	i := strings.LastIndexByte(text, ':')
	if i < 1 {
		return "", 0, false
	}
	host = text[:i]
	n, err := strconv.ParseUint(text[i+1:], 10, 16)
	if err != nil || n == 0 || text[i+1] == '+' {
		return "", 0, false
	}
	bracketed := strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]")
	if bracketed {
		host = host[1 : len(host)-1]
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Unmap().String(), uint16(n), addr.Zone() == "" && addr.Is6() == bracketed
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	return host, uint16(n), !bracketed && plainName(host)
}

// plainName accepts what may stand in a hosts file.
func plainName(s string) bool {
	if s == "" || len(s) > 253 || s == "localhost" {
		return false
	}
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return strings.Trim(s[strings.LastIndexByte(s, '.')+1:], "0123456789") != ""
}
