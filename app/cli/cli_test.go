package cli_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/text/goi18n"
	"github.com/agent-mcp/agent-mcp/app/cli"
	"github.com/agent-mcp/agent-mcp/conformance/golden"
	"github.com/agent-mcp/agent-mcp/core/change"
	"github.com/agent-mcp/agent-mcp/locales"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/report"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
	"github.com/agent-mcp/agent-mcp/ports/service"
	"github.com/agent-mcp/agent-mcp/ports/text"
)

// Both catalogues are loaded once.
var (
	english  = sync.OnceValues(func() (text.Catalog, error) { return goi18n.New(goi18n.Options{Builtin: locales.FS, Tag: "en"}) })
	japanese = sync.OnceValues(func() (text.Catalog, error) { return goi18n.New(goi18n.Options{Builtin: locales.FS, Tag: "ja"}) })
)

func catalog(t testing.TB, tag string) text.Catalog {
	t.Helper()
	load := english
	if tag == "ja" || tag == "ja-JP" {
		load = japanese
	}
	c, err := load()
	require.NoError(t, err)
	return c
}

// shell runs the command line in this process.
type shell struct {
	out, err bytes.Buffer
	calls    []string
	env      map[string]string
	language string
	view     service.View
	outcome  service.Outcome
	fails    error
	terminal bool
	stdout   io.Writer // instead of out
}

func (s *shell) run(t testing.TB, args ...string) int {
	t.Helper()
	s.out.Reset()
	s.err.Reset()
	s.calls = nil
	var stdout io.Writer = &s.out
	if s.stdout != nil {
		stdout = s.stdout
	}
	return cli.Main(context.Background(), args, cli.Deps{
		Stdout: stdout, Stderr: &s.err, StdoutTerminal: s.terminal, StderrTerminal: s.terminal,
		Getenv: func(name string) string { return s.env[name] }, Executable: "/opt/agent/agent-mcp", Version: "1.2.3",
		Language: func(context.Context, string) (string, string) { return s.language, "" },
		Catalog: func(_ context.Context, tag, _ string) text.Catalog {
			return catalog(t, tag)
		},
		Admin:  s,
		Server: func(_ context.Context, path string) error { s.calls = append(s.calls, "serve "+path); return s.fails },
	})
}

func (s *shell) Apply(_ context.Context, req service.ApplyRequest) (service.Applied, error) {
	call := "apply " + req.Path
	if req.Yes {
		call += " --yes"
	}
	s.calls = append(s.calls, call)
	if s.fails != nil {
		return service.Applied{}, s.fails
	}
	if s.outcome != service.Unchanged {
		req.Present(s.view)
	}
	return service.Applied{Outcome: s.outcome, View: s.view}, nil
}

func (s *shell) Show(_ context.Context, path string) (service.View, error) {
	s.calls = append(s.calls, "show "+path)
	return s.view, s.fails
}

