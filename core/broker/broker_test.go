package broker_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/broker"
	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/image"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

var (
	sum   = strings.Repeat("ab", 32)
	other = strings.Repeat("cd", 32)
)

func setup(t *testing.T, profile policy.Profile) *policy.Policy {
	t.Helper()
	p, f := policy.Build(policy.Input{
		Profile: profile, Workspace: "/w",
		Mounts: []policy.MountInput{{Name: "out", Path: "/out", Access: policy.AccessDelete}, {Name: "docs", Path: "/docs", Access: policy.AccessRead}},
		Entries: []policy.Entry{
			{Alias: "python", Path: "/opt/py/bin/python3.11", SHA256: sum, RuntimeRoot: "/opt/py"},
			{Alias: "sh", Path: "/usr/bin/dash", SHA256: sum},
		},
		Baseline: []rights.Root{{Path: "/usr", Rights: rights.Read | rights.Execute}},
		Network:  policy.NetworkInput{Mode: "none"}, Resources: policy.ResourceInput{Profile: "normal"}, Require: sandbox.Approximate,
	})
	require.Nil(t, f)
	return p
}

func start(alias, path, hash string) broker.Start {
	return broker.Start{
		ID: "r1", Call: tool.Call{Name: tool.Run, Alias: alias}, OutputBytes: 100,
		File: broker.File{Path: path, SHA256: hash, Regular: true, Executable: true},
	}
}

func reasons(f *fault.Error) string {
	if f == nil {
		return ""
	}
	out := []string{string(f.Code)}
	for _, r := range f.Reasons {
		out = append(out, string(r.Code))
	}
	return strings.Join(out, " ")
}

// PRC-01..06, PRC-09, SEC-INV-05, AT-09, AT-22. PRF-01: what lies in the system's directories is no entry without Approval.
func TestPrepare_ClassifiesAndApproves(t *testing.T) {
	dev, ro := setup(t, policy.Development), setup(t, policy.ReadOnly)
	for _, c := range []struct {
		p     *policy.Policy
		s     broker.Start
		class broker.Class
		want  string
	}{
		{dev, start("python", "/opt/py/bin/python3.11", sum), broker.ApprovedEntry, ""},
		{dev, start("sh", "/usr/bin/dash", sum), broker.ApprovedShell, ""},
		{ro, start("sh", "/usr/bin/dash", sum), broker.ApprovedShell, ""},
		{dev, start("python", "/opt/py/bin/python3.11", other), broker.ApprovedEntry, "broker.refused broker.hash_changed"},
		{dev, start("python", "/opt/py/bin/python3.11", ""), broker.ApprovedEntry, "broker.refused broker.hash_changed"},
		{dev, start("python", "/opt/py/bin/python3.12", sum), broker.RuntimeComponent, "broker.refused broker.path_changed"},
		{dev, start("python", "/w/python", other), broker.Artifact, "broker.refused broker.path_changed broker.hash_changed"},
		{dev, start("sh", "/opt/py/bin/python3.11", sum), broker.ApprovedEntry, "broker.refused broker.path_changed"},
		{dev, start("/opt/py/bin/python3.11", "/opt/py/bin/python3.11", sum), broker.ApprovedEntry, "broker.refused broker.by_path"},
		{dev, start("/opt/py/bin/pip", "/opt/py/bin/pip", ""), broker.RuntimeComponent, ""},
		{dev, start("/opt/py/bin/bash", "/opt/py/bin/bash", ""), broker.Unapproved, "broker.refused broker.shell"},
		{dev, start("a.out", "/w/build/a.out", ""), broker.Artifact, ""},
		{dev, start("zsh", "/w/zsh", ""), broker.Unapproved, "broker.refused broker.shell"},
		{ro, start("a.out", "/w/build/a.out", ""), broker.External, "broker.refused broker.external"},
		{dev, start("tool", "/out/tool", ""), broker.External, "broker.refused broker.external"},
		{dev, start("tool", "/docs/tool", ""), broker.External, "broker.refused broker.external"},
		{dev, start("/usr/bin/env", "/usr/bin/env", other), broker.External, "broker.refused broker.external"},
		{dev, start("/etc/x", "/etc/x", other), broker.External, "broker.refused broker.external"},
		{dev, start("/w/../etc/x", "/w/../etc/x", ""), broker.External, "broker.refused broker.external"},
		{dev, start("nothing", "", ""), broker.External, "broker.refused broker.external"},
	} {
		spec, class, f := broker.Prepare(c.p, c.s)
		assert.Equal(t, c.want, reasons(f), "%s %s", c.s.Call.Alias, c.s.File.Path)
		assert.Equal(t, c.class, class, c.s.File.Path)
		assert.Equal(t, f == nil, spec.Entry.Path != "", "a refusal yields no Spec")
		if f == nil && class != broker.ApprovedEntry && class != broker.ApprovedShell {
			assert.Empty(t, spec.Entry.SHA256)
		}
	}
}

