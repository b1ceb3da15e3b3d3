package toolbox_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/ident/sequence"
	"github.com/agent-mcp/agent-mcp/adapters/image/file"
	"github.com/agent-mcp/agent-mcp/adapters/sandbox/linux"
	"github.com/agent-mcp/agent-mcp/adapters/workspace/osroot"
	"github.com/agent-mcp/agent-mcp/app/toolbox"
	"github.com/agent-mcp/agent-mcp/conformance/sandboxtest"
	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

func TestMain(m *testing.M) {
	linux.RunHelperIfAsked()
	if len(os.Args) > 1 && strings.Contains(os.Args[1], "|") { // verbs: this is the probe, whatever its argv[0] is
		os.Args[0] = sandboxtest.ProbeName
		sandboxtest.RunProbeIfAsked()
	}
	os.Exit(m.Run())
}

// confined is the real sandbox, where the host gives one.
func confined(t *testing.T) (sandbox.Sandbox, sandbox.Report) {
	t.Helper()
	sb := linux.New(linux.Options{})
	t.Cleanup(func() { require.NoError(t, sb.Close()) })
	report, err := sb.Preflight(context.Background())
	require.NoError(t, err)
	if report.Level < sandbox.L2 {
		t.Skipf("this host gives level %d: %v", report.Level, report.Missing)
	}
	return sb, report
}

// stage is a real directory with a workspace, mounts, Git repositories, links, and something outside.
type stage struct {
	t    *testing.T
	dir  string
	box  *toolbox.Box
	tree *osroot.Tree
}

// at turns "w/a" into the real path.
func (s *stage) at(name string) string {
	if strings.HasPrefix(name, "/") {
		return name
	}
	return s.dir + "/" + name // as written: ".." stays
}

func newStage(t *testing.T, sb sandbox.Sandbox, report sandbox.Report) *stage {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o755))
	s := &stage{t: t, dir: dir}
	for name, content := range map[string]string{
		"w/a": "a", "w/full/x": "x", "w/run": "#!/bin/sh\nexit 0\n", "docs/d": "d", "docs/run": "#!/bin/sh\nexit 0\n", "docs/sub/x": "x",
		"out/o": "o", "out/run": "#!/bin/sh\nexit 0\n", "out/trash/t": "t", "secret/key": "k",
		"w/.git/HEAD": "ref: refs/heads/main\n", "w/.git/config": "[core]\n", "w/.git/hooks/pre-commit": "#!/bin/sh\n", "w/.git/index": "i",
		"w/.git/objects/ab/cd": "o", "w/.git/refs/heads/main": "0", "w/.git/modules/m/config": "[core]\n", "w/.git/modules/m/HEAD": "h",
		"w/.git/worktrees/wt/commondir": "../..\n", "w/.git/worktrees/wt/HEAD": "h", "w/wt/.git": "gitdir: ../.git/worktrees/wt\n",
		"w/bare/HEAD": "h", "w/bare/objects/a": "", "w/bare/refs/b": "", "w/bare/config": "[core]\n", "w/bare/hooks/update": "#!/bin/sh\n",
		"w/sub/.git/config": "[core]\n", "w/sub/code": "c",
	} {
		p := s.at(name)
		require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o755))
		mode := os.FileMode(0o644)
		if strings.HasPrefix(content, "#!") {
			mode = 0o755
		}
		require.NoError(t, os.WriteFile(p, []byte(content), 0o600))
		require.NoError(t, os.Chmod(p, mode))
	}
	for _, d := range []string{"w/empty", "docs/empty", "out/empty", "out/trash/empty"} {
		require.NoError(t, os.MkdirAll(s.at(d), 0o755))
	}
	for link, target := range map[string]string{
		"w/to-a": "a", "w/to-docs": s.at("docs/d"), "w/to-secret": s.at("secret/key"), "w/to-out": s.at("out/new"), "w/up": "../secret",
		"w/cycle": "cycle", "w/to-hook": ".git/hooks/pre-commit", "w/to-git": ".git", "out/to-w": s.at("w/a"),
	} {
		require.NoError(t, os.Symlink(target, s.at(link)))
	}
	s.open(sb, report)
	return s
}