// CLI-01, CLI-05: what each command line does, and what is refused.
func TestMain_Commands(t *testing.T) {
	def := filepath.FromSlash("/opt/agent/agent.yaml")
	for line, want := range map[string]string{
		"":                       "serve " + def,
		"a.yaml":                 "serve a.yaml",
		"apply":                  "apply " + def,
		"apply a.yaml":           "apply a.yaml",
		"apply --yes":            "apply " + def + " --yes",
		"apply --yes a.yaml":     "apply a.yaml --yes",
		"apply a.yaml --yes":     "apply a.yaml --yes",
		"show":                   "show " + def,
		"show a.yaml":            "show a.yaml",
		"-- apply.yaml":          "serve apply.yaml",
		"-- --config":            "serve --config",
		"apply -- -x":            "apply -x",
		"./apply":                "serve ./apply",
		"show apply":             "show apply",
		"show serve":             "show serve",
		"--help":                 "0",
		"apply a.yaml --help":    "0",
		"--version":              "0",
		"a.yaml b.yaml":          "2 b.yaml",
		"apply a b":              "2 one too many",
		"--yes":                  "2 behind `apply`",
		"show --yes":             "2 behind `apply`",
		"a.yaml --verbose":       "2 --verbose",
		"-h":                     "2 -h",
		"-":                      "2 There is no option -.",
		"aply":                   "2 Did you mean apply?",
		"appyl":                  "2 Did you mean apply?",
		"shows":                  "2 Did you mean show?",
		"snow":                   "2 Did you mean show?",
		"serve":                  "2 agent-mcp [CONFIG]",
		"serve --config a.yaml":  "2 --config: write the path alone",
		"check a.yaml":           "2 agent-mcp show [CONFIG]",
		"executable add python":  "2 sandbox.execution.entries",
		"sandbox apply":          "2 `sandbox:`",
		"--config=a.yaml":        "2 --config:",
		"a.yaml --lang ja":       "2 application.language",
		"--transport http":       "2 mcp.transport",
		"x --path p":             "2 --path:",
		"x --runtime-root r":     "2 runtime_root",
		"x --no-runtime":         "2 leave runtime_root out",
		"apply --format json":    "2 --format:",
		"show --format=json x y": "2 --format:",
	} {
		s := shell{outcome: service.AppliedChanges}
		code := s.run(t, strings.Fields(line)...)
		if !strings.ContainsAny(want[:1], "02") {
			require.Equal(t, []string{want}, s.calls, line)
			require.Zero(t, code, line)
			continue
		}
		require.Empty(t, s.calls, line)
		exit, message, _ := strings.Cut(want, " ")
		require.Equal(t, map[string]int{"0": 0, "2": 2}[exit], code, line)
		require.Contains(t, s.err.String(), message, line)
		require.Equal(t, exit == "2", s.err.Len() > 0, line)
		require.Equal(t, exit == "0", s.out.Len() > 0, line)
	}
	s := shell{}
	require.Equal(t, 2, s.run(t, ""), "an empty path is a mistake, not the default")
}

// CLI-05: every old word is named at once.
func TestMain_OldWordsTogether(t *testing.T) {
	s := shell{}
	require.Equal(t, 2, s.run(t, "serve", "--config", "a.yaml", "--lang=ja", "--transport", "http"))
	golden.Equal(t, "old_en.txt", s.err.Bytes())
	s.language = "ja"
	require.Equal(t, 2, s.run(t, "serve", "--config", "a.yaml", "--lang=ja", "--transport", "http"))
	golden.Equal(t, "old_ja.txt", s.err.Bytes())
}

// I18N-04..07: configuration, else the environment, else English.
func TestMain_Language(t *testing.T) {
	for name, tc := range map[string]struct {
		config string
		env    map[string]string
		want   string
	}{
		"nothing":            {"", nil, "en"},
		"the configuration":  {"ja", map[string]string{"LANG": "en_US.UTF-8"}, "ja"},
		"English wins too":   {"en", map[string]string{"LANG": "ja_JP.UTF-8"}, "en"},
		"LANG":               {"", map[string]string{"LANG": "ja_JP.UTF-8"}, "ja"},
		"LC_ALL before LANG": {"", map[string]string{"LC_ALL": "C.UTF-8", "LANG": "ja_JP.UTF-8"}, "en"},
		"LC_MESSAGES":        {"", map[string]string{"LC_MESSAGES": "ja_JP@x"}, "ja"},
		"a language without": {"", map[string]string{"LANG": "xx_YY"}, "en"},
	} {
		s := shell{language: tc.config, env: tc.env}
		require.Zero(t, s.run(t, "--help"))
		require.Equal(t, tc.want == "ja", strings.Contains(s.out.String(), "サーバーを起動します"), name)
	}
}

func TestMain_HelpFitsAndVersion(t *testing.T) {
	for _, tag := range []string{"en", "ja"} {
		s := shell{language: tag}
		require.Zero(t, s.run(t, "--help"))
		fits(t, s.out.String())
		golden.Equal(t, "help_"+tag+".txt", s.out.Bytes())
		require.Zero(t, s.run(t, "--version"))
		require.Equal(t, "agent-mcp 1.2.3\n", s.out.String())
	}
}

