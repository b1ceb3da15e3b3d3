package admin_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/app/admin"
	"github.com/agent-mcp/agent-mcp/core/change"
	"github.com/agent-mcp/agent-mcp/core/config"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/keep"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// CFG-05, CLI-02, CLI-03: the cache is shown with its resolved path, made by apply after the answer, and looked at by every start.
func TestCache_AppliedAndKept(t *testing.T) {
	w := newWorld(t)
	w.config("  cache: build\n")
	dir := w.path("state/cache/" + config.ID(w.path("ws")) + "/build")

	w.answer = func(string) (bool, error) {
		require.NoDirExists(t, dir, "nothing is made before the answer")
		return false, nil
	}
	require.Equal(t, service.Declined, must(w.service().Apply(ctx, service.ApplyRequest{Path: w.path("agent.yaml")})).Outcome)
	require.NoDirExists(t, dir)
	w.answer = func(string) (bool, error) { return true, nil }

	var shown []service.Change
	_, err := w.service().Apply(ctx, service.ApplyRequest{Path: w.path("agent.yaml"), Present: func(v service.View) { shown = v.Changes }})
	require.NoError(t, err)
	require.Contains(t, shown, service.Change{
		Op: service.Added, Item: service.ItemCache, Name: "build", Widens: true,
		After: []service.Attribute{{Name: "label.path", Value: dir}}, Meaning: service.Phrase{Key: "means.cache"},
	})
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())

	eff, err := w.load()
	require.NoError(t, err)
	require.Equal(t, dir, eff.Policy.Cache())
	require.Contains(t, eff.Policy.SandboxRoots(), rights.Root{Path: dir, Rights: rights.All})
	require.Contains(t, eff.View.Filesystem, service.FileRow{Name: "build", Kind: service.ItemCache, Written: dir, Path: dir, Rights: rights.All})

	require.NoError(t, os.RemoveAll(dir)) // how it is emptied
	_, err = w.load()
	require.Equal(t, change.CodeDrift, fault.CodeOf(err), "its hint points to apply")
	require.Equal(t, []fault.Code{admin.CodeCacheMissing}, codes(fault.From(err)))
	require.Equal(t, service.Drifted, must(w.service().Show(ctx, w.path("agent.yaml"))).Standing)
	require.NoDirExists(t, dir, "only apply makes it")
	asked := len(w.asked)
	again := w.apply()
	require.Equal(t, service.Unchanged, again.Outcome)
	require.Len(t, w.asked, asked, "it was approved before")
	require.Equal(t, admin.WarnCacheMade, again.View.Warnings[0].Code)
	require.DirExists(t, dir)
	_, err = w.load()
	require.NoError(t, err)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// FS-03: whatever leads elsewhere or is not the owner's alone is no cache; another workspace has another one.
func TestCache_Refused(t *testing.T) {
	for name, tc := range map[string]struct {
		spoil func(*world, string)
		want  fault.Code
	}{
		"a link": {func(w *world, dir string) {
			require.NoError(w.t, os.RemoveAll(dir))
			require.NoError(w.t, os.Symlink(w.path("bin"), dir))
		}, keep.CodeUnsafe},
		"a link above": {func(w *world, dir string) {
			require.NoError(w.t, os.Rename(w.path("state/cache"), w.path("elsewhere")))
			require.NoError(w.t, os.Symlink(w.path("elsewhere"), w.path("state/cache")))
		}, keep.CodeUnsafe},
		"a file": {func(w *world, dir string) {
			require.NoError(w.t, os.RemoveAll(dir))
			require.NoError(w.t, os.WriteFile(dir, nil, 0o600))
		}, keep.CodeUnsafe},
		"open above": {func(w *world, dir string) { require.NoError(w.t, os.Chmod(filepath.Dir(dir), 0o777)) }, keep.CodeUnsafe},
		"logs in it": {func(w *world, dir string) {
			w.edit("schema_version: 2", "schema_version: 2\nlogging: {dir: "+dir+"/logs}")
		}, admin.CodeOwnPlace},
		"the texts in it": {func(w *world, dir string) {
			w.edit("state_dir: ./state", "state_dir: ./state, locales_dir: "+dir)
		}, admin.CodeOwnPlace},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.config("  cache: build\n")
			w.apply()
			tc.spoil(w, w.path("state/cache/"+config.ID(w.path("ws"))+"/build"))
			_, err := w.service().Apply(ctx, service.ApplyRequest{Path: w.path("agent.yaml"), Yes: true})
			require.Equal(t, admin.CodeRefused, fault.CodeOf(err))
			require.Equal(t, []fault.Code{tc.want}, codes(fault.From(err)))
			_, err = w.load()
			require.Error(t, err)
		})
	}
	w := newWorld(t)
	w.config("  cache: build\n  profile: readonly\n")
	one := w.apply().View.Filesystem[1]
	require.Equal(t, rights.Read|rights.Write|rights.Delete, one.Rights, "read-only workspaces run nothing from it")
	require.NoError(t, os.Mkdir(w.path("ws2"), 0o755))
	w.edit("./ws", "./ws2")
	require.NotEqual(t, one.Path, w.apply().View.Filesystem[1].Path)

	w.edit("state_dir: ./state", "state_dir: ./bin/state") // beside a runtime root is well
	require.Equal(t, service.AppliedChanges, w.apply().Outcome)
	w.edit("state_dir: ./bin/state", "state_dir: ./bin/lib/state")
	_, err := w.service().Apply(ctx, service.ApplyRequest{Path: w.path("agent.yaml"), Yes: true})
	require.Contains(t, codes(fault.From(err)), admin.CodeOwnPlace)
}
