package agent_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/agent"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
	"github.com/agent-mcp/agent-mcp/ports/service"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// world is a workspace that is really changed: by file tools, whose effects are in their results, and by programs, whose are
// not. What is true of it does not depend on what anybody reports.
type world struct {
	files, start map[string]string // below /w
	first        map[string]string // how a path was when it was first looked at; "-" = it was not there, "?" = a program had run already
	ran          bool
	blindfold    bool // it cannot be looked at
}

func newWorld(files map[string]string) *world {
	w := &world{files: maps.Clone(files), start: maps.Clone(files), first: map[string]string{}}
	if w.files == nil {
		w.files, w.start = map[string]string{}, map[string]string{}
	}
	return w
}

func sha(content string) string { return fmt.Sprintf("sha(%s)", content) }

func rel(p string) string { return strings.TrimPrefix(strings.TrimPrefix(p, "/w/"), "./") }

func (w *world) sees(paths []string) []tool.Seen {
	out := make([]tool.Seen, len(paths))
	for i, p := range paths {
		content, there := w.files[rel(p)]
		out[i] = tool.Seen{Path: p, Known: !w.blindfold && strings.HasPrefix(p, "/w/"), Exists: there}
		if there {
			out[i].SHA256 = sha(content)
		}
		if _, seen := w.first[rel(p)]; !seen {
			switch {
			case w.ran:
				content = "?"
			case !there:
				content = "-"
			}
			w.first[rel(p)] = content
		}
	}
	return out
}

// do performs a call as the toolbox would.
func (w *world) do(c tool.Call) tool.Result {
	p := rel(c.Path)
	old, there := w.files[p]
	effect := func(e tool.Effect) tool.Result { return tool.Result{Text: "ok", Effects: []tool.Effect{e}} }
	missing := tool.Result{Text: "not found", Fault: fault.New(workspace.CodeNotFound, "path", c.Path)}
	switch c.Name {
	case tool.Write:
		w.files[p] = c.Content
		if there {
			return effect(tool.Effect{Kind: tool.EffectChanged, Path: "/w/" + p, Before: sha(old), SHA256: sha(c.Content)})
		}
		return effect(tool.Effect{Kind: tool.EffectCreated, Path: "/w/" + p, SHA256: sha(c.Content)})
	case tool.Read:
		if !there {
			return missing
		}
		return effect(tool.Effect{Kind: tool.EffectRead, Path: "/w/" + p})
	case tool.Remove:
		if !there {
			return missing
		}
		delete(w.files, p)
		return effect(tool.Effect{Kind: tool.EffectRemoved, Path: "/w/" + p, Before: sha(old)})
	case tool.Move:
		if !there {
			return missing
		}
		if _, taken := w.files[rel(c.Dest)]; taken { // FS-07
			return tool.Result{Text: "exists", Fault: fault.New(workspace.CodeExists, "path", c.Dest)}
		}
		delete(w.files, p)
		w.files[rel(c.Dest)] = old
		return effect(tool.Effect{Kind: tool.EffectMoved, Path: "/w/" + p, Dest: "/w/" + rel(c.Dest), Before: sha(old)})
	case tool.Run:
		code := w.program(c.Args)
		w.ran = true
		return effect(tool.Effect{Kind: tool.EffectRan, Alias: c.Alias, Path: "/usr/bin/" + c.Alias, Exit: code, End: "exited"})
	}
	return tool.Result{Text: "ok"}
}

// program runs "set NAME CONTENT", "rm NAME", "mv NAME NAME" or "fail".
func (w *world) program(args []string) int {
	switch {
	case len(args) == 3 && args[0] == "set":
		w.files[args[1]] = args[2]
	case len(args) == 2 && args[0] == "rm":
		delete(w.files, args[1])
	case len(args) == 3 && args[0] == "mv":
		w.files[args[2]] = w.files[args[1]]
		delete(w.files, args[1])
	case len(args) > 0 && args[0] == "fail":
		return 1
	}
	return 0
}

// acts answers an Act from the world.
func (r *run) acts(w *world) *run {
	r.t.Helper()
	var results []tool.Result
	for _, c := range r.act().Calls {
		results = append(results, w.do(c))
	}
	return r.observe(results...)
}

func writes(p, content string) model.ToolCall {
	return call("write_file", fmt.Sprintf(`{"path":%q,"content":%q}`, p, content))
}

func runs(args ...string) model.ToolCall {
	return call("run_process", fmt.Sprintf(`{"command":"python","args":["%s"]}`, strings.Join(args, `","`)))
}

func inWorld(t testing.TB, w *world, request string, tasks ...string) *run {
	r := &run{t: t, sees: w.sees}
	return r.step(began(request)).says(plan(tasks...))
}

