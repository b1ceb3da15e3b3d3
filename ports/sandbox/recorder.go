package sandbox

import "github.com/agent-mcp/agent-mcp/ports/journal"

// Recorder is a Sandbox that makes things on the host which outlive a killed Broker.
type Recorder interface {
	// Record puts whatever is made from now on in the journal before it exists (REC-06), and removes what was made without.
	// The returned function removes it all again and ends the record; it waits for the runs that use it. Both may be called
	// again. Safe for concurrent use.
	Record(guard journal.Guard) (stop func() error)
}
