package report

import (
	"time"

	"github.com/agent-mcp/agent-mcp/ports/text"
)

// Texts of a duration.
const (
	keySeconds text.Key = "duration.seconds" // seconds
	keyMinutes text.Key = "duration.minutes" // minutes, seconds
	keyHours   text.Key = "duration.hours"   // hours, minutes
)

// Lasted writes a duration for people, in its two greatest units.
func Lasted(cat text.Catalog, d time.Duration) string {
	s := int64(max(d, 0).Round(time.Second) / time.Second)
	switch {
	case s < 60:
		return cat.Text(keySeconds, map[string]any{"seconds": s})
	case s < 3600:
		return cat.Text(keyMinutes, map[string]any{"minutes": s / 60, "seconds": s % 60})
	}
	return cat.Text(keyHours, map[string]any{"hours": s / 3600, "minutes": s % 3600 / 60})
}
