package toolbox_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	clockfake "github.com/agent-mcp/agent-mcp/adapters/clock/fake"
	"github.com/agent-mcp/agent-mcp/adapters/ident/sequence"
	"github.com/agent-mcp/agent-mcp/adapters/workspace/mem"
	"github.com/agent-mcp/agent-mcp/app/toolbox"
	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/image"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

var sum = strings.Repeat("ab", 32)

// boxed is one Box with everything in memory.
type boxed struct {
	*toolbox.Box
	t       *testing.T
	tree    *mem.Tree
	cfg     toolbox.Config
	runs    []sandbox.Spec
	result  sandbox.Result
	runErr  error
	run     func(context.Context, sandbox.Spec) (sandbox.Result, error) // instead of result and runErr
	records []audit.Record
	fail    audit.Kind // recording this kind fails
	images  map[string]image.Identity
	kept    map[string][]byte
	stuck   bool // Scratch lets go of nothing
	settled int
	unclean error // of Settle
}

// Settle implements sandbox.Settler.
func (b *boxed) Settle(context.Context) error { b.settled++; return b.unclean }

func (b *boxed) Record(r audit.Record) error {
	if r.Kind == b.fail {
		return errors.New("disk full")
	}
	b.records = append(b.records, r)
	return nil
}

func (b *boxed) Preflight(context.Context) (sandbox.Report, error) { return sandbox.Report{}, nil }
func (b *boxed) Close() error                                      { return nil }
func (b *boxed) Run(ctx context.Context, s sandbox.Spec) (sandbox.Result, error) {
	b.runs = append(b.runs, s)
	if b.run != nil {
		return b.run(ctx, s)
	}
	return b.result, b.runErr
}

func (b *boxed) Identify(_ context.Context, path string) (image.Identity, error) {
	if id, ok := b.images[path]; ok {
		return id, nil
	}
	return image.Identity{}, fault.New(image.CodeMissing, "path", path)
}

func (b *boxed) Keep(_ context.Context, data []byte) (string, error) {
	name := fmt.Sprint("kept", len(b.kept))
	b.kept[name] = data
	return name, nil
}
func (b *boxed) Load(_ context.Context, name string) ([]byte, error) { return b.kept[name], nil }
func (b *boxed) Drop(_ context.Context, name string) error {
	if b.stuck {
		return fault.New(workspace.CodeFailed)
	}
	delete(b.kept, name)
	return nil
}

func build(t *testing.T, profile policy.Profile) *policy.Policy {
	t.Helper()
	p, f := policy.Build(policy.Input{
		Profile: profile, Workspace: "/w",
		Mounts: []policy.MountInput{
			{Name: "docs", Path: "/docs", Access: policy.AccessRead}, {Name: "out", Path: "/out", Access: policy.AccessWrite},
		},
		Entries:  []policy.Entry{{Alias: "python", Path: "/usr/bin/python3.11", SHA256: sum}, {Alias: "sh", Path: "/usr/bin/dash", SHA256: sum}},
		Baseline: []rights.Root{{Path: "/usr", Rights: rights.Read | rights.Execute}},
		Network:  policy.NetworkInput{Mode: "none"}, Resources: policy.ResourceInput{Profile: "normal"}, Require: sandbox.Approximate,
	})
	require.Nil(t, f)
	return p
}

