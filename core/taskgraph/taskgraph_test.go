package taskgraph_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	tg "github.com/agent-mcp/agent-mcp/core/taskgraph"
	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// task makes a Planner Task whose E is exactly e tokens.
func task(id tg.ID, e int64, after ...tg.ID) tg.Task {
	return tg.Task{ID: id, Title: "do " + string(id), Class: "128K", Estimate: tg.Estimate{O: e, M: e, P: e}, After: after}
}

func add(t *testing.T, g tg.Graph, tasks ...tg.Task) tg.Graph {
	t.Helper()
	g, err := g.Update(tg.Update{Add: tasks})
	require.NoError(t, err)
	return g
}

func bytesOf(t *testing.T, g tg.Graph) string {
	t.Helper()
	b, err := json.Marshal(g)
	require.NoError(t, err)
	return string(b)
}

// reasons lists "code arg…" of a rejection.
func reasons(t *testing.T, err error) []fault.Code {
	t.Helper()
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	require.Equal(t, tg.CodeRejected, f.Code)
	codes := make([]fault.Code, len(f.Reasons))
	for i, r := range f.Reasons {
		codes[i] = r.Code
	}
	return codes
}

// PLN-07
func TestClass_Tokens(t *testing.T) {
	want := int64(1024)
	for _, c := range tg.Classes() {
		assert.Equal(t, want, c.Tokens(), c)
		want *= 2
	}
	assert.Len(t, tg.Classes(), 8)
	assert.Equal(t, int64(131072), tg.Class("128K").Tokens())
	assert.Zero(t, tg.Class("3K").Tokens())
	for tokens, want := range map[int64]tg.Class{1: "1K", 1024: "1K", 1025: "2K", 131072: "128K"} {
		c, ok := tg.ClassFor(tokens)
		assert.True(t, ok)
		assert.Equal(t, want, c)
	}
	for _, n := range []int64{0, -1, 131073} {
		_, ok := tg.ClassFor(n)
		assert.False(t, ok, n)
	}
}

// PLN-08, AT-16
func TestEstimate_IsExact(t *testing.T) {
	e := tg.Estimate{O: 400, M: 700, P: 1600}
	assert.Equal(t, "(400 + 4*700 + 1600) / 6 = 800", e.Explain())
	for n, want := range map[tg.Sixths]string{0: "0", 1: "1/6", 2: "1/3", 9: "1 1/2", 10: "1 2/3", 12: "2", 4805: "800 5/6", -7: "-1 1/6"} {
		assert.Equal(t, want, n.String())
	}
	assert.Equal(t, int64(2), tg.Sixths(7).Tokens())
	assert.Equal(t, int64(1), tg.Sixths(6).Tokens())
	assert.Equal(t, int64(0), tg.Sixths(0).Tokens())
}

// PLN-05, PLN-08: the textbook diamond, with a short branch that has slack.
func TestUpdate_ComputesCPM(t *testing.T) {
	g := add(t, tg.New(0), task("d", 5, "b", "c"), task("a", 10), task("c", 3, "a"), task("b", 20, "a"))
	assert.Equal(t, []tg.ID{"a", "b", "d"}, g.CriticalPath())
	assert.Equal(t, tg.Sixths(35*6), g.Length())
	assert.Equal(t, int64(4*131072), g.Budget())
	c, ok := g.Task("c")
	require.True(t, ok)
	assert.Equal(t, tg.Slot{
		Expected: 18, EarliestStart: 60, EarliestFinish: 78, LatestStart: 162, LatestFinish: 180, Slack: 102,
	}, c.Slot)
	d, _ := g.Task("d")
	assert.Equal(t, tg.Slot{
		Expected: 30, EarliestStart: 180, EarliestFinish: 210, LatestStart: 180, LatestFinish: 210, Critical: true,
	}, d.Slot)

	g = add(t, g, task("e", 100, "c")) // the path moves when the plan grows
	assert.Equal(t, []tg.ID{"a", "c", "e"}, g.CriticalPath())
	b, _ := g.Task("b")
	assert.Equal(t, tg.Sixths(78*6), b.Slot.Slack)
}

