package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/clock/system"
	"github.com/agent-mcp/agent-mcp/adapters/ident/random"
	ledgermem "github.com/agent-mcp/agent-mcp/adapters/ledger/mem"
	"github.com/agent-mcp/agent-mcp/adapters/model/scripted"
	reportmem "github.com/agent-mcp/agent-mcp/adapters/report/mem"
	"github.com/agent-mcp/agent-mcp/adapters/text/goi18n"
	tracemem "github.com/agent-mcp/agent-mcp/adapters/trace/mem"
	turnmem "github.com/agent-mcp/agent-mcp/adapters/turn/mem"
	"github.com/agent-mcp/agent-mcp/app/auditor"
	"github.com/agent-mcp/agent-mcp/app/engine"
	"github.com/agent-mcp/agent-mcp/conformance/fronttest"
	"github.com/agent-mcp/agent-mcp/core/agent"
	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/core/prompt"
	"github.com/agent-mcp/agent-mcp/core/session"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/locales"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// hands write files into a map; run_process answers what the test says.
type hands struct {
	mu     sync.Mutex
	files  map[string]string
	closed int
	leaves []tool.Obeyed // what every write leaves besides
	hold   chan struct{} // when not nil, Do waits for it or for the cancel
}

func (h *hands) Do(ctx context.Context, _ audit.Ref, c tool.Call) tool.Result {
	if h.hold != nil {
		select {
		case <-h.hold:
		case <-ctx.Done():
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	r := tool.Result{CallID: c.ID, Name: c.Name, Text: "ok"}
	switch c.Name {
	case tool.Write:
		h.files[c.Path] = c.Content
		r.Effects = []tool.Effect{{Kind: tool.EffectCreated, Path: "/project/" + c.Path, SHA256: "x"}}
		if r.Obeyed = h.leaves; len(h.leaves) > 0 {
			r.Refused = 3
		}
	case tool.Remove:
		r.Fault, r.Denied = fault.New("policy.no_delete", "path", c.Path), true
		r.Text = "denied"
	}
	return r
}

// Look sees what write_file made below /project.
func (h *hands) Look(_ context.Context, paths []string) []tool.Seen {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make([]tool.Seen, len(paths))
	for i, p := range paths {
		rel, below := strings.CutPrefix(p, "/project/")
		_, there := h.files[rel]
		out[i] = tool.Seen{Path: p, Known: below, Exists: there}
		if there {
			out[i].SHA256 = "x"
		}
	}
	return out
}

func (h *hands) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed++
	return nil
}

type world struct {
	*engine.Engine
	hands  *hands
	model  *scripted.Model
	ledger *ledgermem.Ledger
	report *reportmem.Store
	trace  *tracemem.Sink
}

func planOf(kind, path string) scripted.Turn {
	return scripted.JSON(map[string]any{"tasks": []any{map[string]any{
		"id": "t1", "title": "the work", "depends_on": []string{}, "o": 100, "m": 200, "p": 400, "budget": "4K",
		"expects": []any{map[string]any{"kind": kind, "path": path}},
	}}})
}

func newWorld(t *testing.T, lang string, steps ...scripted.Step) *world {
	t.Helper()
	m := scripted.New(scripted.Script{Steps: steps})
	w := newWorldWith(t, lang, m, 2)
	w.model = m
	return w
}

func newWorldWith(t *testing.T, lang string, m model.Model, queued int, bend ...func(*engine.Config, *engine.Deps)) *world {
	t.Helper()
	cat, err := goi18n.New(goi18n.Options{Tag: lang, Builtin: locales.FS})
	require.NoError(t, err)
	w := &world{
		hands:  &hands{files: map[string]string{}},
		ledger: ledgermem.New(), report: reportmem.New(9), trace: tracemem.New(),
	}
	deps := engine.Deps{
		Model: m,
		Hands: func(context.Context, audit.Ref) (engine.Hands, error) { return w.hands, nil },
		Turn:  turnmem.New(), Clock: system.New(), Ident: random.New(), Trace: w.trace, Catalog: cat,
		Audit: auditor.New(w.ledger, "test", ""), Reports: w.report,
	}
	cfg := engine.Config{
		Agent:  agent.Settings{Model: "m", MaxIterations: 32, Workspace: "/project"},
		Layers: prompt.Layers{Runtime: prompt.Runtime{Workspace: "/project", Language: lang, Network: "none"}},
		Tools:  tool.Definitions(tool.Config{Aliases: []string{"sh"}}),
		Limits: session.Limits{MaxQueued: queued, KeepFinished: 50},
		Vision: engine.Vision{MaxImages: 4, MaxImageBytes: 64, MaxTotalBytes: 128},
		LLMLog: true,
	}
	for _, f := range bend {
		f(&cfg, &deps)
	}
	w.Engine = engine.New(cfg, deps)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		require.NoError(t, w.Close(ctx))
	})
	return w
}

