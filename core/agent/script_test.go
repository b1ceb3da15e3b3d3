package agent_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/conformance/golden"
	"github.com/agent-mcp/agent-mcp/core/agent"
	"github.com/agent-mcp/agent-mcp/core/prompt"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
)

// play feeds an event script, one event a line, and returns every effect with the state after it, as bytes:
//
//	begin REQUEST        option NAME VALUE (before it)
//	say TEXT             call NAME {ARGS} [; NAME {ARGS}…]      cut TEXT
//	ok [EFFECT PATH…]    exit ALIAS CODE      error CODE        deny CODE       (results of the calls, one line each)
//	fail CODE            cancel               load NAME=BODY
//
// A line that starts with # is a remark. Every state is fed as the original and as a copy, and both must agree.
func play(t testing.TB, script string) (all, short []byte) {
	t.Helper()
	var out, brief bytes.Buffer
	b := began("")
	s := agent.State{}
	var effects []agent.Effect
	var results []tool.Result
	for _, l := range strings.Split(script, "\n") {
		word, rest, _ := strings.Cut(strings.TrimSpace(l), " ")
		if word == "" || word == "#" {
			continue
		}
		id, waiting := "", 0
		if len(effects) > 0 {
			switch e := effects[len(effects)-1].(type) {
			case agent.Ask:
				id = e.CallID
			case agent.Act:
				id, waiting = e.CallID, len(e.Calls)
			case agent.LoadSkills:
				id = e.CallID
			}
		}
		reply := func(m model.Message, reason string) agent.Event {
			m.Role = model.Assistant
			return agent.Replied{CallID: id, Reply: model.Reply{Message: m, DoneReason: reason, Usage: usage}}
		}
		var event agent.Event
		switch word {
		case "option":
			option(t, &b, rest)
			continue
		case "begin":
			b.Request = rest
			event = b
		case "say":
			event = reply(model.Message{Content: strings.ReplaceAll(rest, `\n`, "\n"), Thinking: "hidden"}, "stop")
		case "cut":
			event = reply(model.Message{Content: rest}, "length")
		case "call":
			var m model.Message
			for _, c := range strings.Split(rest, " ; ") {
				name, args, _ := strings.Cut(c, " ")
				m.ToolCalls = append(m.ToolCalls, call(name, args))
			}
			event = reply(m, "stop")
		case "ok", "exit", "error", "deny":
			results = append(results, result(word, rest))
			if len(results) < waiting {
				continue
			}
			event, results = agent.Observed{CallID: id, Results: results}, nil
		case "fail":
			event = agent.ModelFailed{CallID: id, Fault: fault.New(fault.Code(rest))}
		case "cancel":
			event = agent.Cancelled{Results: results}
		case "load":
			name, body, _ := strings.Cut(rest, "=")
			event = agent.SkillsLoaded{CallID: id, Skills: []prompt.LoadedSkill{{Name: name, Body: body}}}
		default:
			t.Fatalf("unknown word %q", word)
		}
		before := encode(t, s)
		copied := s
		next, emitted := agent.Step(s, event)
		again, emittedAgain := agent.Step(copied, event)
		require.Equal(t, before, encode(t, s), "Step changed the state it was given")
		require.Equal(t, encode(t, next), encode(t, again))
		require.Equal(t, list(t, emitted), list(t, emittedAgain))
		for len(emitted) > 0 { // a look that nobody can take
			l, ok := emitted[len(emitted)-1].(agent.Look)
			if !ok {
				break
			}
			var more []agent.Effect
			next, more = agent.Step(next, agent.Looked{CallID: l.CallID})
			emitted = append(emitted, more...)
		}
		s, effects = next, emitted
		fmt.Fprintf(&out, "> %s\n%s", l, list(t, effects))
		fmt.Fprintf(&brief, "> %s\n%s", l, outline(effects))
	}
	state, err := json.Marshal(s)
	require.NoError(t, err)
	fmt.Fprintf(&out, "= %s\n", state)
	return out.Bytes(), brief.Bytes()
}

