package toolbox_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/ident/sequence"
	imagefile "github.com/agent-mcp/agent-mcp/adapters/image/file"
	keepfile "github.com/agent-mcp/agent-mcp/adapters/keep/file"
	"github.com/agent-mcp/agent-mcp/adapters/workspace/osroot"
	"github.com/agent-mcp/agent-mcp/app/toolbox"
	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// cached is a workspace with a kept cache. Each broker is a start of its own: a new sandbox, tree and toolbox.
type cached struct {
	t       *testing.T
	dir     string
	profile policy.Profile
	entries []policy.Entry
}

func newCached(t *testing.T, profile policy.Profile) *cached {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o755))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "w"), 0o755))
	require.NoError(t, keepfile.New().Make(context.Background(), filepath.Join(dir, "state"), "cache/id/build"))
	t.Cleanup(func() { // module caches are read-only
		_ = filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				_ = os.Chmod(p, 0o755)
			}
			return nil
		})
	})
	return &cached{t: t, dir: dir, profile: profile}
}

func (c *cached) cache() string { return filepath.Join(c.dir, "state", "cache", "id", "build") }

func (c *cached) entry(alias, path, runtime string) {
	id, err := imagefile.New().Identify(context.Background(), path)
	require.NoError(c.t, err)
	c.entries = append(c.entries, policy.Entry{Alias: alias, Path: id.Path, SHA256: id.SHA256, RuntimeRoot: runtime})
}

func (c *cached) broker() (*toolbox.Box, *policy.Policy) {
	sb, report := confined(c.t)
	p, f := policy.Build(policy.Input{
		Profile: c.profile, Workspace: filepath.Join(c.dir, "w"), Entries: c.entries, Cache: c.cache(), Baseline: report.Baseline,
		Network: policy.NetworkInput{Mode: sandbox.NetworkNone}, Resources: policy.ResourceInput{Profile: "normal"},
		Require: sandbox.Approximate, Denied: []policy.Denied{{Path: filepath.Join(c.dir, "state"), What: policy.State}},
	})
	if f != nil {
		c.t.Fatal(f)
	}
	var roots []string
	for _, r := range p.ToolRoots() {
		roots = append(roots, r.Path)
	}
	tree, err := osroot.New(roots, osroot.Options{})
	require.NoError(c.t, err)
	c.t.Cleanup(func() { require.NoError(c.t, tree.Close()) })
	box := toolbox.New(toolbox.Config{
		Policy: p, Tree: tree, Sandbox: sb, Images: imagefile.New(), Ident: sequence.New(), Environment: os.Environ(),
		Limits: toolbox.Limits{ProcessBytes: 8 << 20},
	})
	c.t.Cleanup(func() { require.NoError(c.t, box.Close()) })
	return box, p
}

