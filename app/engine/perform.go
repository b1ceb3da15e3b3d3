package engine

import (
	"cmp"
	"context"
	"errors"

	"github.com/agent-mcp/agent-mcp/app/modelcall"
	"github.com/agent-mcp/agent-mcp/core/agent"
	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/core/guard"
	"github.com/agent-mcp/agent-mcp/core/session"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
	"github.com/agent-mcp/agent-mcp/ports/service"
	"github.com/agent-mcp/agent-mcp/ports/trace"
	"github.com/agent-mcp/agent-mcp/ports/turn"
)

// task is one Task under way.
type task struct {
	*Engine
	scope audit.Ref
	hands Hands
	diary diary
}

// perform runs one started Task to its end and feeds Finished exactly once, after all resources are gone.
func (e *Engine) perform(ctx context.Context, start session.Start) {
	defer e.running.Done()
	t := &task{Engine: e, scope: audit.Ref{Session: start.SessionID, Task: start.TaskID}, diary: diary{began: e.now()}}
	out := t.run(ctx, start)
	t.keepReport(start, out)
	e.feed(session.Finished{
		At: e.now(), TaskID: start.TaskID, State: out.State, Progress: out.Progress,
		Answer: out.Answer, Fault: out.Fault, Memory: out.Memory,
	})
}

// run waits for the turn, takes what the Task needs, drives the agent, and gives everything back.
func (t *task) run(ctx context.Context, start session.Start) (out agent.Outcome) {
	me := t.Me
	me.Task = start.TaskID
	release, err := t.Turn.Acquire(ctx, me, func(h turn.Holder) {
		t.emit(trace.Info, "task.waiting", t.scope, trace.F("pid", h.PID), trace.F("for", h.Task))
		t.feed(session.Waiting{TaskID: start.TaskID, Holder: h})
	})
	if err != nil {
		return t.ending(ctx, err)
	}
	defer release()
	if t.hands, err = t.Hands(ctx, t.scope); err != nil {
		return t.ending(ctx, err)
	}
	defer func() {
		t.doing(cleaning, "")
		if err := t.hands.Close(); err != nil {
			// PRF-02: what could not be cleaned up stays in the journal for the next start, and the Task says so.
			t.emit(trace.Error, "task.cleanup", t.scope, trace.F("detail", err.Error()))
			out.State, out.Answer, out.Fault = service.Failed, "", fault.From(err)
		}
	}()
	return t.drive(ctx, start)
}

// ending is the outcome of a Task that never reached the agent.
func (t *task) ending(ctx context.Context, err error) agent.Outcome {
	f := fault.From(err)
	state := service.Failed
	if ctx.Err() != nil {
		state, f = service.Cancelled, fault.From(context.Cause(ctx))
	}
	return agent.Outcome{State: state, Fault: f}
}

// drive is the loop of core/agent's doc.go: one event in, effects out, until Done.
func (t *task) drive(ctx context.Context, start session.Start) agent.Outcome {
	began, err := t.began(ctx, start)
	if err != nil {
		return t.ending(ctx, err)
	}
	var (
		state  agent.State
		event  agent.Event = began
		partly []tool.Result
	)
	for {
		var effects []agent.Effect
		state, effects = agent.Step(state, event)
		event = nil
		for _, eff := range effects {
			switch eff := eff.(type) {
			case agent.Progress:
				t.feed(session.Moved{At: t.now(), TaskID: start.TaskID, State: eff.State, Progress: eff.Progress})
			case agent.Note:
				t.note(eff)
			case agent.Ask:
				event = t.ask(ctx, eff)
			case agent.Act:
				event, partly = t.act(ctx, eff)
			case agent.Look:
				event = agent.Looked{CallID: eff.CallID, Seen: t.hands.Look(ctx, eff.Paths)}
			case agent.LoadSkills:
				event = t.load(ctx, eff)
			case agent.Done:
				out := eff.Outcome
				if out.State == service.Completed && ctx.Err() != nil { // its evidence could not be recorded, or it was cancelled meanwhile
					out.State, out.Answer, out.Fault = service.Cancelled, "", fault.From(context.Cause(ctx))
				}
				return out
			}
		}
		if ctx.Err() != nil {
			event, partly = agent.Cancelled{Fault: fault.From(context.Cause(ctx)), Results: partly}, nil
		}
		if event == nil {
			return agent.Outcome{State: service.Failed, Fault: fault.New(fault.CodeInternal, "detail", "the agent waits for nothing")}
		}
	}
}

// began collects what the agent needs to know at the start.
func (t *task) began(ctx context.Context, start session.Start) (agent.Began, error) {
	s := t.cfg.Agent
	if start.Temperature != nil {
		s.Options.Temperature = start.Temperature // OLL-06: this Task's copy only
	}
	info, err := t.inspect(ctx)
	if err != nil && len(start.Images) > 0 {
		return agent.Began{}, err
	}
	if info != nil {
		if len(start.Images) > 0 && !info.Has("vision") {
			return agent.Began{}, fault.New(model.CodeNoVision, "model", s.Model)
		}
		s.ContextTokens, s.MayCut = t.context(info.ContextLength), !info.Refuses
	}
	return agent.Began{
		TaskID: start.TaskID, Request: start.Request, Images: start.Images,
		Settings: s, Prompt: t.cfg.Layers, Tools: t.cfg.Tools, Memory: start.Memory,
	}, nil
}

