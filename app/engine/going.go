package engine

import (
	"strconv"
	"strings"
	"time"

	"github.com/agent-mcp/agent-mcp/core/agent"
	"github.com/agent-mcp/agent-mcp/core/guard"
	"github.com/agent-mcp/agent-mcp/core/report"
	"github.com/agent-mcp/agent-mcp/ports/service"
	"github.com/agent-mcp/agent-mcp/ports/text"
)

// Texts of how it goes (MCP-STS-03, I18N-07).
const (
	keyNowLine  text.Key = "status.now"       // now
	keyNow      text.Key = "summary.now"      // what, how
	keyLeft     text.Key = "status.left"      // expected, least, most
	keyBudget   text.Key = "status.budget"    // left, budget
	keyStepLeft text.Key = "status.step_left" // left, budget
	keyBehind   text.Key = "status.behind"    // count
	keySpeed    text.Key = "status.speed"     // speeds
	keySpeedIn  text.Key = "status.speed_in"  // rate
	keySpeedOut text.Key = "status.speed_out" // rate
	keyElapsed  text.Key = "status.elapsed"   // took

	keySummary      text.Key = "summary.plan"  // now, percent
	keySummaryEnded text.Key = "summary.ended" // state, code

	keyPhasePlan    text.Key = "phase.plan"
	keyPhaseReplan  text.Key = "phase.replan"
	keyPhaseStep    text.Key = "phase.step" // number, total, title
	keyPhaseSummary text.Key = "phase.summary"
	keyPhaseFinish  text.Key = "phase.finish"

	keyAsking    text.Key = "doing.asking"    // took
	keyHearing   text.Key = "doing.hearing"   // tokens
	keyThinking  text.Key = "doing.thinking"  // tokens
	keyRate      text.Key = "doing.rate"      // said, rate
	keyRetrying  text.Key = "doing.retrying"  // attempt
	keyOperating text.Key = "doing.operating" // took
	keyLearning  text.Key = "doing.learning"
	keyCleaning  text.Key = "doing.cleaning"
)

type sayer func(k text.Key, args map[string]any)

// ahead writes what is left of the plan of a Task under way, and who waits for it.
func ahead(v view, line sayer) {
	if !v.underWay() {
		return
	}
	if len(v.steps) > 0 {
		line(keyLeft, map[string]any{"expected": group(int(v.left.Expected.Tokens())), "least": group(int(v.left.O)), "most": group(int(v.left.P))})
		line(keyBudget, map[string]any{"left": group(int(v.left.Budget)), "budget": group(v.budget)})
		if v.class > 0 {
			line(keyStepLeft, map[string]any{"left": group(max(v.class-v.spent, 0)), "budget": group(v.class)})
		}
	}
	if v.queued > 0 {
		line(keyBehind, map[string]any{"count": v.queued})
	}
}

func (v view) underWay() bool { return v.state == service.Planning || v.state == service.Running }

// now is the moment in one line: what is done, and how far it is.
func now(cat text.Catalog, v view) string {
	what, how := what(cat, v), how(cat, v)
	if how == "" {
		return what
	}
	return cat.Text(keyNow, map[string]any{"what": what, "how": how})
}

func what(cat text.Catalog, v view) string {
	switch v.moment.phase {
	case agent.PhaseReplan:
		return cat.Text(keyPhaseReplan, nil)
	case agent.PhaseSummary:
		return cat.Text(keyPhaseSummary, nil)
	case agent.PhaseFinish:
		return cat.Text(keyPhaseFinish, nil)
	}
	switch {
	case v.current != "":
		title := cutRunes(guard.Plain(v.current), maxTitleRunes)
		return cat.Text(keyPhaseStep, map[string]any{"number": v.done() + 1, "total": len(v.steps), "title": title})
	case v.state == service.Planning && len(v.steps) == 0:
		return cat.Text(keyPhasePlan, nil)
	case v.state == service.Planning:
		return cat.Text(keyPhaseReplan, nil)
	}
	return cat.Text(stateKey(v.state), nil)
}

// how says how far the moment is; "" when there is nothing to say. A piece of an answer is about a token.
func how(cat text.Catalog, v view) string {
	m := v.moment
	took := map[string]any{"took": report.Lasted(cat, v.now.Sub(m.since))}
	switch m.doing {
	case asking:
		return cat.Text(keyAsking, took)
	case hearing, thinking:
		key := keyHearing
		if m.doing == thinking {
			key = keyThinking
		}
		said := cat.Text(key, map[string]any{"tokens": group(m.pieces)})
		if r := m.perSecond(); r > 0 {
			return cat.Text(keyRate, map[string]any{"said": said, "rate": rate(r)})
		}
		return said
	case retrying:
		return cat.Text(keyRetrying, map[string]any{"attempt": m.attempt})
	case operating:
		return cat.Text(keyOperating, took)
	case learning:
		return cat.Text(keyLearning, nil)
	case cleaning:
		return cat.Text(keyCleaning, nil)
	}
	return ""
}

// speed writes how fast the model took in and gave out, where its server tells, and how long the Task took.
func speed(cat text.Catalog, v view, line sayer) {
	var said []string
	if v.read > 0 {
		said = append(said, cat.Text(keySpeedIn, map[string]any{"rate": rate(v.read)}))
	}
	if v.spoken > 0 {
		said = append(said, cat.Text(keySpeedOut, map[string]any{"rate": rate(v.spoken)}))
	}
	if len(said) > 0 {
		line(keySpeed, map[string]any{"speeds": strings.Join(said, ", ")})
	}
	if v.took >= time.Second {
		line(keyElapsed, map[string]any{"took": report.Lasted(cat, v.took)})
	}
}

// rate writes tokens per second: one decimal below a hundred.
func rate(r float64) string {
	if r < 100 {
		return strconv.FormatFloat(r, 'f', 1, 64)
	}
	return group(int(r + 0.5))
}

// summary is the status in one line.
func summary(cat text.Catalog, v view) string {
	switch {
	case v.state == service.Queued && v.waitPID != 0:
		return cat.Text(keyWaitingFor, map[string]any{"pid": v.waitPID, "task": v.waitTask})
	case v.state == service.Queued && v.ahead > 0:
		return cat.Text(keyWaiting, v.queue())
	case v.state == service.Queued:
		return cat.Text(keyAheadNone, nil)
	case v.state.Final() && v.fault != nil:
		return cat.Text(keySummaryEnded, map[string]any{"state": cat.Text(stateKey(v.state), nil), "code": string(v.fault.Code)})
	case v.state.Final():
		return cat.Text(stateKey(v.state), nil)
	case len(v.steps) == 0:
		return now(cat, v)
	}
	return cat.Text(keySummary, map[string]any{"now": now(cat, v), "percent": v.left.Share})
}

// queue tells where a waiting Task stands.
func (v view) queue() map[string]any {
	return map[string]any{"ahead": v.ahead, "place": v.ahead - v.active + 1, "total": max(v.queued, 1)}
}

func (v view) done() (n int) {
	for _, s := range v.steps {
		if s.mark == markDone {
			n++
		}
	}
	return n
}
