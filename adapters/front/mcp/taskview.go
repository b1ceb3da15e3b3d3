package mcp

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/agent-mcp/agent-mcp/ports/mcptask"
)

// taskView is a Task on the wire; all times in ms, RFC 3339 in UTC.
type taskView struct {
	ResultType    mcp.ResultType `json:"resultType,omitempty"`
	TaskID        string         `json:"taskId"`
	Status        string         `json:"status"`
	StatusMessage string         `json:"statusMessage,omitempty"`
	CreatedAt     string         `json:"createdAt"`
	LastUpdatedAt string         `json:"lastUpdatedAt"`
	TTLMs         int64          `json:"ttlMs"`
	PollMs        int64          `json:"pollIntervalMs"`

	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
	Inputs map[string]any  `json:"inputRequests,omitempty"`
}

var acknowledged = map[string]any{"resultType": mcp.ResultTypeComplete}

const onWire = "2006-01-02T15:04:05.000Z"

// created is the flat Task result of the request that started it.
func (x *extension) created(id string) (taskView, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	e := x.known[id]
	if e == nil {
		return taskView{}, false
	}
	v := x.view(*e)
	v.ResultType = "task"
	return v, true
}

// view is what every form of a Task has. createdAt + ttlMs is when a client gives up: a Task that is alive has its whole time
// to live before it.
func (x *extension) view(e entry) taskView {
	until := x.instant()
	if e.final() {
		until = e.Ended
	}
	return taskView{
		TaskID: e.ID, Status: e.Status, StatusMessage: e.Message,
		CreatedAt: e.Created.Format(onWire), LastUpdatedAt: e.updated.Format(onWire),
		TTLMs: (until.Sub(e.Created) + x.opt.TTL).Milliseconds(), PollMs: max(x.opt.PollInterval, time.Millisecond).Milliseconds(),
	}
}

// detailed is the answer of tasks/get.
func (x *extension) detailed(ctx context.Context, e entry) (v taskView, err error) {
	var r mcptask.Record
	switch {
	case e.stored:
		r, err = x.opt.Store.Get(ctx, e.ID)
	case e.result != nil:
		r.Result, err = json.Marshal(e.result)
	case e.fail != nil:
		r.Error, err = json.Marshal(e.fail)
	}
	if err != nil {
		return taskView{}, err
	}
	v = x.view(e)
	v.ResultType, v.Result, v.Error, v.Inputs = mcp.ResultTypeComplete, r.Result, r.Error, e.inputs
	return v, nil
}
