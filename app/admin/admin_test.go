package admin_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	clockfake "github.com/agent-mcp/agent-mcp/adapters/clock/fake"
	imagefile "github.com/agent-mcp/agent-mcp/adapters/image/file"
	keepfile "github.com/agent-mcp/agent-mcp/adapters/keep/file"
	"github.com/agent-mcp/agent-mcp/adapters/settings/koanf"
	snapshotfile "github.com/agent-mcp/agent-mcp/adapters/snapshot/file"
	"github.com/agent-mcp/agent-mcp/adapters/text/goi18n"
	"github.com/agent-mcp/agent-mcp/app/admin"
	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/core/change"
	"github.com/agent-mcp/agent-mcp/core/config"
	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/core/skill"
	"github.com/agent-mcp/agent-mcp/locales"
	"github.com/agent-mcp/agent-mcp/ports/consent"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
	"github.com/agent-mcp/agent-mcp/ports/service"
	"github.com/agent-mcp/agent-mcp/ports/settings"
	"github.com/agent-mcp/agent-mcp/ports/snapshot"
	"github.com/agent-mcp/agent-mcp/ports/text"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

var ctx = context.Background()

// english is loaded once: these tests are about what is done with a catalogue, not about its files.
var english = sync.OnceValues(func() (text.Catalog, error) {
	return goi18n.New(goi18n.Options{Builtin: locales.FS, Tag: "en"})
})

// world is a machine of its own: a directory with a configuration, a workspace and a program.
type world struct {
	t       *testing.T
	dir     string
	deps    admin.Deps
	report  sandbox.Report
	inode   uint64
	answer  func(question string) (bool, error)
	asked   []string
	records []audit.Record
	fail    error // of the Audit Log
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o755)) // whatever the umask
	w := &world{t: t, dir: dir, inode: 7, report: sandbox.Report{Platform: "fake", Level: sandbox.L2}}
	for _, item := range sandbox.Items() {
		w.report.Abilities = append(w.report.Abilities, sandbox.Ability{Item: item, Strength: sandbox.Approximate, Mechanism: "fake"})
	}
	w.answer = func(string) (bool, error) { return true, nil }
	require.NoError(t, os.MkdirAll(w.path("ws"), 0o755))
	require.NoError(t, os.MkdirAll(w.path("bin/lib"), 0o755))
	w.program("bin/tool", "\x7fELF one")
	w.config("")
	w.deps = admin.Deps{
		Source: koanf.New(), Host: config.Host{Home: w.path("home")}, Image: imagefile.New(), Sandbox: w, Asker: w, Keep: keepfile.New(),
		Clock: clockfake.New(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)),
		Inspect: func(_ context.Context, dir string) (workspace.Info, error) {
			return workspace.Info{Path: dir, Exists: true, Identity: workspace.Identity{File: w.inode}}, nil
		},
		Store: func(cfg config.Config) snapshot.Store {
			return snapshotfile.New(filepath.Join(cfg.Application.StateDir, "applied"))
		},
		Catalog: func(_ context.Context, cfg config.Config) (text.Catalog, error) {
			opts := goi18n.Options{Builtin: locales.FS, Tag: cfg.Application.Language}
			if opts.Tag == "en" {
				return english()
			}
			c, err := goi18n.New(opts)
			if err != nil {
				return nil, err
			}
			return c, nil
		},
		Record: func(_ context.Context, _ config.Config, rec audit.Record) error {
			if w.fail != nil {
				return w.fail
			}
			w.records = append(w.records, rec)
			return nil
		},
	}
	return w
}

func (w *world) Preflight(context.Context) (sandbox.Report, error) { return w.report, nil }

func (w *world) Ask(_ context.Context, question string) (bool, error) {
	w.asked = append(w.asked, question)
	return w.answer(question)
}

func (w *world) path(rel string) string { return filepath.Join(w.dir, rel) }

