package scripted

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/agent-mcp/agent-mcp/ports/model"
)

// chatRequest is what arrives at /api/chat.
type chatRequest struct {
	Model    string `json:"model"`
	Messages []struct {
		Role      model.Role `json:"role"`
		Content   string     `json:"content"`
		Thinking  string     `json:"thinking"`
		Images    [][]byte   `json:"images"`
		ToolCalls []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
		ToolName   string `json:"tool_name"`
		ToolCallID string `json:"tool_call_id"`
	} `json:"messages"`
	Tools []struct {
		Type     string `json:"type"`
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	Stream    *bool           `json:"stream"`
	Format    json.RawMessage `json:"format"`
	Think     any             `json:"think"`
	Options   map[string]any  `json:"options"`
	KeepAlive any             `json:"keep_alive"`
	Truncate  *bool           `json:"truncate"`
}

// options are the known generation options by their wire names.
type options struct {
	NumCtx           *int     `json:"num_ctx"`
	NumPredict       *int     `json:"num_predict"`
	NumKeep          *int     `json:"num_keep"`
	Seed             *int     `json:"seed"`
	TopK             *int     `json:"top_k"`
	RepeatLastN      *int     `json:"repeat_last_n"`
	NumBatch         *int     `json:"num_batch"`
	NumGPU           *int     `json:"num_gpu"`
	MainGPU          *int     `json:"main_gpu"`
	NumThread        *int     `json:"num_thread"`
	DraftNumPredict  *int     `json:"draft_num_predict"`
	Temperature      *float64 `json:"temperature"`
	TopP             *float64 `json:"top_p"`
	MinP             *float64 `json:"min_p"`
	TypicalP         *float64 `json:"typical_p"`
	RepeatPenalty    *float64 `json:"repeat_penalty"`
	PresencePenalty  *float64 `json:"presence_penalty"`
	FrequencyPenalty *float64 `json:"frequency_penalty"`
	UseMmap          *bool    `json:"use_mmap"`
	Stop             []string `json:"stop"`
}

var knownOptions = strings.Fields(`num_ctx num_predict num_keep seed top_k repeat_last_n num_batch num_gpu main_gpu num_thread
	draft_num_predict temperature top_p min_p typical_p repeat_penalty presence_penalty frequency_penalty use_mmap stop`)

// badRequest is a refusal with the status a real server uses.
type badRequest struct {
	status int
	text   string
}

func (b badRequest) Error() string { return b.text }

// decodeChat reads a request the way the server does, and refuses what it refuses.
func decodeChat(r io.Reader) (req model.Request, stream bool, err error) {
	var in chatRequest
	if err := json.NewDecoder(r).Decode(&in); err != nil {
		if errors.Is(err, io.EOF) {
			return req, false, badRequest{400, "missing request body"}
		}
		return req, false, badRequest{400, err.Error()}
	}
	req = model.Request{Model: in.Model, Format: in.Format, Truncate: in.Truncate}
	if string(bytes.TrimSpace(req.Format)) == "null" {
		req.Format = nil
	}
	for _, m := range in.Messages {
		out := model.Message{
			Role: m.Role, Content: m.Content, Thinking: m.Thinking, Images: m.Images,
			ToolName: m.ToolName, ToolCallID: m.ToolCallID,
		}
		for _, c := range m.ToolCalls {
			if a := bytes.TrimSpace(c.Function.Arguments); len(a) == 0 || a[0] != '{' {
				return req, false, badRequest{400, "Value looks like object, but can't find closing '}' symbol"}
			}
			out.ToolCalls = append(out.ToolCalls, model.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
		}
		req.Messages = append(req.Messages, out)
	}
	for _, t := range in.Tools {
		req.Tools = append(req.Tools, model.Tool{Name: t.Function.Name, Description: t.Function.Description, Schema: t.Function.Parameters})
	}
	if req.Think, err = decodeThink(in.Think); err != nil {
		return req, false, err
	}
	if req.Options, err = decodeOptions(in.Options); err != nil {
		return req, false, err
	}
	switch v := in.KeepAlive.(type) {
	case string:
		req.KeepAlive = v
	case float64:
		req.KeepAlive = strconv.FormatFloat(v, 'f', -1, 64)
	}
	return req, in.Stream == nil || *in.Stream, nil
}

func decodeThink(v any) (model.Think, error) {
	switch v := v.(type) {
	case nil:
		return model.Think{}, nil
	case bool:
		return model.Think{Set: true, On: v}, nil
	case string:
		switch v {
		case "low", "medium", "high", "max":
			return model.Think{Set: true, On: true, Level: v}, nil
		}
		return model.Think{}, badRequest{400, `invalid think value: "` + v + `" (must be "high", "medium", "low", "max", true, or false)`}
	}
	return model.Think{}, badRequest{400, `think must be a boolean or string ("high", "medium", "low", "max", true, or false)`}
}

func decodeOptions(in map[string]any) (model.Options, error) {
	known := map[string]any{}
	var extra map[string]any
	for _, k := range knownOptions {
		if v, ok := in[k]; ok {
			known[k] = v
			delete(in, k)
		}
	}
	if len(in) > 0 {
		extra = in
	}
	b, err := json.Marshal(known)
	if err != nil {
		return model.Options{}, badRequest{400, err.Error()}
	}
	var o options
	if err := json.Unmarshal(b, &o); err != nil {
		var te *json.UnmarshalTypeError
		if errors.As(err, &te) {
			return model.Options{}, badRequest{500, `option "` + te.Field + `" must be of type ` + te.Type.String()}
		}
		return model.Options{}, badRequest{400, err.Error()}
	}
	return model.Options{
		NumCtx: o.NumCtx, NumPredict: o.NumPredict, NumKeep: o.NumKeep, Seed: o.Seed, TopK: o.TopK,
		RepeatLastN: o.RepeatLastN, NumBatch: o.NumBatch, NumGPU: o.NumGPU, MainGPU: o.MainGPU, NumThread: o.NumThread,
		DraftNumPredict: o.DraftNumPredict, Temperature: o.Temperature, TopP: o.TopP, MinP: o.MinP, TypicalP: o.TypicalP,
		RepeatPenalty: o.RepeatPenalty, PresencePenalty: o.PresencePenalty, FrequencyPenalty: o.FrequencyPenalty,
		UseMmap: o.UseMmap, Stop: o.Stop, Extra: extra,
	}, nil
}

// The reply lines. Zero values are left out, as the server does.
type chatLine struct {
	Model      string      `json:"model"`
	CreatedAt  string      `json:"created_at"`
	Message    wireMessage `json:"message"`
	Done       bool        `json:"done"`
	DoneReason string      `json:"done_reason,omitempty"`
	Total      int64       `json:"total_duration,omitempty"` // nanoseconds
	Load       int64       `json:"load_duration,omitempty"`
	Prompt     int         `json:"prompt_eval_count,omitempty"`
	PromptTime int64       `json:"prompt_eval_duration,omitempty"`
	Output     int         `json:"eval_count,omitempty"`
	OutputTime int64       `json:"eval_duration,omitempty"`
}

type wireMessage struct {
	Role      string     `json:"role"`
	Content   string     `json:"content"`
	Thinking  string     `json:"thinking,omitempty"`
	ToolCalls []wireCall `json:"tool_calls,omitempty"`
}

type wireCall struct {
	ID       string       `json:"id,omitempty"`
	Function wireFunction `json:"function"`
}

type wireFunction struct {
	Index     int             `json:"index"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// createdAt is fixed, so that the same script gives the same bytes.
const createdAt = "2026-01-01T00:00:00Z"

// lines are the finished stream of a turn: pieces, calls, the end mark.
func (t Turn) lines(req model.Request) (pieces []chatLine, calls *chatLine, done chatLine) {
	mk := func(m wireMessage) chatLine {
		m.Role = "assistant"
		return chatLine{Model: req.Model, CreatedAt: createdAt, Message: m}
	}
	for _, p := range t.pieces() {
		pieces = append(pieces, mk(wireMessage{Content: p.Content, Thinking: p.Thinking}))
	}
	var wc []wireCall
	for i, c := range t.Calls {
		wc = append(wc, wireCall{ID: c.ID, Function: wireFunction{Index: i, Name: c.Name, Arguments: c.Arguments}})
	}
	done = mk(wireMessage{})
	switch {
	case len(wc) == 0:
	case t.CallsInDone:
		done.Message.ToolCalls = wc
	default:
		l := mk(wireMessage{ToolCalls: wc})
		calls = &l
	}
	done.Done, done.DoneReason = true, t.doneReason()
	done.PromptTime, done.OutputTime = int64(t.took(t.PromptMS)), int64(t.took(t.OutputMS))
	done.Total = int64(1e6) + done.PromptTime + done.OutputTime
	if p, o, ok := t.usage(); ok {
		done.Prompt, done.Output = p, o
	}
	return pieces, calls, done
}
