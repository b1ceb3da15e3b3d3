package lookout_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/workspace/mem"
	"github.com/agent-mcp/agent-mcp/adapters/workspace/osroot"
	"github.com/agent-mcp/agent-mcp/app/gitguard"
	"github.com/agent-mcp/agent-mcp/app/lookout"
	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

func rules(tb testing.TB, workspace string) *policy.Policy {
	tb.Helper()
	p, f := policy.Build(policy.Input{
		Profile: policy.Development, Workspace: workspace, Network: policy.NetworkInput{Mode: sandbox.NetworkNone},
		Resources: policy.ResourceInput{Profile: "normal"}, Require: sandbox.Approximate,
	})
	require.Nil(tb, f)
	return p
}

// begin looks at a tree before the first run, as a Task does.
func begin(tb testing.TB, tree workspace.Tree, p *policy.Policy, b lookout.Bounds) *lookout.Lookout {
	tb.Helper()
	l := lookout.New(tree, p, b)
	g := gitguard.New(tree, p, gitguard.Bounds{})
	g.Watch(l.Before)
	_, err := g.Find(context.Background())
	require.NoError(tb, err)
	return l
}

func after(tb testing.TB, l *lookout.Lookout) (out []string) {
	tb.Helper()
	found, unseen, err := l.After(context.Background())
	require.NoError(tb, err)
	assert.Zero(tb, unseen)
	for _, f := range found {
		s := fmt.Sprint(f.Path, " ", f.Kind)
		if len(f.What) > 0 {
			s += fmt.Sprint(" ", f.What)
		}
		if !f.New {
			s += " changed"
		}
		out = append(out, s)
	}
	return out
}

// SEC-INV-13: what was there is not named, what is new or changed is, once, wherever it lies.
func TestAfter_NamesWhatIsNew(t *testing.T) {
	tree := mem.New("/w")
	for _, p := range []string{"/w/.envrc", "/w/.vscode/tasks.json", "/w/.git/HEAD", "/w/.git/config", "/w/.git/hooks/pre-commit", "/w/src/a.c"} {
		tree.Put(p, "old", 0)
	}
	tree.Put("/w/.git/hooks/pre-push", "#!/bin/sh\n", 0o755)
	l := begin(t, tree, rules(t, "/w"), lookout.Bounds{})
	assert.Empty(t, after(t, l))
	tree.Put("/w/.git/index", "x", 0)
	assert.Empty(t, after(t, l), "the owner's hooks are not new")

	tree.Put("/w/Makefile", "x", 0)
	tree.Put("/w/package.json", "{}", 0)
	tree.Put("/w/src/b.c", "", 0)
	assert.Empty(t, after(t, l), "ordinary products")

	tree.Put("/w/.vscode/tasks.json", "new", 0)
	tree.Put("/w/sub/new/.envrc", "x", 0)
	tree.Put("/w/.github/workflows/ci.yml", "x", 0)
	assert.Equal(t, []string{"/w/.github/workflows/ci.yml automation", "/w/.vscode/tasks.json editor changed", "/w/sub/new/.envrc environment"}, after(t, l))
	assert.Empty(t, after(t, l), "named once")

	tree.Put("/w/sub/new/.envrc", "y", 0)
	assert.Equal(t, []string{"/w/sub/new/.envrc environment changed"}, after(t, l))
	tree.Drop("/w/sub/new/.envrc")
	assert.Empty(t, after(t, l))
	tree.Put("/w/sub/new/.envrc", "y", 0)
	assert.Equal(t, []string{"/w/sub/new/.envrc environment"}, after(t, l))
}

