// Package turn is the port to the one turn that all instances of one configuration share: at most one Task is
// planning or running (spec section 2, concurrency), across processes too.
package turn

import (
	"context"

	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// Turn hands out the turn. The holder's death gives it back.
type Turn interface {
	// Acquire waits until the turn is ours or ctx ends. onWait, when not nil, is called with the present holder each
	// time it is seen to change while waiting.
	Acquire(ctx context.Context, me Holder, onWait func(Holder)) (release func(), err error)
}

// Holder says who has the turn.
type Holder struct {
	Instance string `json:"instance"`
	PID      int    `json:"pid"`
	Task     string `json:"task"`
}

// CodeFailed means that the turn's file cannot be used; args: path, detail.
const CodeFailed fault.Code = "turn.failed"
