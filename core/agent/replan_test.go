package agent_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/agent"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// AGT-08: a denied call is never made again; the second denial of the same thing ends the Task.
func TestStep_DenialIsNeverRetried(t *testing.T) {
	bad := call("write_file", `{"path":"/etc/x","content":"1"}`)
	r := working(t).calls(bad).observe(denied())
	require.Contains(t, r.heard(), "Do not make this call again")
	before := len(r.all)
	o := r.calls(bad).failed(agent.CodeDeniedAgain)
	for _, e := range r.all[before:] {
		_, out := e.(agent.Act)
		require.False(t, out, "the same call never goes out again")
	}
	require.Equal(t, agent.CauseDenied, o.Fault.Reasons[0].Code)
	require.Len(t, o.Memory.Denied, 1)
	require.Equal(t, "/etc/x", o.Memory.Denied[0].Subject)

	r = working(t).calls(bad).observe(denied())
	r.calls(call("write_file", `{"path":"/etc/x","content":"2"}`)).observe(denied()).failed(agent.CodeDeniedAgain)
}

// AGT-08: replanning.
func TestStep_Replanning(t *testing.T) {
	lost := func() *run {
		return working(t).calls(call("write_file", `{"path":"/etc/x","content":"1"}`)).observe(denied()).says("I could not do it.")
	}
	t.Run("a denial leads to a changed plan", func(t *testing.T) {
		r := lost()
		require.Equal(t, agent.PhaseReplan, r.ask().Phase)
		require.Equal(t, 1, r.ask().Replan)
		require.Contains(t, r.heard(), "write_file /etc/x")
		r.says(plan("t1: write it in the workspace | file:hello.py"))
		require.Equal(t, agent.PhaseAct, r.ask().Phase)
		r.calls(call("write_file", writeArgs)).observe(wrote("hello.py"))
		o := r.says("Written.").done()
		require.Equal(t, service.Completed, o.State)
		require.Equal(t, 1, o.Progress.Replans)
	})
	t.Run("an unchanged plan fails", func(t *testing.T) {
		o := lost().says(plan("t1: write hello.py | file:hello.py")).failed(agent.CodeUnchangedPlan)
		require.Equal(t, agent.CauseDenied, o.Fault.Reasons[len(o.Fault.Reasons)-1].Code, "the user learns what made it impossible")
	})
	t.Run("other estimates alone are no change", func(t *testing.T) {
		lost().says(strings.ReplaceAll(plan("t1: write hello.py | file:hello.py"), `"o":500`, `"o":400`)).failed(agent.CodeUnchangedPlan)
	})
	t.Run("no readable plan fails after one question", func(t *testing.T) {
		r := lost().says("I do not know.")
		require.Contains(t, r.heard(), "not a usable plan")
		r.says("Still not.").failed(agent.CodeReplanFailed)
	})
	t.Run("the limit", func(t *testing.T) {
		r := lost()
		for i := range 3 {
			r.says(plan(fmt.Sprintf("t1: way %d | file:hello.py", i)))
			r.calls(call("write_file", fmt.Sprintf(`{"path":"/etc/%d","content":"1"}`, i))).observe(denied())
			r.calls(call("list_dir", fmt.Sprintf(`{"path":"d%d"}`, i))).observe(tool.Result{Text: "x"}).says("No.")
		}
		require.Equal(t, 3, r.failed(agent.CodeMaxReplans).Progress.Replans)
	})
	t.Run("an expected effect is not talked away", func(t *testing.T) {
		r := lost().says(plan("t1: explain why it is not possible | none")).says("Because.")
		require.Equal(t, agent.PhaseAct, r.ask().Phase)
		require.Contains(t, r.heard(), "Nothing was done")
	})
	t.Run("a failed task that the new plan forgets is replaced", func(t *testing.T) {
		r := lost().says(plan("n1: another way | file:other.py", "n2: then <- n1 | file:b"))
		tasks := r.ask()
		require.EqualValues(t, "t1", tasks.PlannerTask)
		require.Contains(t, r.heard(), "another way")
	})
	t.Run("completed stays", func(t *testing.T) { // PLN-03
		r := start(t, began("x")).says(plan("t1: a | file:hello.py", "t2: b <- t1 | file:/etc/x"))
		r.calls(call("write_file", writeArgs)).observe(wrote("hello.py")).says("ok")
		r.calls(call("write_file", `{"path":"/etc/x","content":""}`)).observe(denied()).says("no")
		r.says(plan("t1: everything else | none", "t2: b in the workspace | file:b"))
		p := r.ask()
		require.EqualValues(t, "t2", p.PlannerTask)
		require.Contains(t, r.heard(), "t1 [completed] a")
	})
	t.Run("three reports without the effect", func(t *testing.T) {
		r := working(t)
		for i := range 3 {
			r.calls(call("write_file", fmt.Sprintf(`{"path":"x%d","content":""}`, i))).observe(wrote(fmt.Sprint("x", i))).says("Done.")
		}
		require.Equal(t, agent.PhaseReplan, r.ask().Phase)
	})
}
