package agent_test

import (
	"fmt"
	"testing"

	"github.com/agent-mcp/agent-mcp/core/agent"
	"github.com/agent-mcp/agent-mcp/core/tool"
)

// BenchmarkStep is one call and its result late in a long Task.
func BenchmarkStep(b *testing.B) {
	r := working(b)
	for i := range 50 {
		r.calls(call("list_dir", fmt.Sprintf(`{"path":"d%d"}`, i))).observe(tool.Result{Text: fmt.Sprint(i)})
	}
	ask := r.ask()
	reply := agent.Replied{CallID: ask.CallID}
	reply.Reply.Message.ToolCalls = append(reply.Reply.Message.ToolCalls, call("list_dir", `{}`))
	b.ReportAllocs()
	for b.Loop() {
		s, effects := agent.Step(r.s, reply)
		act := effects[len(effects)-1].(agent.Act)
		agent.Step(s, agent.Observed{CallID: act.CallID, Results: []tool.Result{{Text: "x"}}})
	}
}