func (s *stage) open(sb sandbox.Sandbox, report sandbox.Report) {
	exe, err := os.Executable()
	require.NoError(s.t, err)
	id, err := file.New().Identify(context.Background(), exe)
	require.NoError(s.t, err)
	entries := []policy.Entry{{Alias: sandboxtest.ProbeName, Path: id.Path, SHA256: id.SHA256}}
	if git, err := file.New().Identify(context.Background(), "/usr/bin/git"); err == nil {
		entries = append(entries, policy.Entry{Alias: "git", Path: git.Path, SHA256: git.SHA256})
	}
	p, f := policy.Build(policy.Input{
		Profile: policy.Development, Workspace: s.at("w"),
		Mounts: []policy.MountInput{
			{Name: "docs", Path: s.at("docs"), Access: policy.AccessRead},
			{Name: "out", Path: s.at("out"), Access: policy.AccessWrite},
			{Name: "trash", Path: s.at("out/trash"), Access: policy.AccessDelete},
		},
		Entries:  entries,
		Baseline: report.Baseline, Network: policy.NetworkInput{Mode: sandbox.NetworkNone},
		Resources: policy.ResourceInput{Profile: "normal"}, Require: sandbox.Approximate, Denied: policy.DeniedPlaces(policy.Style{}),
	})
	if f != nil {
		s.t.Fatal(f)
	}
	var roots []string
	for _, r := range p.ToolRoots() {
		roots = append(roots, r.Path)
	}
	s.tree, err = osroot.New(roots, osroot.Options{})
	require.NoError(s.t, err)
	s.t.Cleanup(func() { require.NoError(s.t, s.tree.Close()) })
	s.box = toolbox.New(toolbox.Config{Policy: p, Tree: s.tree, Sandbox: sb, Images: file.New(), Ident: sequence.New()})
	s.t.Cleanup(func() { require.NoError(s.t, s.box.Close()) })
}

// snapshot is everything below the stage's directory: contents, links, directories; no temporary file may be left in it.
func (s *stage) snapshot() map[string]string {
	all := map[string]string{}
	require.NoError(s.t, filepath.WalkDir(s.dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(p, s.dir)
		switch {
		case d.IsDir():
			all[name] = "dir"
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(p)
			all[name] = "-> " + strings.ReplaceAll(target, s.dir, "")
			return err
		default:
			data, err := os.ReadFile(p)
			all[name] = string(data)
			return err
		}
		return nil
	}))
	return all
}

// processes has one program in the sandbox do it all, started the way a model starts one, and returns its words by verb.
func (s *stage) processes(verbs ...string) map[string]string {
	r := s.box.Do(context.Background(), audit.Ref{}, tool.Call{Name: tool.Run, Alias: sandboxtest.ProbeName, Args: verbs, TimeoutSec: 60})
	require.Nil(s.t, r.Fault, r.Text)
	out := map[string]string{}
	for line := range strings.Lines(r.Text) {
		if verb, words, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " -> "); ok {
			out[verb] = words
		}
	}
	require.Len(s.t, out, len(verbs), r.Text)
	return out
}

// touch is one way to touch a path, by a tool and by a process.
type touch struct {
	op, path, dest string
	want           bool
	stricter       bool // the process is refused although the tool is not: a rename needs delete there, and one root
}

func (c touch) call(s *stage) tool.Call {
	call := tool.Call{Path: s.at(c.path)}
	switch c.op {
	case "read":
		call.Name = tool.Read
	case "list":
		call.Name = tool.List
	case "write":
		call.Name, call.Content = tool.Write, "new"
	case "mkdir":
		call.Name = tool.Mkdir
	case "remove":
		call.Name = tool.Remove
	case "rmdir":
		call.Name = tool.Rmdir
	case "rename":
		call.Name, call.Dest = tool.Move, s.at(c.dest)
	case "start":
		call.Name, call.Alias, call.Path = tool.Run, s.at(c.path), ""
	}
	return call
}

func (c touch) verb(s *stage) string {
	v := c.op + "|" + s.at(c.path)
	switch c.op {
	case "write":
		v += "|new"
	case "rename":
		v += "|" + s.at(c.dest)
	}
	return v
}