// The promise: programs of a later start find the cache warm. The second build of a Go program, by another Broker in
// another sandbox, compiles nothing.
func TestCache_SecondStartBuildsWarm(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no Go here")
	}
	if goTool, err = filepath.EvalSymlinks(goTool); err != nil {
		t.Skip("no Go here")
	}
	c := newCached(t, policy.Development)
	c.entry("go", goTool, filepath.Dir(filepath.Dir(goTool)))
	w := filepath.Join(c.dir, "w")
	require.NoError(t, os.WriteFile(filepath.Join(w, "go.mod"), []byte("module example.com/a\n\ngo 1.21\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(w, "main.go"), []byte("package main\n\nfunc main() { println(\"built\") }\n"), 0o644))
	build := func() (text string, compiled int) {
		require.NoError(t, os.RemoveAll(filepath.Join(w, "a")))
		box, _ := c.broker()
		r := box.Do(context.Background(), audit.Ref{}, tool.Call{Name: tool.Run, Alias: "go", Args: []string{"build", "-x", "-o", "a", "."}})
		require.Nil(t, r.Fault, r.Text)
		require.Contains(t, r.Text, "exit code 0")
		run := box.Do(context.Background(), audit.Ref{}, tool.Call{Name: tool.Run, Alias: "a"})
		require.Contains(t, run.Text, "built")
		return r.Text, strings.Count(r.Text, "/compile -o ")
	}
	text, cold := build()
	require.Positive(t, cold, text)
	text, warm := build()
	assert.Zero(t, warm, text)
	assert.DirExists(t, filepath.Join(c.cache(), "go-build"))
	assert.NoDirExists(t, filepath.Join(w, ".cache"), "nothing lands in the workspace")
}

// FS-00, FS-04, FS-08, SEC-INV-04: processes may use the cache as the profile says; no Internal Tool sees it; nothing in it is
// started by the Broker; its place itself stays.
func TestCache_ForProcessesOnly(t *testing.T) {
	for profile, executes := range map[policy.Profile]bool{policy.Development: true, policy.ReadOnly: false} {
		t.Run(string(profile), func(t *testing.T) {
			c := newCached(t, profile)
			c.entry("sh", "/bin/sh", "")
			box, p := c.broker()
			script := `set -e; cd "$XDG_CACHE_HOME"; mkdir -p d; echo '#!/bin/sh
echo ran' > d/x; chmod +x d/x; cat d/x >/dev/null; mv d/x d/y; echo kept > keep; rm -f gone; (d/y || echo refused); rm -r d; cd /
rmdir "$XDG_CACHE_HOME" 2>/dev/null && echo rmdir; mv "$XDG_CACHE_HOME" "$XDG_CACHE_HOME"x 2>/dev/null && echo moved
ls "$XDG_CACHE_HOME/../.." ; echo x > "$XDG_CACHE_HOME/../beside" || echo no`
			r := box.Do(context.Background(), audit.Ref{}, tool.Call{Name: tool.Run, Alias: "sh", Args: []string{"-c", script}})
			require.Nil(t, r.Fault, r.Text)
			assert.Equal(t, executes, strings.Contains(r.Text, "ran\n"), r.Text)
			assert.Equal(t, !executes, strings.Contains(r.Text, "refused\n"), r.Text)
			assert.NotContains(t, r.Text, "rmdir\n")
			assert.NotContains(t, r.Text, "moved\n")
			kept, err := os.ReadFile(filepath.Join(c.cache(), "keep"))
			require.NoError(t, err, r.Text)
			assert.Equal(t, "kept\n", string(kept))
			assert.NoFileExists(t, filepath.Join(c.dir, "state", "cache", "id", "beside"))
			info, err := os.Stat(filepath.Join(c.cache(), "keep"))
			require.NoError(t, err)
			root, err := os.Stat(c.cache())
			require.NoError(t, err)
			assert.Equal(t, owner(root), owner(info), "what programs leave belongs to the owner")

			next, _ := c.broker()
			r = next.Do(context.Background(), audit.Ref{}, tool.Call{Name: tool.Run, Alias: "sh", Args: []string{"-c", `cat "$XDG_CACHE_HOME/keep"`}})
			assert.Contains(t, r.Text, "kept")
			require.NoError(t, os.WriteFile(filepath.Join(c.cache(), "tool"), []byte("#!/bin/sh\n"), 0o755))
			for _, call := range []tool.Call{
				{Name: tool.Read, Path: c.cache() + "/keep"},
				{Name: tool.List, Path: c.cache()},
				{Name: tool.Write, Path: c.cache() + "/n", Content: "x"},
				{Name: tool.Remove, Path: c.cache() + "/keep"},
				{Name: tool.Search, Path: c.cache(), Pattern: "kept"},
				{Name: tool.Run, Alias: c.cache() + "/tool"},
				{Name: tool.Run, Alias: "sh", Dir: c.cache()},
			} {
				r := next.Do(context.Background(), audit.Ref{}, call)
				assert.True(t, r.Denied, "%v: %s", call, r.Text)
			}
			assert.Contains(t, p.SandboxRoots(), rights.Root{Path: c.cache(), Rights: map[bool]rights.Set{true: rights.All, false: rights.Read | rights.Write | rights.Delete}[executes]})
		})
	}
}

// The owner's Git never looks into the cache, so its guard does not either: a repository in it stays as programs made it.
func TestCache_GitGuardStaysOut(t *testing.T) {
	c := newCached(t, policy.Development)
	c.entry("sh", "/bin/sh", "")
	box, _ := c.broker()
	r := box.Do(context.Background(), audit.Ref{}, tool.Call{Name: tool.Run, Alias: "sh", Args: []string{"-c", `
		cd "$XDG_CACHE_HOME"; mkdir -p r/.git/hooks r/.git/objects r/.git/refs; echo ref: x > r/.git/HEAD; echo '[core]' > r/.git/config; echo x > r/.git/hooks/pre-commit`}})
	require.Contains(t, r.Text, "exit code 0")
	box, _ = c.broker()
	r = box.Do(context.Background(), audit.Ref{}, tool.Call{Name: tool.Run, Alias: "sh", Args: []string{"-c", `echo more >> "$XDG_CACHE_HOME/r/.git/config"`}})
	require.Contains(t, r.Text, "exit code 0")
	assert.FileExists(t, filepath.Join(c.cache(), "r", ".git", "hooks", "pre-commit"))
}

func owner(info os.FileInfo) uint32 { return info.Sys().(*syscall.Stat_t).Uid }
