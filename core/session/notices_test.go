package session_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/session"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// MCP-STS-03: what the owner should know stays with the Task, once each, bounded, also after its end.
func TestNotices_StayWithTheTask(t *testing.T) {
	s, _ := session.Apply(session.New(session.Limits{}), session.Submitted{TaskID: "t", NewSession: "s", Request: "x"})
	old := s
	s, _ = session.Apply(s, session.Noticed{TaskID: "t", Refused: 2, Obeyed: []session.Obeyed{{Path: "a", Kind: "git"}, {Path: "a", Kind: "git"}}})
	s, _ = session.Apply(s, session.Noticed{TaskID: "t", Refused: 1})
	many := session.Noticed{TaskID: "t"}
	for i := range 60 {
		many.Obeyed = append(many.Obeyed, session.Obeyed{Path: fmt.Sprint(i)})
	}
	s, _ = session.Apply(s, many)
	s, _ = session.Apply(s, session.Moved{TaskID: "t", State: service.Planning})
	s, _ = session.Apply(s, session.Finished{TaskID: "t", State: service.Failed})
	task, f := s.Find("t", "")
	require.Nil(t, f)
	assert.Equal(t, 3, task.Notices.Refused)
	assert.Len(t, task.Notices.Obeyed, session.MaxObeyed)
	assert.Equal(t, session.Obeyed{Path: "a", Kind: "git"}, task.Notices.Obeyed[0])
	assert.Equal(t, 11, task.Notices.More)
	was, _ := old.Find("t", "")
	assert.Zero(t, was.Notices.Refused, "a value is never changed")
	_, effects := session.Apply(s, session.Noticed{TaskID: "t"})
	assert.IsType(t, session.Broken{}, effects[0])
}
