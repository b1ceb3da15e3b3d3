package mcp

import (
	"context"
	"sync"
)

// order lets the agent_run calls of one connection reach the Runner in the order in which they were read, however they
// are scheduled: a script that pipes two of them gets its Tasks in that order (spec section 2, FIFO).
type order struct {
	mu    sync.Mutex
	queue []*turn
}

// turn is a place in the order.
type turn struct {
	order *order
	ready chan struct{} // closed when it is the first
	once  sync.Once
}

// take gives the next place.
func (o *order) take() *turn {
	o.mu.Lock()
	defer o.mu.Unlock()
	t := &turn{order: o, ready: make(chan struct{})}
	if o.queue = append(o.queue, t); len(o.queue) == 1 {
		close(t.ready)
	}
	return t
}

// await returns when every earlier turn has left, or with the error of ctx. A nil turn never waits.
func (t *turn) await(ctx context.Context) error {
	if t == nil {
		return nil
	}
	select {
	case <-t.ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// leave gives the place up; it may be called again, and on a nil turn.
func (t *turn) leave() {
	if t == nil {
		return
	}
	t.once.Do(func() {
		t.order.mu.Lock()
		defer t.order.mu.Unlock()
		q := t.order.queue
		for i := range q {
			if q[i] != t {
				continue
			}
			copy(q[i:], q[i+1:])
			q[len(q)-1] = nil
			t.order.queue = q[:len(q)-1]
			if i == 0 && len(t.order.queue) > 0 {
				close(t.order.queue[0].ready)
			}
			return
		}
	})
}
