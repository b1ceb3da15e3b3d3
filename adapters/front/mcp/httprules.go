package mcp

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"log"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/agent-mcp/agent-mcp/adapters/front/mcp/internal/wire"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/trace"
)

// Headers of the routing rules; their values are case-sensitive.
const (
	headerVersion = "MCP-Protocol-Version"
	headerMethod  = "Mcp-Method"
	headerName    = "Mcp-Name"
)

// answerer answers one HTTP request.
type answerer struct {
	web     *web
	rw      http.ResponseWriter
	control *http.ResponseController
	r       *http.Request
	status  int

	hasLarge bool // its message is the large one
}

// admit applies what holds for every request, reads its message, and refuses what is none. false = it is answered.
func (a *answerer) admit() (m wire.Message, ok bool) {
	if status, f := a.outside(); f != nil {
		defer a.leaveRest()()
		return m, a.refuse(status, f)
	}
	text, f := a.body()
	if f != nil {
		defer a.leaveRest()()
	}
	switch {
	case f == nil:
	case f.Code == CodeBodyTooLong:
		return m, a.refuse(http.StatusRequestEntityTooLarge, f)
	case f.Code == CodeOverloaded:
		a.rw.Header().Set("Retry-After", "1")
		return m, a.refuse(http.StatusServiceUnavailable, f)
	default: // it went away or is too slow
		a.status = http.StatusRequestTimeout
		a.rw.WriteHeader(a.status)
		return m, false
	}
	a.at(busy)
	_ = a.control.SetReadDeadline(time.Time{})
	m, bad := wire.Parse(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))
	if bad != nil {
		a.web.core.note(trace.Warn, "mcp.bad_message", trace.F("code", string(bad.Fault.Code)), trace.F("bytes", len(text)))
		a.reply(http.StatusBadRequest, wire.Reply{ID: m.ID, Err: bad})
		return m, false
	}
	return m, true
}

// linger is how long what is left of a refused request's body is taken and thrown away: a client that still writes when its connection
// ends may never see the answer.
const linger = 500 * time.Millisecond

// leaveRest says that the connection ends with the answer. What it returns is called behind the answer.
func (a *answerer) leaveRest() func() {
	if a.r.ContentLength == 0 {
		return func() {}
	}
	a.rw.Header().Set("Connection", "close")
	return func() {
		_ = a.control.Flush()
		_ = a.control.SetReadDeadline(time.Now().Add(linger))
		_, _ = io.Copy(io.Discard, a.r.Body)
	}
}

// at says what the connection is at from now on.
func (a *answerer) at(s stage) {
	if l := linkOf(a.r); l != nil {
		l.enter(s)
	}
}

// outside judges what surrounds the message.
func (a *answerer) outside() (int, *fault.Error) {
	h := a.r.Header
	if !loopbackHost(a.r.Host) {
		return http.StatusForbidden, fault.New(CodeForeignHost, "host", plainHeader(a.r.Host))
	}
	if origins := h.Values("Origin"); len(origins) > 0 && (len(origins) > 1 || !loopbackOrigin(origins[0])) {
		return http.StatusForbidden, fault.New(CodeForeignPage, "origin", plainHeader(origins[0]))
	}
	if a.r.URL.Path != a.web.opt.Path {
		return http.StatusNotFound, fault.New(CodeNoPage, "path", plainHeader(a.r.URL.Path), "want", a.web.opt.Path)
	}
	if a.r.Method != http.MethodPost {
		a.rw.Header().Set("Allow", http.MethodPost)
		return http.StatusMethodNotAllowed, fault.New(CodeNotPost, "method", plainHeader(a.r.Method))
	}
	kind, parameters, err := mime.ParseMediaType(h.Get("Content-Type"))
	if charset := parameters["charset"]; err != nil || kind != "application/json" || charset != "" && !strings.EqualFold(charset, "utf-8") {
		return http.StatusUnsupportedMediaType, fault.New(CodeContentType, "got", plainHeader(h.Get("Content-Type")))
	}
	if e := h.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return http.StatusUnsupportedMediaType, fault.New(CodeContentType, "got", plainHeader(e))
	}
	return 0, nil
}

