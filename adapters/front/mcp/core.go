package mcp

import (
	"context"
	"encoding/json"
	"runtime/debug"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/agent-mcp/agent-mcp/adapters/front/mcp/internal/wire"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/service"
	"github.com/agent-mcp/agent-mcp/ports/text"
	"github.com/agent-mcp/agent-mcp/ports/trace"
)

// core answers requests of both eras; a transport reads messages, calls handle and writes replies.
type core struct {
	runner  service.Runner
	catalog text.Catalog
	trace   trace.Sink
	limits  Limits
	sdk     *server.MCPServer
	tasks   tasks
	info    mcp.Implementation
	tools   map[string]handler
	stamp   json.RawMessage // _meta of every tool result of the 2026-07-28 era; never changed
}

// cacheMs is how long a client may keep the tool list and the discovery: they change only with a restart.
const cacheMs = 300_000

func newCore(o Options, t tasks) *core {
	c := &core{
		runner: o.Runner, catalog: o.Catalog, trace: o.Trace, limits: o.Limits, tasks: t,
		info: mcp.Implementation{Name: o.Name, Version: o.Version}, tools: map[string]handler{},
	}
	stamp, err := json.Marshal(map[string]any{mcp.MetaKeyServerInfo: c.info})
	if err != nil {
		panic("mcp: name and version cannot be encoded")
	}
	c.stamp = stamp
	options := []server.ServerOption{
		server.WithToolCapabilities(false),
		server.WithInstructions(o.Catalog.Text(keyInstructions, nil)),
		server.WithCacheHints(cacheMs, mcp.CacheScopePrivate),
	}
	if ext := t.extensions(); ext != nil {
		hooks := &server.Hooks{}
		hooks.AddAfterInitialize(func(_ context.Context, _ any, _ *mcp.InitializeRequest, r *mcp.InitializeResult) {
			r.Capabilities.Extensions = nil // legacy versions have no extensions
		})
		options = append(options, server.WithExtensions(ext), server.WithHooks(hooks))
	}
	c.sdk = server.NewMCPServer(o.Name, o.Version, options...)
	c.addTools()
	return c
}

// handle answers one request. It never panics and never answers with another id. accepted is the Task that the request
// started, nil when it started none. at is the request's place among those that start Tasks; nil = in no order.
func (c *core) handle(ctx context.Context, m wire.Message, owner string, at *turn) (rep wire.Reply, accepted *service.Accepted) {
	r := &request{id: m.ID, method: m.Method, owner: owner, turn: at}
	start := time.Now()
	defer func() {
		if p := recover(); p != nil {
			c.note(trace.Error, "mcp.panic", trace.F("method", r.known()), trace.F("panic", panicText(p)),
				trace.F("stack", string(debug.Stack())))
			rep = r.fail(wire.Fail(wire.Internal, wire.CodeInternal))
		}
		accepted = r.accepted
		c.note(trace.Debug, "mcp.request", trace.F("method", r.known()), trace.F("tool", r.tool),
			trace.F("error", rep.Code()), trace.F("took", time.Since(start)))
	}()
	if bad := r.read(m.Params); bad != nil {
		return r.fail(bad), nil
	}
	if r.modern() {
		return c.modern(ctx, r), nil
	}
	return c.legacy(ctx, r), nil
}

// modern serves the 2026-07-28 era.
func (c *core) modern(ctx context.Context, r *request) wire.Reply {
	if bad := r.checkMeta(); bad != nil {
		return r.fail(bad)
	}
	switch {
	case r.isTasks():
		return c.tasks.serve(ctx, r)
	case r.method == methodListen:
		return c.listen(r)
	case r.method == methodDiscover:
		return c.dispatch(ctx, r, discoverModern)
	case r.method == methodList:
		return c.list(ctx, r, listModern)
	case r.method == methodCall:
		return c.call(ctx, r)
	}
	return r.unknownMethod()
}

// legacy serves clients that initialize.
func (c *core) legacy(ctx context.Context, r *request) wire.Reply {
	switch r.method {
	case methodInitialize:
		return c.initialize(ctx, r)
	case methodPing:
		return c.dispatch(ctx, r, pingLegacy)
	case methodList:
		return c.list(ctx, r, listLegacy)
	case methodCall:
		return c.call(ctx, r)
	}
	return r.unknownMethod()
}

// What mcp-go is given to see.
const (
	head       = `{"jsonrpc":"2.0","id":1,"method":"`
	modernMeta = `"_meta":{"` + mcp.MetaKeyProtocolVersion + `":"` + mcp.ProtocolVersion20260728 + `","` +
		mcp.MetaKeyClientCapabilities + `":{}}`

	discoverModern = head + methodDiscover + `","params":{` + modernMeta + `}}`
	listModern     = head + methodList + `","params":{` + modernMeta + `}}`
	listLegacy     = head + methodList + `"}`
	pingLegacy     = head + methodPing + `"}`
)

// checkMeta applies the rules of a 2026-07-28 request that hold on every transport.
func (r *request) checkMeta() *wire.Error {
	switch {
	case r.meta.version == "":
		return missingMeta(mcp.MetaKeyProtocolVersion)
	case r.meta.version != mcp.ProtocolVersion20260728:
		e := wire.Fail(wire.UnsupportedVersion, CodeUnsupportedVersion, "requested", wire.Short(r.meta.version))
		e.Data = mcp.UnsupportedProtocolVersionData{Supported: mcp.ValidProtocolVersions, Requested: wire.Short(r.meta.version)}
		return e
	case !r.meta.caps:
		return missingMeta(mcp.MetaKeyClientCapabilities)
	}
	return nil
}

