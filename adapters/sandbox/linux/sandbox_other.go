//go:build !linux

package linux

import (
	"context"
	"runtime"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// Sandbox exists on other systems only to say that it cannot work there.
type Sandbox struct{}

var _ sandbox.Sandbox = (*Sandbox)(nil)

// New returns a Sandbox that refuses.
func New(Options) *Sandbox { return &Sandbox{} }

// RunHelperIfAsked does nothing: no helper is ever started here.
func RunHelperIfAsked() {}

func refusal() *fault.Error { return fault.New(sandbox.CodePlatform, "platform", runtime.GOOS) }

// Preflight implements sandbox.Sandbox: LevelNone.
func (*Sandbox) Preflight(context.Context) (sandbox.Report, error) {
	return sandbox.Report{Platform: runtime.GOOS, Level: sandbox.LevelNone, Abilities: abilities(sandbox.LevelNone), Missing: []*fault.Error{refusal()}}, nil
}

// Run implements sandbox.Sandbox: nothing runs.
func (*Sandbox) Run(context.Context, sandbox.Spec) (sandbox.Result, error) {
	return sandbox.Result{}, fault.New(sandbox.CodeUnavailable, "detail", runtime.GOOS).With(refusal())
}

// Close implements sandbox.Sandbox.
func (*Sandbox) Close() error { return nil }
