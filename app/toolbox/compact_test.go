package toolbox_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// AGT-09: a result says what is new and no more: no name that the call itself holds but where it tells files apart, none twice, line
// numbers only where a match is found, nothing of what was written, one line about an end.
func TestResults_AreCompact(t *testing.T) {
	const name = "src/a/rather/long/path/of/a/file.go"
	b := setup(t)
	var content strings.Builder
	for i := range 60 {
		fmt.Fprintf(&content, "line %d of words\n", i)
	}
	b.tree.Put("/w/"+name, content.String(), 0)
	b.result = sandbox.Result{End: sandbox.EndExited, Started: true, Stdout: sandbox.Capture{Head: []byte("42\n"), Total: 3}}
	for _, c := range []struct {
		call  tool.Call
		names int // how often the path may be in it
		more  int // bytes beside the content
	}{
		{tool.Call{Name: tool.Read, Path: name}, 0, 0},
		{tool.Call{Name: tool.Read, Path: name, Offset: 11, Limit: 10}, 0, 80},
		{tool.Call{Name: tool.Tail, Path: name, Limit: 5}, 0, 80},
		{tool.Call{Name: tool.Search, Path: ".", Pattern: "of words"}, 1, 60*4 + len(name) + 2},
		{tool.Call{Name: tool.Search, Path: ".", Pattern: "line 7 "}, 1, len(name) + 8},
		{tool.Call{Name: tool.List, Path: "src/a/rather"}, 0, 8},
		{tool.Call{Name: tool.Write, Path: name, Content: content.String()}, 1, 100},
		{tool.Call{Name: tool.Patch, Path: name, Old: "line 8 ", New: "line eight "}, 1, 100},
		{tool.Call{Name: tool.Run, Alias: "sh", Args: []string{"-c", "echo 42"}}, 0, 40},
	} {
		r := b.do(c.call)
		assert.Nil(t, r.Fault, "%v: %s", c.call.Name, r.Text)
		assert.LessOrEqual(t, strings.Count(r.Text, name), c.names, r.Text)
		own := 0
		for line := range strings.Lines(content.String()) {
			if c.call.Name != tool.Write && strings.Contains(r.Text, strings.TrimSuffix(line, "\n")) {
				own += len(line)
			}
		}
		assert.LessOrEqual(t, len(r.Text)-own, c.more, "%v: %s", c.call.Name, r.Text)
		if c.call.Name == tool.Read {
			assert.NotRegexp(t, `(?m)^ *\d+[:|\t ]`, r.Text, "no line numbers")
		}
	}
}
