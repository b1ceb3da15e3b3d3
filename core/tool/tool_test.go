package tool_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
	"github.com/agent-mcp/agent-mcp/ports/rights"
)

func parse(name, args string) (tool.Call, *fault.Error) {
	return tool.Parse(model.ToolCall{ID: "call_1", Name: name, Arguments: json.RawMessage(args)})
}

func TestParse_Accepts(t *testing.T) {
	for _, c := range []struct {
		name, args string
		want       tool.Call
	}{
		{"read_file", `{"path":"a.txt"}`, tool.Call{Path: "a.txt", Offset: 1}},
		{"read_file", `{"path":"a","offset":"5","limit":10.0}`, tool.Call{Path: "a", Offset: 5, Limit: 10}},
		{"read_file", `{"path":"a","offset":null,"limit":1e2}`, tool.Call{Path: "a", Offset: 1, Limit: 100}},
		{"tail_file", ` {"path":"a","limit":3} `, tool.Call{Path: "a", Limit: 3}},
		{"list_dir", ``, tool.Call{Path: "."}},
		{"list_dir", `null`, tool.Call{Path: "."}},
		{"list_dir", `{"path":""}`, tool.Call{Path: "."}},
		{"search_files", `{"pattern":"x y"}`, tool.Call{Path: ".", Pattern: "x y"}},
		{"write_file", `{"path":"a","content":""}`, tool.Call{Path: "a"}},
		{"write_file", `{"path":"a","content":"\n<&>\u3042","executable":"True"}`, tool.Call{Path: "a", Content: "\n<&>あ", Executable: true}},
		{"write_file", `{"path":"a","content":42}`, tool.Call{Path: "a", Content: "42"}},
		{"write_file", `{"path":"a","content":"\ufffd"}`, tool.Call{Path: "a", Content: "\uFFFD"}},
		{"patch_file", `{"path":"a","old":"x","new":"","all":false}`, tool.Call{Path: "a", Old: "x"}},
		{"move_path", `{"path":"a","dest":"b"}`, tool.Call{Path: "a", Dest: "b"}},
		{
			"run_process", `{"command":"python","args":["-m","pytest",5,true],"timeout_seconds":"60"}`,
			tool.Call{Alias: "python", Args: []string{"-m", "pytest", "5", "true"}, TimeoutSec: 60},
		},
		{
			"run_process", `{"command":"python","args":"[\"-c\",\"print(1)\"]","dir":"src","stdin":"y\n"}`,
			tool.Call{Alias: "python", Args: []string{"-c", "print(1)"}, Dir: "src", Stdin: "y\n"},
		},
		{"run_process", `{"command":"python","args":"test.py"}`, tool.Call{Alias: "python", Args: []string{"test.py"}}},
		{"run_process", `{"command":"python","args":""}`, tool.Call{Alias: "python"}},
	} {
		got, f := parse(c.name, c.args)
		require.Nil(t, f, "%s %s", c.name, c.args)
		c.want.ID, c.want.Name = "call_1", tool.Name(c.name)
		assert.Equal(t, c.want, got, c.args)
	}
}

