// Package skill knows Agent Skills: how a SKILL.md is read, when it is valid, which skills there are, which of them a model
// may choose, and what of them it sees (spec section 7, SKL-01..07; design notes on front matter).
//
// It reads no directory: ports/skills hands it bytes. Loading a skill is text in a prompt and nothing else: no right comes
// from it, allowed-tools included (SKL-05).
package skill

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/skills"
)

// Limits of the standard, in characters; BodyTokens is advice.
const (
	MaxName          = 64
	MaxDescription   = 1024
	MaxCompatibility = 500
	BodyTokens       = 5000 // estimated as runes/4
)

// Codes of a SKILL.md that is refused. All have path and, but for the first, second and last two, line.
const (
	CodeInvalid       fault.Code = "skill.invalid"          // args: count; Reasons say what (SKL-02)
	CodeNotText       fault.Code = "skill.not_text"         // args: path — not UTF-8, or with control characters
	CodeNoFrontMatter fault.Code = "skill.no_front_matter"  // args: path, line — the first line is not ---
	CodeUnclosed      fault.Code = "skill.unclosed"         // args: path, line — no second ---
	CodeBadLine       fault.Code = "skill.bad_line"         // args: path, line, text — no "key: value"
	CodeBadIndent     fault.Code = "skill.bad_indent"       // args: path, line
	CodeBadQuotes     fault.Code = "skill.bad_quotes"       // args: path, line
	CodeNeedsQuotes   fault.Code = "skill.needs_quotes"     // args: path, line, key
	CodeNotAText      fault.Code = "skill.value_not_text"   // args: path, line, key — a list or map where a text belongs
	CodeBadMetadata   fault.Code = "skill.bad_metadata"     // args: path, line — no map of texts
	CodeDuplicateKey  fault.Code = "skill.duplicate_key"    // args: path, line, key
	CodeMissingKey    fault.Code = "skill.missing_key"      // args: path, line, key
	CodeBadName       fault.Code = "skill.bad_name"         // args: path, line, name
	CodeNameDiffers   fault.Code = "skill.name_differs"     // args: path, line, name, dir
	CodeTooLong       fault.Code = "skill.too_long"         // args: path, line, key, length, limit
	CodeDuplicate     fault.Code = "skill.duplicate"        // args: name, path, other (SKL-02)
	CodeUnknownKey    fault.Code = "skill.unknown_key"      // a warning; args: path, line, key
	CodeLongBody      fault.Code = "skill.long_body"        // a warning; args: path, tokens, limit
	CodeEmptyBody     fault.Code = "skill.empty_body"       // a warning; args: path
	CodeRefused       fault.Code = "skill.resource_refused" // a warning; args: path, resource
)

// Skill is a valid skill.
type Skill struct {
	Name, Description      string
	License, Compatibility string
	AllowedTools           string // told to nobody who decides anything (SKL-05)
	Metadata               map[string]string
	Body                   string      // Markdown after the front matter, "\n" line ends
	File                   skills.File // where it came from; Data is dropped
}

// Parse reads one SKILL.md. All problems are told, not just the first; the Skill is only to be used when there is none.
func Parse(f skills.File) (s Skill, problems, warnings []*fault.Error) {
	text := strings.TrimPrefix(string(f.Data), "\ufeff")
	if !utf8.ValidString(text) || strings.ContainsFunc(text, control) {
		return Skill{}, []*fault.Error{fault.New(CodeNotText, "path", f.Path)}, nil
	}
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if lines[0] != "---" {
		return Skill{}, []*fault.Error{fault.New(CodeNoFrontMatter, "path", f.Path, "line", 1)}, nil
	}
	end := slices.Index(lines[1:], "---") + 1
	if end == 0 {
		return Skill{}, []*fault.Error{fault.New(CodeUnclosed, "path", f.Path, "line", len(lines))}, nil
	}
	p := parser{path: f.Path}
	entries := p.block(lines[1:end], 2)
	s = Skill{Body: strings.TrimSpace(strings.Join(lines[end+1:], "\n")), File: f}
	s.File.Data = nil
	c := checker{parser: &p, dir: f.Dir}
	c.fill(&s, entries)
	return s, p.problems, append(c.warnings, s.advice()...)
}

func control(r rune) bool {
	return r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == 0x7f || r == '\ufeff'
}

func (s Skill) advice() (out []*fault.Error) {
	if s.Body == "" {
		out = append(out, fault.New(CodeEmptyBody, "path", s.File.Path))
	}
	if n := s.Tokens(); n > BodyTokens {
		out = append(out, fault.New(CodeLongBody, "path", s.File.Path, "tokens", n, "limit", BodyTokens))
	}
	for _, r := range s.File.Refused {
		out = append(out, fault.New(CodeRefused, "path", s.File.Path, "resource", r))
	}
	return out
}

// Tokens estimates the body as runes/4.
func (s Skill) Tokens() int { return (utf8.RuneCountInString(s.Body) + 3) / 4 }
