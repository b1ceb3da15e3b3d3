package skill_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/skill"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/skills"
)

func file(dir, text string) skills.File {
	return skills.File{Root: "/s", Dir: dir, Path: "/s/" + dir + "/SKILL.md", Data: []byte(text)}
}

// front makes a valid file around front matter lines that follow the name.
func front(lines string) skills.File { return file("demo", "---\nname: demo\n"+lines+"\n---\nBody.\n") }

func codes(list []*fault.Error) (out []fault.Code) {
	for _, f := range list {
		out = append(out, f.Code)
	}
	return out
}

func TestParse_Whole(t *testing.T) {
	text := `---
# a comment
name: pdf-forms
description: >-
  Fills forms: in PDF files.
  Use it when
  somebody says PDF.

license: "Apache-2.0"   # short
compatibility: Needs python3 and network
metadata:
  author: 'it''s us'
  version: "1.0"
  # another comment
  count: 3
allowed-tools: Bash(git:*) Read
---

# PDF
---
That line above is text.
`
	want := skill.Skill{
		Name: "pdf-forms", Description: "Fills forms: in PDF files. Use it when somebody says PDF.", License: "Apache-2.0",
		Compatibility: "Needs python3 and network", AllowedTools: "Bash(git:*) Read",
		Metadata: map[string]string{"author": "it's us", "version": "1.0", "count": "3"}, Body: "# PDF\n---\nThat line above is text.",
	}
	for name, data := range map[string]string{
		"plain": text, "BOM": "\ufeff" + text, "CRLF": strings.ReplaceAll(text, "\n", "\r\n"),
		"BOM and CRLF": "\ufeff" + strings.ReplaceAll(text, "\n", "\r\n"), "no last newline": strings.TrimSuffix(text, "\n"),
	} {
		f := file("pdf-forms", data)
		f.Resources = []string{"scripts/fill.py"}
		s, problems, warnings := skill.Parse(f)
		require.Empty(t, problems, name)
		assert.Empty(t, warnings, name)
		f.Data = nil
		want.File = f
		assert.Equal(t, want, s, name)
	}
}

// The texts that YAML allows, in every way it lets one write them.
func TestParse_Texts(t *testing.T) {
	for in, want := range map[string]string{
		`description: plain text`:                            "plain text",
		`description:    spaces around   `:                   "spaces around",
		`description: a # comment`:                           "a",
		`description: a#b:c http://x y`:                      "a#b:c http://x y",
		`description: "a: b # c"`:                            "a: b # c",
		`description: 'a: "b" it''s'`:                        `a: "b" it's`,
		`description: "tab\tline\nquote\" \u00e9\x41"`:       "tab\tline\nquote\" éA",
		"description: one\n  two\n  three":                   "one two three",
		"description: one\n\n  two":                          "one\ntwo",
		"description:\n  below\n  more":                      "below more",
		"description:\n  \"quoted: below\"":                  "quoted: below",
		"description: \"one\n  two\"":                        "one two",
		"description: |\n  one\n    two\n\n  three: x # y\n": "one\n  two\n\nthree: x # y",
		"description: >\n  one\n  two\n\n  three\n":          "one two\nthree",
		"description: >\n  one\n    indented\n  two":         "one\n  indented\ntwo",
		"description: |\n  one\n    \n  two":                 "one\n  \ntwo",
		"description: 'a' # b\n  # c":                        "a",
		"description: |-\n  one":                             "one",
		"description: >2+\n  one":                            "one",
		"description: | # why\n  one":                        "one",
		"description: |\n  # no comment\n  x":                "# no comment\nx",
		"description : spaced key":                           "spaced key",
		"description: 日本語の説明、コロン：も":                          "日本語の説明、コロン：も",
		"description: \"---\"":                               "---",
		"description: -dash":                                 "-dash",
		"description: 123":                                   "123",
		"description: true":                                  "true",
	} {
		s, problems, _ := skill.Parse(front(in))
		assert.Empty(t, problems, in)
		assert.Equal(t, want, s.Description, in)
	}
}

