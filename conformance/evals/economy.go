package evals

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Economy is the file of this package that pins what every task costs in tokens sent to the model.
const Economy = "tokens.json"

//go:embed tokens.json
var pinned []byte

// growth is how much more than it is pinned at a task may cost before somebody has to say why, in per cent. There is no other
// room: what differs between hosts (paths, places of programs) is not counted.
const growth = 5

// Grown lists the tasks that cost more than they are pinned at, those that are not pinned, and those that are pinned and gone.
func Grown(scores []Score) ([]string, error) {
	pins := map[string]int{}
	if err := json.Unmarshal(pinned, &pins); err != nil {
		return nil, fmt.Errorf("%s: %w", Economy, err)
	}
	tasks, err := All()
	if err != nil {
		return nil, err
	}
	return Compare(pins, tasks, scores), nil
}

// Compare is Grown with pins and tasks of the caller's. Tasks whose course the script leaves open, and those that were skipped, are
// not compared.
func Compare(pins map[string]int, tasks []Task, scores []Score) []string {
	var out []string
	for _, s := range scores {
		pin, known := pins[s.Task.Name]
		switch n := s.Outcome.Size; {
		case s.Skipped != "" || s.Task.Want.Loose:
		case !known:
			out = append(out, s.Task.Name+": not pinned")
		case n*100 > pin*(100+growth):
			out = append(out, fmt.Sprintf("%s: %d tokens, pinned at %d, %.1f %% more", s.Task.Name, n, pin, 100*float64(n-pin)/float64(max(pin, 1))))
		}
	}
	for name := range pins {
		if !slices.ContainsFunc(tasks, func(t Task) bool { return t.Name == name && !t.Want.Loose }) {
			out = append(out, name+": pinned, and gone")
		}
	}
	slices.Sort(out)
	return out
}

// Pins writes the costs of tasks as the content of Economy.
func Pins(scores []Score) string {
	var lines []string
	for _, s := range scores {
		if s.Skipped == "" && !s.Task.Want.Loose {
			lines = append(lines, fmt.Sprintf("  %q: %d", s.Task.Name, s.Outcome.Size))
		}
	}
	slices.Sort(lines)
	return "{\n" + strings.Join(lines, ",\n") + "\n}\n"
}
