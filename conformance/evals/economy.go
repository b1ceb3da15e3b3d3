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

// Bounds of growth: a task may cost so much more than it is pinned at before somebody has to say why.
const (
	growth = 5  // per cent
	slack  = 40 // tokens; paths and program names differ between hosts
)

// Grown lists the tasks that cost more than they are pinned at, those that are not pinned, and those that are pinned and gone.
// Tasks whose course the script leaves open, and those that were skipped, are not compared.
func Grown(scores []Score) ([]string, error) {
	pins := map[string]int{}
	if err := json.Unmarshal(pinned, &pins); err != nil {
		return nil, fmt.Errorf("%s: %w", Economy, err)
	}
	var out []string
	for _, s := range scores {
		pin, known := pins[s.Task.Name]
		switch n := s.Outcome.Size; {
		case s.Skipped != "" || s.Task.Want.Loose:
		case !known:
			out = append(out, s.Task.Name+": not pinned")
		case n > pin+pin*growth/100+slack:
			out = append(out, fmt.Sprintf("%s: %d tokens, pinned at %d", s.Task.Name, n, pin))
		}
	}
	slices.Sort(out)
	return out, nil
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
