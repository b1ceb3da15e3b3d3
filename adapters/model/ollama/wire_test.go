package ollama_test

import (
	"context"
	"encoding/json"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/model/ollama"
	"github.com/agent-mcp/agent-mcp/adapters/model/scripted"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
)

func ptr[T any](v T) *T { return &v }

func hello() model.Request {
	return model.Request{Model: "m", Messages: []model.Message{{Role: model.User, Content: "hi"}}}
}

const good = `{"message":{"role":"assistant","content":"hi"},"done":true,"done_reason":"stop"}` + "\n"

// Whatever a broken server, proxy or network does has its own code.
func TestChat_WireFaults(t *testing.T) {
	piece := `{"message":{"role":"assistant","content":"some text"},"done":false}` + "\n"
	raw := func(s string) *scripted.Fault { return &scripted.Fault{Raw: s} }
	cases := map[string]struct {
		turn scripted.Turn
		want fault.Code
	}{
		"redirect":              {scripted.Turn{Fault: &scripted.Fault{Status: 302, Location: "http://example.com/"}}, model.CodeProtocol},
		"page with 200":         {scripted.Turn{Fault: &scripted.Fault{Status: 200, ContentType: "text/html", Body: "<html>x</html>"}}, model.CodeProtocol},
		"page with 502":         {scripted.Turn{Fault: &scripted.Fault{Status: 502, ContentType: "text/html", Body: "<html>x</html>"}}, model.CodeBusy},
		"page with 404":         {scripted.Turn{Fault: &scripted.Fault{Status: 404, ContentType: "text/html", Body: "<html>x</html>"}}, model.CodeProtocol},
		"no content":            {scripted.Turn{Fault: &scripted.Fault{Status: 204}}, model.CodeProtocol},
		"empty 500":             {scripted.Turn{Fault: &scripted.Fault{Status: 500}}, model.CodeServer},
		"plain 500":             {scripted.Turn{Fault: &scripted.Fault{Status: 500, ContentType: "text/plain", Body: "oops"}}, model.CodeServer},
		"rate limit":            {scripted.Turn{Fault: &scripted.Fault{Status: 429, ContentType: "text/plain", Body: "slow down"}}, model.CodeBusy},
		"too large for a proxy": {scripted.Turn{Fault: &scripted.Fault{Status: 413, ContentType: "text/html", Body: "<html>x</html>"}}, model.CodeBadRequest},
		"error object":          {scripted.Turn{Fault: &scripted.Fault{Status: 500, Body: `{"error":{"message":"boom","type":"server_error"}}`}}, model.CodeServer},
		"overflow inside a string": {scripted.Turn{Fault: &scripted.Fault{
			Status: 400,
			Body:   `{"error":"{\"error\":{\"code\":400,\"message\":\"request (9 tokens) is too large\",\"type\":\"exceed_context_size_error\"}}"}`,
		}}, model.CodeContextOverflow},
		"overflow in a stream":    {scripted.Turn{Content: "x", Fault: &scripted.Fault{Line: "the input exceeds the context size"}}, model.CodeContextOverflow},
		"not JSON":                {scripted.Turn{Fault: raw("hello\n")}, model.CodeProtocol},
		"wrong type":              {scripted.Turn{Fault: raw(`{"message":{"content":["a"]},"done":true}` + "\n")}, model.CodeProtocol},
		"JSON array":              {scripted.Turn{Fault: raw("[1]\n")}, model.CodeProtocol},
		"half a line":             {scripted.Turn{Fault: raw(piece + `{"message":{"role":"assis`)}, model.CodeIncomplete},
		"empty body":              {scripted.Turn{Fault: raw("\n")}, model.CodeIncomplete},
		"clean end":               {scripted.Turn{Content: "x", Fault: &scripted.Fault{End: true}}, model.CodeIncomplete},
		"cut":                     {scripted.Turn{Content: "x", Fault: &scripted.Fault{Cut: true}}, model.CodeIncomplete},
		"cut while repeating":     {scripted.Turn{Content: strings.Repeat("la ", 50), Fault: &scripted.Fault{Cut: true}}, model.CodeIncomplete},
		"end while repeating":     {scripted.Turn{Content: strings.Repeat("la ", 50), Fault: &scripted.Fault{End: true}}, model.CodeRepetition},
		"repeating thoughts":      {scripted.Turn{Thinking: strings.Repeat("so ", 50), Fault: &scripted.Fault{End: true}}, model.CodeRepetition},
		"line too long":           {scripted.Turn{Fault: raw(`{"message":{"content":"` + strings.Repeat("x", 1<<17) + `"},"done":true}` + "\n")}, model.CodeProtocol},
		"reply too long":          {scripted.Turn{Content: strings.Repeat("x", 1<<18), PieceRunes: 1 << 15}, model.CodeProtocol},
		"calls without end":       {scripted.Turn{Fault: raw(strings.Repeat(`{"message":{"tool_calls":[{"function":{"name":"a","arguments":{}}}]}}`+"\n", 1025) + `{"done":true}` + "\n")}, model.CodeProtocol},
		"empty lines without end": {scripted.Turn{Fault: raw(strings.Repeat(`{"message":{"content":""}}`+"\n", 5000) + `{"done":true}` + "\n")}, model.CodeProtocol},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, m := serve(t, scripted.Script{Steps: []scripted.Step{{Reply: c.turn}}}, ollama.Config{MaxLineBytes: 1 << 16, MaxReplyBytes: 1 << 17})
			r, err := m.Chat(context.Background(), hello(), nil)
			assert.Equal(t, c.want, fault.CodeOf(err), "%v", err)
			assert.Equal(t, model.Reply{}, r)
		})
	}
}