// SKL-01, SKL-02: what is malformed is refused with its line, and never guessed.
func TestParse_Refuses(t *testing.T) {
	long := func(n int) string { return strings.Repeat("é", n) }
	for name, c := range map[string]struct {
		file skills.File
		code fault.Code
		line int
	}{
		"empty":                   {file("demo", ""), skill.CodeNoFrontMatter, 1},
		"no front matter":         {file("demo", "# Title\n"), skill.CodeNoFrontMatter, 1},
		"blank line first":        {file("demo", "\n---\nname: demo\n---\n"), skill.CodeNoFrontMatter, 1},
		"space after":             {file("demo", "--- \nname: demo\n---\n"), skill.CodeNoFrontMatter, 1},
		"four dashes":             {file("demo", "----\nname: demo\n---\n"), skill.CodeNoFrontMatter, 1},
		"not closed":              {file("demo", "---\nname: demo\ndescription: x\n"), skill.CodeUnclosed, 4},
		"closed by a longer line": {file("demo", "---\nname: demo\n----\n"), skill.CodeUnclosed, 4},
		"not UTF-8":               {file("demo", "---\nname: \xff\n---\n"), skill.CodeNotText, 0},
		"NUL":                     {front("description: a\x00"), skill.CodeNotText, 0},
		"escape sequence":         {front("description: \x1b[2J"), skill.CodeNotText, 0},
		"colon in plain text":     {front("description: Use when: asked"), skill.CodeNeedsQuotes, 3},
		"colon at the end":        {front("description: Use when:"), skill.CodeNeedsQuotes, 3},
		"colon further down":      {front("description: a\n  b: c"), skill.CodeNeedsQuotes, 4},
		"flow list":               {front("description: [a, b]"), skill.CodeNeedsQuotes, 3},
		"flow map":                {front("description: {a: b}"), skill.CodeNeedsQuotes, 3},
		"alias":                   {front("description: *x"), skill.CodeNeedsQuotes, 3},
		"anchor":                  {front("description: &x y"), skill.CodeNeedsQuotes, 3},
		"tag":                     {front("description: !!str y"), skill.CodeNeedsQuotes, 3},
		"at sign":                 {front("description: @x"), skill.CodeNeedsQuotes, 3},
		"block with text":         {front("description: | text"), skill.CodeNeedsQuotes, 3},
		"no colon":                {front("description"), skill.CodeBadLine, 3},
		"no space":                {front("description:x"), skill.CodeBadLine, 3},
		"list at top":             {front("- description"), skill.CodeBadLine, 3},
		"merge key":               {front("<<: x"), skill.CodeBadLine, 3},
		"document end":            {front("..."), skill.CodeBadLine, 3},
		"text after a comment":    {front("description: a # b\n  c"), skill.CodeBadLine, 4},
		"tab":                     {front("metadata:\n\ta: b"), skill.CodeBadIndent, 4},
		"indented key":            {file("demo", "---\n name: demo\n---\n"), skill.CodeBadIndent, 2},
		"uneven map":              {front("description: x\nmetadata:\n   a: b\n  c: d"), skill.CodeBadIndent, 6},
		"block less indented":     {front("description: |\n   a\n  b"), skill.CodeBadIndent, 5},
		"open quote":              {front(`description: "a`), skill.CodeBadQuotes, 3},
		"text after a quote":      {front(`description: "a" b`), skill.CodeBadQuotes, 3},
		"comment at a quote":      {front(`description: 'a'#b`), skill.CodeBadQuotes, 3},
		"text below a quote":      {front("description: 'a'\n  b"), skill.CodeBadLine, 4},
		"dash and tab":            {front("description: -\tx"), skill.CodeNeedsQuotes, 3},
		"tab on an empty line":    {front("description: a\n\t"), skill.CodeBadIndent, 4},
		"block begins wider":      {front("description: |\n    \n  a"), skill.CodeBadIndent, 5},
		"unknown escape":          {front(`description: "\q"`), skill.CodeBadQuotes, 3},
		"escaped NUL":             {front(`description: "\0"`), skill.CodeBadQuotes, 3},
		"surrogate":               {front(`description: "\ud800"`), skill.CodeBadQuotes, 3},
		"list where a text is":    {front("description: x\nallowed-tools:\n  - Read"), skill.CodeNotAText, 4},
		"map where a text is":     {front("description:\n  a: b"), skill.CodeNotAText, 3},
		"metadata text":           {front("description: x\nmetadata: y"), skill.CodeBadMetadata, 4},
		"metadata list":           {front("description: x\nmetadata:\n  a:\n    - b"), skill.CodeBadMetadata, 5},
		"metadata too deep":       {front("description: x\nmetadata:\n  a:\n    b: c"), skill.CodeBadMetadata, 5},
		"key twice":               {front("description: x\ndescription: y"), skill.CodeDuplicateKey, 4},
		"metadata key twice":      {front("description: x\nmetadata:\n  a: b\n  a: c"), skill.CodeDuplicateKey, 6},
		"no name":                 {file("demo", "---\ndescription: x\n---\n"), skill.CodeMissingKey, 1},
		"empty name":              {file("demo", "---\nname:\ndescription: x\n---\n"), skill.CodeMissingKey, 2},
		"null name":               {file("demo", "---\nname: ~\ndescription: x\n---\n"), skill.CodeMissingKey, 2},
		"no description":          {file("demo", "---\nname: demo\n---\n"), skill.CodeMissingKey, 1},
		"blank description":       {front(`description: "  "`), skill.CodeMissingKey, 3},
		"other directory":         {file("other", "---\nname: demo\ndescription: x\n---\n"), skill.CodeNameDiffers, 2},
		"long description":        {front("description: " + long(1025)), skill.CodeTooLong, 3},
		"long compatibility":      {front("description: x\ncompatibility: " + long(501)), skill.CodeTooLong, 4},
	} {
		_, problems, _ := skill.Parse(c.file)
		require.NotEmpty(t, problems, name)
		assert.Equal(t, c.code, problems[0].Code, "%s: %v", name, problems[0])
		assert.Equal(t, c.file.Path, problems[0].Args["path"], name)
		if c.line > 0 {
			assert.Equal(t, c.line, problems[0].Args["line"], "%s: %v", name, problems[0])
		}
	}
	_, problems, _ := skill.Parse(front("description: " + long(1024) + "\ncompatibility: " + long(500)))
	assert.Empty(t, problems)
	_, problems, _ = skill.Parse(front("description: [x]\nlicense: \"\nbroken"))
	assert.Equal(t, []fault.Code{skill.CodeNeedsQuotes, skill.CodeBadQuotes, skill.CodeBadLine}, codes(problems), "every problem is told")
}

