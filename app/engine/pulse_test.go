package engine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agent-mcp/agent-mcp/conformance/fronttest"
	"github.com/agent-mcp/agent-mcp/core/agent"
	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/ports/model"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// What is said of a moment is its kind and its numbers; the speed only when enough arrived to tell.
func TestPulse_SaysHowFarTheMomentIs(t *testing.T) {
	at := func(ms int) time.Time { return time.Unix(1000, 0).Add(time.Duration(ms) * time.Millisecond) }
	var p pulse
	says := func(want string) {
		t.Helper()
		assert.Equal(t, want, how(fronttest.Catalog{}, view{moment: p.look("t"), now: at(9000), state: service.Running}))
	}
	says("")
	p.set("t", moment{doing: asking, phase: agent.PhaseAct, since: at(0), attempt: 1})
	says("doing.asking took=duration.seconds seconds=9")
	p.piece(model.Chunk{Thinking: "secret"}, at(100))
	says("doing.thinking tokens=1")
	for i := range 3 {
		p.piece(model.Chunk{Content: "secret"}, at(150+i))
	}
	says("doing.hearing tokens=4")
	p.piece(model.Chunk{Content: "secret", Thinking: "secret"}, at(1100))
	says("doing.rate rate=4.0 said=doing.hearing tokens=5")
	p.piece(model.Chunk{Calls: 1, Thinking: "secret"}, at(1100))
	says("doing.rate rate=5.0 said=doing.hearing tokens=6")
	p.again(2, at(2000))
	says("doing.retrying attempt=2")
	p.piece(model.Chunk{Content: "x"}, at(2500))
	says("doing.hearing tokens=1")
	for what, want := range map[doing]string{operating: "doing.operating took=duration.seconds seconds=9", learning: "doing.learning", cleaning: "doing.cleaning"} {
		p.set("t", moment{doing: what, since: at(0)})
		says(want)
	}
	assert.Equal(t, moment{}, p.look("another"), "only of the started Task")

	c := fronttest.Catalog{}
	for phase, want := range map[agent.Phase]string{
		agent.PhaseReplan: "phase.replan", agent.PhaseSummary: "phase.summary", agent.PhaseFinish: "phase.finish", agent.PhasePlan: "phase.plan",
	} {
		assert.Equal(t, want, what(c, view{moment: moment{phase: phase}, state: service.Planning}))
	}
	assert.Equal(t, "phase.replan", what(c, view{state: service.Planning, steps: make([]stepView, 2)}), "between two calls")
	assert.Equal(t, "state.running", what(c, view{state: service.Running, steps: make([]stepView, 2)}))
	assert.Equal(t, "99.9", rate(99.94))
	assert.Equal(t, "1,235", rate(1234.5))
}

// A server that does not tell how long an answer took is measured, when enough arrived to tell.
func TestTimed_MeasuresWhereTheServerIsSilent(t *testing.T) {
	x := task{Engine: &Engine{}, scope: audit.Ref{Task: "t"}}
	x.pulse.set("t", moment{doing: asking})
	for i := range 5 {
		x.pulse.piece(model.Chunk{Content: "x"}, time.Unix(int64(i), 0))
	}
	r := model.Reply{}
	x.timed(&r)
	assert.Equal(t, 4*time.Second, r.Usage.OutputTime)
	r.Usage.OutputTime = time.Minute
	x.timed(&r)
	assert.Equal(t, time.Minute, r.Usage.OutputTime)
	x.pulse.again(2, time.Unix(9, 0))
	r = model.Reply{}
	x.timed(&r)
	assert.Zero(t, r.Usage.OutputTime, "too little to tell")
}
