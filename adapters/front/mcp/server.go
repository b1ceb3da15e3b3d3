package mcp

import (
	"context"
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

// New makes a server. A missing Runner, Catalog, Name or Version is a programmer's mistake and panics. The error is the store's,
// whose records of earlier servers are settled here (MCP-2026-07).
func New(o Options) (*Server, error) {
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
	s := &Server{core: newCore(o), limits: o.Limits, owner: o.OwnerID, ready: o.Ready}
	if o.Tasks == nil {
		return s, nil
	}
	w := runnerWork{o.Runner, func(text string) any { return s.core.result(&request{meta: meta{declared: true}}, text, false) }, s.core.cut}
	return s, s.core.follow(*o.Tasks, w)
}

// Settle records how every Task ended. Call it when the Runner's work is over, before the store is closed.
func (s *Server) Settle(ctx context.Context) error {
	if s.core.ext == nil {
		return nil
	}
	return s.core.ext.settle(ctx)
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
