package prompt

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/core/taskgraph"
)

// PlanSchema is the JSON schema of a plan reply (PLN-07, PLN-08, AGT-07). skills are the names that may be selected.
// The shape is {"tasks":[{"id","title","depends_on":[],"o","m","p","budget","expects":[{"kind","path","alias"}]}],
// "skills":[]}.
func PlanSchema(skills []string) json.RawMessage {
	type object = map[string]any
	text := func(about string) object { return object{"type": "string", "description": about} }
	tokens := func(about string) object { return object{"type": "integer", "description": about} }
	expect := object{
		"type": "object",
		"properties": object{
			"kind":  object{"type": "string", "enum": []string{"file", "removed", "process", "none"}},
			"path":  text("kind file: the file that will be created or changed; kind removed: what will be gone"),
			"alias": text("kind process: the program that will run and exit with 0"),
		},
		"required": []string{"kind"},
	}
	task := object{
		"type": "object",
		"properties": object{
			"id":         text("short, like t1"),
			"title":      text("what will be done"),
			"depends_on": object{"type": "array", "items": object{"type": "string"}},
			"o":          tokens("fewest tokens, at least 1"),
			"m":          tokens("likely tokens"),
			"p":          tokens("most tokens"),
			"budget":     object{"type": "string", "enum": taskgraph.Classes()},
			"expects":    object{"type": "array", "items": expect},
		},
		"required": []string{"id", "title", "depends_on", "o", "m", "p", "budget", "expects"},
	}
	properties := object{"tasks": object{"type": "array", "items": task}}
	required := []string{"tasks"}
	if len(skills) > 0 {
		properties["skills"] = object{"type": "array", "items": object{"type": "string", "enum": skills}}
		required = append(required, "skills")
	}
	b, err := json.Marshal(object{"type": "object", "properties": properties, "required": required})
	if err != nil {
		panic("prompt: the plan schema always marshals: " + err.Error())
	}
	return b
}

// Plan asks for a plan.
func Plan(maxTasks int, skills bool) string {
	s := Note + fmt.Sprintf(`Plan the request above. Do not do it yet. Reply with JSON only: {"tasks":[…]}.
- As few tasks as make sense, often one; never more than %d. One task is one meaningful result, not one tool call.
- depends_on: ids of tasks that must be finished before. No cycles.
- o, m, p: fewest, likely and most tokens the task will take; budget: the smallest class that holds p.
- expects: what will be seen when the task is done. {"kind":"file","path":"…"} for each file created or changed, {"kind":"removed","path":"…"} for each deleted, {"kind":"process","alias":"…"} for a program that must succeed, {"kind":"none"} only for pure explanation or analysis.`, maxTasks)
	if skills {
		s += "\n- skills: names of the skills that help, or []."
	}
	return s
}

// PlanAgain asks back once when a plan could not be read.
func PlanAgain(why string) string {
	return Note + "That was not a usable plan: " + why + `. Reply again with one JSON object only, for example {"tasks":[{"id":"t1","title":"…","depends_on":[],"o":500,"m":1000,"p":2000,"budget":"8K","expects":[{"kind":"file","path":"…"}]}]}.`
}

// Replan asks for a changed plan.
func Replan(plan taskgraph.View, why, observed, denied string, maxTasks int) string {
	var b strings.Builder
	fmt.Fprintf(&b, Note+"The plan does not work: %s.\n%s", why, State(plan, ""))
	if observed != "" {
		b.WriteString("Observed so far:\n" + observed)
	}
	if denied != "" {
		b.WriteString("Denied by the owner's policy, never to be tried again:\n" + denied)
	}
	fmt.Fprintf(&b, `Give a changed plan for what is not completed, as JSON only: {"tasks":[…]}. To change a task repeat its id; a new id adds a task; completed tasks stay. Use only what is allowed. At most %d tasks in all. The same plan again ends the work.`, maxTasks)
	return b.String()
}

// State lists the Planner Tasks. now is the one being worked on.
func State(plan taskgraph.View, now taskgraph.ID) string {
	var b strings.Builder
	b.WriteString("Plan:\n")
	for _, n := range plan.Tasks {
		state := string(n.State)
		if n.ID == now {
			state = "now"
		}
		fmt.Fprintf(&b, "- %s [%s] %s", n.ID, state, line(n.Title))
		if n.State != taskgraph.Completed {
			for _, e := range observable(n.Expects) {
				b.WriteString("; expects " + Expectation(e))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// observable leaves out "none".
func observable(expects []taskgraph.Expect) []taskgraph.Expect {
	return slices.DeleteFunc(slices.Clone(expects), func(e taskgraph.Expect) bool { return e.Kind == "none" })
}

// Expectation says one expected effect.
func Expectation(e taskgraph.Expect) string {
	switch {
	case e.Kind == "file" && e.Path != "":
		return "file " + line(e.Path) + " created or changed"
	case e.Kind == "removed":
		return strings.TrimSpace(line(e.Path) + " removed")
	case e.Kind == "file":
		return "a file created or changed"
	case e.Kind == "process" && e.Alias != "":
		return fmt.Sprintf("%s run with exit code %d", line(e.Alias), e.Exit)
	case e.Kind == "process":
		return fmt.Sprintf("a program run with exit code %d", e.Exit)
	}
	return "an effect of a tool"
}

// Brief starts one Planner Task. only says that the plan has no other, so that its report is the final answer.
func Brief(plan taskgraph.View, n taskgraph.Node, only bool, language string) string {
	var b strings.Builder
	b.WriteString(Note)
	if !only {
		b.WriteString(State(plan, n.ID))
	}
	fmt.Fprintf(&b, "Now do %s: %s\n", n.ID, line(n.Title))
	if expects := observable(n.Expects); len(expects) > 0 {
		b.WriteString("It is finished only when this was observed:")
		for _, e := range expects {
			b.WriteString(" " + Expectation(e) + ";")
		}
		b.WriteByte('\n')
	}
	if n.Action {
		b.WriteString("Use the tools. ")
	}
	if only {
		b.WriteString("When it is finished, reply without tool calls: that reply is the final answer to the user, in " + Language(language) + ".")
	} else {
		b.WriteString("When it is finished, reply without tool calls with a short report of this task.")
	}
	return b.String()
}

// Finish asks for the final answer.
func Finish(observed, language string) string {
	s := Note + "Every task is completed. "
	if observed != "" {
		s += "Observed:\n" + observed
	}
	return s + "Write the final answer to the user's request in " + Language(language) + ": what was done, what the checks showed, what is left to know. Claim nothing that was not observed. Do not mention tools, task ids or this note."
}

// Summarize asks for a summary of a transcript (SES-05).
func Summarize(transcript string) string {
	return Note + "The conversation is getting too long. Here is its older part:\n" + Data("conversation", transcript) +
		"\nSummarize it for your own further work, in at most 300 words: what was found out, what was decided and why, names and values that are still needed, what went wrong. No greeting."
}

// Summary is the message that replaces the older part. kept is what must survive word for word (SES-06).
func Summary(text, kept string) string {
	s := Note + "Earlier work, summarized:\n" + Data("summary", text)
	if kept != "" {
		s += "\nFacts kept by the runtime:\n" + kept
	}
	return s
}
