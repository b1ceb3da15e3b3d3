// Package fake is a clock that moves only when a test says so (ports/clock).
//
// Time never passes by itself: Advance moves it and fires what became due, in order of due time. It is for tests and
// examples, never for a running product.
package fake

import (
	"slices"
	"sync"
	"time"

	"github.com/agent-mcp/agent-mcp/ports/clock"
)

// Clock is a hand-driven clock. Safe for concurrent use.
type Clock struct {
	mu      sync.Mutex
	changed *sync.Cond
	now     time.Time
	waiters []*waiter
}

type waiter struct {
	due time.Time
	ch  chan time.Time
}

var _ clock.Clock = (*Clock)(nil)

// New returns a clock that stands at start.
func New(start time.Time) *Clock {
	c := &Clock{now: start}
	c.changed = sync.NewCond(&c.mu)
	return c
}

// Now is the time the clock stands at.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// After delivers once when Advance has moved the clock by d; a d of zero or less delivers at once.
func (c *Clock) After(d time.Duration) (fired <-chan time.Time, stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := &waiter{due: c.now.Add(d), ch: make(chan time.Time, 1)}
	if d <= 0 {
		w.ch <- c.now
		return w.ch, func() {}
	}
	c.waiters = append(c.waiters, w)
	c.changed.Broadcast()
	return w.ch, func() { c.drop(w) }
}

// Advance moves the clock forward by d (not negative) and fires what became due.
func (c *Clock) Advance(d time.Duration) {
	if d < 0 {
		panic("fake clock: time does not go back")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	slices.SortStableFunc(c.waiters, func(a, b *waiter) int { return a.due.Compare(b.due) })
	for len(c.waiters) > 0 && !c.waiters[0].due.After(c.now) {
		c.waiters[0].ch <- c.now
		c.waiters = c.waiters[1:]
	}
	c.changed.Broadcast()
}

// AwaitWaiters returns once exactly n timers are waiting: the way for a test to know that the code under test sleeps.
func (c *Clock) AwaitWaiters(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.waiters) != n {
		c.changed.Wait()
	}
}

func (c *Clock) drop(w *waiter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiters = slices.DeleteFunc(c.waiters, func(o *waiter) bool { return o == w })
	c.changed.Broadcast()
}
