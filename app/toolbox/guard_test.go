package toolbox_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/app/gitguard"
	"github.com/agent-mcp/agent-mcp/app/toolbox"
	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/core/tool"
)

// records of one kind, by their fields.
func (b *boxed) recorded(kind audit.Kind) (out []map[string]any) {
	for _, r := range b.records {
		if r.Kind == kind {
			assert.Equal(b.t, "t", r.Ref.Task)
			out = append(out, r.Fields())
		}
	}
	return out
}

// DENY-01, LOG-03: what a process left in a Git directory when the Broker died is put aside by the next Task, once recorded,
// and told with the first result that may have changed something, failed or not; reading is no such call.
func TestGuard_PutsAsideWhatWasLeft(t *testing.T) {
	for _, call := range []tool.Call{
		{Name: tool.Write, Path: "a", Content: "x"}, {Name: tool.Remove, Path: "missing"}, {Name: tool.Run, Alias: "sh"},
	} {
		b := setup(t)
		for _, p := range []string{"HEAD", "config", "objects/a", "refs/b"} {
			b.tree.Put("/w/.git/"+p, "", 0)
		}
		b.tree.Put("/w/.git/commondir", "/w/evil", 0)
		b.tree.Put("/w/evil/hooks/x", "", 0)

		b.fail = audit.KindDenied
		assert.Equal(t, "toolbox.audit", code(b.do(call)), "what cannot be recorded does not happen")
		assert.Equal(t, "/w/evil", b.file("/w/.git/commondir"))
		b.fail = ""

		assert.NotContains(t, b.do(tool.Call{Name: tool.List, Path: "."}).Text, "commondir")
		r := b.do(call)
		assert.Contains(t, r.Text, "renamed .git/commondir to .git/commondir.refused: ")
		assert.Empty(t, b.file("/w/.git/commondir"))
		assert.Equal(t, "/w/evil", b.file("/w/.git/commondir.refused"))
		denied := b.recorded(audit.KindDenied)
		require.Len(t, denied, 1)
		assert.Equal(t, "/w/.git/commondir", denied[0]["path"])
		assert.Contains(t, fmt.Sprint(denied[0]["codes"]), string(gitguard.CodeRedirected))

		r = b.do(tool.Call{Name: tool.Run, Alias: "sh"})
		assert.NotContains(t, r.Text, "commondir", "told once")
		assert.Equal(t, []string{"/w/.git/config"}, b.runs[len(b.runs)-1].Protect)
		b.Box = toolbox.New(b.cfg)
		assert.NotContains(t, b.do(call).Text, "commondir", "the next Task finds nothing")
	}
}

// A flood of them does not flood the model.
func TestGuard_TellsAFewOfMany(t *testing.T) {
	b := setup(t)
	for i := range 30 {
		b.tree.Put(fmt.Sprintf("/w/r%02d/.git/config", i), "", 0)
		b.tree.Put(fmt.Sprintf("/w/r%02d/.git/commondir", i), "", 0)
	}
	r := b.do(tool.Call{Name: tool.Mkdir, Path: "d"})
	assert.Contains(t, r.Text, "r09/.git/commondir.refused")
	assert.NotContains(t, r.Text, "r10/.git/commondir.refused")
	assert.Contains(t, r.Text, "and 20 more of this kind")
	assert.Len(t, b.recorded(audit.KindDenied), 30)
}

// Where the guard may not rename, it says so, and nothing is followed.
func TestGuard_TellsWhatItCouldNotPutAside(t *testing.T) {
	b := setup(t)
	b.tree.Put("/docs/.git/config", "", 0)
	b.tree.Put("/docs/.git/commondir", "/w/common", 0)
	b.tree.Put("/w/.git", "gitdir: /docs/.git", 0)
	b.tree.Put("/w/common/config", "", 0)
	r := b.do(tool.Call{Name: tool.Run, Alias: "sh"})
	assert.Contains(t, r.Text, "warning: /docs/.git/commondir should not be there and could not be renamed")
	assert.Contains(t, b.tree.Snapshot(), "/docs/.git/commondir")
	assert.Equal(t, []string{"/w/.git"}, b.runs[0].Protect)
}

// LOG-03: a look that its bound cut short is recorded and told, once.
func TestGuard_TellsWhatItDidNotSee(t *testing.T) {
	b := setup(t)
	for i := range 40 {
		b.tree.MkdirAll(fmt.Sprintf("/w/d%02d", i))
	}
	b.tree.Put("/w/z/repo/.git/config", "", 0)
	b.BoundGuard(gitguard.Bounds{Dirs: 11})
	assert.NotContains(t, b.do(tool.Call{Name: tool.List, Path: "."}).Text, "warning")
	b.fail = audit.KindGuard
	assert.Equal(t, "toolbox.audit", code(b.do(tool.Call{Name: tool.Mkdir, Path: "new"})))
	b.fail = ""
	assert.Contains(t, b.do(tool.Call{Name: tool.Mkdir, Path: "new"}).Text, "too many directories to look for Git repositories in all of them (32 not seen)")
	assert.Equal(t, []map[string]any{{"protected": 0, "unseen": 32}}, b.recorded(audit.KindGuard))
	assert.NotContains(t, b.do(tool.Call{Name: tool.Mkdir, Path: "new2"}).Text, "warning")
	assert.Len(t, b.recorded(audit.KindGuard), 1)
	b.Box = toolbox.New(b.cfg)
	assert.NotContains(t, b.do(tool.Call{Name: tool.Mkdir, Path: "new3"}).Text, "warning", "an ordinary workspace is seen whole")
}