// PLN-01, PLN-02, PLN-03, PLN-08, AT-14, AT-15: every row is one kind of bad update, and leaves the plan as it was.
func TestUpdate_Rejects(t *testing.T) {
	base := add(t, tg.New(5), task("done", 1), task("run", 1), task("open", 1, "done"))
	base = must(base.Start("done"))
	base = must(base.Complete("done"))
	base = must(base.Start("run"))
	before := bytesOf(t, base)
	est := func(o, m, p int64, c tg.Class) tg.Task {
		return tg.Task{ID: "x", Title: "x", Class: c, Estimate: tg.Estimate{O: o, M: m, P: p}}
	}
	with := func(change func(*tg.Task)) tg.Update {
		x := task("x", 1)
		change(&x)
		return tg.Update{Add: []tg.Task{x}}
	}
	adds := func(tasks ...tg.Task) tg.Update { return tg.Update{Add: tasks} }
	for name, row := range map[string]struct {
		u    tg.Update
		want []fault.Code
	}{
		"duplicate of an old one":    {adds(task("open", 1)), []fault.Code{tg.CodeDuplicate}},
		"duplicate in the update":    {adds(task("x", 1), task("x", 2)), []fault.Code{tg.CodeDuplicate}},
		"completed said anew":        {adds(task("done", 1)), []fault.Code{tg.CodeCompleted}},
		"dangling":                   {adds(task("x", 1, "nobody")), []fault.Code{tg.CodeDangling}},
		"own dependency":             {adds(task("x", 1, "x")), []fault.Code{tg.CodeCycle}},
		"cycle":                      {adds(task("x", 1, "y"), task("y", 1, "x")), []fault.Code{tg.CodeCycle}},
		"cycle through an old one":   {tg.Update{Add: []tg.Task{task("x", 1, "open")}, Depend: []tg.Dependency{{"open", "x"}}}, []fault.Code{tg.CodeCycle}},
		"too many":                   {adds(task("x", 1), task("y", 1), task("z", 1)), []fault.Code{tg.CodeTooMany}},
		"O zero":                     {adds(est(0, 1, 1, "1K")), []fault.Code{tg.CodeEstimate}},
		"O negative":                 {adds(est(-1, 1, 1, "1K")), []fault.Code{tg.CodeEstimate}},
		"O above M":                  {adds(est(2, 1, 3, "1K")), []fault.Code{tg.CodeEstimate}},
		"M above P":                  {adds(est(1, 3, 2, "1K")), []fault.Code{tg.CodeEstimate}},
		"P above budget":             {adds(est(1, 2, 1025, "1K")), []fault.Code{tg.CodeEstimate}},
		"unknown class":              {adds(est(1, 2, 3, "3K")), []fault.Code{tg.CodeClass}},
		"huge numbers":               {adds(est(1, 1<<62, 1<<63-1, "128K")), []fault.Code{tg.CodeEstimate}},
		"empty id":                   {with(func(x *tg.Task) { x.ID = "" }), []fault.Code{tg.CodeBadID}},
		"id with a space":            {with(func(x *tg.Task) { x.ID = "a b" }), []fault.Code{tg.CodeBadID}},
		"id too long":                {with(func(x *tg.Task) { x.ID = tg.ID(strings.Repeat("a", 65)) }), []fault.Code{tg.CodeBadID}},
		"blank title":                {with(func(x *tg.Task) { x.Title = " \n" }), []fault.Code{tg.CodeBadText}},
		"title not UTF-8":            {with(func(x *tg.Task) { x.Title = "a\xff" }), []fault.Code{tg.CodeBadText}},
		"title with escapes":         {with(func(x *tg.Task) { x.Title = "a\x1b[31m" }), []fault.Code{tg.CodeBadText}},
		"title too long":             {with(func(x *tg.Task) { x.Title = strings.Repeat("a", 2001) }), []fault.Code{tg.CodeBadText}},
		"expect without kind":        {with(func(x *tg.Task) { x.Expects = []tg.Expect{{Path: "p"}} }), []fault.Code{tg.CodeBadText}},
		"too many expects":           {with(func(x *tg.Task) { x.Expects = expects(65) }), []fault.Code{tg.CodeExpects}},
		"dependency of completed":    {tg.Update{Depend: []tg.Dependency{{"done", "open"}}}, []fault.Code{tg.CodeCompleted}},
		"dependency of running":      {tg.Update{Depend: []tg.Dependency{{"run", "open"}}}, []fault.Code{tg.CodeRunning}},
		"dependency of nobody":       {tg.Update{Depend: []tg.Dependency{{"nobody", "open"}}}, []fault.Code{tg.CodeUnknown}},
		"dependency on nobody":       {tg.Update{Depend: []tg.Dependency{{"open", "nobody"}}}, []fault.Code{tg.CodeDangling}},
		"completed revised":          {tg.Update{Revise: []tg.Task{task("done", 2)}}, []fault.Code{tg.CodeCompleted}},
		"running revised":            {tg.Update{Revise: []tg.Task{task("run", 2)}}, []fault.Code{tg.CodeRunning}},
		"nobody revised":             {tg.Update{Revise: []tg.Task{task("nobody", 2)}}, []fault.Code{tg.CodeUnknown}},
		"revised twice":              {tg.Update{Revise: []tg.Task{task("open", 2), task("open", 3)}}, []fault.Code{tg.CodeDuplicate}},
		"revised into a cycle":       {tg.Update{Revise: []tg.Task{task("open", 2, "open")}}, []fault.Code{tg.CodeCycle}},
		"everything wrong, all told": {adds(est(0, 1, 1, "9K"), task("y", 1, "z", "gone"), task("z", 1, "y"), task("done", 1)), []fault.Code{tg.CodeClass, tg.CodeCompleted, tg.CodeCycle, tg.CodeDangling, tg.CodeEstimate, tg.CodeTooMany}},
	} {
		t.Run(name, func(t *testing.T) {
			g, err := base.Update(row.u)
			assert.Equal(t, row.want, reasons(t, err))
			assert.Equal(t, before, bytesOf(t, g))
			assert.Equal(t, before, bytesOf(t, base))
		})
	}
}