// AGT-04, AGT-07: a claim is compared with how things are in the end, whoever changed them last. What was undone does not count,
// by a tool or by a program; what a program did counts without another word.
func TestStep_ClaimsAreComparedWithTheWorld(t *testing.T) {
	rm, mv := call("remove_file", `{"path":"a.txt"}`), call("move_path", `{"path":"a.txt","dest":"b.txt"}`)
	cases := []struct {
		name, expects string
		start         map[string]string
		calls         []model.ToolCall
		met           bool
	}{
		{"written", "file:a.txt", nil, []model.ToolCall{writes("a.txt", "1")}, true},
		{"changed", "file:a.txt", map[string]string{"a.txt": "0"}, []model.ToolCall{writes("a.txt", "1")}, true},
		{"written, then deleted", "file:a.txt", nil, []model.ToolCall{writes("a.txt", "1"), rm}, false},
		{"written, then renamed away", "file:a.txt", nil, []model.ToolCall{writes("a.txt", "1"), mv}, false},
		{"changed, then restored", "file:a.txt", map[string]string{"a.txt": "0"}, []model.ToolCall{writes("a.txt", "1"), writes("a.txt", "0")}, false},
		{"the same bytes", "file:a.txt", map[string]string{"a.txt": "0"}, []model.ToolCall{writes("a.txt", "0")}, false},
		{"renamed away and back", "file:a.txt", map[string]string{"a.txt": "0"}, []model.ToolCall{mv, call("move_path", `{"path":"b.txt","dest":"a.txt"}`)}, false},
		{"deleted, then written as it was", "file:a.txt", map[string]string{"a.txt": "0"}, []model.ToolCall{rm, writes("a.txt", "0")}, false},
		{"written, then deleted by a program", "file:a.txt", nil, []model.ToolCall{writes("a.txt", "1"), runs("rm", "a.txt")}, false},
		{"written, then renamed away by a program", "file:a.txt", nil, []model.ToolCall{writes("a.txt", "1"), runs("mv", "a.txt", "b.txt")}, false},
		{"changed, then restored by a program", "file:a.txt", map[string]string{"a.txt": "0"}, []model.ToolCall{writes("a.txt", "1"), runs("set", "a.txt", "0")}, false},
		{"changed by a program, then restored", "file:a.txt", map[string]string{"a.txt": "0"}, []model.ToolCall{runs("set", "a.txt", "1"), writes("a.txt", "0")}, false},
		{"deleted by a program, then written as it was", "file:a.txt", map[string]string{"a.txt": "0"}, []model.ToolCall{runs("rm", "a.txt"), writes("a.txt", "0")}, false},
		{"made by a program", "file:a.txt", nil, []model.ToolCall{runs("set", "a.txt", "1")}, true},
		{"changed by a program", "file:a.txt", map[string]string{"a.txt": "0"}, []model.ToolCall{runs("set", "a.txt", "1")}, true},
		{"renamed to its name by a program", "file:a.txt", map[string]string{"b.txt": "0"}, []model.ToolCall{runs("mv", "b.txt", "a.txt")}, true},
		{"a program that did nothing to it", "file:a.txt", map[string]string{"a.txt": "0"}, []model.ToolCall{runs("ok")}, false},
		{"a program that did nothing to it, and a read", "file:a.txt", map[string]string{"a.txt": "0"}, []model.ToolCall{runs("ok"), call("read_file", `{"path":"a.txt"}`)}, false},
		{"removed", "removed:a.txt", map[string]string{"a.txt": "0"}, []model.ToolCall{rm}, true},
		{"removed by a program", "removed:a.txt", map[string]string{"a.txt": "0"}, []model.ToolCall{runs("rm", "a.txt")}, true},
		{"removed, then written again", "removed:a.txt", map[string]string{"a.txt": "0"}, []model.ToolCall{rm, writes("a.txt", "0")}, false},
		{"removed, then made again by a program", "removed:a.txt", map[string]string{"a.txt": "0"}, []model.ToolCall{rm, runs("set", "a.txt", "0")}, false},
		{"another file removed", "removed:a.txt", map[string]string{"a.txt": "0", "d/a.txt": "0"}, []model.ToolCall{call("remove_file", `{"path":"d/a.txt"}`)}, false},
		{"another file is not there", "removed:a.txt", map[string]string{"a.txt": "0"}, []model.ToolCall{call("read_file", `{"path":"d/a.txt"}`)}, false},
		{"the program failed after its work", "file:a.txt process:python", nil, []model.ToolCall{runs("set", "a.txt", "1"), runs("fail")}, false},
		{"the program worked", "file:a.txt process:python", nil, []model.ToolCall{runs("set", "a.txt", "1")}, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(c.start)
			r := inWorld(t, w, "do it", "t1: do it | "+c.expects)
			for _, one := range c.calls {
				r.calls(one).acts(w)
			}
			r.says("It is done.")
			if c.met {
				o := r.done()
				require.Equal(t, service.Completed, o.State)
				require.NotEmpty(t, o.Memory.Results[0].Evidence, "completed carries what was observed")
				return
			}
			require.Equal(t, agent.PhaseAct, r.ask().Phase)
			require.Regexp(t, "not observed|Missing", r.heard())
			for range 6 { // nor does insisting help
				if _, over := r.last().(agent.Done); over {
					break
				}
				r.says("It is done.")
			}
			if d, over := r.last().(agent.Done); over {
				require.NotEqual(t, service.Completed, d.Outcome.State)
			}
		})
	}
}