// The same verdict whether a path is touched by an Internal Tool or by a process in the sandbox (FS-05, SEC-INV-04,
// SEC-INV-13, AT-07, AT-22): one table, both sides, on stages of their own.
func TestVerdict_IsTheSameForToolsAndProcesses(t *testing.T) {
	sb, report := confined(t)
	yes, no := true, false
	groups := map[string][]touch{}
	for _, c := range []touch{
		{op: "read", path: "w/a", want: yes},
		{op: "read", path: "docs/d", want: yes},
		{op: "read", path: "out/o", want: yes},
		{op: "read", path: "secret/key", want: no},
		{op: "read", path: "/etc/shadow", want: no},
		{op: "read", path: "w/../secret/key", want: no},
		{op: "read", path: "w/to-a", want: yes},
		{op: "read", path: "w/to-docs", want: yes},
		{op: "read", path: "w/to-secret", want: no},
		{op: "read", path: "w/up/key", want: no},
		{op: "read", path: "w/cycle", want: no},
		{op: "read", path: "out/to-w", want: yes},
		{op: "read", path: "w/.git/config", want: yes},
		{op: "read", path: "w/to-hook", want: yes},
		{op: "read", path: "/usr/bin/env", want: yes},
		{op: "list", path: "w", want: yes},
		{op: "list", path: "docs/sub", want: yes},
		{op: "list", path: "secret", want: no},
		{op: "list", path: "w/up", want: no},
		{op: "list", path: "/usr/bin", want: yes},
		{op: "list", path: "/root", want: no},

		{op: "write", path: "w/a", want: yes},
		{op: "write", path: "w/new", want: yes},
		{op: "write", path: "docs/d", want: no},
		{op: "write", path: "docs/new", want: no},
		{op: "write", path: "out/o", want: yes},
		{op: "write", path: "out/new", want: yes},
		{op: "write", path: "out/trash/t", want: yes},
		{op: "write", path: "secret/key", want: no},
		{op: "write", path: "/usr/bin/env", want: no},
		{op: "write", path: "w/to-a", want: yes},
		{op: "write", path: "w/to-docs", want: no},
		{op: "write", path: "w/to-secret", want: no},
		{op: "write", path: "w/to-out", want: yes},
		{op: "write", path: "w/up/new", want: no},
		{op: "write", path: "w/.git/config", want: no},
		{op: "write", path: "w/.git/hooks/pre-commit", want: no},
		{op: "write", path: "w/.git/hooks/new", want: no},
		{op: "write", path: "w/to-hook", want: no},
		{op: "write", path: "w/to-git/config", want: no},
		{op: "write", path: "w/.git/modules/m/config", want: no},
		{op: "write", path: "w/.git/worktrees/wt/commondir", want: no},
		{op: "write", path: "w/wt/.git", want: no},
		{op: "write", path: "w/bare/config", want: no},
		{op: "write", path: "w/bare/hooks/new", want: no},
		{op: "write", path: "w/sub/.git/config", want: no},
		{op: "write", path: "w/.git/index", want: yes},
		{op: "write", path: "w/.git/objects/new", want: yes},
		{op: "write", path: "w/.git/refs/heads/topic", want: yes},
		{op: "write", path: "w/sub/code", want: yes},

		{op: "mkdir", path: "w/d", want: yes},
		{op: "mkdir", path: "docs/d2", want: no},
		{op: "mkdir", path: "out/d", want: yes},
		{op: "mkdir", path: "w/.git/hooks/d", want: no},
		{op: "mkdir", path: "secret/d", want: no},
		{op: "mkdir", path: "w/up/d", want: no},

		{op: "remove", path: "w/a", want: yes},
		{op: "remove", path: "docs/d", want: no},
		{op: "remove", path: "out/o", want: no},
		{op: "remove", path: "out/trash/t", want: yes},
		{op: "remove", path: "secret/key", want: no},
		{op: "remove", path: "w/to-secret", want: yes},
		{op: "remove", path: "w/to-a", want: yes},
		{op: "remove", path: "w/.git/config", want: no},
		{op: "remove", path: "w/.git/hooks/pre-commit", want: no},
		{op: "remove", path: "w/wt/.git", want: no},
		{op: "remove", path: "w/.git/index", want: yes},
		{op: "remove", path: "w/up/key", want: no},
		{op: "remove", path: "w/full", want: no},

		{op: "rmdir", path: "w/empty", want: yes},
		{op: "rmdir", path: "w/full", want: no},
		{op: "rmdir", path: "docs/empty", want: no},
		{op: "rmdir", path: "out/empty", want: no},
		{op: "rmdir", path: "out/trash/empty", want: yes},
		{op: "rmdir", path: "w", want: no},
		{op: "rmdir", path: "out/trash", want: no},
		{op: "rmdir", path: "w/.git/hooks", want: no},

		{op: "rename", path: "w/a", dest: "w/b", want: yes},
		{op: "rename", path: "w/full", dest: "w/full2", want: yes},
		{op: "rename", path: "w/a", dest: "docs/a", want: no},
		{op: "rename", path: "docs/d", dest: "w/d", want: no},
		{op: "rename", path: "w/a", dest: "secret/a", want: no},
		{op: "rename", path: "out/trash/t", dest: "out/trash/t2", want: yes},
		{op: "rename", path: "out/o", dest: "out/o2", want: yes, stricter: true},
		{op: "rename", path: "w/run", dest: "out/run2", want: yes, stricter: true},
		{op: "rename", path: "w/.git/config", dest: "w/config", want: no},
		{op: "rename", path: "w/a", dest: "w/.git/hooks/a", want: no},
		{op: "rename", path: "w/.git/hooks", dest: "w/hooks", want: no},
		{op: "rename", path: "w/.git", dest: "w/git", want: no},
		{op: "rename", path: "w/sub", dest: "w/sub2", want: no},
		{op: "rename", path: "w/bare", dest: "w/bare2", want: no},
		{op: "rename", path: "w/wt/.git", dest: "w/wt/g", want: no},
		{op: "rename", path: "out/trash", dest: "out/t", want: no},

		{op: "start", path: "w/run", want: yes},
		{op: "start", path: "docs/run", want: no},
		{op: "start", path: "out/run", want: no},
		{op: "start", path: "w/a", want: no},
		{op: "start", path: "secret/key", want: no},
	} {
		group := "refused" // what changes nothing shares a stage
		if c.want && c.op != "read" && c.op != "list" {
			group = c.op
		}
		groups[group] = append(groups[group], c)
	}
	for group, touches := range groups {
		t.Run(group, func(t *testing.T) {
			byTool, byProcess := newStage(t, sb, report), newStage(t, sb, report)
			var verbs []string
			for _, c := range touches {
				verbs = append(verbs, c.verb(byProcess))
			}
			words := byProcess.processes(verbs...)
			for _, c := range touches {
				r := byTool.box.Do(context.Background(), audit.Ref{}, c.call(byTool))
				assert.Equal(t, c.want, r.Fault == nil, "tool: %s %s %s: %s", c.op, c.path, c.dest, r.Text)
				got := words[c.verb(byProcess)]
				assert.Equal(t, c.want && !c.stricter, got == "ok", "process: %s %s %s: %s; tool: %s", c.op, c.path, c.dest, got, r.Text)
			}
			if !slices.ContainsFunc(touches, func(c touch) bool { return c.stricter }) {
				assert.Equal(t, byTool.snapshot(), byProcess.snapshot(), "and both leave the same behind")
			}
		})
	}
}

