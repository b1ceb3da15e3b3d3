package taskgraph_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	tg "github.com/agent-mcp/agent-mcp/core/taskgraph"
	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// PLN-05: a random plan in any order, whole or bit by bit, gives the same bytes; and what CPM says holds.
func TestUpdate_OrderDoesNotMatter(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		tasks := randomPlan(r, 1+r.IntN(40))
		g := add(t, tg.New(100), tasks...)
		want := bytesOf(t, g)
		checkCPM(t, g)
		r.Shuffle(len(tasks), func(i, j int) { tasks[i], tasks[j] = tasks[j], tasks[i] })
		for i := range tasks {
			a := tasks[i].After
			r.Shuffle(len(a), func(i, j int) { a[i], a[j] = a[j], a[i] })
		}
		require.Equal(t, want, bytesOf(t, add(t, tg.New(100), tasks...)))

		bare, deps := make([]tg.Task, len(tasks)), []tg.Dependency{}
		for i := range tasks {
			bare[i] = tasks[i]
			bare[i].After = nil
			for _, on := range tasks[i].After {
				deps = append(deps, tg.Dependency{Task: tasks[i].ID, On: on})
			}
		}
		grown := add(t, tg.New(100), bare...)
		for _, d := range deps {
			grown = must(grown.Update(tg.Update{Depend: []tg.Dependency{d}}))
		}
		require.Equal(t, want, bytesOf(t, grown))
	}
}

// The reasons of a rejection do not depend on the order either.
func TestUpdate_ReasonsInOneOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	tasks := []tg.Task{task("a", 1, "b"), task("b", 0, "a"), task("c", 1, "gone"), task("c", 1, "d", "away"), task("d", 1, "c"), task("", 1)}
	_, err := tg.New(4).Update(tg.Update{Add: tasks})
	require.Error(t, err)
	for range 50 {
		r.Shuffle(len(tasks), func(i, j int) { tasks[i], tasks[j] = tasks[j], tasks[i] })
		_, again := tg.New(4).Update(tg.Update{Add: tasks})
		require.EqualError(t, again, err.Error())
	}
}

func randomPlan(r *rand.Rand, n int) []tg.Task {
	tasks := make([]tg.Task, n)
	names := r.Perm(n)
	for i := range tasks {
		o := 1 + r.Int64N(300)
		m := o + r.Int64N(300)
		tasks[i] = task(tg.ID(fmt.Sprintf("t%d", names[i])), 1)
		tasks[i].Estimate = tg.Estimate{O: o, M: m, P: m + r.Int64N(400)}
		tasks[i].Class = "1K"
		for j := range i {
			if r.IntN(4) == 0 {
				tasks[i].After = append(tasks[i].After, tasks[j].ID)
			}
		}
	}
	return tasks
}

// checkCPM compares with a slow and obvious computation: the longest way over all ways.
func checkCPM(t *testing.T, g tg.Graph) {
	t.Helper()
	v := g.View()
	byID, memo := map[tg.ID]tg.Node{}, map[tg.ID]tg.Sixths{}
	for _, n := range v.Tasks {
		byID[n.ID] = n
	}
	var finish func(id tg.ID) tg.Sixths
	finish = func(id tg.ID) tg.Sixths {
		if f, ok := memo[id]; ok {
			return f
		}
		var start tg.Sixths
		for _, on := range byID[id].After {
			start = max(start, finish(on))
		}
		memo[id] = start + byID[id].Estimate.Expected()
		return memo[id]
	}
	var longest, sum tg.Sixths
	for _, n := range v.Tasks {
		longest = max(longest, finish(n.ID))
		require.Equal(t, finish(n.ID), n.Slot.EarliestFinish)
		require.GreaterOrEqual(t, n.Slot.Slack, tg.Sixths(0))
		require.Equal(t, n.Slot.Slack, n.Slot.LatestFinish-n.Slot.EarliestFinish)
		for _, on := range n.After {
			require.LessOrEqual(t, byID[on].Slot.LatestFinish, n.Slot.LatestStart)
		}
	}
	require.Equal(t, longest, v.Length)
	for i, id := range v.CriticalPath {
		require.True(t, byID[id].Slot.Critical)
		sum += byID[id].Estimate.Expected()
		if i > 0 {
			require.Contains(t, byID[id].After, v.CriticalPath[i-1])
		}
	}
	require.Equal(t, v.Length, sum, "the path's E add up to its length")
}

// FuzzUpdate throws JSON at a plan: it is accepted whole with a sound schedule, or rejected with reasons and unchanged.
func FuzzUpdate(f *testing.F) {
	f.Add([]byte(`{"add":[{"id":"x","title":"t","class":"1K","estimate":{"optimistic":1,"most_likely":2,"pessimistic":3},"after":["a"]}]}`))
	f.Add([]byte(`{"depend":[{"task":"a","on":"b"}],"revise":[{"id":"b"}]}`))
	f.Add([]byte(`{"add":[{"id":"x","title":"t","class":"1K","estimate":{"optimistic":1,"most_likely":1,"pessimistic":1},"after":["x"]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var u tg.Update
		if json.Unmarshal(data, &u) != nil {
			return
		}
		base := must(tg.New(0).Update(tg.Update{Add: []tg.Task{task("a", 1), task("b", 1, "a")}}))
		before := bytesOf(t, base)
		g, err := base.Update(u)
		if err == nil {
			checkCPM(t, g)
			require.LessOrEqual(t, g.Len(), g.MaxTasks())
		} else {
			require.NotEmpty(t, reasons(t, err))
			require.Equal(t, before, bytesOf(t, g))
		}
		require.Equal(t, before, bytesOf(t, base))
		var fe *fault.Error
		require.True(t, err == nil || errors.As(err, &fe))
	})
}