func setup(t *testing.T, bend ...func(*toolbox.Config)) *boxed {
	t.Helper()
	b := &boxed{
		t: t, tree: mem.New("/w", "/docs", "/out", "/usr"), kept: map[string][]byte{},
		result: sandbox.Result{End: sandbox.EndExited, Started: true},
	}
	b.tree.Put("/usr/bin/dash", "\x7fELF", 0o755)
	b.images = map[string]image.Identity{
		"/usr/bin/dash":       {Path: "/usr/bin/dash", SHA256: sum, Regular: true, Executable: true, Format: image.FormatELF},
		"/usr/bin/python3.11": {Path: "/usr/bin/python3.11", SHA256: strings.Repeat("00", 32), Regular: true, Executable: true},
		"/usr/bin/env":        {Path: "/usr/bin/env", SHA256: sum, Regular: true, Executable: true},
	}
	b.cfg = toolbox.Config{
		Policy: build(t, policy.Development), Tree: b.tree, Scratch: b, Sandbox: b, Images: b, Audit: b,
		Clock: clockfake.New(time.Unix(1, 0)), Ident: sequence.New(),
		Environment: []string{"SECRET=x", "LANG=C.UTF-8"},
	}
	for _, f := range bend {
		f(&b.cfg)
	}
	b.Box = toolbox.New(b.cfg)
	return b
}

func (b *boxed) do(c tool.Call) tool.Result {
	b.t.Helper()
	c.ID = "call_1"
	r := b.Do(context.Background(), audit.Ref{Task: "t", PlannerTask: "p"}, c)
	assert.Equal(b.t, "call_1", r.CallID)
	assert.Equal(b.t, c.Name, r.Name)
	return r
}

func (b *boxed) file(path string) string { return b.tree.Snapshot()[path] }

func (b *boxed) kinds() (out []string) {
	for _, r := range b.records {
		out = append(out, string(r.Kind))
	}
	return out
}

func hex256(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:])
}

func code(r tool.Result) string {
	if r.Fault == nil {
		return ""
	}
	return string(r.Fault.Code)
}

func TestRead(t *testing.T) { // AGT-09
	b := setup(t, func(c *toolbox.Config) { c.Limits.ReadBytes = 40 })
	b.tree.Put("/w/a", "one\ntwo\nthree\n", 0)
	b.tree.Put("/w/noend", "one\ntwo", 0)
	b.tree.Put("/w/long", strings.Repeat("0123456\n", 20), 0)
	b.tree.Put("/w/wide", strings.Repeat("x", 100)+"\nb\n", 0)
	b.tree.Put("/w/huge", strings.Repeat(strings.Repeat("y", 99)+"\n", 20_000), 0) // more than one chunk
	b.tree.Put("/w/empty", "", 0)
	b.tree.Put("/w/bin", "PNG\x00\x01", 0)
	b.tree.Put("/w/latin", "caf\xe9\n", 0)
	b.tree.Put("/usr/include/a.h", "#define A\n", 0)
	b.tree.Symlink("a", "/w/link")
	for _, c := range []struct {
		call tool.Call
		want string
	}{
		{tool.Call{Path: "a"}, "one\ntwo\nthree\n"},
		{tool.Call{Path: "/w/a"}, "one\ntwo\nthree\n"},
		{tool.Call{Path: "link"}, "one\ntwo\nthree\n"},
		{tool.Call{Path: "/usr/include/a.h"}, "#define A\n"},
		{tool.Call{Path: "a", Offset: 2, Limit: 1}, "two\n[lines 2-2; the file has 14 bytes; go on with offset=3]"},
		{tool.Call{Path: "a", Offset: 2}, "two\nthree\n[lines 2-3, the end]"},
		{tool.Call{Path: "a", Offset: 9}, "[the file has 3 lines]"},
		{tool.Call{Path: "noend"}, "one\ntwo"},
		{tool.Call{Path: "noend", Offset: 2}, "two\n[lines 2-2, the end]"},
		{tool.Call{Path: "noend", Offset: 3}, "[the file has 2 lines]"},
		{tool.Call{Path: "long"}, strings.Repeat("0123456\n", 5) + "[lines 1-5; the file has 160 bytes; go on with offset=6]"},
		{tool.Call{Path: "long", Offset: 20}, "0123456\n[lines 20-20, the end]"},
		{tool.Call{Path: "wide"}, strings.Repeat("x", 40) + "\n[line 1 is longer than 40 bytes and is cut; use search_files to find text in it]"},
		{tool.Call{Path: "wide", Offset: 2}, "b\n[lines 2-2, the end]"},
		{tool.Call{Path: "huge", Offset: 20_001}, "[the file has 20000 lines]"},
		{tool.Call{Path: "empty"}, "(empty file)"},
		{tool.Call{Path: "bin"}, "bin is a binary file (5 bytes); its content is not shown."},
		{tool.Call{Path: "latin"}, "caf\uFFFD\n"},
	} {
		c.call.Name = tool.Read
		r := b.do(c.call)
		require.Nil(t, r.Fault, "%v", c.call)
		assert.Equal(t, c.want, r.Text, "%v", c.call)
		require.Len(t, r.Effects, 1)
		assert.False(t, r.Effects[0].Mutates())
	}
	assert.Equal(t, "/w/a", b.do(tool.Call{Name: tool.Read, Path: "link"}).Effects[0].Path, "effects name the resolved path")
}

