package plan

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/agent-mcp/agent-mcp/core/prompt"
	"github.com/agent-mcp/agent-mcp/core/taskgraph"
)

// Words of taskgraph.Expect.Kind in a plan of ours. A Planner Task with none of them and without Action is unsure: the
// plan did not say whether it needs an action.
const (
	File    = "file"
	Process = "process"
	Removed = "removed"
	None    = "none"
)

// maxTries bounds the places where the JSON of a plan may begin.
const maxTries = 64

// Unsure reports that the plan left open what a task needs.
func Unsure(t taskgraph.Task) bool { return !t.Action && len(t.Expects) == 0 }

// Draft is one task as the model wrote it, before the repair.
type Draft struct {
	id, title string
	after     []string
	o, m, p   int64
	class     string
	expects   []taskgraph.Expect
	declared  bool // said something about its effects
}

// Proposal is a plan reply as read.
type Proposal struct {
	Drafts []Draft
	Skills []string // as the model wrote them: nobody checked yet that they exist
}

// Read reads a plan out of a reply without thinking: the JSON object or list in it, with or without words or a fence
// around. Field names that models use for the same thing are accepted. ok is false, and why says it to the model, when
// there is no complete JSON that could be a plan: a part of a broken one is never taken for the whole.
func Read(text string) (p Proposal, why string, ok bool) {
	first := true
	for i, tries := 0, 0; i < len(text) && tries < maxTries; i++ {
		if text[i] != '{' && text[i] != '[' {
			continue
		}
		tries++
		var v any
		if err := json.NewDecoder(strings.NewReader(text[i:])).Decode(&v); err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
				return p, "the JSON is not complete", false
			}
			first = first && !strings.HasPrefix(text[i+1:], `"`)
			continue
		}
		switch v := v.(type) {
		case []any:
			if first && len(v) > 0 && isObject(v[0]) {
				return Proposal{Drafts: readDrafts(v)}, "", true
			}
		case map[string]any:
			if _, whole := pick(v, "tasks", "plan", "steps"); first || whole {
				return readObject(v)
			}
		}
		return p, "there is no list named tasks", false
	}
	return p, "no complete JSON object was found", false
}

func readObject(v map[string]any) (Proposal, string, bool) {
	tasks, found := pick(v, "tasks", "plan", "steps")
	if inner, nested := tasks.(map[string]any); nested {
		tasks, found = pick(inner, "tasks", "steps")
	}
	list, isList := tasks.([]any)
	switch {
	case found && !isList && tasks != nil:
		return Proposal{}, "tasks must be a list", false
	case !found && (v["title"] != nil || v["id"] != nil):
		list = []any{v}
	case !found:
		return Proposal{}, "there is no list named tasks", false
	}
	p := Proposal{Drafts: readDrafts(list)}
	skills, _ := pick(v, "skills")
	p.Skills = texts(skills)
	return p, "", true
}

func readDrafts(list []any) []Draft {
	out := make([]Draft, 0, len(list))
	for _, item := range list {
		if s, ok := item.(string); ok {
			out = append(out, Draft{title: s})
			continue
		}
		v, ok := item.(map[string]any)
		if !ok {
			continue
		}
		d := Draft{}
		d.id, _ = scalar(v, "id", "task_id", "key")
		d.title, _ = scalar(v, "title", "name", "task", "description", "summary")
		after, _ := pick(v, "depends_on", "dependsOn", "dependencies", "deps", "after")
		d.after = texts(after)
		d.o, d.m, d.p = whole(v, "o", "O", "optimistic"), whole(v, "m", "M", "likely", "most_likely"), whole(v, "p", "P", "pessimistic")
		d.class, _ = scalar(v, "budget", "budget_class", "class", "token_budget")
		expects, has := pick(v, "expects", "expect", "expected_effects", "effects")
		d.expects, d.declared = readExpects(expects)
		d.declared = d.declared && has
		out = append(out, d)
	}
	return out
}

// readExpects understands {"kind","path","alias"} objects, a single one, and plain words.
func readExpects(v any) (out []taskgraph.Expect, declared bool) {
	list, ok := v.([]any)
	if !ok && v != nil {
		list = []any{v}
	}
	for _, item := range list {
		e := taskgraph.Expect{}
		switch x := item.(type) {
		case string:
			e.Kind = x
		case map[string]any:
			e.Kind, _ = scalar(x, "kind", "type", "effect")
			e.Path, _ = scalar(x, "path", "file", "filename")
			e.Alias, _ = scalar(x, "alias", "program", "command", "process")
			e.Exit = int(whole(x, "exit", "exit_code"))
		default:
			continue
		}
		switch kind := strings.ToLower(strings.TrimSpace(e.Kind)); {
		case strings.HasPrefix(kind, "no"):
			declared = true
			continue
		case has(kind, "process", "run", "ran", "command", "exec", "program", "test"):
			e.Kind, e.Path = Process, ""
		case has(kind, "remov", "delet"):
			e.Kind, e.Alias, e.Exit = Removed, "", 0
		case has(kind, "file", "creat", "chang", "writ", "dir", "edit", "modif"), e.Path != "":
			e.Kind, e.Alias, e.Exit = File, "", 0
		case e.Alias != "":
			e.Kind = Process
		default:
			continue
		}
		declared = true
		out = append(out, e)
	}
	return out, declared
}

func has(s string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}

func isObject(v any) bool { _, ok := v.(map[string]any); return ok }

// pick returns the first of the names that is there.
func pick(v map[string]any, names ...string) (any, bool) {
	for _, n := range names {
		if x, ok := v[n]; ok {
			return x, true
		}
	}
	return nil, false
}

// scalar reads a text or number as text.
func scalar(v map[string]any, names ...string) (string, bool) {
	x, _ := pick(v, names...)
	switch x := x.(type) {
	case string:
		return strings.TrimSpace(x), true
	case float64:
		b, err := json.Marshal(x)
		return string(b), err == nil
	}
	return "", false
}

// whole reads a number of tokens, also out of a text ("1500", "1.5K"); 0 when there is none.
func whole(v map[string]any, names ...string) int64 {
	x, _ := pick(v, names...)
	if s, ok := x.(string); ok {
		s, k := strings.CutSuffix(strings.ToUpper(strings.TrimSpace(s)), "K")
		var f float64
		if json.Unmarshal([]byte(s), &f) != nil {
			return 0
		}
		if k {
			f *= 1024
		}
		x = f
	}
	if f, ok := x.(float64); ok && f > 0 && f < 1e9 {
		return int64(f)
	}
	return 0
}

// texts reads a list of texts, or one text.
func texts(v any) []string {
	list, ok := v.([]any)
	if !ok && v != nil {
		list = []any{v}
	}
	var out []string
	for _, item := range list {
		if s, ok := scalar(map[string]any{"": item}, ""); ok && s != "" {
			out = append(out, s)
		} else if m, ok := item.(map[string]any); ok {
			if s, ok := scalar(m, "id", "name"); ok {
				out = append(out, s)
			}
		}
	}
	return out
}

// Printed reports that a reply is a plan in the form that a plan reply has, where something else was due.
func Printed(text string) bool {
	if !strings.Contains(text, `"depends_on"`) || !strings.Contains(text, `"expects"`) {
		return false
	}
	p, _, ok := Read(text)
	return ok && len(p.Drafts) > 0
}

// One is the plan of last resort: the request as one Planner Task, with its effects left open.
func One(request string) []Draft {
	return []Draft{{id: "t1", title: prompt.Short(request, 200)}}
}
