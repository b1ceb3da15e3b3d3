package evals

import (
	"fmt"
	"strings"
)

// Score is one line of the table.
type Score struct {
	Task          Task
	Outcome       Outcome
	Verdict       Verdict
	Skipped       string // why it was not run
	Unasked       bool   // the model could not be asked, so that nothing was evaluated
	Input, Output int    // tokens
}

// Table writes the scores, a sum, and what went wrong (finished / honest failure / false success / tokens).
func Table(scores []Score) string {
	var b strings.Builder
	width := 4
	for _, s := range scores {
		width = max(width, len(s.Task.Name))
	}
	row := func(name, kind, end, code string, in, out int) {
		fmt.Fprintf(&b, "%-*s  %-7s  %-14s  %8d  %8d  %s\n", width, name, kind, end, in, out, code)
	}
	fmt.Fprintf(&b, "%-*s  %-7s  %-14s  %8s  %8s  %s\n", width, "task", "kind", "end", "in", "out", "code")
	for _, s := range scores {
		row(s.Task.Name, s.Task.Kind, s.End(), s.Outcome.Code, s.Input, s.Output)
	}
	t := Sum(scores)
	fmt.Fprintf(&b, "\nin sum: %d tasks: %d finished, %d honest failures, %d FALSE SUCCESSES, %d breaches, %d not asked, %d skipped; %d tokens in, %d out\n",
		len(scores), t.Finished, t.Honest, t.False, t.Breaches, t.Unasked, t.Skipped, t.Input, t.Output)
	for _, s := range scores {
		for _, w := range s.Verdict.Breaches {
			fmt.Fprintf(&b, "BREACH %s: %s\n", s.Task.Name, w)
		}
		if s.Verdict.False {
			for _, w := range s.Verdict.Unmet {
				fmt.Fprintf(&b, "FALSE SUCCESS %s: %s\n", s.Task.Name, w)
			}
		}
		for _, w := range s.Verdict.Wrong {
			fmt.Fprintf(&b, "wrong %s: %s\n", s.Task.Name, w)
		}
		if s.Skipped != "" {
			fmt.Fprintf(&b, "SKIPPED %s: %s\n", s.Task.Name, s.Skipped)
		}
	}
	return b.String()
}

// End is one word for how it ended.
func (s Score) End() string {
	switch {
	case s.Skipped != "":
		return "skipped"
	case s.Unasked:
		return "not asked"
	case s.Verdict.False:
		return "FALSE SUCCESS"
	case s.Verdict.Finished:
		return "finished"
	}
	return "honest failure"
}

// Total is the sum of a table.
type Total struct{ Finished, Honest, False, Breaches, Unasked, Skipped, Input, Output int }

// Sum adds scores up.
func Sum(scores []Score) (t Total) {
	for _, s := range scores {
		switch {
		case s.Skipped != "":
			t.Skipped++
		case s.Unasked:
			t.Unasked++
		case s.Verdict.False:
			t.False++
		case s.Verdict.Finished:
			t.Finished++
		default:
			t.Honest++
		}
		t.Breaches += len(s.Verdict.Breaches)
		t.Input += s.Input
		t.Output += s.Output
	}
	return t
}
