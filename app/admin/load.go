package admin

import (
	"context"

	"github.com/agent-mcp/agent-mcp/core/change"
	"github.com/agent-mcp/agent-mcp/core/config"
	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/core/skill"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
	"github.com/agent-mcp/agent-mcp/ports/service"
	"github.com/agent-mcp/agent-mcp/ports/snapshot"
	"github.com/agent-mcp/agent-mcp/ports/text"
)

// Effective is everything a server may start with: what was applied, and is still so.
type Effective struct {
	Config   config.Config
	ID       string // configuration id
	Catalog  text.Catalog
	Report   sandbox.Report
	Policy   *policy.Policy
	Snapshot change.Snapshot
	Skills   skill.Catalogue
	Prompt   string // the User System Prompt
	Warnings []*fault.Error
	View     service.View
}

// Load gives a starting server its effective state. It fails closed: without a snapshot, with a damaged or untrusted
// one, with any drift, or when the host no longer gives what was approved, nothing starts (CFG-05). Faults: those of the
// configuration, CodeRefused, snapshot.CodeNone and CodeUnsafe, change.CodeDamaged, CodeVersion and CodeDrift; the last
// carries every reason.
func (s *Service) Load(ctx context.Context, path string) (Effective, error) {
	p, err := s.prepare(ctx, path)
	if err != nil {
		return Effective{}, err
	}
	if p.report.Level == sandbox.LevelNone { // no approval would help (OBS-01)
		return Effective{}, p.refused()
	}
	applied, err := s.stored(ctx, p.cfg)
	if err != nil {
		return Effective{}, err
	}
	if drift := p.drift(applied); len(drift) > 0 {
		return Effective{}, fault.New(change.CodeDrift, "config", p.cfg.Path).With(drift...).With(p.problems...)
	}
	if len(p.problems) > 0 {
		return Effective{}, p.refused()
	}
	return Effective{
		Config: p.cfg, ID: config.ID(p.cfg.Path), Catalog: p.catalog, Report: p.report, Policy: p.policy,
		Snapshot: applied, Skills: p.skills, Prompt: p.prompt, Warnings: p.warnings, View: p.view(&applied, nil),
	}, nil
}

func (p *prepared) refused() error {
	return fault.New(CodeRefused, "path", p.cfg.Path, "count", len(p.problems)).With(p.problems...)
}

// drift leaves out what is only a missing path: that is a problem with a better text.
func (p *prepared) drift(applied change.Snapshot) []*fault.Error {
	var out []*fault.Error
	if p.cache.missing && applied.Permissions.Cache == p.permissions.Cache {
		out = append(out, fault.New(CodeCacheMissing, "path", p.permissions.Cache.Path))
	}
	for _, f := range change.Drift(applied, p.permissions, p.cfg.Fingerprint) {
		if now, has := f.Args["now"]; !has || now != "" {
			out = append(out, f)
		}
	}
	return out
}

// stored reads the Applied Configuration. snapshot.CodeNone names the configuration's path, not its id.
func (s *Service) stored(ctx context.Context, cfg config.Config) (change.Snapshot, error) {
	data, err := s.d.Store(cfg).Load(ctx, config.ID(cfg.Path))
	if codeIs(err, snapshot.CodeNone) {
		return change.Snapshot{}, fault.Wrap(err, snapshot.CodeNone, "config", cfg.Path)
	}
	if err != nil {
		return change.Snapshot{}, err
	}
	return change.Parse(cfg.Path, data)
}
