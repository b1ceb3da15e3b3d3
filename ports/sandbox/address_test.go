package sandbox

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
)

// NET-03, SEC-INV-07: what a listed name may lead to.
func TestMayReach(t *testing.T) {
	own := []netip.Addr{netip.MustParseAddr("203.0.113.9"), netip.MustParseAddr("2001:db8::9"), netip.MustParseAddr("fe80::7%eth0")}
	for text, want := range map[string]bool{
		"93.184.216.34": true, "2606:2800:220:1::1": true, "8.8.8.8": true,
		// private networks: the owner listed the name
		"10.0.0.1": true, "172.16.0.1": true, "192.168.1.1": true, "100.64.0.1": true, "fd12:3456::1": true,
		// this machine
		"127.0.0.1": false, "127.77.0.1": false, "::1": false, "0.0.0.0": false, "0.1.2.3": false, "::": false, "203.0.113.9": false, "2001:db8::9": false,
		// its link
		"169.254.1.1": false, "fe80::1": false, "fe80::1%eth0": false, "fec0::1": false, "224.0.0.1": false, "239.255.255.250": false, "ff02::1": false,
		"255.255.255.255": false, "240.0.0.1": false,
		// metadata
		"169.254.169.254": false, "fd00:ec2::254": false, "100.100.100.200": false, "192.0.0.192": false, "168.63.129.16": false, "fd20:ce::254": false,
		"169.254.170.2": false, "fd00:ec2::23": false,
		// hidden IPv4
		"::ffff:127.0.0.1": false, "::ffff:93.184.216.34": true, "::ffff:203.0.113.9": false, "::127.0.0.1": false, "::93.184.216.34": true,
		"64:ff9b::7f00:1": false, "64:ff9b::a9fe:a9fe": false, "64:ff9b::cb00:7109": false, "64:ff9b::808:808": true, "64:ff9b:1::808:808": false,
		"2002:7f00:1::1": false, "2002:a9fe:a9fe::": false, "2002:808:808::1": true, "2001:0:7f00:1::": false, "2001:0:808:808::1": false,
		"2606:2800::5efe:127.0.0.1": false, "2606:2800::200:5efe:169.254.169.254": false, "2606:2800::5efe:8.8.8.8": true,
		"::ffff:0:127.0.0.1": false, "::ffff:0:8.8.8.8": true,
	} {
		assert.Equal(t, want, MayReach(netip.MustParseAddr(text), own), text)
	}
	assert.False(t, MayReach(netip.Addr{}, nil))
}

// NET-03: plain names and addresses, nothing that could carry more into a hosts file.
func TestSplitEndpoint(t *testing.T) {
	for text, want := range map[string]string{
		"Example.ORG.:443": "example.org", "a_b-c.example:1": "a_b-c.example", "203.0.113.7:65535": "203.0.113.7", "[2001:DB8:0::1]:443": "2001:db8::1",
		"[::ffff:8.8.8.8]:53": "8.8.8.8", "x:0": "", "x:65536": "", "x:+1": "", "x": "", ":1": "", "2001:db8::1:443": "", "[1.2.3.4]:1": "", "[name]:1": "",
		"a b:1": "", "a\nb:1": "", "a#b:1": "", "1.2.3:1": "", "localhost:1": "", "[fe80::1%e]:1": "", "*.example.org:1": "", "http://x:1": "",
	} {
		host, _, ok := SplitEndpoint(text)
		assert.Equal(t, want != "", ok, text)
		if ok {
			assert.Equal(t, want, host, text)
		}
	}
}