func (w *world) program(rel, content string) {
	require.NoError(w.t, os.WriteFile(w.path(rel), []byte(content), 0o755))
	require.NoError(w.t, os.Chmod(w.path(rel), 0o755))
}

// config writes agent.yaml; more is added below `sandbox:`.
func (w *world) config(more string) {
	w.raw("schema_version: 2\nollama: {model: m}\napplication: {state_dir: ./state}\nsandbox:\n  workspace: ./ws\n  execution:\n    entries:\n      - {alias: tool, path: ./bin/tool, runtime_root: ./bin/lib}\n" + more)
}

func (w *world) raw(text string) {
	require.NoError(w.t, os.WriteFile(w.path("agent.yaml"), []byte(text), 0o600))
}

func (w *world) service() *admin.Service { return admin.New(w.deps) }

func (w *world) apply() service.Applied {
	w.t.Helper()
	got, err := w.service().Apply(ctx, service.ApplyRequest{Path: w.path("agent.yaml")})
	require.NoError(w.t, err)
	return got
}

func (w *world) load() (admin.Effective, error) { return w.service().Load(ctx, w.path("agent.yaml")) }

func codes(f *fault.Error) (out []fault.Code) {
	for _, r := range f.Reasons {
		out = append(out, r.Code)
	}
	return out
}

// CLI-02, CFG-05: never applied → applied → current; a second apply finds nothing to do.
func TestApply_ThenLoad(t *testing.T) {
	w := newWorld(t)
	_, err := w.load()
	require.Equal(t, snapshot.CodeNone, fault.CodeOf(err))
	require.Equal(t, w.path("agent.yaml"), fault.From(err).Args["config"], "people know the file, not its id")

	var presented []service.View
	got, err := w.service().Apply(ctx, service.ApplyRequest{Path: w.path("agent.yaml"), Present: func(v service.View) {
		require.Empty(t, w.asked, "shown before anybody is asked")
		presented = append(presented, v)
	}})
	require.NoError(t, err)
	require.Equal(t, service.AppliedChanges, got.Outcome)
	require.Len(t, presented, 1)
	require.Equal(t, service.NeverApplied, presented[0].Standing)
	require.NotEmpty(t, presented[0].Changes)
	require.Equal(t, service.Current, got.View.Standing)
	require.Len(t, w.asked, 1)
	require.Len(t, w.records, 1)
	require.Equal(t, audit.KindApply, w.records[0].Kind)
	require.Equal(t, true, w.records[0].Fields()["accepted"])
	require.Equal(t, false, w.records[0].Fields()["yes"])

	eff, err := w.load()
	require.NoError(t, err)
	require.Equal(t, w.path("ws"), eff.Policy.Workspace())
	entry, ok := eff.Policy.Entry("tool")
	require.True(t, ok)
	require.Len(t, entry.SHA256, 64)
	require.Equal(t, w.path("bin/lib"), entry.RuntimeRoot)
	require.Equal(t, "en", eff.Catalog.Tag())
	require.Equal(t, service.Current, eff.View.Standing)
	require.True(t, eff.View.Execution[0].Approved)
	require.Equal(t, rights.All, eff.View.Filesystem[0].Rights)

	again := w.apply()
	require.Equal(t, service.Unchanged, again.Outcome)
	require.Len(t, w.asked, 1, "nothing to ask")
	require.Len(t, w.records, 1)
}

