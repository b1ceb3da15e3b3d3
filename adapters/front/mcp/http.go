package mcp

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/agent-mcp/agent-mcp/adapters/front/mcp/internal/wire"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/trace"
)

// Faults of an HTTP request before its message is looked at, and of a listener.
const (
	CodeNotLoopback  fault.Code = "mcp.not_loopback"  // args: address — of a listener (MCP-TR-02)
	CodeForeignHost  fault.Code = "mcp.foreign_host"  // args: host
	CodeForeignPage  fault.Code = "mcp.foreign_page"  // args: origin
	CodeNotPost      fault.Code = "mcp.not_post"      // args: method
	CodeNoPage       fault.Code = "mcp.no_page"       // args: path, want
	CodeContentType  fault.Code = "mcp.content_type"  // args: got
	CodeBodyTooLong  fault.Code = "mcp.body_too_long" // args: limit
	CodeOverloaded   fault.Code = "mcp.overloaded"    // try again
	CodeHeader       fault.Code = "mcp.header"        // args: header, want — missing, repeated, undecodable or different
	CodeNotAccepted  fault.Code = "mcp.not_accepted"  // args: want
	CodeHTTPProtocol fault.Code = "mcp.http_protocol" // args: version — of a legacy client's header
)

// HTTPOptions say how HTTP is served. Zero values take the default.
type HTTPOptions struct {
	Path        string // of the one endpoint; default /mcp
	BodyBytes   int64  // one message; default 32 MiB
	Connections int    // open at once, all listeners together; more wait; default 512
	Streams     int    // answers by events open at once; default 64

	HeaderTimeout time.Duration // for a request's head; default 10 s
	BodyTimeout   time.Duration // for a request's body; default 60 s
	WriteTimeout  time.Duration // for each write to a client that does not read; default 30 s
	IdleTimeout   time.Duration // of a connection without a request; default 2 min
}

func (o HTTPOptions) withDefaults() HTTPOptions {
	set := func(v *time.Duration, d time.Duration) {
		if *v <= 0 {
			*v = d
		}
	}
	if o.Path == "" {
		o.Path = "/mcp"
	}
	if o.BodyBytes <= 0 {
		o.BodyBytes = 32 << 20
	}
	if o.Connections <= 0 {
		o.Connections = 512
	}
	if o.Streams <= 0 {
		o.Streams = 64
	}
	set(&o.HeaderTimeout, 10*time.Second)
	set(&o.BodyTimeout, 60*time.Second)
	set(&o.WriteTimeout, 30*time.Second)
	set(&o.IdleTimeout, 2*time.Minute)
	return o
}

// headBytes bounds a request's head.
const headBytes = 64 << 10

// web serves HTTP clients.
type web struct {
	core    *core
	opt     HTTPOptions
	work    chan struct{} // a token for each request that is worked on
	streams chan struct{} // a token for each answer by events
	large   *large
	open    *connections
	stop    context.Context // done when serving ends: subscriptions end with it
}

// ServeHTTP serves any number of clients on listeners, which must be on 127.0.0.1 or ::1 (MCP-TR-02), until ctx ends or a listener
// fails. Then it accepts nothing more, lets requests in flight be answered for at most Limits.Drain, and returns. A client that
// goes away ends its request and nothing else: the Tasks it started go on (MCP-ASY-01).
func (s *Server) ServeHTTP(ctx context.Context, listeners []net.Listener, o HTTPOptions) (End, error) {
	for _, l := range listeners {
		at, err := netip.ParseAddrPort(l.Addr().String())
		if err != nil || at.Addr() != netip.IPv6Loopback() && at.Addr().Unmap() != netip.AddrFrom4([4]byte{127, 0, 0, 1}) {
			return EndStopped, errors.Join(fault.New(CodeNotLoopback, "address", l.Addr().String()), closeAll(listeners))
		}
	}
	o = o.withDefaults()
	live, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	open := newConnections(o.Connections, live.Done())
	w := &web{
		core: s.core, opt: o, stop: live, open: open,
		work: make(chan struct{}, s.limits.InFlight), streams: make(chan struct{}, o.Streams), large: newLarge(),
	}
	server := &http.Server{
		Handler: http.HandlerFunc(w.serve), ReadHeaderTimeout: o.HeaderTimeout, IdleTimeout: o.IdleTimeout, MaxHeaderBytes: headBytes,
		DisableGeneralOptionsHandler: true,
	}
	server.ErrorLog = quiet(s.core)
	server.ConnState, server.ConnContext = open.note, open.attach
	ended := make(chan error, len(listeners))
	for _, l := range listeners {
		go func() { ended <- server.Serve(&bounded{Listener: l, of: open}) }()
	}
	s.ready()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
	}
	cancel()
	drain, done := context.WithTimeout(context.WithoutCancel(ctx), s.limits.Drain)
	defer done()
	open.close()
	if server.Shutdown(drain) != nil {
		_ = server.Close()
	}
	s.core.note(trace.Info, "mcp.end", trace.F("end", EndStopped.String()))
	return EndStopped, err
}

func closeAll(listeners []net.Listener) (err error) {
	for _, l := range listeners {
		err = errors.Join(err, l.Close())
	}
	return err
}

// serve answers one HTTP request.
func (w *web) serve(rw http.ResponseWriter, r *http.Request) {
	start := time.Now()
	a := &answerer{web: w, rw: rw, control: http.NewResponseController(rw), r: r, status: http.StatusOK}
	defer func() {
		if p := recover(); p != nil && p != http.ErrAbortHandler { //nolint:errorlint // the value itself is the signal
			w.core.note(trace.Error, "mcp.panic", trace.F("panic", panicText(p)))
			a.status = http.StatusInternalServerError
		}
		w.log(a, time.Since(start))
	}()
	defer a.release()
	m, ok := a.admit()
	if !ok {
		return
	}
	select {
	case w.work <- struct{}{}:
		defer func() { <-w.work }()
	case <-r.Context().Done():
		a.status = statusGone
		return
	}
	a.dispatch(m)
}

