package toolbox_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/agent-mcp/agent-mcp/app/toolbox"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/image"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// PRC-01..06, SEC-INV-05, SEC-INV-08: what reaches the sandbox, and what never does.
func TestRun_JudgesBeforeItStarts(t *testing.T) {
	b := setup(t)
	b.tree.Put("/w/build/tool", "\x7fELF", 0o755)
	b.tree.Put("/w/script", "#!/bin/sh -e\n", 0o755)
	b.tree.Put("/w/broken", "#!\n", 0o755)
	b.tree.Put("/w/plain.py", "print(1)", 0)
	b.tree.Put("/out/tool", "\x7fELF", 0o755)
	b.tree.Put("/w/bash", "\x7fELF", 0o755)
	b.tree.Symlink("/usr/bin/dash", "/w/innocent")
	b.images["/bin/sh"] = image.Identity{Path: "/usr/bin/dash", SHA256: sum, Regular: true, Executable: true}
	for _, c := range []struct {
		alias, dir, want, says string
	}{
		{"sh", "", "", "exit code 0"},
		{"build/tool", "", "", "exit code 0"},
		{"./tool", "build", "", "exit code 0"},
		{"script", "", "", "exit code 0"},
		{"python", "", "broker.refused", "no longer the program that the owner approved"},
		{"/usr/bin/env", "", "broker.refused", "/usr/bin/env may not be started. Commands: python, sh."},
		{"python3", "", "broker.refused", "python3 may not be started. Commands: python, sh."},
		{"python test.py -v", "", "toolbox.command_line", `command=python and args=["test.py", "-v"]`},
		{"/bin/sh", "", "broker.refused", "must be called as sh"},
		{"innocent", "", "broker.refused", "must be called as sh"},
		{"bash", "", "broker.refused", "may not be started"},
		{"/out/tool", "", "broker.refused", "may not be started"},
		{"/no/such", "", "broker.refused", "may not be started"},
		{"../sibling/tool", "", "broker.refused", "may not be started"},
		{"build/nothing", "", "workspace.not_found", "In build: tool."},
		{"plain.py", "", "broker.not_executable", "Write it with executable=true, or run it with an interpreter."},
		{"broken", "", "broker.no_interpreter", "names no interpreter"},
		{"build", "", "broker.not_file", "build is not a file"},
		{"sh", "plain.py", "broker.directory", "plain.py is not a directory"},
		{"sh", "/etc", "policy.denied", "outside the workspace"},
		{"sh", "missing", "workspace.not_found", "missing does not exist"},
	} {
		b.runs = nil
		r := b.do(tool.Call{Name: tool.Run, Alias: c.alias, Dir: c.dir})
		assert.Equal(t, c.want, code(r), "%s in %q: %s", c.alias, c.dir, r.Text)
		assert.Contains(t, r.Text, c.says, c.alias)
		assert.Len(t, b.runs, map[bool]int{true: 1}[c.want == ""], c.alias)
		assert.Equal(t, c.want == "broker.refused" || c.want == "policy.denied", r.Denied, c.alias)
		assert.Len(t, r.Effects, map[bool]int{true: 1}[c.want == ""], c.alias)
	}
	b.runs = nil
	b.do(tool.Call{Name: tool.Run, Alias: "sh", Args: []string{"-c", "x"}, Stdin: "in", TimeoutSec: 7})
	spec := b.runs[0]
	assert.Equal(t, "/usr/bin/dash", spec.Entry.Path)
	assert.Equal(t, sum, spec.Entry.SHA256)
	assert.Equal(t, []string{"LANG=C.UTF-8", "NO_COLOR=1", "TERM=dumb"}, spec.Env)
	assert.Equal(t, 7*time.Second, spec.Limits.WallClock)
	assert.Equal(t, "/w", spec.Dir)
	assert.NotEmpty(t, spec.ID)
}

func TestRun_TellsWhatHappened(t *testing.T) {
	for want, r := range map[string]sandbox.Result{
		"exit code 3 (1.23s)\nstdout:\nhello\nstderr:\noops": {
			End: sandbox.EndExited, ExitCode: 3, Elapsed: 1234 * time.Millisecond,
			Stdout: sandbox.Capture{Head: []byte("hello"), Total: 5}, Stderr: sandbox.Capture{Head: []byte("oops\n"), Total: 5},
		},
		"exit code 0 (0s)\n(no output)":       {End: sandbox.EndExited},
		"killed by SIGSEGV (0s)\n(no output)": {End: sandbox.EndSignaled, ExitCode: -1, Signal: "SIGSEGV"},
		"stopped: it did not end within 30m0s; everything it started was stopped too\n(no output)": {End: sandbox.EndTimedOut, ExitCode: -1},
		"stopped: it used more than 4096 MiB of memory\n(no output)":                               {End: sandbox.EndMemory, ExitCode: -1},
		"exit code 1 (0s)\n(no output)\ndenied by policy: write: /etc/passwd is outside the workspace and its mounts (/docs, /out, /w)" +
			"\ndenied by policy: delete: /out/o needs delete; mounts.out gives read, write (3 times)\ndenied by policy: network 10.0.0.1:80: programs have no network" +
			"\ndenied by policy: mount is nothing a confined program may ask of the system": {
			End: sandbox.EndExited, ExitCode: 1,
			Denials: []sandbox.Denial{
				{Target: "/etc/passwd", Right: "write", Seen: true},
				{Target: "/out/o", Right: "delete", Times: 3, Seen: true},
				{Target: "10.0.0.1:80", Right: "network", Seen: true},
				{Target: "mount", Right: "system", Seen: true},
			},
		},
		"exit code 0 (0s)\nstdout:\ngreen 100%\nA\uFFFDB": {
			End:    sandbox.EndExited,
			Stdout: sandbox.Capture{Head: []byte("\x1b[32mgreen\x1b[0m 1%\r\x1b]0;title\x07green 100%\r\nA\xffB\x07"), Total: 30},
		},
	} {
		b := setup(t)
		b.result = r
		got := b.do(tool.Call{Name: tool.Run, Alias: "sh"})
		assert.Nil(t, got.Fault, "a process that fails worked")
		assert.Equal(t, want, got.Text)
		assert.Equal(t, []tool.Effect{{Kind: tool.EffectRan, Path: "/usr/bin/dash", Alias: "sh", Exit: r.ExitCode, End: string(r.End)}}, got.Effects)
	}
}