func TestPrepare_RefusesWhatCannotRun(t *testing.T) {
	p := setup(t, policy.Development)
	for want, bend := range map[string]func(*broker.Start){
		"broker.directory":             func(s *broker.Start) { s.Dir, s.DirOK = "/w/file", false },
		"policy.denied policy.outside": func(s *broker.Start) { s.Dir, s.DirOK = "/etc", true },
		"broker.directory ":            func(s *broker.Start) { s.Dir, s.DirOK = "/usr/lib", true },
		"broker.not_file":              func(s *broker.Start) { s.File.Regular = false },
		"broker.not_executable":        func(s *broker.Start) { s.File.Executable = false },
		"broker.no_interpreter":        func(s *broker.Start) { s.File.Script = true },
		"broker.no_output":             func(s *broker.Start) { s.OutputBytes = 0 },
		"broker.arguments":             func(s *broker.Start) { s.Call.Args = []string{strings.Repeat("a", broker.MaxArgument+1)} },
		"broker.arguments ": func(s *broker.Start) {
			s.Call.Args = strings.Split(strings.Repeat(strings.Repeat("a", 100_000)+" ", 12), " ")
		},
		"policy.denied policy.not_canonical": func(s *broker.Start) { s.Dir, s.DirOK = "/w/..", true },
	} {
		s := start("a", "/w/a", "")
		bend(&s)
		spec, _, f := broker.Prepare(p, s)
		assert.Equal(t, strings.TrimSpace(want), reasons(f))
		assert.Zero(t, spec)
	}
}

// The Spec carries the whole policy and nothing of the caller's (SEC-INV-03, SEC-INV-08, RES-01).
func TestPrepare_BuildsTheSpec(t *testing.T) {
	p := setup(t, policy.Development)
	s := start("sh", "/usr/bin/dash", sum)
	s.Call.Args, s.Call.Stdin, s.Call.TimeoutSec = []string{"-c", "true"}, "in", 5
	s.Dir, s.DirOK = "/out/sub", true
	s.Protect = []string{"/w/.git/hooks", "/docs/.git/config", "/w/.git/config", "/etc/x", "/w/.git/hooks"}
	s.Environment = []string{"AWS_SECRET_ACCESS_KEY=x", "LANG=ja_JP.UTF-8", "TZ=../../etc/passwd", "PATH=/evil", "LD_PRELOAD=/w/x.so", "LC_ALL=$(id)", "LC_TIME=C"}
	spec, _, f := broker.Prepare(p, s)
	require.Nil(t, f)
	assert.Equal(t, sandbox.Spec{
		ID: "r1", Roots: p.SandboxRoots(), Protect: []string{"/w/.git/config", "/w/.git/hooks"},
		Entry: sandbox.Entry{Name: "/usr/bin/dash", Path: "/usr/bin/dash", SHA256: sum},
		Args:  []string{"-c", "true"}, Dir: "/out/sub", Stdin: []byte("in"),
		Env:     []string{"LANG=ja_JP.UTF-8", "LC_TIME=C", "NO_COLOR=1", "TERM=dumb"},
		Network: sandbox.Network{Mode: sandbox.NetworkNone},
		Limits:  sandbox.Limits{Processes: 16, MemoryBytes: 4 << 30, WallClock: 5 * time.Second, OutputBytes: 100},
		Require: sandbox.Approximate,
	}, spec)
}