func (w *world) run(t *testing.T, req service.RunRequest) service.Status {
	t.Helper()
	a, err := w.Run(context.Background(), req)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	st, err := w.Wait(ctx, a.TaskID)
	require.NoError(t, err)
	return st
}

func (w *world) kinds(t *testing.T) (out []string) {
	t.Helper()
	require.NoError(t, w.ledger.Lines(context.Background(), func(l []byte) bool {
		var r map[string]any
		require.NoError(t, json.Unmarshal(l, &r))
		out = append(out, fmt.Sprint(r["kind"], ":", r["fields"].(map[string]any)["to"]))
		return true
	}))
	return out
}

var (
	plan  = scripted.Match{Format: scripted.Yes}
	act   = scripted.Match{Tools: scripted.Yes}
	plain = scripted.Match{Tools: scripted.No, Format: scripted.No}
)

// MCP-ASY-01, AGT-01, OLL-13, MCP-STS-03, LOG-03
func TestEngine_RunsATaskToItsAnswer(t *testing.T) {
	w := newWorld(t, "en",
		scripted.Step{When: plan, Reply: planOf("file", "a.txt")},
		scripted.Step{When: act, Reply: scripted.Use(scripted.Tool("write_file", map[string]any{"path": "a.txt", "content": "hi"}))},
		scripted.Step{When: act, Reply: scripted.Say("a.txt now says hi.")},
	)
	st := w.run(t, service.RunRequest{Request: "write hi into a.txt"})
	require.Equal(t, service.Completed, st.State, st.Text)
	require.Equal(t, "a.txt now says hi.", st.Answer)
	require.Equal(t, "hi", w.hands.files["a.txt"])
	require.Equal(t, 1, w.hands.closed, "PRF-02: resources are given back once")
	require.Positive(t, st.InputTokens)
	require.Contains(t, st.Text, "State: finished (completed)")
	require.Contains(t, st.Text, "the work")
	require.NotContains(t, st.Text, "write_file", "MCP-STS-03: no Internal Tool names")
	require.Contains(t, st.Text, "Observed, not only said:\n  - a.txt was made\n", "AGT-04: completed carries the evidence")
	require.Equal(t, []string{"task.state:queued", "task.state:planning", "task.state:running", "task.evidence:<nil>", "task.state:completed"}, w.kinds(t))
	told := w.report.Text(st.TaskID)
	for _, part := range []string{"# Task report: finished", "write hi into a.txt", "the work", "- wrote `a.txt` — done", "## What was observed\n\n- the work\n  - a.txt was made\n", "## Answer", "a.txt now says hi."} {
		require.Contains(t, told, part)
	}
	rep, err := audit.Verify(func(fn func([]byte) bool) error { return w.ledger.Lines(context.Background(), fn) })
	require.NoError(t, err)
	require.True(t, rep.Whole())
}

// noEvidence is a ledger that cannot store what a completed step is believed for.
type noEvidence struct{ *auditor.Auditor }

func (a noEvidence) Record(r audit.Record) error {
	if r.Kind == audit.KindEvidence {
		return fault.New("ledger.failed", "path", "memory", "detail", "full")
	}
	return a.Auditor.Record(r)
}