// CLI-02: declined, nobody there, failing log, failing store: the old snapshot stays.
func TestApply_KeepsTheOld(t *testing.T) {
	for name, tc := range map[string]struct {
		spoil   func(*world)
		code    fault.Code // "" = declined
		records int
	}{
		"declined": {func(w *world) { w.answer = func(string) (bool, error) { return false, nil } }, "", 2},
		"nobody":   {func(w *world) { w.answer = func(string) (bool, error) { return false, fault.New(consent.CodeNobody) } }, consent.CodeNobody, 1},
		"audit":    {func(w *world) { w.fail = fault.New("ledger.failed", "path", "p", "detail", "full") }, "ledger.failed", 1},
		"store": {func(w *world) {
			w.deps.Store = func(cfg config.Config) snapshot.Store {
				return failing{snapshotfile.New(filepath.Join(cfg.Application.StateDir, "applied"))}
			}
		}, snapshot.CodeFailed, 3},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.apply()
			before := w.stored()
			w.config("  profile: readonly\n")
			tc.spoil(w)
			got, err := w.service().Apply(ctx, service.ApplyRequest{Path: w.path("agent.yaml")})
			require.Equal(t, tc.code, fault.CodeOf(err))
			if tc.code == "" {
				require.Equal(t, service.Declined, got.Outcome)
			}
			require.Len(t, w.records, tc.records)
			if tc.records > 1 {
				require.Equal(t, false, w.records[tc.records-1].Fields()["accepted"])
			}
			require.Equal(t, before, w.stored())
		})
	}
}

type failing struct{ snapshot.Store }

func (failing) Save(context.Context, string, []byte) error {
	return fault.New(snapshot.CodeFailed, "path", "p", "detail", "read-only file system")
}

func (w *world) stored() string {
	data, err := os.ReadFile(filepath.Join(w.path("state/applied"), config.ID(w.path("agent.yaml")), "snapshot.json"))
	require.NoError(w.t, err)
	return string(data)
}

func TestApply_Yes(t *testing.T) {
	w := newWorld(t)
	_, err := w.service().Apply(ctx, service.ApplyRequest{Path: w.path("agent.yaml"), Yes: true})
	require.NoError(t, err)
	require.Empty(t, w.asked)
	require.Equal(t, true, w.records[0].Fields()["yes"])
	v, err := w.service().Show(ctx, w.path("agent.yaml"))
	require.NoError(t, err)
	require.Equal(t, "--yes", v.AppliedBy)
}

// CFG-05, AT-08, AT-09, SEC-INV-05: whatever drifts keeps the server from starting; apply accepts it again.
func TestLoad_Drift(t *testing.T) {
	for name, tc := range map[string]struct {
		spoil func(*world)
		want  []fault.Code
	}{
		"text": {func(w *world) { w.config("# a comment\n") }, []fault.Code{change.CodeFingerprint}},
		"a local file": {func(w *world) {
			require.NoError(w.t, os.WriteFile(w.path("agent.local.yaml"), []byte("logging: {level: debug}"), 0o600))
		}, []fault.Code{change.CodeFingerprint}},
		"program's bytes": {func(w *world) { w.program("bin/tool", "\x7fELF two") }, []fault.Code{change.CodeEntryHash}},
		"program's target": {func(w *world) {
			require.NoError(w.t, os.Rename(w.path("bin/tool"), w.path("bin/real")))
			require.NoError(w.t, os.Symlink("real", w.path("bin/tool")))
		}, []fault.Code{change.CodeEntryPath}},
		"workspace replaced": {func(w *world) { w.inode = 8 }, []fault.Code{change.CodeReplaced}},
		"several":            {func(w *world) { w.inode = 8; w.program("bin/tool", "\x7fELF two") }, []fault.Code{change.CodeReplaced, change.CodeEntryHash}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.apply()
			tc.spoil(w)
			_, err := w.load()
			require.Equal(t, change.CodeDrift, fault.CodeOf(err))
			require.Equal(t, tc.want, codes(fault.From(err)))
			v, err := w.service().Show(ctx, w.path("agent.yaml"))
			require.NoError(t, err)
			require.Equal(t, service.Drifted, v.Standing)
			require.NotEmpty(t, v.Changes)
			require.Equal(t, service.AppliedChanges, w.apply().Outcome)
			_, err = w.load()
			require.NoError(t, err)
		})
	}
}