// The one table of exit codes.
func TestMain_ExitCodes(t *testing.T) {
	for code, want := range map[fault.Code]int{
		"": 0, "config.missing": 2, "config.invalid": 2, "snapshot.none": 2, "change.drift": 2, "sandbox.unavailable": 2, "admin.refused": 2,
		"journal.undo_failed": 2, "locale.unknown": 2, "consent.nobody": 2, "snapshot.unsafe": 2, "server.listen": 2, "trace.failed": 2, "internal.unexpected": 1,
		"internal.cancelled": 130, "model.not_found": 2, "front.broken": 1,
	} {
		s := shell{}
		if code != "" {
			s.fails = fault.New(code)
		}
		for _, args := range [][]string{{"a.yaml"}, {"show", "a.yaml"}, {"apply", "a.yaml"}} {
			require.Equal(t, want, s.run(t, args...), "%s %v", code, args)
			require.Equal(t, want != 0, s.err.Len() > 0, "a failure is said once, on standard error")
		}
	}
	for _, code := range []fault.Code{"snapshot.failed", "ledger.failed"} {
		s := shell{fails: fault.New(code)}
		require.Equal(t, 1, s.run(t, "apply", "a.yaml"), "the operation failed")
		require.Equal(t, 2, s.run(t, "a.yaml"), "the start is refused")
	}
	s := shell{fails: &cli.ServedError{Err: fault.New("ledger.failed")}}
	require.Equal(t, 1, s.run(t, "a.yaml"), "it failed while it served; no start was refused")
	require.Contains(t, s.err.String(), "[ledger.failed] ", "the code is the same in every language")
	s = shell{fails: context.Canceled}
	require.Equal(t, 130, s.run(t))
	s.fails = errors.New("boom")
	require.Equal(t, 1, s.run(t))
	s = shell{outcome: service.Declined}
	require.Equal(t, 3, s.run(t, "apply"))
	require.Contains(t, s.err.String(), "Declined")
}

type broken struct{ err error }

func (b broken) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Path: "/dev/stdout", Err: b.err}
}

// A full disk loses what show and --help print: exit 1. A reader that left does not.
func TestMain_OutputLost(t *testing.T) {
	for err, want := range map[error]int{syscall.ENOSPC: 1, syscall.EPIPE: 0} {
		for _, args := range [][]string{{"--help"}, {"--version"}, {"show", "a.yaml"}} {
			s := shell{view: sampleView()}
			s.stdout = broken{err}
			require.Equal(t, want, s.run(t, args...), "%v %v", err, args)
			require.Equal(t, want == 1, strings.Contains(s.err.String(), string(cli.CodeOutput)), s.err.String())
		}
	}
}

