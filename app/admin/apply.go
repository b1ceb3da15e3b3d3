package admin

import (
	"context"

	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/core/change"
	"github.com/agent-mcp/agent-mcp/core/config"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/service"
	"github.com/agent-mcp/agent-mcp/ports/snapshot"
)

// Apply implements service.Administrator. Order: everything that could refuse, the difference, the question, the audit
// record, the cache's directory, the snapshot. What comes after a failure does not happen, so any failure keeps the old snapshot (CLI-02).
func (s *Service) Apply(ctx context.Context, req service.ApplyRequest) (service.Applied, error) {
	p, err := s.prepare(ctx, req.Path)
	if err != nil {
		return service.Applied{}, err
	}
	if len(p.problems) > 0 {
		return service.Applied{}, p.refused()
	}
	old, damaged, err := s.previous(ctx, p)
	if err != nil {
		return service.Applied{}, err
	}
	view := p.view(old, damaged)
	if len(view.Changes) == 0 {
		if p.cache.missing { // it was approved before
			if err := s.keep(ctx, p); err != nil {
				return service.Applied{}, err
			}
			p.warnings = append(p.warnings, fault.New(WarnCacheMade, "path", p.permissions.Cache.Path))
			view = p.view(old, damaged)
		}
		return service.Applied{Outcome: service.Unchanged, View: view}, nil
	}
	if req.Present != nil {
		req.Present(view)
	}
	accepted := req.Yes
	if !req.Yes {
		key := keyQuestion
		if view.Standing == service.NeverApplied {
			key = keyQuestionFirst
		}
		if accepted, err = s.d.Asker.Ask(ctx, p.catalog.Text(key, map[string]any{"config": p.cfg.Path})); err != nil {
			return service.Applied{}, err
		}
	}
	record := func(accepted bool) error {
		return s.d.Record(ctx, p.cfg, audit.Apply(s.d.Clock.Now(), p.cfg.Path, p.cfg.Fingerprint, len(view.Changes), req.Yes, accepted))
	}
	if err := record(accepted); err != nil {
		return service.Applied{}, err
	}
	if !accepted {
		return service.Applied{Outcome: service.Declined, View: view}, nil
	}
	snap, err := change.Snapshot{}, s.keep(ctx, p)
	if err == nil {
		snap, err = s.save(ctx, p, req.Yes)
	}
	if err != nil {
		_ = record(false) // the failure that is reported came first
		return service.Applied{}, err
	}
	after := p.view(&snap, nil)
	after.Changes = view.Changes
	return service.Applied{Outcome: service.AppliedChanges, View: after}, nil
}

// previous is the snapshot to compare with. One that is damaged or of another version approves nothing: everything is
// shown as new, with a warning. One that somebody else could have written stops the apply.
func (s *Service) previous(ctx context.Context, p *prepared) (old *change.Snapshot, damaged *fault.Error, err error) {
	snap, err := s.stored(ctx, p.cfg)
	switch {
	case err == nil:
		return &snap, nil, nil
	case codeIs(err, snapshot.CodeNone):
		return nil, nil, nil
	case codeIs(err, change.CodeDamaged), codeIs(err, change.CodeVersion):
		p.warnings = append(p.warnings, fault.From(err))
		return nil, fault.From(err), nil
	}
	return nil, nil, err
}

func (s *Service) save(ctx context.Context, p *prepared, yes bool) (change.Snapshot, error) {
	snap := change.Snapshot{
		Version: change.Version, Config: p.cfg.Path, Fingerprint: p.cfg.Fingerprint,
		AppliedAt: s.d.Clock.Now().UTC(), Yes: yes, Permissions: p.permissions,
	}
	data, err := snap.Bytes()
	if err != nil {
		return snap, fault.From(err)
	}
	return snap, s.d.Store(p.cfg).Save(ctx, config.ID(p.cfg.Path), data)
}
