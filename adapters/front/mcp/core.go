package mcp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"runtime/debug"
	"slices"
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
	ext     *extension // nil = the Tasks extension is not served
	info    mcp.Implementation
	tools   map[string]toolEntry
	stamp   json.RawMessage // _meta of every tool result of the 2026-07-28 era; never changed
}

// cacheMs is how long a client may keep the tool list and the discovery: they change only with a restart.
const cacheMs = 300_000

func newCore(o Options) *core {
	c := &core{
		runner: o.Runner, catalog: o.Catalog, trace: o.Trace, limits: o.Limits,
		info: mcp.Implementation{Name: o.Name, Version: o.Version}, tools: map[string]toolEntry{},
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
	if o.Tasks != nil {
		hooks := &server.Hooks{}
		hooks.AddAfterInitialize(func(_ context.Context, _ any, _ *mcp.InitializeRequest, r *mcp.InitializeResult) {
			r.Capabilities.Extensions = nil // legacy versions have no extensions
		})
		options = append(options, server.WithExtensions(map[string]any{extensionTasks: struct{}{}}), server.WithHooks(hooks))
	}
	c.sdk = server.NewMCPServer(o.Name, o.Version, options...)
	c.addTools()
	return c
}

// follow serves the Tasks extension for what w runs.
func (c *core) follow(o TaskOptions, w work) (err error) {
	c.ext, err = newExtension(o, w, c.catalog, c.note, time.Now)
	return err
}

// handle answers one message of a client. It never panics and never answers with another id. accepted is the Task that the request
// started, nil when it started none. at is the request's place among those that start Tasks; nil = in no order.
func (c *core) handle(ctx context.Context, m wire.Message, owner string, at *turn) (rep wire.Reply, accepted *service.Accepted) {
	r, bad := readRequest(m)
	if bad != nil {
		return r.fail(bad), nil
	}
	r.owner, r.turn = owner, at
	return c.handleRequest(ctx, r), r.accepted
}

// readRequest splits the parameters; the request is there also with an error.
func readRequest(m wire.Message) (*request, *wire.Error) {
	r := &request{id: m.ID, method: m.Method}
	return r, r.read(m.Params)
}

// handleRequest answers one request. It never panics.
func (c *core) handleRequest(ctx context.Context, r *request) (rep wire.Reply) {
	start := time.Now()
	defer func() {
		if p := recover(); p != nil {
			c.note(trace.Error, "mcp.panic", trace.F("method", r.known()), trace.F("panic", panicText(p)),
				trace.F("stack", string(debug.Stack())))
			rep = r.fail(wire.Fail(wire.Internal, wire.CodeInternal))
		}
		c.note(trace.Debug, "mcp.request", trace.F("method", r.known()), trace.F("tool", r.tool),
			trace.F("error", rep.Code()), trace.F("took", time.Since(start)))
	}()
	if r.modern() {
		return c.modern(ctx, r)
	}
	return c.legacy(ctx, r)
}

// modern serves the 2026-07-28 era.
func (c *core) modern(ctx context.Context, r *request) wire.Reply {
	if bad := r.checkMeta(); bad != nil {
		return r.fail(bad)
	}
	switch {
	case r.isTasks() && c.ext != nil:
		return c.ext.serve(ctx, r)
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
		return unsupported(r.meta.version)
	case !r.meta.caps:
		return missingMeta(mcp.MetaKeyClientCapabilities)
	}
	return nil
}

// unsupported is -32022.
func unsupported(version string) *wire.Error {
	e := wire.Fail(wire.UnsupportedVersion, CodeUnsupportedVersion, "requested", wire.Short(version))
	e.Data = mcp.UnsupportedProtocolVersionData{Supported: mcp.ValidProtocolVersions, Requested: wire.Short(version)}
	return e
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
	tool, ok := c.tools[name]
	if !ok {
		return r.fail(wire.Fail(wire.InvalidParams, CodeUnknownTool, "tool", wire.Short(name)))
	}
	follows := c.ext != nil && r.modern() && r.declares(extensionTasks)
	if tool.needsTasks && !follows {
		return r.fail(missingTasks())
	}
	r.tool, r.args = name, r.params.Get("arguments")
	if !tool.startsTask || c.ext == nil || r.meta.key == "" {
		return c.answer(ctx, r, tool, follows, "")
	}
	if err := r.turn.await(ctx); err != nil { // first: an earlier request with this key could not get its turn
		return r.reply(c.result(r, c.refusal(fault.From(err)), true))
	}
	digest := digestOf(r.args)
	earlier, release, f := c.ext.claim(ctx, r.meta.key, digest)
	switch {
	case f != nil:
		return r.reply(c.result(r, c.refusal(f), true))
	case earlier == nil:
		defer release()
		return c.answer(ctx, r, tool, follows, digest)
	case follows:
		if task, ok := c.ext.created(earlier.ID); ok {
			return r.reply(task)
		}
	}
	return r.reply(c.result(r, earlier.Text, false))
}

// answer calls a tool. A Task that a client can follow, or whose request has an idempotency key, is on record before its client
// hears of it.
func (c *core) answer(ctx context.Context, r *request, tool toolEntry, follows bool, digest string) wire.Reply {
	text, f := tool.call(ctx, r)
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
	if r.accepted == nil || !follows && digest == "" {
		rep.Result = c.result(r, text, false)
		return rep
	}
	if err := c.ext.keep(ctx, *r.accepted, r.meta.key, digest); err != nil {
		c.note(trace.Error, "mcp.task_keep", trace.F("code", string(fault.CodeOf(err))), trace.F("detail", err.Error()))
		_ = c.ext.work.cancel(context.WithoutCancel(ctx), r.accepted.TaskID) // its client will never hear of it
		return r.reply(c.result(r, c.refusal(fault.From(err)), true))
	}
	rep.Result = c.result(r, text, false)
	if follows {
		if task, ok := c.ext.created(r.accepted.TaskID); ok {
			rep.Result = task
		}
	}
	return rep
}

// digestOf is equal for equal arguments, however they are written.
func digestOf(args json.RawMessage) string {
	var v any
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	if d.Decode(&v) == nil {
		if plain, err := json.Marshal(v); err == nil {
			args = plain
		}
	}
	sum := sha256.Sum256(args)
	return hex.EncodeToString(sum[:])
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

// listen acknowledges a subscription, tells of the Tasks it names until they are over, and closes it: nothing else that we serve
// ever changes. The acknowledgement comes first.
func (c *core) listen(r *request) wire.Reply {
	raw := r.params.Get("notifications")
	filter, err := wire.Object(raw)
	if err != nil {
		return r.fail(wire.Refuse(wire.InvalidParams, "notifications", err))
	}
	tasks, bad := c.listened(r, filter)
	if bad != nil {
		return r.fail(bad)
	}
	honoured := map[string]any{}
	if len(tasks) > 0 {
		honoured["taskIds"] = tasks
	}
	subscription := map[string]any{mcp.MetaKeySubscriptionID: r.id}
	rep := r.reply(map[string]any{
		"resultType": mcp.ResultTypeComplete,
		"_meta":      map[string]any{mcp.MetaKeySubscriptionID: r.id, mcp.MetaKeyServerInfo: c.info},
	})
	rep.Before = []wire.Note{{
		Method: string(mcp.MethodNotificationSubscriptionsAcknowledged),
		Params: map[string]any{"_meta": subscription, "notifications": honoured},
	}}
	if len(tasks) > 0 {
		rep.Follow = c.ext.follow(tasks, subscription)
	}
	return rep
}

// maxListened is how many Tasks one subscription may name.
const maxListened = 1000

// listened reads which Tasks a client wants to hear of; those that are unknown are left out.
func (c *core) listened(r *request, filter wire.Members) (tasks []string, bad *wire.Error) {
	raw := filter.Get("taskIds")
	if wire.IsNull(raw) {
		return nil, nil
	}
	count, texts := 0, true
	isArray := wire.Elements(raw, func(_ int, v json.RawMessage) bool {
		id, err := wire.Text(v)
		texts = texts && err == nil
		if count++; c.ext != nil && texts && !slices.Contains(tasks, id) && c.ext.knows(id) {
			tasks = append(tasks, id)
		}
		return texts && count <= maxListened
	})
	switch {
	case !isArray, !texts:
		return nil, wire.Fail(wire.InvalidParams, wire.CodeBadParams, "field", "taskIds")
	case count > maxListened:
		return nil, wire.Fail(wire.InvalidParams, wire.CodeTooMany, "limit", maxListened)
	case count > 0 && !r.declares(extensionTasks):
		return nil, missingTasks()
	}
	return tasks, nil
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
