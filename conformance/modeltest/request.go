package modeltest

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
)

func ptr[T any](v T) *T { return &v }

// failures: every failure has its code, a reply that did not end is no reply, and the next request is not harmed.
func failures(t *testing.T, f Factory) {
	for _, code := range Failures {
		t.Run(string(code), func(t *testing.T) {
			s := f(t, Turn{Content: "a beginning", Fail: code}, Turn{Content: "fine"})
			r, err := s.Model.Chat(context.Background(), ask("hi"), nil)
			require.Error(t, err)
			var fe *fault.Error
			require.ErrorAs(t, err, &fe)
			assert.Equal(t, code, fe.Code, "%v", err)
			assert.Equal(t, model.Reply{}, r)
			for _, name := range args[code] {
				assert.Contains(t, fe.Args, name)
			}
			r, err = s.Model.Chat(context.Background(), ask("hi"), nil)
			require.NoError(t, err)
			assert.Equal(t, "fine", r.Message.Content)
		})
	}
}

// args are the named values that a code promises.
var args = map[fault.Code][]string{
	model.CodeUnreachable: {"url", "detail"}, model.CodeFirstChunk: {"limit"}, model.CodeIdle: {"limit"},
	model.CodeRunnerDied: {"detail"}, model.CodeServer: {"status", "detail"}, model.CodeBusy: {"detail"},
	model.CodeContextOverflow: {"detail"}, model.CodeBrokenCall: {"detail"}, model.CodeNotFound: {"model"},
	model.CodeNoTools: {"model"}, model.CodeNoVision: {"model"}, model.CodeNoThinking: {"model"},
	model.CodeBadRequest: {"status", "detail"}, model.CodeForbidden: {"detail"}, model.CodeQuota: {"detail"},
	model.CodeSignIn: {"url"}, model.CodeProtocol: {"detail"},
}

func cancelling(t *testing.T, f Factory) {
	t.Run("before", func(t *testing.T) {
		s := f(t, Turn{Content: "x"})
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err := s.Model.Chat(ctx, ask("hi"), nil)
		assert.Equal(t, fault.CodeCancelled, fault.CodeOf(err))
		assert.Empty(t, s.Seen(), "nothing is asked for nobody")
	})
	t.Run("in a stream", func(t *testing.T) {
		s := f(t, Turn{Content: "a beginning", Stall: true}, Turn{Content: "fine"})
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		_, err := s.Model.Chat(ctx, ask("hi"), func(model.Chunk) { cancel() })
		assert.Equal(t, fault.CodeCancelled, fault.CodeOf(err))
		r, err := s.Model.Chat(context.Background(), ask("hi"), nil)
		require.NoError(t, err)
		assert.Equal(t, "fine", r.Message.Content)
	})
	t.Run("by a deadline", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer cancel()
		_, err := f(t, Turn{Content: "a beginning", Stall: true}).Model.Chat(ctx, ask("hi"), nil)
		assert.Equal(t, fault.CodeTimeout, fault.CodeOf(err))
	})
}

// requests: what is asked for arrives.
func requests(t *testing.T, f Factory) {
	t.Run("everything arrives", func(t *testing.T) {
		s := f(t, Turn{Content: "ok"})
		req := model.Request{
			Model: Name,
			Messages: []model.Message{
				{Role: model.System, Content: "be good"},
				{Role: model.User, Content: "look 🙂", Images: [][]byte{{1, 2, 3}, {0xff, 0}}},
				{Role: model.Assistant, Thinking: "I need the file", ToolCalls: []model.ToolCall{{ID: "c1", Name: "read_file", Arguments: json.RawMessage(`{"path":"a"}`)}}},
				{Role: model.ToolRole, Content: "content of a", ToolName: "read_file", ToolCallID: "c1"},
			},
			Tools:     []model.Tool{{Name: "read_file", Description: "reads", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)}},
			Think:     model.Think{Set: true, On: true, Level: "high"},
			Options:   model.Options{NumCtx: ptr(4096), Temperature: ptr(0.0), Seed: ptr(0), UseMmap: ptr(false), Stop: []string{"#"}, Extra: map[string]any{"future": "yes"}},
			KeepAlive: "5m",
			Truncate:  ptr(false),
		}
		_, err := s.Model.Chat(context.Background(), req, nil)
		require.NoError(t, err)
		require.Len(t, s.Seen(), 1)
		assert.Equal(t, req, s.Seen()[0])
	})
	t.Run("format", func(t *testing.T) {
		s := f(t, Turn{Content: "{}"}, Turn{Content: "{}"})
		for i, format := range []string{`"json"`, `{"type":"object","properties":{"a":{"type":"string"}}}`} {
			req := ask("plan")
			req.Format = json.RawMessage(format)
			_, err := s.Model.Chat(context.Background(), req, nil)
			require.NoError(t, err)
			assert.JSONEq(t, format, string(s.Seen()[i].Format))
		}
	})
	t.Run("a format never goes with tools", func(t *testing.T) {
		req := ask("plan")
		req.Format, req.Tools = json.RawMessage(`"json"`), []model.Tool{{Name: "a", Schema: json.RawMessage(`{"type":"object"}`)}}
		_, err := f(t, Turn{Content: "{}"}).Model.Chat(context.Background(), req, nil)
		assert.Equal(t, model.CodeBadRequest, fault.CodeOf(err))
	})
}

// RunInspector checks the contract of model.Inspector. The factory makes one whose server has Name (tools and vision,
// context 8192, not yet loaded) and no other model.
func RunInspector(t *testing.T, f func(t *testing.T) model.Inspector) {
	ctx := context.Background()
	i := f(t)
	info, err := i.Inspect(ctx, Name)
	require.NoError(t, err)
	assert.Equal(t, Name, info.Name)
	assert.True(t, info.Has("tools") && info.Has("vision"))
	assert.False(t, info.Has("thinking"))
	assert.Equal(t, 8192, info.ContextLength)
	assert.False(t, info.Remote)

	_, err = i.Inspect(ctx, "absent:1b")
	assert.Equal(t, model.CodeNotFound, fault.CodeOf(err))
	n, err := i.Loaded(ctx, Name)
	require.NoError(t, err)
	assert.Zero(t, n, "not loaded")
	n, err = i.Loaded(ctx, "absent:1b")
	require.NoError(t, err)
	assert.Zero(t, n)

	gone, cancel := context.WithCancel(ctx)
	cancel()
	_, err = i.Inspect(gone, Name)
	assert.Equal(t, fault.CodeCancelled, fault.CodeOf(err))
	_, err = i.Loaded(gone, Name)
	assert.Equal(t, fault.CodeCancelled, fault.CodeOf(err))
}
