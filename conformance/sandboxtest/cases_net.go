package sandboxtest

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// confines skips the rest when the report does not claim the mode.
func (s *suite) confines(t *testing.T, mode sandbox.NetworkMode) {
	report, err := s.box.Preflight(context.Background())
	require.NoError(t, err)
	if !report.Confines(mode) {
		t.Skipf("the report does not list network %s", mode)
	}
	require.NotNil(t, s.Network, "the report lists network %s: the Harness needs a Network", mode)
}

// online is a Spec with a network and roomy caps.
func (s *suite) online(t *testing.T, n sandbox.Network, verbs ...string) sandbox.Spec {
	spec := s.spec(s.Host.TempDir(t), r, verbs...)
	n.Connections, n.Bytes = 100, 1<<30
	spec.Network = n
	return spec
}

// outcome runs a Spec to its end and returns what became of the verbs, and the result.
func (s *suite) outcome(t *testing.T, spec sandbox.Spec) (map[string]string, sandbox.Result) {
	t.Helper()
	res, err := s.box.Run(context.Background(), spec)
	require.NoError(t, err)
	require.Equal(t, sandbox.EndExited, res.End, "stderr: %s", res.Stderr.Head)
	require.Zero(t, res.ExitCode, "stderr: %s", res.Stderr.Head)
	return outcomes(res), res
}

func loop(host string, port uint16) string { return net.JoinHostPort(host, strconv.Itoa(int(port))) }

func flowOf(flows []sandbox.Flow, host string, port uint16, v sandbox.Verdict) (f sandbox.Flow) {
	for _, f := range flows {
		if f.Host == host && f.Port == port && f.Verdict == v {
			return f
		}
	}
	return f
}

func (s *suite) networkLocal(t *testing.T) { // NET-02, SEC-INV-06, AT-11
	s.confines(t, sandbox.NetworkLocal)
	port, v6 := s.Network.Echo(t)
	hidden, _ := s.Network.Echo(t)
	quiet := s.Network.Free(t)
	list := sandbox.Network{Mode: sandbox.NetworkLocal, Ports: []uint16{port, quiet}}
	hosts := []string{"127.0.0.1"}
	if v6 {
		hosts = append(hosts, "::1")
	}
	for _, host := range hosts {
		t.Run("listed/"+host, func(t *testing.T) {
			big, none, fan := fmt.Sprintf("echo|%s|30000000", loop(host, port)), fmt.Sprintf("echo|%s|0", loop(host, port)), fmt.Sprintf("fan|%s|50", loop(host, port))
			got, res := s.outcome(t, s.online(t, list, big, none, fan))
			assert.Equal(t, "ok", got[big], "30 MB there and back, each end of stream passed on")
			assert.Equal(t, "ok", got[none])
			assert.Equal(t, "50", got[fan])
			if s.cannot(GapFlows) {
				return
			}
			f := flowOf(res.Flows, host, port, sandbox.FlowConnected)
			assert.Equal(t, 52, f.Connections)
			assert.EqualValues(t, 30_000_000+50*5, f.Sent)
			assert.EqualValues(t, 30_000_000+50*5, f.Received)
			assert.Equal(t, host, f.Address)
			assert.Empty(t, f.Reason)
			assert.Len(t, res.Flows, 1)
		})
		t.Run("nobody listens/"+host, func(t *testing.T) {
			verb := "dial|tcp|" + loop(host, quiet)
			got, res := s.outcome(t, s.online(t, list, verb))
			assert.Equal(t, "refused", got[verb])
			if s.cannot(GapFlows) {
				return
			}
			assert.Equal(t, 1, flowOf(res.Flows, host, quiet, sandbox.FlowRefused).Connections)
			assert.Empty(t, res.Denials, "it is listed: nothing was denied")
		})
		t.Run("not listed/"+host, func(t *testing.T) {
			verb := "dial|tcp|" + loop(host, hidden)
			got, res := s.outcome(t, s.online(t, list, verb))
			assert.Contains(t, []string{"refused", "unreachable", "denied"}, got[verb])
			assert.Empty(t, res.Flows)
			if s.cannot(GapFlows) {
				return
			}
			assert.Equal(t, []sandbox.Denial{{Target: loop(host, hidden), Right: "network", Reason: sandbox.CodeNotListed, Times: 1, Seen: true}}, res.Denials)
		})
	}
	t.Run("other addresses", func(t *testing.T) { // never the LAN
		var verbs []string
		for _, a := range append(ownAddresses(), "192.0.2.1", "10.0.0.1", "8.8.8.8", "169.254.169.254", "2001:db8::1", "127.0.0.2", "127.77.0.1") {
			verbs = append(verbs, "dial|tcp|"+loop(a, port))
		}
		got, res := s.outcome(t, s.online(t, list, verbs...))
		for _, v := range verbs {
			assert.Contains(t, []string{"refused", "unreachable", "denied"}, got[v], v)
		}
		assert.Empty(t, res.Flows)
		if !s.cannot(GapFlows) {
			assert.Len(t, res.Denials, len(verbs))
		}
	})
	t.Run("other sockets", func(t *testing.T) {
		verb := "dial|unix|" + s.Host.TempDir(t) + "/s"
		got, _ := s.outcome(t, s.online(t, list, verb, "own"))
		assert.Equal(t, "denied", got[verb])
		if s.cannot(GapLoopback) {
			assert.Equal(t, "denied", got["own"])
		} else {
			assert.Equal(t, "ok", got["own"], "the tree's own loopback is its own")
		}
	})
	if !s.cannot(GapFlows) {
		t.Run("caps", func(t *testing.T) { s.caps(t, list, "127.0.0.1", port) })
		t.Run("told at once", func(t *testing.T) { s.told(t, list, "127.0.0.1", port) })
	}
	if s.Real {
		t.Run("descendants", func(t *testing.T) { // PRC-07
			verb := fmt.Sprintf("echo|%s|100000", loop("127.0.0.1", port))
			no := "dial|tcp|" + loop("127.0.0.1", hidden)
			got, res := s.outcome(t, s.online(t, list, "below|"+verb, "below|below|"+verb, "below|"+no))
			assert.Equal(t, "ok", got["below|"+verb])
			assert.Equal(t, "ok", got["below|below|"+verb])
			assert.Contains(t, []string{"refused", "denied"}, got["below|"+no])
			if s.cannot(GapFlows) {
				return
			}
			assert.EqualValues(t, 200_000, flowOf(res.Flows, "127.0.0.1", port, sandbox.FlowConnected).Received)
		})
	}
}

