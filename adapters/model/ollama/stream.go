package ollama

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
)

// line is one line of a reply.
type line struct {
	Message *struct {
		Content   string `json:"content"`
		Thinking  string `json:"thinking"`
		ToolCalls []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"message"`
	Done       bool            `json:"done"`
	DoneReason string          `json:"done_reason"`
	Total      int64           `json:"total_duration"` // nanoseconds
	Load       int64           `json:"load_duration"`
	Prompt     *int            `json:"prompt_eval_count"`
	PromptTime int64           `json:"prompt_eval_duration"`
	Output     *int            `json:"eval_count"`
	OutputTime int64           `json:"eval_duration"`
	Error      json.RawMessage `json:"error"`
}

// moving tells a call about every byte that arrives.
type moving struct {
	r io.Reader
	c *call
}

func (m moving) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	if n > 0 {
		m.c.touch()
	}
	return n, err
}

var errTooLong = errors.New("line too long")

// readLine returns the next line without its end; the last line may lack one. io.EOF after the last.
func readLine(r *bufio.Reader, limit int) ([]byte, error) {
	var long []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(long)+len(part) > limit {
			return nil, errTooLong
		}
		if err == nil && long == nil {
			return part, nil
		}
		long = append(long, part...)
		switch {
		case err == nil:
			return long, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(long) > 0:
			return long, nil
		default:
			return long, err
		}
	}
}

// read puts a reply together until its end mark.
func (c *call) read(body io.Reader, name string, onChunk func(model.Chunk)) (model.Reply, error) {
	r := bufio.NewReaderSize(moving{body, c}, 64<<10)
	a := assembly{limit: c.m.cfg.MaxReplyBytes}
	for {
		raw, err := readLine(r, c.m.cfg.MaxLineBytes)
		switch {
		case errors.Is(err, errTooLong):
			return model.Reply{}, fault.New(model.CodeProtocol, "detail", fmt.Sprintf("a line of more than %d bytes", c.m.cfg.MaxLineBytes))
		case errors.Is(err, io.EOF):
			return model.Reply{}, a.unfinished()
		case err != nil:
			return model.Reply{}, c.broken(fault.Wrap(err, model.CodeIncomplete))
		}
		if raw = bytes.TrimSpace(raw); len(raw) == 0 {
			continue
		}
		var l line
		if err := json.Unmarshal(raw, &l); err != nil {
			return model.Reply{}, brokenLine(raw, err)
		}
		if text, bad := errorText(l.Error); bad {
			return model.Reply{}, classifyText(text, midStream, name)
		}
		chunk, err := a.add(l)
		if err != nil {
			return model.Reply{}, err
		}
		if onChunk != nil && chunk != (model.Chunk{}) {
			c.pause()
			onChunk(chunk)
			c.touch()
		}
		if l.Done {
			return a.reply(l), nil
		}
	}
}

// brokenLine tells a line that was cut short from one that was never JSON. What seems to be a line of a reply is not quoted: it may
// hold what the model thinks (OLL-14).
func brokenLine(raw []byte, err error) *fault.Error {
	var se *json.SyntaxError
	if raw[0] == '{' && errors.As(err, &se) && int(se.Offset) >= len(raw) {
		return fault.Wrap(err, model.CodeIncomplete)
	}
	if raw[0] == '{' {
		return fault.Wrap(err, model.CodeProtocol, "detail", fmt.Sprintf("broken JSON in a line of %d bytes", len(raw)))
	}
	return fault.Wrap(err, model.CodeProtocol, "detail", detail(raw))
}

// assembly collects a reply.
type assembly struct {
	limit             int
	size              int
	content, thinking strings.Builder
	calls             []model.ToolCall
	filter            headFilter
}

// Bounds of a reply besides its bytes.
const (
	maxCalls = 1024
	lineCost = 32 // what a line counts beside its content, in bytes
)

func (a *assembly) full() error {
	if a.size > a.limit {
		return fault.New(model.CodeProtocol, "detail", fmt.Sprintf("a reply of more than %d bytes", a.limit))
	}
	return nil
}

func (a *assembly) add(l line) (model.Chunk, error) {
	a.size += lineCost // also what says nothing is bounded: a stream of empty lines has an end
	if l.Message == nil {
		return model.Chunk{}, a.full()
	}
	m := l.Message
	if len(a.calls)+len(m.ToolCalls) > maxCalls {
		return model.Chunk{}, fault.New(model.CodeProtocol, "detail", fmt.Sprintf("a reply of more than %d tool calls", maxCalls))
	}
	a.size += len(m.Content) + len(m.Thinking)
	for _, tc := range m.ToolCalls {
		a.size += len(tc.Function.Name) + len(tc.Function.Arguments)
		a.calls = append(a.calls, model.ToolCall{ID: tc.ID, Name: tc.Function.Name, Arguments: arguments(tc.Function.Arguments)})
	}
	if err := a.full(); err != nil {
		return model.Chunk{}, err
	}
	a.content.WriteString(m.Content)
	a.thinking.WriteString(m.Thinking)
	content, leaked := a.filter.push(m.Content)
	return model.Chunk{Content: content, Thinking: m.Thinking + leaked, Calls: len(m.ToolCalls)}, nil
}

// unfinished is a body that ended cleanly without the end mark: the server's repeat guard, or a cut.
func (a *assembly) unfinished() *fault.Error {
	if repeats(a.content.String()) || repeats(a.thinking.String()) {
		return fault.New(model.CodeRepetition)
	}
	return fault.New(model.CodeIncomplete)
}

func (a *assembly) reply(end line) model.Reply {
	thinking, content := splitThink(a.content.String())
	if own := a.thinking.String(); own != "" && thinking != "" {
		thinking = own + "\n" + thinking
	} else {
		thinking = own + thinking
	}
	r := model.Reply{DoneReason: end.DoneReason, Message: model.Message{
		Role: model.Assistant, Content: content,
		Thinking: thinking, ToolCalls: named(a.calls),
	}}
	u := &r.Usage
	u.TotalTime, u.LoadTime = max(time.Duration(end.Total), 0), max(time.Duration(end.Load), 0)
	u.PromptTime, u.OutputTime = max(time.Duration(end.PromptTime), 0), max(time.Duration(end.OutputTime), 0)
	if p := end.Prompt; p != nil && *p >= 0 {
		u.PromptTokens, u.PromptPresent = *p, true
	}
	if p := end.Output; p != nil && *p >= 0 {
		u.OutputTokens, u.OutputPresent = *p, true
	}
	return r
}
