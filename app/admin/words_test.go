package admin_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/app/admin"
	"github.com/agent-mcp/agent-mcp/core/config"
	"github.com/agent-mcp/agent-mcp/core/skill"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/service"
	"github.com/agent-mcp/agent-mcp/ports/skills"
)

func (w *world) refusal() *fault.Error {
	w.t.Helper()
	_, err := w.service().Apply(ctx, service.ApplyRequest{Path: w.path("agent.yaml"), Yes: true})
	require.Error(w.t, err)
	return fault.From(err)
}

// AT-20: an unknown language is one problem among the others, with its place and the tag that was meant.
func TestLanguage_IsAProblemWithAPlace(t *testing.T) {
	w := newWorld(t)
	w.edit("state_dir: ./state", "state_dir: ./state, language: jp")
	require.NoError(t, os.Remove(w.path("ws")))
	f := w.refusal()
	require.Equal(t, []fault.Code{admin.CodeLanguageNear, admin.CodeMissing}, codes(f))
	require.Equal(t, "ja", f.Reasons[0].Args["nearest"])
	require.Equal(t, "agent.yaml:3", f.Reasons[0].Args["place"])
	v, err := w.service().Show(ctx, w.path("agent.yaml"))
	require.NoError(t, err)
	require.Equal(t, "jp", v.Language)

	w.edit("ollama: {model: m}", "ollama: {modell: m}")
	f = w.refusal()
	require.Equal(t, config.CodeInvalid, f.Code)
	require.Equal(t, admin.CodeLanguageNear, f.Reasons[len(f.Reasons)-1].Code)
	require.Equal(t, len(f.Reasons), f.Args["count"])
}

// The agent's own files are no secret of the host: the remedy is another directory.
func TestOwnPlace(t *testing.T) {
	w := newWorld(t)
	w.deps.Host.Home = "/nowhere"
	w.edit("./ws", ".")
	f := w.refusal()
	require.Equal(t, admin.CodeOwnPlace, f.Reasons[0].Code)
	c, err := english()
	require.NoError(t, err)
	require.Contains(t, c.Fault(f), "such as a subdirectory: ./workspace")
	require.NotContains(t, c.Fault(f), "credentials")
}

// Every line of a refusal begins with the configuration's key or a place in the file.
func TestProblems_NameTheKey(t *testing.T) {
	w := newWorld(t)
	w.config("      - {alias: gone, path: ./gone, runtime_root: ./gone}\n      - {alias: dir, path: ./bin/lib}\n      - {alias: in, path: ./ws/in}\n" +
		"  mounts:\n    - {name: lost, path: ./none, access: read_only}\n    - {name: state, path: ./state, access: read_only}\n    - {name: again, path: ./ws, access: read_only}\n")
	w.program("ws/in", "\x7fELF")
	require.NoError(t, os.Mkdir(w.path("state"), 0o700))
	require.NoError(t, os.Chmod(w.path("bin/tool"), 0o775))
	f := w.refusal()
	require.Greater(t, len(f.Reasons), 6)
	c, err := english()
	require.NoError(t, err)
	for _, r := range f.Reasons {
		require.Regexp(t, `^(sandbox\.|agent\.yaml:)`, c.Fault(r), fmt.Sprint(r))
	}
	require.Contains(t, c.Fault(f), "Problems: ")
}

// PRF-01, CLI-03: what every process may use of the system is part of the matrix, behind what the owner gave.
func TestShow_System(t *testing.T) {
	w := newWorld(t)
	w.report.Baseline = []rights.Root{{Path: "/lib", Rights: rights.Read | rights.Execute}, {Path: "/usr", Rights: rights.Read | rights.Execute}}
	v := w.apply().View
	var rows []string
	for _, r := range v.Filesystem {
		rows = append(rows, fmt.Sprint(r.Kind, " ", r.Path))
	}
	require.Equal(t, []string{"workspace " + w.path("ws"), "runtime_root " + w.path("bin/lib"), "system /lib", "system /usr"}, rows)
	require.Equal(t, rights.Read|rights.Execute, v.Filesystem[3].Rights)
}

// The first approval replaces nothing; after it, also behind a damaged one, something is replaced.
func TestApply_FirstQuestion(t *testing.T) {
	w := newWorld(t)
	w.apply()
	w.config("  profile: readonly\n")
	w.apply()
	require.Len(t, w.asked, 2)
	require.NotContains(t, w.asked[0], "replace")
	require.Contains(t, w.asked[1], "replace")
}

func TestUnusedLocal(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, os.WriteFile(w.path("agent.local.yaml"), []byte("logging: {level: debug}\n"), 0o600))
	data, err := os.ReadFile(w.path("agent.yaml"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(w.path("c.yaml"), data, 0o600))
	v, err := w.service().Show(ctx, w.path("c.yaml"))
	require.NoError(t, err)
	require.Empty(t, v.Local)
	require.Len(t, v.Warnings, 1)
	require.Equal(t, admin.WarnUnusedLocal, v.Warnings[0].Code)
	require.Equal(t, "c.local.yaml", v.Warnings[0].Args["local"])
	v, err = w.service().Show(ctx, w.path("agent.yaml"))
	require.NoError(t, err)
	require.Equal(t, w.path("agent.local.yaml"), v.Local)
	require.Empty(t, v.Warnings)
}

func TestDirectoryInsteadOfAFile(t *testing.T) {
	w := newWorld(t)
	_, err := w.service().Show(ctx, w.dir)
	require.Equal(t, admin.CodeDirectory, fault.CodeOf(err))
	require.Equal(t, w.path("agent.yaml"), fault.From(err).Args["example"])
	t.Chdir(w.dir)
	_, err = w.service().Show(ctx, ".")
	require.Equal(t, admin.CodeDirectory, fault.CodeOf(err))
}

// What does not exist has no path to show in the difference.
func TestShow_NoEmptyRows(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, os.Remove(w.path("ws")))
	require.NoError(t, os.Remove(w.path("bin/tool")))
	v, err := w.service().Show(ctx, w.path("agent.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, v.Changes)
	for _, c := range v.Changes {
		for _, a := range append(c.Before, c.After...) {
			require.NotEmpty(t, strings.TrimSpace(a.Value), "%s %s", c.Item, a.Name)
		}
	}
}

func TestSkills_AreListed(t *testing.T) {
	w := newWorld(t)
	w.edit("schema_version: 2", "schema_version: 2\nskills: {directories: [./skills]}")
	w.deps.Skills = func(_ context.Context, cfg config.Config) (skill.Catalogue, []*fault.Error, error) {
		return skill.Build([]skills.File{{Root: cfg.Skills.Directories[0], Dir: "a", Data: []byte("---\nname: a\ndescription: d\n---\nbody\n")}})
	}
	require.Equal(t, []service.SkillRow{{Directory: w.path("skills"), Names: []string{"a"}}}, w.apply().View.Skills)
}
