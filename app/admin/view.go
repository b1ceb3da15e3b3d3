package admin

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/agent-mcp/agent-mcp/core/change"
	"github.com/agent-mcp/agent-mcp/core/config"
	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
	"github.com/agent-mcp/agent-mcp/ports/service"
	"github.com/agent-mcp/agent-mcp/ports/snapshot"
)

// Show implements service.Administrator.
func (s *Service) Show(ctx context.Context, path string) (service.View, error) {
	p, err := s.prepare(ctx, path)
	if err != nil {
		return service.View{}, err
	}
	var v service.View
	switch snap, err := s.stored(ctx, p.cfg); {
	case err == nil:
		v = p.view(&snap, nil)
	case codeIs(err, snapshot.CodeNone):
		v = p.view(nil, nil)
	case ctx.Err() != nil:
		return service.View{}, fault.From(ctx.Err())
	default:
		v = p.view(nil, fault.From(err))
	}
	if s.d.Reports != nil {
		if v.Tasks, err = s.d.Reports(p.cfg).Last(ctx, lastTasks); err != nil {
			v.Warnings = append(v.Warnings, fault.From(err))
		}
	}
	return v, nil
}

// lastTasks is how many Tasks Show lists.
const lastTasks = 10

// view puts everything into one value. damaged is why a stored snapshot cannot be used.
func (p *prepared) view(applied *change.Snapshot, damaged *fault.Error) service.View {
	cfg, now := p.cfg, p.permissions.Normal()
	v := service.View{
		Config: cfg.Path, Local: p.local, ID: config.ID(cfg.Path), StateDir: cfg.Application.StateDir,
		Language: cfg.Application.Language, Skills: p.skillRows(), Transport: cfg.MCP.Transport, Endpoints: now.Listen, Model: cfg.Ollama.Model, Server: cfg.Ollama.BaseURL,
		Changes:  change.Compare(applied, now, cfg.Fingerprint),
		Problems: p.problems, Warnings: p.warnings, Host: p.report,
		Network: service.NetworkRow{Mode: sandbox.NetworkMode(now.Network.Mode), Endpoints: now.Network.Endpoints},
		Resources: service.ResourceRow{
			Profile: now.Resources.Profile, MemoryMiB: now.Resources.MemoryMiB, Processes: now.Resources.Processes,
			Timeout: time.Duration(now.Resources.TimeoutSeconds) * time.Second, Require: cfg.Sandbox.Require,
		},
	}
	if p.catalog != nil {
		v.Language = p.catalog.Tag()
	}
	if applied != nil {
		v.AppliedAt, v.AppliedBy = applied.AppliedAt, "person"
		if applied.Yes {
			v.AppliedBy = "--yes"
		}
		v.Drift = p.drift(*applied)
	}
	if damaged != nil {
		v.Drift = []*fault.Error{damaged}
	}
	switch {
	case len(p.problems) > 0:
		v.Standing = service.Refused
	case damaged != nil:
		v.Standing = service.Damaged
	case applied == nil:
		v.Standing = service.NeverApplied
	case len(v.Drift) > 0:
		v.Standing = service.Drifted
	default:
		v.Standing = service.Current
	}
	p.rows(&v, applied, now)
	return v
}

func (p *prepared) rows(v *service.View, applied *change.Snapshot, now change.Permissions) {
	workspace := rights.Read
	if now.Profile == config.ProfileDevelopment {
		workspace = rights.All
	}
	v.Filesystem = append(v.Filesystem, service.FileRow{
		Name: "workspace", Kind: service.ItemWorkspace, Written: now.Workspace.Written, Path: now.Workspace.Path, Rights: workspace,
	})
	for _, m := range now.Mounts {
		set, _ := policy.Access(m.Access).Rights()
		v.Filesystem = append(v.Filesystem, service.FileRow{Name: m.Name, Kind: service.ItemMount, Written: m.Place.Written, Path: m.Place.Path, Rights: set})
	}
	if now.Cache.Name != "" {
		set := workspace
		if now.Profile != config.ProfileDevelopment {
			set = rights.Read | rights.Write | rights.Delete
		}
		v.Filesystem = append(v.Filesystem, service.FileRow{Name: now.Cache.Name, Kind: service.ItemCache, Written: now.Cache.Path, Path: now.Cache.Path, Rights: set})
	}
	for _, e := range now.Entries {
		row := service.ExecRow{
			Alias: e.Alias, Written: e.Place.Written, Path: e.Place.Path, SHA256: e.SHA256, RuntimeRoot: e.RuntimeRoot.Path, Shell: e.Shell, Interpreters: e.Interpreters,
		}
		if applied != nil {
			row.Approved = slices.ContainsFunc(applied.Permissions.Entries, func(o change.Entry) bool {
				return o.Alias == e.Alias && o.Place.Path == e.Place.Path && o.SHA256 == e.SHA256 && e.SHA256 != "" && slices.Equal(o.Interpreters, e.Interpreters)
			})
		}
		v.Execution = append(v.Execution, row)
		if e.RuntimeRoot != (change.Place{}) {
			v.Filesystem = append(v.Filesystem, service.FileRow{
				Name: e.Alias, Kind: service.ItemRuntimeRoot, Written: e.RuntimeRoot.Written, Path: e.RuntimeRoot.Path, Rights: rights.Read | rights.Execute,
			})
		}
	}
	for _, b := range p.report.Baseline {
		v.Filesystem = append(v.Filesystem, service.FileRow{Name: "system", Kind: service.ItemSystem, Written: b.Path, Path: b.Path, Rights: b.Rights})
	}
	order := []service.Item{service.ItemWorkspace, service.ItemMount, service.ItemCache, service.ItemRuntimeRoot, service.ItemSystem}
	slices.SortStableFunc(v.Filesystem, func(a, b service.FileRow) int {
		if x := slices.Index(order, a.Kind) - slices.Index(order, b.Kind); x != 0 {
			return x
		}
		return strings.Compare(a.Name, b.Name)
	})
}
