package wire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/clock/system"
	"github.com/agent-mcp/agent-mcp/adapters/ident/random"
	"github.com/agent-mcp/agent-mcp/adapters/model/ollama"
	"github.com/agent-mcp/agent-mcp/adapters/model/scripted"
	"github.com/agent-mcp/agent-mcp/adapters/sandbox/fake"
	tracemem "github.com/agent-mcp/agent-mcp/adapters/trace/mem"
	"github.com/agent-mcp/agent-mcp/adapters/workspace/mem"
	"github.com/agent-mcp/agent-mcp/app/engine"
	"github.com/agent-mcp/agent-mcp/app/modelcall"
	"github.com/agent-mcp/agent-mcp/app/toolbox"
	"github.com/agent-mcp/agent-mcp/core/agent"
	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/core/prompt"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// bench is the agent with its real model client over a scripted server's wire, and its real tools over files in memory.
type bench struct {
	*engine.Engine
	server *scripted.Server
	files  *mem.Tree
	trace  *tracemem.Sink
}

// setup of a bench. Zero: a context of 16,384 tokens, the usual files, three retries.
type setup struct {
	ctx       int
	script    scripted.Script
	files     map[string]string
	programs  map[string]fake.Program // artifacts of the workspace, by their path
	user      string
	language  string
	think     bool
	summarize float64
}

func newBench(t *testing.T, s setup) *bench {
	t.Helper()
	server, err := scripted.NewServer(s.script)
	require.NoError(t, err)
	t.Cleanup(server.Close)
	b := &bench{server: server, files: mem.New("/w"), trace: tracemem.New()}
	for name, content := range s.files {
		b.files.Put("/w/"+name, content, 0o644)
	}
	client, err := ollama.New(ollama.Config{BaseURL: server.URL, FirstChunkTimeout: 30 * time.Second, IdleTimeout: 300 * time.Millisecond})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	rules, bad := policy.Build(policy.Input{
		Profile: policy.Development, Workspace: "/w", Require: sandbox.Approximate,
		Network: policy.NetworkInput{Mode: sandbox.NetworkNone}, Resources: policy.ResourceInput{Profile: "normal"},
	})
	require.Nil(t, bad)
	if s.ctx == 0 {
		s.ctx = 16384
	}
	if s.language == "" {
		s.language = "en"
	}
	box, clk, ids := fake.New(fake.Options{Programs: s.programs}), system.New(), random.New()
	settings := agent.Settings{Model: "m", Workspace: "/w", Options: model.Options{NumCtx: &s.ctx}, SummarizeAt: s.summarize}
	if s.think {
		settings.Think = model.Think{Set: true, On: true}
	}
	cat, err := Catalog(s.language, "")
	require.NoError(t, err)
	b.Engine = engine.New(engine.Config{
		Agent:  settings,
		Layers: prompt.Layers{User: s.user, Runtime: prompt.Runtime{Workspace: "/w", Language: s.language, Network: "none"}},
		Tools:  tool.Definitions(tool.Config{Artifacts: true}),
		Vision: engine.Vision{MaxImages: 1, MaxImageBytes: 1 << 20, MaxTotalBytes: 1 << 20},
	}, engine.Deps{
		Model:     modelcall.New(client, clk, modelcall.Config{Retries: 3, Backoff: time.Millisecond, MaxBackoff: time.Millisecond, Trace: b.trace}),
		Inspector: client, Clock: clk, Ident: ids, Trace: b.trace, Catalog: cat,
		Hands: func(context.Context, audit.Ref) (engine.Hands, error) {
			return toolbox.New(toolbox.Config{Policy: rules, Tree: b.files, Sandbox: box, Clock: clk, Ident: ids}), nil
		},
	})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		require.NoError(t, b.Close(ctx))
	})
	return b
}

func (b *bench) run(t *testing.T, req service.RunRequest) service.Status {
	t.Helper()
	a, err := b.Run(context.Background(), req)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	st, err := b.Wait(ctx, a.TaskID)
	require.NoError(t, err)
	return st
}

// count counts events of the app log, with a cause or code where one is named: "agent.failure swallowed_call".
func (b *bench) count(words string) (n int) {
	name, cause, _ := strings.Cut(words, " ")
	for _, e := range b.trace.Events() {
		has := cause == ""
		for _, f := range e.Fields {
			has = has || (f.Name == "cause" || f.Name == "code") && f.Value == cause
		}
		if e.Name == name && has {
			n++
		}
	}
	return n
}