// A process that ends leaves the tools' view as it made it: they work on one and the same tree.
func TestVerdict_ToolsSeeWhatProcessesDid(t *testing.T) {
	sb, report := confined(t)
	s := newStage(t, sb, report)
	verb := "write|" + s.at("w/made") + "|by process"
	require.Equal(t, "ok", s.processes(verb)[verb])
	r := s.box.Do(context.Background(), audit.Ref{}, tool.Call{Name: tool.Read, Path: "made"})
	assert.Equal(t, "by process", r.Text)
	r = s.box.Do(context.Background(), audit.Ref{}, tool.Call{Name: tool.Patch, Path: "made", Old: "process", New: "tool"})
	require.Nil(t, r.Fault, r.Text)
	got, err := os.ReadFile(s.at("w/made"))
	require.NoError(t, err)
	assert.Equal(t, "by tool", string(got))
}

// Ordinary work with Git goes on inside the sandbox; what the owner's own Git would obey later stays as it is.
func TestVerdict_GitWorksAndItsHooksStay(t *testing.T) {
	sb, report := confined(t)
	s := newStage(t, sb, report)
	if _, ok := s.box.Policy.Entry("git"); !ok {
		t.Skip("no git here")
	}
	git := func(args ...string) tool.Result {
		args = append([]string{"-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "safe.directory=*"}, args...)
		return s.box.Do(context.Background(), audit.Ref{}, tool.Call{Name: tool.Run, Alias: "git", Args: args, Dir: s.at("w/proj"), TimeoutSec: 60})
	}
	require.NoError(t, os.MkdirAll(s.at("w/proj"), 0o755))
	require.Contains(t, git("init", "-q").Text, "exit code 0")
	require.NoError(t, os.WriteFile(s.at("w/proj/f"), []byte("1\n"), 0o644))

	s.open(sb, report) // the next Task finds the repository
	before, err := os.ReadFile(s.at("w/proj/.git/config"))
	require.NoError(t, err)
	for _, args := range [][]string{{"add", "f"}, {"commit", "-q", "-m", "one"}, {"checkout", "-q", "-b", "topic"}, {"gc", "-q"}, {"status"}} {
		r := git(args...)
		assert.Contains(t, r.Text, "exit code 0", "git %v: %s", args, r.Text)
	}
	for _, args := range [][]string{{"config", "core.hooksPath", "/tmp"}, {"config", "alias.x", "!sh"}, {"remote", "add", "o", "/x"}} {
		assert.NotContains(t, git(args...).Text, "exit code 0", "git %v", args)
	}
	after, err := os.ReadFile(s.at("w/proj/.git/config"))
	require.NoError(t, err)
	assert.Equal(t, string(before), string(after))
}
