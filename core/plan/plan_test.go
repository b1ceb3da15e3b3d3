package plan_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/plan"
	"github.com/agent-mcp/agent-mcp/core/taskgraph"
)

var rules = plan.Rules{Request: "the request", Max: taskgraph.DefaultMaxTasks, Aliases: []string{"python"}}

// reply writes tasks as "id: title <- dep dep | file:path process:alias none".
func reply(tasks ...string) string {
	var out []string
	for _, s := range tasks {
		s, expects, _ := strings.Cut(s, " | ")
		s, deps, _ := strings.Cut(s, " <- ")
		id, title, _ := strings.Cut(s, ": ")
		var ex []string
		for _, e := range strings.Fields(expects) {
			kind, what, _ := strings.Cut(e, ":")
			key := map[string]string{"file": "path", "process": "alias"}[kind]
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

// graph reads and repairs a reply, and has taskgraph accept it.
func graph(t *testing.T, reply string) ([]taskgraph.Node, string) {
	t.Helper()
	g, did := update(t, taskgraph.New(0), reply)
	return g.View().Tasks, did
}

func update(t *testing.T, g taskgraph.Graph, reply string) (taskgraph.Graph, string) {
	t.Helper()
	p, why, ok := plan.Read(reply)
	require.True(t, ok, "%s: %s", why, reply)
	tasks, did := plan.Repair(p.Drafts, rules)
	g, err := g.Update(taskgraph.Update{Add: tasks})
	require.NoError(t, err)
	return g, strings.Join(did, "; ")
}

// PLN-01, PLN-02, PLN-07, PLN-08: near-valid plans are repaired by rules, R1 to R9, and the same way every time.
func TestRepair_Rules(t *testing.T) {
	one := func(fields string) string {
		return `{"tasks":[{"id":"t1","title":"a","depends_on":[],` + fields + `}]}`
	}
	cases := []struct {
		name, reply, did string
		want             string // id title class O/M/P after; expects
	}{
		{
			"valid", reply("t1: write a | file:a", "t2: run it <- t1 | process:python"), "",
			"t1 write a 8K 500/1000/2000 []; file a | t2 run it 8K 500/1000/2000 [t1]; process python",
		},
		{"R1 no tasks", `{"tasks":[]}`, "R1", "t1 the request 8K 1024/2048/3072 [];"},
		{"R1 null", `{"tasks":null}`, "R1", "t1 the request 8K 1024/2048/3072 [];"},
		{"R2 no id", `{"tasks":[{"title":"a","expects":[{"kind":"none"}]}]}`, "R2", "t1 a 8K 1024/2048/3072 []; none"},
		{"R2 foreign id", `{"tasks":[{"id":"タスク 1/a","title":"a"}]}`, "", "-1a a 8K 1024/2048/3072 [];"},
		{"R2 number", `{"tasks":[{"id":1,"title":"a"},{"id":2,"title":"b","depends_on":[1]}]}`, "", "1 a 8K 1024/2048/3072 []; | 2 b 8K 1024/2048/3072 [1];"},
		{"R3 twice", reply("t1: a | file:a", "t1: b | file:b"), "R3", "t1 a 8K 500/1000/2000 []; file a | t1-2 b 8K 500/1000/2000 []; file b"},
		{"R3 the same", reply("t1: a | file:a", "t2: a | file:a", "t3: c <- t2 | file:c"), "R3", "t1 a 8K 500/1000/2000 []; file a | t3 c 8K 500/1000/2000 [t1]; file c"},
		{"R5 dangling", reply("t1: a <- t9 t1 | file:a"), "R5", "t1 a 8K 500/1000/2000 []; file a"},
		{"R5 a title for an id", reply("t1: Alpha | file:a", "t2: b | file:b"), "", "t1 Alpha 8K 500/1000/2000 []; file a | t2 b 8K 500/1000/2000 []; file b"},
		{"R6 cycle", reply("t1: a <- t2 | file:a", "t2: b <- t1 | file:b"), "R6", "t1 a 8K 500/1000/2000 [t2]; file a | t2 b 8K 500/1000/2000 []; file b"},
		{
			"R6 long cycle", reply("a: a <- c | none", "b: b <- a | none", "c: c <- b | none"), "R6",
			"a a 8K 500/1000/2000 [c]; none | b b 8K 500/1000/2000 [a]; none | c c 8K 500/1000/2000 []; none",
		},
		{"R7 missing", one(`"budget":"16K"`), "R7", "t1 a 16K 4096/8192/12288 [];"},
		{"R7 one", one(`"m":100`), "R7", "t1 a 8K 50/100/150 [];"},
		{"R7 zero and negative", one(`"o":0,"m":-5,"p":9000`), "R7", "t1 a 16K 2250/4500/9000 [];"},
		{"R7 order", one(`"o":9,"m":5,"p":7`), "R7", "t1 a 8K 5/7/9 [];"},
		{"R7 texts", one(`"o":"1K","m":"2000","p":"4.5k"`), "", "t1 a 8K 1024/2000/4608 [];"},
		{"R8 too small", one(`"o":1,"m":2,"p":3,"budget":"1K"`), "R8", "t1 a 8K 1/2/3 [];"},
		{"R8 P above the class", one(`"o":1,"m":2,"p":30000,"budget":"8K"`), "R8", "t1 a 32K 1/2/30000 [];"},
		{"R8 beyond all classes", one(`"o":1,"m":2,"p":900000,"budget":"8K"`), "R8", "t1 a 128K 1/2/131072 [];"},
		{"R8 unknown class", one(`"o":1,"m":2,"p":3,"budget":"huge"`), "R8", "t1 a 8K 1/2/3 [];"},
		{"R9 a command line", one(`"o":1,"m":2,"p":3,"expects":[{"kind":"process","alias":"python -m pytest"}]`), "", "t1 a 8K 1/2/3 []; process python"},
		{"R9 not approved", one(`"o":1,"m":2,"p":3,"expects":[{"kind":"process","alias":"pytest"}]`), "R9", "t1 a 8K 1/2/3 []; process"},
		{"R9 an artifact", one(`"o":1,"m":2,"p":3,"expects":[{"kind":"process","alias":"./app"}]`), "", "t1 a 8K 1/2/3 []; process ./app"},
		{"R9 other words", one(`"o":1,"m":2,"p":3,"expects":[{"type":"file_created","file":"x"},{"kind":"run"},"file"]`), "", "t1 a 8K 1/2/3 []; file x, process, file"},
		{"R9 action without effects", `{"tasks":[{"id":"t1","title":"Write a","expects":[{"kind":"none"}],"o":1,"m":2,"p":3}]}`, "R9", "t1 Write a 8K 1/2/3 [];"},
		{
			"other names", `{"plan":{"steps":[{"task_id":"x","name":"n","dependencies":"y","optimistic":1,"likely":2,"pessimistic":3,"effects":{"kind":"none"}},{"id":"y","task":"m"}]}}`, "",
			"x n 8K 1/2/3 [y]; none | y m 8K 1024/2048/3072 [];",
		},
		{"a list", `[{"id":"t1","title":"a","o":1,"m":2,"p":3}]`, "", "t1 a 8K 1/2/3 [];"},
		{"words", `{"tasks":["look","think"]}`, "R2", "t1 look 8K 1024/2048/3072 []; | t2 think 8K 1024/2048/3072 [];"},
		{"fenced, after words", "Here {is} the plan:\n```json\n" + one(`"o":1,"m":2,"p":3`) + "\n```\nGood luck.", "", "t1 a 8K 1/2/3 [];"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			nodes, did := graph(t, c.reply)
			var got []string
			for _, n := range nodes {
				var ex []string
				for _, e := range n.Expects {
					ex = append(ex, strings.TrimSpace(e.Kind+" "+e.Path+e.Alias))
				}
				e := n.Estimate
				after := fmt.Sprint(n.After)
				got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s %d/%d/%d %s; %s", n.ID, n.Title, n.Class, e.O, e.M, e.P, after, strings.Join(ex, ", "))))
			}
			require.Equal(t, c.want, strings.Join(got, " | "))
			if c.did == "" {
				require.NotContains(t, did, "R3")
			}
			require.Contains(t, did, c.did)
			again, _ := graph(t, c.reply)
			require.Equal(t, nodes, again)
		})
	}
}

// PLN-02: what is too much becomes one task, so that nothing is lost.
func TestRepair_TooManyTasksAreMerged(t *testing.T) {
	var many []string
	for i := range 40 {
		many = append(many, fmt.Sprintf("t%02d: part %d | file:f%d", i, i, i))
	}
	nodes, did := graph(t, reply(many...))
	require.Len(t, nodes, 32)
	require.Contains(t, did, "R4")
	require.Len(t, nodes[31].Expects, 9)
	require.Contains(t, nodes[31].Title, "part 39")
}

// A part of a broken plan is never taken for the whole, and what is no plan is none.
func TestRead_Refuses(t *testing.T) {
	for bad, want := range map[string]string{
		"I would first look around.":                   "no complete JSON object was found",
		`{"tasks":[{"id":"t1","title":"a"},{"id":"t2"`: "the JSON is not complete",
		`{"tasks":[{"id":"t1"},oops]}`:                 "there is no list named tasks",
		`{"tasks":"all"}`:                              "tasks must be a list",
		`{"answer":42}`:                                "there is no list named tasks",
		`[]`:                                           "there is no list named tasks",
		`[1,2]`:                                        "there is no list named tasks",
		`{`:                                            "the JSON is not complete",
		"null":                                         "no complete JSON object was found",
		`"tasks"`:                                      "no complete JSON object was found",
		strings.Repeat("[", 5000):                      "the JSON is not complete",
		strings.Repeat("{x", 5000) + `{"tasks":["a"]}`: "no complete JSON object was found",
	} {
		_, why, ok := plan.Read(bad)
		require.False(t, ok, bad)
		require.Equal(t, want, why, bad)
	}
}

// SKL-03: the selection is read as it is written; whoever loads it checks it.
func TestRead_Skills(t *testing.T) {
	p, _, ok := plan.Read(`{"tasks":["a"],"skills":["csv",{"name":"pdf"},"",7]}`)
	require.True(t, ok)
	require.Equal(t, []string{"csv", "pdf", "7"}, p.Skills)
	p, _, _ = plan.Read(`{"tasks":["a"],"skills":"csv"}`)
	require.Equal(t, []string{"csv"}, p.Skills)
}

// replanned is a plan whose first task is completed and whose second failed.
func replanned(t *testing.T) taskgraph.Graph {
	t.Helper()
	g, _ := update(t, taskgraph.New(0), reply("t1: a | file:a", "t2: b <- t1 | file:b", "t3: c <- t2 | none"))
	g, err := g.Start("t1")
	require.NoError(t, err)
	g, err = g.Complete("t1")
	require.NoError(t, err)
	g, err = g.Start("t2")
	require.NoError(t, err)
	g, err = g.Fail("t2")
	require.NoError(t, err)
	return g
}

// PLN-03, AGT-08: completed stays; what failed and is not mentioned is replaced; what is not mentioned stays; an effect is
// not talked away.
func TestRevise(t *testing.T) {
	cases := []struct {
		name, reply string
		larger      bool
		open        bool
		same        bool
		want        string // id title class action of the tasks after it
	}{
		{"the same again", reply("t2: b <- t1 | file:b", "t3: c <- t2 | none"), false, true, true, "t1 a 8K true, t2 b 8K true, t3 c 8K false"},
		{"only what is completed", reply("t1: a | file:a"), false, false, false, ""},
		{"nothing", `{"tasks":[]}`, false, false, false, ""},
		{"completed is not changed", reply("t1: other | none", "t2: b2 | file:b"), false, true, false, "t1 a 8K true, t2 b2 8K true, t3 c 8K false"},
		{"a new id replaces what failed", reply("n1: another way | file:b", "n2: then <- n1 | file:d"), false, true, false, "n2 then 8K true, t1 a 8K true, t2 another way 8K true, t3 c 8K false"},
		{"an effect is not talked away", reply("t2: explain | none"), false, true, false, "t1 a 8K true, t2 explain 8K true, t3 c 8K false"},
		{"a larger class", reply("t2: b <- t1 | file:b"), true, true, false, "t1 a 8K true, t2 b 16K true, t3 c 8K false"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			g := replanned(t)
			p, _, ok := plan.Read(c.reply)
			require.True(t, ok)
			u, _, open := plan.Revise(g, p.Drafts, rules, c.larger)
			require.Equal(t, c.open, open)
			if !open {
				return
			}
			next, err := g.Update(u)
			require.NoError(t, err)
			var got []string
			for _, n := range next.View().Tasks {
				got = append(got, fmt.Sprintf("%s %s %s %t", n.ID, n.Title, n.Class, n.Action))
			}
			require.Equal(t, c.want, strings.Join(got, ", "))
			require.Equal(t, c.same, plan.Same(g, next, c.larger))
			require.Equal(t, c.same || c.larger, plan.Same(g, next, false), "a class alone is no change")
		})
	}
}

// PLN-01: the request itself is a plan when no other can be read; what it needs is left open.
func TestOne(t *testing.T) {
	tasks, _ := plan.Repair(plan.One("make it so"), rules)
	require.Len(t, tasks, 1)
	require.Equal(t, "make it so", tasks[0].Title)
	require.True(t, plan.Unsure(tasks[0]))
}

// FuzzPlan: no text makes the planner panic, in a first plan or a replan, and what taskgraph accepts of it keeps within its
// class. Text that taskgraph refuses, such as a title with control characters, is asked back by core/agent.
func FuzzPlan(f *testing.F) {
	for _, s := range []string{reply("t1: a | file:a"), `{"tasks":[]}`, `[{"id":1}]`, "{", `{"tasks":[{"title":"\u0000","depends_on":{"id":"x"}}]}`} {
		f.Add(s)
	}
	first, _ := plan.Repair(plan.One("x"), rules)
	before, err := taskgraph.New(0).Update(taskgraph.Update{Add: first})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, s string) {
		p, why, ok := plan.Read(s)
		if !ok {
			require.NotEmpty(t, why)
			return
		}
		tasks, _ := plan.Repair(p.Drafts, rules)
		require.NotEmpty(t, tasks)
		check := func(g taskgraph.Graph, u taskgraph.Update) {
			g, err := g.Update(u)
			if err != nil {
				return
			}
			for _, n := range g.View().Tasks {
				require.LessOrEqual(t, n.Estimate.P, n.Class.Tokens())
			}
		}
		check(taskgraph.New(0), taskgraph.Update{Add: tasks})
		if u, _, open := plan.Revise(before, p.Drafts, rules, true); open {
			check(before, u)
		}
	})
}
