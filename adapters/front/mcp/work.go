package mcp

import (
	"context"

	"github.com/agent-mcp/agent-mcp/adapters/front/mcp/internal/wire"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/service"
	"github.com/agent-mcp/agent-mcp/ports/text"
)

// Statuses of an MCP Task, as the Tasks extension names them.
const (
	statusWorking   = "working"
	statusInput     = "input_required"
	statusCompleted = "completed"
	statusFailed    = "failed"
	statusCancelled = "cancelled"
)

// outcome is how a Task stands.
type outcome struct {
	status  string
	message string         // for people
	result  any            // completed: a CallToolResult of the 2026-07-28 era
	fail    *taskError     // failed
	inputs  map[string]any // input_required: what is asked, by the key of its answer
}

func (o outcome) final() bool {
	return o.status == statusCompleted || o.status == statusFailed || o.status == statusCancelled
}

// taskError is the JSON-RPC error of a failed Task.
type taskError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// work is where the Tasks run that clients follow. The product's is the Runner; the official fixtures have one of their own.
type work interface {
	// look tells how a Task of this process stands.
	look(ctx context.Context, id string) (outcome, error)
	// cancel asks a Task to stop; idempotent.
	cancel(ctx context.Context, id string) error
	// answer delivers what a Task asked for; what was not asked is ignored.
	answer(ctx context.Context, id string, responses wire.Members) error
	// changed is closed at the next change of any Task; nil = nobody tells, so they are looked at from time to time.
	changed() <-chan struct{}
}

// runnerWork are the Agent Tasks.
type runnerWork struct {
	runner service.Runner
	result func(text string) any
	cut    func(text string) string // to what a result may have
}

var _ work = runnerWork{}

// look maps the states one to one (MCP-2026-06). A failed Agent Task is a failed MCP Task, with all that agent_status says.
func (w runnerWork) look(ctx context.Context, id string) (outcome, error) {
	st, err := w.runner.Status(ctx, id, "")
	if err != nil {
		return outcome{}, err
	}
	o := outcome{status: statusWorking, message: st.Summary}
	switch st.State {
	case service.Completed:
		o.status, o.result = statusCompleted, w.result(st.Text)
	case service.Cancelled:
		o.status = statusCancelled
	case service.Failed:
		o.status, o.fail = statusFailed, &taskError{
			Code: wire.Internal, Message: st.ErrorText,
			Data: map[string]string{"code": st.ErrorCode, "status_text": w.cut(st.Text)},
		}
	}
	return o, nil
}

func (w runnerWork) cancel(ctx context.Context, id string) error { return w.runner.Cancel(ctx, id) }

// answer has nothing to deliver: an Agent Task asks its client for nothing.
func (w runnerWork) answer(context.Context, string, wire.Members) error { return nil }

func (w runnerWork) changed() <-chan struct{} {
	if watcher, ok := w.runner.(service.Watcher); ok {
		return watcher.Changed()
	}
	return nil
}

// forgotten is the outcome of a Task of this server whose end nobody knows.
func forgotten(catalog text.Catalog) outcome {
	return failed(catalog, CodeTaskForgotten, "task_forgotten")
}

// lost is the outcome of a Task whose server is gone (MCP-2026-07). Work is never resumed.
func lost(catalog text.Catalog) outcome {
	return failed(catalog, CodeServerRestarted, "server_restarted")
}

func failed(catalog text.Catalog, code fault.Code, name string) outcome {
	message := catalog.Fault(fault.New(code))
	return outcome{
		status: statusFailed, message: message,
		fail: &taskError{Code: wire.Internal, Message: message, Data: map[string]string{"code": name, "status_text": message}},
	}
}
