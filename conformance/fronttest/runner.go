// Package fronttest is the contract between the front ends and the application: an in-memory service.Runner to drive a
// front with, the suite that every service.Runner passes, and the table of exchanges that every MCP transport must answer
// the same way (spec section 2, design/mcp.md section 1).
//
// It never runs an agent: a test moves the Tasks of the Runner by hand.
package fronttest

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// Limits of the in-memory Runner.
const (
	MaxRequest     = 1 << 20 // bytes
	MaxText        = 8 << 10 // bytes of a status text
	MinTemperature = 0.0
	MaxTemperature = 2.0
)

// Runner is a service.Runner in memory. Ids are deterministic UUIDs in the order of acceptance. The zero value is ready.
type Runner struct {
	// Before, when set, runs at the start of each call with its name ("run", "status", "cancel", "release"); an error is
	// the call's answer. It may block or panic, to be a Runner that misbehaves.
	Before func(ctx context.Context, call string) error
	// MaxQueued bounds the Tasks that are not final; 0 = no bound.
	MaxQueued int

	mu       sync.Mutex
	next     int
	tasks    []*task
	sessions map[string]bool
	released []string
}

var _ service.Runner = (*Runner)(nil)

type task struct {
	status service.Status
	req    service.RunRequest
}

func (r *Runner) before(ctx context.Context, call string) error {
	if r.Before == nil {
		return nil
	}
	return r.Before(ctx, call)
}

func (r *Runner) id() string {
	r.next++
	return fmt.Sprintf("00000000-0000-4000-8000-%012x", r.next)
}

// Run implements service.Runner.
func (r *Runner) Run(ctx context.Context, req service.RunRequest) (service.Accepted, error) {
	if err := r.before(ctx, "run"); err != nil {
		return service.Accepted{}, err
	}
	if f := check(req); f != nil {
		return service.Accepted{}, f
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if req.SessionID != "" && !r.sessions[req.SessionID] {
		return service.Accepted{}, fault.New(service.CodeUnknownSession, "session", req.SessionID)
	}
	ahead := 0
	for _, t := range r.tasks {
		if !t.status.State.Final() {
			ahead++
		}
	}
	if r.MaxQueued > 0 && ahead >= r.MaxQueued {
		return service.Accepted{}, fault.New(service.CodeBusy, "limit", r.MaxQueued)
	}
	t := &task{req: req}
	t.status.TaskID, t.status.State = r.id(), service.Queued
	if t.status.SessionID = req.SessionID; req.SessionID == "" {
		t.status.SessionID = r.id()
	}
	if r.sessions == nil {
		r.sessions = map[string]bool{}
	}
	r.sessions[t.status.SessionID] = true
	r.tasks = append(r.tasks, t)
	return service.Accepted{
		TaskID: t.status.TaskID, SessionID: t.status.SessionID, Ahead: ahead,
		Text:    "Task ID: " + t.status.TaskID + "\nSession ID: " + t.status.SessionID,
		Summary: fmt.Sprintf("%d ahead", ahead),
	}, nil
}

func check(req service.RunRequest) *fault.Error {
	switch {
	case !utf8.ValidString(req.Request):
		return fault.New(service.CodeRequestText)
	case strings.TrimSpace(req.Request) == "":
		return fault.New(service.CodeRequestEmpty)
	case len(req.Request) > MaxRequest:
		return fault.New(service.CodeRequestTooBig, "size", len(req.Request), "limit", MaxRequest)
	}
	if t := req.Temperature; t != nil && !(*t >= MinTemperature && *t <= MaxTemperature) { // NaN fits nothing
		return fault.New(service.CodeTemperature, "value", fmt.Sprint(*t), "min", MinTemperature, "max", MaxTemperature)
	}
	for i, image := range req.Images {
		if !isImage(image) {
			return fault.New(service.CodeImageKind, "index", i)
		}
	}
	return nil
}

func isImage(b []byte) bool {
	for _, magic := range []string{"\x89PNG\r\n\x1a\n", "\xff\xd8\xff", "GIF87a", "GIF89a"} {
		if bytes.HasPrefix(b, []byte(magic)) {
			return true
		}
	}
	return len(b) >= 12 && string(b[:4]) == "RIFF" && string(b[8:12]) == "WEBP"
}

// Status implements service.Runner.
func (r *Runner) Status(ctx context.Context, taskID, sessionID string) (service.Status, error) {
	if err := r.before(ctx, "status"); err != nil {
		return service.Status{}, err
	}
	if !isUUID(taskID) {
		return service.Status{}, fault.New(service.CodeBadTaskID, "task", taskID)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.find(taskID)
	switch {
	case t == nil:
		return service.Status{}, fault.New(service.CodeUnknownTask, "task", taskID)
	case sessionID != "" && sessionID != t.status.SessionID:
		return service.Status{}, fault.New(service.CodeWrongSession, "task", taskID, "session", sessionID)
	}
	st := t.status
	if st.Summary = "it is " + string(st.State); st.State == service.Completed {
		st.Percent = 100
	}
	st.Text = fmt.Sprintf("Task ID: %s\nSession ID: %s\nState: %s\n%s", st.TaskID, st.SessionID, st.State, st.Answer)
	if len(st.Text) > MaxText {
		st.Text = strings.ToValidUTF8(st.Text[:MaxText], "")
	}
	return st, nil
}

// Cancel implements service.Runner.
func (r *Runner) Cancel(ctx context.Context, taskID string) error {
	if err := r.before(ctx, "cancel"); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.find(taskID)
	if t == nil {
		return fault.New(service.CodeUnknownTask, "task", taskID)
	}
	if !t.status.State.Final() {
		t.status.State = service.Cancelled
	}
	return nil
}

// Release implements service.Runner.
func (r *Runner) Release(ctx context.Context, owner string) error {
	if err := r.before(ctx, "release"); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.released = append(r.released, owner)
	for _, t := range r.tasks {
		if t.req.Owner == owner && !t.status.State.Final() {
			t.status.State = service.Cancelled
		}
	}
	return nil
}

// find is called with mu held.
func (r *Runner) find(id string) *task {
	for _, t := range r.tasks {
		if t.status.TaskID == id {
			return t
		}
	}
	return nil
}

// Set changes a Task as an agent would: its state, and its answer when there is one. It panics for an unknown Task.
func (r *Runner) Set(taskID string, state service.State, answer string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.find(taskID)
	if t == nil {
		panic("fronttest: no Task " + taskID)
	}
	t.status.State, t.status.Answer = state, answer
}

// Requests are those accepted so far, in their order.
func (r *Runner) Requests() []service.RunRequest {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []service.RunRequest
	for _, t := range r.tasks {
		all = append(all, t.req)
	}
	return all
}

// States are those of the Tasks accepted so far, in their order.
func (r *Runner) States() []service.State {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []service.State
	for _, t := range r.tasks {
		all = append(all, t.status.State)
	}
	return all
}

// Released are the owners released so far.
func (r *Runner) Released() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.released...)
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, c := range []byte(s) {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (c == '-') ||
			!dash && !strings.ContainsRune("0123456789abcdefABCDEF", rune(c)) {
			return false
		}
	}
	return true
}
