package taskgraph

// Slot is a Planner Task's place in the schedule, in exact tokens from the start of the plan (PLN-08). Latest times keep
// the critical path's length. Slack is LatestStart - EarliestStart; without slack a Planner Task is critical.
type Slot struct {
	Expected       Sixths `json:"expected_sixths"`
	EarliestStart  Sixths `json:"earliest_start_sixths"`
	EarliestFinish Sixths `json:"earliest_finish_sixths"`
	LatestStart    Sixths `json:"latest_start_sixths"`
	LatestFinish   Sixths `json:"latest_finish_sixths"`
	Slack          Sixths `json:"slack_sixths"`
	Critical       bool   `json:"critical"`
}

// plan is an accepted set of Planner Tasks. Immutable after newPlan.
type plan struct {
	tasks  []Task     // by id; After sorted, without repeats
	index  map[ID]int // id → position
	deps   adjacency  // position → positions it waits for, ascending
	next   adjacency  // position → positions that wait for it, ascending
	slots  []Slot
	path   []ID // one critical path, the least in id order among equals
	length Sixths
	budget int64
}

// adjacency holds all lists in one slice: list i is to[off[i]:off[i+1]].
type adjacency struct{ off, to []int }

func (a adjacency) of(i int) []int { return a.to[a.off[i]:a.off[i+1]] }

// link builds both directions from tasks sorted by id. Dependencies that are not in index are told to dangling.
func link(tasks []Task, index map[ID]int, dangling func(id, on ID)) (deps, next adjacency) {
	edges := 0
	for i := range tasks {
		edges += len(tasks[i].After)
	}
	deps = adjacency{off: make([]int, len(tasks)+1), to: make([]int, 0, edges)}
	next = adjacency{off: make([]int, len(tasks)+2)}
	for i := range tasks {
		for _, id := range tasks[i].After {
			d, ok := index[id]
			if !ok {
				dangling(tasks[i].ID, id)
				continue
			}
			deps.to = append(deps.to, d)
			next.off[d+2]++
		}
		deps.off[i+1] = len(deps.to)
	}
	for i := 2; i < len(next.off); i++ {
		next.off[i] += next.off[i-1]
	}
	next.to = make([]int, len(deps.to))
	for i := range tasks {
		for _, d := range deps.of(i) {
			next.to[next.off[d+1]] = i
			next.off[d+1]++
		}
	}
	next.off = next.off[:len(tasks)+1]
	return deps, next
}

// order returns the positions with every dependency first, and those it could not place: what lies on a cycle or waits
// for one.
func order(deps, next adjacency) (sorted, rest []int) {
	n := len(deps.off) - 1
	waits := make([]int, n)
	sorted = make([]int, 0, n)
	for i := range n {
		if waits[i] = len(deps.of(i)); waits[i] == 0 {
			sorted = append(sorted, i)
		}
	}
	for k := 0; k < len(sorted); k++ {
		for _, j := range next.of(sorted[k]) {
			if waits[j]--; waits[j] == 0 {
				sorted = append(sorted, j)
			}
		}
	}
	if len(sorted) < n {
		for i := range n {
			if waits[i] > 0 {
				rest = append(rest, i)
			}
		}
	}
	return sorted, rest
}

// schedule fills slots, path, length and budget: one pass forward for the earliest, one backward for the latest times.
func (p *plan) schedule(sorted []int) {
	p.slots = make([]Slot, len(p.tasks))
	for _, i := range sorted {
		s := &p.slots[i]
		s.Expected = p.tasks[i].Estimate.Expected()
		p.budget += p.tasks[i].Class.Tokens()
		for _, d := range p.deps.of(i) {
			s.EarliestStart = max(s.EarliestStart, p.slots[d].EarliestFinish)
		}
		s.EarliestFinish = s.EarliestStart + s.Expected
		p.length = max(p.length, s.EarliestFinish)
	}
	for k := len(sorted) - 1; k >= 0; k-- {
		i := sorted[k]
		s := &p.slots[i]
		s.LatestFinish = p.length
		for _, j := range p.next.of(i) {
			s.LatestFinish = min(s.LatestFinish, p.slots[j].LatestStart)
		}
		s.LatestStart = s.LatestFinish - s.Expected
		s.Slack = s.LatestStart - s.EarliestStart
		s.Critical = s.Slack == 0
	}
	p.trace()
}

// trace walks one critical path from a start without dependencies, taking the least id where several go on.
func (p *plan) trace() {
	at := -1
	for i := range p.slots {
		if p.slots[i].Critical && p.slots[i].EarliestStart == 0 {
			at = i
			break
		}
	}
	for at >= 0 {
		p.path = append(p.path, p.tasks[at].ID)
		finish, step := p.slots[at].EarliestFinish, -1
		for _, j := range p.next.of(at) {
			if p.slots[j].Critical && p.slots[j].EarliestStart == finish {
				step = j
				break
			}
		}
		at = step
	}
}