func sampleView() service.View {
	sum := strings.Repeat("0123456789abcdef", 4)
	v := service.View{
		Config: "/home/ann/projects/a project with a long name/agent.yaml", Local: "/home/ann/projects/a project with a long name/agent.local.yaml",
		ID: "00112233445566778899aabbccddeeff", StateDir: "/home/ann/.local/state/agent-mcp", Language: "en", Transport: "stdio",
		Model: "qwen3:8b", Server: "http://127.0.0.1:11434", Standing: service.Drifted,
		AppliedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), AppliedBy: "person",
		Skills: []service.SkillRow{
			{Directory: "/home/ann/skills", Names: []string{"commit-messages", "pdf-forms", "release-notes", "spreadsheets", "translate"}},
			{Directory: "/home/ann/projects/a project with a long name/skills"},
		},
		Filesystem: []service.FileRow{
			{Name: "workspace", Kind: service.ItemWorkspace, Written: "/home/ann/ws", Path: "/home/ann/ws", Rights: rights.All},
			{Name: "docs", Kind: service.ItemMount, Written: "/home/ann/docs", Path: "/srv/" + strings.Repeat("very-long-directory/", 6) + "docs", Rights: rights.Read},
			{Name: "build", Kind: service.ItemCache, Written: "/home/ann/.local/state/agent-mcp/cache/ab/build", Path: "/home/ann/.local/state/agent-mcp/cache/ab/build", Rights: rights.All},
			{Name: "資料", Kind: service.ItemMount, Written: "/home/ann/資料", Path: "/home/ann/資料/設計書と議事録とその他のたくさんの文書をまとめて置いてあるところ/2026年度", Rights: rights.Read | rights.Write},
			{Name: "python", Kind: service.ItemRuntimeRoot, Written: "/usr/lib/python3", Rights: rights.Read | rights.Execute},
			{Name: "system", Kind: service.ItemSystem, Written: "/etc/ssl", Path: "/etc/ssl", Rights: rights.Read},
			{Name: "system", Kind: service.ItemSystem, Written: "/usr", Path: "/usr", Rights: rights.Read | rights.Execute},
		},
		Execution: []service.ExecRow{
			{Alias: "python", Written: "/usr/bin/python3", Path: "/usr/bin/python3.11", SHA256: sum, RuntimeRoot: "/usr/lib/python3.11", Approved: true},
			{Alias: "sh", Written: "/bin/sh", Path: "/usr/bin/dash", SHA256: sum, Shell: true},
			{Alias: "tool", Written: "/opt/tool", Path: "/opt/tool", SHA256: sum, Approved: true, Interpreters: []sandbox.Image{{Path: "/usr/bin/env", SHA256: sum}, {Path: "/usr/bin/python3.11", SHA256: sum}}},
		},
		Tasks:     []report.Kept{{Entry: report.Entry{Task: "t", State: "failed", Title: "write the report", Ended: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}, Place: "/s/reports/x.md"}},
		Network:   service.NetworkRow{Mode: sandbox.NetworkRestricted, Endpoints: []string{"api.example.com:443", "files.example.com:443", "packages.example.com:443", "mirror.example.com:443"}},
		Resources: service.ResourceRow{Profile: "normal", MemoryMiB: 4096, Processes: 16, Timeout: 30 * time.Minute, Require: sandbox.Approximate},
		Host: sandbox.Report{Platform: "linux", Level: sandbox.L2, Missing: []*fault.Error{fault.New("consent.nobody")}, Abilities: []sandbox.Ability{
			{Item: sandbox.ItemRead, Strength: sandbox.Exact, Mechanism: "landlock+mount namespace+read-only bind of every root and of every system directory"},
			{Item: sandbox.ItemMemory, Strength: sandbox.Approximate, Mechanism: "rlimit+poll"},
		}},
		Changes: []service.Change{
			{
				Op: service.ChangedOp, Item: service.ItemEntry, Name: "python", Widens: true, Meaning: service.Phrase{Key: "means.entry_content"},
				Before: []service.Attribute{{Name: "label.sha256", Value: strings.Repeat("f", 64)}}, After: []service.Attribute{{Name: "label.sha256", Value: sum}},
			},
			{
				Op: service.Added, Item: service.ItemEntry, Name: "sh", Widens: true, Meaning: service.Phrase{Key: "means.entry_shell"},
				After: []service.Attribute{{Name: "label.path", Value: "/usr/bin/dash"}, {Name: "label.written", Value: "/bin/sh"}, {Name: "label.sha256", Value: sum}},
			},
			{
				Op: service.Removed, Item: service.ItemMount, Name: "old", Meaning: service.Phrase{Key: "means.gone"},
				Before: []service.Attribute{{Name: "label.path", Value: "/old"}, {Name: "label.access", Value: "read_only", Word: service.Access("read_only").Key}},
			},
		},
		Drift:    []*fault.Error{fault.New("change.fingerprint"), fault.New("change.entry_hash", "alias", "python", "path", "/usr/bin/python3.11", "was", strings.Repeat("f", 64), "now", sum)},
		Warnings: []*fault.Error{fault.New("config.cloud_model", "place", "agent.yaml:4", "model", "x:cloud", "key", "ollama.model")},
	}
	return v
}

