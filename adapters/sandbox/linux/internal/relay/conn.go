package relay

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"

	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// conn is one connection of the tree with its twin on the host.
type conn struct {
	r              *Relay
	in, out        net.Conn // out is set with Relay.mu held
	ended          bool     // with Relay.mu held
	sent, received atomic.Int64
	cut            atomic.Bool
}

// serve waits for the twin and moves bytes until both directions end. A twin that does not come resets the connection.
func (c *conn) serve(d *dialing) {
	r := c.r
	<-d.done
	r.mu.Lock()
	twin := d.conn
	c.out, d.conn = twin, nil
	over := c.ended
	r.mu.Unlock()
	if twin == nil {
		abort(c.in)
		r.pumps.Done()
	} else {
		r.note(d.flow)
		if over {
			c.abort()
		}
		var back sync.WaitGroup
		back.Add(1)
		go func() {
			defer back.Done()
			c.pump(c.in, c.out, &c.received)
		}()
		c.pump(c.out, c.in, &c.sent)
		r.pumps.Done()
		back.Wait()
		_, _ = c.in.Close(), c.out.Close()
		r.done(d.flow, c)
	}
	r.mu.Lock()
	delete(r.conns, c)
	if twin != nil {
		r.open--
	}
	r.mu.Unlock()
}

var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// pump moves bytes one way. The end of the stream is passed on; an error ends both ways.
func (c *conn) pump(to, from net.Conn, count *atomic.Int64) {
	b := buffers.Get().(*[bufferSize]byte)
	defer buffers.Put(b)
	for {
		n, err := from.Read(b[:])
		if n > 0 {
			may := c.r.take(n)
			written, werr := to.Write(b[:may])
			count.Add(int64(written))
			if may < n {
				c.cut.Store(true)
				err = errCut
			} else if err == nil || errors.Is(err, io.EOF) && werr != nil {
				err = werr
			}
		}
		if errors.Is(err, io.EOF) {
			if h, ok := to.(interface{ CloseWrite() error }); ok {
				_ = h.CloseWrite()
			}
			return
		}
		if err != nil {
			c.abort()
			return
		}
	}
}

var errCut = errors.New("the run has moved all the bytes it may")

// take returns how many of n bytes may still be moved.
func (r *Relay) take(n int) int {
	for {
		left := r.bytes.Load()
		may := min(int64(n), max(left, 0))
		if r.bytes.CompareAndSwap(left, left-may) {
			return int(may)
		}
	}
}

// end ends the connection; Relay.mu is held.
func (c *conn) end(hard bool) {
	c.ended = true
	if hard {
		abort(c.in)
		abort(c.out)
		return
	}
	_ = c.in.Close()
	if c.out != nil {
		_ = c.out.Close()
	}
}

func (c *conn) abort() {
	abort(c.in)
	abort(c.out)
}

// abort resets a connection, so that its other end does not take what it got for the whole.
func abort(c net.Conn) {
	if c == nil {
		return
	}
	if l, ok := c.(interface{ SetLinger(sec int) error }); ok {
		_ = l.SetLinger(0)
	}
	_ = c.Close()
}

type flow struct {
	sandbox.Flow
	told bool
}

// at finds or makes the sum of flows with the same verdict; mu is held.
func (r *Relay) at(f sandbox.Flow) *flow {
	for _, have := range r.flows {
		if have.Host == f.Host && have.Port == f.Port && have.Verdict == f.Verdict && have.Reason == f.Reason {
			have.Address = f.Address
			return have
		}
	}
	n := &flow{Flow: f}
	n.Connections, n.Sent, n.Received = 0, 0, 0
	r.flows = append(r.flows, n)
	return n
}

// note counts one connection that got a verdict, and tells of the first.
func (r *Relay) note(f sandbox.Flow) {
	r.tell.Lock()
	defer r.tell.Unlock()
	r.mu.Lock()
	sum := r.at(f)
	sum.Connections++
	first := !sum.told
	sum.told = true
	out := sum.Flow
	r.mu.Unlock()
	if first && r.c.OnFlow != nil {
		r.c.OnFlow(out)
	}
}

// done adds what a connection moved. One that a cap ended changes its verdict.
func (r *Relay) done(f sandbox.Flow, c *conn) {
	if c.cut.Load() {
		r.mu.Lock()
		r.at(f).Connections--
		r.mu.Unlock()
		f.Verdict, f.Reason = sandbox.FlowCut, sandbox.CodeFlowLimit
		r.note(f)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	sum := r.at(f)
	sum.Sent += c.sent.Load()
	sum.Received += c.received.Load()
}

func (r *Relay) sums() (out []sandbox.Flow) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.flows {
		if f.Connections > 0 {
			out = append(out, f.Flow)
		}
	}
	return out
}
