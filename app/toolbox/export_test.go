package toolbox

import "github.com/agent-mcp/agent-mcp/app/gitguard"

// BoundGuard gives a Box that did nothing yet a guard with other bounds.
func (b *Box) BoundGuard(x gitguard.Bounds) {
	b.git = gitguard.New(b.Tree, b.Policy, x)
	b.git.Watch(b.watch.Before)
}