// fits checks every line against 80 columns, wide characters counted twice.
func fits(t *testing.T, s string) {
	t.Helper()
	for _, l := range strings.Split(s, "\n") {
		n := 0
		for _, r := range l {
			if n++; r >= 0x2e80 && r < 0xffa0 && r != 0xfffd {
				n++
			}
		}
		require.LessOrEqual(t, n, cli.Columns, l)
	}
}

// CLI-02, CLI-03, NFR-08: one difference and one matrix, in both languages, within 80 columns.
func TestViews_Golden(t *testing.T) {
	for _, tag := range []string{"en", "ja"} {
		s := shell{language: tag, view: sampleView(), outcome: service.AppliedChanges}
		require.Zero(t, s.run(t, "show"))
		fits(t, s.out.String())
		require.NotContains(t, s.out.String(), "\x1b")
		require.NotContains(t, s.out.String(), "─")
		golden.Equal(t, "show_"+tag+".txt", s.out.Bytes())
		require.Zero(t, s.run(t, "apply", "--yes"))
		fits(t, s.out.String())
		golden.Equal(t, "apply_"+tag+".txt", s.out.Bytes())
	}
	first := shell{view: service.View{Standing: service.NeverApplied}, outcome: service.AppliedChanges}
	require.Zero(t, first.run(t, "apply"))
	require.NotContains(t, first.out.String(), "Restart", "nothing can be running yet")
	require.Contains(t, first.out.String(), "An MCP client can start")
	s := shell{view: service.View{Standing: service.Current, Warnings: sampleView().Warnings}, outcome: service.Unchanged}
	require.Zero(t, s.run(t, "apply"))
	golden.Equal(t, "unchanged_en.txt", s.out.Bytes())
}

// Colours and box lines only where they can be shown; NO_COLOR and TERM=dumb are obeyed.
func TestViews_Style(t *testing.T) {
	for name, tc := range map[string]struct {
		terminal   bool
		env        map[string]string
		color, box bool
	}{
		"a file":            {false, nil, false, false},
		"a terminal":        {true, nil, true, true},
		"NO_COLOR":          {true, map[string]string{"NO_COLOR": "1"}, false, true},
		"an empty NO_COLOR": {true, map[string]string{"NO_COLOR": ""}, true, true},
		"a dumb terminal":   {true, map[string]string{"TERM": "dumb"}, false, false},
	} {
		s := shell{view: sampleView(), terminal: tc.terminal, env: tc.env}
		require.Zero(t, s.run(t, "show"))
		require.Equal(t, tc.color, strings.Contains(s.out.String(), "\x1b["), name)
		require.Equal(t, tc.box, strings.Contains(s.out.String(), "─"), name)
	}
	s := shell{view: sampleView(), terminal: true}
	require.Zero(t, s.run(t, "show"))
	golden.Equal(t, "show_terminal.txt", s.out.Bytes())
}

func TestShow_NothingCanBeStarted(t *testing.T) {
	require.Contains(t, cli.Show(service.View{}, catalog(t, "en"), cli.Style{}), "No program can be started.")
}

// A name that somebody else chose cannot fake a line, drive the terminal or reverse what is read.
func TestViews_ForeignNames(t *testing.T) {
	v := sampleView()
	v.Execution[0].Path = "/x\n    SHA-256  00\x1b[2J\u202e"
	got := cli.Show(v, catalog(t, "en"), cli.Style{})
	require.Contains(t, got, "/x\ufffd    SHA-256  00\ufffd[2J\ufffd\n")
}