func TestRun_OutputIsBounded(t *testing.T) { // AGT-09
	b := setup(t, func(c *toolbox.Config) { c.Limits.ProcessBytes = 400 })
	long := strings.Repeat("é", 500)
	b.result.Stdout = sandbox.Capture{Head: []byte(long)[:101], Tail: []byte(long)[901:], Total: 5000}
	b.result.Stderr = sandbox.Capture{Head: []byte(long), Total: 1000} // an adapter that kept too much
	r := b.do(tool.Call{Name: tool.Run, Alias: "sh"})
	assert.Equal(t, 200, b.runs[0].Limits.OutputBytes)
	assert.Less(t, len(r.Text), 900)
	assert.True(t, utf8.ValidString(r.Text))
	assert.Contains(t, r.Text, "[4800 bytes left out; to see them, let the program write to a file and read that]")
	assert.Contains(t, r.Text, "[800 bytes left out")
}

func TestRun_FaultsOfTheSandbox(t *testing.T) {
	b := setup(t)
	b.runErr = fault.New(sandbox.CodeEntryChanged, "path", "/usr/bin/dash")
	r := b.do(tool.Call{Name: tool.Run, Alias: "sh"})
	assert.True(t, r.Denied, "a swapped executable is a denial (PRC-02)")
	b.runErr = fault.New(sandbox.CodeTooWeak, "item", "memory")
	r = b.do(tool.Call{Name: tool.Run, Alias: "sh"})
	assert.False(t, r.Denied)
	assert.Equal(t, "sandbox.too_weak", code(r))
	b.runErr, b.result.End = nil, sandbox.EndCancelled
	r = b.do(tool.Call{Name: tool.Run, Alias: "sh"})
	assert.Equal(t, "internal.cancelled", code(r))
	assert.Len(t, r.Effects, 1, "what ran, ran")
	b = setup(t, func(c *toolbox.Config) { c.Sandbox = nil })
	assert.Equal(t, "toolbox.no_sandbox", code(b.do(tool.Call{Name: tool.Run, Alias: "sh"})))
}

// What the guard found is protected for tools and processes alike.
func TestGuard_ProtectsForToolsAndProcesses(t *testing.T) {
	b := setup(t)
	for _, p := range []string{
		"/w/.git/HEAD", "/w/.git/config", "/w/.git/hooks/pre-commit", "/w/deep/er/repo/.git/config", "/w/srv.git/hooks/update",
		"/w/bare/HEAD", "/w/bare/objects/a", "/w/bare/refs/b", "/w/bare/config", "/w/plain/config", "/w/store/common/config",
	} {
		b.tree.Put(p, "", 0)
	}
	b.tree.Put("/w/linked/.git", "gitdir: ../store/common\n", 0)
	b.tree.Put("/w/husky/.git/config", "[core]\n\thooksPath = .husky\n", 0)
	b.tree.Put("/w/husky/.husky/pre-commit", "", 0)
	b.tree.Put("/w/githooks/pre-push", "", 0)
	b.tree.Symlink("../githooks", "/w/mine.git/hooks")
	b.do(tool.Call{Name: tool.Run, Alias: "sh"})
	assert.Equal(t, []string{
		"/w/.git/config", "/w/.git/hooks", "/w/bare/config", "/w/deep/er/repo/.git/config", "/w/githooks", "/w/husky/.git/config",
		"/w/husky/.husky", "/w/linked/.git", "/w/mine.git/hooks", "/w/srv.git/hooks", "/w/store/common/config",
	}, b.runs[0].Protect)
	for _, c := range []tool.Call{
		{Name: tool.Write, Path: "bare/config", Content: "x"},
		{Name: tool.Write, Path: "husky/.husky/pre-push", Content: "x"},
		{Name: tool.Write, Path: "mine.git/hooks/pre-push", Content: "x"},
		{Name: tool.Patch, Path: "store/common/config", Old: "a", New: "b"},
		{Name: tool.Remove, Path: "linked/.git"},
		{Name: tool.Move, Path: "bare", Dest: "b2"},
		{Name: tool.Move, Path: ".git", Dest: "git2"},
		{Name: tool.Move, Path: "deep", Dest: "d2"},
		{Name: tool.Mkdir, Path: ".git/hooks"},
	} {
		r := b.do(c)
		assert.True(t, r.Denied, "%v: %s", c, r.Text)
	}
	assert.Nil(t, b.do(tool.Call{Name: tool.Write, Path: ".git/COMMIT_EDITMSG", Content: "x"}).Fault)
	assert.Nil(t, b.do(tool.Call{Name: tool.Write, Path: "plain/config", Content: "x"}).Fault)

	b.tree.Drop("/w/srv.git") // the owner removed it
	b.do(tool.Call{Name: tool.Run, Alias: "sh"})
	assert.NotContains(t, b.runs[1].Protect, "/w/srv.git/hooks")
}
