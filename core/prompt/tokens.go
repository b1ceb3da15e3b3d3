package prompt

import (
	"strings"
	"unicode/utf8"

	"github.com/agent-mcp/agent-mcp/ports/model"
)

// imageTokens is what one image is taken to cost.
const imageTokens = 1024

// Estimate guesses a request's prompt tokens: runes/4 over what is sent (messages, tools, format), images at a flat rate.
// It is deterministic and needs no tokenizer; Scale corrects it by what the server really counted.
func Estimate(r model.Request) int {
	runes, images := 0, 0
	for i := range r.Messages {
		m := &r.Messages[i]
		runes += 32 + quoted(m.Content) + quoted(m.Thinking) + len(m.ToolName) + len(m.ToolCallID)
		for _, c := range m.ToolCalls {
			runes += 48 + len(c.Name) + len(c.ID) + utf8.RuneCount(c.Arguments)
		}
		images += len(m.Images)
	}
	for i := range r.Tools {
		t := &r.Tools[i]
		runes += 64 + len(t.Name) + quoted(t.Description) + utf8.RuneCount(t.Schema)
	}
	runes += utf8.RuneCount(r.Format)
	return (runes+3)/4 + images*imageTokens
}

// quoted is the number of runes of s inside a JSON string.
func quoted(s string) int {
	n := utf8.RuneCountInString(s)
	return n + strings.Count(s, "\n") + strings.Count(s, `"`) + strings.Count(s, `\`) + strings.Count(s, "\t")
}

// Scale is the ratio of counted to estimated tokens in thousandths; 0 stands for 1000. Japanese text, for example, takes
// about one token a rune, four times the estimate.
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

// Runes is how many runes fit into so many tokens.
func (s Scale) Runes(tokens int) int {
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
