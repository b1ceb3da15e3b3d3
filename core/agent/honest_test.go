package agent_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/agent"
	"github.com/agent-mcp/agent-mcp/core/taskgraph"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// liar is a model that says it is done whenever it can, that fails in every way there is, and that sometimes does the work, or
// undoes it.
type liar struct {
	chance
	w     *world
	lies  int // of 10 replies, how many are faults or claims
	exits map[taskgraph.ID]map[string]int
}

// faults are all codes of ports/model.
var modelFaults = []fault.Code{
	model.CodeUnreachable, model.CodeConnectTimeout, model.CodeFirstChunk, model.CodeIdle, model.CodeIncomplete, model.CodeRunnerDied, model.CodeServer,
	model.CodeBusy, model.CodeContextOverflow, model.CodeBrokenCall, model.CodeRepetition, model.CodeNotFound, model.CodeNoTools, model.CodeNoVision,
	model.CodeNoThinking, model.CodeBadRequest, model.CodeForbidden, model.CodeQuota, model.CodeSignIn, model.CodeProtocol,
}

func (l liar) planned() string {
	var tasks []string
	for i := range 1 + l.IntN(3) {
		deps := ""
		if i > 0 && l.IntN(2) == 0 {
			deps = " <- t1"
		}
		tasks = append(tasks, fmt.Sprintf("t%d: %s%s | %s", i+1, l.of("Write it", "look", "work", "go on"), deps,
			l.of("file:a", "file:b", "file:a file:b", "process:python", "file:a process:python", "removed:c", "none")))
	}
	return plan(tasks...)
}

// claim is what a fault or a lie looks like in a reply.
func (l liar) claim() model.Reply {
	r := model.Reply{DoneReason: l.of("stop", "stop", "stop", "length", "", "load", "unload")}
	r.Usage = model.Usage{PromptTokens: l.IntN(3000), OutputTokens: l.IntN(200), PromptPresent: l.IntN(3) > 0, OutputPresent: l.IntN(3) > 0}
	r.Message.Content = l.of("", "", "Done.", "I have created a and b, deleted c and run python.", "a と b を作成しました。", "已创建 a", `{"name":"write_file","arguments":{"path":"a","content":"1"}}`,
		"<function=write_file>", "<think>all is done</think>", "I will write a now.", strings.Repeat("done done ", 300), l.planned())
	if l.IntN(4) == 0 {
		r.Message.ToolCalls = []model.ToolCall{call(l.of("create_file", "write_file", "run_process", ""), l.of(`{"path":"a"}`, `{`, `"x"`, `{"path":1,"content":2}`))}
	}
	return r
}

func (l liar) work() model.Reply {
	r := model.Reply{DoneReason: "stop", Usage: usage}
	for range 1 + l.IntN(2) {
		f, content := l.of("a", "b"), l.of("0", "1", "2")
		switch l.IntN(9) {
		case 0:
			r.Message.ToolCalls = append(r.Message.ToolCalls, call("remove_file", fmt.Sprintf(`{"path":%q}`, l.of("a", "b", "c"))))
		case 1:
			r.Message.ToolCalls = append(r.Message.ToolCalls, call("read_file", fmt.Sprintf(`{"path":%q}`, l.of("a", "b", "c"))))
		case 2:
			r.Message.ToolCalls = append(r.Message.ToolCalls, runs("set", f, content))
		case 3:
			r.Message.ToolCalls = append(r.Message.ToolCalls, runs("rm", l.of("a", "b", "c")))
		case 4:
			r.Message.ToolCalls = append(r.Message.ToolCalls, runs(l.of("ok", "fail")))
		case 5:
			r.Message.ToolCalls = append(r.Message.ToolCalls, call("move_path", fmt.Sprintf(`{"path":%q,"dest":%q}`, f, l.of("a", "b", "d"))))
		default:
			r.Message.ToolCalls = append(r.Message.ToolCalls, writes(f, content))
		}
	}
	return r
}