func expects(n int) []tg.Expect {
	x := make([]tg.Expect, n)
	for i := range x {
		x[i].Kind = "ran"
	}
	return x
}

func must(g tg.Graph, err error) tg.Graph {
	if err != nil {
		panic(err)
	}
	return g
}

// PLN-01
func TestUpdate_NamesTheCycle(t *testing.T) {
	g := add(t, tg.New(0), task("a", 1), task("b", 1, "a"), task("c", 1, "b"), task("free", 1))
	_, err := g.Update(tg.Update{Add: []tg.Task{task("p", 1, "q"), task("q", 1, "p")}, Depend: []tg.Dependency{{"a", "c"}}})
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	require.Len(t, f.Reasons, 2)
	assert.Equal(t, "a -> b -> c -> a", f.Reasons[0].Args["path"])
	assert.Equal(t, "p -> q -> p", f.Reasons[1].Args["path"])

	var ring []tg.Task
	for i := range 500 {
		ring = append(ring, task(tg.ID(fmt.Sprintf("t%03d", i)), 1, tg.ID(fmt.Sprintf("t%03d", (i+499)%500))))
	}
	_, err = tg.New(1000).Update(tg.Update{Add: ring})
	require.ErrorAs(t, err, &f)
	path := f.Reasons[0].Args["path"].(string)
	assert.True(t, strings.HasPrefix(path, "t000 -> t001 -> ") && strings.HasSuffix(path, "-> … -> t000"), path)
	assert.Less(t, len(path), 400)
}

// PLN-06: what is to be done and what it may cost are apart: another class changes the budget alone, not the work, its order,
// its critical path or its progress.
func TestClass_IsApartFromTheWork(t *testing.T) {
	plan := func(c tg.Class) tg.Graph {
		tasks := []tg.Task{task("a", 10), task("b", 20, "a"), task("c", 3, "a")}
		for i := range tasks {
			tasks[i].Class = c
		}
		return must(add(t, tg.New(0), tasks...).Start("a"))
	}
	small, large := plan("1K").View(), plan("64K").View()
	assert.Equal(t, int64(3*1024), small.Budget)
	assert.Equal(t, int64(3*65536), large.Budget)
	for i := range small.Tasks {
		small.Tasks[i].Class = large.Tasks[i].Class
	}
	small.Budget = large.Budget
	assert.Equal(t, large, small)
}