// recorded are the bodies that servers really sent, by their names (adapters/model/ollama/testdata/faults.jsonl).
var recorded = sync.OnceValue(func() map[string]scripted.Fault {
	data, err := os.ReadFile(filepath.Join("..", "..", "adapters", "model", "ollama", "testdata", "faults.jsonl"))
	if err != nil {
		panic(err)
	}
	out := map[string]scripted.Fault{}
	for sc := bufio.NewScanner(bytes.NewReader(data)); sc.Scan(); {
		var r struct {
			Name     string
			Response struct {
				Status int
				Type   string `json:"content_type"`
				Close  string
				Body   string
				Chunks []string `json:"chunks_base64"`
			}
		}
		if err := json.Unmarshal(sc.Bytes(), &r); err != nil {
			panic(err)
		}
		body := r.Response.Body
		for _, c := range r.Response.Chunks {
			raw, err := base64.StdEncoding.DecodeString(c)
			if err != nil {
				panic(err)
			}
			body += string(raw)
		}
		f := scripted.Fault{Status: r.Response.Status, ContentType: r.Response.Type, Body: body}
		if r.Response.Close == "stall" {
			f = scripted.Fault{Stall: true}
		}
		out[r.Name] = f
	}
	return out
})

// body answers with what a server really sent.
func body(name string) scripted.Turn {
	f, ok := recorded()[name]
	if !ok {
		panic("no recording " + name)
	}
	t := scripted.Turn{Fault: &f}
	if f.Stall {
		t.Content = "one"
	}
	return t
}

func answers(code int, text string) scripted.Turn {
	return scripted.Turn{Fault: &scripted.Fault{Status: code, Body: text}}
}

var (
	asPlan    = scripted.Match{Format: scripted.Yes}
	asAct     = scripted.Match{Tools: scripted.Yes}
	asNeither = scripted.Match{Tools: scripted.No, Format: scripted.No}
	write     = scripted.Use(scripted.Tool("write_file", map[string]any{"path": "a.txt", "content": "hi"}))
)

func planned(kind, path string) scripted.Turn {
	return scripted.JSON(map[string]any{"tasks": []any{map[string]any{
		"id": "t1", "title": "the work", "depends_on": []string{}, "o": 100, "m": 200, "p": 400, "budget": "32K",
		"expects": []any{map[string]any{"kind": kind, "path": path}},
	}}})
}

// row is one row of the fault table: what the server or the model does, what it is counted as, what follows, and how a Task ends in
// which it never stops.
type row struct {
	name     string
	turn     scripted.Turn
	cause    string     // "" = none is counted: tried again below the loop, or the end at once
	told     string     // what the model is told in the next request
	retries  int        // of the transport when it happens once
	fatal    bool       // no retry of any kind: the Task ends at the first
	code     fault.Code // of the Task in which it never stops
	reason   fault.Code // the first reason of it
	hint     string     // what people are told to do, where they can do something
	long     bool       // the conversation is long when it happens
	harmless bool       // it is read as it was meant: the Task goes on as if nothing was
}

