package wire

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/skill"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/service"
	"github.com/agent-mcp/agent-mcp/ports/skills"
)

func putFile(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

// SKL-01, SKL-02, SKL-06: a skill that is no skill, or that exists twice, refuses `apply`, keeps what was applied, is told by
// `show`, and refuses a start, each time with its file, its line and the remedy; whatever else is wrong is told with it.
func TestAdmin_SkillsThatRefuse(t *testing.T) {
	const good = "---\nname: a\ndescription: does a\n---\nBody.\n"
	for name, c := range map[string]struct {
		put    func(t *testing.T, dir string) // dir holds one and two
		code   fault.Code
		reason fault.Code
	}{
		"no front matter": {func(t *testing.T, dir string) { putFile(t, dir+"/one/b/SKILL.md", "# B\n\n---\nname: b\n") }, skill.CodeInvalid, skill.CodeNoFrontMatter},
		"malformed YAML": {func(t *testing.T, dir string) {
			putFile(t, dir+"/one/b/SKILL.md", "---\nname: b\ndescription: Use when: asked\n---\n")
		}, skill.CodeInvalid, skill.CodeNeedsQuotes},
		"name differs": {func(t *testing.T, dir string) { putFile(t, dir+"/one/b/SKILL.md", good) }, skill.CodeInvalid, skill.CodeNameDiffers},
		"bad name": {func(t *testing.T, dir string) {
			putFile(t, dir+"/one/b--b/SKILL.md", "---\nname: b--b\ndescription: x\n---\n")
		}, skill.CodeInvalid, skill.CodeBadName},
		"twice": {func(t *testing.T, dir string) { putFile(t, dir+"/two/a/SKILL.md", good) }, skill.CodeInvalid, skill.CodeDuplicate},
		"above 1 MiB": {func(t *testing.T, dir string) {
			putFile(t, dir+"/one/b/SKILL.md", "---\nname: b\ndescription: x\n---\n"+strings.Repeat("x", 1<<20))
		}, skills.CodeUnreadable, skills.CodeTooLarge},
		"a link out": {func(t *testing.T, dir string) {
			putFile(t, dir+"/outside.md", "---\nname: b\ndescription: x\n---\n")
			require.NoError(t, os.Mkdir(dir+"/one/b", 0o755))
			if err := os.Symlink("../../outside.md", dir+"/one/b/SKILL.md"); err != nil {
				t.Skip("no symbolic links here")
			}
		}, skills.CodeUnreadable, skills.CodeEscape},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, "skills: {directories: [./one, ./two]}\n")
			putFile(t, p.dir+"/one/a/SKILL.md", good)
			require.NoError(t, os.Mkdir(p.dir+"/two", 0o755))
			p.apply(t)
			c.put(t, p.dir)
			owner := Admin(Catalog, p.box, strings.NewReader(""), io.Discard, false)
			_, applyErr := owner.Apply(context.Background(), service.ApplyRequest{Path: p.config, Yes: true})
			_, startErr := owner.Load(context.Background(), p.config)
			for what, err := range map[string]error{"apply": applyErr, "start": startErr} {
				f := fault.From(err)
				require.NotNil(t, f, what)
				require.Len(t, f.Reasons, 1, "%s: %v", what, f)
				assert.Equal(t, c.code, f.Reasons[0].Code, what)
				require.Len(t, f.Reasons[0].Reasons, 1, "%v", f)
				assert.Equal(t, c.reason, f.Reasons[0].Reasons[0].Code, what)
			}
			v, err := owner.Show(context.Background(), p.config)
			require.NoError(t, err)
			require.Equal(t, service.Refused, v.Standing)
			en, err := Catalog("en", "")
			require.NoError(t, err)
			assert.Contains(t, en.Fault(v.Problems[0]), "SKILL.md", "the owner is told which file")
			require.NoError(t, os.RemoveAll(p.dir+"/one/b"))
			require.NoError(t, os.RemoveAll(p.dir+"/one/b--b"))
			require.NoError(t, os.RemoveAll(p.dir+"/two/a"))
			_, err = owner.Load(context.Background(), p.config)
			require.NoError(t, err, "what was applied is still applied")
		})
	}
}

// SKL-01: what people's editors and other agents make of a skill is one still: BOM, CRLF, a description with a colon in quotes, a
// rule in the body, keys of the standard. A key of no standard is a warning, at apply, in show and at a start.
func TestAdmin_SkillsThatAreFine(t *testing.T) {
	p := newPlace(t, "skills: {directories: [./one]}\n")
	text := "\ufeff---\nname: pdf-2\ndescription: \"Use when: asked for a PDF\"\nlicense: MIT\ncompatibility: needs python\nmetadata:\n  version: \"1\"\n" +
		"allowed-tools: Bash(*)\nversion: 2\n---\nDo this.\n---\nThen that.\n"
	putFile(t, p.dir+"/one/pdf-2/SKILL.md", strings.ReplaceAll(text, "\n", "\r\n"))
	putFile(t, p.dir+"/one/notes.txt", "no skill")
	owner := Admin(Catalog, p.box, strings.NewReader(""), io.Discard, false)
	applied, err := owner.Apply(context.Background(), service.ApplyRequest{Path: p.config, Yes: true})
	require.NoError(t, err)
	shown, err := owner.Show(context.Background(), p.config)
	require.NoError(t, err)
	eff, err := owner.Load(context.Background(), p.config)
	require.NoError(t, err)
	for what, warnings := range map[string][]*fault.Error{"apply": applied.View.Warnings, "show": shown.Warnings, "start": eff.Warnings} {
		var codes []fault.Code
		for _, w := range warnings {
			codes = append(codes, w.Code)
		}
		assert.Contains(t, codes, skill.CodeUnknownKey, what)
	}
	s, ok := eff.Skills.Get("pdf-2")
	require.True(t, ok)
	assert.Equal(t, "Use when: asked for a PDF", s.Description)
	assert.Equal(t, "Do this.\n---\nThen that.", s.Body)

	// At the start the warning is on standard error.
	var out, errs bytes.Buffer
	require.NoError(t, Serve(context.Background(), eff, p.box, strings.NewReader(""), &out, &errs))
	assert.Contains(t, errs.String(), "the key version is unknown and ignored")
	assert.Empty(t, out.String())
}
