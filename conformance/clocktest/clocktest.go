// Package clocktest is the contract of ports/clock: every Clock passes Run.
package clocktest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agent-mcp/agent-mcp/ports/clock"
)

// Setup makes a clock. pass lets at least d go by on it; a real clock waits.
type Setup func(t *testing.T) (c clock.Clock, pass func(d time.Duration))

// Run checks the contract. It waits at most a few milliseconds on a real clock.
func Run(t *testing.T, setup Setup) {
	t.Helper()
	const d = time.Millisecond
	t.Run("time goes on and never back", func(t *testing.T) {
		c, pass := setup(t)
		a := c.Now()
		pass(d)
		b := c.Now()
		assert.GreaterOrEqual(t, b.Sub(a), d)
		assert.Equal(t, time.UTC, a.Location())
	})
	t.Run("After delivers once, not before its time", func(t *testing.T) {
		c, pass := setup(t)
		start := c.Now()
		fired, stop := c.After(d)
		defer stop()
		pass(d)
		at := <-fired
		assert.GreaterOrEqual(t, at.Sub(start), d)
		select {
		case <-fired:
			t.Error("delivered twice")
		default:
		}
	})
	t.Run("no time is no wait", func(t *testing.T) {
		c, _ := setup(t)
		for _, d := range []time.Duration{0, -time.Hour} {
			fired, stop := c.After(d)
			<-fired
			stop()
		}
	})
	t.Run("a stopped timer stays silent", func(t *testing.T) {
		c, pass := setup(t)
		fired, stop := c.After(time.Hour)
		stop()
		stop()
		pass(d)
		select {
		case <-fired:
			t.Error("fired after it was stopped")
		default:
		}
	})
}
