package wire

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/model/scripted"
	"github.com/agent-mcp/agent-mcp/app/cli"
)

// NFR-07: every Task leaves a report for its owner alone, also one that failed or was cancelled: the final status names it, `show`
// lists it, and it tells request, plan, what was done with the difference, what was refused, tokens and answer, without secrets.
func TestServe_LeavesAReport(t *testing.T) {
	const secret = "AKIA" + "ABCDEFGHIJKLMNOP"
	p := placeWith(t, scripted.Script{Model: "m:latest", Steps: []scripted.Step{
		{When: planning, Reply: onePlan(map[string]any{"kind": "file", "path": "a.txt"})},
		using("write_file", map[string]any{"path": "/etc/forbidden", "content": "x"}),
		using("write_file", map[string]any{"path": "a.txt", "content": "first line\nkey " + secret + "\n"}),
		using("run_process", map[string]any{"command": "sh", "args": []string{"-c", "cat a.txt"}}),
		{When: acting, Reply: scripted.Say("a.txt has two lines.")},
		{When: planning, Reply: scripted.Fail("model.not_found")},
		{When: planning, Reply: scripted.Turn{Fault: &scripted.Fault{Stall: true}}},
	}}, "", "application: {language: ja}")
	c := p.serve(context.Background(), t)
	wait := func(id string) (status string) {
		t.Helper()
		require.Eventually(t, func() bool {
			status = c.tool("agent_status", map[string]any{"task_id": id})
			return strings.Contains(status, "(completed)") || strings.Contains(status, "(failed)")
		}, 30*time.Second, 20*time.Millisecond)
		return status
	}
	id := func(accepted string) string {
		_, rest, _ := strings.Cut(accepted, "タスク ID: ")
		id, _, _ := strings.Cut(rest, "\n")
		return id
	}
	done := id(c.tool("agent_run", map[string]any{"request": "a.txt を作ってください。鍵は " + secret}))
	status := wait(done)
	require.Contains(t, status, "(completed)", status)
	_, place, found := strings.Cut(status, "報告書: ")
	require.True(t, found, "the final status names it")
	place, _, _ = strings.Cut(place, "\n")
	text, err := os.ReadFile(place)
	require.NoError(t, err)
	for _, part := range []string{
		"# タスクの報告: 完了", "## 依頼", "［認証情報とみられるため省略］", "## 計画", "| ✓ `t1` | the work |", "## 実行した操作",
		"- 書き込み `/etc/forbidden` — ポリシーにより拒否", "- 書き込み `a.txt` — 完了\n```diff\n@@ -1 +1 @@\n+first line\n", "- 実行 `sh -c cat a.txt` — 終了コード 0 で終了",
		"## ポリシーが拒否した操作", "`/etc/forbidden`", "## 回答", "a.txt has two lines.", "トークン: 入力 ",
	} {
		assert.Contains(t, string(text), part)
	}
	assert.NotContains(t, string(text), secret)
	assert.NotContains(t, string(text), "write_file")
	for path, mode := range map[string]os.FileMode{place: 0o600, filepath.Dir(place): 0o700, filepath.Dir(filepath.Dir(place)): 0o700} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Equal(t, mode, info.Mode().Perm(), path)
	}

	failed := wait(id(c.tool("agent_run", map[string]any{"request": "もう一つ"})))
	require.Contains(t, failed, "報告書: ")
	stalled := id(c.tool("agent_run", map[string]any{"request": "止まる仕事"}))
	require.Eventually(t, func() bool {
		return strings.Contains(c.tool("agent_status", map[string]any{"task_id": stalled}), "(planning)")
	}, 30*time.Second, 20*time.Millisecond)
	require.NoError(t, c.end(), "the client goes: the Task is cancelled")

	view, err := Admin(Catalog, p.box, strings.NewReader(""), io.Discard, false).Show(context.Background(), p.config)
	require.NoError(t, err)
	var got []string
	for _, k := range view.Tasks {
		got = append(got, k.State)
		require.FileExists(t, k.Place)
	}
	assert.ElementsMatch(t, []string{"cancelled", "failed", "completed"}, got)
	ja, err := Catalog("ja", "")
	require.NoError(t, err)
	shown := strings.ReplaceAll(cli.Show(view, ja, cli.Style{}), "\n    ", "") // a long path is wrapped
	for _, part := range []string{"最近のタスク", "取り消し済み", "止まる仕事", filepath.Base(place)} {
		assert.Contains(t, shown, part)
	}
	assert.NotContains(t, shown, secret)
}