// AGT-04, LOG-03: a success whose evidence is not on record is none.
func TestEngine_EvidenceMustBeOnRecord(t *testing.T) {
	m := scripted.New(scripted.Script{Steps: []scripted.Step{
		{When: plan, Reply: planOf("file", "a.txt")},
		{When: act, Reply: scripted.Use(scripted.Tool("write_file", map[string]any{"path": "a.txt", "content": "hi"}))},
		{When: act, Reply: scripted.Say("a.txt now says hi.")},
	}})
	w := newWorldWith(t, "en", m, 2, func(_ *engine.Config, d *engine.Deps) { d.Audit = noEvidence{auditor.New(ledgermem.New(), "test", "")} })
	st := w.run(t, service.RunRequest{Request: "write hi into a.txt"})
	require.Equal(t, service.Cancelled, st.State, st.Text)
	require.Equal(t, "ledger.failed", st.ErrorCode)
	require.Empty(t, st.Answer)
}

// AGT-04, AGT-07: a claim without a deed is never a completed Task.
func TestEngine_NeverCompletesOnAClaim(t *testing.T) {
	w := newWorld(t, "en",
		scripted.Step{When: plan, Reply: planOf("file", "a.txt"), Times: scripted.Forever},
		scripted.Step{When: act, Reply: scripted.Say("I have created a.txt."), Times: scripted.Forever},
		scripted.Step{When: plain, Reply: scripted.Say("Done."), Times: scripted.Forever},
	)
	st := w.run(t, service.RunRequest{Request: "write hi into a.txt"})
	require.Equal(t, service.Failed, st.State)
	require.Empty(t, st.Answer)
	require.NotEmpty(t, st.ErrorText)
}

// I18N-07: the language of the answers is the catalogue's.
func TestEngine_SpeaksJapanese(t *testing.T) {
	w := newWorld(t, "ja", scripted.Step{When: plan, Reply: scripted.Fail(model.CodeNotFound), Times: scripted.Forever})
	st := w.run(t, service.RunRequest{Request: "hello"})
	require.Equal(t, service.Failed, st.State)
	require.Contains(t, st.Text, "状態: 失敗 (failed)")
	require.Contains(t, st.Text, "直近のエラー")
	require.Contains(t, w.report.Text(st.TaskID), "# タスクの報告: 失敗")

	w = newWorld(t, "ja",
		scripted.Step{When: plan, Reply: planOf("file", "a.txt")},
		scripted.Step{When: act, Reply: scripted.Use(scripted.Tool("write_file", map[string]any{"path": "a.txt", "content": "hi"}))},
		scripted.Step{When: act, Reply: scripted.Say("a.txt に書きました。")},
	)
	told := w.report.Text(w.run(t, service.RunRequest{Request: "a.txt に書いて"}).TaskID)
	require.Contains(t, told, "- 書き込み `a.txt` — 完了")
	require.NotContains(t, told, "write_file")
}

// SEC: cancel at every state ends as cancelled, with resources given back (planning → cancelled is [D] of section 2).
func TestEngine_CancelsWhereverItIs(t *testing.T) {
	stall := scripted.Turn{Fault: &scripted.Fault{Stall: true}}
	cases := map[string][]scripted.Step{
		"planning": {{When: plan, Reply: stall}},
		"running":  {{When: plan, Reply: planOf("file", "a")}, {When: act, Reply: stall}},
		"acting": {
			{When: plan, Reply: planOf("file", "a")},
			{When: act, Reply: scripted.Use(scripted.Tool("write_file", map[string]any{"path": "a", "content": "x"}))},
		},
	}
	for name, steps := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "en", steps...)
			if name == "acting" {
				w.hands.hold = make(chan struct{})
			}
			first, err := w.Run(context.Background(), service.RunRequest{Request: "x", Owner: "me"})
			require.NoError(t, err)
			second, err := w.Run(context.Background(), service.RunRequest{Request: "y", Owner: "me"})
			require.NoError(t, err)
			require.Equal(t, 1, second.Ahead)
			want := service.Planning
			if name != "planning" {
				want = service.Running
			}
			require.Eventually(t, func() bool {
				st, err := w.Status(context.Background(), first.TaskID, first.SessionID)
				return err == nil && st.State == want
			}, 10*time.Second, time.Millisecond)
			require.NoError(t, w.Cancel(context.Background(), second.TaskID), "a queued Task")
			require.NoError(t, w.Release(context.Background(), "me"), "REC-04")
			for _, id := range []string{first.TaskID, second.TaskID} {
				st, err := w.Status(context.Background(), id, "")
				require.NoError(t, err)
				require.Equal(t, service.Cancelled, st.State)
				require.NoError(t, w.Cancel(context.Background(), id), "idempotent")
			}
			require.Equal(t, 1, w.hands.closed)
		})
	}
}

