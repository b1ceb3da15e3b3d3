package gitguard_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/workspace/mem"
	"github.com/agent-mcp/agent-mcp/app/gitguard"
	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

func rules(tb testing.TB, workspace string) *policy.Policy {
	tb.Helper()
	p, f := policy.Build(policy.Input{
		Profile: policy.Development, Workspace: workspace, Mounts: []policy.MountInput{{Name: "docs", Path: "/docs", Access: policy.AccessRead}},
		Network: policy.NetworkInput{Mode: sandbox.NetworkNone}, Resources: policy.ResourceInput{Profile: "normal"}, Require: sandbox.Approximate,
	})
	require.Nil(tb, f)
	return p
}

// Git's programs and settings that exist when the Task starts are found wherever they lie.
func TestFind_WhatGitWouldObey(t *testing.T) {
	tree := mem.New("/w", "/docs")
	for _, p := range []string{
		"/w/.git/HEAD", "/w/.git/config", "/w/.git/hooks/pre-commit", "/w/.git/info/exclude", "/w/.git/objects/hooks/x", "/w/.git/refs/heads/config",
		"/w/.git/modules/sub/config", "/w/.git/modules/sub/hooks/x", "/w/.git/worktrees/wt/gitdir", "/w/.git/worktrees/wt/config.worktree",
		"/w/deep/er/repo/.git/config", "/w/srv.git/hooks/update", "/w/bare/HEAD", "/w/bare/objects/a", "/w/bare/refs/b", "/w/bare/config",
		"/w/plain/config", "/w/plain/hooks/x", "/w/store/gd/HEAD", "/w/store/common/config", "/w/store/common/hooks/x", "/docs/.git/config",
	} {
		tree.Put(p, "", 0)
	}
	tree.Put("/w/.git/worktrees/wt/commondir", "../..\n", 0)
	tree.Put("/w/linked/.git", "gitdir: ../store/gd\n", 0)
	tree.Put("/w/store/gd/commondir", "/w/store/common", 0)
	tree.Put("/w/away/.git", "gitdir: /etc/elsewhere\n", 0)
	tree.Symlink("/w", "/w/loop")
	tree.Put("/w/husky/.git/config", "[user]\n\tpath = x\n[core]\n\thooksPath = \".hus\\ky\" ; ours\n[include]\n\tpath = ../team.cfg # all\n[includeIf \"x\"] path = /docs/a\n", 0)
	tree.Put("/w/husky/.husky/pre-commit", "", 0)
	tree.Put("/w/husky/team.cfg", "", 0)
	tree.Put("/w/githooks/pre-push", "", 0)
	tree.Symlink("../githooks", "/w/mine.git/hooks")
	found, err := gitguard.New(tree, rules(t, "/w"), gitguard.Bounds{}).Find(context.Background())
	require.NoError(t, err)
	assert.Equal(t, []string{
		"/w/.git/config", "/w/.git/hooks", "/w/.git/modules/sub/config", "/w/.git/modules/sub/hooks", "/w/.git/worktrees/wt/commondir",
		"/w/.git/worktrees/wt/config.worktree", "/w/.git/worktrees/wt/gitdir", "/w/away/.git", "/w/bare/config", "/w/deep/er/repo/.git/config",
		"/w/githooks", "/w/husky/.git/config", "/w/husky/.husky", "/w/husky/team.cfg",
		"/w/linked/.git", "/w/mine.git/hooks", "/w/srv.git/hooks", "/w/store/common/config", "/w/store/common/hooks", "/w/store/gd/commondir",
	}, found.Protect)
	assert.Empty(t, found.Refused)
	assert.Zero(t, found.Unseen)
}

