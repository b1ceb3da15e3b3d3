// Command taskgraph prices a plan: what each Planner Task is expected to take in tokens, how much slack it has, and which
// way through the plan is the longest.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/agent-mcp/agent-mcp/core/taskgraph"
)

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(w io.Writer) error {
	est := func(o, m, p int64) taskgraph.Estimate { return taskgraph.Estimate{O: o, M: m, P: p} }
	plan, err := taskgraph.New(taskgraph.DefaultMaxTasks).Update(taskgraph.Update{Add: []taskgraph.Task{
		{ID: "read", Title: "read the specification", Class: "4K", Estimate: est(800, 1500, 3000)},
		{ID: "code", Title: "write the program", Class: "16K", Estimate: est(3000, 6000, 14000), After: []taskgraph.ID{"read"}},
		{ID: "docs", Title: "write the manual", Class: "8K", Estimate: est(1000, 2000, 5000), After: []taskgraph.ID{"read"}},
		{ID: "test", Title: "run the tests", Class: "8K", Estimate: est(500, 2500, 8000), After: []taskgraph.ID{"code"}},
	}})
	if err != nil {
		return err
	}
	for _, n := range plan.View().Tasks {
		fmt.Fprintf(w, "%-5s %-32s slack %s\n", n.ID, n.Estimate.Explain(), n.Slot.Slack)
	}
	fmt.Fprintf(w, "critical path %v: %s tokens; all budgets: %d tokens\n", plan.CriticalPath(), plan.Length(), plan.Budget())

	for next, ok := plan.Next(); ok; next, ok = plan.Next() { // what to do first, and what becomes ready after it
		fmt.Fprintf(w, "next of %v: %s\n", plan.Runnable(), next)
		if plan, err = plan.Start(next); err != nil {
			return err
		}
		if plan, err = plan.Complete(next); err != nil {
			return err
		}
	}

	_, err = plan.Update(taskgraph.Update{Add: []taskgraph.Task{{ID: "a", Title: "impossible", Class: "1K", After: []taskgraph.ID{"a", "gone"}}}})
	fmt.Fprintln(w, "rejected:", err)
	return nil
}
