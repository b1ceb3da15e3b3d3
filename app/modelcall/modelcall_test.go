package modelcall_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/app/modelcall"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
	"github.com/agent-mcp/agent-mcp/ports/trace"
)

// inner answers with the errors in order, then with success.
type inner struct {
	errs []error
	seen []model.Request
	do   func() // runs in every call
}

func (i *inner) Chat(_ context.Context, req model.Request, onChunk func(model.Chunk)) (model.Reply, error) {
	i.seen = append(i.seen, req)
	if onChunk != nil {
		onChunk(model.Chunk{Content: "x"})
	}
	if i.do != nil {
		i.do()
	}
	if n := len(i.seen); n <= len(i.errs) {
		return model.Reply{}, i.errs[n-1]
	}
	return model.Reply{DoneReason: "stop"}, nil
}

// hand is a clock whose pauses pass at once and are noted, unless held.
type hand struct {
	now    time.Time
	pauses []time.Duration
	held   bool
	onWait func()
	let    int // timers released early
}

func (h *hand) Now() time.Time { h.now = h.now.Add(time.Millisecond); return h.now }

func (h *hand) After(d time.Duration) (<-chan time.Time, func()) {
	h.pauses = append(h.pauses, d)
	if h.onWait != nil {
		h.onWait()
	}
	c := make(chan time.Time, 1)
	if !h.held {
		c <- h.now
	}
	return c, func() { h.let++ }
}

type sink struct{ events []trace.Event }

func (s *sink) Emit(e trace.Event) { s.events = append(s.events, e) }

func times(n int, err error) (out []error) {
	for range n {
		out = append(out, err)
	}
	return out
}

var ask = model.Request{Model: "m"}

// OLL-12, REC-01: the first try and three more, with pauses that double up to their bound; every transient code alike.
func TestChat_RetriesTransientFaults(t *testing.T) {
	for _, code := range []fault.Code{
		model.CodeUnreachable, model.CodeConnectTimeout, model.CodeFirstChunk, model.CodeIdle,
		model.CodeIncomplete, model.CodeRunnerDied, model.CodeServer, model.CodeBusy,
	} {
		for _, c := range []struct{ fail, calls int }{{0, 1}, {1, 2}, {3, 4}, {4, 4}, {9, 4}} {
			in, clk := &inner{errs: times(c.fail, fault.New(code))}, &hand{}
			m := modelcall.New(in, clk, modelcall.Config{Retries: 3, Backoff: 500 * time.Millisecond, MaxBackoff: 1500 * time.Millisecond})
			r, err := m.Chat(context.Background(), ask, nil)
			assert.Len(t, in.seen, c.calls)
			assert.Equal(t, []time.Duration{500e6, 1000e6, 1500e6}[:c.calls-1], append([]time.Duration{}, clk.pauses...))
			assert.Equal(t, len(clk.pauses), clk.let, "a timer was left running")
			if c.fail > 3 {
				assert.Equal(t, code, fault.CodeOf(err))
				assert.Equal(t, model.Reply{}, r)
			} else {
				require.NoError(t, err)
				assert.Equal(t, "stop", r.DoneReason)
			}
		}
	}
}

func TestChat_NeverRetriesTheRest(t *testing.T) {
	for _, err := range []error{
		fault.New(model.CodeNotFound), fault.New(model.CodeNoTools), fault.New(model.CodeNoVision), fault.New(model.CodeBadRequest),
		fault.New(model.CodeForbidden), fault.New(model.CodeQuota), fault.New(model.CodeSignIn), fault.New(model.CodeProtocol),
		fault.New(model.CodeBrokenCall), fault.New(model.CodeRepetition), fault.New(model.CodeContextOverflow),
		fault.New(model.CodeNoThinking), fault.New(fault.CodeCancelled), errors.New("a bug"),
	} {
		in, clk := &inner{errs: times(9, err)}, &hand{}
		_, got := modelcall.New(in, clk, modelcall.Config{Retries: 3, Backoff: time.Second}).Chat(context.Background(), ask, nil)
		assert.Equal(t, fault.CodeOf(err), fault.CodeOf(got))
		assert.Len(t, in.seen, 1, "%v", err)
	}
}

// A pause lasts between half and all of its length, and never overflows.
func TestChat_Jitter(t *testing.T) {
	for jitter, want := range map[float64]time.Duration{0: 5e9, 0.5: 7.5e9, 0.999: 9.995e9} {
		in, clk := &inner{errs: times(80, fault.New(model.CodeBusy))}, &hand{}
		m := modelcall.New(in, clk, modelcall.Config{Retries: 80, Backoff: 10 * time.Second, MaxBackoff: 10 * time.Second, Jitter: func() float64 { return jitter }})
		_, err := m.Chat(context.Background(), ask, nil)
		require.NoError(t, err)
		assert.Equal(t, want, clk.pauses[79])
	}
	in, clk := &inner{errs: times(80, fault.New(model.CodeBusy))}, &hand{}
	_, err := modelcall.New(in, clk, modelcall.Config{Retries: 80, Backoff: time.Second}).Chat(context.Background(), ask, nil)
	require.NoError(t, err)
	for _, p := range clk.pauses {
		assert.Positive(t, p)
	}
}