// caps: one connection more than may be open is refused, and no byte more than may be moved is moved.
func (s *suite) caps(t *testing.T, list sandbox.Network, host string, port uint16) {
	fan := fmt.Sprintf("fan|%s|8", loop(host, port))
	spec := s.online(t, list, fan)
	spec.Network.Connections = 3
	got, res := s.outcome(t, spec)
	assert.Equal(t, "3", got[fan])
	assert.Equal(t, 3, flowOf(res.Flows, host, port, sandbox.FlowConnected).Connections)
	denied := flowOf(res.Flows, host, port, sandbox.FlowDenied)
	assert.Equal(t, 5, denied.Connections)
	assert.Equal(t, sandbox.CodeFlowLimit, denied.Reason)
	assert.True(t, slices.ContainsFunc(res.Denials, func(d sandbox.Denial) bool { return d.Reason == sandbox.CodeFlowLimit }))

	small, big := fmt.Sprintf("echo|%s|1000", loop(host, port)), fmt.Sprintf("echo|%s|5000000", loop(host, port))
	spec = s.online(t, list, small, big)
	spec.Network.Bytes = 1_000_000
	got, res = s.outcome(t, spec)
	assert.Equal(t, "ok", got[small])
	assert.NotEqual(t, "ok", got[big])
	cut := flowOf(res.Flows, host, port, sandbox.FlowCut)
	assert.Equal(t, 1, cut.Connections)
	assert.Equal(t, sandbox.CodeFlowLimit, cut.Reason)
	var moved int64
	for _, f := range res.Flows {
		moved += f.Sent + f.Received
	}
	assert.LessOrEqual(t, moved, spec.Network.Bytes)
	assert.Equal(t, 1, flowOf(res.Flows, host, port, sandbox.FlowConnected).Connections, "the one that was cut is told as cut alone")
}

// told: OnFlow hears of the first connection to an endpoint with a verdict, once, before Run returns.
func (s *suite) told(t *testing.T, list sandbox.Network, host string, port uint16) {
	verb := fmt.Sprintf("echo|%s|10", loop(host, port))
	spec := s.online(t, list, verb, verb, verb)
	var mu sync.Mutex
	var heard []sandbox.Flow
	spec.OnFlow = func(f sandbox.Flow) {
		mu.Lock()
		defer mu.Unlock()
		heard = append(heard, f)
	}
	_, res := s.outcome(t, spec)
	require.Len(t, heard, 1)
	assert.Equal(t, host, heard[0].Host)
	assert.Equal(t, sandbox.FlowConnected, heard[0].Verdict)
	assert.Equal(t, 3, flowOf(res.Flows, host, port, sandbox.FlowConnected).Connections)
}