func TestTail(t *testing.T) { // AGT-09
	b := setup(t, func(c *toolbox.Config) { c.Limits.ReadBytes, c.Limits.TailLines = 30, 3 })
	b.tree.Put("/w/a", "1\n2\n3\n4\n5\n", 0)
	b.tree.Put("/w/b", "1\n2", 0)
	b.tree.Put("/w/long", strings.Repeat("0123456789\n", 9), 0)
	b.tree.Put("/w/empty", "", 0)
	for _, c := range []struct {
		path  string
		limit int
		want  string
	}{
		{"a", 0, "[the last 3 lines of 10 bytes]\n3\n4\n5\n"},
		{"a", 2, "[the last 2 lines of 10 bytes]\n4\n5\n"},
		{"a", 99, "[the last 3 lines of 10 bytes]\n3\n4\n5\n"},
		{"b", 0, "1\n2"},
		{"b", 1, "[the last 1 lines of 3 bytes]\n2"},
		{"long", 0, "[the last 2 lines of 99 bytes]\n0123456789\n0123456789\n"},
		{"empty", 0, "(empty file)"},
	} {
		r := b.do(tool.Call{Name: tool.Tail, Path: c.path, Limit: c.limit})
		assert.Equal(t, c.want, r.Text, "%s %d", c.path, c.limit)
	}
}

func TestList(t *testing.T) {
	b := setup(t)
	b.tree.Put("/w/b.txt", "12345", 0)
	b.tree.Put("/w/dir/x", "", 0)
	b.tree.Symlink("b.txt", "/w/link")
	b.tree.Put("/w/we\nird", "", 0)
	assert.Equal(t, "b.txt 5\ndir/\nlink@\nwe\\nird 0\n", b.do(tool.Call{Name: tool.List, Path: "."}).Text)
	assert.Equal(t, "b.txt 5\n[1 of 4 entries; give a larger limit, or use search_files]", b.do(tool.Call{Name: tool.List, Path: ".", Limit: 1}).Text)
	assert.Equal(t, "(empty directory)", b.do(tool.Call{Name: tool.List, Path: "/docs"}).Text)
	r := b.do(tool.Call{Name: tool.List, Path: "b.txt"})
	assert.Equal(t, "workspace.not_directory", code(r))
	assert.Contains(t, r.Text, "not a directory. Use read_file.")
	assert.Contains(t, b.do(tool.Call{Name: tool.Read, Path: "dir"}).Text, "is a directory. Use list_dir.")
	assert.Contains(t, b.do(tool.Call{Name: tool.Remove, Path: "dir"}).Text, "is a directory. Use remove_dir.")
	assert.Contains(t, b.do(tool.Call{Name: tool.Rmdir, Path: "b.txt"}).Text, "not a directory. Use remove_file.")
}

