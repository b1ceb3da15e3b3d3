package engine

import (
	"bytes"
	"context"
	"strings"
	"unicode/utf8"

	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/core/prompt"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/skills"
)

// defaultResourceBytes bounds a skill's resource in a result, as toolbox bounds a file (AGT-09).
const defaultResourceBytes = 64 << 10

// resource answers a call about a skill's resource (SKL-03, the last stage of disclosure). The text comes from where the owner
// keeps the skills, not from a root of the policy, so read_file is all that can be done with it (SKL-05). ok is false when
// the call is about something else, and the Hands do it.
func (t *task) resource(ctx context.Context, ref audit.Ref, c tool.Call) (r tool.Result, ok bool) {
	named, is := strings.CutPrefix(c.Path, prompt.ResourceScheme)
	if !is || t.Skills == nil {
		return r, false
	}
	r = tool.Result{CallID: c.ID, Name: c.Name}
	err := t.Audit.Record(audit.Tool(t.now(), ref, c))
	switch {
	case err == nil && c.Name != tool.Read:
		err = fault.New(fault.CodeUnsupported, "what", string(c.Name))
	case err == nil:
		var data []byte
		name, rel, _ := strings.Cut(named, "/")
		if data, err = t.Skills.Resource(ctx, name, rel); err == nil {
			r.Text = t.excerpt(c, data)
		}
	}
	if err != nil {
		r.Fault, r.Text = fault.From(err), refusal(c, fault.CodeOf(err))
	}
	if err := t.Audit.Record(audit.ToolResult(t.now(), ref, r)); err != nil && r.Fault == nil {
		r.Fault, r.Text = fault.From(err), refusal(c, fault.CodeOf(err))
	}
	return r, true
}

func refusal(c tool.Call, code fault.Code) string {
	switch code {
	case fault.CodeUnsupported:
		return "Files of a skill can only be read, with read_file."
	case skills.CodeNoResource:
		return c.Path + " is no file of a skill. Use a name from the list of the skill's files."
	}
	return "That file of the skill cannot be read: " + string(code)
}

// excerpt is the lines that were asked for, within the bound.
func (t *task) excerpt(c tool.Call, data []byte) string {
	if bytes.IndexByte(data, 0) >= 0 {
		return c.Path + " is a binary file; its content is not shown."
	}
	lines := strings.SplitAfter(strings.ToValidUTF8(string(data), "\uFFFD"), "\n")
	lines = lines[min(max(c.Offset-1, 0), int64(len(lines))):]
	more := c.Limit > 0 && c.Limit < len(lines)
	if more {
		lines = lines[:c.Limit]
	}
	text := strings.Join(lines, "")
	limit := t.cfg.ResourceBytes
	if limit <= 0 {
		limit = defaultResourceBytes
	}
	if len(text) > limit {
		more = true
		for limit > 0 && !utf8.RuneStart(text[limit]) {
			limit--
		}
		text = text[:limit]
	}
	if more {
		text += "\n[there is more; read on with offset]"
	}
	return text
}
