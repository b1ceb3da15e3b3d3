package system_test

import (
	"testing"
	"time"

	"github.com/agent-mcp/agent-mcp/adapters/clock/system"
	"github.com/agent-mcp/agent-mcp/conformance/clocktest"
	"github.com/agent-mcp/agent-mcp/ports/clock"
)

func TestClock_Contract(t *testing.T) {
	clocktest.Run(t, func(*testing.T) (clock.Clock, func(time.Duration)) { return system.New(), time.Sleep })
}
