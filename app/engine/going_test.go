package engine_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/model/scripted"
	"github.com/agent-mcp/agent-mcp/ports/model"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// paced is a model whose pieces the test lets out one by one.
type paced struct {
	asked  chan model.Request
	pieces chan model.Chunk // an empty one ends the answer
	reply  chan model.Reply
	failed chan error
}

func newPaced() *paced {
	return &paced{make(chan model.Request), make(chan model.Chunk), make(chan model.Reply), make(chan error, 1)}
}

func (p *paced) Chat(ctx context.Context, req model.Request, onChunk func(model.Chunk)) (model.Reply, error) {
	select {
	case p.asked <- req:
	case <-ctx.Done():
		return model.Reply{}, ctx.Err()
	}
	for {
		select {
		case c := <-p.pieces:
			onChunk(c)
		case r := <-p.reply:
			return r, nil
		case <-ctx.Done():
			return model.Reply{}, ctx.Err()
		}
	}
}

func says(content string) model.Reply {
	return model.Reply{
		Message: model.Message{Role: model.Assistant, Content: content}, DoneReason: "stop",
		Usage: model.Usage{PromptTokens: 800, OutputTokens: 50, PromptPresent: true, OutputPresent: true, PromptTime: 2 * time.Second, OutputTime: time.Second},
	}
}

// MCP-STS-03, MCP-ASY-01, I18N-07: while a Task is under way its status says, in the owner's language, which step runs and how far
// plan, budget and answer are, and who waits; never what the model thinks, or what its tools are called.
func TestStatus_TellsHowItGoes(t *testing.T) {
	for lang, want := range map[string]struct{ planning, thinking, writing, working, finishing, behind, queued, ended []string }{
		"en": {
			planning:  []string{"State: making a plan (planning)", "Now: making the plan: waiting ", " for the model's first words"},
			thinking:  []string{"Now: making the plan: the model is thinking, about 2 tokens so far"},
			writing:   []string{"Now: step 1 of 2, first part: the model is writing, about 3 tokens so far", "Plan: 0 of 2 steps completed (about 0 %)", "Still to do, as estimated: about 367 tokens (200 to 1,000)", "Budget left: 16,384 of 16,384 tokens", "Budget left for this step: 8,192 of 8,192 tokens", "Speed of the model: 400 tokens read per second, 50.0 tokens written per second"},
			working:   []string{"Now: step 1 of 2, first part: carrying out an operation for "},
			finishing: []string{"Now: writing the final answer: waiting ", "Plan: 2 of 2 steps completed (about 99 %)", "Still to do, as estimated: about 0 tokens (0 to 0)"},
			behind:    []string{"Tasks waiting for this one: 2"},
			queued:    []string{"Waiting: 2 tasks come before it (place 2 of 2 in the queue)."},
			ended:     []string{"State: finished (completed)", "(about 100 %)"},
		},
		"ja": {
			planning:  []string{"状態: 計画中", "現在: 計画を立てています: モデルの応答を待っています"},
			thinking:  []string{"現在: 計画を立てています: モデルが考えています (これまで約 2 トークン)"},
			writing:   []string{"現在: 2 ステップ中 1 番目「first part」: モデルが書いています (これまで約 3 トークン)", "計画: 2 ステップ中 0 件完了 (約 0 %)", "残りの見積もり: 約 367 トークン (200～1,000)", "モデルの速度: 入力 毎秒 400 トークン, 出力 毎秒 50.0 トークン"},
			working:   []string{"現在: 2 ステップ中 1 番目「first part」: 操作を実行しています"},
			finishing: []string{"現在: 最終回答を書いています: モデルの応答を待っています"},
			behind:    []string{"このタスクの後に待機中: 2 件"},
			queued:    []string{"先に 2 件のタスクがあります (待ち行列 2 件中 2 番目)"},
			ended:     []string{"状態: 完了 (completed)", "(約 100 %)"},
		},
	} {
		t.Run(lang, func(t *testing.T) {
			m := newPaced()
			w := newWorldWith(t, lang, m, 4)
			w.hands.hold = make(chan struct{})
			run := func() string {
				a, err := w.Run(context.Background(), service.RunRequest{Request: "do both parts"})
				require.NoError(t, err)
				return a.TaskID
			}
			first := run()
			run()
			third := run()
			status := func(id string) service.Status {
				st, err := w.Status(context.Background(), id, "")
				require.NoError(t, err)
				for _, inner := range []string{"write_file", "SECRET-THOUGHT", "chapter one", "/project"} {
					require.NotContains(t, st.Text+st.Summary, inner)
				}
				require.NotContains(t, st.Summary, "\n")
				require.NotContains(t, st.Text, "{")
				return st
			}
			shows := func(id string, parts []string) {
				t.Helper()
				st := status(id)
				for _, p := range parts {
					require.Contains(t, st.Text, p)
				}
			}
			said := func(c model.Chunk) { m.pieces <- c }

			<-m.asked
			require.Eventually(t, func() bool { return status(first).State == service.Planning }, time.Minute, time.Millisecond)
			shows(first, want.planning)
			shows(first, want.behind)
			shows(third, want.queued)
			require.Contains(t, status(third).Summary, want.queued[0])
			said(model.Chunk{Thinking: "SECRET-THOUGHT one"})
			said(model.Chunk{Thinking: "SECRET-THOUGHT two"})
			require.Eventually(t, func() bool { return strings.Contains(status(first).Text, want.thinking[0]) }, time.Minute, time.Millisecond)

			step := func(id, title string, after ...string) map[string]any {
				return map[string]any{
					"id": id, "title": title, "depends_on": after, "o": 100, "m": 125, "p": 500, "budget": "1K",
					"expects": []any{map[string]any{"kind": "file", "path": id + ".txt"}},
				}
			}
			m.reply <- says(string(scripted.JSON(map[string]any{"tasks": []any{step("t1", "first part"), step("t2", "second part", "t1")}}).JSON))
			<-m.asked
			for range 3 {
				said(model.Chunk{Content: "chapter one "})
			}
			require.Eventually(t, func() bool { return strings.Contains(status(first).Text, want.writing[0]) }, time.Minute, time.Millisecond)
			shows(first, want.writing)
			require.Zero(t, status(first).Percent)
			call := func(path string) model.Reply {
				r := says("")
				r.Message.ToolCalls = []model.ToolCall{{ID: "c", Name: "write_file", Arguments: []byte(`{"path":"` + path + `","content":"x"}`)}}
				return r
			}
			m.reply <- call("t1.txt")
			require.Eventually(t, func() bool { return strings.Contains(status(first).Text, want.working[0]) }, time.Minute, time.Millisecond)
			close(w.hands.hold)
			for _, r := range []model.Reply{says("t1.txt is written."), call("t2.txt"), says("t2.txt is written.")} {
				<-m.asked
				m.reply <- r
			}
			<-m.asked
			shows(first, want.finishing)
			require.Equal(t, 99, status(first).Percent, "all is done only when the Task is")
			m.reply <- says(map[string]string{"en": "Both files are written.", "ja": "ファイルを二つ書きました。"}[lang])
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
			defer cancel()
			st, err := w.Wait(ctx, first)
			require.NoError(t, err)
			shows(first, want.ended)
			require.Equal(t, 100, st.Percent)
			for _, gone := range []string{"Now:", "現在:", "Budget left", "残り"} {
				assert.NotContains(t, st.Text, gone, "it is over")
			}
		})
	}
}
