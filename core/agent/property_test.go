package agent_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/agent"
	"github.com/agent-mcp/agent-mcp/core/prompt"
	"github.com/agent-mcp/agent-mcp/core/taskgraph"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// chance makes up events: sensible ones, so that Tasks get somewhere, and senseless ones.
type chance struct{ *rand.Rand }

func (c chance) of(options ...string) string { return options[c.IntN(len(options))] }

func (c chance) plan() string {
	var tasks []string
	for i := range c.IntN(5) {
		deps := ""
		if i > 0 && c.IntN(2) == 0 {
			deps = fmt.Sprintf(" <- t%d", c.IntN(i+2))
		}
		tasks = append(tasks, fmt.Sprintf("t%d: %s%s | %s", c.IntN(4), c.of("Write it", "look", "run", "説明"), deps,
			c.of("none", "file:a", "file:b", "process:python", "process:", "file:a process:python")))
	}
	return plan(tasks...)
}

func (c chance) reply(phase agent.Phase) model.Reply {
	r := model.Reply{DoneReason: c.of("stop", "stop", "stop", "stop", "stop", "stop", "length", "", "load")}
	r.Usage = model.Usage{PromptTokens: c.IntN(6000), OutputTokens: c.IntN(3000), PromptPresent: c.IntN(4) > 0, OutputPresent: c.IntN(4) > 0}
	m := &r.Message
	m.Thinking = c.of("", "", "hidden-thought")
	if (phase == agent.PhasePlan || phase == agent.PhaseReplan) && c.IntN(6) > 0 {
		m.Content = c.plan()
		return r
	}
	m.Content = c.of("", "Done.", "I have created a.", "<think>hidden-thought</think>ok", `{"name":"write_file","arguments":{}}`, "All is fine.", c.plan(), "\xff\x00</data>",
		strings.Repeat("again and again ", 200))
	for range c.IntN(4) * c.IntN(2) {
		name := c.of("write_file", "write_file", "run_process", "read_file", "nope", "", "list_dir")
		args := c.of(`{"path":"a","content":"1"}`, `{"path":"b","content":"2"}`, `{"command":"python"}`, `{"path":"a"}`, `{}`, ``, `[`, `"x"`, `{"path":"a"}`)
		m.ToolCalls = append(m.ToolCalls, model.ToolCall{ID: c.of("", "x", "y"), Name: name, Arguments: json.RawMessage(args)})
	}
	return r
}

func (c chance) result(call tool.Call) tool.Result {
	switch c.IntN(8) {
	case 0:
		return toolError(fault.Code(c.of("workspace.full", "workspace.absent")))
	case 1:
		if c.IntN(4) == 0 {
			return denied()
		}
	}
	r := tool.Result{Text: c.of("ok", "x", strings.Repeat("long ", c.IntN(3000)))}
	switch call.Name {
	case tool.Write:
		r.Effects = append(r.Effects, tool.Effect{Kind: tool.EffectCreated, Path: "/w/" + call.Path, SHA256: c.of("1", "2")})
	case tool.Run:
		r.Effects = append(r.Effects, tool.Effect{Kind: tool.EffectRan, Alias: call.Alias, Exit: c.IntN(2)})
	case tool.Read:
		r.Effects = append(r.Effects, tool.Effect{Kind: tool.EffectRead, Path: "/w/" + call.Path})
	}
	return r
}

// answer makes the event for what the machine waits for.
func (c chance) answer(e agent.Effect) agent.Event {
	switch e := e.(type) {
	case agent.Ask:
		if c.IntN(25) == 0 {
			return agent.ModelFailed{CallID: e.CallID, Fault: fault.New(fault.Code(c.of(string(model.CodeBrokenCall), string(model.CodeRepetition), string(model.CodeContextOverflow), string(model.CodeNoThinking))))}
		}
		return agent.Replied{CallID: e.CallID, Reply: c.reply(e.Phase)}
	case agent.Act:
		var results []tool.Result
		for _, call := range e.Calls {
			if c.IntN(40) > 0 {
				results = append(results, c.result(call))
			}
		}
		return agent.Observed{CallID: e.CallID, Results: results}
	case agent.Look:
		return agent.Looked{CallID: e.CallID}
	case agent.LoadSkills:
		return agent.SkillsLoaded{CallID: e.CallID, Skills: []prompt.LoadedSkill{{Name: c.of("pdf", "x"), Body: "b"}}}
	}
	return agent.Cancelled{}
}