// Nothing is guessed: every problem is named, all at once, with a cause key for the loop (AGT-03).
func TestParse_Refuses(t *testing.T) {
	long := strings.Repeat("a", 5000)
	for _, c := range []struct{ name, args, cause, says string }{
		{"reed_file", `{}`, "unknown_tool:reed_file", `Did you mean read_file? Tools: read_file, tail_file`},
		{"zzzzzzzzzzzz", `{}`, "unknown_tool:zzzzzzzzzzzz", `no tool "zzzzzzzzzzzz". Tools:`},
		{"", `{}`, "unknown_tool:", "There is no tool"},
		{"read_file", `{}`, "bad_arguments:read_file:path", "path is missing (a string)."},
		{"read_file", `{"path":null}`, "bad_arguments:read_file:path", "missing"},
		{"read_file", `{"file_path":"a"}`, "bad_arguments:read_file:file_path,path", `Did you mean path? Arguments: path, offset, limit. path is missing`},
		{"read_file", `{"path":"a","path":"b"}`, "bad_arguments:read_file:path", "path is given twice."},
		{"read_file", `{"path":null,"path":"b"}`, "bad_arguments:read_file:path", "given twice"},
		{"read_file", `{"path":["a"],"offset":1.5,"limit":-1}`, "bad_arguments:read_file:path,offset,limit", "path must be a string, not a list. offset must be a whole number, 0 or more, not a number. limit is out of range"},
		{"read_file", `{"path":"a","offset":"0x10"}`, "bad_arguments:read_file:offset", "whole number"},
		{"read_file", `{"path":"a","offset":1e400}`, "bad_arguments:read_file:offset", "whole number"},
		{"read_file", `{"path":"a","offset":1e18}`, "bad_arguments:read_file:offset", "out of range"},
		{"read_file", `{"path":" "}`, "bad_arguments:read_file:path", "path is empty"},
		{"read_file", `{"path":"a\u0000b"}`, "bad_arguments:read_file:path", "NUL"},
		{"read_file", `{"path":"` + long + `"}`, "bad_arguments:read_file:path", "too long (5000, at most 4096)"},
		{"read_file", "{\"path\":\"a\xff\"}", "bad_arguments:read_file:path", "UTF-8"},
		{"write_file", `{"path":"a","content":"\ud800"}`, "bad_arguments:write_file:content", "UTF-8"},
		{"write_file", `{"path":"a","content":{"a":1}}`, "bad_arguments:write_file:content", "content must be a string, not an object."},
		{"write_file", `{"path":"a","content":"x","executable":1}`, "bad_arguments:write_file:executable", "true or false, not a number"},
		{"write_file", `{"path":"a","content":"x","mode":"755"}`, "bad_arguments:write_file:mode", `Unknown argument "mode".`},
		{"patch_file", `{"path":"a","old":"","new":"x"}`, "bad_arguments:patch_file:old", "old is empty"},
		{"patch_file", `{"path":"a","old":"x","new":"x"}`, "bad_arguments:patch_file:new", "equal"},
		{"move_path", `{"path":"a","dest":"a"}`, "bad_arguments:move_path:dest", "equals path"},
		{"search_files", `{"pattern":""}`, "bad_arguments:search_files:pattern", "empty"},
		{"run_process", `{"command":"sh","args":"-c 'echo hi'"}`, "bad_arguments:run_process:args", "args must be a list of strings, not a string."},
		{"run_process", `{"command":"sh","args":[["a"]]}`, "bad_arguments:run_process:args", "list of strings"},
		{"run_process", `{"command":"sh","args":"[1"}`, "bad_arguments:run_process:args", "list of strings"},
		{"run_process", `{"command":"sh","args":["a\u0000"]}`, "bad_arguments:run_process:args", "NUL"},
		{"list_dir", `[]`, "bad_arguments:list_dir:*", "must be one JSON object (it is a list)"},
		{"list_dir", `"x"`, "bad_arguments:list_dir:*", "it is a string"},
		{"list_dir", `{"path":"a"`, "bad_arguments:list_dir:*", "not valid JSON"},
		{"list_dir", `{"path":"a"} {}`, "bad_arguments:list_dir:*", "something follows"},
		{"list_dir", `{path:1}`, "bad_arguments:list_dir:*", "not valid JSON"},
		{"list_dir", `{"path":"` + strings.Repeat("a", tool.MaxArgumentBytes) + `"}`, "bad_arguments:list_dir:*", "the limit is"},
	} {
		got, f := parse(c.name, c.args)
		require.NotNil(t, f, "%s %.80s", c.name, c.args)
		assert.Zero(t, got)
		assert.Equal(t, c.cause, cause(f), "%.80s", c.args)
		assert.Contains(t, tool.Explain(f), c.says, "%.80s", c.args)
		assert.Less(t, len(tool.Explain(f)), 600)
	}
}

func TestParse_ShowsForeignTextSafely(t *testing.T) {
	_, f := parse("x\x1b[31m\n"+strings.Repeat("y", 1000), `{}`)
	text := tool.Explain(f)
	assert.True(t, utf8.ValidString(text))
	assert.NotContains(t, text, "\x1b")
	assert.Less(t, len(text), 400)
}

