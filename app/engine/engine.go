// Package engine runs Tasks: it accepts what MCP clients ask (ports/service.Runner), keeps the queue of core/session, and
// performs the effects of core/agent through ports (spec sections 2, 5, 9). It decides nothing that the cores decide.
//
// One lock guards the Session machine; a Task runs on a goroutine of its own, never on a request's context (MCP-ASY-01).
package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/agent-mcp/agent-mcp/core/agent"
	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/core/guard"
	"github.com/agent-mcp/agent-mcp/core/prompt"
	"github.com/agent-mcp/agent-mcp/core/session"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/clock"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/ident"
	"github.com/agent-mcp/agent-mcp/ports/model"
	reports "github.com/agent-mcp/agent-mcp/ports/report"
	"github.com/agent-mcp/agent-mcp/ports/service"
	"github.com/agent-mcp/agent-mcp/ports/text"
	"github.com/agent-mcp/agent-mcp/ports/trace"
	"github.com/agent-mcp/agent-mcp/ports/turn"
)

// Config is what the owner set. The engine changes none of it.
type Config struct {
	Agent  agent.Settings // of every Task; temperature and context are merged per Task
	Layers prompt.Layers  // user system prompt and Runtime Context
	Tools  []model.Tool   // the Internal Tools offered
	Limits session.Limits
	Vision Vision
	LLMLog bool // write prompts and responses to the LLM log (LOG-02)

	ResourceBytes int // of one skill resource in a result (AGT-09); 0 = 65,536
}

// Vision bounds the images of one request (OLL-09).
type Vision struct {
	MaxImages                    int
	MaxImageBytes, MaxTotalBytes int64
}

// Hands perform the Internal Tool calls of one Task. app/toolbox is the real one.
type Hands interface {
	// Do performs one call, judged by the policy first. Failures are in the Result.
	Do(ctx context.Context, ref audit.Ref, call tool.Call) tool.Result
	// Look tells how paths are now, one Seen per path in their order, without side effects: what a program did to files is
	// in no Result (AGT-04, AGT-07).
	Look(ctx context.Context, paths []string) []tool.Seen
	// Close gives back every Task Resource (PRF-02).
	Close() error
}

// Skills reads the bodies of selected skills, and their resources.
type Skills interface {
	Load(ctx context.Context, names []string) (loaded []prompt.LoadedSkill, failed []string)
	// Resource reads a file that the named skill lists; skills.CodeNoResource for anything else (SKL-04, SKL-06).
	Resource(ctx context.Context, name, rel string) ([]byte, error)
}

// Deps are the ports. Inspector, Skills, Turn, Trace, Audit and Reports may be nil: then nothing is asked, waited for, recorded or
// kept.
type Deps struct {
	Model     model.Model // retries included (app/modelcall)
	Inspector model.Inspector
	Hands     func(ctx context.Context, s audit.Ref) (Hands, error)
	Skills    Skills
	Turn      turn.Turn
	Me        turn.Holder // Task is filled in
	Clock     clock.Clock
	Ident     ident.Source
	Trace     trace.Sink
	Catalog   text.Catalog
	Audit     Audit
	Reports   reports.Store
}

// Audit takes the security record (LOG-03). An error means that it could not be stored: then what it records must not go on.
type Audit interface {
	Record(r audit.Record) error
}

// defaultIterations is AGT-02's: shown in the status, so it is set here too.
const defaultIterations = 128

// Engine implements service.Runner.
type Engine struct {
	cfg Config
	Deps

	mu      sync.Mutex
	state   session.State
	changed chan struct{}                      // closed and replaced at every change of state
	cancel  map[string]context.CancelCauseFunc // of started Tasks
	info    *model.Info                        // what is known of the model, nil = not asked yet
	audited map[string]service.State           // the last state recorded of every unfinished Task
	places  map[string]string                  // where the reports of ended Tasks are
	given   int                                // context in tokens that the server really gave, 0 = not asked yet, unknownContext = no answer
	running sync.WaitGroup
	pulse   pulse
}

