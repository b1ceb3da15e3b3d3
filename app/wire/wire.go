// Package wire is the composition root: the only place that knows every adapter. It builds the use cases, in reading order,
// and holds no rule of its own (spec sections 2, 3 and 9; architecture).
package wire

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/agent-mcp/agent-mcp/adapters/clock/system"
	"github.com/agent-mcp/agent-mcp/adapters/consent/terminal"
	"github.com/agent-mcp/agent-mcp/adapters/ident/random"
	imagefile "github.com/agent-mcp/agent-mcp/adapters/image/file"
	keepfile "github.com/agent-mcp/agent-mcp/adapters/keep/file"
	ledgerfile "github.com/agent-mcp/agent-mcp/adapters/ledger/file"
	reportfile "github.com/agent-mcp/agent-mcp/adapters/report/file"
	"github.com/agent-mcp/agent-mcp/adapters/settings/koanf"
	snapshotfile "github.com/agent-mcp/agent-mcp/adapters/snapshot/file"
	"github.com/agent-mcp/agent-mcp/adapters/text/goi18n"
	"github.com/agent-mcp/agent-mcp/app/admin"
	"github.com/agent-mcp/agent-mcp/app/auditor"
	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/core/config"
	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/locales"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/report"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
	"github.com/agent-mcp/agent-mcp/ports/snapshot"
	"github.com/agent-mcp/agent-mcp/ports/text"
)

// name is what clients and logs call the program.
const name = "agent-mcp"

// version is the release that this program is, without a v; the linker of `task release` sets it, nothing else does.
var version string

// Version is the release, else the module's version, else the commit it was built from.
func Version() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return strings.TrimPrefix(v, "v")
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel-" + s.Value[:12]
		}
	}
	return "devel"
}

// host collects what the configuration needs to know about the machine.
func host() config.Host {
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) { // a relative one would mean another place in every directory
		home = ""
	}
	h := config.Host{
		Home: home, StateHome: os.Getenv("XDG_STATE_HOME"), LocalAppData: os.Getenv("LOCALAPPDATA"),
		Windows: runtime.GOOS == "windows", Env: map[string]string{},
	}
	for _, e := range os.Environ() {
		if k, v, ok := strings.Cut(e, "="); ok {
			h.Env[strings.ToUpper(k)] = v
		}
	}
	return h
}

func style() policy.Style {
	if runtime.GOOS == "windows" {
		return policy.Style{Separator: '\\', FoldCase: true}
	}
	return policy.Style{}
}

// Catalog loads the texts of a language: built in, beside the executable, then the configured directory.
func Catalog(tag, dir string) (text.Catalog, error) {
	opts := goi18n.Options{Builtin: locales.FS, Tag: tag}
	if exe, err := os.Executable(); err == nil {
		opts.Dirs = append(opts.Dirs, goi18n.Dir{Path: filepath.Join(filepath.Dir(exe), "locales"), Optional: true})
	}
	if dir != "" {
		opts.Dirs = append(opts.Dirs, goi18n.Dir{Path: dir})
	}
	return goi18n.New(opts)
}

// builtin loads the shipped texts alone.
func builtin(tag string) (text.Catalog, error) {
	return goi18n.New(goi18n.Options{Builtin: locales.FS, Tag: tag})
}

type loadCatalog func(tag, dir string) (text.Catalog, error)

// Admin builds the owner's use cases. in and out are where a person answers; person tells whether one is there.
func Admin(catalog loadCatalog, box sandbox.Sandbox, in io.Reader, out io.Writer, person bool) *admin.Service {
	return admin.New(admin.Deps{
		Source: koanf.New(), Host: host(), Style: style(), Image: imagefile.New(), Sandbox: box, Keep: keepfile.New(),
		Asker: terminal.New(in, out, person), Clock: system.New(), Inspect: inspectDir,
		Store: func(cfg config.Config) snapshot.Store { return snapshotfile.New(stateDir(cfg, "applied")) },
		Catalog: func(_ context.Context, cfg config.Config) (text.Catalog, error) {
			return catalog(cfg.Application.Language, cfg.Application.LocalesDir)
		},
		Record:  recordOnce,
		Skills:  readSkills,
		Prompt:  userPrompt,
		Reports: func(cfg config.Config) report.Store { return reports(cfg) },
	})
}

// reports is where the configuration's Tasks leave their reports.
func reports(cfg config.Config) *reportfile.Store {
	return reportfile.New(filepath.Join(stateDir(cfg, "reports"), config.ID(cfg.Path)), cfg.MCP.Tasks.MaxKept)
}

func stateDir(cfg config.Config, part string) string {
	return filepath.Join(cfg.Application.StateDir, part)
}

// recordOnce writes one record to an audit chain of its own: apply is no server and has no instance.
func recordOnce(ctx context.Context, cfg config.Config, rec audit.Record) (err error) {
	id := "apply-" + random.New().New()
	l, err := openLedger(cfg, id)
	if err != nil {
		return err
	}
	defer func() {
		if e := l.Close(); err == nil {
			err = e
		}
	}()
	if ctx.Err() != nil {
		return fault.From(ctx.Err())
	}
	return auditor.New(l, id, "").Record(rec)
}

func openLedger(cfg config.Config, id string) (*ledgerfile.Ledger, error) {
	return ledgerfile.New(ledgerfile.Options{
		Dir: cfg.Logging.Dir, Name: id, MaxFileBytes: cfg.Logging.MaxFileBytes, MaxFiles: cfg.Logging.MaxFiles,
	})
}
