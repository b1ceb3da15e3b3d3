package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"regexp"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/model/scripted"
	"github.com/agent-mcp/agent-mcp/ports/model"
)

// The mistake in the program that its tests find, and how it is mended.
const (
	bug    = "return int(text)"
	fix    = `return int(text.replace(",", ""))`
	answer = "家計簿を集計する kakeibo.py と、そのテスト test_kakeibo.py を作りました。最初の実行で桁区切りの誤りが見つかったので直し、4 件のテストがすべて通りました。"
)

func story(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/story/" + name)
	require.NoError(t, err)
	return string(b)
}

// script is the model: it plans, writes both files, runs the tests, reads, mends and runs them again, as often as it is asked.
// Only its choices are scripted: files, processes and results are real.
func script(t *testing.T) []scripted.Step {
	t.Helper()
	write := func(name string) scripted.Turn {
		return scripted.Use(scripted.Tool("write_file", map[string]any{"path": name, "content": story(t, name)}))
	}
	test := scripted.Use(scripted.Tool("run_process", map[string]any{"command": "python", "args": []string{"-B", "-m", "unittest", "-v"}}))
	scenes := map[string][]scripted.Turn{
		"t1": {write("kakeibo.py"), scripted.Say("書きました。")},
		"t2": {write("test_kakeibo.py"), scripted.Say("書きました。")},
		"t3": {
			test,
			scripted.Use(scripted.Tool("read_file", map[string]any{"path": "kakeibo.py"})),
			scripted.Use(scripted.Tool("patch_file", map[string]any{"path": "kakeibo.py", "old": bug, "new": fix})),
			test,
			scripted.Say("テストがすべて通りました。"),
		},
	}
	return []scripted.Step{
		{Name: "plan", When: scripted.Match{Format: scripted.Yes}, Times: scripted.Forever, Reply: scripted.JSON(plan())},
		{Name: "act", When: scripted.Match{Tools: scripted.Yes}, Times: scripted.Forever, Do: func(r model.Request) scripted.Turn { return play(scenes, r) }},
		{Name: "answer", Times: scripted.Forever, Reply: scripted.Say(answer)},
	}
}

func plan() map[string]any {
	task := func(id, title string, expects map[string]any, after ...string) map[string]any {
		return map[string]any{
			"id": id, "title": title, "depends_on": append([]string{}, after...), "o": 1000, "m": 2000, "p": 8000, "budget": "16K", "expects": []any{expects},
		}
	}
	return map[string]any{"tasks": []any{
		task("t1", "集計プログラムを書く", map[string]any{"kind": "file", "path": "kakeibo.py"}),
		task("t2", "テストを書く", map[string]any{"kind": "file", "path": "test_kakeibo.py"}),
		task("t3", "テストを実行し、誤りを直す", map[string]any{"kind": "process", "alias": "python"}, "t1", "t2"),
	}}
}

// brief is how the runtime starts a Planner Task.
var brief = regexp.MustCompile(`Now do (t\d):`)

// play answers from the conversation: which step is to be done, and how much of it is.
func play(scenes map[string][]scripted.Turn, r model.Request) scripted.Turn {
	task, done := "", 0
	for _, m := range r.Messages {
		if f := brief.FindStringSubmatch(m.Content); f != nil {
			task, done = f[1], 0
		} else if m.Role == model.Assistant {
			done++
		}
	}
	if scene := scenes[task]; len(scene) > 0 {
		return scene[min(done, len(scene)-1)]
	}
	return scripted.Say("することがありません。")
}

// strict passes a server's stdout on and keeps every line that is no JSON-RPC message.
type strict struct {
	r    io.Reader
	mu   sync.Mutex
	rest []byte
	bad  []string
}

func (s *strict) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rest = append(s.rest, p[:n]...)
	for {
		line, rest, ok := bytes.Cut(s.rest, []byte("\n"))
		if !ok {
			return n, err
		}
		var m struct{ JSONRPC string }
		if json.Unmarshal(line, &m) != nil || m.JSONRPC != "2.0" {
			s.bad = append(s.bad, string(line))
		}
		s.rest = rest
	}
}

func (s *strict) foreign() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.rest) > 0 {
		return append(s.bad, string(s.rest))
	}
	return s.bad
}

// overPipes makes a client of others over a server's pipes.
func overPipes(out io.Reader, in io.WriteCloser) *client.Client {
	return client.NewClient(transport.NewIO(out, in, io.NopCloser(bytes.NewReader(nil))))
}
