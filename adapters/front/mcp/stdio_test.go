package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/front/mcp"
	"github.com/agent-mcp/agent-mcp/conformance/fronttest"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// atEOF reads text and then says that it has come to the end.
type atEOF struct {
	io.Reader
	once  sync.Once
	ended chan struct{}
}

func (r *atEOF) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil {
		r.once.Do(func() { close(r.ended) })
	}
	return n, err
}

// 20 piped calls then EOF → 20 answers, even when no handler gets on before the EOF; the Tasks are released after them.
func TestServeStdio_EOFAnswersEverythingRead(t *testing.T) {
	var input strings.Builder
	for i := range 20 {
		input.WriteString(runCall(fmt.Sprint(i)) + "\n")
	}
	in := &atEOF{Reader: strings.NewReader(strings.TrimSuffix(input.String(), "\n")), ended: make(chan struct{})}
	var out lockedBuffer
	r := &fronttest.Runner{}
	r.Before = func(_ context.Context, call string) error {
		switch call {
		case "run":
			<-in.ended
		case "release":
			assert.Len(t, out.lines(), 20, "released before everything was answered")
		}
		return nil
	}
	end, err := serverOf(options(r)).ServeStdio(context.Background(), in, &out)
	require.NoError(t, err)
	assert.Equal(t, mcp.EndInput, end)
	var ids []string
	for _, l := range out.lines() {
		ids = append(ids, string(fronttest.Decode(t, l).ID))
	}
	slices.Sort(ids)
	assert.Len(t, slices.Compact(ids), 20)
	assert.Equal(t, []string{owner}, r.Released()) // REC-04
	assert.NotContains(t, r.States(), service.Queued)
	for _, req := range r.Requests() {
		assert.Equal(t, owner, req.Owner)
	}
}

func TestServeStdio_EmptyInputEndsAtOnce(t *testing.T) {
	null, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer func() { _ = null.Close() }()
	r, ready := &fronttest.Runner{}, 0
	o := options(r)
	o.Ready = func() { ready++ }
	var out lockedBuffer
	end, err := serverOf(o).ServeStdio(context.Background(), null, &out)
	require.NoError(t, err)
	assert.Equal(t, mcp.EndInput, end)
	assert.Empty(t, out.lines())
	assert.Equal(t, 1, ready) // OBS-02
	assert.Equal(t, []string{owner}, r.Released())
}

func TestServeStdio_Framing(t *testing.T) {
	input := "\xef\xbb\xbf" + ping("1") + "\r\n\r\n  \n" + ping("2") + "\n" + ping("3")
	got := piped(t, options(&fronttest.Runner{}), input)
	assert.Len(t, got, 3)
}

// AT-01 in both eras on one connection; initialize is accepted after a discover.
func TestServeStdio_ErasMix(t *testing.T) {
	s := open(t, options(&fronttest.Runner{}))
	assert.Equal(t, "complete", s.ask(fronttest.Request("1", "server/discover", fronttest.Meta)).ResultType)
	legacy := s.ask(fronttest.Request("2", "initialize", `"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}`))
	assert.Nil(t, legacy.Error)
	assert.Empty(t, legacy.ResultType)
	s.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	run := s.ask(fronttest.Request("3", "tools/call", `"name":"agent_run","arguments":{"request":"x"}`))
	assert.Empty(t, run.ResultType)
	id := strings.TrimPrefix(strings.Split(run.Text, "\n")[0], "Task ID: ")
	status := s.ask(fronttest.Call("4", "agent_status", `{"task_id":"`+id+`"}`))
	assert.Equal(t, "complete", status.ResultType)
	assert.Contains(t, status.Text, id)
	assert.Contains(t, status.Text, "State: queued")
	assert.Empty(t, s.finish())
}

func TestServeStdio_OversizedLine(t *testing.T) {
	o := options(&fronttest.Runner{})
	o.Limits.LineBytes = 1000
	s := open(t, o)
	a := s.ask(fronttest.Call("1", "agent_run", `{"request":"`+strings.Repeat("x", 200_000)+`"}`))
	assert.Equal(t, -32600, a.Error.Code)
	assert.Equal(t, "mcp.line_too_long limit=1000", a.Error.Message)
	assert.Empty(t, a.ID)
	s.sync()
}

// 5,000 calls: never more at work than the cap, few goroutines, one answer each.
func TestServeStdio_FewGoroutines(t *testing.T) {
	const n = 5000
	base := runtime.NumGoroutine()
	var now, most, goroutines atomic.Int64
	raise := func(v *atomic.Int64, to int64) {
		for old := v.Load(); to > old && !v.CompareAndSwap(old, to); old = v.Load() {
		}
	}
	r := &fronttest.Runner{Before: func(context.Context, string) error {
		raise(&most, now.Add(1))
		alive := runtime.NumGoroutine()
		for range 9 { // the runtime counts ended ones while they move between its lists
			alive = min(alive, runtime.NumGoroutine())
		}
		raise(&goroutines, int64(alive-base))
		runtime.Gosched()
		now.Add(-1)
		return nil
	}}
	var input strings.Builder
	for i := range n {
		input.WriteString(fronttest.Call(fmt.Sprint(i), "agent_status", `{"task_id":"`+fronttest.NoTask+`"}`) + "\n")
	}
	o := options(r)
	o.Limits.InFlight = 16
	assert.Len(t, piped(t, o, input.String()), n)
	assert.LessOrEqual(t, most.Load(), int64(16))
	assert.LessOrEqual(t, goroutines.Load(), int64(16+8))
}

