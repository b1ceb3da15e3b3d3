package wire

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/conformance/evals"
)

// The economy of the agent: what every evaluation task costs in tokens, and a failure when one grew over 5 % above its pin
// (conformance/evals/tokens.json). Each task is played once, however often the benchmark asks.
func BenchmarkEvals(b *testing.B) {
	tasks, err := evals.All()
	require.NoError(b, err)
	p := newPlayer(context.Background(), b.TempDir())
	played := map[string]evals.Score{}
	var scores []evals.Score
	for _, e := range tasks {
		b.Run(e.Name, func(b *testing.B) {
			s, again := played[e.Name]
			if !again {
				var err error
				s, err = p.play(context.Background(), e)
				require.NoError(b, err)
				played[e.Name], scores = s, append(scores, s)
			}
			if s.Skipped != "" {
				b.Skip(s.Skipped)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(s.Outcome.Size), "tokens-sent")
			b.ReportMetric(float64(s.Outcome.Counts["replies"]), "calls")
			b.ReportMetric(float64(s.Output), "tokens-out")
		})
	}
	grown, err := evals.Grown(scores)
	require.NoError(b, err)
	for _, g := range grown {
		b.Error(g + ": accept it with AGENT_MCP_UPDATE=1 task evals, and say why in the change")
	}
}