// loopbackHost accepts localhost and literal loopback addresses, with any port: a tunnel has one of its own.
func loopbackHost(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	if strings.EqualFold(name, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(name, "["), "]"))
	return err == nil && addr.Zone() == "" && addr.IsLoopback()
}

// loopbackOrigin accepts pages that this machine itself serves.
func loopbackOrigin(origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.User == nil && u.Path == "" && u.RawQuery == "" && loopbackHost(u.Host)
}

// refuse answers with a fault that belongs to no message; it returns false.
func (a *answerer) refuse(status int, f *fault.Error) bool {
	a.reply(status, wire.Reply{Err: &wire.Error{Code: wire.InvalidRequest, Fault: f}})
	return false
}

// dispatch answers a message.
func (a *answerer) dispatch(m wire.Message) {
	core := a.web.core
	switch m.Kind {
	case wire.Notification:
		a.accept()
		return
	case wire.Response:
		a.reply(http.StatusBadRequest, wire.Reply{Err: wire.Fail(wire.InvalidRequest, wire.CodeEnvelope, "field", "method")})
		return
	}
	r, bad := readRequest(m)
	if bad == nil {
		bad = a.headers(r)
	}
	if bad != nil {
		a.reply(statusOf(r, bad.Code), r.fail(bad))
		return
	}
	rep := core.handleRequest(a.r.Context(), r)
	if rep.Follow != nil || rep.Before != nil {
		f := a.takeStream()
		if f == nil {
			defer func() { <-a.web.streams }()
			a.stream(rep)
			return
		}
		if r.method == methodListen {
			status := http.StatusNotAcceptable
			if f.Code == CodeOverloaded {
				status = http.StatusServiceUnavailable
				a.rw.Header().Set("Retry-After", "5")
			}
			a.refuse(status, f)
			return
		}
		rep.Before = nil // progress is a courtesy; what was done is told, or it would be done again
	}
	a.reply(statusOf(r, rep.Code()), rep)
}

// takeStream makes the answer one by events, where the client reads them and not too many are open.
func (a *answerer) takeStream() *fault.Error {
	if !a.takesEvents() {
		return fault.New(CodeNotAccepted, "want", "text/event-stream")
	}
	select {
	case a.web.streams <- struct{}{}:
		return nil
	default:
		return fault.New(CodeOverloaded)
	}
}

// accept answers a notification. There is none that HTTP acts on: a client cancels by closing its request.
func (a *answerer) accept() {
	a.status = http.StatusAccepted
	a.rw.WriteHeader(a.status)
}

// headers compares the routing headers with the message. It also decides the era of a request that says nothing of it: the
// header does.
func (a *answerer) headers(r *request) *wire.Error {
	versions := a.r.Header.Values(headerVersion)
	legacy := mcp.LegacyProtocolVersions()
	if len(versions) == 1 && !slices.Contains(legacy, versions[0]) {
		r.meta.declared = true // so it is of the newer era, and needs _meta
	}
	if !r.modern() {
		if len(versions) > 1 || len(versions) == 1 && !slices.Contains(legacy, versions[0]) {
			return wire.Fail(wire.InvalidRequest, CodeHTTPProtocol, "version", plainHeader(strings.Join(versions, ", ")))
		}
		return nil
	}
	if r.meta.version == "" && len(versions) == 1 && versions[0] != mcp.ProtocolVersion20260728 {
		return unsupported(versions[0])
	}
	if r.meta.version == "" || !r.meta.caps && r.meta.version == mcp.ProtocolVersion20260728 {
		return r.checkMeta() // what is missing in the message is said first
	}
	if bad := a.header(headerVersion, r.meta.version); bad != nil {
		return bad
	}
	if bad := a.header(headerMethod, r.method); bad != nil {
		return bad
	}
	var field string
	switch r.method {
	case methodCall:
		field = "name"
	case methodGet, methodUpdate, methodCancel:
		field = "taskId"
	default:
		return nil
	}
	want, err := wire.Text(r.params.Get(field))
	if err != nil {
		return nil // refused later, with the reason
	}
	return a.header(headerName, want)
}

// header compares one header, which must be there exactly once.
func (a *answerer) header(name, want string) *wire.Error {
	values := a.r.Header.Values(name)
	if len(values) == 1 {
		if got, ok := decodeHeader(values[0]); ok && got == want {
			return nil
		}
	}
	return wire.Fail(wire.HeaderMismatch, CodeHeader, "header", name, "want", wire.Short(want))
}