func TestLoad_DamagedSnapshot(t *testing.T) {
	w := newWorld(t)
	w.apply()
	path := filepath.Join(w.path("state/applied"), config.ID(w.path("agent.yaml")), "snapshot.json")
	for _, tc := range []struct {
		data string
		code fault.Code
	}{
		{"", change.CodeDamaged},
		{`{"version":1}`, change.CodeDamaged},
		{strings.Replace(w.stored(), `"version":1`, `"version":9`, 1), change.CodeVersion},
	} {
		require.NoError(t, os.WriteFile(path, []byte(tc.data), 0o600))
		_, err := w.load()
		require.Equal(t, tc.code, fault.CodeOf(err))
		v, err := w.service().Show(ctx, w.path("agent.yaml"))
		require.NoError(t, err)
		require.Equal(t, service.Damaged, v.Standing)
	}
	got := w.apply()
	require.Equal(t, service.AppliedChanges, got.Outcome, "everything is approved anew")
	require.Equal(t, service.Added, got.View.Changes[0].Op)
	require.Equal(t, change.CodeVersion, got.View.Warnings[len(got.View.Warnings)-1].Code)
}

// Bad input: what a host's facts say against a configuration; apply and start refuse alike, with every reason.
func TestRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		spoil func(*world)
		want  []fault.Code
	}{
		"workspace missing": {func(w *world) { require.NoError(w.t, os.Remove(w.path("ws"))) }, []fault.Code{admin.CodeMissing}},
		"workspace a file": {func(w *world) {
			require.NoError(w.t, os.Remove(w.path("ws")))
			require.NoError(w.t, os.WriteFile(w.path("ws"), nil, 0o600))
		}, []fault.Code{admin.CodeNoDirectory}},
		"workspace a symlink": {func(w *world) {
			require.NoError(w.t, os.Rename(w.path("ws"), w.path("real")))
			require.NoError(w.t, os.Symlink("real", w.path("ws")))
		}, []fault.Code{admin.CodeWorkspaceLink}},
		"workspace is the file system": {func(w *world) { w.edit("./ws", "/") }, []fault.Code{admin.CodeWholeSystem}},
		"workspace holds everything":   {func(w *world) { w.edit("./ws", ".") }, []fault.Code{"policy.root_denied", "policy.entry_writable", "policy.entry_writable"}},
		"state dir in the workspace":   {func(w *world) { w.edit("./state", "./ws/state") }, []fault.Code{admin.CodeOwnPlace}},
		"mount missing":                {func(w *world) { w.config("  mounts: [{name: m, path: ./none, access: read_only}]\n") }, []fault.Code{admin.CodeMissing}},
		"mount over the workspace": {func(w *world) {
			w.config("  mounts: [{name: m, path: ./ws, access: read_only}]\n")
		}, []fault.Code{"policy.root_same"}},
		"mount takes rights away": {func(w *world) {
			require.NoError(w.t, os.Mkdir(w.path("ws/in"), 0o755))
			w.config("  mounts: [{name: m, path: ./ws/in, access: read_only}]\n")
		}, []fault.Code{"policy.root_nested"}},
		"program missing":              {func(w *world) { require.NoError(w.t, os.Remove(w.path("bin/tool"))) }, []fault.Code{admin.CodeMissing}},
		"program in a write root":      {func(w *world) { w.program("ws/tool", "\x7fELF"); w.edit("./bin/tool", "./ws/tool") }, []fault.Code{"policy.entry_writable"}},
		"program a directory":          {func(w *world) { w.edit("./bin/tool", "./bin/lib") }, []fault.Code{"broker.entry_directory"}},
		"program anybody may write":    {func(w *world) { require.NoError(w.t, os.Chmod(w.path("bin/tool"), 0o757)) }, []fault.Code{"broker.entry_open"}},
		"program the group may write":  {func(w *world) { require.NoError(w.t, os.Chmod(w.path("bin/tool"), 0o775)) }, []fault.Code{admin.CodeGroupWritable}},
		"program in an open directory": {func(w *world) { require.NoError(w.t, os.Chmod(w.path("bin"), 0o777)) }, []fault.Code{"broker.entry_open", "broker.entry_open"}},
		"program not executable":       {func(w *world) { require.NoError(w.t, os.Chmod(w.path("bin/tool"), 0o644)) }, []fault.Code{"broker.entry_not_program"}},
		"script without interpreter":   {func(w *world) { w.program("bin/tool", "#!/no/such\n") }, []fault.Code{"broker.entry_interpreter"}},
		"runtime root a file":          {func(w *world) { w.edit("./bin/lib", "./bin/tool") }, []fault.Code{"broker.runtime_root"}},
		"host without confinement":     {func(w *world) { w.report = sandbox.Report{Platform: "old"} }, []fault.Code{sandbox.CodeUnavailable}},
		"exact required":               {func(w *world) { w.config("  require: exact\n") }, []fault.Code{sandbox.CodeTooWeak, sandbox.CodeTooWeak}},
		"a failed check": {func(w *world) {
			w.deps.Skills = func(context.Context, config.Config) (skill.Catalogue, []*fault.Error, error) {
				return skill.Catalogue{}, nil, fault.New("skill.broken")
			}
		}, []fault.Code{"skill.broken"}},
		"a missing path hides nothing": {func(w *world) {
			w.edit("./state", "./ws/state")
			require.NoError(w.t, os.Remove(w.path("bin/tool")))
		}, []fault.Code{admin.CodeMissing, admin.CodeOwnPlace}},
		"several at once": {func(w *world) {
			require.NoError(w.t, os.Remove(w.path("bin/tool")))
			require.NoError(w.t, os.Remove(w.path("ws")))
			w.report.Level = sandbox.LevelNone
		}, []fault.Code{sandbox.CodeUnavailable, admin.CodeMissing, admin.CodeMissing}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			tc.spoil(w)
			_, err := w.service().Apply(ctx, service.ApplyRequest{Path: w.path("agent.yaml"), Yes: true})
			f := fault.From(err)
			require.NotNil(t, f)
			require.Equal(t, admin.CodeRefused, f.Code, f.Error())
			require.Equal(t, tc.want, codes(f), f.Error())
			require.Empty(t, w.records)
			require.NoDirExists(t, w.path("state"))
			_, err = w.load()
			require.Error(t, err)
			v, err := w.service().Show(ctx, w.path("agent.yaml"))
			require.NoError(t, err)
			require.Equal(t, service.Refused, v.Standing)
			require.Len(t, v.Problems, len(tc.want))
		})
	}
}