// OLL-10, NFR-02: valid schemas, equal bytes, small.
func TestDefinitions(t *testing.T) {
	c := tool.Config{Aliases: []string{"python", "sh", "git", "make"}, Artifacts: true, MaxTimeout: 1800}
	defs := tool.Definitions(c)
	assert.Equal(t, defs, tool.Definitions(c))
	require.Len(t, defs, 11)
	size := 0
	for _, d := range defs {
		var s struct {
			Type       string
			Properties map[string]struct{ Type, Description string }
			Required   []string
		}
		require.NoError(t, json.Unmarshal(d.Schema, &s), d.Name)
		assert.Equal(t, "object", s.Type)
		for _, r := range s.Required {
			assert.Contains(t, s.Properties, r)
		}
		b, err := json.Marshal(map[string]any{"type": "function", "function": map[string]any{"name": d.Name, "description": d.Description, "parameters": d.Schema}})
		require.NoError(t, err)
		size += utf8.RuneCount(b)
	}
	assert.LessOrEqual(t, size/4, 1100, "tokens of all tool schemas, as runes/4")
	assert.Contains(t, string(defs[10].Schema), `one of: python, sh, git, make, or the path of an executable file in the workspace`)
	assert.Contains(t, string(defs[10].Schema), `at most 1800`)
}

func TestDefinitions_OfferOnlyWhatCanWork(t *testing.T) {
	names := func(c tool.Config) (out []string) {
		for _, d := range tool.Definitions(c) {
			out = append(out, d.Name)
		}
		return out
	}
	assert.Equal(t, []string{"read_file", "tail_file", "list_dir", "search_files"}, names(tool.Config{ReadOnly: true}))
	assert.Equal(t, []string{"read_file", "tail_file", "list_dir", "search_files", "run_process"}, names(tool.Config{ReadOnly: true, Aliases: []string{"sh"}}))
	assert.NotContains(t, names(tool.Config{}), "run_process")
	assert.Contains(t, names(tool.Config{Artifacts: true}), "run_process")
}

func TestNeeds(t *testing.T) { // FS-00, FS-06, FS-07
	for name, want := range map[tool.Name][2]rights.Set{
		tool.Read: {rights.Read, 0}, tool.List: {rights.Read, 0}, tool.Search: {rights.Read, 0}, tool.Tail: {rights.Read, 0},
		tool.Write: {rights.Write, 0}, tool.Patch: {rights.Read | rights.Write, 0}, tool.Move: {rights.Write, rights.Write},
		tool.Remove: {rights.Delete, 0}, tool.Rmdir: {rights.Delete, 0}, tool.Mkdir: {rights.Write, 0}, tool.Run: {rights.Execute, 0},
		"unknown": {rights.All, rights.All},
	} {
		path, dest := name.Needs()
		assert.Equal(t, want, [2]rights.Set{path, dest}, name)
		assert.Equal(t, path&(rights.Write|rights.Delete|rights.Execute) != 0, name.Mutates(), name)
	}
}

// Whatever a model sends is parsed or refused with a cause, never a panic.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`{}`, `{"path":"a"}`, `{"path":"a","limit":"1e9999999"}`, `[`, `{"args":"[[[["}`, "\x00", `{"path":"\ud800"}`} {
		f.Add("read_file", s)
		f.Add("run_process", s)
	}
	f.Fuzz(func(t *testing.T, name, args string) {
		c, fl := parse(name, args)
		if (fl == nil) == (c.Name == "") {
			t.Fatal("neither a call nor a fault")
		}
		if fl != nil && (cause(fl) == "" || !utf8.ValidString(tool.Explain(fl))) {
			t.Fatalf("no cause or bad text: %v", fl)
		}
		if fl == nil && (!utf8.ValidString(c.Path+c.Content+c.Old+c.New) || strings.ContainsRune(c.Path, 0)) {
			t.Fatal("bad text went through")
		}
	})
}

// cause writes in short what a fault says that core/agent counts by (AGT-03): "unknown_tool:NAME" or
// "bad_arguments:TOOL:FIELD[,FIELD…]"; "" for any other fault.
func cause(f *fault.Error) string {
	if f == nil {
		return ""
	}
	name, _ := f.Args["tool"].(string)
	switch f.Code {
	case tool.CodeUnknownTool:
		return "unknown_tool:" + name
	case tool.CodeNotObject, tool.CodeTooLarge:
		return "bad_arguments:" + name + ":*"
	case tool.CodeBadArguments:
		fields := make([]string, 0, len(f.Reasons))
		for _, r := range f.Reasons {
			field, _ := r.Args["field"].(string)
			fields = append(fields, field)
		}
		return "bad_arguments:" + name + ":" + strings.Join(fields, ",")
	}
	return ""
}
