package scripted

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strings"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
)

// CodeBadScript is the failure of Parse. args: detail
const CodeBadScript fault.Code = "model.bad_script"

// Forever lets a Step play without limit.
const Forever = -1

// Script is what a Model plays.
type Script struct {
	// Model is the one model the server has. "" answers to every name.
	Model string `json:"model,omitempty"`
	// Capabilities as /api/show tells them. nil: completion, tools. A request that needs one that is missing is refused
	// the way Ollama refuses it.
	Capabilities []string `json:"capabilities,omitempty"`
	// ContextLength is the trained length in tokens, 0 = 131072.
	ContextLength int `json:"context_length,omitempty"`
	// NumCtx is the context the server gives when a request names none, 0 = ContextLength. A prompt above the context
	// in use is refused when the request says truncate:false.
	NumCtx int `json:"num_ctx,omitempty"`
	// RemoteHost is where the model runs, as /api/show tells it; "" = here, unless its name ends in ":cloud".
	RemoteHost string `json:"remote_host,omitempty"`
	// Density is how many tokens the tokenizer makes of what makes one usually, 0 = 1.
	Density float64 `json:"density,omitempty"`
	// Silent cuts what does not fit the context without a word, whatever truncate says, as servers do that do not know it. What matches and
	// answers then sees only what is left, and only that is counted.
	Silent Cut `json:"silent,omitempty"`
	// Given is the context that the server really gives, whatever a request asks for, 0 = what it asks for. Nothing but /api/ps tells.
	Given int `json:"given,omitempty"`
	// Version as /api/version tells it, "" = "0.24.0".
	Version string `json:"version,omitempty"`
	// Steps in order of preference: each request is answered by the first one that matches and is not used up.
	// When there is none the request is refused as CodeBadRequest, which no caller retries.
	Steps []Step `json:"steps"`
}

// Cut is how a server shortens a prompt.
type Cut string

// Values of Cut.
const (
	CutNone   Cut = ""
	CutOldest Cut = "oldest" // the oldest messages go until the rest fits; system messages and the last one stay
	CutHalf   Cut = "half"   // what is at the front goes, system messages too, until half of the context is free
)

// Step is one answer and when to give it.
type Step struct {
	Name  string `json:"name,omitempty"` // for people who read a failed test
	When  Match  `json:"when,omitzero"`
	Times int    `json:"times,omitempty"` // 0 = once, Forever = no limit
	Reply Turn   `json:"reply,omitzero"`
	// Do makes the answer from the request. It wins over Reply; only in Go.
	Do func(model.Request) Turn `json:"-"`
}

// Tri is a condition that may be left open.
type Tri uint8

// Values of Tri.
const (
	Any Tri = iota
	Yes
	No
)

// UnmarshalJSON reads true, false or null.
func (t *Tri) UnmarshalJSON(b []byte) error {
	var v *bool
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	switch {
	case v == nil:
		*t = Any
	case *v:
		*t = Yes
	default:
		*t = No
	}
	return nil
}

// MarshalJSON writes true, false or null.
func (t Tri) MarshalJSON() ([]byte, error) {
	return []byte([]string{"null", "true", "false"}[t%3]), nil
}

func (t Tri) allows(have bool) bool { return t == Any || (t == Yes) == have }

// Match is a conjunction of conditions; the zero value matches every request.
type Match struct {
	Role     model.Role `json:"role,omitempty"`     // of the last message
	Contains string     `json:"contains,omitempty"` // in the last message
	Regexp   string     `json:"regexp,omitempty"`   // RE2, in the last message
	System   string     `json:"system,omitempty"`   // in any system message
	Anywhere string     `json:"anywhere,omitempty"` // in any message
	Tool     string     `json:"tool,omitempty"`     // the last message is a result of this tool
	Offered  string     `json:"offered,omitempty"`  // this tool is offered
	Tools    Tri        `json:"tools,omitzero"`     // some tool is offered
	Format   Tri        `json:"format,omitzero"`    // an output format is asked for
	Images   Tri        `json:"images,omitzero"`    // some message has an image
	Request  int        `json:"request,omitempty"`  // the n-th request, from 1
}

// Turn is one answer of the model.
type Turn struct {
	Content  string          `json:"content,omitempty"`
	JSON     json.RawMessage `json:"json,omitempty"` // the content, when Content is empty
	Thinking string          `json:"thinking,omitempty"`
	Calls    []Call          `json:"calls,omitempty"`

	DoneReason   string `json:"done_reason,omitempty"`   // "" = "stop"
	PromptTokens *int   `json:"prompt_tokens,omitempty"` // nil = counted: four ASCII characters a token, digits and others one each
	OutputTokens *int   `json:"output_tokens,omitempty"` // nil = estimated as runes/4 of the answer
	NoUsage      bool   `json:"no_usage,omitempty"`      // leave both counts out
	PromptMS     int    `json:"prompt_ms,omitempty"`     // time that the server says it took for the prompt
	OutputMS     int    `json:"output_ms,omitempty"`     // and for the answer

	PieceRunes  int    `json:"piece_runes,omitempty"` // runes per streamed piece, 0 = 16
	CallsInDone bool   `json:"calls_in_done,omitempty"`
	DelayMS     int    `json:"delay_ms,omitempty"` // before the first piece
	PaceMS      int    `json:"pace_ms,omitempty"`  // before every other piece
	Fault       *Fault `json:"fault,omitempty"`    // what goes wrong, after the pieces
}

