package wire

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/conformance/evals"
	"github.com/agent-mcp/agent-mcp/core/agent"
)

// Environment of a live run: `AGENT_MCP_OLLAMA_URL=http://127.0.0.1:11434 AGENT_MCP_OLLAMA_MODEL=qwen3:8b task evals`. The third
// names the tasks to play, all whose name holds one of its words.
const (
	envURL   = "AGENT_MCP_OLLAMA_URL"
	envModel = "AGENT_MCP_OLLAMA_MODEL"
	envOnly  = "AGENT_MCP_EVALS"
)

// liveLimit is the most that one Task of a live run may take.
const liveLimit = 20 * time.Minute

// The evaluation tasks: with a live server when the environment names one, else with each task's script, over the real wire.
// False successes are never accepted, whoever the model is; what the transcript must lead to is judged for a script only.
func TestEvals(t *testing.T) {
	tasks, err := evals.All()
	require.NoError(t, err)
	tasks = slices.DeleteFunc(tasks, func(e evals.Task) bool { return !chosen(e.Name, os.Getenv(envOnly)) })
	if url := os.Getenv(envURL); url != "" {
		p := newPlayer(context.Background(), t.TempDir())
		p.url, p.model, p.limit = url, os.Getenv(envModel), liveLimit
		require.NotEmpty(t, p.model, envModel+" names the model")
		scores, err := p.live(context.Background(), tasks, func(s string) { fmt.Println(s) })
		require.NoError(t, err)
		fmt.Print("\n" + evals.Table(scores))
		sum := evals.Sum(scores)
		require.Zero(t, sum.False, "false successes")
		require.Zero(t, sum.Breaches, "breaches")
		require.Zero(t, sum.Unasked, "a model that could not be asked is no pass")
		return
	}
	p := newPlayer(context.Background(), t.TempDir())
	var mu sync.Mutex
	var scores []evals.Score
	t.Run("scripted", func(t *testing.T) {
		for _, e := range tasks {
			t.Run(e.Name, func(t *testing.T) {
				t.Parallel()
				s, err := p.play(context.Background(), e)
				require.NoError(t, err)
				mu.Lock()
				scores = append(scores, s)
				mu.Unlock()
				if s.Skipped != "" {
					t.Skip(s.Skipped)
				}
				v := s.Verdict
				require.False(t, v.False, "a false success: %s", strings.Join(v.Unmet, "\n"))
				require.Empty(t, v.Breaches, s.Outcome.Status)
				require.Empty(t, v.Wrong, "%v\n%s", s.Outcome.Counts, s.Outcome.Status)
			})
		}
	})
	slices.SortFunc(scores, func(a, b evals.Score) int { return strings.Compare(a.Task.Name, b.Task.Name) })
	t.Log("\n" + evals.Table(scores))
	if t.Failed() || os.Getenv(envOnly) != "" {
		return
	}
	if os.Getenv("AGENT_MCP_UPDATE") != "" {
		require.NoError(t, os.WriteFile(filepath.Join("..", "..", "conformance", "evals", evals.Economy), []byte(evals.Pins(scores)), 0o644))
		return
	}
	for _, c := range agent.Causes() {
		name := strings.TrimPrefix(string(c), "cause.")
		require.True(t, slices.ContainsFunc(scores, func(s evals.Score) bool {
			for k := range s.Outcome.Counts {
				if head, _, _ := strings.Cut(k, ":"); head == name {
					return true
				}
			}
			return false
		}), "no task shows the cause %s", name)
	}
	grown, err := evals.Grown(scores)
	require.NoError(t, err)
	require.Empty(t, grown, "tasks cost more than before: accept it with AGENT_MCP_UPDATE=1 and say why in the change")
}

func chosen(name, words string) bool {
	list := strings.Fields(words)
	return len(list) == 0 || slices.ContainsFunc(list, func(w string) bool { return strings.Contains(name, w) })
}

// live plays tasks one after the other: a local model does one thing at a time.
func (p *player) live(ctx context.Context, tasks []evals.Task, say func(string)) (scores []evals.Score, err error) {
	for i, e := range tasks {
		s, err := p.play(ctx, e)
		if err != nil {
			return scores, fmt.Errorf("%s: %w", e.Name, err)
		}
		s.Unasked = s.Outcome.Code == string(agent.CodeModel)
		scores = append(scores, s)
		say(fmt.Sprintf("[%d/%d] %s: %s", i+1, len(tasks), e.Name, s.End()))
	}
	return scores, nil
}
