package directory_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/skills/directory"
	"github.com/agent-mcp/agent-mcp/conformance/skillstest"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/skills"
)

var ctx = context.Background()

func write(t *testing.T, p, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o755))
	require.NoError(t, os.WriteFile(p, []byte(text), 0o644))
}

func link(t *testing.T, target, p string) {
	t.Helper()
	if err := os.Symlink(target, p); err != nil {
		t.Skip("no symbolic links here")
	}
}

func reasons(err error) (out []fault.Code) {
	for _, r := range fault.From(err).Reasons {
		out = append(out, r.Code)
	}
	return out
}

// SKL-01: only <name>/SKILL.md is a skill, read as it is.
func TestFind_OnlySkillFiles(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	write(t, filepath.Join(a, "zip", "SKILL.md"), "\ufeff---\r\n")
	write(t, filepath.Join(a, "pdf", "SKILL.md"), "pdf")
	write(t, filepath.Join(a, "pdf", "scripts", "run.sh"), "#!/bin/sh")
	write(t, filepath.Join(a, "pdf", "references", "deep", "b.md"), "")
	write(t, filepath.Join(a, "pdf", "assets", "a.png"), "")
	write(t, filepath.Join(a, "pdf", "other", "hidden.md"), "")
	write(t, filepath.Join(a, "SKILL.md"), "not in a directory")
	write(t, filepath.Join(a, "nested", "deeper", "SKILL.md"), "too deep")
	write(t, filepath.Join(a, "lower", "skill.md"), "wrong name")
	write(t, filepath.Join(b, "pdf", "SKILL.md"), "the other")
	got, err := directory.New(directory.Config{Directories: []string{a, b, a}}).Find(ctx)
	require.NoError(t, err)
	require.Len(t, got, 3)
	assert.Equal(t, skills.File{
		Root: a, Dir: "pdf", Path: filepath.Join(a, "pdf", "SKILL.md"), Data: []byte("pdf"),
		Resources: []string{"assets/a.png", "references/deep/b.md", "scripts/run.sh"},
	}, got[0])
	assert.Equal(t, "\ufeff---\r\n", string(got[1].Data))
	assert.Equal(t, "the other", string(got[2].Data))

	none, err := directory.New(directory.Config{}).Find(ctx)
	require.NoError(t, err)
	assert.Empty(t, none)
}

// SKL-06: nothing outside the configured directory is read, by whatever link.
func TestFind_RefusesLinksOut(t *testing.T) {
	out, root := t.TempDir(), t.TempDir()
	write(t, filepath.Join(out, "skill", "SKILL.md"), "outside")
	write(t, filepath.Join(out, "secret"), "secret")
	link(t, filepath.Join(out, "skill"), filepath.Join(root, "dir-out"))
	require.NoError(t, os.MkdirAll(filepath.Join(root, "file-out"), 0o755))
	link(t, filepath.Join(out, "secret"), filepath.Join(root, "file-out", "SKILL.md"))
	require.NoError(t, os.MkdirAll(filepath.Join(root, "dots"), 0o755))
	link(t, "../../"+filepath.Base(out)+"/secret", filepath.Join(root, "dots", "SKILL.md"))
	require.NoError(t, os.MkdirAll(filepath.Join(root, "sibling"), 0o755))
	write(t, filepath.Join(root, "plain.md"), "in the root, but not in the skill")
	link(t, "../plain.md", filepath.Join(root, "sibling", "SKILL.md"))
	link(t, "nowhere", filepath.Join(root, "dangling"))
	link(t, filepath.Join(out, "secret"), filepath.Join(root, "just-a-file"))

	_, err := directory.New(directory.Config{Directories: []string{root}}).Find(ctx)
	assert.Equal(t, skills.CodeUnreadable, fault.CodeOf(err))
	assert.Equal(t, []fault.Code{skills.CodeEscape, skills.CodeEscape, skills.CodeEscape, skills.CodeEscape, skills.CodeEscape}, reasons(err), "%v", err)
}

func TestFind_LinksInside(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "a", "real.md"), "text")
	link(t, "real.md", filepath.Join(root, "a", "SKILL.md"))
	link(t, "a", filepath.Join(root, "b"))
	got, err := directory.New(directory.Config{Directories: []string{root}}).Find(ctx)
	require.NoError(t, err)
	require.Len(t, got, 2)
	assert.Equal(t, "text", string(got[1].Data))
	assert.Equal(t, "b", got[1].Dir, "the link's own name is what the skill must be called")
}

