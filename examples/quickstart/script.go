package main

import (
	"embed"
	"regexp"

	"github.com/agent-mcp/agent-mcp/adapters/model/scripted"
	"github.com/agent-mcp/agent-mcp/ports/model"
)

//go:embed story
var files embed.FS

// plot is what differs between the Python and the shell version of the story.
type plot struct {
	program, tests, alias string
	run                   []string
	bug, fix              string
}

// story is the scripted model: it plans, writes a program with a mistake and tests that find it, runs them, fixes the
// mistake, runs them again, and reports. Only the choices are scripted: files, processes and results are real.
func story(say *speaker, python bool) scripted.Script {
	p := plot{
		program: "wordcount.sh", tests: "test_wordcount.sh", alias: "sh", run: []string{"test_wordcount.sh"},
		bug: "    n=$((n + 1))\ndone", fix: "done",
	}
	if python {
		p = plot{
			program: "wordcount.py", tests: "test_wordcount.py", alias: "python", run: []string{"-B", "-m", "unittest", "-v"},
			bug: `text.split(" ")`, fix: `text.split()`,
		}
	}
	run := scripted.Use(scripted.Tool("run_process", map[string]any{"command": p.alias, "args": p.run}))
	scenes := map[string][]scripted.Turn{
		"t1": {write(p.program), scripted.Say("The program is written.")},
		"t2": {write(p.tests), scripted.Say("The tests are written.")},
		"t3": {
			run,
			scripted.Use(scripted.Tool("read_file", map[string]any{"path": p.program})),
			scripted.Use(scripted.Tool("patch_file", map[string]any{"path": p.program, "old": p.bug, "new": p.fix})),
			run,
			scripted.Say("All tests pass after one fix."),
		},
	}
	answer := scripted.Say(say.text("story.answer", "program", p.program, "tests", p.tests))
	return scripted.Script{
		Model: scriptedModel,
		Steps: []scripted.Step{
			{Name: "plan", When: scripted.Match{Format: scripted.Yes}, Reply: scripted.JSON(p.plan(say))},
			{Name: "act", When: scripted.Match{Tools: scripted.Yes}, Times: scripted.Forever, Do: func(r model.Request) scripted.Turn { return play(scenes, r) }},
			{Name: "answer", Times: scripted.Forever, Reply: answer},
		},
	}
}

// brief is how the runtime starts a Planner Task.
var brief = regexp.MustCompile(`Now do (t\d):`)

// play answers as a model would that reads the conversation: it finds the step that it was told to do last, and how much
// of it is done.
func play(scenes map[string][]scripted.Turn, r model.Request) scripted.Turn {
	task, done := "", 0
	for _, m := range r.Messages {
		if f := brief.FindStringSubmatch(m.Content); f != nil {
			task, done = f[1], 0
		} else if m.Role == model.Assistant {
			done++
		}
	}
	scene := scenes[task]
	if len(scene) == 0 {
		return scripted.Say("There is nothing to do.")
	}
	turn := scene[min(done, len(scene)-1)]
	turn.DelayMS, turn.PaceMS = 150, 1 // a model takes its time; so the progress can be seen
	return turn
}

func write(name string) scripted.Turn {
	b, err := files.ReadFile("story/" + name)
	if err != nil {
		panic("quickstart: embedded file " + name + " is missing")
	}
	return scripted.Use(scripted.Tool("write_file", map[string]any{"path": name, "content": string(b)}))
}

// plan is what the model answers to the planning call.
func (p plot) plan(say *speaker) map[string]any {
	task := func(id, title, budget string, o, m, most int, expects map[string]any, after ...string) map[string]any {
		if after == nil {
			after = []string{}
		}
		return map[string]any{
			"id": id, "title": title, "depends_on": after, "o": o, "m": m, "p": most, "budget": budget,
			"expects": []any{expects},
		}
	}
	file := func(name string) map[string]any { return map[string]any{"kind": "file", "path": name} }
	return map[string]any{"tasks": []any{
		task("t1", say.text("plan.write", "file", p.program), "16K", 1500, 3000, 8000, file(p.program)),
		task("t2", say.text("plan.write", "file", p.tests), "16K", 1500, 4000, 9000, file(p.tests)),
		task("t3", say.text("plan.run"), "32K", 4000, 9000, 20000, map[string]any{"kind": "process", "alias": p.alias}, "t1", "t2"),
	}}
}
