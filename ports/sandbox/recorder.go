package sandbox

import (
	"context"

	"github.com/agent-mcp/agent-mcp/ports/journal"
)

// Recorder is a Sandbox that makes things on the host which outlive a killed Broker.
type Recorder interface {
	// Record puts whatever is made from now on in the journal before it exists (REC-06), and removes what was made without.
	// The returned function removes it all again and ends the record; it waits for the runs that use it. Both may be called
	// again. Safe for concurrent use.
	Record(guard journal.Guard) (stop func() error)
}

// Settler is a Sandbox that keeps things on the host from one run to the next, because making them is slow.
type Settler interface {
	// Settle takes them back; call it when a Task ends, whatever its end (PRF-02). It waits for the runs that use them. What
	// it cannot take back stays in the journal, and is a fault. Later runs make them again. Safe for concurrent use.
	Settle(ctx context.Context) error
}