// Call is a tool call as the server sends it. Arguments may be an object, a string, or nonsense.
type Call struct {
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// Fault is what goes wrong. Give Code alone for the usual form of that failure on both faces, or one of the wire forms;
// then Code only says what the direct Model answers ("" = a guess from the form).
type Fault struct {
	Code   fault.Code `json:"code,omitempty"`
	Detail string     `json:"detail,omitempty"` // the error text, with Code

	Status      int    `json:"status,omitempty"` // an HTTP status with Body, instead of any piece
	Body        string `json:"body,omitempty"`
	ContentType string `json:"content_type,omitempty"` // "" = application/json
	Location    string `json:"location,omitempty"`     // header of a redirect
	Raw         string `json:"raw,omitempty"`          // these bytes in the stream, then a clean end
	Line        string `json:"line,omitempty"`         // a mid-stream {"error": Line}
	End         bool   `json:"end,omitempty"`          // a clean end without the end mark
	Cut         bool   `json:"cut,omitempty"`          // the connection breaks; before the head when there are no pieces
	Stall       bool   `json:"stall,omitempty"`        // silence until the client goes away
}

// Say answers with text.
func Say(content string) Turn { return Turn{Content: content} }

// Use answers with tool calls.
func Use(calls ...Call) Turn { return Turn{Calls: calls} }

// JSON answers with v as JSON text. A value that has no JSON form is a mistake in the script and panics.
func JSON(v any) Turn { return Turn{JSON: mustJSON(v)} }

// Tool makes a call; args is anything that marshals to an object. nil means no arguments.
func Tool(name string, args any) Call {
	if args == nil {
		args = struct{}{}
	}
	return Call{Name: name, Arguments: mustJSON(args)}
}

// Fail answers with the usual form of a failure.
func Fail(code fault.Code) Turn { return Turn{Fault: &Fault{Code: code}} }

func mustJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("scripted: value without JSON form in a script: " + err.Error())
	}
	return b
}

// Parse reads a script from JSON. Unknown keys, bad patterns and trailing data are CodeBadScript.
func Parse(r io.Reader) (Script, error) {
	var s Script
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return Script{}, fault.Wrap(err, CodeBadScript, "detail", err.Error())
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Script{}, fault.New(CodeBadScript, "detail", "data after the script")
	}
	for _, st := range s.Steps {
		if _, err := regexp.Compile(st.When.Regexp); err != nil {
			return Script{}, fault.Wrap(err, CodeBadScript, "detail", err.Error())
		}
	}
	return s, nil
}

// matches tells whether the n-th request (from 1) fits.
func (w Match) matches(n int, req model.Request) bool {
	var last model.Message
	images, system, anywhere := false, w.System == "", w.Anywhere == ""
	for _, m := range req.Messages {
		last = m
		images = images || len(m.Images) > 0
		system = system || (m.Role == model.System && strings.Contains(m.Content, w.System))
		anywhere = anywhere || strings.Contains(m.Content, w.Anywhere)
	}
	offered := w.Offered == ""
	for _, t := range req.Tools {
		offered = offered || t.Name == w.Offered
	}
	switch {
	case w.Request != 0 && w.Request != n,
		w.Role != "" && w.Role != last.Role,
		!strings.Contains(last.Content, w.Contains),
		w.Tool != "" && (last.Role != model.ToolRole || last.ToolName != w.Tool),
		!system, !anywhere, !offered,
		!w.Tools.allows(len(req.Tools) > 0),
		!w.Format.allows(hasFormat(req)),
		!w.Images.allows(images):
		return false
	}
	return w.Regexp == "" || regexp.MustCompile(w.Regexp).MatchString(last.Content)
}

func hasFormat(req model.Request) bool {
	f := bytes.TrimSpace(req.Format)
	return len(f) > 0 && string(f) != "null" && string(f) != `""`
}

// text is the whole content of the answer.
func (t Turn) text() string {
	if t.Content == "" && len(t.JSON) > 0 {
		return string(t.JSON)
	}
	return t.Content
}

// pieces cuts thinking, then content, the way a stream would.
func (t Turn) pieces() []model.Chunk {
	n := t.PieceRunes
	if n <= 0 {
		n = 16
	}
	var out []model.Chunk
	for _, s := range cut(t.Thinking, n) {
		out = append(out, model.Chunk{Thinking: s})
	}
	for _, s := range cut(t.text(), n) {
		out = append(out, model.Chunk{Content: s})
	}
	return out
}

func cut(s string, n int) []string {
	var out []string
	for r := []rune(s); len(r) > 0; r = r[min(n, len(r)):] {
		out = append(out, string(r[:min(n, len(r))]))
	}
	return out
}