// rows are the fault table of the design notes and the loop over weak models, in their order.
//
// They are made when a test asks for them: this program is also started as a sandbox's helper, elsewhere, where there is no testdata.
var rows = sync.OnceValue(func() []row {
	return []row{
		// 200, empty content, no calls, output counted
		{name: "a call swallowed by the server", turn: body("04-unknown-tool-swallowed"), cause: "swallowed_call", told: "Tools: read_file", code: agent.CodeSameFailure, reason: agent.CauseSwallowed},
		// body ends without done:true
		{name: "the body ends without its end mark", turn: scripted.Turn{Content: "I will", Fault: &scripted.Fault{End: true}}, retries: 1, code: agent.CodeModel, reason: model.CodeIncomplete, cause: "transport"},
		{name: "the connection breaks", turn: scripted.Turn{Content: "I will", Fault: &scripted.Fault{Cut: true}}, retries: 1, code: agent.CodeModel, reason: model.CodeIncomplete, cause: "transport"},
		{name: "the server's repeat guard, without an end mark", turn: body("13-eof-without-done"), cause: "repetition", told: "repeated", code: agent.CodeSameFailure, reason: agent.CauseRepetition},
		{name: "the server's repeat guard, as an error", turn: body("14-repeat-error"), cause: "repetition", told: "repeated", code: agent.CodeSameFailure, reason: agent.CauseRepetition},
		// silent truncation, three signatures
		{name: "a prompt count at the context's limit", turn: scripted.Turn{Content: "What should I do with it?", PromptTokens: ptr(4096)}, long: true, cause: "context_overflow", told: "a.txt", code: agent.CodeSameFailure, reason: agent.CauseContext},
		{name: "a prompt count near half of the context", turn: body("20-silent-truncation"), long: true, cause: "context_overflow", told: "a.txt", code: agent.CodeSameFailure, reason: agent.CauseContext},
		{name: "a prompt count below an earlier turn's", turn: scripted.Turn{Content: "What should I do with it?", PromptTokens: ptr(1200)}, long: true, cause: "context_overflow", told: "a.txt", code: agent.CodeUnchangedPlan},
		// done_reason length
		{name: "a reply cut by its length", turn: scripted.Turn{Content: "a.txt is", DoneReason: "length"}, cause: "cut", code: agent.CodeCut},
		{name: "a call cut by its length", turn: scripted.Turn{Calls: write.Calls, DoneReason: "length"}, cause: "cut", code: agent.CodeCut},
		{name: "thinking that ate the budget", turn: body("10-thinking-ate-the-budget"), cause: "cut", code: agent.CodeCut},
		// think
		{name: "think refused", turn: answers(400, `{"error":"\"m\" does not support thinking"}`), fatal: true, code: agent.CodeModel, reason: model.CodeNoThinking},
		// our fault
		{name: "an option of the wrong type", turn: answers(500, `{"error":"option \"num_ctx\" must be of type integer"}`), fatal: true, code: agent.CodeModel, reason: model.CodeBadRequest, hint: "ollama.options"},
		{name: "an invalid format", turn: answers(500, `{"error":"invalid format: \"x\"; expected \"json\" or a valid JSON Schema"}`), fatal: true, code: agent.CodeModel, reason: model.CodeBadRequest, hint: "ollama.options"},
		// the model's broken call
		{name: "a broken call, as a status", turn: answers(500, `{"error":"error parsing tool call: raw='{\"path\": \"a\"}]', err=invalid character ']'"}`), cause: "swallowed_call", told: "valid JSON arguments", code: agent.CodeSameFailure, reason: agent.CauseSwallowed},
		{name: "a broken call, in the stream", turn: scripted.Fail(model.CodeBrokenCall), cause: "swallowed_call", told: "valid JSON arguments", code: agent.CodeSameFailure, reason: agent.CauseSwallowed},
		// runner died
		{name: "an error after a 200", turn: scripted.Fail(model.CodeRunnerDied), retries: 1, code: agent.CodeModel, reason: model.CodeRunnerDied, cause: "server_5xx"},
		{name: "a 500", turn: answers(500, `{"error":"something broke"}`), retries: 1, code: agent.CodeModel, reason: model.CodeServer, cause: "server_5xx"},
		// foreign host
		{name: "403 with an empty body", turn: answers(403, ""), fatal: true, code: agent.CodeModel, reason: model.CodeForbidden, hint: "OLLAMA_ORIGINS"},
		{name: "404, not pulled", turn: answers(404, `{"error":"model 'm' not found"}`), fatal: true, code: agent.CodeModel, reason: model.CodeNotFound, hint: "ollama pull m"},
		// transient
		{name: "503, busy", turn: answers(503, `{"error":"server busy, please try again.  maximum pending requests exceeded"}`), retries: 1, code: agent.CodeModel, reason: model.CodeBusy, cause: "server_5xx"},
		{name: "503, overloaded", turn: body("23-cloud-503"), retries: 1, code: agent.CodeModel, reason: model.CodeBusy, cause: "server_5xx"},
		{name: "502", turn: answers(502, "Bad Gateway"), retries: 1, code: agent.CodeModel, reason: model.CodeBusy, cause: "server_5xx"},
		// quota and sign-in
		{name: "429, usage limit", turn: body("22-cloud-429-quota"), fatal: true, code: agent.CodeModel, reason: model.CodeQuota, hint: "https://ollama.com/upgrade"},
		{name: "401, sign-in", turn: answers(401, `{"error":"unauthorized","signin_url":"https://ollama.com/connect?name=x"}`), fatal: true, code: agent.CodeModel, reason: model.CodeSignIn, hint: "https://ollama.com/connect?name=x"},
		{name: "402", turn: answers(402, `{"error":"payment required: https://ollama.com/settings"}`), fatal: true, code: agent.CodeModel, reason: model.CodeQuota, hint: "https://ollama.com/settings"},
		{name: "403, subscription", turn: answers(403, `{"error":"this model requires a subscription, upgrade for access: https://ollama.com/upgrade"}`), fatal: true, code: agent.CodeModel, reason: model.CodeQuota, hint: "https://ollama.com/upgrade"},
		// context overflow
		{name: "a context overflow, as JSON in the error", turn: answers(500, `{"error":"{\"error\":{\"code\":400,\"message\":\"request (9000 tokens) exceeds the available context size (4096 tokens)\",\"type\":\"exceed_context_size_error\"}}"}`), long: true, cause: "context_overflow", told: "a.txt", code: agent.CodeSameFailure, reason: agent.CauseContext},
		{name: "a context overflow, in words", turn: scripted.Fail(model.CodeContextOverflow), long: true, cause: "context_overflow", told: "a.txt", code: agent.CodeSameFailure, reason: agent.CauseContext},
		// not the protocol
		{name: "somebody's page", turn: scripted.Fail(model.CodeProtocol), fatal: true, code: agent.CodeModel, reason: model.CodeProtocol},
		{name: "a stream that stalls", turn: body("30-stall"), retries: 1, code: agent.CodeModel, reason: model.CodeIdle, cause: "transport"},
		// the loop over weak models
		{name: "a call as bare JSON", turn: body("01-bare-json-as-text"), cause: "text_tool_call", told: "printed as text", code: agent.CodeSameFailure, reason: agent.CauseTextCall},
		{name: "a call as XML", turn: body("02-function-xml-as-text"), cause: "text_tool_call", told: "printed as text", code: agent.CodeSameFailure, reason: agent.CauseTextCall},
		{name: "a claim without a call", turn: body("03-claims-done-no-call"), cause: "claimed_no_tool_call", told: "no tool call has worked", code: agent.CodeSameFailure, reason: agent.CauseClaimed},
		{name: "an unknown tool", turn: body("05-unknown-tool-delivered"), cause: "unknown_tool:delete_everything", told: "There is no tool", code: agent.CodeSameFailure, reason: agent.CauseUnknownTool},
		{name: "wrong types", turn: body("08-wrong-types"), cause: "bad_arguments:tail_file:lines", told: `Unknown argument "lines"`, code: agent.CodeSameFailure, reason: agent.CauseBadArguments},
		{name: "an empty turn", turn: body("09-empty-turn"), cause: "empty_response", told: "empty", code: agent.CodeSameFailure, reason: agent.CauseEmpty},
		{name: "endless text", turn: scripted.Turn{Content: strings.Repeat("and then I will do the next thing, ", 300)}, cause: "repetition", told: "repeated", code: agent.CodeSameFailure, reason: agent.CauseRepetition},
		{name: "a failing tool", turn: scripted.Use(scripted.Tool("read_file", map[string]any{"path": "none.txt"})), cause: "tool_error:read_file:workspace.not_found", told: "none.txt", code: agent.CodeSameFailure, reason: agent.CauseToolError},
		{name: "the same call again", turn: scripted.Use(scripted.Tool("list_dir", map[string]any{"path": "."})), code: agent.CodeSameFailure, reason: agent.CauseSameCall, harmless: true},
		{name: "a denied call", turn: scripted.Use(scripted.Tool("read_file", map[string]any{"path": "/etc/shadow"})), cause: "denied:read_file", told: "Denied by the owner's policy", code: agent.CodeDeniedAgain, reason: agent.CauseDenied},
		{name: "a plan where work is due", turn: planned("file", "a.txt"), cause: "bad_plan", told: "There is a plan already", code: agent.CodeSameFailure, reason: agent.CauseBadPlan},
		{name: "the fixed prompt instead of work", turn: scripted.Say("1. Do, do not claim. A thing counts as done only when a tool result shows it. Never say that a file was written"), cause: "prompt_revealed", told: "Do not repeat these rules", code: agent.CodeSameFailure, reason: agent.CauseRevealed},
		// read as they are meant
		{name: "arguments as a string", turn: body("07-arguments-as-string"), harmless: true, cause: "tool_error:read_file:workspace.not_found", code: agent.CodeSameFailure, reason: agent.CauseToolError},
		{name: "calls in the last line", turn: body("17-calls-in-done-frame"), harmless: true, cause: "tool_error:read_file:workspace.not_found", code: agent.CodeSameFailure, reason: agent.CauseToolError},
		{name: "reasoning with a closing tag only", turn: body("11-stray-close-think"), cause: "claimed_no_tool_call", told: "no tool call has worked", code: agent.CodeSameFailure, reason: agent.CauseClaimed},
		{name: "no prompt count", turn: body("19-no-prompt-count"), cause: "claimed_no_tool_call", told: "no tool call has worked", code: agent.CodeSameFailure, reason: agent.CauseClaimed},
		{name: "a line cut inside its characters", turn: body("25-split-bytes"), cause: "claimed_no_tool_call", told: "no tool call has worked", code: agent.CodeSameFailure, reason: agent.CauseClaimed},
		{name: "an image refused by the server", turn: body("28-vision-400"), fatal: true, code: agent.CodeModel, reason: model.CodeNoVision},
	}
})

