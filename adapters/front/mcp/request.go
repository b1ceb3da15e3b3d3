package mcp

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/agent-mcp/agent-mcp/adapters/front/mcp/internal/wire"
	"github.com/agent-mcp/agent-mcp/ports/mcptask"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// Methods that the core itself looks at.
const (
	methodInitialize = "initialize"
	methodPing       = "ping"
	methodDiscover   = "server/discover"
	methodList       = "tools/list"
	methodCall       = "tools/call"
	methodListen     = "subscriptions/listen"
	methodCancelled  = "notifications/cancelled"
	methodGet        = "tasks/get"
	methodUpdate     = "tasks/update"
	methodCancel     = "tasks/cancel"
	prefixTasks      = "tasks/"
)

// request is one request on its way through the core.
type request struct {
	id     wire.ID
	method string
	params wire.Members
	meta   meta
	owner  string // of a Task that this request starts
	turn   *turn  // before which it may not start one

	tool     string            // tools/call: the tool's name
	args     json.RawMessage   // tools/call: its arguments, nil when absent
	accepted *service.Accepted // set by agent_run
	progress wire.ID           // the token of a client that wants to see progress
	before   []wire.Note       // what goes out before the result
}

// meta is what the 2026-07-28 era says in params._meta of each request.
type meta struct {
	declared   bool   // any key of that era is there
	version    string // "" = missing
	caps       bool   // clientCapabilities is there
	extensions []string
	key        string // idempotency key, "" = none
}

// metaKey of an idempotency key: of two requests with the same one only the first starts a Task, and both get its id.
const metaKey = "agent-mcp/idempotencyKey"

var metaKeys = []string{
	mcp.MetaKeyProtocolVersion, mcp.MetaKeyClientCapabilities, mcp.MetaKeyClientInfo, mcp.MetaKeyLogLevel,
}

// knownParams are the parameters that may not appear in another spelling.
var knownParams = []string{
	"_meta", "name", "arguments", "cursor", "notifications", "protocolVersion", "capabilities", "clientInfo",
	"taskId", "inputResponses", "requestState", "task", "requestId",
}

// read splits params and _meta, exact keys only.
func (r *request) read(params json.RawMessage) *wire.Error {
	if params == nil {
		return nil
	}
	var bad *wire.Error
	if r.params, bad = object(params, "params", knownParams); bad != nil {
		return bad
	}
	raw := r.params.Get("_meta")
	if raw == nil {
		return nil
	}
	m, bad := object(raw, "_meta", metaKeys)
	if bad != nil {
		return bad
	}
	if bad := r.asksProgress(m); bad != nil {
		return bad
	}
	return r.meta.read(m)
}

func (m *meta) read(members wire.Members) *wire.Error {
	m.declared = slices.ContainsFunc(members, func(f wire.Member) bool { return slices.Contains(metaKeys, f.Key) })
	if raw := members.Get(mcp.MetaKeyProtocolVersion); raw != nil {
		version, err := wire.Text(raw)
		if err != nil || version == "" {
			return missingMeta(mcp.MetaKeyProtocolVersion)
		}
		m.version = version
	}
	if raw := members.Get(metaKey); raw != nil {
		key, err := wire.Text(raw)
		if err != nil || key == "" || len(key) > mcptask.MaxKey {
			return wire.Fail(wire.InvalidParams, wire.CodeBadParams, "field", metaKey)
		}
		m.key = key
	}
	raw := members.Get(mcp.MetaKeyClientCapabilities)
	if raw == nil {
		return nil
	}
	caps, err := wire.Object(raw)
	if err != nil {
		return refuseMeta(mcp.MetaKeyClientCapabilities, err)
	}
	m.caps = true
	if raw = caps.Get("extensions"); raw == nil {
		return nil
	}
	extensions, err := wire.Object(raw)
	if err != nil {
		return refuseMeta(mcp.MetaKeyClientCapabilities, err)
	}
	for _, e := range extensions {
		m.extensions = append(m.extensions, e.Key)
	}
	return nil
}

// object splits a JSON object of the params and refuses another spelling of a known key.
func object(raw json.RawMessage, field string, known []string) (wire.Members, *wire.Error) {
	members, err := wire.Object(raw)
	if err != nil {
		return nil, wire.Refuse(wire.InvalidParams, field, err)
	}
	if got, want, found := members.Variant(known...); found {
		return nil, wire.Fail(wire.InvalidParams, wire.CodeKeyCase, "key", wire.Short(got), "want", want)
	}
	return members, nil
}

// modern reports whether the request belongs to 2026-07-28: it says so, or only that era has its method.
func (r *request) modern() bool {
	switch {
	case r.meta.version != "":
		return !slices.Contains(mcp.LegacyProtocolVersions(), r.meta.version) // unknown ones too: they get -32022
	case r.meta.declared, r.method == methodDiscover, r.method == methodListen:
		return true
	}
	return false
}

// declares reports whether the client declared an extension with this very request.
func (r *request) declares(extension string) bool {
	return slices.Contains(r.meta.extensions, extension)
}

// known is the method for the log: a client's invention is not repeated there (OBS-04).
func (r *request) known() string {
	switch r.method {
	case methodInitialize, methodPing, methodDiscover, methodList, methodCall, methodListen, methodGet, methodUpdate, methodCancel:
		return r.method
	}
	return "other"
}

func (r *request) reply(result any) wire.Reply   { return wire.Reply{ID: r.id, Result: result} }
func (r *request) fail(e *wire.Error) wire.Reply { return wire.Reply{ID: r.id, Err: e} }
func (r *request) isTasks() bool                 { return strings.HasPrefix(r.method, prefixTasks) }
func (r *request) unknownMethod() wire.Reply {
	return r.fail(wire.Fail(wire.MethodNotFound, CodeUnknownMethod, "method", wire.Short(r.method)))
}

func missingMeta(field string) *wire.Error {
	return wire.Fail(wire.InvalidParams, CodeMissingMeta, "field", field)
}

func refuseMeta(field string, err error) *wire.Error {
	if e := wire.Refuse(wire.InvalidParams, field, err); e.Fault.Code != wire.CodeBadParams {
		return e
	}
	return missingMeta(field)
}