var (
	_ service.Runner  = (*Engine)(nil)
	_ service.Watcher = (*Engine)(nil)
)

// New makes an engine that has nothing to do yet.
func New(cfg Config, deps Deps) *Engine {
	deps.fill()
	if cfg.Agent.MaxIterations == 0 {
		cfg.Agent.MaxIterations = defaultIterations
	}
	return &Engine{
		cfg: cfg, Deps: deps, state: session.New(cfg.Limits),
		changed: make(chan struct{}), cancel: map[string]context.CancelCauseFunc{},
		audited: map[string]service.State{}, places: map[string]string{},
	}
}

// Changed implements service.Watcher.
func (e *Engine) Changed() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.changed
}

// Know tells the engine what an earlier look at the model found, so that the first request need not ask.
func (e *Engine) Know(info model.Info) {
	e.mu.Lock()
	e.info = &info
	e.mu.Unlock()
}

// feed gives one event to the Session machine and performs its effects in their order. answers are the effects that the
// caller of a request wants.
func (e *Engine) feed(ev session.Event) (answers []session.Effect) {
	e.mu.Lock()
	defer e.mu.Unlock()
	next, effects := session.Apply(e.state, ev)
	e.state = next
	if m, ok := ev.(session.Moved); ok {
		e.auditMove(m.TaskID, m.State)
	}
	for _, eff := range effects {
		switch eff := eff.(type) {
		case session.Accepted:
			answers = append(answers, eff)
			e.auditMove(eff.TaskID, service.Queued)
		case session.Refused:
			answers = append(answers, eff)
		case session.Start:
			ctx, cancel := context.WithCancelCause(context.Background())
			e.cancel[eff.TaskID] = cancel
			e.running.Add(1)
			go e.perform(ctx, eff)
		case session.Cancel:
			if stop := e.cancel[eff.TaskID]; stop != nil {
				stop(fault.New(fault.CodeCancelled))
			}
		case session.Ended:
			e.ended(eff)
		case session.Broken:
			e.emit(trace.Error, "session.broken", audit.Ref{}, trace.F("detail", eff.Fault.Error()))
		case session.Forgot:
			for _, id := range eff.Tasks {
				delete(e.places, id)
			}
			e.emit(trace.Debug, "session.forgot", audit.Ref{}, trace.F("tasks", len(eff.Tasks)), trace.F("sessions", len(eff.Sessions)))
		case session.Drained:
		default:
			panic(fmt.Sprintf("engine: unknown effect %T", eff))
		}
	}
	close(e.changed)
	e.changed = make(chan struct{})
	return answers
}

// ended runs once per Task, under the lock.
func (e *Engine) ended(end session.Ended) {
	if stop := e.cancel[end.TaskID]; stop != nil {
		stop(nil)
		delete(e.cancel, end.TaskID)
	}
	s := audit.Ref{Session: end.SessionID, Task: end.TaskID}
	t, f := e.state.Find(end.TaskID, "")
	if f != nil {
		return
	}
	code := string(fault.CodeOf(asError(end.Fault)))
	e.emit(trace.Info, "task.ended", s, trace.F("state", string(end.State)), trace.F("code", code))
	e.Trace.Emit(trace.Event{
		At: e.Clock.Now(), Stream: trace.Tokens, Level: trace.Info, Name: "task.tokens", Session: s.Session, Task: s.Task,
		Fields: []trace.Field{
			trace.F("input", t.Progress.InputTokens), trace.F("output", t.Progress.OutputTokens),
			trace.F("iterations", t.Progress.Iterations), trace.F("replans", t.Progress.Replans), trace.F("state", string(end.State)),
		},
	})
	_ = e.auditState(s, e.audited[end.TaskID], end.State, code) // it is over whether or not it could be recorded
	delete(e.audited, end.TaskID)
}

