package toolbox_test

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/core/trigger"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// DENY-01, SEC-INV-13: what a real process leaves for the owner's own tools is named in the result, for the status and in the
// Audit; the owner's own, and what everybody makes, is not.
func TestObeyed_WhatAProcessLeaves(t *testing.T) {
	need(t, "git")
	s := newScripted(t, policy.NetworkInput{Mode: sandbox.NetworkNone})
	require.NoError(t, os.WriteFile(s.at("w/.envrc"), []byte("export OWNERS=1\n"), 0o644))
	run := func(script string) tool.Result {
		s.log.all = nil
		r := s.box.Do(context.Background(), audit.Ref{}, tool.Call{Name: tool.Run, Alias: "bash", Args: []string{"-c", script}, TimeoutSec: 60})
		require.Nil(t, r.Fault, r.Text)
		return r
	}
	r := run("git init -q new && cd new && git commit -q --allow-empty -m x 2>/dev/null; echo all: > Makefile; echo '{}' > package.json; true")
	assert.Empty(t, r.Obeyed, r.Text)

	r = run("cd new && git config core.fsmonitor ./evil && git config alias.st '!evil' && echo '#!/bin/sh' > .git/hooks/post-checkout && chmod +x .git/hooks/post-checkout" +
		" && mkdir -p ../d/.vscode && echo '{}' > ../d/.vscode/tasks.json && echo evil >> ../.envrc")
	assert.ElementsMatch(t, []tool.Obeyed{
		{Path: ".envrc", Kind: trigger.Environment},
		{Path: "d/.vscode/tasks.json", Kind: trigger.Editor},
		{Path: "new/.git/config", Kind: trigger.Git},
		{Path: "new/.git/hooks/post-checkout", Kind: trigger.Git},
	}, r.Obeyed, r.Text)
	assert.Contains(t, r.Text, "tell the user: new/.git/config is changed (core.fsmonitor, alias.st), and outside the sandbox Git runs programs that these settings name")
	assert.Contains(t, r.Text, "tell the user: .envrc is changed, and outside the sandbox direnv runs it when a shell enters the directory")
	var recorded []string
	for _, rec := range s.log.all {
		if f := rec.Fields(); rec.Kind == audit.KindTrigger {
			recorded = append(recorded, f["path"].(string))
		}
	}
	assert.ElementsMatch(t, []string{s.at("w/.envrc"), s.at("w/d/.vscode/tasks.json"), s.at("w/new/.git/config"), s.at("w/new/.git/hooks/post-checkout")}, recorded)
	assert.Empty(t, run("true").Obeyed, "named once")
	r = s.box.Do(context.Background(), audit.Ref{}, tool.Call{Name: tool.Write, Path: ".github/workflows/ci.yml", Content: "on: push\n"})
	assert.Equal(t, []tool.Obeyed{{Path: ".github/workflows/ci.yml", Kind: trigger.Automation}}, r.Obeyed, "a tool's write as well")
	assert.Empty(t, run("true").Obeyed)
}
