package mcp

import (
	"time"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/service"
	"github.com/agent-mcp/agent-mcp/ports/text"
	"github.com/agent-mcp/agent-mcp/ports/trace"
)

// Options say what to serve. Runner, Catalog, Name and Version are required.
type Options struct {
	Runner  service.Runner
	Catalog text.Catalog
	Name    string // of the server, "agent-mcp"
	Version string
	Limits  Limits
	OwnerID string       // owner of the Tasks started over stdio; released when that client is gone (REC-04)
	Tasks   *TaskOptions // nil = no Tasks extension
	Trace   trace.Sink   // nil = no events
	Ready   func()       // called once per ServeStdio, when it really serves (OBS-02); nil = nobody asks
}

// Limits bound what a client can make the server hold. Zero values take the default.
type Limits struct {
	LineBytes   int           // one message; default 32 MiB
	InFlight    int           // requests worked on at once; default 64
	Waiting     int           // requests read but not begun, so that a cancellation behind them is seen; default 192
	HeldBytes   int           // bytes of all requests read but not answered, at least one always fits; default 32 MiB
	ResultBytes int           // text of one result; default 256 KiB
	Images      int           // per agent_run; default 4
	ImageBytes  int           // one decoded image; default 5 MiB
	ImagesBytes int           // all decoded images together; default 10 MiB
	Drain       time.Duration // after EOF, for the answers to what was read; default 10 s
	Settle      time.Duration // for handlers that ignore that they are cancelled, or hang in a write; default 1 s
	Release     time.Duration // for the Tasks of the client to be gone; default 60 s
}

func (l Limits) withDefaults() Limits {
	size := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	size(&l.LineBytes, 32<<20)
	size(&l.InFlight, 64)
	size(&l.Waiting, 192)
	size(&l.HeldBytes, 32<<20)
	size(&l.ResultBytes, 256<<10)
	size(&l.Images, 4)
	size(&l.ImageBytes, 5<<20)
	size(&l.ImagesBytes, 10<<20)
	wait := func(v *time.Duration, d time.Duration) {
		if *v <= 0 {
			*v = d
		}
	}
	wait(&l.Drain, 10*time.Second)
	wait(&l.Settle, time.Second)
	wait(&l.Release, 60*time.Second)
	return l
}

// Codes of protocol errors, beside those of internal/wire.
const (
	CodeLineTooLong        fault.Code = "mcp.line_too_long"       // args: limit, bytes
	CodeIDInUse            fault.Code = "mcp.id_in_use"           // a request with this id is not answered yet
	CodeUnknownMethod      fault.Code = "mcp.unknown_method"      // args: method
	CodeMissingMeta        fault.Code = "mcp.missing_meta"        // args: field — missing or ill-typed
	CodeUnsupportedVersion fault.Code = "mcp.unsupported_version" // args: requested
	CodeMissingCapability  fault.Code = "mcp.missing_capability"  // args: capability
	CodeUnknownTool        fault.Code = "mcp.unknown_tool"        // args: tool
	CodeIdempotency        fault.Code = "mcp.idempotency"         // args: task — the key came with other arguments
	CodeTaskForgotten      fault.Code = "mcp.task_forgotten"      // how a Task ends whose end its own server does not know
	CodeServerRestarted    fault.Code = "mcp.server_restarted"    // how a Task ends whose server is gone
)

// Codes of one tool argument; each is a reason within service.CodeArguments.
const (
	CodeArgumentUnknown fault.Code = "mcp.argument_unknown" // args: name, known
	CodeArgumentMissing fault.Code = "mcp.argument_missing" // args: name
	CodeArgumentTwice   fault.Code = "mcp.argument_twice"   // args: name
	CodeArgumentType    fault.Code = "mcp.argument_type"    // args: name, want — a JSON type
	CodeArgumentNumber  fault.Code = "mcp.argument_number"  // args: name — beyond a 64-bit float
	CodeArgumentText    fault.Code = "mcp.argument_text"    // args: name — invalid UTF-8 or a lone surrogate
	CodeArgumentsObject fault.Code = "mcp.arguments_object" // the arguments are no object
)

// Texts of the catalogue.
const (
	keyInstructions  text.Key = "mcp.instructions"
	keyRunTitle      text.Key = "mcp.run.title"
	keyRun           text.Key = "mcp.run.description"
	keyRunRequest    text.Key = "mcp.run.request"
	keyRunSession    text.Key = "mcp.run.session_id"
	keyRunTemp       text.Key = "mcp.run.temperature"
	keyRunImages     text.Key = "mcp.run.images"
	keyStatusTitle   text.Key = "mcp.status.title"
	keyStatus        text.Key = "mcp.status.description"
	keyStatusTask    text.Key = "mcp.status.task_id"
	keyStatusSession text.Key = "mcp.status.session_id"
	keyCut           text.Key = "mcp.result_cut" // args: bytes
)
