package scripted

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
)

// Model plays a Script and records what it was asked. Safe for concurrent use; requests are numbered as they arrive.
type Model struct {
	script Script

	mu        sync.Mutex
	used      []int
	requests  []model.Request
	abandoned int
	loadedCtx int
}

var (
	_ model.Model     = (*Model)(nil)
	_ model.Inspector = (*Model)(nil)
)

// New makes a Model. The script is not to be changed afterwards. A pattern that does not compile panics here.
func New(s Script) *Model {
	for _, st := range s.Steps {
		regexp.MustCompile(st.When.Regexp)
	}
	if s.Capabilities == nil {
		s.Capabilities = []string{"completion", "tools"}
	}
	if s.ContextLength == 0 {
		s.ContextLength = 131072
	}
	if s.NumCtx == 0 {
		s.NumCtx = s.ContextLength
	}
	if s.Version == "" {
		s.Version = "0.24.0"
	}
	return &Model{script: s, used: make([]int, len(s.Steps))}
}

// Requests returns copies of all requests so far, in order of arrival.
func (m *Model) Requests() []model.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]model.Request, len(m.requests))
	for i, r := range m.requests {
		out[i] = clone(r)
	}
	return out
}

// Left returns the names (or numbers, "#3") of the limited steps that have not been played to the end.
func (m *Model) Left() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []string
	for i, st := range m.script.Steps {
		if st.Times != Forever && m.used[i] < max(st.Times, 1) {
			out = append(out, st.label(i))
		}
	}
	return out
}

// Abandoned counts the requests whose caller went away before the end of the answer.
func (m *Model) Abandoned() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.abandoned
}

func (m *Model) abandon() {
	m.mu.Lock()
	m.abandoned++
	m.mu.Unlock()
}

func (s Step) label(i int) string {
	if s.Name != "" {
		return s.Name
	}
	return fmt.Sprintf("#%d", i+1)
}

// Chat implements model.Model: the same answer the HTTP face gives, without a wire. There are no time limits here, so a
// stall lasts until ctx ends.
func (m *Model) Chat(ctx context.Context, req model.Request, onChunk func(model.Chunk)) (model.Reply, error) {
	if err := ctx.Err(); err != nil {
		return model.Reply{}, fault.From(err)
	}
	t := m.next(req)
	send := func(c model.Chunk) {
		if onChunk != nil {
			onChunk(c)
		}
	}
	failed := func(err error) (model.Reply, error) {
		m.abandon()
		return model.Reply{}, fault.From(err)
	}
	if err := wait(ctx, t.DelayMS); err != nil {
		return failed(err)
	}
	if t.Fault == nil || t.Fault.streams() {
		for i, c := range t.pieces() {
			if i > 0 {
				if err := wait(ctx, t.PaceMS); err != nil {
					return failed(err)
				}
			}
			if err := ctx.Err(); err != nil {
				return failed(err)
			}
			send(c)
		}
	}
	if t.Fault != nil {
		if t.Fault.Stall {
			<-ctx.Done()
			return failed(ctx.Err())
		}
		return model.Reply{}, t.Fault.err(req.Model)
	}
	if len(t.Calls) > 0 {
		send(model.Chunk{Calls: len(t.Calls)})
	}
	return t.reply(), nil
}

// Inspect implements model.Inspector.
func (m *Model) Inspect(ctx context.Context, name string) (model.Info, error) {
	if err := ctx.Err(); err != nil {
		return model.Info{}, fault.From(err)
	}
	if !m.knows(name) {
		return model.Info{}, fault.New(model.CodeNotFound, "model", name)
	}
	return model.Info{
		Name: name, Capabilities: slices.Clone(m.script.Capabilities), ContextLength: m.script.ContextLength, Refuses: m.script.Silent == CutNone,
		Remote: strings.HasSuffix(name, ":cloud") || m.script.RemoteHost != "",
	}, nil
}

// Loaded implements model.Inspector: the context of the last request, 0 before the first.
func (m *Model) Loaded(ctx context.Context, name string) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, fault.From(err)
	}
	if !m.knows(name) {
		return 0, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.loadedCtx, nil
}

func (m *Model) knows(name string) bool {
	return m.script.Model == "" || tagged(name) == tagged(m.script.Model)
}

func tagged(name string) string {
	if !strings.Contains(name, ":") {
		return name + ":latest"
	}
	return name
}

// next records the request, shortens it where the server does, and chooses its answer.
func (m *Model) next(req model.Request) Turn {
	m.mu.Lock()
	m.requests = append(m.requests, clone(req))
	n := len(m.requests)
	if f := m.refuse(req); f != nil {
		m.mu.Unlock()
		return Turn{Fault: f}
	}
	m.loadedCtx = m.numCtx(req)
	req, counted := m.shorten(clone(req))
	at := -1
	for i, st := range m.script.Steps {
		if (st.Times == Forever || m.used[i] < max(st.Times, 1)) && st.When.matches(n, req) {
			at = i
			m.used[i]++
			break
		}
	}
	m.mu.Unlock()
	if at < 0 {
		last := "no message"
		if k := len(req.Messages); k > 0 {
			text := []rune(req.Messages[k-1].Content)
			last = string(req.Messages[k-1].Role) + ": " + string(text[:min(200, len(text))])
		}
		return Turn{Fault: &Fault{
			Code: model.CodeBadRequest, Status: 400,
			Detail: fmt.Sprintf("the script has no step for request %d (%s)", n, last),
		}}
	}
	st := m.script.Steps[at]
	t := st.Reply
	if st.Do != nil {
		t = st.Do(req)
	}
	if t.PromptTokens == nil {
		t.PromptTokens = &counted
	}
	return t
}