// Bad input of agent_run and agent_status, each with its code.
func TestEngine_RefusesBadRequests(t *testing.T) {
	w := newWorld(t, "en", scripted.Step{When: plan, Reply: scripted.Turn{Fault: &scripted.Fault{Stall: true}}, Times: scripted.Forever})
	png := []byte("\x89PNG\r\n\x1a\nrest")
	num := func(f float64) *float64 { return &f }
	nan := num(0)
	*nan /= *nan
	for name, c := range map[string]struct {
		req  service.RunRequest
		code fault.Code
	}{
		"empty":           {service.RunRequest{}, service.CodeRequestEmpty},
		"blank":           {service.RunRequest{Request: " \n\t\u3000"}, service.CodeRequestEmpty},
		"invisible":       {service.RunRequest{Request: "\u200b\ufeff \u202e"}, service.CodeRequestEmpty},
		"10 MiB":          {service.RunRequest{Request: strings.Repeat("a", 10<<20)}, service.CodeRequestTooBig},
		"invalid UTF-8":   {service.RunRequest{Request: "a\xff"}, service.CodeRequestText},
		"NUL":             {service.RunRequest{Request: "a\x00b"}, service.CodeRequestText},
		"unknown session": {service.RunRequest{Request: "x", SessionID: "00000000-0000-4000-8000-000000000000"}, service.CodeUnknownSession},
		"session text":    {service.RunRequest{Request: "x", SessionID: "../../etc"}, service.CodeUnknownSession},
		"NaN":             {service.RunRequest{Request: "x", Temperature: nan}, service.CodeTemperature},
		"negative":        {service.RunRequest{Request: "x", Temperature: num(-0.1)}, service.CodeTemperature},
		"huge":            {service.RunRequest{Request: "x", Temperature: num(1e300)}, service.CodeTemperature},
		"100 images":      {service.RunRequest{Request: "x", Images: make([][]byte, 100)}, service.CodeImageCount},
		"big image":       {service.RunRequest{Request: "x", Images: [][]byte{make([]byte, 65)}}, service.CodeImageSize},
		"no image":        {service.RunRequest{Request: "x", Images: [][]byte{[]byte("hello")}}, service.CodeImageKind},
	} {
		_, err := w.Run(context.Background(), c.req)
		require.Equal(t, c.code, fault.CodeOf(err), name)
	}
	w.Know(model.Info{Name: "m", Capabilities: []string{"completion", "tools"}})
	_, err := w.Run(context.Background(), service.RunRequest{Request: "x", Images: [][]byte{png}})
	require.Equal(t, model.CodeNoVision, fault.CodeOf(err), "AT-06")

	_, err = w.Status(context.Background(), "not-a-uuid", "")
	require.Equal(t, service.CodeBadTaskID, fault.CodeOf(err))
	_, err = w.Status(context.Background(), "00000000-0000-4000-8000-000000000000", "")
	require.Equal(t, service.CodeUnknownTask, fault.CodeOf(err))
	a, err := w.Run(context.Background(), service.RunRequest{Request: "x"})
	require.NoError(t, err)
	_, err = w.Status(context.Background(), a.TaskID, "00000000-0000-4000-8000-000000000000")
	require.Equal(t, service.CodeWrongSession, fault.CodeOf(err), "MCP-STS-02")
	for range 2 {
		_, err = w.Run(context.Background(), service.RunRequest{Request: "x"})
		require.NoError(t, err)
	}
	_, err = w.Run(context.Background(), service.RunRequest{Request: "x"})
	require.Equal(t, service.CodeBusy, fault.CodeOf(err))
}