func TestSearch(t *testing.T) { // AGT-09
	b := setup(t, func(c *toolbox.Config) { c.Limits.SearchMatches = 3 })
	b.tree.Put("/w/a.py", "import os\nx = 1\r\n", 0)
	b.tree.Put("/w/sub/b.py", "import sys\n", 0)
	b.tree.Put("/w/sub/c.txt", "import nothing\nimport more\n", 0)
	b.tree.Put("/w/.git/config", "import git\n", 0)
	b.tree.Put("/w/bin", "import\x00", 0)
	b.tree.Put("/w/long", strings.Repeat("a", 1000)+"NEEDLE"+strings.Repeat("b", 1000), 0)
	b.tree.Symlink("/w", "/w/loop")
	for _, c := range []struct {
		call tool.Call
		want string
	}{
		{tool.Call{Path: ".", Pattern: "^import"}, "a.py:1: import os\nsub/b.py:1: import sys\nsub/c.txt:1: import nothing\n[stopped at 3 matches; narrow the pattern, path or glob]"},
		{tool.Call{Path: ".", Pattern: "^import", Glob: "*.py"}, "a.py:1: import os\nsub/b.py:1: import sys\n"},
		{tool.Call{Path: ".", Pattern: "^import", Glob: "**/*.py"}, "a.py:1: import os\nsub/b.py:1: import sys\n"},
		{tool.Call{Path: ".", Pattern: "^import", Glob: "sub/*.py"}, "sub/b.py:1: import sys\n"},
		{tool.Call{Path: "sub", Pattern: "import", Limit: 1}, "sub/b.py:1: import sys\n[stopped at 1 matches; narrow the pattern, path or glob]"},
		{tool.Call{Path: "sub", Pattern: "import"}, "sub/b.py:1: import sys\nsub/c.txt:\n1: import nothing\n2: import more\n"},
		{tool.Call{Path: "a.py", Pattern: "x = 1$"}, "a.py:2: x = 1\n"},
		{tool.Call{Path: ".git", Pattern: "import"}, ".git/config:1: import git\n"},
		{tool.Call{Path: ".", Pattern: "zzz"}, "no match in 5 files"},
	} {
		c.call.Name = tool.Search
		assert.Equal(t, c.want, b.do(c.call).Text, "%v", c.call)
	}
	r := b.do(tool.Call{Name: tool.Search, Path: ".", Pattern: "NEEDLE"})
	assert.Less(t, len(r.Text), 300)
	assert.Contains(t, r.Text, "long:1: …a")
	assert.Contains(t, r.Text, "NEEDLE")
	for pattern, want := range map[string]string{"a(": "toolbox.pattern", `(?=x)`: "toolbox.pattern"} {
		r := b.do(tool.Call{Name: tool.Search, Path: ".", Pattern: pattern})
		assert.Equal(t, want, code(r))
		assert.Contains(t, r.Text, "RE2")
	}
	assert.Equal(t, "toolbox.glob", code(b.do(tool.Call{Name: tool.Search, Path: ".", Pattern: "a", Glob: "[a"})))
}

