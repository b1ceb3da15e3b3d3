package mcp_test

import (
	"bufio"
	"context"
	"io"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/front/mcp"
	"github.com/agent-mcp/agent-mcp/conformance/fronttest"
	"github.com/agent-mcp/agent-mcp/ports/trace"
)

// session is a server with a client at its pipes.
type session struct {
	t      *testing.T
	in     *io.PipeWriter
	out    *io.PipeReader
	lines  *bufio.Scanner
	cancel context.CancelFunc
	done   chan struct{}
	end    mcp.End
	err    error
}

func serverOf(o mcp.Options) *mcp.Server {
	s, err := mcp.New(o)
	if err != nil {
		panic(err)
	}
	return s
}

func open(t *testing.T, o mcp.Options) *session {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	s := &session{t: t, in: inW, out: outR, lines: bufio.NewScanner(outR), cancel: cancel, done: make(chan struct{})}
	s.lines.Buffer(nil, 64<<20)
	server := serverOf(o)
	go func() {
		defer close(s.done)
		s.end, s.err = server.ServeStdio(ctx, inR, outW)
		_ = outW.Close()
	}()
	t.Cleanup(func() {
		cancel()
		_ = inW.Close()
		_ = outR.Close()
		<-s.done
	})
	return s
}

func (s *session) send(line string) {
	s.t.Helper()
	_, err := io.WriteString(s.in, line+"\n")
	require.NoError(s.t, err)
}

func (s *session) receive() fronttest.Answer {
	s.t.Helper()
	require.True(s.t, s.lines.Scan(), "the output ended")
	return fronttest.Decode(s.t, s.lines.Text())
}

func (s *session) ask(line string) fronttest.Answer {
	s.t.Helper()
	s.send(line)
	return s.receive()
}

// sync returns when everything sent so far has been read by the server. Nothing else may be unanswered.
func (s *session) sync() {
	s.t.Helper()
	a := s.ask(ping(`"sync"`))
	require.Equal(s.t, `"sync"`, string(a.ID))
}

// finish closes the input and waits for the end; the rest of the output is returned.
func (s *session) finish() []fronttest.Answer {
	s.t.Helper()
	require.NoError(s.t, s.in.Close())
	var rest []fronttest.Answer
	for s.lines.Scan() {
		rest = append(rest, fronttest.Decode(s.t, s.lines.Text()))
	}
	<-s.done
	return rest
}

func ping(id string) string { return fronttest.Request(id, "ping", "") }

func runCall(id string) string { return fronttest.Call(id, "agent_run", `{"request":"work"}`) }

func cancelled(id string) string {
	return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"changed my mind"}}`
}

// events collects what was traced.
type events struct {
	mu  sync.Mutex
	all []trace.Event
}

func (e *events) Emit(ev trace.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, ev)
}

func (e *events) named(name string) (found []trace.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, ev := range e.all {
		if ev.Name == name {
			found = append(found, ev)
		}
	}
	return found
}
