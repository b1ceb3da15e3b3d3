package agent_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/agent"
	"github.com/agent-mcp/agent-mcp/core/prompt"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
)

func selecting(names string, lines ...string) string {
	return strings.TrimSuffix(plan(lines...), "}") + `,"skills":` + names + `}`
}

func withSkills(n int) agent.Began {
	b := began("make hello.py")
	for i := range n {
		b.Prompt.Runtime.Skills = append(b.Prompt.Runtime.Skills, prompt.Skill{Name: fmt.Sprint("skill-", i), Description: "for case " + fmt.Sprint(i)})
	}
	return b
}

// SKL-03: the model chooses by name and description alone; the body reaches it only when it is chosen, and stays until the end:
// once in every request, also after summaries, a replan that names it again, and a Task more in the same Session.
func TestStep_SkillsAreLoadedOnceAndKept(t *testing.T) {
	const body = "BODY-OF-THE-SKILL"
	r := start(t, withSkills(2))
	require.Contains(t, encode(t, r.ask().Request), "for case 1")
	loads := 0
	load := func(r *run) *run {
		l := r.last().(agent.LoadSkills)
		loads++
		require.Equal(t, []string{"skill-1"}, l.Names)
		return r.step(agent.SkillsLoaded{CallID: l.CallID, Skills: []prompt.LoadedSkill{{Name: "skill-1", Body: body, Resources: []string{"references/a.md"}}}})
	}
	once := func(r *run) {
		t.Helper()
		req := r.ask().Request
		require.Equal(t, 1, strings.Count(encode(t, req), body), r.ask().Phase)
		require.Contains(t, req.Messages[0].Content, body)
		require.Contains(t, req.Messages[0].Content, "references/a.md", "resources are listed …")
	}
	load(r.says(selecting(`["skill-1"]`, "t1: make it | file:hello.py", "t2: then | file:b.txt")))
	once(r)
	summaries := 0
	for i := range 40 {
		if r.ask().Phase == agent.PhaseSummary {
			summaries++
			require.NotContains(t, encode(t, r.ask().Request.Messages[1:]), body, "it is no part of what is summarised")
			r.says("read many files")
		}
		once(r)
		r.calls(call("read_file", fmt.Sprintf(`{"path":"f%d"}`, i))).observe(tool.Result{Text: strings.Repeat(fmt.Sprint("line ", i, " of words. "), 250)})
	}
	require.Positive(t, summaries)
	if r.ask().Phase == agent.PhaseSummary {
		r.says("read many files")
	}
	r.calls(call("remove_file", `{"path":"x"}`)).observe(tool.Result{Denied: true, Fault: fault.New("policy.denied")})
	for r.ask().Phase != agent.PhaseReplan {
		r.says("I cannot do it.")
	}
	once(r)
	r.says(selecting(`["skill-1"]`, "t1: make it so | file:hello.py"))
	once(r)
	require.Equal(t, agent.PhaseAct, r.ask().Phase, "it is not loaded again")
	r.calls(call("write_file", writeArgs)).observe(wrote("hello.py")).says("hello.py is made.")
	r.calls(call("write_file", `{"path":"b.txt","content":"x"}`)).observe(wrote("b.txt")).says("b.txt is made.")
	o := r.says("Both are made.").done()
	require.Equal(t, []string{"skill-1"}, o.Memory.Skills)

	b := withSkills(2)
	b.Memory = o.Memory
	r = start(t, b)
	require.NotContains(t, encode(t, r.ask().Request), body, "a new Task reads it anew")
	once(load(r.says(selecting(`[]`, "t1: more | none"))))
	require.Equal(t, 2, loads)
}

// SKL-03: neither the list of skills nor their bodies crowd out the work; what had no room is reported, and the Task goes on.
func TestStep_SkillsNeverCrowdOutTheWork(t *testing.T) {
	small := 4096
	b := began("make hello.py")
	b.Settings.Options.NumCtx = &small
	for i := range 60 {
		b.Prompt.Runtime.Skills = append(b.Prompt.Runtime.Skills, prompt.Skill{Name: fmt.Sprint("skill-", i), Description: strings.Repeat("useful ", 140)})
	}
	r := start(t, b)
	require.Equal(t, agent.PhasePlan, r.ask().Phase, "it fits")
	require.Less(t, prompt.Estimate(model.Request{Messages: r.ask().Request.Messages[:1]}), small/2)
	require.Contains(t, r.ask().Request.Messages[0].Content, "skill-59")
	require.Len(t, r.notes(agent.NoteSkillsCut), 1)
	require.Len(t, b.Prompt.Runtime.Skills[0].Description, 980, "the caller's list is as it was")

	r.says(selecting(`["skill-1","skill-2","skill-3"]`, "t1: a | file:hello.py"))
	r.step(agent.SkillsLoaded{CallID: r.last().(agent.LoadSkills).CallID, Skills: []prompt.LoadedSkill{
		{Name: "skill-1", Body: strings.Repeat("long ", 4000)}, {Name: "skill-2", Body: "SHORT-2 " + strings.Repeat("a ", 1000)}, {Name: "skill-3", Body: "SHORT-3 " + strings.Repeat("b ", 4000)},
	}})
	sys := r.ask().Request.Messages[0].Content
	require.Contains(t, sys, "SHORT-2")
	require.NotContains(t, sys, "long long")
	require.False(t, strings.Contains(sys, "SHORT-3"), "there was room for one")
	require.Regexp(t, `^skill-1 \(\d+ > 1365\), skill-3 \(\d+ > \d+\)$`, r.notes(agent.NoteSkillsOut)[0].Detail)
	require.NotEmpty(t, r.calls(call("write_file", writeArgs)).observe(wrote("hello.py")).says("hello.py is made.").done().Answer)
}