func ptr[T any](v T) *T { return &v }

// scene plays a row: the plan, a long conversation where the row wants one, the fault, and then the work.
func (r row) scene(t *testing.T, times int) (*bench, service.Status) {
	t.Helper()
	s := setup{files: map[string]string{"big.txt": strings.Repeat("word ", 4000)}}
	steps := []scripted.Step{{When: asPlan, Reply: planned("file", "a.txt")}}
	if r.long {
		s.ctx, s.summarize = 4096, 0.95
		for i := range 3 {
			steps = append(steps, scripted.Step{When: asAct, Reply: scripted.Turn{
				Calls:        []scripted.Call{scripted.Tool("read_file", map[string]any{"path": "big.txt", "offset": 1, "limit": i + 1})},
				PromptTokens: ptr(1400 + 500*i),
			}})
		}
		steps = append(steps, scripted.Step{Name: "summary", When: asNeither, Times: scripted.Forever, Reply: scripted.Say("big.txt holds only words.")})
	}
	steps = append(
		steps, scripted.Step{Name: "fault", When: asAct, Times: times, Reply: r.turn},
		scripted.Step{When: asAct, Reply: write}, scripted.Step{When: asAct, Reply: scripted.Say("a.txt is there.")},
		scripted.Step{When: asPlan, Times: scripted.Forever, Reply: planned("file", "a.txt")},
	)
	s.script = scripted.Script{Steps: steps}
	b := newBench(t, s)
	return b, b.run(t, service.RunRequest{Request: "Write hi into the file a.txt."})
}

