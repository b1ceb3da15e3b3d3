package mcp

import (
	"context"

	"github.com/agent-mcp/agent-mcp/adapters/front/mcp/internal/wire"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// extensionTasks is the name of the Tasks extension in capabilities.
const extensionTasks = "io.modelcontextprotocol/tasks"

// tasks is where the Tasks extension joins the core (MCP-2026-04). Until it does, noTasks stands here.
type tasks interface {
	// extensions are what server/discover advertises; nil = none.
	extensions() map[string]any
	// serve answers tasks/get, tasks/update, tasks/cancel of the 2026-07-28 era.
	serve(ctx context.Context, r *request) wire.Reply
	// hoist turns the accepted Task of a client that declared the extension into the flat Task result; false keeps the
	// text result, which every other client gets.
	hoist(r *request, acc service.Accepted) (any, bool)
}

type noTasks struct{}

var _ tasks = noTasks{}

func (noTasks) extensions() map[string]any { return nil }

func (noTasks) serve(_ context.Context, r *request) wire.Reply { return r.unknownMethod() }

func (noTasks) hoist(*request, service.Accepted) (any, bool) { return nil, false }
