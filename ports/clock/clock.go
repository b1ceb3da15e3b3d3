// Package clock is the port to time. Only app uses it; core gets times as data.
package clock

import "time"

// Clock tells the time and waits.
type Clock interface {
	Now() time.Time
	// After delivers once after d. The stop function releases it early.
	After(d time.Duration) (fired <-chan time.Time, stop func())
}