// decodeHeader undoes the =?base64?…?= form for what is no plain text.
func decodeHeader(v string) (string, bool) {
	body, ok := strings.CutPrefix(v, "=?base64?")
	if !ok {
		return v, true
	}
	if body, ok = strings.CutSuffix(body, "?="); !ok {
		return "", false
	}
	b, err := base64.StdEncoding.Strict().DecodeString(body)
	return string(b), err == nil && utf8.Valid(b)
}

// statusOf is the HTTP status of an answer, by its JSON-RPC code. Legacy clients expect the codes of a well-formed request with
// 200.
func statusOf(r *request, code int) int {
	switch code {
	case wire.MethodNotFound:
		if r.modern() {
			return http.StatusNotFound
		}
		return http.StatusOK
	case wire.ParseError, wire.InvalidRequest, wire.HeaderMismatch, wire.MissingCapability, wire.UnsupportedVersion:
		return http.StatusBadRequest
	case wire.InvalidParams:
		if r.modern() {
			return http.StatusBadRequest
		}
	}
	return http.StatusOK
}

// reply writes one JSON answer.
func (a *answerer) reply(status int, rep wire.Reply) {
	buf := a.encode(rep)
	a.status = status
	h := a.rw.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(buf)))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	if a.web.open.full() { // others may wait: this client is told not to keep its connection, rather than cut off later
		h.Set("Connection", "close")
	}
	_ = a.control.SetWriteDeadline(time.Now().Add(a.web.opt.WriteTimeout))
	a.rw.WriteHeader(status)
	if _, err := a.rw.Write(buf); err != nil {
		a.status = statusGone
	}
}

func (a *answerer) encode(rep wire.Reply) []byte {
	var buf bytes.Buffer
	if err := rep.Append(&buf, a.web.core.render); err != nil {
		a.web.core.note(trace.Error, "mcp.encode", trace.F("detail", err.Error()))
	}
	return buf.Bytes()
}

// beat keeps a quiet stream, and what lies between, from being taken for dead.
const beat = 15 * time.Second

// takesEvents reports whether the client may be answered with events.
func (a *answerer) takesEvents() bool {
	accept := strings.Join(a.r.Header.Values("Accept"), ",")
	return accept == "" || strings.Contains(accept, "text/event-stream") || strings.Contains(accept, "*/*")
}

// stream answers with events: what comes before, what is followed, and the result.
func (a *answerer) stream(rep wire.Reply) {
	a.release()
	<-a.web.work // it may last: it is no longer work
	defer func() { a.web.work <- struct{}{} }()
	h := a.rw.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	ctx, cancel := context.WithCancel(a.r.Context())
	defer cancel()
	defer context.AfterFunc(a.web.stop, cancel)()
	ok := true
	for _, n := range rep.Before {
		ok = ok && a.event(wire.Reply{Before: []wire.Note{n}, NotesOnly: true})
	}
	if ok && rep.Follow != nil {
		ok = rep.Follow(ctx, beat, func(n *wire.Note) bool {
			if n == nil {
				return a.write(": \n\n")
			}
			return a.event(wire.Reply{Before: []wire.Note{*n}, NotesOnly: true})
		})
	}
	if ok {
		a.event(wire.Reply{ID: rep.ID, Result: rep.Result, Err: rep.Err})
	}
}

func (a *answerer) event(rep wire.Reply) bool {
	return a.write("event: message\ndata: " + strings.TrimSuffix(string(a.encode(rep)), "\n") + "\n\n")
}

func (a *answerer) write(text string) bool {
	_ = a.control.SetWriteDeadline(time.Now().Add(a.web.opt.WriteTimeout))
	if _, err := a.rw.Write([]byte(text)); err != nil || a.control.Flush() != nil {
		a.status = statusGone
		return false
	}
	return true
}

// quiet takes what net/http says of broken connections into the app log.
func quiet(c *core) *log.Logger { return log.New(httpNotes{c}, "", 0) }

type httpNotes struct{ core *core }

func (n httpNotes) Write(p []byte) (int, error) {
	n.core.note(trace.Debug, "mcp.http", trace.F("detail", wire.Short(strings.TrimSpace(string(p)))))
	return len(p), nil
}