// edit replaces text in agent.yaml.
func (w *world) edit(old, now string) {
	data, err := os.ReadFile(w.path("agent.yaml"))
	require.NoError(w.t, err)
	require.Contains(w.t, string(data), old)
	w.raw(strings.Replace(string(data), old, now, 1))
}

// A host that has become weaker since apply stops the start, although nothing drifted.
func TestLoad_WeakerHost(t *testing.T) {
	w := newWorld(t)
	w.apply()
	w.report = sandbox.Report{Platform: "fake"}
	_, err := w.load()
	require.Equal(t, admin.CodeRefused, fault.CodeOf(err))
	w = newWorld(t)
	w.apply()
	require.NoError(t, os.Remove(w.path("bin/tool")))
	_, err = w.load()
	require.Equal(t, admin.CodeRefused, fault.CodeOf(err))
	require.Equal(t, []fault.Code{admin.CodeMissing}, codes(fault.From(err)), "a missing program is named once, as missing")
}

// NET-02: a mode that the sandbox confines is applied as it is written.
func TestApply_Network(t *testing.T) {
	w := newWorld(t)
	w.report.Networks = []sandbox.NetworkMode{sandbox.NetworkLocal}
	w.config("  network: {mode: local, endpoints: [5432, 80]}\n")
	require.Equal(t, []string{"5432", "80"}, w.apply().View.Network.Endpoints)
	eff, err := w.load()
	require.NoError(t, err)
	require.Equal(t, sandbox.Network{Mode: sandbox.NetworkLocal, Ports: []uint16{80, 5432}, Connections: policy.MaxConnections, Bytes: policy.MaxFlowBytes}, eff.Policy.Network())
}

