// Package mem hands out the turn inside one process (ports/turn), in order of asking: for tests and embedding. It knows
// nothing of other processes.
package mem

import (
	"context"
	"slices"
	"sync"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/turn"
)

// Turn is one turn. Safe for concurrent use.
type Turn struct {
	mu     sync.Mutex
	held   bool
	holder turn.Holder
	queue  []*waiter
}

type waiter struct {
	me      turn.Holder
	granted chan struct{}
	seen    chan turn.Holder // latest holder only
}

var _ turn.Turn = (*Turn)(nil)

// New returns a free turn.
func New() *Turn { return &Turn{} }

// Acquire waits for the turn; the first to ask is the first to get it.
func (t *Turn) Acquire(ctx context.Context, me turn.Holder, onWait func(turn.Holder)) (func(), error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.From(err)
	}
	t.mu.Lock()
	if !t.held {
		t.held, t.holder = true, me
		t.mu.Unlock()
		return t.releaser(), nil
	}
	w := &waiter{me: me, granted: make(chan struct{}), seen: make(chan turn.Holder, 1)}
	w.seen <- t.holder
	t.queue = append(t.queue, w)
	t.mu.Unlock()

	for {
		select {
		case <-w.granted:
			return t.releaser(), nil
		case h := <-w.seen:
			if onWait != nil {
				onWait(h)
			}
		case <-ctx.Done():
			return t.giveUp(ctx, w)
		}
	}
}

func (t *Turn) giveUp(ctx context.Context, w *waiter) (func(), error) {
	t.mu.Lock()
	i := slices.Index(t.queue, w)
	if i >= 0 {
		t.queue = slices.Delete(t.queue, i, i+1)
	}
	t.mu.Unlock()
	if i < 0 { // granted in the same moment: hand it on
		t.releaser()()
	}
	return nil, fault.From(ctx.Err())
}

func (t *Turn) releaser() func() {
	var once sync.Once
	return func() { once.Do(t.next) }
}

func (t *Turn) next() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.queue) == 0 {
		t.held, t.holder = false, turn.Holder{}
		return
	}
	w := t.queue[0]
	t.queue = t.queue[1:]
	t.holder = w.me
	close(w.granted)
	for _, o := range t.queue {
		select {
		case <-o.seen:
		default:
		}
		o.seen <- t.holder
	}
}
