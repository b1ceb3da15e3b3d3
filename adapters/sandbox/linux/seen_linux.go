package linux

import (
	"net/netip"
	"sync"

	"github.com/agent-mcp/agent-mcp/adapters/sandbox/linux/internal/filter"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// mostAddresses is how many denied addresses are told one by one; the others are counted together.
const mostAddresses = 64

// seen counts what was refused, in places that exist from the start: a flood neither takes memory nor pushes out what
// others were refused. Refused calls have one place for each kind.
type seen struct {
	mu        sync.Mutex
	calls     []int
	addresses [mostAddresses]seenAddress
	used      int
	more      int
}

type seenAddress struct {
	at    netip.AddrPort
	times int
}

func newSeen() *seen { return &seen{calls: make([]int, len(filter.Kinds()))} }

func (s *seen) call(kind int) {
	s.mu.Lock()
	s.calls[kind]++
	s.mu.Unlock()
}

func (s *seen) address(at netip.AddrPort) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.addresses[:s.used] {
		if s.addresses[i].at == at {
			s.addresses[i].times++
			return
		}
	}
	if s.used == len(s.addresses) {
		s.more++
		return
	}
	s.addresses[s.used] = seenAddress{at, 1}
	s.used++
}

// forget takes back what was counted for an address: a program of the tree came to listen there.
func (s *seen) forget(at netip.AddrPort) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.addresses[:s.used] {
		if s.addresses[i].at == at {
			copy(s.addresses[i:s.used], s.addresses[i+1:s.used])
			s.used--
			return
		}
	}
}

// denials tells what was counted.
func (s *seen) denials() (out []sandbox.Denial) {
	s.mu.Lock()
	defer s.mu.Unlock()
	network := func(target string, times int) {
		out = append(out, sandbox.Denial{Target: target, Right: "network", Reason: sandbox.CodeNotListed, Times: times, Seen: true})
	}
	for kind, times := range s.calls {
		if times == 0 {
			continue
		}
		if k := filter.Kinds()[kind]; k.Network {
			network(k.Target, times)
		} else {
			out = append(out, sandbox.Denial{Target: k.Target, Right: "system", Reason: sandbox.CodeSystemCall, Times: times, Seen: true})
		}
	}
	lookups := 0
	for _, a := range s.addresses[:s.used] {
		if a.at.Port() == 53 && a.at.Addr().IsLoopback() {
			lookups += a.times // how a name that is not listed ends: there is no server to ask
			continue
		}
		network(a.at.String(), a.times)
	}
	if lookups > 0 {
		network("name lookup", lookups)
	}
	if s.more > 0 {
		network("other addresses", s.more)
	}
	return out
}
