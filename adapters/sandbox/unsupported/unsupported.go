// Package unsupported is the sandbox for systems that have none: it says so and never runs anything (style rule 9:
// security fails closed; spec section 8).
package unsupported

import (
	"context"
	"runtime"
	"sync/atomic"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// Sandbox refuses every run. The zero value is ready.
type Sandbox struct{ closed atomic.Bool }

var _ sandbox.Sandbox = (*Sandbox)(nil)

// New returns a Sandbox that names this platform as what is missing.
func New() *Sandbox { return &Sandbox{} }

// Preflight implements sandbox.Sandbox: LevelNone, nothing enforced, and why.
func (s *Sandbox) Preflight(ctx context.Context) (sandbox.Report, error) {
	if err := ctx.Err(); err != nil {
		return sandbox.Report{}, fault.From(err)
	}
	if s.closed.Load() {
		return sandbox.Report{}, fault.New(sandbox.CodeClosed)
	}
	r := sandbox.Report{Platform: runtime.GOOS, Level: sandbox.LevelNone, Missing: []*fault.Error{missing()}}
	for _, item := range sandbox.Items() {
		r.Abilities = append(r.Abilities, sandbox.Ability{Item: item})
	}
	return r, nil
}

func missing() *fault.Error { return fault.New(sandbox.CodePlatform, "platform", runtime.GOOS) }

// Run implements sandbox.Sandbox: a wrong Spec is named, a right one is refused with CodeUnavailable.
func (s *Sandbox) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Result, error) {
	if s.closed.Load() {
		return sandbox.Result{}, fault.New(sandbox.CodeClosed)
	}
	if err := ctx.Err(); err != nil {
		return sandbox.Result{}, fault.From(err)
	}
	if f := sandbox.Check(spec); f != nil {
		return sandbox.Result{}, f
	}
	return sandbox.Result{}, fault.New(sandbox.CodeUnavailable, "detail", runtime.GOOS).With(missing())
}

// Close implements sandbox.Sandbox.
func (s *Sandbox) Close() error {
	s.closed.Store(true)
	return nil
}
