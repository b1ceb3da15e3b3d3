package fake_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agent-mcp/agent-mcp/adapters/clock/fake"
	"github.com/agent-mcp/agent-mcp/conformance/clocktest"
	"github.com/agent-mcp/agent-mcp/ports/clock"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func TestClock_Contract(t *testing.T) {
	clocktest.Run(t, func(*testing.T) (clock.Clock, func(time.Duration)) {
		c := fake.New(start)
		return c, c.Advance
	})
}

func TestAdvance_FiresWhatIsDue(t *testing.T) {
	c := fake.New(start)
	late, _ := c.After(2 * time.Second)
	early, _ := c.After(time.Second)
	c.Advance(time.Second)
	assert.Equal(t, start.Add(time.Second), <-early)
	assert.Empty(t, late)
	c.Advance(time.Hour)
	assert.Len(t, late, 1)
	assert.Panics(t, func() { c.Advance(-1) })
}

func TestAwaitWaiters_TellsThatTheOtherSideSleeps(t *testing.T) {
	c := fake.New(start)
	done := make(chan struct{})
	go func() {
		fired, _ := c.After(time.Minute)
		<-fired
		close(done)
	}()
	c.AwaitWaiters(1)
	c.Advance(time.Minute)
	<-done
	c.AwaitWaiters(0)
}