// auditMove records a change of state, under the lock. A Task that cannot be recorded is stopped.
func (e *Engine) auditMove(id string, to service.State) {
	from, known := e.audited[id]
	if known && from == to {
		return
	}
	t, f := e.state.Find(id, "")
	if f != nil {
		return
	}
	e.audited[id] = to
	if err := e.auditState(audit.Ref{Session: t.SessionID, Task: id}, from, to, ""); err != nil {
		if stop := e.cancel[id]; stop != nil {
			stop(fault.From(err))
		}
	}
}

func asError(f *fault.Error) error {
	if f == nil {
		return nil
	}
	return f
}

// Status implements service.Runner.
func (e *Engine) Status(_ context.Context, taskID, sessionID string) (service.Status, error) {
	if !isUUID(taskID) {
		return service.Status{}, fault.New(service.CodeBadTaskID, "task", cutRunes(taskID, maxTitleRunes))
	}
	e.mu.Lock()
	t, f := e.state.Find(taskID, sessionID)
	place, given := e.places[taskID], e.given
	queued, active, _, _ := e.state.Counts()
	e.mu.Unlock()
	if f != nil {
		return service.Status{}, f
	}
	v := e.view(t, e.pulse.look(taskID), given)
	v.queued, v.active = queued, active
	if t.State.Final() {
		v.report = place
	}
	st := service.Status{
		TaskID: t.TaskID, SessionID: t.SessionID, State: t.State, Text: render(e.Catalog, v),
		Summary: summary(e.Catalog, v), Percent: v.left.Share, InputTokens: v.input, OutputTokens: v.output,
	}
	if t.State == service.Completed {
		st.Answer = guard.Plain(v.answer)
	}
	if v.fault != nil {
		st.ErrorCode, st.ErrorText = string(v.fault.Code), e.Catalog.Fault(v.fault)
	}
	return st, nil
}

// Cancel implements service.Runner.
func (e *Engine) Cancel(_ context.Context, taskID string) error {
	for _, a := range e.feed(session.CancelAsked{At: e.Clock.Now(), TaskID: taskID}) {
		if r, ok := a.(session.Refused); ok {
			return r.Fault
		}
	}
	return nil
}

// Release implements service.Runner: it returns when the owner's Tasks are over and their resources are gone.
func (e *Engine) Release(ctx context.Context, owner string) error {
	e.feed(session.OwnerGone{At: e.Clock.Now(), Owner: owner})
	return e.wait(ctx, func(s session.State) bool { return len(s.OfOwner(owner)) == 0 })
}

// Close stops every Task, accepts nothing more, and returns when all resources are gone, or ctx ends.
func (e *Engine) Close(ctx context.Context) error {
	e.feed(session.Stopping{At: e.Clock.Now()})
	if err := e.wait(ctx, func(s session.State) bool {
		queued, active, _, _ := s.Counts()
		return queued+active == 0
	}); err != nil {
		return err
	}
	e.running.Wait()
	return nil
}

// Wait returns when the Task is over: for embedders, who have no client that asks again.
func (e *Engine) Wait(ctx context.Context, taskID string) (service.Status, error) {
	if err := e.wait(ctx, func(s session.State) bool {
		t, f := s.Find(taskID, "")
		return f != nil || t.State.Final()
	}); err != nil {
		return service.Status{}, err
	}
	return e.Status(ctx, taskID, "")
}

func (e *Engine) wait(ctx context.Context, done func(session.State) bool) error {
	for {
		e.mu.Lock()
		ok, changed := done(e.state), e.changed
		e.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fault.From(ctx.Err())
		}
	}
}

func (e *Engine) emit(level trace.Level, name string, s audit.Ref, fields ...trace.Field) {
	e.Trace.Emit(trace.Event{
		At: e.Clock.Now(), Stream: trace.App, Level: level, Name: name,
		Session: s.Session, Task: s.Task, PlannerTask: s.PlannerTask, Call: s.Call, Fields: fields,
	})
}

func (e *Engine) now() time.Time { return e.Clock.Now() }