// MCP-RUN-03, OLL-06, AT-05: the temperature is its Task's alone. MCP-RUN-02: a Session goes on.
func TestEngine_TemperatureIsOfOneTaskAndASessionGoesOn(t *testing.T) {
	w := newWorld(t, "en",
		scripted.Step{When: plan, Reply: planOf("none", ""), Times: scripted.Forever},
		scripted.Step{When: act, Reply: scripted.Say("an explanation"), Times: scripted.Forever},
	)
	hot := 1.5
	first := w.run(t, service.RunRequest{Request: "explain apples", Temperature: &hot})
	require.Equal(t, service.Completed, first.State, first.Text)
	n := len(w.model.Requests())
	for _, r := range w.model.Requests() {
		require.NotNil(t, r.Options.Temperature)
		require.InDelta(t, hot, *r.Options.Temperature, 0)
	}
	second := w.run(t, service.RunRequest{Request: "and pears?", SessionID: first.SessionID})
	require.Equal(t, first.SessionID, second.SessionID)
	seen := false
	for _, r := range w.model.Requests()[n:] {
		require.Nil(t, r.Options.Temperature)
		for _, m := range r.Messages {
			seen = seen || strings.Contains(m.Content, "explain apples")
		}
	}
	require.True(t, seen, "SES-04: the conversation is remembered")
}

// silent knows nothing of the loaded model and counts how often it is asked.
type silent struct {
	*scripted.Model
	asked atomic.Int32
}

func (s *silent) Loaded(context.Context, string) (int, error) {
	s.asked.Add(1)
	return 0, nil
}

// The server is asked for its context once, not after every reply, also when it does not know.
func TestEngine_AsksForTheContextOnce(t *testing.T) {
	m := &silent{Model: scripted.New(scripted.Script{Steps: []scripted.Step{
		{When: plan, Times: scripted.Forever, Reply: planOf("none", "")},
		{When: act, Times: scripted.Forever, Reply: scripted.Say("an explanation")},
	}})}
	w := newWorldWith(t, "en", m, 2)
	w.Inspector = m
	for range 2 {
		require.Equal(t, service.Completed, w.run(t, service.RunRequest{Request: "explain apples"}).State)
	}
	require.EqualValues(t, 1, m.asked.Load())
}

// agent_status stays bounded whatever the Task printed.
func TestEngine_StatusIsBounded(t *testing.T) {
	w := newWorld(t, "en",
		scripted.Step{When: plan, Reply: planOf("none", "")},
		scripted.Step{When: act, Reply: scripted.Turn{Content: variedText(5 << 20), PieceRunes: 1 << 20}},
	)
	st := w.run(t, service.RunRequest{Request: "print a lot"})
	require.Less(t, len(st.Text), 128<<10)
}

func variedText(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "%d squared is %d. ", i, i*i)
	}
	return b.String()
}

// gated answers the work of a Task with what the test sends, and waits until then.
type gated struct{ answers chan string }

func (g gated) Chat(ctx context.Context, req model.Request, _ func(model.Chunk)) (model.Reply, error) {
	content := string(planOf("none", "").JSON)
	if len(req.Tools) > 0 {
		select {
		case content = <-g.answers:
		case <-ctx.Done():
			return model.Reply{}, fault.From(ctx.Err())
		}
	}
	return model.Reply{Message: model.Message{Role: model.Assistant, Content: content}, DoneReason: "stop"}, nil
}

// The contract of ports/service.Runner, as every front end relies on it.
func TestEngine_KeepsTheRunnersContract(t *testing.T) {
	fronttest.TestRunner(t, func(t *testing.T) fronttest.Subject {
		g := gated{make(chan string)}
		w := newWorldWith(t, "en", g, 64)
		return fronttest.Subject{Runner: w, Finish: func(id, answer string) {
			if len(answer) > 1<<20 {
				answer = variedText(len(answer)) // the agent does not take endless repetition for an answer
			}
			g.answers <- answer
			_, _ = w.Wait(t.Context(), id)
		}}
	})
}