func ownAddresses() (out []string) {
	all, _ := net.InterfaceAddrs()
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && !n.IP.IsLinkLocalUnicast() {
			out = append(out, n.IP.String())
		}
	}
	return out
}

func (s *suite) networkRestricted(t *testing.T) { // NET-03, SEC-INV-07
	s.confines(t, sandbox.NetworkRestricted)
	if s.cannot(GapFlows) {
		s.restrictedByFilter(t)
		return
	}
	server, server6 := netip.MustParseAddrPort("203.0.113.10:443"), netip.MustParseAddrPort("[2001:db8::10]:443")
	s.Network.Outside(t, server)
	s.Network.Outside(t, server6)
	loopback, _ := s.Network.Echo(t)
	addr := netip.MustParseAddr
	names := map[string][]netip.Addr{
		"api.example": {server.Addr()}, "six.example": {server6.Addr()}, "second.example": {addr("203.0.113.99"), server.Addr()},
		"mixed.example": {addr("127.0.0.1"), server.Addr()},
	}
	bad := map[string]string{
		"loop.example": "127.0.0.1", "loop6.example": "::1", "mapped.example": "::ffff:127.0.0.1", "meta.example": "169.254.169.254", "meta6.example": "fd00:ec2::254",
		"link.example": "fe80::1", "nat.example": "64:ff9b::7f00:1", "any.example": "0.0.0.0", "six4.example": "2002:7f00:1::",
	}
	for i, own := range ownAddresses() {
		bad[fmt.Sprintf("own%d.example", i)] = own
	}
	for name, a := range bad {
		names[name] = []netip.Addr{addr(a)}
	}
	list := sandbox.Network{Mode: sandbox.NetworkRestricted, Hosts: []string{"lost.example:443", "203.0.113.10:443", "[2001:db8::10]:443", "203.0.113.77:443"}}
	for name, a := range names {
		s.Network.Name(name, a...)
		list.Hosts = append(list.Hosts, name+":443")
		if _, is := bad[name]; is {
			list.Hosts = append(list.Hosts, loop(name, loopback))
		}
	}
	slices.Sort(list.Hosts)
	s.Network.Name("unlisted.example", server.Addr())

	t.Run("listed", func(t *testing.T) {
		for host, address := range map[string]string{
			"api.example": "203.0.113.10", "six.example": "2001:db8::10", "second.example": "203.0.113.10", "mixed.example": "203.0.113.10",
			"203.0.113.10": "203.0.113.10", "2001:db8::10": "2001:db8::10",
		} {
			t.Run(host, func(t *testing.T) {
				big, fan := fmt.Sprintf("echo|%s|3000000", loop(host, 443)), fmt.Sprintf("fan|%s|10", loop(host, 443))
				got, res := s.outcome(t, s.online(t, list, big, fan))
				assert.Equal(t, "ok", got[big])
				assert.Equal(t, "10", got[fan])
				f := flowOf(res.Flows, host, 443, sandbox.FlowConnected)
				assert.Equal(t, address, f.Address)
				assert.Equal(t, 11, f.Connections)
				assert.EqualValues(t, 3_000_050, f.Sent)
				assert.EqualValues(t, 3_000_050, f.Received)
				assert.Empty(t, res.Denials)
			})
		}
	})
	t.Run("no answer", func(t *testing.T) {
		for _, host := range []string{"203.0.113.77", "lost.example"} {
			verb := fmt.Sprintf("echo|%s|1", loop(host, 443)) // an adapter that answers late may open, and then resets
			got, res := s.outcome(t, s.online(t, list, verb))
			assert.NotEqual(t, "ok", got[verb])
			f := flowOf(res.Flows, host, 443, sandbox.FlowFailed)
			assert.Positive(t, f.Connections)
			assert.Equal(t, sandbox.CodeNoAnswer, f.Reason)
		}
	})
	t.Run("judged", func(t *testing.T) { // every way to this machine, its link, and metadata
		var verbs []string
		for name := range bad {
			verbs = append(verbs, "dial|tcp|"+loop(name, 443), "dial|tcp|"+loop(name, loopback))
		}
		got, res := s.outcome(t, s.online(t, list, verbs...))
		for _, v := range verbs {
			assert.Equal(t, "denied", got[v], v)
		}
		assert.Len(t, res.Flows, len(verbs))
		for _, f := range res.Flows {
			assert.Equal(t, sandbox.FlowDenied, f.Verdict, f)
			assert.Equal(t, sandbox.CodeAddress, f.Reason, f)
			assert.Equal(t, addr(bad[f.Host]), addr(f.Address), f)
		}
		for _, d := range res.Denials {
			assert.Equal(t, []any{sandbox.CodeAddress, "network", true}, []any{d.Reason, d.Right, d.Seen}, d)
		}
		assert.Len(t, res.Denials, len(verbs))
		for _, at := range s.Network.Dialed() {
			assert.True(t, slices.Contains([]string{"203.0.113.10", "203.0.113.99", "203.0.113.77", "2001:db8::10"}, at.Addr().String()), "dialled %s", at)
		}
	})
	t.Run("not listed", func(t *testing.T) {
		verbs := []string{"dial|tcp|203.0.113.10:80", "dial|tcp|203.0.113.11:443", "dial|tcp|8.8.8.8:53", "dial|tcp|[2001:db8::11]:443", "dial|tcp|" + loop("127.0.0.1", loopback)}
		got, res := s.outcome(t, s.online(t, list, append([]string{"resolve|unlisted.example", "dial|tcp|api.example:80"}, verbs...)...))
		for _, v := range append(verbs, "dial|tcp|api.example:80") {
			assert.Contains(t, []string{"refused", "unreachable", "denied"}, got[v], v)
		}
		assert.Equal(t, "unknown name", got["resolve|unlisted.example"])
		assert.Empty(t, res.Flows)
		for _, v := range verbs {
			target := strings.TrimPrefix(v, "dial|tcp|")
			assert.True(t, slices.ContainsFunc(res.Denials, func(d sandbox.Denial) bool {
				return d.Target == target && d.Reason == sandbox.CodeNotListed && d.Right == "network"
			}), target)
		}
	})
	t.Run("caps", func(t *testing.T) { s.caps(t, list, "api.example", 443) })
	t.Run("told at once", func(t *testing.T) { s.told(t, list, "api.example", 443) })
	s.plainHosts(t)
}

