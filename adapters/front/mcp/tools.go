package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/service"
	"github.com/agent-mcp/agent-mcp/ports/text"
)

// The two MCP Tools; there are never more (MCP-RUN, MCP-STS, AGT-06).
const (
	toolRun    = "agent_run"
	toolStatus = "agent_status"
)

const maxDescription = 1024 // runes; some clients refuse more

// schema and property are the small part of JSON Schema that every client understands.
type schema struct {
	Type                 string              `json:"type"`
	Properties           map[string]property `json:"properties"`
	Required             []string            `json:"required"`
	AdditionalProperties bool                `json:"additionalProperties"`
}

type property struct {
	Type        string    `json:"type"`
	Description string    `json:"description,omitempty"`
	Items       *property `json:"items,omitempty"`
}

func (c *core) addTools() {
	yes, no := true, false
	c.addTool(mcp.Tool{
		Name: toolRun, Title: c.text(keyRunTitle), Description: c.text(keyRun),
		Annotations: mcp.ToolAnnotation{ReadOnlyHint: &no, DestructiveHint: &yes, IdempotentHint: &no, OpenWorldHint: &no},
	}, schema{Required: []string{"request"}, Properties: map[string]property{
		"request":     {Type: "string", Description: c.text(keyRunRequest)},
		"session_id":  {Type: "string", Description: c.text(keyRunSession)},
		"temperature": {Type: "number", Description: c.text(keyRunTemp)},
		"images":      {Type: "array", Description: c.text(keyRunImages), Items: &property{Type: "string"}},
	}}, toolEntry{call: c.run, startsTask: true})
	c.addTool(mcp.Tool{
		Name: toolStatus, Title: c.text(keyStatusTitle), Description: c.text(keyStatus),
		Annotations: mcp.ToolAnnotation{ReadOnlyHint: &yes, DestructiveHint: &no, IdempotentHint: &yes, OpenWorldHint: &no},
	}, schema{Required: []string{"task_id"}, Properties: map[string]property{
		"task_id":    {Type: "string", Description: c.text(keyStatusTask)},
		"session_id": {Type: "string", Description: c.text(keyStatusSession)},
	}}, toolEntry{call: c.status})
}

// handler answers a tool call with a text or a fault.
type handler func(ctx context.Context, r *request) (string, *fault.Error)

// toolEntry is how a tool is called.
type toolEntry struct {
	call       handler
	startsTask bool // it may set request.accepted
	needsTasks bool // only for clients that declare the Tasks extension
}

func (c *core) addTool(tool mcp.Tool, s schema, h toolEntry) {
	s.Type = "object"
	raw, err := json.Marshal(s)
	if err != nil {
		panic("mcp: the schema of " + tool.Name + " cannot be encoded")
	}
	tool.RawInputSchema = raw
	c.tools[tool.Name] = h
	c.sdk.AddTool(tool, func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, errors.New("tool called past the core")
	})
}

// result is a CallToolResult: a bounded text with what the era of the request asks for.
type result struct {
	ResultType mcp.ResultType  `json:"resultType,omitempty"`
	Meta       json.RawMessage `json:"_meta,omitempty"`
	Content    [1]content      `json:"content"`
	IsError    bool            `json:"isError,omitempty"`
}

type content struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func (c *core) result(r *request, answer string, isError bool) result {
	res := result{Content: [1]content{{Type: "text", Text: c.cut(answer)}}, IsError: isError}
	if r.modern() {
		res.ResultType, res.Meta = mcp.ResultTypeComplete, c.stamp
	}
	return res
}

// run is agent_run (MCP-RUN-01..05, MCP-ASY-01).
func (c *core) run(ctx context.Context, r *request) (string, *fault.Error) {
	req, f := c.runArguments(r.args)
	if f != nil {
		return "", f
	}
	req.Owner = r.owner
	if err := r.turn.await(ctx); err != nil {
		return "", fault.From(err)
	}
	acc, err := c.runner.Run(ctx, req)
	if err != nil {
		return "", fault.From(err)
	}
	r.accepted = &acc
	r.tell(0, acc.Summary)
	return acc.Text, nil
}

// status is agent_status (MCP-STS-01..03).
func (c *core) status(ctx context.Context, r *request) (string, *fault.Error) {
	task, session, f := c.statusArguments(r.args)
	if f != nil {
		return "", f
	}
	st, err := c.runner.Status(ctx, task, session)
	if err != nil {
		f := fault.From(err)
		if f.Code == service.CodeUnknownTask && c.ext != nil { // of a server before this one
			if text, f := c.ext.told(ctx, task, session); text != "" || f != nil {
				return text, f
			}
		}
		return "", f
	}
	r.tell(st.Percent, st.Summary)
	return st.Text, nil
}

// text is a description: what a client shows and a model reads.
func (c *core) text(key text.Key) string {
	s := c.catalog.Text(key, nil)
	if utf8.RuneCountInString(s) > maxDescription { // a dropped-in locale may not break clients
		s = string([]rune(s)[:maxDescription-1]) + "…"
	}
	return s
}

// cut bounds the text of a result and says what is missing.
func (c *core) cut(s string) string {
	if len(s) <= c.limits.ResultBytes {
		return s
	}
	end := c.limits.ResultBytes
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "\n" + c.catalog.Text(keyCut, map[string]any{"bytes": len(s) - end})
}