func TestValidName(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "a-b-1": true, "0": true, strings.Repeat("a", 64): true, strings.Repeat("a", 65): false,
		"": false, "-a": false, "a-": false, "a--b": false, "A": false, "a_b": false, "a b": false, "é": false, "../a": false, "a.b": false,
	} {
		assert.Equal(t, want, skill.ValidName(name), "%q", name)
		if name != "" && !want && !strings.ContainsAny(name, ":#") {
			_, problems, _ := skill.Parse(file(name, "---\nname: "+name+"\ndescription: x\n---\n"))
			assert.Equal(t, []fault.Code{skill.CodeBadName}, codes(problems), "%q", name)
		}
	}
}

func TestParse_Warns(t *testing.T) {
	f := front("description: x\nversion: 2\nauthor:\n  - me")
	f.Data = append(f.Data, strings.Repeat("word ", 4100)...)
	f.Refused = []string{"references/out"}
	s, problems, warnings := skill.Parse(f)
	assert.Empty(t, problems)
	assert.Equal(t, []fault.Code{skill.CodeUnknownKey, skill.CodeUnknownKey, skill.CodeLongBody, skill.CodeRefused}, codes(warnings))
	assert.Equal(t, 4, warnings[0].Args["line"])
	assert.Greater(t, s.Tokens(), skill.BodyTokens)
	_, problems, warnings = skill.Parse(file("demo", "---\nname: demo\ndescription: x\n---"))
	assert.Empty(t, problems)
	assert.Equal(t, []fault.Code{skill.CodeEmptyBody}, codes(warnings))
}

func simple(name, description string) skills.File {
	return file(name, "---\nname: "+name+"\ndescription: "+description+"\n---\nBody of "+name)
}

func TestCatalogue(t *testing.T) {
	c, warnings, err := skill.Build([]skills.File{simple("zip", "packs"), simple("git", "\"commits\\n- evil: yes\""), simple("pdf", "reads")})
	require.NoError(t, err)
	assert.Empty(t, warnings)
	assert.Equal(t, []string{"git", "pdf", "zip"}, c.Names())
	s, ok := c.Get("pdf")
	assert.True(t, ok)
	assert.Equal(t, "Body of pdf", strings.TrimSpace(s.Body))
	for _, near := range []string{"PDF", " pdf", "../pdf", "pd", ""} {
		_, ok := c.Get(near)
		assert.False(t, ok, "SKL-04: exact names only: %q", near)
	}
}

// SKL-02: one broken file or one name in two roots stops the whole, and every reason is told.
func TestBuild_FailsWhole(t *testing.T) {
	twin := simple("pdf", "the other")
	twin.Root, twin.Path = "/t", "/t/pdf/SKILL.md"
	c, _, err := skill.Build([]skills.File{simple("pdf", "reads"), twin, file("bad", "no"), simple("git", "a: b")})
	assert.Equal(t, skill.CodeInvalid, fault.CodeOf(err))
	assert.Equal(t, []fault.Code{skill.CodeDuplicate, skill.CodeNoFrontMatter, skill.CodeNeedsQuotes}, codes(fault.From(err).Reasons))
	assert.Equal(t, fault.Args{"name": "pdf", "path": "/t/pdf/SKILL.md", "other": "/s/pdf/SKILL.md"}, fault.From(err).Reasons[0].Args)
	assert.Empty(t, c.Names())
}

func FuzzParse(f *testing.F) {
	f.Add("---\nname: demo\ndescription: \"x\\u00e9\"\nmetadata:\n  a: >2\n    b\n---\nbody")
	f.Add("---\nname: 'a''b'\n---")
	f.Fuzz(func(t *testing.T, text string) {
		s, problems, _ := skill.Parse(file("demo", text))
		if len(problems) == 0 && (s.Name != "demo" || s.Description == "" || len([]rune(s.Description)) > skill.MaxDescription) {
			t.Fatalf("accepted: %+v", s)
		}
		for _, p := range problems {
			if n, ok := p.Args["line"].(int); ok && (n < 1 || n > strings.Count(text, "\n")+1) {
				t.Fatalf("line %d of %q", n, text)
			}
		}
	})
}
