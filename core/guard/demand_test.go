package guard_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agent-mcp/agent-mcp/core/guard"
)

// AGT-07: what a request orders for sure, so that words alone do not answer it.
func TestDemands(t *testing.T) {
	for request, names := range map[string][]string{
		"Create hello.txt with the single line: Hello":                {"hello.txt"},
		"Please create a new file called notes/a.md.":                 {"a.md"},
		"Create first.txt with the word one and second.txt with two.": {"first.txt", "second.txt"},
		"Create a.txt, b.txt and c.txt, each with its own letter.":    {"a.txt", "b.txt", "c.txt"},
		"Read spec.md and write the sum to out.txt":                   {"out.txt"},
		"Can you fix the bug in loop.py?":                             {"loop.py"},
		"Rename draft.md to final.md":                                 {"draft.md", "final.md"},
		"Run the tests.":                                              nil,
		"Make a directory src":                                        nil,
		"挨拶.txt に「こんにちは」と書いてください。":                                    {"挨拶.txt"},
		"report.md を作成してください":                                         {"report.md"},
		"请创建文件 a.txt，内容为 x":                                           {"a.txt"},
	} {
		assert.True(t, guard.Demands(request), request)
		assert.Equal(t, names, guard.Demanded(request), request)
	}
	for request, made := range map[string][]string{
		"Create hello.txt with the line: see a.txt": {"hello.txt"}, "Create report.md from data.csv.": {"report.md"},
		"Create first.txt with the word one and second.txt with two.": {"first.txt", "second.txt"}, "Write the sum of in.csv into out.txt.": {"out.txt"},
		"Create a.txt, b.txt and c.txt, each with its own letter.": {"a.txt", "b.txt", "c.txt"}, "Fix loop.py": nil, "Do not create a.txt": nil,
	} {
		assert.Equal(t, made, guard.Made(request), request)
	}
	for _, request := range []string{
		"Write a summary of notes.txt", "How do I create a.txt?", "Explain how to write main.go.", "What does readme.md say?",
		"Write a haiku about rain.", "Is there a bug in loop.py? Do not change it.", "Do not delete a.txt", "List the files in src",
		"Tell me how to run test.sh", "spec.md について説明を書いてください", "Create a regular expression for e.g. mail addresses",
		"Compare a.txt and b.txt", "Summarise docs/spec.md in one sentence", "",
	} {
		assert.False(t, guard.Demands(request), request)
	}
}