// refuse answers what Ollama refuses before the model sees it.
func (m *Model) refuse(req model.Request) *Fault {
	has := func(c string) bool { return slices.Contains(m.script.Capabilities, c) }
	images := slices.ContainsFunc(req.Messages, func(x model.Message) bool { return len(x.Images) > 0 })
	switch {
	case req.Model == "":
		return &Fault{Code: model.CodeBadRequest, Detail: "model is required"}
	case !m.knows(req.Model):
		return &Fault{Code: model.CodeNotFound}
	case len(req.Tools) > 0 && hasFormat(req):
		return &Fault{Code: model.CodeBadRequest, Detail: "format and tools in one request: no tool could ever be called"}
	case len(req.Tools) > 0 && !has("tools"):
		return &Fault{Code: model.CodeNoTools}
	case req.Think.Set && (req.Think.On || req.Think.Level != "") && !has("thinking"):
		return &Fault{Code: model.CodeNoThinking}
	case images && !has("vision"):
		return &Fault{Code: model.CodeNoVision}
	case m.script.Silent == CutNone && req.Truncate != nil && !*req.Truncate && m.promptTokens(req) > m.numCtx(req):
		return &Fault{Code: model.CodeContextOverflow}
	}
	return nil
}

// reply is the finished answer as the port tells it.
func (t Turn) reply() model.Reply {
	msg := model.Message{Role: model.Assistant, Content: t.text(), Thinking: t.Thinking}
	for i, c := range t.Calls {
		id := c.ID
		for k := i + 1; id == "" || slices.ContainsFunc(msg.ToolCalls, func(o model.ToolCall) bool { return o.ID == id }); k++ {
			id = fmt.Sprintf("call_%d", k)
		}
		msg.ToolCalls = append(msg.ToolCalls, model.ToolCall{ID: id, Name: c.Name, Arguments: object(c.Arguments)})
	}
	r := model.Reply{Message: msg, DoneReason: t.doneReason(), Usage: model.Usage{
		TotalTime:  time.Millisecond + t.took(t.PromptMS) + t.took(t.OutputMS),
		PromptTime: t.took(t.PromptMS), OutputTime: t.took(t.OutputMS),
	}}
	if p, o, ok := t.usage(); ok {
		r.Usage.PromptTokens, r.Usage.OutputTokens = p, o
		r.Usage.PromptPresent, r.Usage.OutputPresent = p != 0, o != 0 // the wire leaves zeros out
	}
	return r
}

func (t Turn) took(ms int) time.Duration { return time.Duration(ms) * time.Millisecond }

func (t Turn) doneReason() string {
	if t.DoneReason == "" {
		return "stop"
	}
	return t.DoneReason
}

func (t Turn) usage() (prompt, output int, present bool) {
	if t.PromptTokens != nil {
		prompt = *t.PromptTokens
	}
	n := utf8.RuneCountInString(t.text()) + utf8.RuneCountInString(t.Thinking)
	for _, c := range t.Calls {
		n += len(c.Name) + utf8.RuneCount(c.Arguments)
	}
	output = (n + 3) / 4
	if t.OutputTokens != nil {
		output = *t.OutputTokens
	}
	return prompt, output, !t.NoUsage
}

// object turns arguments into what the port promises: an object, also from a string that holds one; else as they came.
func object(raw json.RawMessage) json.RawMessage {
	b := bytes.TrimSpace(raw)
	if len(b) == 0 || string(b) == "null" {
		return json.RawMessage("{}")
	}
	var s string
	if b[0] == '"' && json.Unmarshal(b, &s) == nil {
		if in := []byte(strings.TrimSpace(s)); len(in) > 0 && in[0] == '{' && json.Valid(in) {
			return in
		}
	}
	return slices.Clone(b)
}

func wait(ctx context.Context, ms int) error {
	if ms <= 0 {
		return nil
	}
	t := time.NewTimer(time.Duration(ms) * time.Millisecond)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

func clone(r model.Request) model.Request {
	r.Messages = slices.Clone(r.Messages)
	for i := range r.Messages {
		r.Messages[i].ToolCalls = slices.Clone(r.Messages[i].ToolCalls)
		r.Messages[i].Images = slices.Clone(r.Messages[i].Images)
	}
	r.Tools = slices.Clone(r.Tools)
	r.Options.Stop = slices.Clone(r.Options.Stop)
	r.Options.Extra = maps.Clone(r.Options.Extra)
	return r
}
