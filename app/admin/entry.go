package admin

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/agent-mcp/agent-mcp/core/config"
	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/image"
	"github.com/agent-mcp/agent-mcp/ports/rights"
)

// entryLink is a symlink on the way from a configured path to the file that was approved.
type entryLink struct {
	alias string
	image.Link
}

// others notes who else could change a file that entry alias stands on: a group that may write it is refused, a place that
// another user or group may change is told.
func (r *resolver) others(alias string, id image.Identity) {
	if id.Regular && id.GroupWritable && !id.WorldWritable {
		r.problem(CodeGroupWritable, "alias", alias, "path", id.Path)
	}
	if len(id.Shared) > 0 {
		r.p.warnings = append(r.p.warnings, fault.New(WarnShared, "what", keyOf("entries."+alias), "path", id.Path, "shared", strings.Join(id.Shared, ", ")))
	}
	for _, l := range id.Links {
		r.links = append(r.links, entryLink{alias, l})
	}
}

// runtimeRoot notes what speaks against a Runtime Root besides its own facts (PRC-03). It must not be a link: the link would
// be what was approved, not the directory.
func (r *resolver) runtimeRoot(ctx context.Context, e config.Entry, root image.Identity) {
	what := keyOf("entries." + e.Alias + ".runtime_root")
	if root.Directory && filepath.Dir(root.Path) == root.Path {
		r.problem(CodeWholeSystem, "what", what, "path", e.RuntimeRoot)
	}
	if r.canonical(ctx, filepath.Dir(e.RuntimeRoot)) != filepath.Dir(root.Path) || filepath.Base(e.RuntimeRoot) != filepath.Base(root.Path) {
		r.problem(CodeRuntimeLink, "what", what, "path", e.RuntimeRoot, "target", root.Path)
	}
	r.others(e.Alias, root)
}

// linksApart refuses links that lie where the agent may write: it could lead the next approval elsewhere (PRC-02). p is nil
// when the policy was refused.
func (r *resolver) linksApart(p *policy.Policy) {
	if p == nil {
		return
	}
	seen := map[entryLink]bool{}
	for _, l := range r.links {
		root, set, ok := p.RootOf(l.Path)
		if ok && set&(rights.Write|rights.Delete) != 0 && !seen[l] {
			seen[l] = true
			r.problem(CodeLinkWritable, "alias", l.alias, "path", l.Path, "target", l.Target, "root", keyOf(root.Name))
		}
	}
}