func TestWrite(t *testing.T) { // EDT-01, AGT-07
	b := setup(t)
	r := b.do(tool.Call{Name: tool.Write, Path: "src/pkg/a.py", Content: "x\ny"})
	require.Nil(t, r.Fault)
	assert.Equal(t, "created src/pkg/a.py: 2 lines, 3 bytes", r.Text)
	last := &r.Effects[len(r.Effects)-1]
	assert.Equal(t, "@@ -1 +1 @@\n+x\n+y\n+\\ no newline at the end\n", last.Diff)
	last.Diff = ""
	assert.Equal(t, []tool.Effect{
		{Kind: tool.EffectMadeDir, Path: "/w/src"},
		{Kind: tool.EffectMadeDir, Path: "/w/src/pkg"},
		{Kind: tool.EffectCreated, Path: "/w/src/pkg/a.py", SHA256: hex256("x\ny")},
	}, r.Effects)
	r = b.do(tool.Call{Name: tool.Write, Path: "src/pkg/a.py", Content: ""})
	assert.Equal(t, "overwrote (3 bytes before) src/pkg/a.py: 0 lines, 0 bytes", r.Text)
	assert.Equal(t, tool.EffectChanged, r.Effects[0].Kind)
	assert.Equal(t, "", b.file("/w/src/pkg/a.py"))

	b.tree.Symlink("/out/real", "/w/link")
	require.Nil(t, b.do(tool.Call{Name: tool.Write, Path: "link", Content: "through"}).Fault)
	assert.Equal(t, "through", b.file("/out/real"))

	b.tree.Symlink("/docs/x", "/w/evil")
	b.tree.Symlink("/etc/passwd", "/w/worse")
	for path, want := range map[string]string{
		"evil": "no_write", "worse": "outside", "/docs/new/deep": "no_write", "../etc/x": "outside", "/etc/x/y": "outside",
		".git/hooks/pre-commit": "protected", ".git/config": "protected", "sub/.git": "protected",
	} {
		before := b.tree.Snapshot()
		r := b.do(tool.Call{Name: tool.Write, Path: path, Content: "x"})
		require.Equal(t, "policy.denied", code(r), path)
		assert.True(t, r.Denied, path)
		assert.Equal(t, "policy."+want, string(r.Fault.Reasons[0].Code), path)
		assert.Contains(t, r.Text, "Denied by policy:", path)
		assert.Equal(t, before, b.tree.Snapshot(), "a denial leaves nothing behind: "+path)
	}
	for path, want := range map[string]string{"src": "workspace.is_directory", "src/": "workspace.is_directory", "src/pkg/a.py/x": "workspace.not_directory", "no/../x": "workspace.not_found"} {
		r := b.do(tool.Call{Name: tool.Write, Path: path, Content: "x"})
		assert.Equal(t, want, code(r), path)
		assert.False(t, r.Denied)
	}
}

func TestPatch(t *testing.T) { // EDT-01
	b := setup(t)
	text := "def f():\n    return 1\n\ndef g():\n    return 1\n"
	patch := func(old, with string, all bool) tool.Result {
		return b.do(tool.Call{Name: tool.Patch, Path: "a.py", Old: old, New: with, All: all})
	}
	b.tree.Put("/w/a.py", text, 0o755)
	r := patch("def g():\n    return 1", "def g():\n    return 2", false)
	require.Nil(t, r.Fault)
	assert.Equal(t, "patched a.py: 1 replaced, first at line 4; 5 lines now", r.Text)
	assert.Equal(t, "def f():\n    return 1\n\ndef g():\n    return 2\n", b.file("/w/a.py"))

	r = patch("return ", "yield ", false)
	assert.Equal(t, "toolbox.ambiguous", code(r))
	assert.Equal(t, "old occurs 2 times in a.py (lines 2, 5). Give more of the text around it, or all=true.", r.Text)
	require.Nil(t, patch("return ", "yield ", true).Fault)
	assert.Equal(t, "def f():\n    yield 1\n\ndef g():\n    yield 2\n", b.file("/w/a.py"))

	r = patch("def  f():\n  yield 1", "x", false)
	assert.Equal(t, "toolbox.no_match", code(r))
	assert.Contains(t, r.Text, "nearest place is line 1:\ndef f():\n    yield 1")
	assert.NotContains(t, patch("zzzz", "x", false).Text, "nearest")

	b.tree.Put("/w/dos", "a\r\nb\r\nc\r\n", 0)
	require.Nil(t, b.do(tool.Call{Name: tool.Patch, Path: "dos", Old: "a\nb", New: "a\nx\nb"}).Fault)
	assert.Equal(t, "a\r\nx\r\nb\r\nc\r\n", b.file("/w/dos"))

	b.tree.Put("/w/bin", "a\x00b", 0)
	assert.Equal(t, "toolbox.binary", code(b.do(tool.Call{Name: tool.Patch, Path: "bin", Old: "a", New: "b"})))
	b.tree.Put("/docs/a", "a", 0)
	assert.Equal(t, "policy.denied", code(b.do(tool.Call{Name: tool.Patch, Path: "/docs/a", Old: "a", New: "b"})))
	r = b.do(tool.Call{Name: tool.Patch, Path: "missing", Old: "a", New: "b"})
	assert.Equal(t, "workspace.not_found", code(r))
	assert.Contains(t, r.Text, "missing does not exist. In .: a.py, bin, dos")
}