func TestWarnings(t *testing.T) {
	for name, tc := range map[string]struct {
		spoil func(*world)
		want  fault.Code
	}{
		"open workspace": {func(w *world) { require.NoError(w.t, os.Chmod(w.path("ws"), 0o777)) }, admin.WarnOpen},
		"skills in it":   {func(w *world) { w.edit("schema_version: 2", "schema_version: 2\nskills: {directories: [./ws/skills]}") }, admin.WarnSelfTaught},
		"prompt in it": {func(w *world) {
			w.edit("schema_version: 2", "schema_version: 2\nagent: {user_system_prompt: ./ws/p.md}")
		}, admin.WarnSelfTaught},
		"the cloud": {func(w *world) { w.edit("model: m", "model: 'm:cloud'") }, config.WarnCloud},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			tc.spoil(w)
			got := w.apply()
			require.Len(t, got.View.Warnings, 1)
			require.Equal(t, tc.want, got.View.Warnings[0].Code)
		})
	}
}

func TestUnreadableConfigurations(t *testing.T) {
	w := newWorld(t)
	for text, code := range map[string]fault.Code{
		"":                                   settings.CodeEmpty,
		"schema_version: 1":                  config.CodeMigrate,
		"schema_version: 2\nsandbox: {x: 1}": config.CodeInvalid,
	} {
		w.raw(text)
		_, err := w.load()
		require.Equal(t, code, fault.CodeOf(err))
		_, err = w.service().Show(ctx, w.path("agent.yaml"))
		require.Equal(t, code, fault.CodeOf(err))
		_, err = w.service().Apply(ctx, service.ApplyRequest{Path: w.path("agent.yaml"), Yes: true})
		require.Equal(t, code, fault.CodeOf(err))
	}
	w.config("")
	w.edit("state_dir: ./state", "language: fr") // AT-20
	_, err := w.service().Apply(ctx, service.ApplyRequest{Path: w.path("agent.yaml"), Yes: true})
	require.Equal(t, []fault.Code{admin.CodeLanguage}, codes(fault.From(err)))
}

func TestLanguage(t *testing.T) {
	w := newWorld(t)
	w.edit("state_dir: ./state", "language: ja, locales_dir: ./l")
	tag, dir := w.service().Language(ctx, w.path("agent.yaml"))
	require.Equal(t, "ja", tag)
	require.Equal(t, w.path("l"), dir)
	w.raw("application: {language: ja}\nnonsense: 1\n")
	tag, _ = w.service().Language(ctx, w.path("agent.yaml"))
	require.Equal(t, "ja", tag)
	tag, _ = w.service().Language(ctx, w.path("none.yaml"))
	require.Empty(t, tag)
}

func TestCancelled(t *testing.T) {
	w := newWorld(t)
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	_, err := w.service().Apply(cancelled, service.ApplyRequest{Path: w.path("agent.yaml"), Yes: true})
	require.Equal(t, fault.CodeCancelled, fault.CodeOf(err))
	w.deps.Inspect = func(context.Context, string) (workspace.Info, error) { return workspace.Info{}, errors.New("boom") }
	_, err = w.service().Apply(ctx, service.ApplyRequest{Path: w.path("agent.yaml"), Yes: true})
	require.Equal(t, admin.CodeRefused, fault.CodeOf(err), fmt.Sprint(err))
}