// PLN-04
func TestUpdate_GrowsAndRevisesUnfinished(t *testing.T) {
	g := add(t, tg.New(0), task("a", 1), task("b", 1, "a"))
	g = must(g.Spend("b", tg.Usage{Input: 7, Calls: 1}))
	g = must(must(g.Start("a")).Complete("a"))
	g = must(must(g.Start("b")).Fail("b"))
	revised := task("b", 9, "a")
	revised.Title = "another way"
	g, err := g.Update(tg.Update{Add: []tg.Task{task("fix", 4, "a")}, Revise: []tg.Task{revised}, Depend: []tg.Dependency{{"b", "fix"}}})
	require.NoError(t, err)
	b, _ := g.Task("b")
	assert.Equal(t, "another way", b.Title)
	assert.Equal(t, tg.Pending, b.State)
	assert.Equal(t, []tg.ID{"a", "fix"}, b.After)
	assert.Equal(t, int64(7), b.Usage.Total(), "what was used stays counted")
	a, _ := g.Task("a")
	assert.Equal(t, tg.Completed, a.State)
	assert.Equal(t, []tg.ID{"fix"}, g.Runnable())
}

func TestUpdate_LeavesCallersSlicesAlone(t *testing.T) {
	after := []tg.ID{"b", "a", "b"}
	x := []tg.Expect{{Kind: "ran", Alias: "sh"}}
	tasks := []tg.Task{task("z", 1, after...), task("b", 1), task("a", 1)}
	tasks[0].Expects = x
	g := add(t, tg.New(0), tasks...)
	assert.Equal(t, []tg.ID{"b", "a", "b"}, after)
	assert.Equal(t, tg.ID("z"), tasks[0].ID)
	tasks[0].After[0], x[0].Kind = "hacked", "hacked"
	n, _ := g.Task("z")
	assert.Equal(t, []tg.ID{"a", "b"}, n.After)
	n.After[0], n.Expects[0].Kind = "hacked", "hacked"
	n, _ = g.Task("z")
	assert.Equal(t, []tg.ID{"a", "b"}, n.After)
	assert.Equal(t, "ran", n.Expects[0].Kind)
}

// AGT-01, AGT-08, PLN-03, PLN-09, AT-15, AT-17: one plan from start to end, and every move that is not allowed.
func TestStates_WholeLife(t *testing.T) {
	empty := tg.New(0)
	assert.False(t, empty.Done(), "an empty plan has done nothing")
	_, err := empty.Start("a")
	assert.Equal(t, tg.CodeUnknown, fault.CodeOf(err))
	_, ok := empty.Next()
	assert.False(t, ok)

	g := add(t, empty, task("short", 1), task("long", 9), task("end", 1, "short", "long"))
	assert.Equal(t, []tg.ID{"long", "short"}, g.Runnable(), "the critical one first")
	first, _ := g.Next()
	assert.Equal(t, tg.ID("long"), first)
	_, err = g.Start("end")
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	assert.Equal(t, tg.CodeBlocked, f.Code)
	assert.Equal(t, "long, short", f.Args["by"])
	for name, call := range map[string]func() (tg.Graph, error){
		"complete pending": func() (tg.Graph, error) { return g.Complete("long") },
		"fail pending":     func() (tg.Graph, error) { return g.Fail("long") },
		"retry pending":    func() (tg.Graph, error) { return g.Retry("long") },
	} {
		_, err = call()
		assert.Equal(t, tg.CodeState, fault.CodeOf(err), name)
	}
	running := must(g.Start("long"))
	n, _ := g.Task("long")
	assert.Equal(t, tg.Pending, n.State, "the old value is as it was")
	assert.Equal(t, []tg.ID{"long"}, running.In(tg.Running))
	failed := must(running.Fail("long"))
	failed = must(must(failed.Start("short")).Complete("short"))
	assert.False(t, failed.Done())
	g = must(must(failed.Retry("long")).Start("long"))
	g = must(g.Spend("long", tg.Usage{Input: 100, Output: 20, Calls: 1}))
	g = must(g.Spend("long", tg.Usage{Input: 50, Output: 5, Calls: 1}))
	_, err = g.Spend("long", tg.Usage{Input: -1})
	assert.Equal(t, tg.CodeUsage, fault.CodeOf(err))
	_, err = g.Spend("nobody", tg.Usage{})
	assert.Equal(t, tg.CodeUnknown, fault.CodeOf(err))
	n, _ = g.Task("long")
	assert.Equal(t, tg.Usage{Input: 150, Output: 25, Calls: 2}, n.Usage)
	g = must(g.Complete("long"))
	for name, call := range map[string]func() (tg.Graph, error){
		"start": func() (tg.Graph, error) { return g.Start("long") },
		"retry": func() (tg.Graph, error) { return g.Retry("long") },
		"fail":  func() (tg.Graph, error) { return g.Fail("long") },
	} {
		_, err = call()
		assert.Equal(t, tg.CodeState, fault.CodeOf(err), name)
	}
	_, err = g.Spend("long", tg.Usage{Input: 1})
	assert.Equal(t, tg.CodeCompleted, fault.CodeOf(err))
	g = must(must(g.Start("end")).Complete("end"))
	assert.True(t, g.Done())
	assert.Equal(t, int64(175), g.Usage().Total())
}