// AGT-01, AGT-02, PLN-01..03, OLL-14: whatever a model and the tools answer, a Task ends within max_iterations; it is
// completed only with every Planner Task completed; a completed Planner Task stays as it is; no call goes out after a denial
// of the same; the history is valid; thinking stays inside; Step never panics and never changes its argument.
func TestStep_RandomEventsKeepTheRules(t *testing.T) {
	ends := map[service.State]int{}
	for seed := range uint64(200) {
		c := chance{rand.New(rand.NewPCG(seed, 3))}
		b := began("do something")
		ctx := []int{2048, 4096, 16384}[c.IntN(3)]
		b.Settings.Options.NumCtx, b.Settings.MaxIterations, b.Settings.SameFailureLimit = &ctx, 60, 2+c.IntN(12)
		b.Settings.Think = model.Think{Set: c.IntN(2) == 0}
		if c.IntN(3) == 0 {
			b.Prompt.Runtime.Skills = []prompt.Skill{{Name: "pdf", Description: "d"}}
		}
		r := start(t, b)
		completed := map[taskgraph.ID]taskgraph.Task{}
		deniedCalls := map[string]bool{}
		for steps := 0; ; steps++ {
			require.Less(t, steps, 400, "seed %d does not end", seed)
			waiting := 0
			for i, e := range r.effects {
				switch e := e.(type) {
				case agent.Ask:
					waiting++
					require.Equal(t, i, len(r.effects)-1)
					require.False(t, len(e.Request.Tools) > 0 && len(e.Request.Format) > 0)
					require.LessOrEqual(t, e.Iteration, 60)
					require.Positive(t, *e.Request.Options.NumPredict)
					valid(t, e.Request.Messages)
				case agent.Act:
					waiting++
					for _, call := range e.Calls {
						require.False(t, deniedCalls[key(t, call)], "seed %d: a denied call went out again", seed)
					}
				case agent.LoadSkills, agent.Done:
					waiting++
				case agent.Progress:
					for _, n := range e.Progress.Plan.Tasks {
						if was, ok := completed[n.ID]; ok {
							require.Equal(t, was, n.Task)
							require.Equal(t, taskgraph.Completed, n.State)
						}
						if n.State == taskgraph.Completed {
							completed[n.ID] = n.Task
						}
					}
				}
			}
			require.Equal(t, 1, waiting, "seed %d: exactly one thing to wait for", seed)
			if d, over := r.last().(agent.Done); over {
				o := d.Outcome
				ends[o.State]++
				if o.State == service.Completed {
					require.NotEmpty(t, o.Progress.Plan.Tasks)
					for _, n := range o.Progress.Plan.Tasks {
						require.Equal(t, taskgraph.Completed, n.State)
					}
				} else {
					require.NotNil(t, o.Fault)
				}
				require.NotContains(t, encode(t, o), "hidden-thought")
				require.NotContains(t, encode(t, r.s), "hidden-thought")
				valid(t, append([]model.Message{{Role: model.System}}, r.s.Conversation()...))
				break
			}
			event := c.answer(r.last())
			if c.IntN(200) == 0 {
				event = agent.Cancelled{}
			}
			if o, ok := event.(agent.Observed); ok {
				for i, call := range r.act().Calls {
					if i < len(o.Results) && o.Results[i].Denied {
						deniedCalls[key(t, call)] = true
					}
				}
			}
			old := r.s
			if steps%8 == 0 {
				before := encode(t, old)
				s, effects := agent.Step(old, event)
				again, effectsAgain := agent.Step(old, event)
				require.Equal(t, before, encode(t, old))
				require.Equal(t, encode(t, s), encode(t, again))
				require.Equal(t, list(t, effects), list(t, effectsAgain))
			}
			r.step(event)
		}
	}
	t.Log(ends)
	require.Greater(t, ends[service.Completed], 10, "the made-up events get somewhere")
	require.Greater(t, ends[service.Failed], 20)
}

func key(t *testing.T, c tool.Call) string {
	c.ID = ""
	return encode(t, c)
}
