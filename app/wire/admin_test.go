package wire

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/service"
)

// SKL-01: the owner sees which skills an approval brings, also those of a directory that holds none.
func TestAdmin_ListsSkills(t *testing.T) {
	p := newPlace(t, "skills: {directories: [./skills, ./empty]}\n")
	dir := filepath.Join(p.dir, "skills", "hello")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.Mkdir(filepath.Join(p.dir, "empty"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte("---\nname: hello\ndescription: says hello\n---\nSay it.\n"), 0o600))
	v, err := Admin(Catalog, p.box, strings.NewReader(""), io.Discard, false).Show(context.Background(), p.config)
	require.NoError(t, err)
	require.Empty(t, v.Problems)
	require.Equal(t, []service.SkillRow{
		{Directory: filepath.Join(p.dir, "skills"), Names: []string{"hello"}}, {Directory: filepath.Join(p.dir, "empty")},
	}, v.Skills)
}