// PRC-02, PRC-09: what runs an approved script is judged before the start as the script is, and reaches the Spec.
func TestPrepare_PinsInterpreters(t *testing.T) {
	approved := []sandbox.Image{{Path: "/usr/bin/env", SHA256: sum}, {Path: "/usr/bin/python3", SHA256: sum}}
	in := policy.Input{
		Profile: policy.Development, Workspace: "/w", Entries: []policy.Entry{{Alias: "tool", Path: "/opt/tool", SHA256: sum, Interpreters: approved}},
		Network: policy.NetworkInput{Mode: "none"}, Resources: policy.ResourceInput{Profile: "normal"}, Require: sandbox.Approximate,
	}
	p, f := policy.Build(in)
	require.Nil(t, f)
	for name, c := range map[string]struct {
		now  []sandbox.Image
		want string
	}{
		"as approved":   {[]sandbox.Image{approved[0], approved[1]}, ""},
		"swapped":       {[]sandbox.Image{approved[0], {Path: "/usr/bin/python3", SHA256: other}}, "broker.refused broker.interpreter_changed"},
		"led elsewhere": {[]sandbox.Image{approved[0], {Path: "/usr/local/bin/python3", SHA256: sum}}, "broker.refused broker.interpreter_changed"},
		"one less":      {approved[:1], "broker.refused broker.interpreter_changed"},
		"one more":      {append(approved[:2:2], approved[0]), "broker.refused broker.interpreter_changed"},
		"none":          {nil, "broker.refused broker.interpreter_changed"},
	} {
		s := start("tool", "/opt/tool", sum)
		s.File.Script, s.File.Interpreter, s.File.Interpreters = true, "/usr/bin/env", c.now
		spec, _, f := broker.Prepare(p, s)
		assert.Equal(t, c.want, reasons(f), name)
		if f == nil {
			assert.Equal(t, approved, spec.Entry.Interpreters)
			assert.Contains(t, spec.Roots, rights.Root{Path: "/usr/bin/python3", Rights: rights.Read | rights.Execute}, "it can run")
		}
	}
	assert.Equal(t, broker.External, broker.Classify(p, "/usr/bin/python3"), "an interpreter is no entry")
	assert.Equal(t, broker.External, broker.Classify(p, "/w/../usr/bin/python3"))
	in.Entries[0].Interpreters = []sandbox.Image{{Path: "/w/python", SHA256: sum}}
	_, f = policy.Build(in)
	assert.Equal(t, "policy.invalid policy.entry_writable", reasons(f))
	in.Entries[0].Interpreters = []sandbox.Image{{Path: "/usr/bin/python3"}}
	_, f = policy.Build(in)
	assert.Equal(t, "policy.invalid policy.entry_hash", reasons(f))
}

// SEC-INV-08: with a cache the environment names caches in it, and nothing that holds settings or credentials.
func TestEnvironment_Cache(t *testing.T) {
	assert.Equal(t, []string{
		"CCACHE_DIR=/s/c/ccache", "GOCACHE=/s/c/go-build", "GOMODCACHE=/s/c/go-mod", "NO_COLOR=1", "NUGET_PACKAGES=/s/c/nuget",
		"PIP_CACHE_DIR=/s/c/pip", "TERM=dumb", "XDG_CACHE_HOME=/s/c", "npm_config_cache=/s/c/npm",
	}, broker.Environment([]string{"GOCACHE=/home/u/.cache/go-build", "CARGO_HOME=/home/u/.cargo"}, "/s/c"))
	assert.Contains(t, broker.Environment(nil, `C:\s\c`), `GOCACHE=C:\s\c\go-build`)
	assert.Equal(t, []string{"NO_COLOR=1", "TERM=dumb"}, broker.Environment([]string{"GOCACHE=/x"}, ""))
}

