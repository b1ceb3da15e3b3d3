package agent_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/agent"
	"github.com/agent-mcp/agent-mcp/ports/model"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// AGT-01, PLN-05, OLL-10, OLL-13, PLN-09: plan, act in CPM order, check, finish.
func TestStep_TwoPlannerTasksToTheAnswer(t *testing.T) {
	r := start(t, began("write hello.py and run it"))
	ask := r.ask()
	require.Equal(t, agent.PhasePlan, ask.Phase)
	require.NotEmpty(t, ask.Request.Format)
	require.Empty(t, ask.Request.Tools, "a schema and tools together block every tool call")
	require.False(t, *ask.Request.Truncate)

	r.says(plan("t2: run it <- t1 | process:python", "t1: write hello.py | file:hello.py"))
	ask = r.ask()
	require.Equal(t, agent.PhaseAct, ask.Phase)
	require.EqualValues(t, "t1", ask.PlannerTask)
	require.Empty(t, ask.Request.Format)
	require.NotEmpty(t, ask.Request.Tools)

	r.calls(call("write_file", writeArgs))
	require.EqualValues(t, "t1", r.act().PlannerTask)
	r.observe(wrote("hello.py")).says("Wrote hello.py.")
	require.EqualValues(t, "t2", r.ask().PlannerTask)
	r.calls(call("run_process", `{"command":"python","args":["hello.py"]}`)).observe(ran("python", 0)).says("It printed 1.")
	require.Equal(t, agent.PhaseFinish, r.ask().Phase)
	require.Contains(t, r.heard(), "ran python: exit code 0")
	o := r.says("Done: hello.py prints 1.").done()
	require.Equal(t, service.Completed, o.State)
	require.Equal(t, "Done: hello.py prints 1.", o.Answer)
	require.Equal(t, 6, o.Progress.Iterations)
	require.Equal(t, 6*900, o.Progress.InputTokens)
	require.Equal(t, 6*40, o.Progress.OutputTokens)
	require.EqualValues(t, 2*900, o.Progress.Plan.Tasks[0].Usage.Input)
	require.Len(t, o.Memory.Results, 2)
	require.Equal(t, model.User, o.Memory.Conversation[0].Role)
	require.Equal(t, "write hello.py and run it", o.Memory.Conversation[0].Content)
	require.Equal(t, o.Answer, o.Memory.Conversation[1].Content)

	s, effects := agent.Step(r.s, agent.Cancelled{})
	require.Empty(t, effects, "a Task that is over answers nothing any more")
	require.Equal(t, encode(t, r.s), encode(t, s))
}