// initialize negotiates a legacy version, also after a discover (Claude Code does both).
func (c *core) initialize(ctx context.Context, r *request) wire.Reply {
	version := ""
	if raw := r.params.Get("protocolVersion"); raw != nil {
		var err error
		if version, err = wire.Text(raw); err != nil {
			return r.fail(wire.Fail(wire.InvalidParams, wire.CodeBadParams, "field", "protocolVersion"))
		}
	}
	quoted, err := json.Marshal(version)
	if err != nil {
		return r.fail(wire.Fail(wire.Internal, wire.CodeInternal))
	}
	return c.dispatch(ctx, r, head+methodInitialize+`","params":{"capabilities":{},"protocolVersion":`+string(quoted)+`}}`)
}

// list answers with the one page there is; no cursor was ever given out.
func (c *core) list(ctx context.Context, r *request, message string) wire.Reply {
	if raw := r.params.Get("cursor"); !wire.IsNull(raw) && string(raw) != `""` {
		return r.fail(wire.Fail(wire.InvalidParams, wire.CodeBadParams, "field", "cursor"))
	}
	return c.dispatch(ctx, r, message)
}

// call runs a tool. mcp-go has no part in it: it would decode the call and encode the result a second time.
func (c *core) call(ctx context.Context, r *request) wire.Reply {
	name, err := wire.Text(r.params.Get("name"))
	if err != nil {
		return r.fail(wire.Fail(wire.InvalidParams, wire.CodeBadParams, "field", "name"))
	}
	h := c.tools[name]
	if h == nil {
		return r.fail(wire.Fail(wire.InvalidParams, CodeUnknownTool, "tool", wire.Short(name)))
	}
	r.tool, r.args = name, r.params.Get("arguments")
	answer, f := h(ctx, r)
	switch {
	case f == nil:
	case f.Code == fault.CodeInternal: // a bug of ours is no result that a model could act on
		c.note(trace.Error, "mcp.internal", trace.F("tool", r.tool), trace.F("detail", f.Error()))
		return r.fail(wire.Fail(wire.Internal, wire.CodeInternal))
	default:
		c.note(trace.Info, "mcp.refused", trace.F("tool", r.tool), trace.F("code", string(f.Code)))
		return r.reply(c.result(r, c.refusal(f), true))
	}
	rep := r.reply(nil)
	rep.Before = r.before
	if r.accepted != nil && r.modern() && r.declares(extensionTasks) {
		if task, ok := c.tasks.hoist(r, *r.accepted); ok {
			rep.Result = task
			return rep
		}
	}
	rep.Result = c.result(r, answer, false)
	return rep
}

// dispatch lets mcp-go answer a message that we built, and gives its answer our id and our error texts.
func (c *core) dispatch(ctx context.Context, r *request, message string) wire.Reply {
	switch answer := c.sdk.HandleMessage(ctx, json.RawMessage(message)).(type) {
	case mcp.JSONRPCResponse:
		return r.reply(answer.Result)
	case mcp.JSONRPCError:
		c.note(trace.Error, "mcp.sdk_error", trace.F("method", r.known()), trace.F("code", answer.Error.Code),
			trace.F("detail", answer.Error.Message))
	}
	return r.fail(wire.Fail(wire.Internal, wire.CodeInternal))
}

// listen acknowledges a subscription and closes it: nothing that we serve ever changes. The acknowledgement comes first.
func (c *core) listen(r *request) wire.Reply {
	raw := r.params.Get("notifications")
	filter, err := wire.Object(raw)
	if err != nil {
		return r.fail(wire.Refuse(wire.InvalidParams, "notifications", err))
	}
	if ids := filter.Get("taskIds"); !wire.IsNull(ids) && !r.declares(extensionTasks) {
		wanted := false
		if !wire.Elements(ids, func(int, json.RawMessage) bool { wanted = true; return false }) {
			return r.fail(wire.Fail(wire.InvalidParams, wire.CodeBadParams, "field", "taskIds"))
		}
		if wanted {
			return r.fail(missingTasks())
		}
	}
	subscription := map[string]any{mcp.MetaKeySubscriptionID: r.id}
	rep := r.reply(map[string]any{
		"resultType": mcp.ResultTypeComplete,
		"_meta":      map[string]any{mcp.MetaKeySubscriptionID: r.id, mcp.MetaKeyServerInfo: c.info},
	})
	rep.Before = []wire.Note{{
		Method: string(mcp.MethodNotificationSubscriptionsAcknowledged),
		Params: map[string]any{"_meta": subscription, "notifications": struct{}{}},
	}}
	return rep
}

// missingTasks is -32021: the client did not declare the Tasks extension.
func missingTasks() *wire.Error {
	e := wire.Fail(wire.MissingCapability, CodeMissingCapability, "capability", extensionTasks)
	e.Data = map[string]any{"requiredCapabilities": map[string]any{
		"extensions": map[string]any{extensionTasks: struct{}{}},
	}}
	return e
}

// panicText describes a panic value for the app log.
func panicText(p any) string {
	switch v := p.(type) {
	case error:
		return v.Error()
	case string:
		return v
	}
	return "not an error"
}
