package admin

import (
	"context"
	"path/filepath"

	"github.com/agent-mcp/agent-mcp/core/change"
	"github.com/agent-mcp/agent-mcp/core/config"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/keep"
)

// cacheDir is the folder of all caches in the state directory: cache/<workspace id>/<name>.
const cacheDir = "cache"

// kept is the place of the cache: below is relative to base, which is canonical.
type kept struct {
	base, below string
	missing     bool
}

// cache finds the directory that programs keep between Tasks. It belongs to the resolved workspace: what one workspace's
// programs leave there is never found by those of another. Only `apply` makes it.
func (r *resolver) cache(ctx context.Context) error {
	name := r.p.cfg.Sandbox.Cache
	if name == "" || r.in.Workspace == "" {
		return nil
	}
	k := kept{base: r.canonical(ctx, r.p.cfg.Application.StateDir), below: filepath.Join(cacheDir, config.ID(r.in.Workspace), name)}
	path := filepath.Join(k.base, k.below)
	r.p.permissions.Cache, r.in.Cache = change.Cache{Name: name, Path: path}, path
	err := r.s.d.Keep.Check(ctx, k.base, k.below)
	switch {
	case codeIs(err, keep.CodeMissing):
		k.missing = true
	case ctx.Err() != nil:
		return fault.From(ctx.Err())
	case err != nil:
		r.p.problems = append(r.p.problems, fault.From(err))
	}
	r.p.cache = k
	return nil
}

// keep makes the cache's directory, where there is to be one.
func (s *Service) keep(ctx context.Context, p *prepared) error {
	if p.cache.below == "" {
		return nil
	}
	return s.d.Keep.Make(ctx, p.cache.base, p.cache.below)
}
