package taskgraph

// Left is what a plan still takes by its estimates, in tokens. It says nothing about time (PLN-08).
type Left struct {
	Estimate        // the sums of O, M and P of what is not completed
	Expected Sixths // the sum of E
	Budget   int64  // of the Token Budget Classes
	Share    int    // per cent of the plan's E that is done, 0..100; 100 only when all is completed
}

// Left counts what is not completed. now has taken so many tokens of its estimate and its budget already.
func (v View) Left(now ID, spent int64) Left {
	var l Left
	var all Sixths
	open := 0
	for _, n := range v.Tasks {
		e := n.Estimate
		all += e.Expected()
		if n.State == Completed {
			continue
		}
		open++
		budget := n.Class.Tokens()
		if n.ID == now {
			e.O, e.M, e.P = max(e.O-spent, 0), max(e.M-spent, 0), max(e.P-spent, 0)
			budget = max(budget-spent, 0)
		}
		l.O, l.M, l.P = l.O+e.O, l.M+e.M, l.P+e.P
		l.Expected += e.Expected()
		l.Budget += budget
	}
	switch {
	case len(v.Tasks) == 0:
	case open == 0:
		l.Share = 100
	case all > 0:
		l.Share = min(int((all-l.Expected)*100/all), 99)
	}
	return l
}