func TestMove_Remove_Dirs(t *testing.T) { // FS-04, FS-06, FS-07
	b := setup(t)
	b.tree.Put("/w/a", "A", 0)
	b.tree.Put("/w/b", "B", 0)
	b.tree.Put("/out/o", "O", 0)
	b.tree.Put("/docs/d", "D", 0)
	b.tree.Put("/w/full/x", "", 0)
	b.tree.MkdirAll("/w/hollow")
	b.tree.Symlink("/docs/d", "/w/link")
	for _, c := range []struct {
		call tool.Call
		want string
	}{
		{tool.Call{Name: tool.Move, Path: "a", Dest: "b"}, "workspace.exists"},
		{tool.Call{Name: tool.Move, Path: "zz", Dest: "c"}, "workspace.not_found"},
		{tool.Call{Name: tool.Move, Path: "/docs/d", Dest: "c/e"}, "policy.denied"},
		{tool.Call{Name: tool.Move, Path: "a", Dest: "/docs/a"}, "policy.denied"},
		{tool.Call{Name: tool.Move, Path: "a", Dest: "/etc/a"}, "policy.denied"},
		{tool.Call{Name: tool.Move, Path: "a", Dest: "new/deep/a"}, ""},
		{tool.Call{Name: tool.Move, Path: "hollow", Dest: "hollow2"}, ""},
		{tool.Call{Name: tool.Remove, Path: "/out/o"}, "policy.denied"},
		{tool.Call{Name: tool.Remove, Path: "/docs/d"}, "policy.denied"},
		{tool.Call{Name: tool.Remove, Path: "full"}, "workspace.is_directory"},
		{tool.Call{Name: tool.Remove, Path: "b"}, ""},
		{tool.Call{Name: tool.Remove, Path: "b"}, "workspace.not_found"},
		{tool.Call{Name: tool.Remove, Path: "link"}, ""},
		{tool.Call{Name: tool.Rmdir, Path: "full"}, "workspace.not_empty"},
		{tool.Call{Name: tool.Rmdir, Path: "hollow2/"}, ""},
		{tool.Call{Name: tool.Rmdir, Path: "."}, "policy.denied"},
		{tool.Call{Name: tool.Mkdir, Path: "m/n/"}, ""},
		{tool.Call{Name: tool.Mkdir, Path: "m"}, ""},
		{tool.Call{Name: tool.Mkdir, Path: "full/x"}, "workspace.exists"},
		{tool.Call{Name: tool.Mkdir, Path: "/docs/m"}, "policy.denied"},
	} {
		r := b.do(c.call)
		assert.Equal(t, c.want, code(r), "%v: %s", c.call, r.Text)
		assert.Equal(t, c.want == "policy.denied", r.Denied)
		assert.NotEmpty(t, r.Text)
	}
	assert.Equal(t, map[string]string{
		"/w/": "dir", "/w/new/": "dir", "/w/new/deep/": "dir", "/w/new/deep/a": "A", "/w/full/": "dir", "/w/full/x": "",
		"/w/m/": "dir", "/w/m/n/": "dir", "/out/": "dir", "/out/o": "O", "/docs/": "dir", "/docs/d": "D",
		"/usr/": "dir", "/usr/bin/": "dir", "/usr/bin/dash": "\x7fELF",
	}, b.tree.Snapshot())
	assert.Contains(t, b.do(tool.Call{Name: tool.Remove, Path: "/out/o"}).Text, "/out/o needs delete; mounts.out gives read, write.")
}