// I18N-07, CLI-02, CLI-03: `apply` and `show` have the same words for every value of an enumeration, in the owner's language.
func TestViews_HaveWordsForEveryValue(t *testing.T) {
	words := map[string][]text.Word{
		"access":    {service.Access("read_only"), service.Access("read_write"), service.Access("read_write_delete")},
		"profile":   {service.Profile("readonly"), service.Profile("development")},
		"limits":    {service.Limits("constrained"), service.Limits("normal"), service.Limits("extended")},
		"transport": {service.Transport("http"), service.Transport("stdio")},
		"mode":      {sandbox.NetworkNone.Word(), sandbox.NetworkLocal.Word(), sandbox.NetworkRestricted.Word()},
		"strength":  {sandbox.StrengthNone.Word(), sandbox.Approximate.Word(), sandbox.Exact.Word()},
	}
	for _, i := range sandbox.Items() {
		words["item"] = append(words["item"], i.Word())
	}
	for _, i := range []service.Item{
		service.ItemProfile, service.ItemWorkspace, service.ItemMount, service.ItemEntry, service.ItemRuntimeRoot, service.ItemNetwork,
		service.ItemResources, service.ItemRequire, service.ItemModel, service.ItemSettings, service.ItemCache, service.ItemListen, service.ItemSystem,
	} {
		words["part"] = append(words["part"], i.Word())
	}
	// Every value stands once in both views, as an attribute, a row, or an argument of a fault.
	views := []service.View{sampleView()}
	views[0].Warnings, views[0].Drift, views[0].Host.Missing, views[0].Tasks[0].Title = nil, nil, nil, "依頼"
	views[0].Host.Abilities = nil // mechanisms are technical names
	for kind, list := range words {
		for _, w := range list {
			require.NotEmpty(t, w.Key, "%s %s has words", kind, w.Plain)
			v := views[0]
			v.Network.Mode, v.Resources.Profile, v.Transport, v.Filesystem = sandbox.NetworkNone, "extended", "http", nil
			v.Changes = []service.Change{{Op: service.Added, Item: service.ItemMount, Name: "m", After: []service.Attribute{{Name: "label.mode", Value: w.Plain, Word: w.Key}}, Meaning: service.Phrase{Key: "means.gone"}}}
			v.Problems = []*fault.Error{fault.New("change.other", "item", w, "name", "m")}
			switch kind {
			case "mode":
				v.Network.Mode = sandbox.NetworkMode(w.Plain)
			case "limits":
				v.Resources.Profile = w.Plain
			case "transport":
				v.Transport = w.Plain
			case "strength":
				v.Resources.Require = sandbox.ParseStrength(w.Plain)
				v.Host.Abilities = []sandbox.Ability{{Item: sandbox.ItemRead, Strength: v.Resources.Require, Mechanism: "m"}}
			case "part":
				v.Changes[0].Item = service.Item(w.Plain)
				v.Filesystem = []service.FileRow{{Name: "x", Kind: service.Item(w.Plain), Written: "/x", Path: "/x"}}
			}
			views = append(views, v)
		}
	}
	ja := catalog(t, "ja")
	for _, v := range views {
		for command, out := range map[string]string{"show": cli.Show(v, ja, cli.Style{}), "apply": cli.Difference(v, ja, cli.Style{})} {
			for kind, list := range words {
				for _, w := range list {
					if w.Plain == "stdio" || w.Plain == "http" {
						continue // names of protocols
					}
					require.NotRegexp(t, `(^|[^\w/.:-])`+regexp.QuoteMeta(w.Plain)+`([^\w/.-]|$)`, out, "%s, a value of %s", command, kind)
				}
			}
			require.NotRegexp(t, `\b(person|current|drifted|damaged|refused|never_applied|completed|failed|cancelled)\b`, out, command)
		}
	}
	// The same value reads the same in both.
	v := views[0]
	v.Resources.Require = sandbox.Exact
	v.Changes = change.Compare(nil, change.Permissions{Profile: "development", Require: "exact", Network: change.Network{Mode: "none"}}, "")
	require.Regexp(t, `最低限の強制レベル +厳密`, cli.Show(v, ja, cli.Style{}))
	require.Regexp(t, `最低限の強制レベル +厳密`, cli.Difference(v, ja, cli.Style{}))
}

func FuzzViews(f *testing.F) {
	f.Add("a b", "日本語の 長い、文。")
	f.Fuzz(func(t *testing.T, a, b string) {
		v := sampleView()
		v.Config, v.Filesystem[0].Path, v.Filesystem[1].Name = a, b, a
		cli.Show(v, catalog(t, "en"), cli.Style{})
	})
}