// statusGone is what the log says of a client that went away; it is never sent.
const statusGone = 499

// log notes a request as OBS-03 and OBS-04 say: nothing of the body, the query, credentials or forwarding headers.
func (w *web) log(a *answerer, took time.Duration) {
	local := ""
	if l, ok := a.r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		local = l.String()
	}
	fields := []trace.Field{
		trace.F("remote", a.r.RemoteAddr), trace.F("local", local), trace.F("method", plainHeader(a.r.Method)), trace.F("path", plainHeader(a.r.URL.Path)),
		trace.F("status", a.status), trace.F("duration", took),
	}
	for name, header := range map[string]string{"mcp_protocol_version": headerVersion, "mcp_method": headerMethod, "mcp_name": headerName} {
		if v := a.r.Header.Get(header); v != "" {
			fields = append(fields, trace.F(name, plainHeader(v)))
		}
	}
	w.core.trace.Emit(trace.Event{At: time.Now(), Stream: trace.HTTP, Level: trace.Info, Name: "http.request", Fields: fields})
}

// plainHeader makes what a client wrote fit for a log.
func plainHeader(s string) string {
	return wire.Short(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '\uFFFD'
		}
		return r
	}, s))
}

// smallBytes of a message need no leave: the number of connections bounds them.
const smallBytes = 64 << 10

// largeRate is what a client must send of a large message in each second, after the first few.
const (
	largeRate  = 4 << 20
	largeGrace = 5 * time.Second
	largeWait  = 15 * time.Second // for the turn of one
	largeKeep  = time.Minute      // the memory of a large message, for the next one
	largeQueue = 8                // so many wait at most: each holds a connection that nobody else gets
)

// large is the one large message that is held at once: its memory is used again and again.
type large struct {
	turn chan struct{} // holds a token while nobody has it
	wait chan struct{} // a token for each that waits for it
	buf  []byte        // of who has the turn
	drop *time.Timer
}

func newLarge() *large {
	l := &large{turn: make(chan struct{}, 1), wait: make(chan struct{}, largeQueue)}
	l.turn <- struct{}{}
	return l
}

func (l *large) take(ctx context.Context) bool {
	select {
	case l.wait <- struct{}{}:
		defer func() { <-l.wait }()
	default:
		return false
	}
	wait := time.NewTimer(largeWait)
	defer wait.Stop()
	select {
	case <-l.turn:
		return true
	case <-wait.C:
	case <-ctx.Done():
	}
	return false
}

func (l *large) give() {
	if l.drop == nil {
		l.drop = time.AfterFunc(largeKeep, func() {
			select {
			case <-l.turn:
				l.buf = nil
				l.turn <- struct{}{}
			default: // it is in use
			}
		})
	} else {
		l.drop.Reset(largeKeep)
	}
	l.turn <- struct{}{}
}

// body reads the message. A large one waits for its turn, keeps it until release, and must come at a decent rate.
func (a *answerer) body() ([]byte, *fault.Error) {
	w, limit := a.web, a.web.opt.BodyBytes
	if a.r.ContentLength > limit {
		return nil, fault.New(CodeBodyTooLong, "limit", limit)
	}
	_ = a.control.SetReadDeadline(time.Now().Add(w.opt.BodyTimeout))
	small := make([]byte, min(max(a.r.ContentLength, 512)+1, smallBytes))
	if a.r.ContentLength < 0 {
		small = make([]byte, smallBytes)
	}
	n, err := io.ReadFull(a.r.Body, small)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF) && (a.r.ContentLength < 0 || int64(n) == a.r.ContentLength):
		return small[:n], nil
	case err != nil:
		return nil, fault.Wrap(err, fault.CodeCancelled)
	}
	a.at(busy) // its turn comes, and then its rate is watched
	if !w.large.take(a.r.Context()) {
		return nil, fault.New(CodeOverloaded)
	}
	a.hasLarge = true
	want := a.r.ContentLength
	if want < 0 {
		want = limit
	}
	_ = a.control.SetReadDeadline(time.Now().Add(min(w.opt.BodyTimeout, largeGrace+time.Duration(want/largeRate)*time.Second)))
	return w.large.read(small[:n], io.LimitReader(a.r.Body, limit+1-int64(n)), a.r.ContentLength, limit)
}

// read fills the one buffer with what is there and what follows.
func (l *large) read(begun []byte, rest io.Reader, length, limit int64) ([]byte, *fault.Error) {
	if int64(cap(l.buf)) < length+1 {
		l.buf = nil // first: both at once would be too much
		l.buf = make([]byte, 0, length+1)
	}
	buf := l.buf[:copy(l.buf[:cap(l.buf)], begun)]
	if len(buf) < len(begun) {
		buf = append(buf, begun[len(buf):]...)
	}
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := rest.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		l.buf = buf
		switch {
		case int64(len(buf)) > limit:
			return nil, fault.New(CodeBodyTooLong, "limit", limit)
		case errors.Is(err, io.EOF):
			return buf, nil
		case err != nil:
			return nil, fault.Wrap(err, fault.CodeCancelled)
		}
	}
}

// release gives the turn of a large message up; its bytes may not be used any more.
func (a *answerer) release() {
	if a.hasLarge {
		a.hasLarge = false
		a.web.large.give()
	}
}
