package toolbox_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/ident/sequence"
	"github.com/agent-mcp/agent-mcp/adapters/image/file"
	"github.com/agent-mcp/agent-mcp/adapters/workspace/osroot"
	"github.com/agent-mcp/agent-mcp/app/toolbox"
	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/core/trigger"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// closing is a workspace with an owner's repository that has no hooks, and Tasks whose bash takes modes away.
type closing struct {
	t    *testing.T
	dir  string
	open func() *toolbox.Box
}

func newClosing(t *testing.T) *closing {
	t.Helper()
	if os.Geteuid() == 0 {
		t.Skip("nothing is closed to root")
	}
	sb, report := confined(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	c := &closing{t: t, dir: dir}
	t.Cleanup(func() {
		_ = filepath.WalkDir(dir, func(p string, _ os.DirEntry, _ error) error { _ = os.Chmod(p, 0o755); return nil }) //nolint:gosec // a test's own
	})
	for _, d := range []string{"objects", "refs"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, ".git", d), 0o755))
	}
	for _, f := range []string{"HEAD", "config"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, ".git", f), nil, 0o644))
	}
	id, err := file.New().Identify(context.Background(), "/bin/bash")
	require.NoError(t, err)
	p, f := policy.Build(policy.Input{
		Profile: policy.Development, Workspace: dir, Entries: []policy.Entry{{Alias: "bash", Path: id.Path, SHA256: id.SHA256}}, Baseline: report.Baseline,
		Network: policy.NetworkInput{Mode: sandbox.NetworkNone}, Resources: policy.ResourceInput{Profile: "normal"}, Require: sandbox.Approximate,
	})
	require.Nil(t, f)
	c.open = func() *toolbox.Box {
		tree, err := osroot.New([]string{dir}, osroot.Options{})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, tree.Close()) })
		box := toolbox.New(toolbox.Config{Policy: p, Tree: tree, Sandbox: sb, Images: file.New(), Ident: sequence.New()})
		t.Cleanup(func() { require.NoError(t, box.Close()) })
		return box
	}
	return c
}

func (c *closing) at(name string) string { return c.dir + "/" + name }

func (c *closing) run(box *toolbox.Box, script string) tool.Result {
	c.t.Helper()
	r := box.Do(context.Background(), audit.Ref{}, tool.Call{Name: tool.Run, Alias: "bash", Args: []string{"-c", script}, TimeoutSec: 60})
	require.Nil(c.t, r.Fault, r.Text)
	return r
}

const evilHook = "mkdir .git/hooks && echo '#!/bin/sh' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit; "

// DENY-01: a process that closes a repository behind it keeps no hook in it.
func TestClosed_ARepositoryIsSweptAllTheSame(t *testing.T) {
	for name, script := range map[string]string{
		"no more writing":        "chmod 555 .git",
		"no more looking":        "chmod 311 .git/hooks; chmod 511 .git",
		"nothing at all":         "chmod 0 .git/hooks .git",
		"the whole workspace":    "chmod 0 .git .",
		"the workspace, by half": "chmod 444 .",
	} {
		t.Run(name, func(t *testing.T) {
			c := newClosing(t)
			r := c.run(c.open(), evilHook+script)
			assert.Contains(t, r.Text, "renamed .git/hooks to .git/hooks.refused")
			assert.NoDirExists(t, c.at(".git/hooks"))
		})
	}
}

// SEC-INV-13: what lies in a directory that cannot be listed is found by name; the directory is named, once, and what it
// held when it is open again.
func TestClosed_ADirectoryIsNamed(t *testing.T) {
	c := newClosing(t)
	box := c.open()
	hidden := func(p string) tool.Obeyed { return tool.Obeyed{Path: p, Kind: trigger.Hidden} }
	r := c.run(box, "mkdir -p d e/f g; echo x > d/.envrc; chmod 311 d; chmod 0 e/f; touch g/x; chmod 444 g")
	assert.Equal(t, []tool.Obeyed{hidden("d"), hidden("e/f"), hidden("g")}, r.Obeyed, r.Text)
	r = c.run(box, "true")
	assert.Empty(t, r.Obeyed, "named once")
	r = c.run(box, "chmod 755 d")
	assert.Equal(t, []tool.Obeyed{{Path: "d/.envrc", Kind: trigger.Environment}}, r.Obeyed, r.Text)
}

