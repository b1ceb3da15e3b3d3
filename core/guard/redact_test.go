package guard_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/guard"
	"github.com/agent-mcp/agent-mcp/ports/model"
)

// AGT-09: one large argument does not fill the context of every later call; what is kept is still an object.
func TestShortened_CutsLongArguments(t *testing.T) {
	small := json.RawMessage(`{"path":"a","content":"hi"}`)
	require.Equal(t, string(small), string(guard.Shortened(small, 400)))
	big, err := json.Marshal(map[string]any{"path": "a.txt", "content": strings.Repeat("あ line\n", 500_000), "executable": true})
	require.NoError(t, err)
	got := guard.Shortened(big, 400)
	require.Less(t, len(got), 2000)
	var back map[string]any
	require.NoError(t, json.Unmarshal(got, &back))
	require.Equal(t, "a.txt", back["path"])
	require.Equal(t, true, back["executable"])
	many, err := json.Marshal(map[string]any{"args": strings.Fields(strings.Repeat("x ", 100_000))})
	require.NoError(t, err)
	require.Contains(t, string(guard.Shortened(many, 400)), "left_out")
	require.Equal(t, "{}", string(guard.Shortened(json.RawMessage("{broken"), 400)))
	require.True(t, json.Valid(guard.Shortened(json.RawMessage(`"`+strings.Repeat("x", 9000)+`"`), 400)))
}

// OLL-14, LOG-02: what a log keeps has no thinking, wherever it stood, and no image; what was given is not changed.
func TestRedacted_KeepsNoThinkingAndNoImages(t *testing.T) {
	const secret = "the-hidden-thought"
	msg := model.Message{Role: model.Assistant, Content: "<think>" + secret + "</think>said", Thinking: secret, Images: [][]byte{[]byte("IMAGE")}}
	req := model.Request{Messages: []model.Message{msg}}
	got := guard.Redacted(req)
	require.Empty(t, got.Messages[0].Thinking)
	require.Empty(t, got.Messages[0].Images)
	require.Equal(t, msg, req.Messages[0])
	require.Equal(t, model.Message{Role: model.Assistant, Content: "said"}, guard.RedactedReply(model.Reply{Message: msg}).Message)
}

// OLL-14
func TestSpoken_TakesThinkingOut(t *testing.T) {
	for in, want := range map[string]string{
		"said": "said", " said\n": "said", "": "",
		"<think>a</think>said": "said", "a</think>said": "said", "<think>a</think>b</think>said": "said",
		"said<think>never closed": "said", "<think>never closed": "",
		`<think>{"tasks":[]}</think>{"tasks":[1]}`: `{"tasks":[1]}`,
	} {
		require.Equal(t, want, guard.Spoken(in), in)
	}
}
