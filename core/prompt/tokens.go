package prompt

import (
	"strings"
	"unicode/utf8"

	"github.com/agent-mcp/agent-mcp/ports/model"
)

// imageTokens is what one image is taken to cost.
const imageTokens = 1024

// Estimate guesses a request's prompt tokens by the Weight of what is sent (messages, tools, format), images at a flat rate.
// It is deterministic and needs no tokenizer; Scale corrects it by what the server really counted.
func Estimate(r model.Request) int {
	n, images := 0, 0
	for i := range r.Messages {
		m := &r.Messages[i]
		n += 32 + quoted(m.Content) + quoted(m.Thinking) + len(m.ToolName) + len(m.ToolCallID)
		for _, c := range m.ToolCalls {
			n += 48 + len(c.Name) + len(c.ID) + Weight(string(c.Arguments))
		}
		images += len(m.Images)
	}
	for i := range r.Tools {
		t := &r.Tools[i]
		n += 64 + len(t.Name) + quoted(t.Description) + Weight(string(t.Schema))
	}
	n += Weight(string(r.Format))
	return (n+3)/4 + images*imageTokens
}

// Weight is what a text is taken to cost, in quarters of a token: one for an ASCII character, two for a letter of another alphabet, four
// from U+2E80 on (kana, ideographs, hangul, emoji), which vocabularies made mostly from English take one by one.
func Weight(s string) int {
	n := len(s)
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
		case r < 0x2e80:
			n += 2 - utf8.RuneLen(r)
		default:
			n += 4 - utf8.RuneLen(r)
		}
	}
	return n
}

// quoted is the Weight of s inside a JSON string.
func quoted(s string) int {
	return Weight(s) + strings.Count(s, "\n") + strings.Count(s, `"`) + strings.Count(s, `\`) + strings.Count(s, "\t")
}

// Scale is the ratio of counted to estimated tokens in thousandths; 0 stands for 1000.
type Scale int

// Bounds of a Scale: what lies outside is a miscount, not a language.
const (
	minScale Scale = 700 // a server that leaves cached tokens out of its count must not make everything look small
	maxScale Scale = 6000
)

// Apply corrects an estimate.
func (s Scale) Apply(tokens int) int {
	if s == 0 {
		s = 1000
	}
	return (tokens*int(s) + 999) / 1000
}

// Quarters is how much Weight fits into so many tokens.
func (s Scale) Quarters(tokens int) int {
	if s == 0 {
		s = 1000
	}
	return tokens * 4 * 1000 / int(s)
}

// Calibrate learns from one untruncated call; counts that say nothing leave the Scale as it is.
func (s Scale) Calibrate(estimated, counted int) Scale {
	if estimated < 1 || counted < 1 {
		return s
	}
	return min(max(Scale(counted*1000/estimated), minScale), maxScale)
}
