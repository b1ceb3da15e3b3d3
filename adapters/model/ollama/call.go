package ollama

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
)

// call is one exchange and its time limits. The limits end it by cancelling ctx with the fault as the cause.
type call struct {
	m      *Model
	caller context.Context // ends when the caller gives up
	ctx    context.Context // ends then, and when a limit passes
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	timer *time.Timer
	moved bool // something of the reply's body arrived
	over  bool
}

// start begins the wait for the first piece.
func (m *Model) start(caller context.Context) *call {
	c := &call{m: m, caller: caller}
	c.ctx, c.cancel = context.WithCancelCause(caller)
	c.timer = time.AfterFunc(m.cfg.FirstChunkTimeout, c.expire)
	return c
}

func (c *call) expire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return
	}
	if c.moved {
		c.cancel(fault.New(model.CodeIdle, "limit", c.m.cfg.IdleTimeout.String()))
	} else {
		c.cancel(fault.New(model.CodeFirstChunk, "limit", c.m.cfg.FirstChunkTimeout.String()))
	}
}

// touch says that the reply moved on.
func (c *call) touch() {
	c.mu.Lock()
	c.moved = true
	c.timer.Reset(c.m.cfg.IdleTimeout)
	c.mu.Unlock()
}

// pause stops the clock while the caller looks at a piece; the next touch starts it again.
func (c *call) pause() {
	c.mu.Lock()
	c.timer.Stop()
	c.mu.Unlock()
}

func (c *call) end() {
	c.mu.Lock()
	c.over = true
	c.timer.Stop()
	c.mu.Unlock()
	c.cancel(nil)
}

// broken tells why the exchange failed: the caller, a limit, or def.
func (c *call) broken(def *fault.Error) *fault.Error {
	if err := c.caller.Err(); err != nil {
		return fault.From(err)
	}
	var f *fault.Error
	if errors.As(context.Cause(c.ctx), &f) {
		return f
	}
	return def
}

// do sends a request. Any status but 200 is a fault.
func (c *call) do(method, path string, body []byte, name string) (*http.Response, error) {
	var rd io.Reader
	if body != nil {
		rd = bytes.NewReader(body)
	}
	r, err := http.NewRequestWithContext(c.ctx, method, c.m.base.JoinPath(path).String(), rd)
	if err != nil {
		return nil, fault.Wrap(err, CodeBadURL, "url", c.m.base.Redacted(), "detail", err.Error())
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Accept", "application/x-ndjson, application/json")
	res, err := c.m.client.Do(r)
	if err != nil {
		return nil, c.broken(c.m.unreachable(err))
	}
	if res.StatusCode == http.StatusOK {
		return res, nil
	}
	defer res.Body.Close() //nolint:errcheck // nothing is left to read
	text, err := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	if f := c.broken(nil); err != nil && f != nil {
		return nil, f
	}
	return nil, classify(res, text, name) // what could be read of the body is enough
}

// unreachable tells why no reply came.
func (m *Model) unreachable(err error) *fault.Error {
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" && op.Timeout() || strings.Contains(err.Error(), "TLS handshake timeout") {
		return fault.Wrap(err, model.CodeConnectTimeout, "url", m.base.Redacted(), "limit", m.cfg.ConnectTimeout.String())
	}
	if s := err.Error(); strings.Contains(s, "malformed HTTP") || strings.Contains(s, "HTTP response to HTTPS") {
		return fault.Wrap(err, model.CodeProtocol, "detail", clean(s))
	}
	return fault.Wrap(err, model.CodeUnreachable, "url", m.base.Redacted(), "detail", clean(err.Error()))
}

// notStream refuses a 200 that is a page of somebody else.
func notStream(res *http.Response) *fault.Error {
	ct := strings.ToLower(res.Header.Get("Content-Type"))
	if !strings.Contains(ct, "html") {
		return nil
	}
	text, _ := io.ReadAll(io.LimitReader(res.Body, 4<<10)) // only for the message
	return fault.New(model.CodeProtocol, "detail", detail(text))
}
