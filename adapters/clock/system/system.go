// Package system is the clock of the operating system (ports/clock). It never sleeps and keeps no state.
package system

import (
	"time"

	"github.com/agent-mcp/agent-mcp/ports/clock"
)

// Clock tells the machine's time in UTC, with the monotonic reading that makes differences safe.
type Clock struct{}

var _ clock.Clock = Clock{}

// New returns the system's clock.
func New() Clock { return Clock{} }

// Now is the present time in UTC.
func (Clock) Now() time.Time { return time.Now().UTC() }

// After delivers once after d; a d of zero or less delivers at once.
func (Clock) After(d time.Duration) (fired <-chan time.Time, stop func()) {
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
}
