// Package relay moves bytes between listeners that programs of a sandbox reach and the endpoints that the owner listed
// (NET-02, NET-03). It resolves a name when it dials, judges every address, and dials the judged address itself. It counts
// what it moves, keeps the caps of the run, and never reads what is in it. It decides nothing about the list: who connects
// to listener i means endpoint i.
package relay

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// Resolver finds the addresses of a name; *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Dialer connects to an address; *net.Dialer is one.
type Dialer interface {
	DialContext(ctx context.Context, network, address string) (net.Conn, error)
}

// Endpoint is what one listener stands for.
type Endpoint struct {
	Host  string // a name or an address, as Flow.Host has it
	Port  uint16
	Local bool // an address of this machine's loopback, given as Host: mode local
}

// Config is all that a Relay needs. Every field is required but OnFlow.
type Config struct {
	Endpoints   []Endpoint
	Connections int   // open at once
	Bytes       int64 // over all, both directions
	Resolver    Resolver
	Dialer      Dialer
	Own         func() ([]netip.Addr, error) // this machine's addresses
	OnFlow      func(sandbox.Flow)
}

const (
	// DialWithin bounds one attempt to reach an endpoint, with all its addresses.
	DialWithin = 20 * time.Second
	keepDialed = 5 * time.Second // a connection that was dialled ahead and that nobody came for
	drain      = 2 * time.Second // what ended programs have sent may still reach its peer
	retryAfter = 10 * time.Millisecond
	bufferSize = 32 << 10
)

// Relay serves one run. Make it with New, end it with Close.
type Relay struct {
	c      Config
	life   context.Context
	cancel context.CancelFunc
	wait   sync.WaitGroup // everything
	pumps  sync.WaitGroup // what moves bytes out of the tree

	bytes atomic.Int64 // what may still be moved

	mu        sync.Mutex
	closed    bool
	open      int
	ahead     [][]*dialing // per endpoint: dialled for somebody who will connect
	conns     map[*conn]struct{}
	listeners []listener
	flows     []*flow

	tell sync.Mutex // OnFlow calls do not overlap
}

type listener struct {
	net.Listener
	waits func() bool
	done  chan struct{} // closed when nothing is accepted any more
}

// dialing is one attempt to reach an endpoint.
type dialing struct {
	done  chan struct{} // closed with the fields below set
	conn  net.Conn
	flow  sandbox.Flow // its verdict, without sums
	timer *time.Timer
}

// New makes a Relay that does nothing yet.
func New(c Config) *Relay {
	r := &Relay{c: c, ahead: make([][]*dialing, len(c.Endpoints)), conns: map[*conn]struct{}{}}
	r.life, r.cancel = context.WithCancel(context.Background())
	r.bytes.Store(c.Bytes)
	return r
}

// Serve accepts what comes for endpoint i until Close. It owns the listener. waits reports a connection that waits to be
// accepted.
func (r *Relay) Serve(i int, l net.Listener, waits func() bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		_ = l.Close()
		return
	}
	done := make(chan struct{})
	r.listeners = append(r.listeners, listener{l, waits, done})
	r.wait.Add(1)
	go func() {
		defer r.wait.Done()
		defer close(done)
		for {
			c, err := l.Accept()
			if err == nil {
				r.accepted(i, c)
				continue
			}
			if errors.Is(err, net.ErrClosed) {
				return
			}
			time.Sleep(retryAfter) // out of descriptors, or a connection that went away
		}
	}()
}

// Ask dials endpoint i for somebody who is about to connect to it, and calls answer once: with what became of it. A
// connection is kept for a while for the next one that Serve accepts.
func (r *Relay) Ask(i int, answer func(sandbox.Flow)) {
	r.mu.Lock()
	if r.closed || i < 0 || i >= len(r.c.Endpoints) {
		r.mu.Unlock()
		return
	}
	d := r.dial(i)
	r.ahead[i] = append(r.ahead[i], d)
	r.wait.Add(1)
	r.mu.Unlock()
	go func() {
		defer r.wait.Done()
		<-d.done
		r.mu.Lock()
		if at := slices.Index(r.ahead[i], d); at >= 0 {
			if d.conn == nil || r.life.Err() != nil {
				r.ahead[i] = slices.Delete(r.ahead[i], at, at+1)
				r.drop(d)
			} else {
				d.timer = time.AfterFunc(keepDialed, func() { r.expire(i, d) })
			}
		}
		r.mu.Unlock()
		answer(d.flow)
	}()
}

