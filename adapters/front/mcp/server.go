package mcp

import (
	"time"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/trace"
)

// Server serves the two MCP Tools. Safe for concurrent use.
type Server struct {
	core   *core
	limits Limits
	owner  string
	ready  func()
}

// New makes a server. A missing Runner, Catalog, Name or Version is a programmer's mistake and panics.
func New(o Options) *Server {
	if o.Runner == nil || o.Catalog == nil || o.Name == "" || o.Version == "" {
		panic("mcp: Runner, Catalog, Name and Version are required")
	}
	if o.Trace == nil {
		o.Trace = discard{}
	}
	if o.Ready == nil {
		o.Ready = func() {}
	}
	o.Limits = o.Limits.withDefaults()
	return &Server{core: newCore(o, noTasks{}), limits: o.Limits, owner: o.OwnerID, ready: o.Ready}
}

type discard struct{}

func (discard) Emit(trace.Event) {}

// note emits an event of the app log. Fields never hold parameters of a request (OBS-04).
func (c *core) note(level trace.Level, name string, fields ...trace.Field) {
	c.trace.Emit(trace.Event{At: time.Now(), Stream: trace.App, Level: level, Name: name, Fields: fields})
}

// render gives the text of a protocol error.
func (c *core) render(f *fault.Error) string { return c.catalog.Fault(f) }

// refusal gives the text of a tool result that is an error: its code, which is the same in every language, and its text.
func (c *core) refusal(f *fault.Error) string {
	return "[" + string(f.Code) + "] " + c.catalog.Fault(f)
}