// DENY-01: a commondir where Git makes none is a process's, whatever the process moved away; Git's own stays, whatever a
// process puts beside it. It is put aside, nothing is protected through it, and afterwards no process may make it.
func TestFind_RefusesARedirectionThatGitDidNotMake(t *testing.T) {
	const whole, linked = "HEAD config objects/a refs/b", "HEAD gitdir"
	for _, tt := range []struct {
		name, dir, has string
		refused        bool
	}{
		{"a repository", "/w/.git", whole, true},
		{"its objects were moved away", "/w/.git", "HEAD config", true},
		{"it has no settings", "/w/.git", "HEAD objects/a refs/b", true},
		{"a bare one", "/w/srv", whole, true},
		{"a submodule", "/w/.git/modules/m", whole, true},
		{"a repository in a directory of that name", "/w/worktrees/.git", whole, true},
		{"a linked worktree", "/w/.git/worktrees/wt", linked, false},
		{"a linked worktree of a submodule", "/w/.git/modules/m/worktrees/wt", linked, false},
		{"a linked worktree that was given the looks", "/w/.git/worktrees/wt", linked + " " + whole, false},
		{"a linked worktree of a bare one", "/w/srv/worktrees/wt", linked + " " + whole, false},
		{"neither settings nor objects", "/w/x.git", linked, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tree := mem.New("/w", "/docs")
			for _, base := range []string{"/w/.git/", "/w/srv/"} {
				for name := range strings.FieldsSeq(whole) {
					tree.Put(base+name, "", 0)
				}
			}
			if !strings.HasPrefix(tt.dir, "/w/.git/") {
				tree.Drop("/w/.git")
			}
			tree.Drop(tt.dir)
			for name := range strings.FieldsSeq(tt.has) {
				tree.Put(tt.dir+"/"+name, "", 0)
			}
			redirection := tt.dir + "/commondir"
			tree.Put(redirection, "/w/evil\n", 0)
			tree.Put("/w/evil/config", "", 0)
			g := gitguard.New(tree, rules(t, "/w"), gitguard.Bounds{})
			found, err := g.Find(context.Background())
			require.NoError(t, err)
			assert.Contains(t, found.Protect, redirection)
			assert.Equal(t, !tt.refused, slices.Contains(found.Protect, "/w/evil/config"), "what it leads to")
			if !tt.refused {
				assert.Empty(t, found.Refused)
				return
			}
			require.Equal(t, []string{redirection}, found.Refused)
			to, err := g.PutAside(context.Background(), redirection)
			require.NoError(t, err)
			assert.Equal(t, redirection+".refused", to)
			assert.Equal(t, "/w/evil\n", tree.Snapshot()[to], "nothing is lost")
			found, err = g.Find(context.Background())
			require.NoError(t, err)
			assert.Empty(t, found.Refused)
			assert.NotContains(t, found.Protect, redirection)

			tree.Put(redirection, "again", 0)
			swept, err := g.Sweep(context.Background())
			require.NoError(t, err)
			assert.Equal(t, []gitguard.Aside{{From: redirection, To: redirection + ".refused-2"}}, swept)
		})
	}
}

// DENY-01: a process that takes every name beforehand keeps nothing in Git's sight.
func TestSweep_NamesThatAreTaken(t *testing.T) {
	tree := mem.New("/w", "/docs")
	for _, f := range []string{"HEAD", "config", "objects/a", "refs/b", "hooks.refused/x"} {
		tree.Put("/w/.git/"+f, "", 0)
	}
	for n := range 300 {
		tree.Put(fmt.Sprint("/w/.git/hooks.refused-", n), "", 0)
	}
	g := gitguard.New(tree, rules(t, "/w"), gitguard.Bounds{})
	_, err := g.Find(context.Background())
	require.NoError(t, err)
	tree.Put("/w/.git/hooks/pre-commit", "evil", 0)
	swept, err := g.Sweep(context.Background())
	require.NoError(t, err)
	require.Len(t, swept, 1)
	assert.NotContains(t, tree.Snapshot(), "/w/.git/hooks/pre-commit")
	assert.Equal(t, "evil", tree.Snapshot()[swept[0].To+"/pre-commit"])
}

// DENY-01: what an earlier Task's process moved away makes a repository no other thing.
func TestFind_ARepositoryThatWasTakenApart(t *testing.T) {
	for _, away := range []string{"HEAD", "objects", "refs", "HEAD refs", "objects HEAD", "objects refs"} {
		tree := mem.New("/w", "/docs")
		for _, dir := range []string{"/w/bare", "/w/plain/.git"} {
			for _, f := range []string{"HEAD", "config", "hooks/x", "objects/a", "refs/b"} {
				if !slices.Contains(strings.Fields(away), strings.Split(f, "/")[0]) {
					tree.Put(dir+"/"+f, "", 0)
				}
			}
		}
		g := gitguard.New(tree, rules(t, "/w"), gitguard.Bounds{})
		found, err := g.Find(context.Background())
		require.NoError(t, err)
		assert.Equal(t, []string{"/w/bare/config", "/w/bare/hooks", "/w/plain/.git/config", "/w/plain/.git/hooks"}, found.Protect, away)
		tree.Put("/w/plain/.git/commondir", "/w/evil", 0)
		swept, err := g.Sweep(context.Background())
		require.NoError(t, err)
		assert.Len(t, swept, 1, away)
	}
}

