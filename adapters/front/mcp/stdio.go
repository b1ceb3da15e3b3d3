package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agent-mcp/agent-mcp/adapters/front/mcp/internal/line"
	"github.com/agent-mcp/agent-mcp/adapters/front/mcp/internal/wire"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/service"
	"github.com/agent-mcp/agent-mcp/ports/trace"
)

// End says why serving over stdio ended. Each is an ordinary end.
type End uint8

// Ends.
const (
	EndInput   End = iota // the client closed our input (EOF); everything read was answered
	EndOutput             // the client does not take our output any more (EPIPE)
	EndStopped            // the context was cancelled
)

func (e End) String() string {
	switch e {
	case EndInput:
		return "input"
	case EndOutput:
		return "output"
	}
	return "stopped"
}

// ServeStdio serves one client until its input ends, its output is closed, or ctx is cancelled; then it releases the
// owner's Tasks and returns (REC-04). One JSON message per line; out gets nothing but messages, one Write each.
//
// The error is nil, or why the input could not be read (the end is EndInput), or the Runner's fault of Release. A
// goroutine that is blocked in in.Read or out.Write when another end came stays blocked until the caller closes them.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) (End, error) {
	live, cancel := context.WithCancel(ctx)
	defer cancel()
	c := &stdio{core: s.core, owner: s.owner, limits: s.limits, out: out, desk: newDesk(s.limits), gone: make(chan struct{}), streams: make(chan struct{}, maxStreams)}
	c.live, c.mute = context.WithCancel(live)
	defer c.mute()
	ended := make(chan error, 1)
	go func() { ended <- c.read(live, in) }()
	s.ready()

	end, err := c.wait(ctx, ended)
	c.desk.close()
	cancel()
	c.settle(s.limits.Settle)
	c.released.Store(true)
	s.core.note(trace.Info, "mcp.end", trace.F("end", end.String()))
	if rerr := s.release(ctx); rerr != nil {
		err = errors.Join(err, rerr)
	}
	return end, err
}

// release stops the Tasks of the client that is gone.
func (s *Server) release(ctx context.Context) error {
	rctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.limits.Release)
	defer cancel()
	return s.core.runner.Release(rctx, s.owner)
}

// stdio is one client.
type stdio struct {
	core   *core
	owner  string
	limits Limits
	desk   *desk
	order  order

	live    context.Context    // of subscriptions: they end with the input
	mute    context.CancelFunc // ends it
	streams chan struct{}      // a token for each subscription

	write    sync.Mutex
	out      io.Writer
	broken   bool          // guarded by write: nothing more can be written
	gone     chan struct{} // closed when broken
	released atomic.Bool
	buffers  sync.Pool // of *bytes.Buffer
}

