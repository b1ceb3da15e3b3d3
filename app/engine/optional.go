package engine

import (
	"context"

	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/ports/trace"
	"github.com/agent-mcp/agent-mcp/ports/turn"
)

// The optional ports of an embedder: nothing is logged, nothing recorded, and no other process is waited for.
type (
	noTrace struct{}
	noAudit struct{}
	noTurn  struct{}
)

func (noTrace) Emit(trace.Event) {}

func (noAudit) Record(audit.Record) error { return nil }

func (noTurn) Acquire(context.Context, turn.Holder, func(turn.Holder)) (func(), error) {
	return func() {}, nil
}

func (d *Deps) fill() {
	if d.Trace == nil {
		d.Trace = noTrace{}
	}
	if d.Audit == nil {
		d.Audit = noAudit{}
	}
	if d.Turn == nil {
		d.Turn = noTurn{}
	}
}
