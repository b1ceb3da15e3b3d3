package agent_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/agent"
	"github.com/agent-mcp/agent-mcp/core/prompt"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// run is one Task under test. It answers what the machine waits for and keeps every effect.
type run struct {
	t       testing.TB
	s       agent.State
	effects []agent.Effect // of the last step
	all     []agent.Effect
	sees    func(paths []string) []tool.Seen // answers Look; nil = nothing is known
}

func began(request string) agent.Began {
	ctx := 16384
	return agent.Began{
		TaskID: "task-1", Request: request,
		Settings: agent.Settings{Model: "m", Options: model.Options{NumCtx: &ctx}, Workspace: "/w", Mounts: []agent.Mount{{Name: "docs", Path: "/srv/d"}}},
		Prompt: prompt.Layers{Runtime: prompt.Runtime{
			Workspace: "/w", Network: "none", Language: "en", Entries: []prompt.Entry{{Alias: "python", What: "Python interpreter"}},
		}},
		Tools: tool.Definitions(tool.Config{Aliases: []string{"python"}, Artifacts: true}),
	}
}

func start(t testing.TB, b agent.Began) *run {
	r := &run{t: t}
	r.step(b)
	return r
}

func (r *run) step(e agent.Event) *run {
	r.t.Helper()
	r.s, r.effects = agent.Step(r.s, e)
	r.all = append(r.all, r.effects...)
	for len(r.effects) > 0 { // a look that nobody can take: what tools did is all that is known
		l, ok := r.effects[len(r.effects)-1].(agent.Look)
		if !ok {
			break
		}
		answer := agent.Looked{CallID: l.CallID}
		if r.sees != nil {
			answer.Seen = r.sees(l.Paths)
		}
		before := r.effects[:len(r.effects)-1]
		r.s, r.effects = agent.Step(r.s, answer)
		r.all = append(r.all, r.effects...)
		r.effects = append(slices.Clone(before), r.effects...)
	}
	return r
}

// last is what the machine waits for.
func (r *run) last() agent.Effect {
	r.t.Helper()
	require.NotEmpty(r.t, r.effects)
	return r.effects[len(r.effects)-1]
}

func (r *run) ask() agent.Ask {
	r.t.Helper()
	a, ok := r.last().(agent.Ask)
	require.Truef(r.t, ok, "want Ask, have %T %+v", r.last(), r.last())
	return a
}

func (r *run) act() agent.Act {
	r.t.Helper()
	a, ok := r.last().(agent.Act)
	require.Truef(r.t, ok, "want Act, have %T %+v", r.last(), r.last())
	return a
}

func (r *run) done() agent.Outcome {
	r.t.Helper()
	d, ok := r.last().(agent.Done)
	require.Truef(r.t, ok, "want Done, have %T %+v", r.last(), r.last())
	return d.Outcome
}

func (r *run) failed(code fault.Code) agent.Outcome {
	r.t.Helper()
	o := r.done()
	require.Equal(r.t, service.Failed, o.State)
	require.Equal(r.t, code, o.Fault.Code, o.Fault.Error())
	return o
}

// usage is what a small reply costs.
var usage = model.Usage{PromptTokens: 900, OutputTokens: 40, PromptPresent: true, OutputPresent: true}

func (r *run) reply(m model.Reply) *run {
	r.t.Helper()
	if m.DoneReason == "" {
		m.DoneReason = "stop"
	}
	if m.Usage == (model.Usage{}) {
		m.Usage = usage
	}
	m.Message.Role = model.Assistant
	return r.step(agent.Replied{CallID: r.ask().CallID, Reply: m})
}

func (r *run) says(text string) *run {
	r.t.Helper()
	return r.reply(model.Reply{Message: model.Message{Content: text}})
}

func call(name, args string) model.ToolCall {
	return model.ToolCall{Name: name, Arguments: json.RawMessage(args)}
}

func (r *run) calls(c ...model.ToolCall) *run {
	r.t.Helper()
	return r.reply(model.Reply{Message: model.Message{ToolCalls: c}})
}

func (r *run) observe(results ...tool.Result) *run {
	r.t.Helper()
	return r.step(agent.Observed{CallID: r.act().CallID, Results: results})
}

func wrote(path string) tool.Result {
	return tool.Result{Text: "written", Effects: []tool.Effect{{Kind: tool.EffectCreated, Path: "/w/" + path, SHA256: "sha-" + path}}}
}

func ran(alias string, exit int) tool.Result {
	return tool.Result{
		Text:    fmt.Sprintf("exit %d", exit),
		Effects: []tool.Effect{{Kind: tool.EffectRan, Alias: alias, Path: "/usr/bin/" + alias, Exit: exit, End: "exited"}},
	}
}

func denied() tool.Result {
	return tool.Result{Text: "denied", Fault: fault.New("policy.denied"), Denied: true}
}

func toolError(code fault.Code) tool.Result {
	return tool.Result{Text: "failed", Fault: fault.New(code)}
}

// plan writes tasks as "id: title <- dep dep | file:path process:alias none".
func plan(tasks ...string) string {
	var out []string
	for _, s := range tasks {
		s, expects, _ := strings.Cut(s, " | ")
		s, deps, _ := strings.Cut(s, " <- ")
		id, title, _ := strings.Cut(s, ": ")
		var ex []string
		for _, e := range strings.Fields(expects) {
			kind, what, _ := strings.Cut(e, ":")
			key := map[string]string{"file": "path", "removed": "path", "process": "alias"}[kind]
			if key == "" {
				ex = append(ex, fmt.Sprintf(`{"kind":%q}`, kind))
			} else {
				ex = append(ex, fmt.Sprintf(`{"kind":%q,%q:%q}`, kind, key, what))
			}
		}
		d, _ := json.Marshal(strings.Fields(deps))
		out = append(out, fmt.Sprintf(`{"id":%q,"title":%q,"depends_on":%s,"o":500,"m":1000,"p":2000,"budget":"8K","expects":[%s]}`,
			id, title, d, strings.Join(ex, ",")))
	}
	return `{"tasks":[` + strings.Join(out, ",") + `]}`
}

const writeArgs = `{"path":"hello.py","content":"print(1)"}`

// working is a Task whose one Planner Task expects hello.py and waits for its first call.
func working(t testing.TB) *run {
	return start(t, began("make hello.py")).says(plan("t1: write hello.py | file:hello.py"))
}

func (r *run) notes(kind agent.NoteKind) []agent.Note {
	var out []agent.Note
	for _, e := range r.all {
		if n, ok := e.(agent.Note); ok && n.Kind == kind {
			out = append(out, n)
		}
	}
	return out
}

// heard is the last user or tool message of the request that the machine just sent.
func (r *run) heard() string {
	r.t.Helper()
	m := r.ask().Request.Messages
	return m[len(m)-1].Content
}

func encode(t testing.TB, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", " ")
	require.NoError(t, err)
	return string(b)
}
