package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/model/scripted"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/core/trigger"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// MCP-STS-03, AT-07, SEC-INV-13, I18N-07: agent_status tells how much was refused without saying what the sandbox is, and names
// the files that the owner's own tools would obey.
func TestStatus_TellsWhatTheOwnerShouldKnow(t *testing.T) {
	kinds := []trigger.Kind{
		trigger.Git, trigger.Environment, trigger.Editor, trigger.Debugger, trigger.Container, trigger.Hooks, trigger.Packages, trigger.Build,
		trigger.Python, trigger.Automation, trigger.Desktop, trigger.Hidden,
	}
	for lang, want := range map[string][]string{
		"en": {"Accesses that your rules refused: 3.", "look at these files", "(60):", "  sub/0/.envrc\uFFFD: Git runs it, or programs that it names", "… and 40 more; the audit log has them all."},
		"ja": {"拒否したアクセス: 3 件", "確認してください", "(60 件):", "  sub/0/.envrc\uFFFD: Git がこれ、またはこれが指定するプログラムを実行します", "… ほか 40 件"},
	} {
		w := newWorld(t, lang,
			scripted.Step{When: plan, Reply: planOf("file", "a.txt")},
			scripted.Step{When: act, Reply: scripted.Use(scripted.Tool("write_file", map[string]any{"path": "a.txt", "content": "hi"}))},
			scripted.Step{When: act, Reply: scripted.Say("done")},
		)
		for i := range 60 {
			w.hands.leaves = append(w.hands.leaves, tool.Obeyed{Path: fmt.Sprintf("sub/%d/.envrc\x1b", i), Kind: kinds[i%len(kinds)]})
		}
		st := w.run(t, service.RunRequest{Request: "write hi into a.txt"})
		require.Equal(t, service.Completed, st.State, st.Text)
		for _, s := range want {
			assert.Contains(t, st.Text, s)
		}
		assert.NotContains(t, st.Text, "obeyed.", "every kind has its words")
		assert.NotContains(t, st.Text, "sub/20/")
		assert.Less(t, strings.Index(st.Text, want[1]), strings.LastIndex(st.Text, "done"), "before the answer, which may be long")
	}
}