func (r *Relay) expire(i int, d *dialing) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at := slices.Index(r.ahead[i], d); at >= 0 {
		r.ahead[i] = slices.Delete(r.ahead[i], at, at+1)
		r.drop(d)
	}
}

// drop closes a finished attempt that nobody takes; mu is held.
func (r *Relay) drop(d *dialing) {
	if d.conn != nil {
		_ = d.conn.Close()
		d.conn = nil
		r.open--
	}
}

// accepted pairs a connection of the tree with one that was dialled ahead, or dials now.
func (r *Relay) accepted(i int, in net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.life.Err() != nil {
		abort(in)
		return
	}
	var d *dialing
	if waiting := r.ahead[i]; len(waiting) > 0 {
		d = waiting[0]
		r.ahead[i] = slices.Delete(waiting, 0, 1)
		if d.timer != nil {
			d.timer.Stop()
		}
	} else {
		d = r.dial(i)
	}
	c := &conn{r: r, in: in}
	r.conns[c] = struct{}{}
	r.wait.Add(1)
	r.pumps.Add(1)
	go func() {
		defer r.wait.Done()
		c.serve(d)
	}()
}

// dial starts an attempt within the caps; mu is held.
func (r *Relay) dial(i int) *dialing {
	e := r.c.Endpoints[i]
	d := &dialing{done: make(chan struct{}), flow: sandbox.Flow{Host: e.Host, Port: e.Port}}
	full := r.open >= r.c.Connections || r.bytes.Load() <= 0
	if !full {
		r.open++
	}
	r.wait.Add(1)
	go func() {
		defer r.wait.Done()
		defer close(d.done)
		if full {
			d.flow.Verdict, d.flow.Reason = sandbox.FlowDenied, sandbox.CodeFlowLimit
		} else {
			r.reach(e, d)
		}
		if d.conn != nil {
			return
		}
		if !full {
			r.mu.Lock()
			r.open--
			r.mu.Unlock()
		}
		r.note(d.flow)
	}()
	return d
}

// Close ends everything and returns the flows. With finish, the programs are gone by now, and what they sent is still
// passed on for a moment; without, all is cut.
func (r *Relay) Close(finish bool) []sandbox.Flow {
	r.mu.Lock()
	r.closed = true // Ask and Serve take nothing more
	listeners := r.listeners
	r.mu.Unlock()
	if finish {
		r.finish(listeners)
	}
	r.cancel()
	for _, l := range listeners {
		_ = l.Close()
	}
	r.mu.Lock()
	for i := range r.ahead {
		r.ahead[i] = slices.DeleteFunc(r.ahead[i], func(d *dialing) bool {
			if d.timer == nil { // not finished: Ask's goroutine drops it
				return false
			}
			d.timer.Stop()
			r.drop(d)
			return true
		})
	}
	for c := range r.conns {
		c.end(!finish)
	}
	r.mu.Unlock()
	r.wait.Wait()
	return r.sums()
}

// finish waits until what ended programs sent is on its way: connections that nobody accepted yet, then their bytes.
func (r *Relay) finish(listeners []listener) {
	until := time.Now().Add(drain)
	for _, l := range listeners {
		for l.waits() && time.Now().Before(until) {
			time.Sleep(100 * time.Microsecond)
		}
		_ = l.Close()
		<-l.done
	}
	done := make(chan struct{})
	r.wait.Add(1)
	go func() {
		defer r.wait.Done()
		r.pumps.Wait()
		close(done)
	}()
	t := time.NewTimer(time.Until(until))
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	}
}