func TestFind_Unreadable(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "big", "SKILL.md"), strings.Repeat("x", 101))
	write(t, filepath.Join(root, "fits", "SKILL.md"), strings.Repeat("x", 100))
	require.NoError(t, os.MkdirAll(filepath.Join(root, "dir", "SKILL.md"), 0o755))
	file := filepath.Join(root, "file")
	write(t, file, "")
	_, err := directory.New(directory.Config{MaxFileBytes: 100, Directories: []string{root, filepath.Join(root, "absent"), file}}).Find(ctx)
	assert.Equal(t, []fault.Code{skills.CodeTooLarge, skills.CodeNoFile, skills.CodeNoDir, skills.CodeNoDir}, reasons(err), "%v", err)

	many := t.TempDir()
	for i := range 4 {
		write(t, filepath.Join(many, fmt.Sprint("s", i), "SKILL.md"), "")
	}
	_, err = directory.New(directory.Config{MaxSkills: 3, Directories: []string{many}}).Find(ctx)
	assert.Equal(t, []fault.Code{skills.CodeTooMany}, reasons(err))
	_, err = directory.New(directory.Config{MaxSkills: 4, Directories: []string{many}}).Find(ctx)
	require.NoError(t, err)

	gone, cancel := context.WithCancel(ctx)
	cancel()
	_, err = directory.New(directory.Config{Directories: []string{many}}).Find(gone)
	assert.Equal(t, fault.CodeCancelled, fault.CodeOf(err))
}

func TestFind_WithoutPermission(t *testing.T) {
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("this user may read everything")
	}
	root := t.TempDir()
	p := filepath.Join(root, "a", "SKILL.md")
	write(t, p, "x")
	require.NoError(t, os.Chmod(p, 0))
	_, err := directory.New(directory.Config{Directories: []string{root}}).Find(ctx)
	assert.Equal(t, []fault.Code{skills.CodeNoFile}, reasons(err))
}

// SKL-03, SKL-06: resources are read on demand, from the three directories, and only from inside the skill.
func TestResource(t *testing.T) {
	out, root := t.TempDir(), t.TempDir()
	write(t, filepath.Join(out, "secret"), "secret")
	write(t, filepath.Join(root, "a", "SKILL.md"), "x")
	write(t, filepath.Join(root, "a", "references", "r.md"), "text")
	write(t, filepath.Join(root, "a", "scripts", "big"), strings.Repeat("x", 101))
	write(t, filepath.Join(root, "b", "references", "other.md"), "other skill")
	link(t, filepath.Join(out, "secret"), filepath.Join(root, "a", "references", "out"))
	link(t, "../../b/references/other.md", filepath.Join(root, "a", "references", "sibling"))
	link(t, "r.md", filepath.Join(root, "a", "references", "inside"))
	s := directory.New(directory.Config{Directories: []string{root}, MaxFileBytes: 100})
	found, err := s.Find(ctx)
	require.NoError(t, err)
	require.Len(t, found, 1)
	assert.Equal(t, []string{"references/inside", "references/r.md", "scripts/big"}, found[0].Resources)
	assert.Equal(t, []string{"references/out", "references/sibling"}, found[0].Refused)

	for _, good := range []string{"references/r.md", "references/inside"} {
		data, err := s.Resource(ctx, found[0], good)
		require.NoError(t, err)
		assert.Equal(t, "text", string(data))
	}
	for rel, want := range map[string]fault.Code{
		"references/out": skills.CodeEscape, "references/sibling": skills.CodeEscape, "scripts/big": skills.CodeTooLarge,
		"references/absent": skills.CodeNoResource, "references": skills.CodeNoResource, "SKILL.md": skills.CodeNoResource,
		"../a/references/r.md": skills.CodeNoResource, "references/../references/r.md": skills.CodeNoResource, "references/": skills.CodeNoResource,
		"/references/r.md": skills.CodeNoResource, "references//r.md": skills.CodeNoResource, `references\r.md`: skills.CodeNoResource,
		"": skills.CodeNoResource, "references/r.md\x00": skills.CodeNoResource, "./references/r.md": skills.CodeNoResource,
	} {
		_, err := s.Resource(ctx, found[0], rel)
		assert.Equal(t, want, fault.CodeOf(err), "%q: %v", rel, err)
	}
	forged := found[0]
	forged.Root = out
	_, err = s.Resource(ctx, forged, "references/r.md")
	assert.Equal(t, skills.CodeNoResource, fault.CodeOf(err), "only configured directories")
	forged = found[0]
	forged.Dir = ".."
	_, err = s.Resource(ctx, forged, "references/r.md")
	assert.Equal(t, skills.CodeEscape, fault.CodeOf(err))
}

func TestFind_BoundsTheList(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "a", "SKILL.md"), "x")
	for i := range 5 {
		write(t, filepath.Join(root, "a", "assets", fmt.Sprint(i)), "")
	}
	got, err := directory.New(directory.Config{Directories: []string{root}, MaxResources: 3}).Find(ctx)
	require.NoError(t, err)
	assert.Equal(t, []string{"assets/0", "assets/1", "assets/2"}, got[0].Resources)
	assert.True(t, got[0].More)
}

func TestSource_Contract(t *testing.T) {
	skillstest.Run(t, func(t *testing.T, files map[string]string) skills.Source {
		root := t.TempDir()
		for p, text := range files {
			write(t, filepath.Join(root, filepath.FromSlash(p)), text)
		}
		return directory.New(directory.Config{Directories: []string{root}})
	})
}