// wait returns at the first end. After EOF it waits for the answers to what was read.
func (c *stdio) wait(ctx context.Context, ended <-chan error) (End, error) {
	var err error
	select {
	case err = <-ended:
		c.mute()
	case <-c.gone:
		return EndOutput, nil
	case <-ctx.Done():
		return EndStopped, nil
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	timeout, cancel := context.WithTimeout(ctx, c.limits.Drain)
	defer cancel()
	stop := make(chan struct{})
	go func() {
		defer close(stop)
		select {
		case <-timeout.Done():
		case <-c.gone:
		}
	}()
	c.desk.drain(stop)
	switch {
	case ctx.Err() != nil:
		return EndStopped, err
	case c.isGone():
		return EndOutput, err
	}
	return EndInput, err
}

func (c *stdio) isGone() bool {
	select {
	case <-c.gone:
		return true
	default:
		return false
	}
}

// settle gives cancelled handlers a moment to return.
func (c *stdio) settle(d time.Duration) {
	timer := make(chan struct{})
	t := time.AfterFunc(d, func() { close(timer) })
	defer t.Stop()
	c.desk.drain(timer)
}

// read takes messages until the input or ctx ends.
func (c *stdio) read(ctx context.Context, in io.Reader) error {
	lines := line.NewReader(in, c.limits.LineBytes)
	for ctx.Err() == nil {
		text, err := lines.Next()
		switch {
		case errors.Is(err, line.ErrTooLong):
			c.send(wire.Reply{Err: wire.Fail(wire.InvalidRequest, CodeLineTooLong, "limit", c.limits.LineBytes)})
			continue
		case err != nil:
			return err
		}
		c.take(ctx, text)
	}
	return ctx.Err()
}

// take handles one line: refuses it, acts on a notification, or has a request served.
func (c *stdio) take(ctx context.Context, text []byte) {
	m, bad := wire.Parse(text)
	switch {
	case bad != nil:
		c.core.note(trace.Warn, "mcp.bad_message", trace.F("code", string(bad.Fault.Code)), trace.F("bytes", len(text)))
		c.send(wire.Reply{ID: m.ID, Err: bad})
	case m.Kind == wire.Notification:
		if m.Method == methodCancelled {
			c.cancel(m.Params)
		}
	case m.Kind == wire.Request:
		call := &call{key: m.ID.Key(), cost: len(text), work: func(call *call) { c.serve(call, m) }}
		if startsTask(m) {
			call.turn = c.order.take()
		}
		err := c.desk.submit(ctx, call)
		if err != nil {
			call.turn.leave()
		}
		if errors.Is(err, errIDInUse) {
			c.send(wire.Reply{ID: m.ID, Err: wire.Fail(wire.InvalidRequest, CodeIDInUse)})
		}
	}
}

// startsTask reports whether a request is an agent_run.
func startsTask(m wire.Message) bool {
	if m.Method != methodCall {
		return false
	}
	params, err := wire.Object(m.Params)
	if err != nil {
		return false // refused later
	}
	name, err := wire.Text(params.Get("name"))
	return err == nil && name == toolRun
}

func (c *stdio) cancel(params json.RawMessage) {
	members, err := wire.Object(params)
	if err != nil {
		return
	}
	if id, ok := wire.ParseID(members.Get("requestId")); ok {
		c.desk.cancel(id.Key())
	}
}

// serve answers one request, unless the client has cancelled it.
func (c *stdio) serve(call *call, m wire.Message) {
	rep, accepted := c.core.handle(call.ctx, m, c.owner, call.turn)
	if rep.Follow != nil {
		rep = c.follow(call.ctx, rep)
	}
	answered := c.desk.claim(call)
	if answered {
		c.send(rep)
	}
	if accepted != nil && (!answered || c.released.Load()) {
		c.abandon(call.ctx, accepted)
	}
}

// maxStreams is how many subscriptions a client may have open.
const maxStreams = 16

// follow sends what a subscription has to say and returns what is left to answer.
func (c *stdio) follow(ctx context.Context, rep wire.Reply) wire.Reply {
	select {
	case c.streams <- struct{}{}:
		defer func() { <-c.streams }()
	default:
		return wire.Reply{ID: rep.ID, Err: wire.Fail(wire.InvalidRequest, CodeOverloaded)}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.live, cancel)()
	c.send(wire.Reply{Before: rep.Before, NotesOnly: true})
	rep.Follow(ctx, time.Minute, func(n *wire.Note) bool {
		if n != nil && ctx.Err() == nil {
			c.send(wire.Reply{Before: []wire.Note{*n}, NotesOnly: true})
		}
		return !c.isGone()
	})
	return wire.Reply{ID: rep.ID, Result: rep.Result}
}

// abandon cancels a Task whose id no client knows, or whose client is gone already.
func (c *stdio) abandon(ctx context.Context, acc *service.Accepted) {
	if err := c.core.runner.Cancel(context.WithoutCancel(ctx), acc.TaskID); err != nil {
		c.core.note(trace.Warn, "mcp.abandon", trace.F("code", string(fault.CodeOf(err))))
	}
}

// keep is the largest buffer that is used again, in bytes.
const keep = 64 << 10

// send writes one reply as one Write. The first error ends all writing.
func (c *stdio) send(rep wire.Reply) {
	buf, ok := c.buffers.Get().(*bytes.Buffer)
	if !ok {
		buf = &bytes.Buffer{}
	}
	defer func() {
		if buf.Cap() <= keep {
			buf.Reset()
			c.buffers.Put(buf)
		}
	}()
	if err := rep.Append(buf, c.core.render); err != nil {
		c.core.note(trace.Error, "mcp.encode", trace.F("detail", err.Error()))
	}
	c.write.Lock()
	defer c.write.Unlock()
	if c.broken {
		return
	}
	if _, err := c.out.Write(buf.Bytes()); err != nil {
		c.broken = true
		c.core.note(trace.Info, "mcp.output_closed", trace.F("detail", err.Error()))
		close(c.gone)
	}
}