func TestChat_AcceptsUnusualStreams(t *testing.T) {
	for name, body := range map[string]string{
		"no newline at the end": strings.TrimSuffix(good, "\n"),
		"CRLF and blank lines":  "\r\n" + strings.ReplaceAll(good, "\n", "\r\n"),
		"lines without message": `{"status":"loading"}` + "\n{}\n" + good,
		"null error":            `{"error":null,"message":null}` + "\n" + good,
		"data after the end":    good + "garbage",
		"null content":          `{"message":{"role":"assistant","content":null}}` + "\n" + good,
	} {
		_, m := serve(t, scripted.Script{Steps: []scripted.Step{{Reply: scripted.Turn{Fault: &scripted.Fault{Raw: body}}}}}, ollama.Config{})
		r, err := m.Chat(context.Background(), hello(), nil)
		require.NoError(t, err, name)
		assert.Equal(t, "hi", r.Message.Content, name)
	}
}

func TestChat_LongLine(t *testing.T) {
	text := strings.Repeat("x", 1<<20)
	_, m := serve(t, scripted.Script{Steps: []scripted.Step{{Reply: scripted.Turn{Content: text, PieceRunes: 1 << 20}}}}, ollama.Config{})
	r, err := m.Chat(context.Background(), hello(), nil)
	require.NoError(t, err)
	assert.Equal(t, text, r.Message.Content)
}

// The limits run apart: a slow start is not an idle stream, and a slow stream is no stall as long as it moves.
func TestChat_TimeLimits(t *testing.T) {
	t.Run("slow start", func(t *testing.T) {
		_, m := serve(t, scripted.Script{Steps: []scripted.Step{{Reply: scripted.Turn{Content: "x", DelayMS: 400}}}}, ollama.Config{IdleTimeout: 300 * time.Millisecond})
		_, err := m.Chat(context.Background(), hello(), nil)
		assert.NoError(t, err)
	})
	t.Run("a caller that takes its time over a piece is no stall", func(t *testing.T) {
		_, m := serve(t, scripted.Script{Steps: []scripted.Step{{Reply: scripted.Say("x")}}}, ollama.Config{IdleTimeout: 300 * time.Millisecond})
		_, err := m.Chat(context.Background(), hello(), func(model.Chunk) { time.Sleep(400 * time.Millisecond) })
		assert.NoError(t, err)
	})
	t.Run("silence inside an error body", func(t *testing.T) {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}))
		defer srv.Close()
		m, err := ollama.New(ollama.Config{BaseURL: srv.URL, FirstChunkTimeout: 50 * time.Millisecond})
		require.NoError(t, err)
		_, err = m.Chat(context.Background(), hello(), nil)
		assert.Equal(t, model.CodeFirstChunk, fault.CodeOf(err))
	})
}

