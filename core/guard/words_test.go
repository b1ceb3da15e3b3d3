package guard_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/guard"
	"github.com/agent-mcp/agent-mcp/ports/model"
)

const writeArgs = `{"path":"hello.py","content":"print(1)"}`

var offered = []model.Tool{{Name: "read_file"}, {Name: "write_file"}}

// AGT-05, SEC-INV-01: a call printed as text is recognised whatever its dress; JSON and code that only look a little like
// one are not.
func TestPrintedCall(t *testing.T) {
	body := `{"name": "write_file", "arguments": ` + writeArgs + `}`
	for _, s := range []string{
		body,
		"```json\n" + body + "\n```",
		"Sure, I will do it:\n```\n" + body + "\n```\nDone.",
		"<tool_call>" + body + "</tool_call>",
		"<tool_call>\n<function=write_file>\n<parameter=path>\nhello.py\n</parameter></function></tool_call>",
		"<function=write_file>" + writeArgs + "</function>",
		`[TOOL_CALLS][` + body + `]`,
		`<|python_tag|>write_file.call(path="hello.py")`,
		`write_file(path="hello.py", content="print(1)")`,
		`{"tool": "write_file", "tool_input": {}}`,
		`{"function": {"name": "write_file", "parameters": {}}}`,
		`{"tool_calls": [` + body + `]}`,
		`[` + body + `]`,
		`{"function": "write_file", "args": {}}`,
		`{"name": "make_coffee", "arguments": {"sugar": 1}}`,
		`<invoke name="write_file"><parameter name="path">x</parameter></invoke>`,
		"Now I call " + body,
	} {
		require.True(t, guard.PrintedCall(s, offered), s)
	}
	for _, s := range []string{
		"The file holds {\"name\": \"Ada\", \"age\": 36}.",
		"```json\n{\"name\": \"Ada\"}\n```",
		"Use print(1) to print.",
		"A function f(x) = x.",
		"",
	} {
		require.False(t, guard.PrintedCall(s, offered), s)
	}
}

// AGT-04, AGT-07: finished actions are claims; an explanation of how something is done is none.
func TestClaims(t *testing.T) {
	for s, want := range map[string]bool{
		"I have created hello.py.": true, "hello.py を作成しました。": true, "I've now successfully run it.": true,
		"A function that calls itself.": false, "You can create a file with touch.": false, "ファイルは touch で作成できます。": false, "": false,
	} {
		require.Equal(t, want, guard.Claims(s), s)
	}
	for s, want := range map[string]bool{
		"The file has been saved.": true, "ファイルが作成されました。": true, "已被删除": true, "The file holds x.": false, "": false,
	} {
		require.Equal(t, want, guard.ClaimsPassively(s), s)
		require.False(t, guard.Claims(s), s)
	}
}

// AGT-07: words that only say what comes next are announcements; what goes on after them is more than that.
func TestAnnounces(t *testing.T) {
	for s, want := range map[string]bool{
		"I will read the file now.": true, "Okay, let me look.": true, "ファイルを確認します。": true,
		"The file is empty.": false, "I will explain: a function that calls itself is recursive.": false, "": false,
		"I will read it.\n1\n2\n3": false,
	} {
		require.Equal(t, want, guard.Announces(s), s)
	}
}

// FuzzWords: no text makes a guard panic, and thinking that was taken out stays out.
func FuzzWords(f *testing.F) {
	for _, s := range []string{"I have created a.", `{"name":"write_file","arguments":{}}`, "write_file()", "```", "<think>", "</think>x", ":：", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		guard.PrintedCall(s, offered)
		guard.Claims(s)
		guard.Announces(s)
		guard.Demanded(s)
		guard.Repeats(s)
		require.Equal(t, guard.Spoken(s), guard.Spoken(guard.Spoken(s)))
	})
}

// AGT-04: the files that a report says were made.
func TestClaimed(t *testing.T) {
	for s, want := range map[string][]string{
		"I have created hello.py and src/util.go. Run them with run.sh.": {"hello.py", "src/util.go"},
		"I created `a.txt`; b.txt was there.":                            {"a.txt"},
		"hello.py を作成しました。test.py はありました。":                               {"hello.py"},
		"Successfully wrote report.md from data.csv.":                    {"report.md", "data.csv"},
		"I have created a Node.js script, e.g. for version 1.x of it.":   nil,
		"I have not created b.txt.":                                      nil,
		"You can create a.txt with touch. I ran test.py.":                nil,
		"I have fixed loop.py.":                                          nil,
		"":                                                               nil,
	} {
		require.Equal(t, want, guard.Claimed(s), s)
	}
}