// inspect asks the server about the model once; a server that does not answer now is asked again by the next Task.
func (t *task) inspect(ctx context.Context) (*model.Info, error) {
	t.mu.Lock()
	known := t.info
	t.mu.Unlock()
	if known != nil || t.Inspector == nil {
		return known, nil
	}
	info, err := t.Inspector.Inspect(ctx, t.cfg.Agent.Model)
	if err != nil {
		return nil, err
	}
	t.Know(info)
	return &info, nil
}

// ask performs one model call under the repetition guard.
func (t *task) ask(ctx context.Context, a agent.Ask) agent.Event {
	callCtx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	t.doing(asking, a.Phase)
	defer t.doing(nothing, "")
	s := t.scope
	s.PlannerTask, s.Call = string(a.PlannerTask), a.CallID
	started := t.now()
	t.logPrompt(s, a)
	var watch guard.Stream
	callCtx = modelcall.With(callCtx, modelcall.Hooks{
		Ref: trace.Event{Session: s.Session, Task: s.Task, PlannerTask: s.PlannerTask, Call: s.Call},
		Tried: func(a modelcall.Attempt) {
			if a.Again {
				watch = guard.Stream{} // the pieces so far belong to a reply that is lost
				t.pulse.again(a.Number+1, t.now())
			}
		},
	})
	reply, err := t.Model.Chat(callCtx, a.Request, func(c model.Chunk) {
		t.pulse.piece(c, t.now())
		if watch.Add(c) {
			stop(fault.New(model.CodeRepetition))
		}
	})
	if cause := context.Cause(callCtx); err != nil && ctx.Err() == nil && errors.Is(cause, fault.New(model.CodeRepetition)) {
		err = cause
	}
	t.logReply(s, a, reply, err, t.now().Sub(started))
	t.timed(&reply)
	if err != nil {
		return agent.ModelFailed{CallID: a.CallID, Fault: fault.From(err)}
	}
	t.lookAtContext(ctx)
	return agent.Replied{CallID: a.CallID, Reply: reply, ContextTokens: t.context(0)}
}

// doing notes what people see of the Task now.
func (t *task) doing(what doing, phase agent.Phase) {
	t.pulse.set(t.scope.Task, moment{doing: what, phase: phase, since: t.now(), attempt: 1})
}

// timed fills in how long the answer took where the server does not tell.
func (t *task) timed(r *model.Reply) {
	if m := t.pulse.look(t.scope.Task); r.Usage.OutputTime == 0 && m.perSecond() > 0 {
		r.Usage.OutputTime = m.last.Sub(m.first)
	}
}

// context is the smallest known context in tokens, 0 when the configuration's holds: the server clips a larger one
// without a word, to what the model was trained for or to what fits.
func (t *task) context(trained int) int {
	t.mu.Lock()
	given := t.given
	t.mu.Unlock()
	want, least := 0, 0
	if n := t.cfg.Agent.Options.NumCtx; n != nil {
		want = *n
	}
	for _, n := range []int{trained, given} {
		if n > 0 && n < want && (least == 0 || n < least) {
			least = n
		}
	}
	return least
}

const unknownContext = -1

// lookAtContext asks once, after the first reply, what context the loaded model really has; this Task goes on with it, later ones plan
// with it, and the status says so.
func (t *task) lookAtContext(ctx context.Context) {
	t.mu.Lock()
	asked := t.given != 0
	t.given = cmp.Or(t.given, unknownContext)
	t.mu.Unlock()
	if asked || t.Inspector == nil {
		return
	}
	n, err := t.Inspector.Loaded(ctx, t.cfg.Agent.Model)
	if err != nil || n <= 0 {
		return
	}
	t.mu.Lock()
	t.given = n
	t.mu.Unlock()
	if want := t.cfg.Agent.Options.NumCtx; want != nil && n < *want {
		t.emit(trace.Warn, "model.context_clipped", t.scope, trace.F("num_ctx", *want), trace.F("given", n))
	}
}

// act performs a batch of calls in order. A cancel stops before the next call; what was done is kept.
func (t *task) act(ctx context.Context, a agent.Act) (agent.Event, []tool.Result) {
	results := make([]tool.Result, 0, len(a.Calls))
	for _, c := range a.Calls {
		if ctx.Err() != nil {
			return nil, results
		}
		ref := t.scope
		ref.PlannerTask, ref.Call = string(a.PlannerTask), c.ID
		began := t.now()
		t.doing(operating, agent.PhaseAct)
		r, ok := t.resource(ctx, ref, c)
		if !ok {
			r = t.hands.Do(ctx, ref, c)
		}
		t.diary.add(ref.PlannerTask, c, r, t.now().Sub(began))
		results = append(results, r)
		t.notice(r)
	}
	t.doing(nothing, "")
	return agent.Observed{CallID: a.CallID, Results: results}, results
}

// notice keeps what the owner should know of a call for agent_status.
func (t *task) notice(r tool.Result) {
	if r.Refused == 0 && len(r.Obeyed) == 0 {
		return
	}
	n := session.Noticed{TaskID: t.scope.Task, Refused: r.Refused}
	for _, o := range r.Obeyed {
		n.Obeyed = append(n.Obeyed, session.Obeyed{Path: o.Path, Kind: string(o.Kind)})
	}
	t.feed(n)
}

func (t *task) load(ctx context.Context, l agent.LoadSkills) agent.Event {
	if t.Skills == nil {
		return agent.SkillsLoaded{CallID: l.CallID, Failed: l.Names}
	}
	t.doing(learning, "")
	defer t.doing(nothing, "")
	loaded, failed := t.Skills.Load(ctx, l.Names)
	return agent.SkillsLoaded{CallID: l.CallID, Skills: loaded, Failed: failed}
}