// Cancelling closes the connection, which is what stops generation on the server.
func TestChat_CancelClosesTheConnection(t *testing.T) {
	gone := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"message":{"content":"x"}}`+"\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(gone)
	}))
	defer srv.Close()
	m, err := ollama.New(ollama.Config{BaseURL: srv.URL})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	_, err = m.Chat(ctx, hello(), func(model.Chunk) { cancel() })
	assert.Equal(t, fault.CodeCancelled, fault.CodeOf(err))
	<-gone
}

func TestChat_NobodyListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	m, err := ollama.New(ollama.Config{BaseURL: "http://user:secret@" + l.Addr().String()})
	require.NoError(t, err)
	for name, err := range map[string]error{
		"chat": second(m.Chat(context.Background(), hello(), nil)), "inspect": second(m.Inspect(context.Background(), "m")),
		"loaded": second(m.Loaded(context.Background(), "m")),
	} {
		assert.Equal(t, model.CodeUnreachable, fault.CodeOf(err), name)
		assert.NotContains(t, err.Error(), "secret")
	}
	tls, err := ollama.New(ollama.Config{BaseURL: "https://" + plain(t)})
	require.NoError(t, err)
	_, err = tls.Chat(context.Background(), hello(), nil)
	assert.Equal(t, model.CodeProtocol, fault.CodeOf(err), "http behind https")
}

func second[T any](_ T, err error) error { return err }

func plain(t *testing.T) string {
	srv := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(srv.Close)
	return strings.TrimPrefix(srv.URL, "http://")
}

func TestNew_RefusesBadURLs(t *testing.T) {
	for _, u := range []string{"127.0.0.1:11434", "ftp://host", "http://", "http://h/?q=1", "http://h/#f", "http://[::1", "::", "localhost"} {
		_, err := ollama.New(ollama.Config{BaseURL: u})
		assert.Equal(t, ollama.CodeBadURL, fault.CodeOf(err), u)
	}
	_, err := ollama.New(ollama.Config{})
	require.NoError(t, err)
}

// sent is the body that a request becomes.
func sent(t *testing.T, req model.Request) map[string]any {
	t.Helper()
	var body map[string]any
	require.NoError(t, json.Unmarshal(sentBytes(t, req), &body))
	return body
}

func sentBytes(t *testing.T, req model.Request) (body []byte) {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "/prefix/api/chat", r.URL.Path)
		var err error
		body, err = io.ReadAll(r.Body)
		assert.NoError(t, err)
		_, _ = io.WriteString(w, good)
	}))
	defer srv.Close()
	m, err := ollama.New(ollama.Config{BaseURL: srv.URL + "/prefix/"})
	require.NoError(t, err)
	defer m.Close()
	_, err = m.Chat(context.Background(), req, nil)
	require.NoError(t, err)
	return body
}

// OLL-03..05: known options are typed and win over an extra of the same name; unset ones are the server's business.
func TestChat_Options(t *testing.T) {
	req := hello()
	assert.NotContains(t, sent(t, req), "options")
	req.Options = model.Options{
		NumCtx: ptr(8192), NumPredict: ptr(-1), NumKeep: ptr(4), Seed: ptr(0), TopK: ptr(1), RepeatLastN: ptr(2),
		NumBatch: ptr(3), NumGPU: ptr(-1), MainGPU: ptr(0), NumThread: ptr(5), DraftNumPredict: ptr(6), Temperature: ptr(0.0), TopP: ptr(0.1),
		MinP: ptr(0.2), TypicalP: ptr(0.3), RepeatPenalty: ptr(1.1), PresencePenalty: ptr(0.4), FrequencyPenalty: ptr(0.5),
		UseMmap: ptr(false), Stop: []string{"a"}, Extra: map[string]any{"num_ctx": 1, "future": "x"},
	}
	assert.Equal(t, map[string]any{
		"num_ctx": 8192.0, "num_predict": -1.0, "num_keep": 4.0, "seed": 0.0, "top_k": 1.0, "repeat_last_n": 2.0,
		"num_batch": 3.0, "num_gpu": -1.0, "main_gpu": 0.0, "num_thread": 5.0, "draft_num_predict": 6.0, "temperature": 0.0, "top_p": 0.1,
		"min_p": 0.2, "typical_p": 0.3, "repeat_penalty": 1.1, "presence_penalty": 0.4, "frequency_penalty": 0.5,
		"use_mmap": false, "stop": []any{"a"}, "future": "x",
	}, sent(t, req)["options"])
}

// OLL-14: think is a boolean or a level, and thinking goes back only where a tool call continues it.
func TestChat_Think(t *testing.T) {
	for _, c := range []struct {
		think model.Think
		want  any
	}{{model.Think{}, nil}, {model.Think{Set: true}, false}, {model.Think{Set: true, On: true}, true}, {model.Think{Set: true, Level: "low"}, "low"}, {model.Think{Set: true, On: true, Level: "max"}, "max"}} {
		req := hello()
		req.Think = c.think
		assert.Equal(t, c.want, sent(t, req)["think"])
	}
	req := hello()
	req.Messages = []model.Message{
		{Role: model.User, Content: "q", Thinking: "leak 1"},
		{Role: model.Assistant, Content: "a", Thinking: "leak 2"},
		{Role: model.Assistant, Thinking: "goes on", ToolCalls: []model.ToolCall{{ID: "1", Name: "x", Arguments: json.RawMessage(`{}`)}}},
		{Role: model.ToolRole, Content: "r", ToolName: "x", ToolCallID: "1", Thinking: "leak 3"},
	}
	b, err := json.Marshal(sent(t, req))
	require.NoError(t, err)
	assert.NotContains(t, string(b), "leak")
	assert.Contains(t, string(b), "goes on")
}

// History holds arguments as objects, whatever the model wrote: the server answers anything else with 400.
func TestChat_HistoryArgumentsAreObjects(t *testing.T) {
	for in, want := range map[string]any{
		`{"a":1}`: map[string]any{"a": 1.0}, `"{\"a\":1}"`: map[string]any{"a": 1.0}, ``: map[string]any{}, `null`: map[string]any{},
		`[1]`: map[string]any{"invalid_arguments": "[1]"}, `"text"`: map[string]any{"invalid_arguments": `"text"`},
	} {
		req := hello()
		req.Messages = append(req.Messages, model.Message{Role: model.Assistant, ToolCalls: []model.ToolCall{{ID: "1", Name: "x", Arguments: json.RawMessage(in)}}})
		msg := sent(t, req)["messages"].([]any)[1].(map[string]any)
		assert.Equal(t, want, msg["tool_calls"].([]any)[0].(map[string]any)["function"].(map[string]any)["arguments"], in)
		assert.Equal(t, "", msg["content"], "content is always there")
	}
}

// What a model wrote in broken UTF-8 goes back as UTF-8: a body that is not is refused by strict servers, for the rest of the Task.
func TestChat_HistoryIsUTF8(t *testing.T) {
	for _, in := range []string{"{\"a\":\"\xff\xc0\"}", "{\"\xfe\":1}", "\xff", "\"\xff\""} {
		req := hello()
		req.Messages = append(req.Messages, model.Message{Role: model.Assistant, Content: "\xff", ToolCalls: []model.ToolCall{{ID: "1", Name: "x\xff", Arguments: json.RawMessage(in)}}})
		assert.True(t, utf8.Valid(sentBytes(t, req)), in)
	}
}

func TestChat_RequestDetails(t *testing.T) {
	req := hello()
	req.KeepAlive, req.Truncate = "-1", ptr(false)
	req.Messages[0].Images = [][]byte{{0xfb, 0xff}}
	req.Tools = []model.Tool{{Name: "x"}}
	body := sent(t, req)
	assert.Equal(t, -1.0, body["keep_alive"])
	assert.Equal(t, false, body["truncate"])
	assert.Equal(t, true, body["stream"])
	assert.Equal(t, []any{"+/8="}, body["messages"].([]any)[0].(map[string]any)["images"])
	assert.Equal(t, map[string]any{"type": "object", "properties": map[string]any{}}, body["tools"].([]any)[0].(map[string]any)["function"].(map[string]any)["parameters"])

	req.Options.Temperature = ptr(math.NaN())
	_, m := serve(t, scripted.Script{}, ollama.Config{})
	_, err := m.Chat(context.Background(), req, nil)
	assert.Equal(t, model.CodeBadRequest, fault.CodeOf(err))
	req = hello()
	req.Format = json.RawMessage(`{"broken`)
	_, err = m.Chat(context.Background(), req, nil)
	assert.Equal(t, model.CodeBadRequest, fault.CodeOf(err))
}

func TestInspect_More(t *testing.T) {
	srv, m := serve(t, scripted.Script{Model: "m", NumCtx: 4096, Steps: []scripted.Step{{Reply: scripted.Say("x")}}}, ollama.Config{})
	ctx := context.Background()
	v, err := m.Version(ctx)
	require.NoError(t, err)
	assert.Equal(t, "0.24.0", v)
	names, err := m.List(ctx)
	require.NoError(t, err)
	assert.Equal(t, []string{"m:latest"}, names)
	_, err = m.Chat(ctx, hello(), nil)
	require.NoError(t, err)
	n, err := m.Loaded(ctx, "M:latest")
	require.NoError(t, err)
	assert.Equal(t, 4096, n)
	assert.Len(t, srv.Model.Requests(), 1)

	_, other := serve(t, scripted.Script{}, ollama.Config{})
	for name, remote := range map[string]bool{"gpt-oss:120b-cloud": true, "x:cloud": true, "hub/X:Cloud": true, "cloudy:7b": false, "my-cloud": false, "my-cloud:7b": false} {
		i, err := other.Inspect(ctx, name)
		require.NoError(t, err)
		assert.Equal(t, remote, i.Remote, name)
	}
}
