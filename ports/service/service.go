// Package service is what a front end may ask of the application. The MCP server and the CLI use it; neither knows core.
package service

import (
	"context"

	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// Runner is the face the two MCP Tools use. Safe for concurrent use; no call waits for a Task to finish.
type Runner interface {
	// Run accepts a Task and returns at once (MCP-ASY-01). Faults: the Code constants below, vision limits, CodeBusy.
	Run(ctx context.Context, req RunRequest) (Accepted, error)
	// Status reports a Task; its Text is bounded whatever the Task printed. CodeUnknownTask, CodeWrongSession, CodeBadTaskID.
	Status(ctx context.Context, taskID, sessionID string) (Status, error)
	// Cancel asks a Task to stop; idempotent, final states never change. CodeUnknownTask.
	Cancel(ctx context.Context, taskID string) error
	// Release cancels every Task of an owner and waits until their Task Resources are gone (REC-04).
	Release(ctx context.Context, owner string) error
}

// Watcher is a Runner that tells when something changed, so that nobody needs to poll it.
type Watcher interface {
	// Changed returns a channel that is closed at the next change of any Task.
	Changed() <-chan struct{}
}

// RunRequest is one agent_run.
type RunRequest struct {
	Request     string
	SessionID   string   // "" = a new Session
	Temperature *float64 // nil = the configuration's
	Images      [][]byte // decoded
	Owner       string   // the client this Task belongs to; its end stops the Task on stdio (REC-04); "" = nobody's
}

// Accepted is the immediate answer.
type Accepted struct {
	TaskID, SessionID string
	Ahead             int    // Tasks before this one
	Text              string // localized, complete answer for the client
	Summary           string // localized, one line: when it will start
}

// State of a Task (spec section 2).
type State string

// States. Completed, Failed and Cancelled are final.
const (
	Queued    State = "queued"
	Planning  State = "planning"
	Running   State = "running"
	Completed State = "completed"
	Failed    State = "failed"
	Cancelled State = "cancelled"
)

// Final reports whether a state never changes again.
func (s State) Final() bool { return s == Completed || s == Failed || s == Cancelled }

// Status is one report.
type Status struct {
	TaskID, SessionID string
	State             State
	Text              string // localized text per MCP-STS-03
	Summary           string // localized, one short line: what is going on; for progress notifications and statusMessage
	Percent           int    // of the plan's expected tokens that are done, 0..100; 100 only when the Task is completed
	Answer            string // the final answer when completed
	ErrorCode         string // last error's code, "" = none
	ErrorText         string // its localized message
	InputTokens       int
	OutputTokens      int
}

// Codes of the two MCP Tools.
const (
	CodeRequestEmpty   fault.Code = "run.request_empty"
	CodeRequestTooBig  fault.Code = "run.request_too_big"  // args: size, limit
	CodeRequestText    fault.Code = "run.request_text"     // not valid UTF-8
	CodeUnknownSession fault.Code = "run.unknown_session"  // args: session
	CodeTemperature    fault.Code = "run.temperature"      // args: value, min, max
	CodeImageCount     fault.Code = "run.image_count"      // args: count, limit
	CodeImageSize      fault.Code = "run.image_size"       // args: index (from 0), size, limit
	CodeImageTotal     fault.Code = "run.image_total"      // args: size, limit
	CodeImageKind      fault.Code = "run.image_kind"       // args: index (from 0) — magic bytes are no PNG, JPEG, GIF or WebP
	CodeImageEncoding  fault.Code = "run.image_encoding"   // args: index (from 0) — not Base64
	CodeBusy           fault.Code = "run.busy"             // args: limit
	CodeStopping       fault.Code = "run.stopping"         // the server is shutting down
	CodeUnknownTask    fault.Code = "status.unknown_task"  // args: task
	CodeWrongSession   fault.Code = "status.wrong_session" // args: task, session
	CodeBadTaskID      fault.Code = "status.bad_task_id"   // args: task — not a UUID
	CodeArguments      fault.Code = "mcp.arguments"        // args: detail — unknown, missing or ill-typed tool argument
)
