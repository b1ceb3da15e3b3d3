package config

import (
	"strings"

	"github.com/agent-mcp/agent-mcp/core/near"
)

// nearest returns the candidate with the smallest edit distance to word, "" when none is near enough to be meant. Equal
// distances go to the first candidate.
func nearest(word string, candidates []string) string {
	best, dist := "", max(2, len([]rune(word))/3)+1
	for _, c := range candidates {
		if d := near.Distance(strings.ToLower(word), c); d < dist && d < len([]rune(c)) {
			best, dist = c, d
		}
	}
	return best
}