// DENY-01: a repository that a run made is looked into: what is harmless in it is not named.
func TestAfter_LooksIntoNewRepositories(t *testing.T) {
	tree := mem.New("/w")
	tree.Put("/w/a", "", 0)
	l := begin(t, tree, rules(t, "/w"), lookout.Bounds{})
	for _, r := range []string{"/w/r/.git/", "/w/node_modules/x/.git/", "/w/srv/"} {
		for _, n := range []string{"HEAD", "objects/ab/cd", "refs/heads/main", "description"} {
			tree.Put(r+n, "", 0)
		}
		tree.Put(r+"config", "[core]\n\tbare = false\n", 0)
		tree.Put(r+"hooks/pre-commit.sample", "#!/bin/sh\n", 0o755)
		tree.Put(r+"hooks/README", "x", 0)
	}
	assert.Empty(t, after(t, l), "as git init makes it")
	tree.Put("/w/r/.git/hooks/post-checkout", "#!/bin/sh\n", 0o755)
	tree.Put("/w/r/.git/config", "[core]\n\tfsmonitor = ./x\n[alias]\n\tst = !evil\n", 0)
	tree.Put("/w/node_modules/x/.git/config", "[core]\n\thooksPath = h\n", 0)
	tree.Put("/w/node_modules/x/.envrc", "inert there", 0)
	tree.Put("/w/srv/config", "[core]\n\tsshCommand = x\n", 0)
	tree.Put("/w/r/.git/modules/m/config", "[filter \"f\"]\n\tsmudge = x\n", 0)
	assert.Equal(t, []string{
		"/w/node_modules/x/.git/config git [core.hookspath] changed", "/w/r/.git/config git [core.fsmonitor alias.st] changed",
		"/w/r/.git/hooks/post-checkout git", "/w/r/.git/modules/m/config git [filter.f.smudge]", "/w/srv/config git [core.sshcommand] changed",
	}, after(t, l))
}

// A tool's write is judged at once, and not named again by the next run.
func TestWrote(t *testing.T) {
	tree := mem.New("/w")
	tree.Put("/w/.envrc", "old", 0)
	l := begin(t, tree, rules(t, "/w"), lookout.Bounds{})
	_, ok := l.Wrote(context.Background(), "/w/.envrc")
	assert.False(t, ok, "nothing changed")
	tree.Put("/w/.envrc", "new", 0)
	f, ok := l.Wrote(context.Background(), "/w/.envrc")
	assert.True(t, ok)
	assert.False(t, f.New)
	tree.Put("/w/new/.vscode/tasks.json", "", 0)
	f, ok = l.Wrote(context.Background(), "/w/new/.vscode/tasks.json")
	assert.True(t, ok)
	assert.True(t, f.New)
	tree.Put("/w/new/.npmrc", "fund=false", 0)
	_, ok = l.Wrote(context.Background(), "/w/new/.npmrc")
	assert.False(t, ok)
	_, ok = l.Wrote(context.Background(), "/w/none/.envrc")
	assert.False(t, ok)
	assert.Empty(t, after(t, l))
}

// What the bounds leave out is told.
func TestAfter_TellsWhatItDidNotSee(t *testing.T) {
	tree := mem.New("/w")
	l := begin(t, tree, rules(t, "/w"), lookout.Bounds{Dirs: 10, Entries: 30})
	for i := range 40 {
		tree.MkdirAll(fmt.Sprintf("/w/d%02d", i))
	}
	_, unseen, err := l.After(context.Background())
	require.NoError(t, err)
	assert.Equal(t, 10+21, unseen)
	ctx, stop := context.WithCancel(context.Background())
	stop()
	_, _, err = l.After(ctx)
	require.Error(t, err)
}

// On a real file system, where time is coarse: what changes right after a look is seen, links are not followed.
func TestAfter_OnDisk(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(dir+"/a/b", 0o755))
	tree, err := osroot.New([]string{dir}, osroot.Options{})
	require.NoError(t, err)
	defer tree.Close() //nolint:errcheck // a test
	l := begin(t, tree, rules(t, dir), lookout.Bounds{})
	for i := range 20 {
		p := fmt.Sprintf("%s/a/b/n%d", dir, i)
		require.NoError(t, os.Mkdir(p, 0o755))
		require.NoError(t, os.WriteFile(p+"/.envrc", nil, 0o600))
		assert.Equal(t, []string{p + "/.envrc environment"}, after(t, l))
	}
	require.NoError(t, os.Symlink("/etc", dir+"/a/.husky"))
	require.NoError(t, os.Symlink("/etc/passwd", dir+"/a/.gdbinit"))
	assert.Equal(t, []string{dir + "/a/.gdbinit debugger", dir + "/a/.husky hooks"}, after(t, l), "named, not followed")
}

