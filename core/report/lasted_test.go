package report_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agent-mcp/agent-mcp/core/report"
)

func TestLasted(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "duration.seconds seconds=0", 499 * time.Millisecond: "duration.seconds seconds=0", 59 * time.Second: "duration.seconds seconds=59",
		59600 * time.Millisecond: "duration.minutes minutes=1 seconds=0", 3599 * time.Second: "duration.minutes minutes=59 seconds=59",
		time.Hour: "duration.hours hours=1 minutes=0", 90*time.Hour + 5*time.Minute + 59*time.Second: "duration.hours hours=90 minutes=5",
	} {
		assert.Equal(t, want, report.Lasted(words{}, d), d)
	}
}
