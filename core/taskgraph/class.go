package taskgraph

import (
	"slices"
	"strings"
)

// Class is a Token Budget Class (PLN-07): the most tokens a Planner Task may take over all its calls, "1K" to "128K".
type Class string

var classes = []Class{"1K", "2K", "4K", "8K", "16K", "32K", "64K", "128K"}

// Classes returns every class, smallest first.
func Classes() []Class { return slices.Clone(classes) }

// Tokens is the class's budget, 1,024 to 131,072; 0 for an unknown class.
func (c Class) Tokens() int64 {
	i := slices.Index(classes, c)
	if i < 0 {
		return 0
	}
	return 1024 << i
}

// ClassFor returns the smallest class that holds so many tokens; ok is false when none does or tokens < 1.
func ClassFor(tokens int64) (c Class, ok bool) {
	for _, c := range classes {
		if tokens >= 1 && tokens <= c.Tokens() {
			return c, true
		}
	}
	return "", false
}

func knownClasses() string {
	s := make([]string, len(classes))
	for i, c := range classes {
		s[i] = string(c)
	}
	return strings.Join(s, ", ")
}
