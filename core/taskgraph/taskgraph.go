// Package taskgraph prices and orders a plan: Planner Tasks, their dependencies, token estimates (PERT), the critical
// path in tokens (CPM), and what each Planner Task really used (spec section 6, PLN-01..09).
//
// A Graph is a value: every change returns a new Graph or a fault and leaves the old one as it was, so a rejected plan
// costs nothing. Equal content gives equal bytes, whatever order it arrived in. All arithmetic is exact: tokens are
// integers and expected values are integers of sixths. The package never talks to a model, never runs a Planner Task and
// never predicts time: a path is long in tokens, not in seconds (PLN-08).
package taskgraph

import (
	"slices"
	"strconv"

	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// DefaultMaxTasks is the greatest number of Planner Tasks unless configured otherwise (PLN-02).
const DefaultMaxTasks = 32

// ID names a Planner Task within its Graph: 1 to MaxIDBytes of A-Z a-z 0-9 . _ -
type ID string

// Limits on what a plan may carry.
const (
	MaxIDBytes   = 64
	MaxTextBytes = 2000 // title, and each text of an Expect
	MaxExpects   = 64   // per Planner Task
)

// Estimate is a three-point guess of the tokens one Planner Task takes over all its calls, 0 < O <= M <= P <= budget.
type Estimate struct {
	O int64 `json:"optimistic"`
	M int64 `json:"most_likely"`
	P int64 `json:"pessimistic"`
}

// Expected is E = (O + 4M + P) / 6, exact (PLN-08).
func (e Estimate) Expected() Sixths { return Sixths(e.O + 4*e.M + e.P) }

// Explain shows the arithmetic, for example "(400 + 4*700 + 1600) / 6 = 800".
func (e Estimate) Explain() string {
	d := func(n int64) string { return strconv.FormatInt(n, 10) }
	return "(" + d(e.O) + " + 4*" + d(e.M) + " + " + d(e.P) + ") / 6 = " + e.Expected().String()
}

func (e Estimate) valid(budget int64) bool {
	return 0 < e.O && e.O <= e.M && e.M <= e.P && e.P <= budget
}

// Sixths is an exact number of sixths of a token. In JSON it is that integer.
type Sixths int64

// Tokens is the value rounded up to whole tokens.
func (s Sixths) Tokens() int64 {
	n := int64(s) / 6
	if int64(s)%6 > 0 {
		n++
	}
	return n
}

// String is the exact value, "800" or "800 1/3".
func (s Sixths) String() string {
	if s < 0 {
		return "-" + (-s).String()
	}
	whole := strconv.FormatInt(int64(s)/6, 10)
	frac := [...]string{"", "1/6", "1/3", "1/2", "2/3", "5/6"}[s%6]
	switch {
	case frac == "":
		return whole
	case s < 6:
		return frac
	}
	return whole + " " + frac
}

// Expect is one effect that must be observed before a Planner Task counts as completed (AGT-07). The words of Kind are
// those of the observed effects; this package only carries them.
type Expect struct {
	Kind  string `json:"kind"`
	Path  string `json:"path,omitempty"`
	Alias string `json:"alias,omitempty"` // of an executable that must run
	Exit  int    `json:"exit,omitempty"`  // its expected exit code
}

// Task is what a plan says about one Planner Task.
type Task struct {
	ID       ID       `json:"id"`
	Title    string   `json:"title"`
	Class    Class    `json:"class"`
	Estimate Estimate `json:"estimate"`
	After    []ID     `json:"after,omitempty"`  // must be completed before it may start
	Action   bool     `json:"action,omitempty"` // needs an outside action: no tool call, no completion (AGT-04, AGT-07)
	Expects  []Expect `json:"expects,omitempty"`
}

func (t Task) clone() Task {
	t.After, t.Expects = slices.Clone(t.After), slices.Clone(t.Expects)
	return t
}

// Graph is a plan and how far it is. The zero value is an empty plan with DefaultMaxTasks. Safe to share: never mutated.
type Graph struct {
	max  int
	plan *plan      // shared between graphs, immutable
	at   []progress // by position in plan.tasks, copied on change
}

// progress is what happened to one Planner Task.
type progress struct {
	state State
	usage Usage
}

// New makes an empty plan. maxTasks <= 0 means DefaultMaxTasks.
func New(maxTasks int) Graph { return Graph{max: maxTasks} }

// MaxTasks is the limit in force (PLN-02).
func (g Graph) MaxTasks() int {
	if g.max <= 0 {
		return DefaultMaxTasks
	}
	return g.max
}

// Len is the number of Planner Tasks.
func (g Graph) Len() int { return len(g.at) }

// Task returns one Planner Task with its progress and its place in the schedule; ok is false when it is unknown.
func (g Graph) Task(id ID) (n Node, ok bool) {
	i, ok := g.find(id)
	if !ok {
		return Node{}, false
	}
	return g.node(i), true
}

func (g Graph) find(id ID) (int, bool) {
	if g.plan == nil {
		return 0, false
	}
	i, ok := g.plan.index[id]
	return i, ok
}

// Codes. Update returns CodeRejected with every reason; the others are reasons, or answers of the state methods.
const (
	CodeRejected  fault.Code = "plan.rejected"       // args: count
	CodeCycle     fault.Code = "plan.cycle"          // args: path ("a -> b -> a")
	CodeDuplicate fault.Code = "plan.duplicate"      // args: id
	CodeDangling  fault.Code = "plan.dangling"       // args: id, dependency
	CodeTooMany   fault.Code = "plan.too_many"       // args: count, limit
	CodeEstimate  fault.Code = "plan.estimate"       // args: id, o, m, p, budget
	CodeClass     fault.Code = "plan.class"          // args: id, class, known
	CodeBadID     fault.Code = "plan.bad_id"         // args: id
	CodeBadText   fault.Code = "plan.bad_text"       // args: id, field, limit
	CodeExpects   fault.Code = "plan.expects"        // args: id, count, limit
	CodeCompleted fault.Code = "plan.completed"      // args: id — PLN-03
	CodeRunning   fault.Code = "plan.running"        // args: id — it runs, its plan cannot change now
	CodeUnknown   fault.Code = "plan.unknown"        // args: id
	CodeState     fault.Code = "plan.state"          // args: id, from, to
	CodeBlocked   fault.Code = "plan.blocked"        // args: id, by
	CodeUsage     fault.Code = "plan.negative_usage" // args: id
)
