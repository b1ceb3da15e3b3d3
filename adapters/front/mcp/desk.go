package mcp

import (
	"context"
	"errors"
	"sync"
)

// errIDInUse refuses an id that is not answered yet.
var errIDInUse = errors.New("id in use")

// desk holds the requests of one client between their arrival and their answer: so many worked on at once, so many more
// waiting in order, so many bytes in all. A cancelled one gets no answer.
type desk struct {
	inFlight, waitingMax, heldMax int

	mu      sync.Mutex
	calls   map[string]*call
	waiting []*call
	running int
	held    int
	closed  bool
	freed   chan struct{} // one token after something left
	idled   chan struct{} // one token after the last one left
	work    chan *call    // to workers that wait: a stack that has grown once is used again
	quit    chan struct{} // closed with the desk
}

type call struct {
	key       string
	cost      int
	ctx       context.Context
	cancel    context.CancelFunc
	cancelled bool // by the client
	work      func(*call)
	turn      *turn // nil = in no order
}

func newDesk(l Limits) *desk {
	return &desk{
		inFlight: l.InFlight, waitingMax: l.Waiting, heldMax: l.HeldBytes,
		calls: map[string]*call{}, freed: make(chan struct{}, 1), idled: make(chan struct{}, 1),
		work: make(chan *call), quit: make(chan struct{}),
	}
}

// submit has work done on c with a context of its own. It blocks while the desk is full (backpressure), until ctx ends.
func (d *desk) submit(ctx context.Context, c *call) error {
	for {
		d.mu.Lock()
		switch _, used := d.calls[c.key]; {
		case d.closed:
			d.mu.Unlock()
			return context.Canceled
		case used:
			d.mu.Unlock()
			return errIDInUse
		case d.roomFor(c.cost):
			d.begin(ctx, c)
			d.mu.Unlock()
			return nil
		}
		d.mu.Unlock()
		select {
		case <-d.freed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (d *desk) roomFor(cost int) bool {
	n := d.running + len(d.waiting)
	return n == 0 || n < d.inFlight+d.waitingMax && d.held+cost <= d.heldMax
}

// begin is called with mu held.
func (d *desk) begin(ctx context.Context, c *call) {
	c.ctx, c.cancel = context.WithCancel(ctx)
	d.calls[c.key] = c
	d.held += c.cost
	if d.running < d.inFlight {
		d.running++
		select {
		case d.work <- c:
		default:
			go d.serve(c)
		}
		return
	}
	d.waiting = append(d.waiting, c)
}

// serve works on a call, then on those that wait, then waits for more until the desk is closed.
func (d *desk) serve(c *call) {
	for c != nil {
		c.work(c)
		if c = d.next(c); c != nil {
			continue
		}
		select {
		case c = <-d.work:
		case <-d.quit:
		}
	}
}

// next ends a call and takes the first that waits; nil when there is none.
func (d *desk) next(done *call) *call {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.leave(done)
	if d.closed {
		for _, c := range d.waiting {
			d.leave(c)
		}
		d.waiting = nil
	}
	if len(d.waiting) == 0 {
		if d.running--; d.running == 0 {
			signal(d.idled)
		}
		return nil
	}
	c := d.waiting[0]
	d.waiting[0] = nil
	d.waiting = d.waiting[1:]
	return c
}

// leave is called with mu held.
func (d *desk) leave(c *call) {
	c.cancel()
	c.turn.leave()
	d.held -= c.cost
	if d.calls[c.key] == c {
		delete(d.calls, c.key)
	}
	signal(d.freed)
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// claim takes the right to answer a call; false when the client has cancelled it. After it the id may be used again.
func (d *desk) claim(c *call) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.calls[c.key] == c {
		delete(d.calls, c.key)
	}
	return !c.cancelled
}

// cancel is the client's: nothing more is sent for that id. A call that waits is dropped. Unknown ids are ignored.
func (d *desk) cancel(key string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.calls[key]
	if c == nil {
		return
	}
	c.cancelled = true
	c.cancel()
	c.turn.leave() // nobody waits for what is cancelled
	for i, w := range d.waiting {
		if w == c {
			d.waiting = append(d.waiting[:i], d.waiting[i+1:]...)
			d.leave(c)
			return
		}
	}
}

// drain waits until every call is done; false when stop came first.
func (d *desk) drain(stop <-chan struct{}) bool {
	for {
		d.mu.Lock()
		idle := d.running == 0
		d.mu.Unlock()
		if idle {
			return true
		}
		select {
		case <-d.idled:
		case <-stop:
			return false
		}
	}
}

// close drops what waits and accepts nothing more.
func (d *desk) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		d.closed = true
		close(d.quit)
	}
	for _, c := range d.waiting {
		d.leave(c)
	}
	d.waiting = nil
}
