package modeltest

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/model"
)

func ask(text string) model.Request {
	return model.Request{Model: Name, Messages: []model.Message{{Role: model.User, Content: text}}}
}

func replies(t *testing.T, f Factory) {
	cases := map[string]struct {
		turn Turn
		want model.Reply
	}{
		"text": {
			Turn{Content: "Hello there, this is a longer text in pieces.", Prompt: 7, Output: 5},
			model.Reply{
				Message: model.Message{Content: "Hello there, this is a longer text in pieces."},
				Usage:   model.Usage{PromptTokens: 7, PromptPresent: true, OutputTokens: 5, OutputPresent: true},
			},
		},
		"nothing":          {Turn{}, model.Reply{}},
		"counts left out":  {Turn{Content: "x"}, model.Reply{Message: model.Message{Content: "x"}}},
		"one count absent": {Turn{Content: "x", Output: 3}, model.Reply{Message: model.Message{Content: "x"}, Usage: model.Usage{OutputTokens: 3, OutputPresent: true}}},
		"cut by a limit":   {Turn{Content: "Hel", DoneReason: "length"}, model.Reply{Message: model.Message{Content: "Hel"}, DoneReason: "length"}},
		"thinking stays apart": {
			Turn{Content: "42", Thinking: "six times seven, that is"},
			model.Reply{Message: model.Message{Content: "42", Thinking: "six times seven, that is"}},
		},
		"runes survive the pieces": {
			Turn{Content: strings.Repeat("использовать 🙂 漢字\n", 40)},
			model.Reply{Message: model.Message{Content: strings.Repeat("использовать 🙂 漢字\n", 40)}},
		},
		"long": {Turn{Content: strings.Repeat("0123456789abcdef", 5_000)}, // far above a scanner's 64 KiB
			model.Reply{Message: model.Message{Content: strings.Repeat("0123456789abcdef", 5_000)}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := f(t, c.turn).Model.Chat(context.Background(), ask("hi"), nil)
			require.NoError(t, err)
			c.want.Message.Role = model.Assistant
			if c.want.DoneReason == "" {
				c.want.DoneReason = "stop"
			}
			assert.GreaterOrEqual(t, got.Usage.TotalTime, got.Usage.LoadTime)
			assert.GreaterOrEqual(t, got.Usage.TotalTime, got.Usage.PromptTime+got.Usage.OutputTime)
			got.Usage.TotalTime, got.Usage.LoadTime, got.Usage.PromptTime, got.Usage.OutputTime = 0, 0, 0, 0
			assert.Equal(t, c.want, got)
		})
	}
}

// OLL-10: calls reach the agent whole, named apart, their arguments an object wherever one was sent.
func calls(t *testing.T, f Factory) {
	sent := []model.ToolCall{
		{ID: "srv-1", Name: "a", Arguments: json.RawMessage(`{"path":"x","n":2}`)},
		{Name: "b", Arguments: json.RawMessage(`"{\"path\":\"y\"}"`)},
		{Name: "c"},
		{Name: "d", Arguments: json.RawMessage(`null`)},
		{Name: "e", Arguments: json.RawMessage(`"not an object"`)},
		{Name: "f", Arguments: json.RawMessage(`[1,2]`)},
		{ID: "srv-1", Name: "g", Arguments: json.RawMessage(`{}`)},
		{ID: "call_2", Name: "h", Arguments: json.RawMessage(`{}`)},
	}
	want := []string{`{"path":"x","n":2}`, `{"path":"y"}`, `{}`, `{}`, `"not an object"`, `[1,2]`, `{}`, `{}`}
	n := 0
	r, err := f(t, Turn{Content: "Let me see.", Calls: sent}).Model.Chat(context.Background(), ask("hi"), func(c model.Chunk) { n += c.Calls })
	require.NoError(t, err)
	require.Len(t, r.Message.ToolCalls, len(sent))
	assert.Equal(t, len(sent), n, "calls told in pieces")
	assert.Equal(t, "Let me see.", r.Message.Content)
	ids := map[string]bool{}
	for i, c := range r.Message.ToolCalls {
		assert.Equal(t, sent[i].Name, c.Name)
		assert.JSONEq(t, want[i], string(c.Arguments), c.Name)
		assert.NotEmpty(t, c.ID)
		assert.False(t, ids[c.ID], "id %q twice", c.ID)
		ids[c.ID] = true
	}
	assert.Equal(t, "srv-1", r.Message.ToolCalls[0].ID, "the server's id is kept")
}

func chunks(t *testing.T, f Factory) {
	text, thought := strings.Repeat("one two three ", 50), strings.Repeat("hmm ", 30)
	var got []model.Chunk
	r, err := f(t, Turn{Content: text, Thinking: thought}).Model.Chat(context.Background(), ask("hi"), func(c model.Chunk) { got = append(got, c) })
	require.NoError(t, err)
	var content, thinking strings.Builder
	for _, c := range got {
		assert.NotEqual(t, model.Chunk{}, c, "an empty piece")
		content.WriteString(c.Content)
		thinking.WriteString(c.Thinking)
	}
	assert.Greater(t, len(got), 2, "a stream comes in pieces")
	assert.Equal(t, r.Message.Content, content.String())
	assert.Equal(t, r.Message.Thinking, thinking.String())
}

func ownership(t *testing.T, f Factory) {
	turn := Turn{Content: "x", Calls: []model.ToolCall{{ID: "1", Name: "a", Arguments: json.RawMessage(`{"k":"v"}`)}}}
	s := f(t, turn, turn)
	req := ask("hi")
	req.Options.Extra = map[string]any{"future": 1.0, "num_ctx": 1.0}
	req.Options.Stop = []string{"###"}
	before, err := json.Marshal(req)
	require.NoError(t, err)
	first, err := s.Model.Chat(context.Background(), req, nil)
	require.NoError(t, err)
	after, err := json.Marshal(req)
	require.NoError(t, err)
	assert.JSONEq(t, string(before), string(after), "the request was changed")

	copy(first.Message.ToolCalls[0].Arguments, "XXXXXXXXX") // the reply is ours
	req.Messages[0].Content = "changed afterwards"          // the request is not retained
	assert.Equal(t, "hi", s.Seen()[0].Messages[0].Content)
	second, err := s.Model.Chat(context.Background(), ask("again"), nil)
	require.NoError(t, err)
	assert.JSONEq(t, `{"k":"v"}`, string(second.Message.ToolCalls[0].Arguments))
}

func concurrent(t *testing.T, f Factory) {
	const n = 8
	s := f(t, make([]Turn, n)...)
	var wg sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		wg.Go(func() { _, errs[i] = s.Model.Chat(context.Background(), ask("hi"), nil) })
	}
	wg.Wait()
	for _, err := range errs {
		assert.NoError(t, err)
	}
	assert.Len(t, s.Seen(), n)
}