// DENY-01: a repository that an earlier Task's process closed is kept as it is, whole: the next one cannot open it, give it
// hooks and close it again.
func TestClosed_ARepositoryIsKeptByTheNextTask(t *testing.T) {
	for name, mode := range map[string]string{"no looking": "311", "nothing": "0"} {
		for _, place := range []string{".git", "."} {
			t.Run(name+" "+place, func(t *testing.T) {
				c := newClosing(t)
				require.NoError(t, os.MkdirAll(c.at("sub/.git/hooks"), 0o755))
				require.NoError(t, os.WriteFile(c.at("sub/.git/HEAD"), nil, 0o644))
				shut := filepath.Join("sub", place)
				c.run(c.open(), "chmod "+mode+" "+shut)
				c.run(c.open(), "chmod 755 "+shut+"; echo evil > sub/.git/hooks/pre-commit; echo evil > sub/.git/config; mv sub sub2; mkdir -p sub/.git/hooks; echo evil > sub/.git/hooks/pre-commit; true")
				require.NoError(t, os.Chmod(c.at(shut), 0o755))
				assert.NoFileExists(t, c.at("sub/.git/hooks/pre-commit"))
				assert.NoFileExists(t, c.at("sub/.git/config"))
			})
		}
	}
}

// DENY-01: what is kept stays kept for the next run of the same Task, whatever the last one closed.
func TestClosed_WhatIsKeptStaysKept(t *testing.T) {
	for name, closed := range map[string]string{"its directory": "sub/.git", "what leads to it": "sub", "a linked tree": "sub/linked", "the workspace": "."} {
		for _, mode := range []string{"0", "444"} {
			t.Run(name+" "+mode, func(t *testing.T) {
				c := newClosing(t)
				require.NoError(t, os.MkdirAll(c.at("sub/.git/hooks"), 0o755))
				require.NoError(t, os.WriteFile(c.at("sub/.git/HEAD"), nil, 0o644))
				require.NoError(t, os.WriteFile(c.at("sub/.git/config"), []byte("owner"), 0o644))
				require.NoError(t, os.WriteFile(c.at("sub/team.cfg"), []byte("owner"), 0o644))
				require.NoError(t, os.WriteFile(c.at(".git/config"), []byte("[include]\n\tpath = ../sub/team.cfg\n"), 0o644))
				require.NoError(t, os.MkdirAll(c.at("sub/linked"), 0o755))
				require.NoError(t, os.WriteFile(c.at("sub/linked/.git"), []byte("gitdir: ../.git\n"), 0o644))
				box := c.open()
				c.run(box, "true")
				c.run(box, "chmod "+mode+" "+closed)
				box.Do(context.Background(), audit.Ref{}, tool.Call{Name: tool.Run, Alias: "bash", Args: []string{"-c", "chmod 755 . sub sub/.git sub/linked; echo evil > sub/team.cfg; rm -f sub/linked/.git; echo evil > sub/linked/.git; echo evil > sub/.git/hooks/pre-commit; echo evil > sub/.git/config; rm -rf sub/.git/hooks; mv sub sub2; true"}, TimeoutSec: 60})
				for _, d := range []string{".", "sub", "sub/.git", "sub/linked"} {
					require.NoError(t, os.Chmod(c.at(d), 0o755))
				}
				assert.NoFileExists(t, c.at("sub/.git/hooks/pre-commit"))
				assert.DirExists(t, c.at("sub/.git/hooks"))
				for file, want := range map[string]string{"sub/.git/config": "owner", "sub/team.cfg": "owner", "sub/linked/.git": "gitdir: ../.git\n"} {
					text, err := os.ReadFile(c.at(file))
					require.NoError(t, err)
					assert.Equal(t, want, string(text), file)
				}
			})
		}
	}
}
