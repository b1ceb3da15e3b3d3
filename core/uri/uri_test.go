package uri_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agent-mcp/agent-mcp/core/uri"
)

// D3.
func TestValid(t *testing.T) {
	for text, want := range map[string]bool{
		"example:":              true,
		"example:/path":         true,
		"example:/":             true,
		"example:a:b@c":         true,
		"urn:example:%E2%82%AC": true,
		"urn:uuid:11111111-2222-4333-8444-555555555555": true,
		"https://[2001:db8::1]/path":                    true,
		"x://[V01.a]/":                                  true,
		"x://[vF.a:b!]":                                 true,
		"x://[::ffff:192.168.1.1]/":                     true,
		"x://":                                          true,
		"x:///p":                                        true,
		"x://h:":                                        true,
		"x://h:99999999999999999999999999":              true,
		"x://u:p%20@h:1/a//b?c=/?d#e?f":                 true,
		"x://1.2.3.4.5":                                 true, // a name
		"a+-.1:b":                                       true,
		"x:?#":                                          true,
		"x:" + strings.Repeat("a", 100_000):             true,
		"x:!$&'()*+,;=-._~":                             true,
		"":                                              false,
		":":                                             false,
		"x":                                             false,
		"relative/path":                                 false,
		"/path":                                         false,
		"//h/p":                                         false,
		"#f":                                            false,
		"1example:path":                                 false,
		"-x:p":                                          false,
		"x y:p":                                         false,
		"urn:a b":                                       false,
		" urn:a":                                        false,
		"urn:a ":                                        false,
		"urn:é":                                         false,
		"urn:\u200b":                                    false,
		"é:a":                                           false,
		"urn:%GG":                                       false,
		"urn:%a":                                        false,
		"urn:%":                                         false,
		"urn:a\n":                                       false,
		"urn:a\x00":                                     false,
		"urn:a\x7f":                                     false,
		"urn:a\"b":                                      false,
		"urn:a<b":                                       false,
		"urn:a\\b":                                      false,
		"urn:a^b":                                       false,
		"urn:a`b":                                       false,
		"urn:a{b}":                                      false,
		"urn:a|b":                                       false,
		"urn:[a]":                                       false,
		"urn:a#b#c":                                     false,
		"x://[not-an-ip]":                               false,
		"x://[::1":                                      false,
		"x://::1]":                                      false,
		"x://[::1]x":                                    false,
		"x://[::1]:8x":                                  false,
		"x://[::1%25eth0]":                              false,
		"x://[]":                                        false,
		"x://[v.a]":                                     false,
		"x://[v1.]":                                     false,
		"x://[v1]":                                      false,
		"x://[v1.a/b]":                                  false,
		"x://[::ffff:192.168.01.1]/":                    false,
		"x://[::ffff:256.1.1.1]/":                       false,
		"x://[::ffff:1.1.1]/":                           false,
		"x://a@b@c":                                     false,
		"x://h:a":                                       false,
		"x://h:1:2":                                     false,
		"x://a[b":                                       false,
	} {
		assert.Equal(t, want, uri.Valid(text), "%.60q", text)
		assert.Equal(t, want, uri.Valid([]byte(text)), "%.60q", text)
	}
}

// IPv6 addresses are those of package netip, which reads the same grammar but for zones.
func TestValid_AddressesAsOthersReadThem(t *testing.T) {
	parts := []string{"", "1", "abcd", "12345", ":", "::", "1.2.3.4", "01.2.3.4", "g", "0"}
	var build func(prefix string, left int)
	build = func(prefix string, left int) {
		if _, err := netip.ParseAddr(prefix); strings.Contains(prefix, ":") || err == nil {
			addr, err := netip.ParseAddr(prefix)
			assert.Equal(t, err == nil && addr.Is6(), uri.Valid("x://["+prefix+"]"), "%q", prefix)
		}
		if left == 0 {
			return
		}
		for _, p := range parts {
			build(prefix+":"+p, left-1)
		}
	}
	for _, p := range parts {
		build(p, 3)
	}
	for _, long := range []string{"1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "1::3:4:5:6:7:8", "1:2:3:4::5:6:7:8", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:7:1.2.3.4", "1:2:3:4:5::1.2.3.4", "::1:2:3:4:5:6:1.2.3.4", "1::2::3"} {
		_, err := netip.ParseAddr(long)
		assert.Equal(t, err == nil, uri.Valid("x://["+long+"]"), long)
	}
}
