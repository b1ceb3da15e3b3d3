package fronttest

import (
	"context"
	"encoding/base64"
	"math"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// Subject is a Runner under test whose Tasks the test can end.
type Subject struct {
	Runner service.Runner
	// Finish makes a Task completed with this answer, however long that takes. nil = cannot be done; those checks are
	// skipped, and the test says so.
	Finish func(taskID, answer string)
}

// maxStatusText is the most that the text of a status may have, whatever the Task printed.
const maxStatusText = 256 << 10

// maxSummary is the most runes of a summary.
const maxSummary = 400

// TestRunner is the contract of service.Runner. open returns a fresh one whose Tasks stay unfinished by themselves.
func TestRunner(t *testing.T, open func(t *testing.T) Subject) {
	for name, test := range map[string]func(*testing.T, Subject){
		"accepts at once":              acceptsAtOnce,
		"refuses a bad request":        refusesBadRequests,
		"continues a session":          continuesASession,
		"refuses a bad status":         refusesBadStatus,
		"cancel is idempotent":         cancelIsIdempotent,
		"final states never change":    finalStatesNeverChange,
		"status is bounded":            statusIsBounded,
		"release stops one owner only": releaseStopsOneOwner,
		"many at once":                 manyAtOnce,
		"a Task outlives its request":  requestContextIsNotTheTasks,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func run(t *testing.T, s Subject, req service.RunRequest) service.Accepted {
	t.Helper()
	acc, err := s.Runner.Run(context.Background(), req)
	require.NoError(t, err)
	return acc
}

// MCP-RUN-01, MCP-RUN-02, MCP-ASY-01
func acceptsAtOnce(t *testing.T, s Subject) {
	acc := run(t, s, service.RunRequest{Request: "say hello"})
	assert.True(t, isUUID(acc.TaskID), acc.TaskID)
	assert.True(t, isUUID(acc.SessionID), acc.SessionID)
	assert.NotEqual(t, acc.TaskID, acc.SessionID)
	assert.Contains(t, acc.Text, acc.TaskID)
	assert.Contains(t, acc.Text, acc.SessionID)
	st, err := s.Runner.Status(context.Background(), acc.TaskID, acc.SessionID)
	require.NoError(t, err)
	assert.False(t, st.State.Final(), "state %s", st.State)
	assert.Equal(t, acc.TaskID, st.TaskID)
	assert.Equal(t, acc.SessionID, st.SessionID)
	assert.Contains(t, st.Text, acc.TaskID)
	for _, summary := range []string{acc.Summary, st.Summary} {
		assert.NotEmpty(t, summary)
		assert.NotContains(t, summary, "\n")
		assert.LessOrEqual(t, utf8.RuneCountInString(summary), maxSummary)
	}
	assert.GreaterOrEqual(t, st.Percent, 0)
	assert.Less(t, st.Percent, 100, "all is done only when the Task is")
}

// MCP-RUN-01, MCP-RUN-03, MCP-RUN-04
func refusesBadRequests(t *testing.T, s Subject) {
	temperature := func(v float64) *float64 { return &v }
	png, err := base64.StdEncoding.DecodeString(Image)
	require.NoError(t, err)
	for _, c := range []struct {
		name string
		req  service.RunRequest
		code fault.Code
	}{
		{"empty", service.RunRequest{}, service.CodeRequestEmpty},
		{"blank", service.RunRequest{Request: " \n\u3000"}, service.CodeRequestEmpty},
		{"invalid UTF-8", service.RunRequest{Request: "a\xffb"}, service.CodeRequestText},
		{"huge", service.RunRequest{Request: strings.Repeat("x", 64<<20)}, service.CodeRequestTooBig},
		{"unknown session", service.RunRequest{Request: "x", SessionID: NoTask}, service.CodeUnknownSession},
		{"NaN", service.RunRequest{Request: "x", Temperature: temperature(math.NaN())}, service.CodeTemperature},
		{"negative", service.RunRequest{Request: "x", Temperature: temperature(-1)}, service.CodeTemperature},
		{"infinite", service.RunRequest{Request: "x", Temperature: temperature(math.Inf(1))}, service.CodeTemperature},
		{"no image", service.RunRequest{Request: "x", Images: [][]byte{png, []byte("hello")}}, service.CodeImageKind},
		{"empty image", service.RunRequest{Request: "x", Images: [][]byte{{}}}, service.CodeImageKind},
	} {
		_, err := s.Runner.Run(context.Background(), c.req)
		assert.Equal(t, c.code, fault.CodeOf(err), c.name)
		if c.name == "no image" {
			assert.EqualValues(t, 1, fault.From(err).Args["index"], "counted from 0, as in the request")
		}
	}
}

// MCP-RUN-02
func continuesASession(t *testing.T, s Subject) {
	first := run(t, s, service.RunRequest{Request: "one"})
	second := run(t, s, service.RunRequest{Request: "two", SessionID: first.SessionID})
	assert.Equal(t, first.SessionID, second.SessionID)
	assert.NotEqual(t, first.TaskID, second.TaskID)
}

// MCP-STS-01, MCP-STS-02
func refusesBadStatus(t *testing.T, s Subject) {
	a := run(t, s, service.RunRequest{Request: "one"})
	b := run(t, s, service.RunRequest{Request: "two"})
	for _, c := range []struct {
		name, task, session string
		code                fault.Code
	}{
		{"empty", "", "", service.CodeBadTaskID},
		{"no UUID", "../../etc/passwd", "", service.CodeBadTaskID},
		{"unknown", NoTask, "", service.CodeUnknownTask},
		{"a session is no Task", a.SessionID, "", service.CodeUnknownTask},
		{"session of another Task", a.TaskID, b.SessionID, service.CodeWrongSession},
		{"unknown session", a.TaskID, NoTask, service.CodeWrongSession},
	} {
		_, err := s.Runner.Status(context.Background(), c.task, c.session)
		assert.Equal(t, c.code, fault.CodeOf(err), c.name)
	}
}

func cancelIsIdempotent(t *testing.T, s Subject) {
	assert.Equal(t, service.CodeUnknownTask, fault.CodeOf(s.Runner.Cancel(context.Background(), NoTask)))
	acc := run(t, s, service.RunRequest{Request: "x", Owner: "o"})
	require.NoError(t, s.Runner.Cancel(context.Background(), acc.TaskID))
	require.NoError(t, s.Runner.Cancel(context.Background(), acc.TaskID))
	require.NoError(t, s.Runner.Release(context.Background(), "o")) // waits until it has really ended
	assert.Equal(t, service.Cancelled, state(t, s, acc.TaskID))
}

func finalStatesNeverChange(t *testing.T, s Subject) {
	if s.Finish == nil {
		t.Skip("this subject cannot finish a Task")
	}
	acc := run(t, s, service.RunRequest{Request: "x", Owner: "o"})
	s.Finish(acc.TaskID, "done")
	require.NoError(t, s.Runner.Cancel(context.Background(), acc.TaskID))
	require.NoError(t, s.Runner.Release(context.Background(), "o"))
	st, err := s.Runner.Status(context.Background(), acc.TaskID, "")
	require.NoError(t, err)
	assert.Equal(t, service.Completed, st.State)
	assert.Equal(t, "done", st.Answer)
	assert.Contains(t, st.Text, "done")
	assert.Equal(t, 100, st.Percent)
	assert.NotEmpty(t, st.Summary)
}

// MCP-STS-03
func statusIsBounded(t *testing.T, s Subject) {
	if s.Finish == nil {
		t.Skip("this subject cannot finish a Task")
	}
	acc := run(t, s, service.RunRequest{Request: "x"})
	s.Finish(acc.TaskID, strings.Repeat("語", 5<<20/3))
	st, err := s.Runner.Status(context.Background(), acc.TaskID, "")
	require.NoError(t, err)
	assert.LessOrEqual(t, len(st.Text), maxStatusText)
	assert.True(t, utf8.ValidString(st.Text))
}

// REC-04
func releaseStopsOneOwner(t *testing.T, s Subject) {
	mine := run(t, s, service.RunRequest{Request: "mine", Owner: "me"})
	queued := run(t, s, service.RunRequest{Request: "mine too", Owner: "me"})
	theirs := run(t, s, service.RunRequest{Request: "theirs", Owner: "them"})
	nobodys := run(t, s, service.RunRequest{Request: "nobody's"})
	require.NoError(t, s.Runner.Release(context.Background(), "me"))
	assert.Equal(t, service.Cancelled, state(t, s, mine.TaskID))
	assert.Equal(t, service.Cancelled, state(t, s, queued.TaskID))
	assert.NotEqual(t, service.Cancelled, state(t, s, theirs.TaskID))
	assert.NotEqual(t, service.Cancelled, state(t, s, nobodys.TaskID))
	require.NoError(t, s.Runner.Release(context.Background(), "nobody at all"))
}

func manyAtOnce(t *testing.T, s Subject) {
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		seen = map[string]bool{}
	)
	for range 32 {
		wg.Go(func() {
			acc, err := s.Runner.Run(context.Background(), service.RunRequest{Request: "x"})
			if !assert.NoError(t, err) {
				return
			}
			_, err = s.Runner.Status(context.Background(), acc.TaskID, "")
			assert.NoError(t, err)
			mu.Lock()
			defer mu.Unlock()
			seen[acc.TaskID] = true
		})
	}
	wg.Wait()
	assert.Len(t, seen, 32)
}

// REC-05: a Task outlives the request that started it.
func requestContextIsNotTheTasks(t *testing.T, s Subject) {
	ctx, cancel := context.WithCancel(context.Background())
	acc, err := s.Runner.Run(ctx, service.RunRequest{Request: "x"})
	require.NoError(t, err)
	cancel()
	assert.False(t, state(t, s, acc.TaskID).Final())
}

func state(t *testing.T, s Subject, id string) service.State {
	t.Helper()
	st, err := s.Runner.Status(context.Background(), id, "")
	require.NoError(t, err)
	return st.State
}
