package engine

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agent-mcp/agent-mcp/core/guard"
	"github.com/agent-mcp/agent-mcp/core/session"
	"github.com/agent-mcp/agent-mcp/core/taskgraph"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/service"
	"github.com/agent-mcp/agent-mcp/ports/text"
)

// Texts of the two MCP Tools' answers (MCP-STS-03, I18N-07).
const (
	keyAccepted   text.Key = "run.accepted"       // task, session, ahead
	keyAheadNone  text.Key = "run.starts_now"     //
	keyAheadSome  text.Key = "run.queued"         // ahead
	keyIDs        text.Key = "status.ids"         // task, session
	keyState      text.Key = "status.state"       // label, state
	keyWaiting    text.Key = "status.waiting"     // ahead, place, total
	keyWaitingFor text.Key = "status.waiting_for" // pid, task
	keyPlan       text.Key = "status.plan"        // done, total, percent, critical, budget
	keyStep       text.Key = "status.step"        // mark, id, title, critical, budget
	keyCritical   text.Key = "status.critical"
	keyCounters   text.Key = "status.counters"   // iterations, max, replans
	keyTokens     text.Key = "status.tokens"     // input, output, total
	keyLastError  text.Key = "status.last_error" // code, message
	keyAnswer     text.Key = "status.answer"
	keyReport     text.Key = "status.report"  // place
	keyContext    text.Key = "status.context" // given, asked
	keyCut        text.Key = "status.cut"     // bytes

	keyStateQueued    text.Key = "state.queued"
	keyStatePlanning  text.Key = "state.planning"
	keyStateRunning   text.Key = "state.running"
	keyStateCompleted text.Key = "state.completed"
	keyStateFailed    text.Key = "state.failed"
	keyStateCancelled text.Key = "state.cancelled"
)

// Bounds of a status text: whatever a Task printed, agent_status stays small.
const (
	maxAnswerBytes = 48 << 10
	maxTitleRunes  = 80
	maxErrorBytes  = 4 << 10
)

// view is everything a status shows; nothing of tools, sandbox or thinking is in it.
type view struct {
	task, session       string
	state               service.State
	ahead               int
	waitPID             int    // another instance holds the turn
	waitTask            string //
	steps               []stepView
	critical, budget    int // tokens: sum of E along the critical path; sum of all budgets
	iterations, maxIter int
	replans             int
	input, output       int
	fault               *fault.Error
	answer              string
	report              string // where the report is
	context, asked      int    // tokens that the server gives, and that num_ctx asks for, when it gives less
	workspace           string
	proof               []session.Proof
	moment              moment
	current             string // title of the step being worked on
	spent, class        int    // tokens of that step, and its Token Budget Class
	left                taskgraph.Left
	read, spoken        float64       // tokens per second
	took                time.Duration // since it began, until it ended
	now                 time.Time
	queued, active      int // Tasks that wait, Tasks that are worked on
	refused             int // accesses that the policy refused
	obeyed              []session.Obeyed
	more                int // of those files that are not kept
}

type stepView struct {
	id, title, mark string
	critical        bool
	budget          int
}

func stateKey(s service.State) text.Key {
	switch s {
	case service.Queued:
		return keyStateQueued
	case service.Planning:
		return keyStatePlanning
	case service.Running:
		return keyStateRunning
	case service.Completed:
		return keyStateCompleted
	case service.Failed:
		return keyStateFailed
	}
	return keyStateCancelled
}

// render makes the text of MCP-STS-03 in the catalogue's language.
func render(cat text.Catalog, v view) string {
	var b strings.Builder
	line := func(k text.Key, args map[string]any) { b.WriteString(cat.Text(k, args) + "\n") }
	line(keyIDs, map[string]any{"task": v.task, "session": v.session})
	line(keyState, map[string]any{"label": cat.Text(stateKey(v.state), nil), "state": string(v.state)})
	if v.state == service.Queued {
		if v.waitPID != 0 {
			line(keyWaitingFor, map[string]any{"pid": v.waitPID, "task": v.waitTask})
		} else if v.ahead > 0 {
			line(keyWaiting, v.queue())
		}
	}
	if v.underWay() {
		line(keyNowLine, map[string]any{"now": now(cat, v)})
	}
	if len(v.steps) > 0 {
		line(keyPlan, map[string]any{
			"done": v.done(), "total": len(v.steps), "percent": v.left.Share, "critical": group(v.critical), "budget": group(v.budget),
		})
		for _, s := range v.steps {
			crit := ""
			if s.critical {
				crit = cat.Text(keyCritical, nil)
			}
			line(keyStep, map[string]any{"mark": s.mark, "id": s.id, "title": cutRunes(s.title, maxTitleRunes), "critical": crit, "budget": group(s.budget)})
		}
	}
	ahead(v, line)
	line(keyCounters, map[string]any{"iterations": v.iterations, "max": v.maxIter, "replans": v.replans})
	line(keyTokens, map[string]any{"input": group(v.input), "output": group(v.output), "total": group(v.input + v.output)})
	speed(cat, v, line)
	if v.context > 0 {
		line(keyContext, map[string]any{"given": group(v.context), "asked": group(v.asked)})
	}
	if v.fault != nil {
		line(keyLastError, map[string]any{"code": string(v.fault.Code), "message": cutText(cat, cat.Fault(v.fault), maxErrorBytes)})
	}
	if v.report != "" {
		line(keyReport, map[string]any{"place": v.report})
	}
	b.WriteString(evidence(cat, v))
	b.WriteString(notices(cat, v))
	if v.answer != "" {
		b.WriteString("\n" + cat.Text(keyAnswer, nil) + "\n" + cutText(cat, v.answer, maxAnswerBytes) + "\n")
	}
	return b.String()
}

// Marks of a Planner Task's state; the same in every language.
const (
	markDone    = "[x]"
	markRunning = "[>]"
	markWaiting = "[ ]"
	markFailed  = "[!]"
)

// group writes an integer with thousands separators: 12,345.
func group(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func cutRunes(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	return string(r[:n-1]) + "…"
}

// cutText bounds a text at a rune boundary and says what is missing.
func cutText(cat text.Catalog, s string, limit int) string {
	s = guard.Plain(s)
	if len(s) <= limit {
		return s
	}
	end := limit
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "\n" + cat.Text(keyCut, map[string]any{"bytes": group(len(s) - end)})
}
