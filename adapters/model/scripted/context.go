package scripted

import (
	"slices"
	"sort"
	"unicode/utf8"

	"github.com/agent-mcp/agent-mcp/ports/model"
)

// shorten cuts a prompt that is too long the way Script.Silent says, and counts what is left.
func (m *Model) shorten(req model.Request) (model.Request, int) {
	n, limit := m.promptTokens(req), m.numCtx(req)
	if m.script.Silent == CutNone || n <= limit {
		return req, n
	}
	last := len(req.Messages) - 1
	if m.script.Silent == CutOldest {
		for at := 0; at < last && m.promptTokens(req) > limit; {
			if req.Messages[at].Role == model.System {
				at++
				continue
			}
			req.Messages = slices.Delete(req.Messages, at, at+1)
			last--
		}
		return req, min(m.promptTokens(req), limit)
	}
	const keep = 4 // num_keep
	limit = keep + (limit-keep)/2
	for at := 0; at <= last && m.promptTokens(req) > limit; at++ { // what stands in front becomes shorter until all fits
		x := &req.Messages[at]
		text := []rune(x.Content)
		x.Thinking, x.ToolCalls = "", nil
		cut := sort.Search(len(text), func(k int) bool {
			x.Content = string(text[k:])
			return m.promptTokens(req) <= limit
		})
		x.Content = string(text[cut:])
	}
	return req, limit
}

func (m *Model) numCtx(req model.Request) int {
	n := m.script.NumCtx
	if p := req.Options.NumCtx; p != nil && *p > 0 {
		n = min(*p, m.script.ContextLength)
	}
	if g := m.script.Given; g > 0 {
		n = min(n, g)
	}
	return n
}

// promptTokens counts a prompt's tokens: what is said and offered.
func (m *Model) promptTokens(req model.Request) int {
	n := 0
	for _, x := range req.Messages {
		n += quarters(x.Content) + quarters(x.Thinking) + len(x.ToolName)
		for _, c := range x.ToolCalls {
			n += len(c.Name) + quarters(string(c.Arguments))
		}
	}
	for _, t := range req.Tools {
		n += len(t.Name) + quarters(t.Description) + quarters(string(t.Schema))
	}
	if d := m.script.Density; d > 0 {
		n = int(float64(n) * d)
	}
	return (n + 3) / 4
}

// quarters counts text in quarters of a token: four ASCII characters make one, but digits and all other characters are one each.
func quarters(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r >= utf8.RuneSelf || '0' <= r && r <= '9' {
			n += 3
		}
	}
	return n
}
