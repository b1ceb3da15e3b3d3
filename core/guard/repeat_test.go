package guard_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/guard"
	"github.com/agent-mcp/agent-mcp/ports/model"
)

// AGT-03: endless repetition trips the guard, in words and in thinking; a long text alone does not.
func TestStream_TripsOnRepetitionOnly(t *testing.T) {
	feed := func(s string, thinking bool) bool {
		g := guard.Stream{}
		for _, w := range strings.SplitAfter(s, " ") {
			c := model.Chunk{Content: w}
			if thinking {
				c = model.Chunk{Thinking: w}
			}
			if g.Add(c) {
				return true
			}
		}
		return false
	}
	var count, prose strings.Builder
	for i := range 400 {
		count.WriteString("Step " + strings.Repeat("I", i%3) + " and go on with the next thing to do here. ")
		prose.WriteString(strings.Repeat("word", i%5) + string(rune('a'+i%26)) + string(rune('a'+i*7%26)) + string(rune('a'+i*3%23)) + " ")
	}
	for s, want := range map[string]bool{
		strings.Repeat("ha", 3000): true, strings.Repeat("All work and no play makes a dull day. ", 60): true,
		strings.Repeat("同じことを繰り返します。", 200): true, count.String(): true,
		prose.String(): false, strings.Repeat("=", 200): false, "short": false, "": false,
	} {
		require.Equal(t, want, feed(s, false), s[:min(len(s), 40)])
		require.Equal(t, want, feed(s, true), s[:min(len(s), 40)])
		require.Equal(t, want, guard.Repeats(s), s[:min(len(s), 40)])
	}
}
