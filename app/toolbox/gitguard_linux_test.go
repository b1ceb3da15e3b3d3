package toolbox_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/app/gitguard"
	"github.com/agent-mcp/agent-mcp/conformance/sandboxtest"
	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/core/tool"
)

// DENY-01: what a Git directory lacks, a process cannot give it: "commondir" alone would turn all of the owner's settings
// and hooks into the process's own. It is put aside, not lost.
func TestVerdict_ProcessesGiveGitNothing(t *testing.T) {
	sb, report := confined(t)
	s := newStage(t, sb, report)
	r := s.box.Do(context.Background(), audit.Ref{}, tool.Call{
		Name: tool.Run, Alias: sandboxtest.ProbeName, TimeoutSec: 60,
		Args: []string{"write|" + s.at("w/.git/commondir"), "mkdir|" + s.at("w/sub/.git/hooks")},
	})
	require.Nil(t, r.Fault, r.Text)
	assert.NoFileExists(t, s.at("w/.git/commondir"))
	assert.FileExists(t, s.at("w/.git/commondir.refused"))
	assert.Contains(t, r.Text, "only the owner may give")
	// A directory without HEAD is no repository; from here on it is one.
	require.NoError(t, os.WriteFile(s.at("w/sub/.git/HEAD"), []byte("ref: refs/heads/main\n"), 0o644))
	s.open(sb, report)
	r = s.box.Do(context.Background(), audit.Ref{}, tool.Call{
		Name: tool.Run, Alias: sandboxtest.ProbeName, TimeoutSec: 60,
		Args: []string{"write|" + s.at("w/.git/commondir"), "write|" + s.at("w/sub/.git/commondir"), "write|" + s.at("w/sub/.git/config.worktree")},
	})
	require.Nil(t, r.Fault, r.Text)
	assert.NoFileExists(t, s.at("w/.git/commondir"))
	assert.FileExists(t, s.at("w/.git/commondir.refused-2"))
	assert.NoFileExists(t, s.at("w/sub/.git/commondir"))
	assert.NoFileExists(t, s.at("w/sub/.git/config.worktree"))

	require.NoError(t, os.WriteFile(s.at("w/sub/.git/commondir"), []byte("../../.git\n"), 0o644)) // the owner's own, meanwhile
	out := s.processes("write|" + s.at("w/sub/.git/commondir"))
	assert.NotContains(t, out["write|"+s.at("w/sub/.git/commondir")+"|evil"], "ok")
	assert.FileExists(t, s.at("w/sub/.git/commondir"))
}

// DENY-01: the Broker died before it could sweep: what a process left is no more the owner's for the next Task, neither
// for its processes nor for the owner's own Git.
func TestVerdict_WhatAProcessLeftIsNotTheOwners(t *testing.T) {
	sb, report := confined(t)
	s := newStage(t, sb, report)
	require.NoError(t, os.WriteFile(s.at("w/.git/commondir"), []byte("../full\n"), 0o644))
	s.open(sb, report)
	r := s.box.Do(context.Background(), audit.Ref{}, tool.Call{
		Name: tool.Run, Alias: sandboxtest.ProbeName, TimeoutSec: 60,
		Args: []string{"write|" + s.at("w/.git/commondir") + "|again", "write|" + s.at("w/.git/config") + "|evil", "write|" + s.at("w/wt/.git") + "|evil"},
	})
	require.Nil(t, r.Fault, r.Text)
	assert.Contains(t, r.Text, "renamed .git/commondir to .git/commondir.refused: ")
	assert.Contains(t, r.Text, "renamed .git/commondir to .git/commondir.refused-2: ")
	assert.NoFileExists(t, s.at("w/.git/commondir"))
	after := s.snapshot()
	assert.Equal(t, "../full\n", after["/w/.git/commondir.refused"])
	assert.Equal(t, "[core]\n", after["/w/.git/config"])
	assert.Equal(t, "../..\n", after["/w/.git/worktrees/wt/commondir"], "Git's own stays")
}

// DENY-01: a ".git", hooks or config that is a symlink stays that symlink, also for processes.
func TestVerdict_GitSymlinksStay(t *testing.T) {
	sb, report := confined(t)
	s := newStage(t, sb, report)
	require.NoError(t, os.Rename(s.at("w/.git"), s.at("w/real")))
	require.NoError(t, os.Symlink("real", s.at("w/.git")))
	require.NoError(t, os.Rename(s.at("w/real/hooks"), s.at("w/shared")))
	require.NoError(t, os.Symlink("../shared", s.at("w/real/hooks")))
	s.open(sb, report)
	before := s.snapshot()
	s.processes("remove|"+s.at("w/.git"), "remove|"+s.at("w/real/hooks"), "write|"+s.at("w/shared/pre-commit")+"|evil", "write|"+s.at("w/.git/config")+"|evil")
	assert.Equal(t, before, s.snapshot())
}

// DENY-01, PRC-08: neither a flood of names nor a name that is no text takes the protection, or the sandbox, away.
func TestVerdict_GuardSurvivesFloods(t *testing.T) {
	sb, report := confined(t)
	s := newStage(t, sb, report)
	s.box.BoundGuard(gitguard.Bounds{Dirs: 60})
	for i := range 100 {
		require.NoError(t, os.Mkdir(fmt.Sprintf("%s/!%d", s.at("w"), i), 0o755))
	}
	odd := s.at("w/b\xff")
	require.NoError(t, os.MkdirAll(filepath.Join(odd, ".git"), 0o755))
	require.NoError(t, os.WriteFile(odd+"/.git/config", []byte("[core]\n"), 0o644))
	r := s.box.Do(context.Background(), audit.Ref{}, tool.Call{Name: tool.Mkdir, Path: "new"})
	require.Contains(t, r.Text, "not seen", "the flood is larger than the bound")
	out := s.processes("write|"+s.at("w/.git/config")+"|evil", "write|"+s.at("w/sub/.git/config")+"|evil")
	for verb, words := range out {
		assert.NotContains(t, words, "ok", verb)
	}
	b, err := os.ReadFile(s.at("w/.git/config"))
	require.NoError(t, err)
	assert.Equal(t, "[core]\n", string(b))
}
