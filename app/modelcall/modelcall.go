// Package modelcall puts retries around a language model (OLL-12, REC-01): a failure of the transport is tried again with
// a growing, jittered pause, a model without thinking is asked once more without it. Nothing else is repeated: a permanent
// failure, a mistake of the model or a full context is the caller's to judge. It never reads a reply and writes no log of
// its own; what happened goes to trace and to the caller's hooks.
package modelcall

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/agent-mcp/agent-mcp/ports/clock"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
	"github.com/agent-mcp/agent-mcp/ports/trace"
)

// Config says how often and how fast to try again.
type Config struct {
	Retries    int           // after the first try; 0 = none (the spec's default, 3, is core/config's)
	Backoff    time.Duration // pause before the first retry, doubled for every further one; 0 = no pause
	MaxBackoff time.Duration // greatest pause; 0 = no bound but the doubling
	// Jitter returns a number in [0, 1): a pause of d lasts between d/2 and d. nil = always d.
	Jitter func() float64
	// Trace takes one event per retry; nil = none.
	Trace trace.Sink
}

// Attempt is one try that ended.
type Attempt struct {
	Number  int // from 1
	Took    time.Duration
	Reply   model.Reply  // when Fault is nil
	Fault   *fault.Error // nil when it worked
	Again   bool         // another try follows
	Wait    time.Duration
	NoThink bool // the next try leaves think out
}

// Hooks belong to one call; put them into its context with With.
type Hooks struct {
	// Ref holds the correlation fields of the events: Session, Task, PlannerTask, Call. The rest is ignored.
	Ref trace.Event
	// Tried is called after every try, on the goroutine that called Chat, before the pause. When Again is set, pieces
	// that were streamed so far belong to a reply that is lost: reset what they were collected in.
	Tried func(Attempt)
}

type hooksKey struct{}

// With attaches hooks to the calls made with the context it returns.
func With(ctx context.Context, h Hooks) context.Context { return context.WithValue(ctx, hooksKey{}, h) }

// Model is a model.Model with retries. Safe for concurrent use.
type Model struct {
	next  model.Model
	clock clock.Clock
	cfg   Config

	mu      sync.Mutex
	noThink map[string]bool // models that refused think; it is left out for them from then on
}

var _ model.Model = (*Model)(nil)

// New puts retries around next.
func New(next model.Model, clk clock.Clock, cfg Config) *Model {
	return &Model{next: next, clock: clk, cfg: cfg, noThink: map[string]bool{}}
}

// Chat implements model.Model. The fault of the last try is returned as it is; a context that ends in a pause is
// fault.CodeCancelled or fault.CodeTimeout.
func (m *Model) Chat(ctx context.Context, req model.Request, onChunk func(model.Chunk)) (model.Reply, error) {
	h, _ := ctx.Value(hooksKey{}).(Hooks)
	if m.refused(req.Model) {
		req.Think = model.Think{}
	}
	retries := 0
	for n := 1; ; n++ {
		if err := ctx.Err(); err != nil {
			return model.Reply{}, fault.From(err)
		}
		start := m.clock.Now()
		reply, err := m.next.Chat(ctx, req, onChunk)
		a := Attempt{Number: n, Took: m.clock.Now().Sub(start), Reply: reply, Fault: fault.From(err)}
		switch {
		case err == nil:
		case ctx.Err() != nil: // whatever else went wrong, the caller is gone
			a.Fault = gone(ctx, a.Fault)
		case a.Fault.Code == model.CodeNoThinking && req.Think != (model.Think{}):
			m.refuse(req.Model)
			req.Think = model.Think{}
			a.Again, a.NoThink = true, true
		case model.ClassOf(a.Fault.Code) == model.Transient && retries < m.cfg.Retries:
			retries++
			a.Again, a.Wait = true, m.pause(retries)
		}
		m.tell(h, req, a)
		if a.Fault == nil {
			return a.Reply, nil
		}
		if !a.Again {
			return model.Reply{}, a.Fault
		}
		if err := m.sleep(ctx, a.Wait); err != nil {
			return model.Reply{}, fault.From(err)
		}
	}
}

// gone keeps a fault that tells the cancel itself.
func gone(ctx context.Context, f *fault.Error) *fault.Error {
	if errors.Is(f, fault.New(fault.CodeCancelled)) || errors.Is(f, fault.New(fault.CodeTimeout)) {
		return f
	}
	return fault.From(ctx.Err())
}

// pause is the wait before the n-th retry, from 1.
func (m *Model) pause(n int) time.Duration {
	const most = time.Duration(1) << 40 // 18 minutes: doubling stops before it overflows
	d := m.cfg.Backoff
	for ; n > 1 && d < most && (m.cfg.MaxBackoff <= 0 || d < m.cfg.MaxBackoff); n-- {
		d *= 2
	}
	if m.cfg.MaxBackoff > 0 {
		d = min(d, m.cfg.MaxBackoff)
	}
	if m.cfg.Jitter != nil {
		d = d/2 + time.Duration(float64(d-d/2)*m.cfg.Jitter())
	}
	return max(d, 0)
}

func (m *Model) sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	fired, stop := m.clock.After(d)
	defer stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-fired:
		return nil
	}
}

func (m *Model) refused(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.noThink[name]
}

func (m *Model) refuse(name string) {
	m.mu.Lock()
	m.noThink[name] = true
	m.mu.Unlock()
}

func (m *Model) tell(h Hooks, req model.Request, a Attempt) {
	if a.Again && m.cfg.Trace != nil {
		e := trace.Event{
			At: m.clock.Now(), Stream: trace.App, Level: trace.Warn, Name: "model.retry",
			Session: h.Ref.Session, Task: h.Ref.Task, PlannerTask: h.Ref.PlannerTask, Call: h.Ref.Call,
			Fields: []trace.Field{
				trace.F("model", req.Model), trace.F("attempt", a.Number), trace.F("code", string(a.Fault.Code)),
				trace.F("wait", a.Wait), trace.F("elapsed", a.Took),
			},
		}
		if a.NoThink {
			e.Name = "model.think_refused"
		}
		m.cfg.Trace.Emit(e)
	}
	if h.Tried != nil {
		h.Tried(a)
	}
}