// The fault table, row by row, over the real wire (AGT-03, AGT-04, OLL-11, OLL-12, REC-01): each is counted under its cause, the
// model is told what helps it or the server is asked again, the work is finished when the fault goes away, and a Task in which it
// does not ends with its code and never as completed.
func TestFaults_Table(t *testing.T) {
	for _, r := range rows() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			if !r.fatal {
				b, st := r.scene(t, 0)
				require.Equal(t, service.Completed, st.State, st.Text)
				require.Equal(t, "hi", b.files.Snapshot()["/w/a.txt"])
				require.Equal(t, r.retries, b.count("model.retry"))
				if r.cause != "" && r.retries == 0 {
					require.Equal(t, 1, b.count("agent.failure "+r.cause), st.Text)
				}
				if r.told != "" {
					require.True(t, slices.ContainsFunc(b.server.Model.Requests(), func(q model.Request) bool {
						return len(q.Tools) > 0 && strings.Contains(q.Messages[len(q.Messages)-1].Content, r.told)
					}), "the model was not told %q", r.told)
				}
			}
			b, st := r.scene(t, scripted.Forever)
			require.NotEqual(t, service.Completed, st.State, "a fault that does not go away was called a success")
			require.Equal(t, string(r.code), st.ErrorCode, st.Text)
			require.NotContains(t, b.files.Snapshot(), "/w/a.txt")
			require.Contains(t, st.Text, "Last error")
			require.NotContains(t, st.Text, "Observed, not only said", "nothing was")
			if r.hint != "" {
				require.Contains(t, st.Text, r.hint)
			}
			switch {
			case strings.HasPrefix(string(r.reason), "model."):
				require.Positive(t, b.count("model.failed "+string(r.reason)), st.Text)
			case r.code == agent.CodeSameFailure && !r.harmless:
				require.Equal(t, 5, b.count("agent.failure "+r.cause), "AGT-03: five of one cause")
			}
			if r.fatal {
				require.Zero(t, b.count("model.retry"))
				require.Len(t, b.server.Model.Requests(), 2, "the plan, and the one that failed")
			}
			if r.retries > 0 {
				require.Equal(t, 3, b.count("model.retry"), "as often as it is configured")
			}
		})
	}
}