// Big requests share one budget: what is read but not answered stays bounded.
func TestServeStdio_HeldBytes(t *testing.T) {
	var now, most atomic.Int64
	r := &fronttest.Runner{Before: func(_ context.Context, call string) error {
		if call == "run" {
			if v := now.Add(1); v > most.Load() {
				most.Store(v)
			}
			runtime.Gosched()
			now.Add(-1)
		}
		return nil
	}}
	o := options(r)
	o.Limits.HeldBytes = 150_000
	var input strings.Builder
	for i := range 20 {
		input.WriteString(fronttest.Call(fmt.Sprint(i), "agent_run", `{"request":"`+strings.Repeat("x", 100_000)+`"}`) + "\n")
	}
	assert.Len(t, piped(t, o, input.String()), 20)
	assert.EqualValues(t, 1, most.Load())
}

func TestServeStdio_PanicStaysProtocol(t *testing.T) {
	r := &fronttest.Runner{}
	r.Before = func(_ context.Context, call string) error {
		if call == "run" {
			panic("boom")
		}
		return nil
	}
	seen := &events{}
	o := options(r)
	o.Trace = seen
	s := open(t, o)
	for _, id := range []string{`1`, `"two"`} {
		a := s.ask(runCall(id))
		require.NotNil(t, a.Error)
		assert.Equal(t, -32603, a.Error.Code)
		assert.Equal(t, "mcp.internal", a.Error.Message)
		assert.Equal(t, id, string(a.ID))
	}
	s.sync()
	assert.Len(t, seen.named("mcp.panic"), 2)
}

// A bug behind the Runner is an internal error whose details stay in the log.
func TestServeStdio_InternalError(t *testing.T) {
	r := &fronttest.Runner{Before: func(_ context.Context, call string) error {
		if call == "status" {
			return errors.New("secret detail")
		}
		return nil
	}}
	seen := &events{}
	o := options(r)
	o.Trace = seen
	a := open(t, o).ask(fronttest.Call("1", "agent_status", `{"task_id":"`+fronttest.NoTask+`"}`))
	require.NotNil(t, a.Error)
	assert.Equal(t, -32603, a.Error.Code)
	assert.NotContains(t, a.Error.Message, "secret")
	assert.Len(t, seen.named("mcp.internal"), 1)
}

func TestServeStdio_Errors(t *testing.T) {
	boom := errors.New("boom")
	end, err := serverOf(options(&fronttest.Runner{})).ServeStdio(context.Background(), iotest.ErrReader(boom), io.Discard)
	assert.Equal(t, mcp.EndInput, end)
	assert.ErrorIs(t, err, boom)

	r := &fronttest.Runner{Before: func(_ context.Context, call string) error { return boom }}
	_, err = serverOf(options(r)).ServeStdio(context.Background(), strings.NewReader(""), io.Discard)
	assert.ErrorIs(t, err, boom, "a Task that may still run is no success")
}

// SEC-INV-12: one Write per message, and nothing but messages.
func TestServeStdio_OneWritePerMessage(t *testing.T) {
	var out lockedBuffer
	input := strings.Join([]string{ping("1"), "garbage", runCall("2"), "[]", fronttest.Request("3", "tools/list", "")}, "\n")
	_, err := serverOf(options(&fronttest.Runner{})).ServeStdio(context.Background(), strings.NewReader(input), &out)
	require.NoError(t, err)
	require.Len(t, out.writes, 5)
	for _, w := range out.writes {
		text, ok := strings.CutSuffix(w, "\n")
		require.True(t, ok)
		fronttest.Decode(t, text)
	}
}

// lockedBuffer keeps each Write.
type lockedBuffer struct {
	mu     sync.Mutex
	writes []string
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.writes = append(b.writes, string(p))
	return len(p), nil
}

func (b *lockedBuffer) lines() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.writes) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(strings.Join(b.writes, ""), "\n"), "\n")
}

// Tasks are accepted in the order in which their calls were read, whatever stands between them.
func TestServeStdio_RunsInOrder(t *testing.T) {
	r := &fronttest.Runner{Before: func(context.Context, string) error { runtime.Gosched(); return nil }}
	var input strings.Builder
	for i := range 200 {
		input.WriteString(fronttest.Call(fmt.Sprint(i), "agent_run", fmt.Sprintf(`{"request":"%d"}`, i)) + "\n")
		input.WriteString(ping(fmt.Sprintf(`"p%d"`, i)) + "\n")
		input.WriteString(fronttest.Call(fmt.Sprintf(`"bad%d"`, i), "agent_run", `{}`) + "\n")
	}
	assert.Len(t, piped(t, options(r), input.String()), 600)
	for i, req := range r.Requests() {
		require.Equal(t, fmt.Sprint(i), req.Request)
	}
}

// What the server holds stays near its budget, however much a client sends at once.
func TestServeStdio_MemoryIsBounded(t *testing.T) {
	var base, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&base)
	var mu sync.Mutex
	var most uint64
	r := &fronttest.Runner{Before: func(_ context.Context, call string) error {
		if call == "run" {
			mu.Lock()
			defer mu.Unlock()
			runtime.GC()
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapAlloc)
		}
		return nil
	}}
	o := options(r)
	o.Limits.HeldBytes = 4 << 20
	line := fronttest.Call("%d", "agent_run", `{"request":"`+strings.Repeat("x", 2<<20)+`"}`) + "\n" // above the Runner's limit
	var lines []io.Reader
	for i := range 16 {
		before, after, _ := strings.Cut(line, "%d")
		lines = append(lines, strings.NewReader(before), strings.NewReader(fmt.Sprint(i)), strings.NewReader(after))
	}
	var out lockedBuffer
	_, err := serverOf(o).ServeStdio(context.Background(), io.MultiReader(lines...), &out)
	require.NoError(t, err)
	assert.Len(t, out.lines(), 16)
	assert.Less(t, most, base.HeapAlloc+24<<20)
}