func option(t testing.TB, b *agent.Began, s string) {
	name, value, _ := strings.Cut(s, " ")
	switch name {
	case "skill":
		b.Prompt.Runtime.Skills = append(b.Prompt.Runtime.Skills, prompt.Skill{Name: value, Description: "about " + value})
	case "language":
		b.Prompt.Runtime.Language = value
	default:
		t.Fatalf("unknown option %q", name)
	}
}

func result(word, rest string) tool.Result {
	f := strings.Fields(rest)
	switch word {
	case "exit":
		code := 0
		fmt.Sscan(f[1], &code)
		return ran(f[0], code)
	case "error":
		return toolError(fault.Code(rest))
	case "deny":
		r := denied()
		r.Fault = fault.New(fault.Code(rest))
		return r
	}
	r := tool.Result{Text: "ok"}
	for i := 0; i+1 < len(f); i += 2 {
		r.Effects = append(r.Effects, tool.Effect{Kind: tool.EffectKind(f[i]), Path: "/w/" + f[i+1], SHA256: "sha"})
	}
	return r
}

func list(t testing.TB, effects []agent.Effect) string {
	var b strings.Builder
	for _, e := range effects {
		j, err := json.Marshal(e)
		require.NoError(t, err)
		fmt.Fprintf(&b, "%T %s\n", e, j)
	}
	return b.String()
}

// outline is what a person reads of effects, and what the golden files hold.
func outline(effects []agent.Effect) string {
	var b strings.Builder
	for _, e := range effects {
		switch e := e.(type) {
		case agent.Ask:
			m := e.Request.Messages[len(e.Request.Messages)-1]
			fmt.Fprintf(&b, "ask %s %s %s iteration %d replan %d: %d messages, %d tools, format %t; %s: %s\n", e.CallID, e.Phase, e.PlannerTask, e.Iteration,
				e.Replan, len(e.Request.Messages), len(e.Request.Tools), e.Request.Format != nil, m.Role, prompt.Short(m.Content, 90))
		case agent.Act:
			fmt.Fprintf(&b, "act %s %s", e.CallID, e.PlannerTask)
			for _, c := range e.Calls {
				fmt.Fprintf(&b, " %s:%s(%s%s)", c.ID, c.Name, c.Path, c.Alias)
			}
			b.WriteByte('\n')
		case agent.Look:
			fmt.Fprintf(&b, "look %s %s %v\n", e.CallID, e.PlannerTask, e.Paths)
		case agent.LoadSkills:
			fmt.Fprintf(&b, "load %s %v\n", e.CallID, e.Names)
		case agent.Progress:
			p := e.Progress
			fmt.Fprintf(&b, "progress %s current %q iterations %d replans %d tokens %d+%d", e.State, p.Current, p.Iterations, p.Replans, p.InputTokens, p.OutputTokens)
			for _, n := range p.Plan.Tasks {
				fmt.Fprintf(&b, " %s=%s", n.ID, n.State)
			}
			b.WriteByte('\n')
		case agent.Note:
			fmt.Fprintf(&b, "note %s %s %s %s %d %d+%d %s\n", e.Kind, e.Phase, e.PlannerTask, e.Cause, e.Count, e.Input, e.Output, e.Detail)
		case agent.Done:
			fmt.Fprintf(&b, "done %s %v answer %q results %d\n", e.Outcome.State, e.Outcome.Fault, e.Outcome.Answer, len(e.Outcome.Memory.Results))
		}
	}
	return b.String()
}

// Determinism: the same events give the same bytes, in this process and against the golden file; the order in which
// Go walks maps changes nothing (every replay walks them anew).
func TestScripts_SameEventsSameBytes(t *testing.T) {
	scripts, err := filepath.Glob("testdata/*.script")
	require.NoError(t, err)
	require.NotEmpty(t, scripts)
	for _, name := range scripts {
		t.Run(filepath.Base(name), func(t *testing.T) {
			script, err := os.ReadFile(name)
			require.NoError(t, err)
			first, short := play(t, string(script))
			for range 5 {
				again, _ := play(t, string(script))
				require.Equal(t, string(first), string(again))
			}
			golden.Equal(t, strings.TrimSuffix(filepath.Base(name), ".script")+".golden", short)
		})
	}
}