func TestPrepare_ACallOnlyShortensTheWallClock(t *testing.T) { // RES-01
	p := setup(t, policy.Development)
	for seconds, want := range map[int]time.Duration{0: 30 * time.Minute, 1: time.Second, 1799: 1799 * time.Second, 1800: 30 * time.Minute, 1 << 40: 30 * time.Minute} {
		s := start("a", "/w/a", "")
		s.Call.TimeoutSec = seconds
		spec, _, f := broker.Prepare(p, s)
		require.Nil(t, f)
		assert.Equal(t, want, spec.Limits.WallClock, seconds)
		assert.Equal(t, "/w", spec.Dir)
	}
}

func TestShell(t *testing.T) { // PRC-06
	for path, want := range map[string]bool{
		"/bin/sh": true, "/usr/bin/bash": true, "/usr/bin/bash-5.2": true, "/bin/zsh5": true, "/bin/busybox": true, `C:\Windows\System32\cmd.exe`: true,
		`C:\x\PowerShell.EXE`: true, `C:\Program Files\PowerShell\7\pwsh.exe`: true, "/usr/bin/fish": true,
		"/opt/ksh93u+m": true, "/bin/ksh93": true, "/bin/mksh-static": true, "/bin/busybox.static": true, "/bin/busybox-extras": true, "/bin/sh.distrib": true,
		"/bin/bash.real": true, "/opt/bash-5.2.21-static": true, "/bin/bash5": true, "/opt/nu": true, "/usr/bin/pwsh-preview": true, "/usr/bin/toybox": true,
		`D:\tools\BASH.EXE`: true, "/w/Zsh.exe": true, "/bin/rbash": true, "/usr/bin/tcsh": true, `C:\Git\bin\sh-5.exe`: true,
		"/w/sh2ps": false, "/usr/bin/dash-to-dock": false, "/w/fish.py": false, "/usr/bin/nuget": false, "/w/sh-test": false, "/w/bash_completion": false,
		"/usr/bin/zshdb": false, "/usr/bin/git-shell": false, `C:\x\cmd.bat`: false, "/w/command.com": false, "/w/.sh": false, "/w/sh.": false,
		"/usr/bin/python3": false, "/w/test.sh": false, "/usr/bin/ssh": false, "/w/cmd": false, "": false, "/usr/bin/bashful": false,
	} {
		assert.Equal(t, want, broker.Shell(path), path)
	}
}

func TestApprovable(t *testing.T) {
	good := image.Identity{Path: "/p", Regular: true, Executable: true, Format: image.FormatELF}
	for want, bend := range map[string]func(*image.Identity){
		"":                          func(*image.Identity) {},
		"broker.entry_directory":    func(i *image.Identity) { *i = image.Identity{Path: "/p", Directory: true} },
		"broker.entry_not_file":     func(i *image.Identity) { *i = image.Identity{Path: "/p"} },
		"broker.entry_not_program":  func(i *image.Identity) { i.Executable = false },
		"broker.entry_not_program ": func(i *image.Identity) { i.Format = image.FormatUnknown },
		"broker.entry_interpreter":  func(i *image.Identity) { i.Format, i.Interpreter = image.FormatScript, "/no" },
		"broker.entry_open broker.entry_open": func(i *image.Identity) {
			i.WorldWritable, i.OpenParents = true, []string{"/shared"}
		},
	} {
		id := good
		bend(&id)
		var got []string
		for _, r := range broker.Approvable("a", id) {
			got = append(got, string(r.Code))
		}
		assert.Equal(t, strings.TrimSpace(want), strings.Join(got, " "))
	}
	assert.Empty(t, broker.ApprovableRoot("a", image.Identity{Directory: true}))
	assert.Len(t, broker.ApprovableRoot("a", good), 1)
	assert.Len(t, broker.ApprovableRoot("a", image.Identity{Directory: true, OpenParents: []string{"/x"}}), 1)
}
