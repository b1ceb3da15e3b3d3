package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/front/mcp/internal/wire"
	"github.com/agent-mcp/agent-mcp/adapters/mcptask/mem"
	"github.com/agent-mcp/agent-mcp/conformance/fronttest"
	"github.com/agent-mcp/agent-mcp/conformance/officialtest"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// jobs are the Tasks of the tools that the official Tasks scenarios call.
type jobs struct {
	mu      sync.Mutex
	next    int
	all     map[string]*job
	changes chan struct{}
}

type job struct {
	outcome
	asked   []string // what it still asks for
	replies map[string]json.RawMessage
	stop    chan struct{}
	ended   sync.Once
}

var _ work = (*jobs)(nil)

func newJobs() *jobs { return &jobs{all: map[string]*job{}, changes: make(chan struct{})} }

// begin starts a job; do returns how it ended, unless it is stopped before.
func (j *jobs) begin(asks []string, do func(*job) outcome) service.Accepted {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.next++
	id := fmt.Sprintf("00000000-0000-4000-9000-%012d", j.next)
	b := &job{outcome: outcome{status: statusWorking, message: "at work"}, asked: asks, replies: map[string]json.RawMessage{}, stop: make(chan struct{})}
	if len(asks) > 0 {
		b.status = statusInput
	}
	j.all[id] = b
	go func() {
		o := do(b)
		j.set(func() {
			if !b.final() {
				b.outcome = o
			}
		})
	}()
	return service.Accepted{TaskID: id, Text: id, Summary: "at work"}
}

func (j *jobs) set(change func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	change()
	close(j.changes)
	j.changes = make(chan struct{})
}

func (j *jobs) look(_ context.Context, id string) (outcome, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	b := j.all[id]
	if b == nil {
		return outcome{}, fault.New(service.CodeUnknownTask)
	}
	o := b.outcome
	if o.status == statusInput {
		o.inputs = map[string]any{}
		for _, key := range b.asked {
			o.inputs[key] = map[string]any{"method": "elicitation/create", "params": map[string]any{
				"message": "Go on?", "requestedSchema": map[string]any{"type": "object", "properties": map[string]any{"confirm": map[string]any{"type": "boolean"}}},
			}}
		}
	}
	return o, nil
}

func (j *jobs) cancel(_ context.Context, id string) error {
	j.set(func() {
		if b := j.all[id]; b != nil && !b.final() {
			b.outcome = outcome{status: statusCancelled, message: "cancelled"}
			b.ended.Do(func() { close(b.stop) })
		}
	})
	return nil
}

func (j *jobs) answer(_ context.Context, id string, responses wire.Members) error {
	j.set(func() {
		b := j.all[id]
		if b == nil || b.status != statusInput {
			return
		}
		for _, m := range responses {
			if i := slices.Index(b.asked, m.Key); i >= 0 {
				b.asked = slices.Delete(slices.Clone(b.asked), i, i+1)
				b.replies[m.Key] = m.Value
			}
		}
		if len(b.asked) == 0 {
			b.status = statusWorking
			b.ended.Do(func() { close(b.stop) })
		}
	})
	return nil
}

func (j *jobs) changed() <-chan struct{} {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.changes
}

// fixtures is a server with the tools of the official Tasks scenarios on the product's own core.
func fixtures(t *testing.T) *Server {
	t.Helper()
	o := Options{Runner: &fronttest.Runner{}, Catalog: fronttest.Catalog{}, Name: "fixtures", Version: "1", Tasks: &TaskOptions{Store: mem.New(), PollInterval: 100 * time.Millisecond}}
	s, err := New(o)
	require.NoError(t, err)
	c, j := s.core, newJobs()
	require.NoError(t, c.follow(*o.Tasks, j))
	modern := &request{meta: meta{declared: true}}
	completed := func(text string, isError bool) outcome {
		return outcome{status: statusCompleted, message: "done", result: c.result(modern, text, isError)}
	}
	text := map[string]property{"name": {Type: "string"}, "label": {Type: "string"}, "filename": {Type: "string"}, "seconds": {Type: "number"}}
	add := func(name string, needsTasks bool, call func(r *request, args map[string]any) string) {
		c.addTool(mcp.Tool{Name: name, Description: name}, schema{Required: []string{}, Properties: text}, toolEntry{
			startsTask: true, needsTasks: needsTasks,
			call: func(_ context.Context, r *request) (string, *fault.Error) {
				args := map[string]any{}
				if r.args != nil && json.Unmarshal(r.args, &args) != nil {
					return "", fault.New(service.CodeArguments)
				}
				return call(r, args), nil
			},
		})
	}
	starts := func(asks []string, do func(b *job, args map[string]any) outcome) func(*request, map[string]any) string {
		return func(r *request, args map[string]any) string {
			acc := j.begin(asks, func(b *job) outcome { return do(b, args) })
			r.accepted = &acc
			return acc.Text
		}
	}
	wait := func(b *job, d time.Duration) {
		select {
		case <-b.stop:
		case <-time.After(d):
		}
	}
	add("greet", false, func(_ *request, args map[string]any) string { return fmt.Sprintf("Hello, %v!", args["name"]) })
	add("slow_compute", false, starts(nil, func(b *job, args map[string]any) outcome {
		seconds, _ := args["seconds"].(float64)
		wait(b, time.Duration(seconds*float64(time.Second)))
		return completed(fmt.Sprint(args["label"]), false)
	}))
	add("failing_job", true, starts(nil, func(b *job, _ map[string]any) outcome {
		wait(b, 300*time.Millisecond)
		return completed("it did not work", true)
	}))
	add("protocol_error_job", false, starts(nil, func(*job, map[string]any) outcome {
		return outcome{status: statusFailed, message: "broken", fail: &taskError{Code: wire.Internal, Message: "broken"}}
	}))
	add("confirm_delete", false, starts([]string{"q1"}, func(b *job, args map[string]any) outcome {
		<-b.stop
		return completed(fmt.Sprintf("deleted %v", args["filename"]), false)
	}))
	add("multi_input", false, starts([]string{"q1", "q2"}, func(b *job, _ map[string]any) outcome {
		<-b.stop
		return completed("both are here", false)
	}))
	return s
}

// MCP-2026-04, MCP-2026-06: the official scenarios of the Tasks extension, on the product's core with the tools they call.
func TestOfficial_Tasks(t *testing.T) {
	programs := officialtest.Find(t)
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	s := fixtures(t)
	go func() {
		_, err := s.ServeHTTP(ctx, []net.Listener{l}, HTTPOptions{})
		done <- err
	}()
	for _, scenario := range []string{
		"tasks-lifecycle", "tasks-capability-negotiation", "tasks-wire-fields", "tasks-request-state-removal", "tasks-request-headers",
		"tasks-dispatch-and-envelope", "tasks-required-task-error", "tasks-mrtr-input",
	} {
		t.Run(scenario, func(t *testing.T) { programs.Scenario(t, "http://"+l.Addr().String()+"/mcp", scenario, "", nil) })
	}
	cancel()
	require.NoError(t, <-done)
}