// AGT-04: what a later Planner Task takes back by a program is not done either.
func TestStep_AProgramTakesBackWhatWasMade(t *testing.T) {
	for name, c := range map[string]struct {
		expects string
		start   map[string]string
		do      model.ToolCall
		undo    []string
	}{
		"made, then deleted":     {"file:a.txt", nil, writes("a.txt", "1"), []string{"rm", "a.txt"}},
		"changed, then restored": {"file:a.txt", map[string]string{"a.txt": "0"}, writes("a.txt", "1"), []string{"set", "a.txt", "0"}},
		"removed, then restored": {"removed:a.txt", map[string]string{"a.txt": "0"}, call("remove_file", `{"path":"a.txt"}`), []string{"set", "a.txt", "0"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(c.start)
			r := inWorld(t, w, "do it", "t1: first | "+c.expects, "t2: then <- t1 | process:python")
			r.calls(c.do).acts(w).says("Done.")
			require.EqualValues(t, "t2", r.ask().PlannerTask)
			r.calls(runs(c.undo...)).acts(w).says("Done.")
			require.Equal(t, agent.PhaseReplan, r.ask().Phase)
			require.Contains(t, r.heard(), "took it back")
		})
	}
}

// AGT-04: a report that tells of more files than there are is sent back; the work that was done still counts, those words do not.
func TestStep_AReportThatTellsOfMoreThanThereIs(t *testing.T) {
	lie := "I have created a.txt and b.txt."
	w := newWorld(map[string]string{"c.txt": "0"})
	r := inWorld(t, w, "do it", "t1: do it | file:a.txt").calls(writes("a.txt", "1")).acts(w).says(lie)
	require.Contains(t, r.heard(), "b.txt, which you say was made, is not there")
	require.Equal(t, "I have created a.txt. I used c.txt.", r.says("I have created a.txt. I used c.txt.").done().Answer)

	w = newWorld(nil)
	r = inWorld(t, w, "do it", "t1: do it | file:a.txt").calls(writes("a.txt", "1")).acts(w).says(lie).says(lie)
	require.Equal(t, agent.PhaseFinish, r.ask().Phase, "asked for other closing words")
	require.Contains(t, r.says(lie).heard(), "is not there")
	o := r.says(lie).says(lie).done()
	require.Equal(t, service.Completed, o.State)
	require.Empty(t, o.Answer, "the caller shows what was observed instead")
	require.Len(t, o.Progress.Proof[0].Effects, 1)

	w = newWorld(nil)
	r = inWorld(t, w, "do it", "t1: do it | file:a.txt").calls(writes("a.txt", "1"), runs("set", "b.txt", "1")).acts(w)
	require.Equal(t, lie, r.says(lie).done().Answer, "a program made the other one")
	w = newWorld(nil)
	w.blindfold = true
	r = inWorld(t, w, "do it", "t1: do it | file:a.txt").calls(writes("a.txt", "1")).acts(w)
	require.Equal(t, lie, r.says(lie).done().Answer, "what cannot be looked at is not held against anybody")
}

// SES-06: a limit that the user set long ago outlives every summary, however many messages came after it.
func TestStep_OldConstraintsOutliveSummaries(t *testing.T) {
	b := began("Read the files.")
	ctx := 4096
	b.Settings.Options.NumCtx, b.Tools = &ctx, b.Tools[:2]
	b.Memory.Conversation = append(b.Memory.Conversation, model.Message{Role: model.User, Content: "Never write capitals."}, model.Message{Role: model.Assistant, Content: "ok"})
	for i := range 20 {
		b.Memory.Conversation = append(b.Memory.Conversation, model.Message{Role: model.User, Content: fmt.Sprint("chat ", i)}, model.Message{Role: model.Assistant, Content: "ok"})
	}
	r := start(t, b).says(plan("t1: read | none"))
	for i := 0; len(r.notes(agent.NoteSummary)) < 2; i++ {
		require.Less(t, i, 80)
		if r.ask().Phase == agent.PhaseSummary {
			r.says("Only words.")
			continue
		}
		r.reply(model.Reply{Message: model.Message{ToolCalls: []model.ToolCall{call("read_file", fmt.Sprintf(`{"path":"f%d"}`, i))}}, Usage: model.Usage{OutputTokens: 5, OutputPresent: true}})
		r.observe(tool.Result{Text: strings.Repeat("word ", 100)})
	}
	require.Contains(t, encode(t, r.ask().Request.Messages), "Never write capitals.")
	valid(t, r.ask().Request.Messages)
}