func TestReadOnlyProfile(t *testing.T) { // FS-08
	b := setup(t, func(c *toolbox.Config) { c.Policy = build(t, policy.ReadOnly) })
	b.tree.Put("/w/a", "A", 0)
	assert.Equal(t, "A", b.do(tool.Call{Name: tool.Read, Path: "a"}).Text)
	for _, c := range []tool.Call{
		{Name: tool.Write, Path: "a"},
		{Name: tool.Write, Path: "x/y"},
		{Name: tool.Patch, Path: "a", Old: "A", New: "B"},
		{Name: tool.Remove, Path: "a"},
		{Name: tool.Mkdir, Path: "d"},
		{Name: tool.Move, Path: "a", Dest: "b"},
		{Name: tool.Run, Alias: "./a"},
	} {
		r := b.do(c)
		assert.True(t, r.Denied, "%v %s", c, r.Text)
		assert.Empty(t, r.Effects)
	}
}

// Everything is recorded in order, denials too, and what cannot be recorded does not happen (LOG-03).
func TestAudit(t *testing.T) {
	b := setup(t)
	b.do(tool.Call{Name: tool.Write, Path: "d/a", Content: "secret body"})
	b.do(tool.Call{Name: tool.Remove, Path: "d/a"})
	b.do(tool.Call{Name: tool.Write, Path: "/docs/a", Content: "x"})
	b.do(tool.Call{Name: tool.Run, Alias: "sh", Args: []string{"-c", "secret"}})
	assert.Equal(t, []string{
		string(audit.KindTool), string(audit.KindWrite), string(audit.KindWrite), string(audit.KindToolResult),
		string(audit.KindTool), string(audit.KindDelete), string(audit.KindToolResult),
		string(audit.KindTool), string(audit.KindDenied), string(audit.KindToolResult),
		string(audit.KindTool), string(audit.KindProcess), string(audit.KindProcessEnd), string(audit.KindToolResult),
	}, b.kinds())
	for _, r := range b.records {
		assert.Equal(t, "p", r.Ref.PlannerTask)
		assert.NotContains(t, fmt.Sprint(r.Fields()), "secret")
	}
	for _, kind := range []audit.Kind{audit.KindTool, audit.KindProcess} {
		b := setup(t)
		b.fail = kind
		r := b.do(tool.Call{Name: tool.Run, Alias: "sh"})
		assert.Equal(t, "toolbox.audit", code(r), kind)
		assert.Empty(t, b.runs, kind)
	}
}

func TestDo_RefusesWhatItDoesNotKnow(t *testing.T) {
	b := setup(t)
	assert.Equal(t, "internal.unsupported", code(b.do(tool.Call{Name: "format_disk"})))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r := b.Do(ctx, audit.Ref{}, tool.Call{Name: tool.Write, Path: "a"})
	assert.Equal(t, "internal.cancelled", code(r))
	require.NoError(t, b.Box.Close())
	assert.Equal(t, "internal.unsupported", code(b.do(tool.Call{Name: tool.Write, Path: "a"})))
	assert.NotContains(t, b.tree.Snapshot(), "/w/a")
}

// spoiled is a tree whose next Replace stores something else (EDT-01).
type spoiled struct {
	*mem.Tree
	spoil func(path string)
}

type spoiledHandle struct {
	workspace.Handle
	tree *spoiled
}

func (s *spoiled) Resolve(ctx context.Context, path string) (workspace.Handle, error) {
	h, err := s.Tree.Resolve(ctx, path)
	if err != nil {
		return nil, err
	}
	return spoiledHandle{h, s}, nil
}

func (h spoiledHandle) Replace(ctx context.Context, data []byte, exec bool, want *workspace.Identity) (workspace.Info, error) {
	info, err := h.Handle.Replace(ctx, data, exec, want)
	if err == nil && h.tree.spoil != nil {
		spoil := h.tree.spoil
		h.tree.spoil = nil
		spoil(info.Path)
	}
	return info, err
}

