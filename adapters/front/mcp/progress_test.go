package mcp_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/conformance/fronttest"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// MCP-ASY-01, MCP-STS-03: a client that gives a progress token sees one notification with it before the result, in both eras; one
// that does not ask, or whose call fails, sees none.
func TestProgress_IsToldToClientsThatAsk(t *testing.T) {
	r := &fronttest.Runner{}
	s := open(t, options(r))
	ask := func(id, token, tool, arguments, meta string) string {
		if token != "" {
			meta = meta[:len(meta)-1] + `,"progressToken":` + token + `}`
		}
		return fronttest.Request(id, "tools/call", `"name":"`+tool+`","arguments":`+arguments+`,`+meta)
	}
	legacy := `"_meta":{"x":1}`
	started := s.ask(ask("1", "", "agent_run", `{"request":"x"}`, fronttest.Meta))
	require.Nil(t, started.Error, "no notification for who does not ask")
	task := "00000000-0000-4000-8000-000000000001"
	for _, meta := range []string{fronttest.Meta, legacy} {
		for _, c := range []struct {
			token, tool, arguments, message string
			percent                         int
			state                           service.State
		}{
			{`9007199254740993`, "agent_status", `{"task_id":"` + task + `"}`, "it is running", 0, service.Running},
			{`"t\u00e9"`, "agent_status", `{"task_id":"` + task + `"}`, "it is completed", 100, service.Completed},
			{`7`, "agent_run", `{"request":"y"}`, " ahead", 0, ""},
		} {
			if c.state != "" {
				r.Set(task, c.state, "done")
			}
			s.send(ask("2", c.token, c.tool, c.arguments, meta))
			var note struct {
				Method string
				ID     json.RawMessage
				Params struct {
					ProgressToken   json.RawMessage
					Progress, Total int
					Message         string
				}
			}
			require.True(t, s.lines.Scan())
			require.NoError(t, json.Unmarshal(s.lines.Bytes(), &note))
			assert.Equal(t, "notifications/progress", note.Method)
			assert.Nil(t, note.ID)
			assert.Equal(t, c.token, string(note.Params.ProgressToken), "as it was sent")
			assert.Equal(t, [2]int{c.percent, 100}, [2]int{note.Params.Progress, note.Params.Total})
			assert.Contains(t, note.Params.Message, c.message)
			assert.Nil(t, s.receive().Error, "then the result")
		}
	}
	for _, bad := range []string{
		ask("3", `5`, "agent_status", `{"task_id":"`+fronttest.NoTask+`"}`, fronttest.Meta),
		ask("3", `5`, "no_such_tool", `{}`, fronttest.Meta),
	} {
		assert.Equal(t, "3", string(s.ask(bad).ID), "a call that fails has no progress")
	}
}
