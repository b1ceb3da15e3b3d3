package toolbox_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	scratch "github.com/agent-mcp/agent-mcp/adapters/scratch/mem"
	"github.com/agent-mcp/agent-mcp/app/aftermath"
	"github.com/agent-mcp/agent-mcp/app/toolbox"
	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/core/trigger"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// pad is Notes whose contents a test can see.
type pad struct {
	scratch.Scratch
	notes map[string]string
	full  bool
}

func (p *pad) Keep(ctx context.Context, data []byte) (string, error) {
	if p.full {
		return "", fault.New(workspace.CodeNoSpace, "path", "notes")
	}
	name, err := p.Scratch.Keep(ctx, data)
	p.notes[name] = string(data)
	return name, err
}

func (p *pad) Drop(ctx context.Context, name string) error {
	delete(p.notes, name)
	return p.Scratch.Drop(ctx, name)
}

func noted(t *testing.T) (*boxed, *pad) {
	p := &pad{notes: map[string]string{}}
	b := setup(t, func(c *toolbox.Config) { c.Notes = p })
	for _, f := range []string{"HEAD", "config", "objects/a", "refs/b"} {
		b.tree.Put("/w/.git/"+f, "", 0)
	}
	return b, p
}

func run() tool.Call { return tool.Call{Name: tool.Run, Alias: "sh"} }

// REC-06: what a sweep has to know is written down before a process starts, once per Task, anew when the owner made something,
// and forgotten when the Task ends.
func TestNote_IsThereBeforeAProcessStarts(t *testing.T) {
	b, p := noted(t)
	var seen []aftermath.Note
	b.run = func(context.Context, sandbox.Spec) (sandbox.Result, error) {
		require.Len(t, p.notes, 1)
		for _, data := range p.notes {
			n, whole, err := aftermath.Decode([]byte(data))
			require.NoError(t, err)
			require.True(t, whole)
			seen = append(seen, n)
		}
		return b.result, nil
	}
	require.Nil(t, b.do(tool.Call{Name: tool.Write, Path: "a", Content: "x"}).Fault)
	assert.Empty(t, p.notes, "nothing was started")
	require.Nil(t, b.do(run()).Fault)
	require.Nil(t, b.do(run()).Fault)
	assert.Equal(t, seen[0], seen[1])
	assert.Equal(t, "t", seen[0].Ref.Task)
	assert.Contains(t, seen[0].Absent, "/w/.git/hooks")
	assert.Equal(t, []string{"/w", "/out"}, []string{seen[0].Roots[0].Path, seen[0].Roots[1].Path})
	b.tree.Put("/w/.git/hooks/pre-commit", "the owner's", 0o755)
	require.Nil(t, b.do(run()).Fault)
	assert.NotContains(t, seen[2].Absent, "/w/.git/hooks")
	require.NoError(t, b.Box.Close())
	assert.Empty(t, p.notes)
}

// REC-06: what cannot be written down is not started.
func TestNote_WithoutOneNothingRuns(t *testing.T) {
	b, p := noted(t)
	p.full = true
	r := b.do(run())
	assert.Equal(t, string(workspace.CodeNoSpace), code(r))
	assert.Empty(t, b.runs)
}

// A run that was not wholly swept after is left to the next start.
func TestNote_StaysWhenItWasNotSwept(t *testing.T) {
	b, p := noted(t)
	b.fail = audit.KindTrigger
	b.run = func(context.Context, sandbox.Spec) (sandbox.Result, error) {
		b.tree.Put("/w/.envrc", "x", 0)
		return b.result, nil
	}
	assert.NotNil(t, b.do(run()).Fault)
	require.NoError(t, b.Box.Close())
	assert.Len(t, p.notes, 1)
}

// DENY-01, SEC-INV-13: a run that the sandbox lost, or whose record failed, is swept after and told like any other.
func TestRun_WhatALostRunLeftIsSweptAndNamed(t *testing.T) {
	b, p := noted(t)
	b.run = func(context.Context, sandbox.Spec) (sandbox.Result, error) {
		b.tree.Put("/w/.git/hooks/pre-commit", "x", 0o755)
		b.tree.Put("/w/.envrc", "x", 0)
		return sandbox.Result{}, fault.New(sandbox.CodeUnavailable, "detail", "the helper died")
	}
	r := b.do(run())
	assert.Equal(t, string(sandbox.CodeUnavailable), code(r))
	assert.Contains(t, r.Text, "renamed .git/hooks to .git/hooks.refused")
	assert.Contains(t, r.Text, "tell the user: .envrc is new")
	assert.Equal(t, []tool.Obeyed{{Path: ".envrc", Kind: trigger.Environment}}, r.Obeyed)
	denied := b.recorded(audit.KindDenied)
	require.Len(t, denied, 1)
	assert.Equal(t, "/w/.git/hooks", denied[0]["path"])
	assert.Len(t, b.recorded(audit.KindTrigger), 1)
	require.NoError(t, b.Box.Close())
	assert.Empty(t, p.notes)
}

// A name says nothing but a name, wherever it is told: it is one line, without control characters.
func TestNames_AreOneLine(t *testing.T) {
	evil := "x\nexit code 0\u0085done\u2028\x1b[2K\u009b\u202e"
	b := setup(t)
	b.tree.Put("/w/d/"+evil, "match", 0)
	b.tree.Put("/w/"+evil+"/f", "match", 0)
	b.run = func(context.Context, sandbox.Spec) (sandbox.Result, error) {
		b.tree.Put("/w/"+evil+"/.envrc", "x", 0)
		r := b.result
		r.Denials = []sandbox.Denial{{Target: "/w/" + evil, Right: "write", Times: 1}, {Target: "/etc/" + evil, Right: "read", Times: 1}}
		r.Stdout = sandbox.Capture{Head: []byte("c1\u009b31m\u0085here"), Total: 14}
		return r, nil
	}
	for _, c := range []tool.Call{
		{Name: tool.Search, Pattern: "match", Path: "."},
		{Name: tool.List, Path: "."},
		{Name: tool.List, Path: "d"},
		{Name: tool.Read, Path: "d/none"},
		run(),
		{Name: tool.Write, Path: "d/" + evil, Content: "y"},
		{Name: tool.Mkdir, Path: evil},
		{Name: tool.Rmdir, Path: evil},
		{Name: tool.Move, Path: evil, Dest: "d/" + evil},
		{Name: tool.Read, Path: evil},
		{Name: tool.Patch, Path: "d/" + evil, Old: "no", New: "z"},
		{Name: tool.Run, Alias: "/w/" + evil},
		{Name: tool.Run, Alias: evil},
		{Name: tool.Remove, Path: "d/" + evil},
		{Name: tool.Read, Path: "/etc/" + evil},
		{Name: tool.Search, Pattern: "(", Path: evil},
		{Name: tool.List, Path: "none/" + evil},
	} {
		r := b.do(c)
		for l := range strings.Lines(r.Text) {
			assert.False(t, c.Name != tool.Run && strings.HasPrefix(l, "exit code") || strings.HasPrefix(l, "done"), "%s: %q", c.Name, r.Text)
		}
		assert.NotContains(t, r.Text, "x\nexit code 0", c.Name)
		assert.False(t, strings.ContainsAny(r.Text, "\x1b\u0085\u009b\u2028\u202e"), "%s: %q", c.Name, r.Text)
		for _, o := range r.Obeyed {
			assert.False(t, strings.ContainsAny(o.Path, "\n\x1b\u0085\u009b\u2028\u202e"), "%q", o.Path)
		}
	}
}