func benchmark(b *testing.B, dirs int) {
	dir := b.TempDir()
	for i := range dirs {
		d := fmt.Sprintf("%s/p%d/q%d", dir, i/50, i%50)
		require.NoError(b, os.MkdirAll(d, 0o755))
		require.NoError(b, os.WriteFile(d+"/f.go", []byte("package p\n"), 0o600))
	}
	tree, err := osroot.New([]string{dir}, osroot.Options{})
	require.NoError(b, err)
	b.Cleanup(func() { _ = tree.Close() })
	l := begin(b, tree, rules(b, dir), lookout.Bounds{})
	require.NoError(b, os.WriteFile(dir+"/x", nil, 0o600))
	for b.Loop() {
		_, _, err := l.After(context.Background())
		require.NoError(b, err)
	}
}

func BenchmarkAfter_50Directories(b *testing.B)   { benchmark(b, 50) }
func BenchmarkAfter_5000Directories(b *testing.B) { benchmark(b, 5000) }

// SEC-INV-13: a file that the owner's tools reach by a symlink of the owner's is theirs to obey as well.
func TestAfter_WhatALinkLeadsTo(t *testing.T) {
	tree := mem.New("/w")
	tree.Put("/w/conf/env.sh", "old", 0)
	tree.Symlink("conf/env.sh", "/w/.envrc")
	tree.Symlink("conf/none.lua", "/w/.nvim.lua")
	l := begin(t, tree, rules(t, "/w"), lookout.Bounds{})
	assert.Empty(t, after(t, l))
	tree.Put("/w/conf/env.sh", "evil", 0)
	tree.Put("/w/conf/none.lua", "evil", 0)
	assert.Equal(t, []string{"/w/.envrc environment changed", "/w/.nvim.lua editor changed"}, after(t, l))
	assert.Empty(t, after(t, l), "named once")
	resumed := lookout.Resume(tree, l.State(), lookout.Bounds{})
	tree.Put("/w/conf/env.sh", "evil again", 0)
	assert.Equal(t, []string{"/w/.envrc environment changed"}, after(t, resumed))
}

// SEC-INV-13: what makes Git and editors look elsewhere is named, wherever that is.
func TestAfter_WhatLeadsElsewhere(t *testing.T) {
	tree := mem.New("/w")
	tree.Put("/w/.git/HEAD", "", 0)
	tree.Put("/w/mine/.git", "gitdir: ../.git/worktrees/mine", 0)
	l := begin(t, tree, rules(t, "/w"), lookout.Bounds{})
	assert.Empty(t, after(t, l))
	tree.Put("/w/a/.git", "gitdir: /home/me/.local/state/agent-mcp/cache/x/build/g", 0)
	tree.Symlink("/home/me/.local/state/agent-mcp/cache/x/build/g", "/w/b/.git")
	tree.Put("/w/conf/tasks.json", "{}", 0)
	tree.Symlink("conf", "/w/.vscode")
	tree.Put("/w/new/.git/HEAD", "", 0)
	tree.Put("/w/new/.git/commondir", "/w/conf", 0)
	tree.Symlink("../../conf", "/w/new/.git/hooks")
	tree.Put("/w/.git/worktrees/t/commondir", "../..", 0)
	assert.Equal(t, []string{
		"/w/.vscode editor", "/w/a/.git git", "/w/b/.git git", "/w/new/.git/commondir git [/w/conf]", "/w/new/.git/hooks git",
	}, after(t, l))
	tree.Put("/w/mine/.git", "gitdir: /evil", 0)
	assert.Equal(t, []string{"/w/mine/.git git changed"}, after(t, l))
}