// DENY-01: hooks and settings that the owner's configuration names and that are not there may not come from a process either.
func TestSweep_WhatASettingNamesAndIsNotThere(t *testing.T) {
	tree := mem.New("/w", "/docs")
	for _, f := range []string{"HEAD", "objects/a", "refs/b"} {
		tree.Put("/w/.git/"+f, "", 0)
	}
	tree.Put("/w/.git/config", "[core]\n\thooksPath = tools/./githooks\n[include]\n\tpath = ../team.cfg\n\tpath = /etc/x\n\tpath = /docs/x\n", 0)
	tree.Symlink("../shared-hooks", "/w/.git/hooks")
	g := gitguard.New(tree, rules(t, "/w"), gitguard.Bounds{})
	_, err := g.Find(context.Background())
	require.NoError(t, err)
	assert.NotContains(t, g.Absent(), "/etc/x")
	assert.NotContains(t, g.Absent(), "/docs/x", "no process writes there")
	for _, p := range []string{"/w/tools/githooks/pre-commit", "/w/team.cfg", "/w/shared-hooks/pre-push"} {
		tree.Put(p, "evil", 0o755)
	}
	swept, err := g.Sweep(context.Background())
	require.NoError(t, err)
	var from []string
	for _, s := range swept {
		from = append(from, s.From)
	}
	assert.ElementsMatch(t, []string{"/w/shared-hooks", "/w/team.cfg", "/w/tools/githooks"}, from)

	tree.MkdirAll("/w/elsewhere/githooks")
	tree.Drop("/w/tools")
	tree.Symlink("elsewhere", "/w/tools")
	_, err = g.Sweep(context.Background())
	assert.ErrorContains(t, err, "workspace.failed", "what is reached another way is told")
}

// FS-05: where the owner gave no right to write, nothing is renamed; it is reported and led nowhere all the same.
func TestPutAside_LeavesWhatMayNotBeWritten(t *testing.T) {
	tree := mem.New("/w", "/docs")
	for _, p := range []string{"/docs/.git/HEAD", "/docs/.git/config", "/docs/.git/objects/a", "/docs/.git/commondir"} {
		tree.Put(p, "", 0)
	}
	tree.Put("/w/.git", "gitdir: /docs/.git", 0)
	g := gitguard.New(tree, rules(t, "/w"), gitguard.Bounds{})
	found, err := g.Find(context.Background())
	require.NoError(t, err)
	require.Equal(t, []string{"/docs/.git/commondir"}, found.Refused)
	_, err = g.PutAside(context.Background(), "/docs/.git/commondir")
	require.ErrorIs(t, err, fault.New(policy.CodeDenied))
	assert.Contains(t, tree.Snapshot(), "/docs/.git/commondir")
	found, err = g.Find(context.Background())
	require.NoError(t, err)
	assert.Empty(t, found.Refused)
	assert.Contains(t, found.Protect, "/docs/.git/commondir")
}

// A bound that cuts the look is told, and what has a ".git" is looked into before what has none, at every depth.
func TestFind_TellsWhatItDidNotSee(t *testing.T) {
	tree := mem.New("/w", "/docs")
	for i := range 40 {
		tree.MkdirAll(fmt.Sprintf("/w/!%02d", i))
	}
	for _, p := range []string{
		"/w/repo/.git/config", "/w/repo/mod/.git/config", "/w/repo/mod/deep/.git/config", "/w/zz/hidden/.git/config",
	} {
		tree.Put(p, "", 0)
	}
	find := func(b gitguard.Bounds) gitguard.Found {
		found, err := gitguard.New(tree, rules(t, "/w"), b).Find(context.Background())
		require.NoError(t, err)
		return found
	}
	seen := []string{"/w/repo/.git/config", "/w/repo/mod/.git/config", "/w/repo/mod/deep/.git/config"}
	found := find(gitguard.Bounds{Dirs: 20})
	assert.Equal(t, seen, found.Protect)
	assert.Equal(t, 44-(20-1-3), found.Unseen, "the bound takes the root and the Git directories too")

	found = find(gitguard.Bounds{Entries: 10})
	assert.Equal(t, 42-10, found.Unseen, "names that a listing leaves out")

	found = find(gitguard.Bounds{})
	assert.Equal(t, append(seen, "/w/zz/hidden/.git/config"), found.Protect)
	assert.Zero(t, found.Unseen)

	ctx, stop := context.WithCancel(context.Background())
	stop()
	g := gitguard.New(tree, rules(t, "/w"), gitguard.Bounds{})
	_, err := g.Find(ctx)
	require.ErrorIs(t, err, fault.New(fault.CodeCancelled))
	found, err = g.Find(context.Background())
	require.NoError(t, err)
	assert.Len(t, found.Protect, 4, "a look that was cut off is done again")
}

func BenchmarkFind(b *testing.B) {
	tree := mem.New("/w", "/docs")
	for i := range 1000 {
		tree.Put("/w/pkg/"+strings.Repeat("d/", i%8)+string(rune('a'+i%26))+"/f"+strings.Repeat("x", i%10), "", 0)
	}
	for b.Loop() {
		if _, err := gitguard.New(tree, rules(b, "/w"), gitguard.Bounds{}).Find(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}