// OLL-14: a model without thinking is asked once more without it, for this call and from then on; that is no retry.
func TestChat_OnceAgainWithoutThink(t *testing.T) {
	think := ask
	think.Think = model.Think{Set: true, On: true, Level: "high"}
	in, clk, log := &inner{errs: []error{fault.New(model.CodeNoThinking)}}, &hand{}, &sink{}
	m := modelcall.New(in, clk, modelcall.Config{Trace: log})
	for range 2 {
		_, err := m.Chat(context.Background(), think, nil)
		require.NoError(t, err)
	}
	require.Len(t, in.seen, 3)
	assert.True(t, in.seen[0].Think.Set)
	assert.Equal(t, model.Think{}, in.seen[1].Think)
	assert.Equal(t, model.Think{}, in.seen[2].Think)
	assert.Empty(t, clk.pauses)
	require.Len(t, log.events, 1)
	assert.Equal(t, "model.think_refused", log.events[0].Name)
	assert.True(t, think.Think.Set, "the caller's request is not changed")

	in = &inner{errs: times(2, fault.New(model.CodeNoThinking))}
	_, err := modelcall.New(in, clk, modelcall.Config{Retries: 3}).Chat(context.Background(), think, nil)
	assert.Equal(t, model.CodeNoThinking, fault.CodeOf(err))
	assert.Len(t, in.seen, 2, "once, not for ever")
}

func TestChat_ContextEnds(t *testing.T) {
	t.Run("before", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		in := &inner{}
		_, err := modelcall.New(in, &hand{}, modelcall.Config{Retries: 3}).Chat(ctx, ask, nil)
		assert.Equal(t, fault.CodeCancelled, fault.CodeOf(err))
		assert.Empty(t, in.seen)
	})
	t.Run("in a pause", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		in, clk := &inner{errs: times(9, fault.New(model.CodeBusy))}, &hand{held: true, onWait: cancel}
		_, err := modelcall.New(in, clk, modelcall.Config{Retries: 3, Backoff: time.Second}).Chat(ctx, ask, nil)
		assert.Equal(t, fault.CodeCancelled, fault.CodeOf(err))
		assert.Len(t, in.seen, 1)
		assert.Equal(t, 1, clk.let)
	})
	t.Run("in a call", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		in, clk := &inner{errs: times(9, fault.New(model.CodeIncomplete)), do: cancel}, &hand{}
		_, err := modelcall.New(in, clk, modelcall.Config{Retries: 3, Backoff: time.Second}).Chat(ctx, ask, nil)
		assert.Equal(t, fault.CodeCancelled, fault.CodeOf(err))
		assert.Len(t, in.seen, 1)
	})
}

// LOG-04: every try is told with its correlation, before the next begins, so that lost pieces can be thrown away.
func TestChat_Hooks(t *testing.T) {
	in, log := &inner{errs: []error{fault.New(model.CodeIdle)}}, &sink{}
	text := ""
	var tried []modelcall.Attempt
	ctx := modelcall.With(context.Background(), modelcall.Hooks{
		Ref: trace.Event{Session: "s", Task: "t", PlannerTask: "p", Call: "c"},
		Tried: func(a modelcall.Attempt) {
			tried = append(tried, a)
			if a.Again {
				text = ""
			}
		},
	})
	_, err := modelcall.New(in, &hand{}, modelcall.Config{Retries: 1, Backoff: time.Second, Trace: log}).
		Chat(ctx, ask, func(c model.Chunk) { text += c.Content })
	require.NoError(t, err)
	assert.Equal(t, "x", text)
	require.Len(t, tried, 2)
	assert.Equal(t, modelcall.Attempt{Number: 1, Took: time.Millisecond, Fault: tried[0].Fault, Again: true, Wait: time.Second}, tried[0])
	assert.Equal(t, model.CodeIdle, tried[0].Fault.Code)
	assert.Equal(t, modelcall.Attempt{Number: 2, Took: time.Millisecond, Reply: model.Reply{DoneReason: "stop"}}, tried[1])
	require.Len(t, log.events, 1)
	e := log.events[0]
	assert.Equal(t, []string{"model.retry", "s", "t", "p", "c"}, []string{e.Name, e.Session, e.Task, e.PlannerTask, e.Call})
	assert.Equal(t, trace.App, e.Stream)
	assert.Contains(t, e.Fields, trace.F("code", "model.idle"))
}
