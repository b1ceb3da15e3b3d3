package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/agent-mcp/agent-mcp/adapters/front/mcp/internal/wire"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/mcptask"
	"github.com/agent-mcp/agent-mcp/ports/service"
	"github.com/agent-mcp/agent-mcp/ports/trace"
)

// serve answers tasks/get, tasks/update and tasks/cancel.
func (x *extension) serve(ctx context.Context, r *request) wire.Reply {
	switch r.method {
	case methodGet, methodUpdate, methodCancel:
	default:
		return r.unknownMethod()
	}
	if !r.declares(extensionTasks) {
		return r.fail(missingTasks())
	}
	id, err := wire.Text(r.params.Get("taskId"))
	if err != nil {
		return r.fail(wire.Fail(wire.InvalidParams, wire.CodeBadParams, "field", "taskId"))
	}
	e, ok := x.find(ctx, id)
	if !ok {
		return r.fail(wire.Fail(wire.InvalidParams, mcptask.CodeUnknown, "task", wire.Short(id)))
	}
	switch r.method {
	case methodUpdate:
		return x.update(ctx, r, e)
	case methodCancel:
		if !e.final() {
			if err := x.work.cancel(ctx, e.ID); err != nil {
				x.note(trace.Warn, "mcp.task_cancel", trace.F("code", string(fault.CodeOf(err))))
			}
		}
		return r.reply(acknowledged)
	}
	view, err := x.detailed(ctx, e)
	if err != nil {
		x.note(trace.Error, "mcp.task_read", trace.F("code", string(fault.CodeOf(err))))
		return r.fail(wire.Fail(wire.Internal, wire.CodeInternal))
	}
	return r.reply(view)
}

func (x *extension) update(ctx context.Context, r *request, e entry) wire.Reply {
	responses, err := wire.Object(r.params.Get("inputResponses"))
	if err != nil {
		return r.fail(wire.Refuse(wire.InvalidParams, "inputResponses", err))
	}
	if !e.final() {
		if err := x.work.answer(ctx, e.ID, responses); err != nil {
			x.note(trace.Warn, "mcp.task_update", trace.F("code", string(fault.CodeOf(err))))
		}
	}
	return r.reply(acknowledged)
}

// told is what agent_status says of a Task that only the record knows: how it ended. "" = there is none.
func (x *extension) told(ctx context.Context, id, session string) (string, *fault.Error) {
	e, ok := x.find(ctx, id)
	if !ok || !e.final() {
		return "", nil
	}
	if session != "" && session != e.Session {
		return "", fault.New(service.CodeWrongSession, "task", id, "session", session)
	}
	v, err := x.detailed(ctx, e)
	if err != nil {
		return "", fault.From(err)
	}
	var end struct {
		Content []content `json:"content"`
		Data    struct {
			Text string `json:"status_text"`
		} `json:"data"`
	}
	if err := json.Unmarshal([]byte(cmp.Or(string(v.Result), string(v.Error), "{}")), &end); err != nil {
		return "", fault.Wrap(err, fault.CodeInternal)
	}
	for _, c := range end.Content {
		return c.Text, nil
	}
	return cmp.Or(end.Data.Text, e.Message), nil
}

// knows reports whether a Task can be asked for.
func (x *extension) knows(id string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.known[id] != nil
}

// follow tells how Tasks stand, and again at each change, until all are over.
func (x *extension) follow(ids []string, subscription map[string]any) wire.Follow {
	return func(ctx context.Context, beat time.Duration, send func(*wire.Note) bool) bool {
		told := map[string]mcptask.Head{}
		for {
			x.mu.Lock()
			freed := x.freed
			x.mu.Unlock()
			open := 0
			for _, id := range ids {
				e, ok := x.find(ctx, id)
				if ok && !e.final() {
					open++
				}
				if !ok || told[id] == e.Head {
					continue
				}
				told[id] = e.Head
				view, err := x.detailed(ctx, e)
				if err != nil {
					x.note(trace.Error, "mcp.task_read", trace.F("code", string(fault.CodeOf(err))))
					continue
				}
				view.ResultType = ""
				if !send(&wire.Note{Method: "notifications/tasks", Params: taskNote{subscription, view}}) {
					return false
				}
			}
			if open == 0 {
				return true
			}
			select {
			case <-freed:
			case <-ctx.Done():
				return true
			case <-time.After(beat):
				if !send(nil) {
					return false
				}
			}
		}
	}
}

// taskNote is a Task in a notification.
type taskNote struct {
	Meta map[string]any `json:"_meta"`
	taskView
}