func (l liar) answer(e agent.Effect) agent.Event {
	switch e := e.(type) {
	case agent.Ask:
		planning := e.Phase == agent.PhasePlan || e.Phase == agent.PhaseReplan
		switch n := l.IntN(10); {
		case n < l.lies && l.IntN(12) == 0:
			return agent.ModelFailed{CallID: e.CallID, Fault: fault.New(modelFaults[l.IntN(len(modelFaults))])}
		case n < l.lies:
			return agent.Replied{CallID: e.CallID, Reply: l.claim()}
		case planning:
			return agent.Replied{CallID: e.CallID, Reply: model.Reply{Message: model.Message{Content: l.planned()}, DoneReason: "stop", Usage: usage}}
		case e.Phase == agent.PhaseAct && l.IntN(2) == 0:
			return agent.Replied{CallID: e.CallID, Reply: l.work()}
		}
		return agent.Replied{CallID: e.CallID, Reply: model.Reply{Message: model.Message{Content: "Everything is as it should be."}, DoneReason: "stop", Usage: usage}}
	case agent.Act:
		var results []tool.Result
		for _, c := range e.Calls {
			if l.IntN(15) == 0 {
				results = append(results, toolError("workspace.no_space"))
				continue
			}
			r := l.w.do(c)
			for _, f := range r.Effects {
				if f.Kind == tool.EffectRan {
					if l.exits[e.PlannerTask] == nil {
						l.exits[e.PlannerTask] = map[string]int{}
					}
					l.exits[e.PlannerTask][f.Alias] = f.Exit
				}
			}
			results = append(results, r)
		}
		return agent.Observed{CallID: e.CallID, Results: results}
	}
	return agent.Cancelled{}
}

// untrue lists what a completed plan expects and the world does not show. What two Planner Tasks disagree about is left out.
func (l liar) untrue(p taskgraph.View) (out []string) {
	about := map[string]map[string]bool{}
	for _, n := range p.Tasks {
		for _, e := range n.Expects {
			if about[e.Path] == nil {
				about[e.Path] = map[string]bool{}
			}
			about[e.Path][e.Kind] = true
		}
	}
	for _, n := range p.Tasks {
		for _, e := range n.Expects {
			was, before := l.w.start[e.Path]
			is, now := l.w.files[e.Path]
			changed := now && (!before || is != was || l.w.first[e.Path] == "?") // a path that only a later plan names may have been changed unseen
			switch {
			case e.Kind == "process":
				if code, ran := l.exits[n.ID]["python"]; !ran || code != 0 {
					out = append(out, fmt.Sprintf("%s: python ran %v, exit %d", n.ID, ran, code))
				}
			case len(about[e.Path]) > 1:
			case e.Kind == "file" && !changed:
				out = append(out, fmt.Sprintf("%s: file %s: there %v, content %q, before %q", n.ID, e.Path, now, is, was))
			case e.Kind == "removed" && now:
				out = append(out, fmt.Sprintf("%s: %s is still there", n.ID, e.Path))
			}
		}
	}
	return out
}

// AGT-01, AGT-04, AGT-07: whatever goes wrong in whatever order, and whatever the model says: no Task is completed unless the
// world is as its plan expects. Every way in which a model fails is among what happens.
func TestStep_NoFaultLeadsToCompleted(t *testing.T) {
	seeds := uint64(1500)
	if testing.Short() {
		seeds = 400
	}
	ends := map[service.State]int{}
	for seed := range seeds {
		l := liar{chance: chance{rand.New(rand.NewPCG(seed, 77))}, w: newWorld(map[string]string{"a": "0", "c": "9"}), exits: map[taskgraph.ID]map[string]int{}}
		l.lies = l.IntN(11)
		b := began("do the work")
		b.Settings.MaxIterations, b.Settings.SameFailureLimit = 40, 3+l.IntN(4)
		r := (&run{t: t, sees: l.w.sees}).step(b)
		for steps := 0; ; steps++ {
			require.Less(t, steps, 300, "seed %d", seed)
			if d, over := r.last().(agent.Done); over {
				ends[d.Outcome.State]++
				if d.Outcome.State == service.Completed {
					require.Empty(t, l.untrue(d.Outcome.Progress.Plan), "seed %d: a false success", seed)
				} else {
					require.NotNil(t, d.Outcome.Fault)
					require.Empty(t, d.Outcome.Answer)
				}
				for _, n := range d.Outcome.Progress.Plan.Tasks {
					require.False(t, l.lies == 10 && n.Action && n.State == taskgraph.Completed, "seed %d: nothing but faults", seed)
				}
				break
			}
			r.step(l.answer(r.last()))
		}
	}
	t.Log(ends)
	require.Greater(t, ends[service.Completed], int(seeds)/20, "the made-up models get somewhere")
	require.Greater(t, ends[service.Failed], int(seeds)/4)
}
