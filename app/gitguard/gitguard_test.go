package gitguard_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/workspace/mem"
	"github.com/agent-mcp/agent-mcp/app/gitguard"
	"github.com/agent-mcp/agent-mcp/core/policy"
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
		"/w/plain/config", "/w/plain/hooks/x", "/w/store/gd/config", "/w/store/common/config", "/w/store/common/hooks/x", "/docs/.git/config",
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
		"/w/linked/.git", "/w/mine.git/hooks", "/w/srv.git/hooks", "/w/store/common/config", "/w/store/common/hooks", "/w/store/gd/commondir", "/w/store/gd/config",
	}, found)
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