func (s *suite) plainHosts(t *testing.T) {
	t.Run("hosts are plain", func(t *testing.T) { // NET-03, NET-04
		for _, host := range []string{"api.example", "api.example:0", "*.example:443", "a b:1", "a\n127.0.0.1 b:1", "http://x:1", "::1:443", "localhost:80"} {
			spec := s.online(t, sandbox.Network{Mode: sandbox.NetworkRestricted, Hosts: []string{host}})
			assert.Equal(t, sandbox.CodeBadSpec, s.refused(t, spec)[0], host)
		}
	})
}

// restrictedByFilter is what can be seen of an adapter whose programs connect themselves: what is not listed, and what a
// listed name must not lead to, is denied. That listed hosts answer takes the real internet.
func (s *suite) restrictedByFilter(t *testing.T) {
	loopback, _ := s.Network.Echo(t)
	s.Network.Name("loop.example", netip.MustParseAddr("127.0.0.1"))
	s.Network.Name("meta.example", netip.MustParseAddr("169.254.169.254"))
	list := sandbox.Network{Mode: sandbox.NetworkRestricted, Hosts: []string{"203.0.113.10:443", loop("loop.example", loopback), "meta.example:80"}}
	verbs := []string{
		"dial|tcp|203.0.113.10:80", "dial|tcp|203.0.113.11:443", "dial|tcp|8.8.8.8:53", "dial|udp|203.0.113.10:443", "dial|tcp|169.254.169.254:80",
		"dial|tcp|" + loop("127.0.0.1", loopback),
	}
	got, res := s.outcome(t, s.online(t, list, verbs...))
	for _, v := range verbs {
		assert.Equal(t, "denied", got[v], v)
	}
	for host, want := range map[string]string{"loop.example": "127.0.0.1", "meta.example": "169.254.169.254"} {
		assert.True(t, slices.ContainsFunc(res.Flows, func(f sandbox.Flow) bool {
			return f.Host == host && f.Verdict == sandbox.FlowDenied && f.Reason == sandbox.CodeAddress && f.Address == want
		}), host)
	}
	s.plainHosts(t)
}
