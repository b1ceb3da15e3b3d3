package ollama

import (
	"bytes"
	"encoding/json"
	"maps"
	"strconv"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
)

type chatRequest struct {
	Model     string          `json:"model"`
	Messages  []message       `json:"messages"`
	Tools     []tool          `json:"tools,omitempty"`
	Stream    bool            `json:"stream"`
	Format    json.RawMessage `json:"format,omitempty"`
	Think     any             `json:"think,omitempty"`
	Options   map[string]any  `json:"options,omitempty"`
	KeepAlive any             `json:"keep_alive,omitempty"`
	Truncate  *bool           `json:"truncate,omitempty"`
}

type message struct {
	Role       model.Role `json:"role"`
	Content    string     `json:"content"`
	Thinking   string     `json:"thinking,omitempty"`
	Images     [][]byte   `json:"images,omitempty"` // base64 without a data: prefix
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	ToolName   string     `json:"tool_name,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type toolCall struct {
	ID       string   `json:"id,omitempty"`
	Function function `json:"function"`
}

type function struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

type tool struct {
	Type     string       `json:"type"`
	Function toolFunction `json:"function"`
}

type toolFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

// encode makes the body of a chat request. CodeBadRequest with status 0 when it has no wire form.
func encode(req model.Request) ([]byte, error) {
	out := chatRequest{
		Model: req.Model, Stream: true, Options: options(req.Options), Truncate: req.Truncate,
		Messages: make([]message, 0, len(req.Messages)),
	}
	if f := bytes.TrimSpace(req.Format); len(f) > 0 && string(f) != "null" {
		if len(req.Tools) > 0 {
			return nil, fault.New(model.CodeBadRequest, "status", 0, "detail", "format and tools in one request: no tool could ever be called")
		}
		out.Format = f
	}
	if req.Think.Set {
		out.Think = req.Think.On
	}
	if req.Think.Level != "" {
		out.Think = req.Think.Level
	}
	if req.KeepAlive != "" {
		out.KeepAlive = req.KeepAlive
		if n, err := strconv.Atoi(req.KeepAlive); err == nil { // seconds; the server wants a number then
			out.KeepAlive = n
		}
	}
	for _, m := range req.Messages {
		out.Messages = append(out.Messages, encodeMessage(m))
	}
	for _, t := range req.Tools {
		schema := t.Schema
		if len(bytes.TrimSpace(schema)) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		out.Tools = append(out.Tools, tool{Type: "function", Function: toolFunction{t.Name, t.Description, schema}})
	}
	b, err := json.Marshal(out)
	if err != nil { // a schema or format that is no JSON, a NaN among the options
		return nil, fault.Wrap(err, model.CodeBadRequest, "status", 0, "detail", clean(err.Error()))
	}
	return b, nil
}

// encodeMessage keeps thinking only where a tool call goes on (OLL-14).
func encodeMessage(m model.Message) message {
	out := message{Role: m.Role, Content: m.Content, Images: m.Images, ToolName: m.ToolName, ToolCallID: m.ToolCallID}
	if m.Role == model.Assistant && len(m.ToolCalls) > 0 {
		out.Thinking = m.Thinking
	}
	for _, c := range m.ToolCalls {
		out.ToolCalls = append(out.ToolCalls, toolCall{ID: c.ID, Function: function{c.Name, objectOf(c.Arguments)}})
	}
	return out
}

// objectOf is arguments in the only form the server takes back. What is no object goes inside one, so that the model can
// see what it wrote.
func objectOf(raw json.RawMessage) json.RawMessage {
	a := arguments(raw)
	var probe map[string]json.RawMessage
	if json.Unmarshal(a, &probe) == nil && probe != nil {
		return a
	}
	b, err := json.Marshal(map[string]string{"invalid_arguments": string(a)})
	if err != nil {
		return json.RawMessage("{}")
	}
	return b
}

// options merges the extra options below the known ones (OLL-05).
func options(o model.Options) map[string]any {
	out := maps.Clone(o.Extra)
	if out == nil {
		out = map[string]any{}
	}
	put(out, "num_ctx", o.NumCtx)
	put(out, "num_predict", o.NumPredict)
	put(out, "num_keep", o.NumKeep)
	put(out, "seed", o.Seed)
	put(out, "top_k", o.TopK)
	put(out, "repeat_last_n", o.RepeatLastN)
	put(out, "num_batch", o.NumBatch)
	put(out, "num_gpu", o.NumGPU)
	put(out, "main_gpu", o.MainGPU)
	put(out, "num_thread", o.NumThread)
	put(out, "draft_num_predict", o.DraftNumPredict)
	put(out, "temperature", o.Temperature)
	put(out, "top_p", o.TopP)
	put(out, "min_p", o.MinP)
	put(out, "typical_p", o.TypicalP)
	put(out, "repeat_penalty", o.RepeatPenalty)
	put(out, "presence_penalty", o.PresencePenalty)
	put(out, "frequency_penalty", o.FrequencyPenalty)
	put(out, "use_mmap", o.UseMmap)
	if o.Stop != nil {
		out["stop"] = o.Stop
	}
	return out
}

func put[T any](m map[string]any, name string, v *T) {
	if v != nil {
		m[name] = *v
	}
}