func benchPlan(n int) []tg.Task {
	tasks := make([]tg.Task, n)
	for i := range tasks {
		tasks[i] = task(tg.ID(fmt.Sprintf("t%06d", i)), 1000)
		for _, back := range []int{1, 7} {
			if i >= back {
				tasks[i].After = append(tasks[i].After, tasks[i-back].ID)
			}
		}
	}
	return tasks
}

// BenchmarkUpdate: at most 50 µs for 32 Planner Tasks, and ns/task must not grow with their number.
func BenchmarkUpdate(b *testing.B) {
	for _, n := range []int{32, 1000, 10_000, 100_000} {
		tasks := benchPlan(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := tg.New(n).Update(tg.Update{Add: tasks}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/task")
		})
	}
}

func TestGraph_EmptyIsWhole(t *testing.T) {
	var zero tg.Graph
	want := `{"tasks":[],"critical_path":[],"length_sixths":0,"budget_tokens":0,"usage":{"input":0,"output":0,"calls":0}}`
	assert.Equal(t, want, bytesOf(t, zero))
	assert.Equal(t, want, bytesOf(t, tg.New(5)))
	assert.Equal(t, tg.DefaultMaxTasks, zero.MaxTasks())
	_, ok := zero.Task("a")
	assert.False(t, ok)
	assert.Empty(t, zero.In(tg.Pending))
}

// A ring of 20,000 is named without running out of stack.
func TestUpdate_HugeCycle(t *testing.T) {
	tasks := benchPlan(20_000)
	tasks[0].After = []tg.ID{tasks[len(tasks)-1].ID}
	_, err := tg.New(len(tasks)).Update(tg.Update{Add: tasks})
	assert.Equal(t, []fault.Code{tg.CodeCycle}, reasons(t, err))
}

// AT-16, PLN-08: what is left is the sum of the estimates of what is not completed; what the running task took already is no
// longer ahead of it, and nothing is ever less than nothing.
func TestView_Left(t *testing.T) {
	guess := func(id tg.ID, o, m, p int64, class tg.Class, after ...tg.ID) tg.Task {
		return tg.Task{ID: id, Title: "x", Class: class, Estimate: tg.Estimate{O: o, M: m, P: p}, After: after}
	}
	g := add(t, tg.New(0), guess("a", 100, 200, 900, "1K"), guess("b", 400, 700, 1600, "2K", "a"), guess("c", 60, 60, 60, "1K", "b"))
	step := func(g tg.Graph, err error) tg.Graph { require.NoError(t, err); return g }
	assert.Equal(t, tg.Left{Estimate: tg.Estimate{O: 560, M: 960, P: 2560}, Expected: (300 + 800 + 60) * 6, Budget: 4096}, g.View().Left("", 0))
	g = step(g.Start("a"))
	assert.Equal(t, tg.Left{
		Estimate: tg.Estimate{O: 460, M: 810, P: 2410}, Expected: (0 + 4*50 + 750) + (800+60)*6, Budget: 4096 - 150, Share: 12,
	}, g.View().Left("a", 150))
	assert.Equal(t, int64(3072), g.View().Left("a", 5000).Budget, "over its budget: nothing is left of it")
	g = step(step(g.Complete("a")).Start("b"))
	assert.Equal(t, 25, g.View().Left("b", 0).Share)
	g = step(step(g.Complete("b")).Start("c"))
	assert.Equal(t, tg.Left{Expected: 0, Budget: 1024 - 600, Share: 99}, g.View().Left("c", 600), "all is said to be done only when it is")
	g = step(g.Complete("c"))
	assert.Equal(t, tg.Left{Share: 100}, g.View().Left("", 0))
	assert.Zero(t, tg.View{}.Left("x", 1))
}