// The old content comes back when a check after the edit fails; somebody else's file is left alone (EDT-01).
func TestEdit_IsVerifiedAndRolledBack(t *testing.T) {
	var s *spoiled
	b := setup(t, func(c *toolbox.Config) { s = &spoiled{Tree: c.Tree.(*mem.Tree)}; c.Tree = s })
	b.tree.Put("/w/a", "old", 0o755)
	s.spoil = func(p string) { b.tree.Put(p, "torn", 0o755) }
	r := b.do(tool.Call{Name: tool.Write, Path: "a", Content: "new"})
	assert.Equal(t, "toolbox.verify", code(r))
	assert.Contains(t, r.Text, "the old content was put back")
	assert.Empty(t, r.Effects)
	assert.Equal(t, "old", b.file("/w/a"))

	s.spoil = func(p string) { b.tree.Put(p, "torn", 0) }
	assert.Equal(t, "toolbox.verify", code(b.do(tool.Call{Name: tool.Write, Path: "fresh", Content: "new"})))
	assert.NotContains(t, b.tree.Snapshot(), "/w/fresh")

	s.spoil = func(p string) { b.tree.Drop(p); b.tree.Put(p, "theirs", 0) }
	assert.Equal(t, "workspace.changed", code(b.do(tool.Call{Name: tool.Write, Path: "a", Content: "new"})))
	assert.Equal(t, "theirs", b.file("/w/a"))
}

// EDT-01, PRF-02: a large old content lies in Scratch while its edit is checked, comes back from there, and is gone after.
func TestEdit_KeepsLargeContentsInScratch(t *testing.T) {
	var s *spoiled
	b := setup(t, func(c *toolbox.Config) {
		c.Limits.MemoryBackupBytes = 10
		s = &spoiled{Tree: c.Tree.(*mem.Tree)}
		c.Tree = s
	})
	large := strings.Repeat("x", 20)
	b.tree.Put("/w/small", "12345", 0)
	b.tree.Put("/w/large", large, 0)
	during := -1
	for _, path := range []string{"small", "large"} {
		s.spoil = func(string) { during = len(b.kept) }
		require.Nil(t, b.do(tool.Call{Name: tool.Write, Path: path, Content: large}).Fault)
		assert.Equal(t, map[string]int{"small": 0, "large": 1}[path], during, path)
		assert.Empty(t, b.kept, path)
	}
	s.spoil = func(p string) { b.tree.Put(p, "torn", 0) }
	assert.Equal(t, "toolbox.verify", code(b.do(tool.Call{Name: tool.Write, Path: "large", Content: "new"})))
	assert.Equal(t, large, b.file("/w/large"))
	assert.Empty(t, b.kept)

	b.stuck = true
	require.Nil(t, b.do(tool.Call{Name: tool.Write, Path: "large", Content: "l"}).Fault, "the edit itself is done")
	assert.Len(t, b.kept, 1)
	b.stuck = false
	require.NoError(t, b.Box.Close())
	assert.Empty(t, b.kept, "Close tries again")

	b = setup(t, func(c *toolbox.Config) { c.Limits.MemoryBackupBytes = 10; c.Scratch = nil })
	b.tree.Put("/w/large", large, 0)
	assert.Equal(t, "toolbox.no_backup", code(b.do(tool.Call{Name: tool.Write, Path: "large", Content: "l"})))
	assert.Equal(t, large, b.file("/w/large"))
}

// PRF-02: the end of a Task takes back what its runs shared, and says so when it cannot.
func TestClose_Settles(t *testing.T) {
	b := setup(t)
	require.NoError(t, b.Box.Close())
	assert.Equal(t, 1, b.settled)
	b = setup(t)
	b.unclean = fault.New(workspace.CodeFailed)
	require.ErrorIs(t, b.Box.Close(), b.unclean)
}
