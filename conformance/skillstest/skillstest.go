// Package skillstest is the contract of ports/skills as a test suite (SKL-01, SKL-03, SKL-06). What only a file system can
// do — links, permissions, sizes — its adapter tests itself.
package skillstest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/skills"
)

// Factory makes a source over one root with the files, by their paths with "/".
type Factory func(t *testing.T, files map[string]string) skills.Source

// Run checks the contract.
func Run(t *testing.T, f Factory) {
	ctx := context.Background()
	s := f(t, map[string]string{
		"zip/SKILL.md": "zip\r\n", "pdf/SKILL.md": "\ufeffpdf", "pdf/scripts/run.sh": "run", "pdf/references/deep/a.md": "deep",
		"pdf/notes.md": "no resource", "pdf/other/x": "no resource", "SKILL.md": "no skill", "docs/readme.md": "no skill",
		"a/b/SKILL.md": "too deep", "lower/skill.md": "wrong name",
	})
	found, err := s.Find(ctx)
	require.NoError(t, err)
	require.Len(t, found, 2)
	pdf, zip := found[0], found[1]
	assert.Equal(t, "pdf", pdf.Dir)
	assert.Equal(t, "\ufeffpdf", string(pdf.Data), "bytes as they are")
	assert.Equal(t, []string{"references/deep/a.md", "scripts/run.sh"}, pdf.Resources)
	assert.Equal(t, "zip\r\n", string(zip.Data))
	assert.Empty(t, zip.Resources)
	assert.NotEqual(t, pdf.Path, zip.Path)

	pdf.Data[0] = 'X'
	again, err := s.Find(ctx)
	require.NoError(t, err)
	assert.Equal(t, "\ufeffpdf", string(again[0].Data), "the result is the caller's")

	for _, rel := range pdf.Resources {
		data, err := s.Resource(ctx, pdf, rel)
		require.NoError(t, err)
		assert.NotEmpty(t, data)
	}
	for _, rel := range []string{
		"", ".", "SKILL.md", "notes.md", "other/x", "scripts", "scripts/", "scripts/absent", "/scripts/run.sh",
		"./scripts/run.sh", "scripts//run.sh", "scripts/../scripts/run.sh", "../pdf/scripts/run.sh", "scripts/../../zip/SKILL.md", `scripts\run.sh`,
	} {
		_, err := s.Resource(ctx, pdf, rel)
		assert.Equal(t, skills.CodeNoResource, fault.CodeOf(err), "%q", rel)
	}
	_, err = s.Resource(ctx, zip, "scripts/run.sh")
	assert.Equal(t, skills.CodeNoResource, fault.CodeOf(err), "of another skill")

	none, err := f(t, nil).Find(ctx)
	require.NoError(t, err)
	assert.Empty(t, none)

	gone, cancel := context.WithCancel(ctx)
	cancel()
	_, err = s.Find(gone)
	assert.Equal(t, fault.CodeCancelled, fault.CodeOf(err))
	_, err = s.Resource(gone, pdf, "scripts/run.sh")
	assert.Equal(t, fault.CodeCancelled, fault.CodeOf(err))
}