// The same in the place of a plan: nothing is done, and the Task never ends as completed.
func TestFaults_InPlaceOfAPlan(t *testing.T) {
	for _, r := range rows() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, setup{script: scripted.Script{Steps: []scripted.Step{
				{When: asPlan, Times: scripted.Forever, Reply: r.turn},
				{When: asNeither, Times: scripted.Forever, Reply: scripted.Say("Nothing to tell.")},
				{When: asAct, Times: scripted.Forever, Reply: scripted.Say("It is done.")},
			}}})
			st := b.run(t, service.RunRequest{Request: "Write hi into the file a.txt."})
			require.NotEqual(t, service.Completed, st.State, st.Text)
			require.NotEmpty(t, st.ErrorCode)
			require.NotContains(t, b.files.Snapshot(), "/w/a.txt")
		})
	}
}

// Every exchange that users of local agents reported is a row: none is left out.
func TestFaults_EveryRecordingIsARow(t *testing.T) {
	for name, f := range recorded() {
		require.True(t, slices.ContainsFunc(rows(), func(r row) bool {
			return r.turn.Fault != nil && r.turn.Fault.Body == f.Body && r.turn.Fault.Status == f.Status
		}), name)
	}
	for _, c := range agent.Causes() {
		require.True(t, slices.ContainsFunc(rows(), func(r row) bool {
			return r.reason == c || "cause."+strings.Split(r.cause, ":")[0] == string(c)
		}), "%s is in no row", c)
	}
}

// Row "num_ctx too large": the server clips it without a word; the running Task goes on with what it really has, and people are told.
func TestFaults_ClippedContext(t *testing.T) {
	s := setup{ctx: 16384, script: scripted.Script{ContextLength: 131072, Steps: []scripted.Step{
		{When: asPlan, Reply: planned("file", "a.txt")}, {When: asAct, Reply: write}, {When: asAct, Reply: scripted.Say("a.txt is there.")},
	}}}
	s.script.Given = 4096
	b := newBench(t, s)
	st := b.run(t, service.RunRequest{Request: "Write hi into the file a.txt."})
	require.Equal(t, service.Completed, st.State, st.Text)
	require.Contains(t, st.Text, "the model's server gives 4,096 tokens; ollama.options.num_ctx asks for 16,384")
	require.Equal(t, 1, b.count("model.context_clipped"))
	require.Equal(t, 1, b.count("agent.context"))
	requests := b.server.Model.Requests()
	require.Greater(t, *requests[0].Options.NumPredict, 2048, "a quarter of what was asked for")
	require.LessOrEqual(t, *requests[1].Options.NumPredict, 1024, "a quarter of what there is")
	require.Equal(t, 16384, *requests[1].Options.NumCtx, "another one would load the model again")
}

// Row "closing the connection cancels".
func TestFaults_CancelClosesTheConnection(t *testing.T) {
	b := newBench(t, setup{script: scripted.Script{Steps: []scripted.Step{{Reply: scripted.Turn{Content: "I", Fault: &scripted.Fault{Stall: true}}, Times: scripted.Forever}}}})
	a, err := b.Run(context.Background(), service.RunRequest{Request: "x", Owner: "me"})
	require.NoError(t, err)
	require.Eventually(t, func() bool { return len(b.server.Model.Requests()) > 0 }, 20*time.Second, time.Millisecond)
	require.NoError(t, b.Release(context.Background(), "me"))
	st, err := b.Status(context.Background(), a.TaskID, "")
	require.NoError(t, err)
	require.Equal(t, service.Cancelled, st.State)
	require.Eventually(t, func() bool { return b.server.Model.Abandoned() > 0 }, 20*time.Second, time.Millisecond)
}
