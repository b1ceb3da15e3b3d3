package fronttest

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/service"
)

// Transport is one way to reach a front end that was made with the given Runner and with Catalog.
type Transport interface {
	// Exchange sends one message and returns everything that came back for it, in order; nothing for a silent one.
	Exchange(t *testing.T, r service.Runner, message string) []string
}

// Exchange is one message and what a front must answer to it.
type Exchange struct {
	Name    string
	Send    string
	Silent  bool   // no answer at all
	Code    int    // JSON-RPC error code; 0 = a result
	ID      string // the id of the answer exactly as on the wire; "" = the answer must have none
	IsError bool   // the result is a tool's error
	Text    string // part of the answer
	Modern  bool   // the result must carry resultType and the server's identity
	Before  string // the method of the notification that must come before the answer
	Stdio   bool   // only where the transport has no rule of its own for it (HTTP answers by status)
}

// TestFront checks every exchange of Exchanges. stdio includes those that only hold there.
func TestFront(t *testing.T, tr Transport, stdio bool) {
	for _, x := range Exchanges() {
		if x.Stdio && !stdio {
			continue
		}
		t.Run(x.Name, func(t *testing.T) {
			check1(t, x, tr.Exchange(t, &Runner{}, x.Send))
		})
	}
}

func check1(t *testing.T, x Exchange, got []string) {
	t.Helper()
	if x.Silent {
		assert.Empty(t, got)
		return
	}
	want := 1
	if x.Before != "" {
		want = 2
	}
	require.Len(t, got, want, "answers: %q", got)
	if x.Before != "" {
		var note struct{ Method string }
		require.NoError(t, json.Unmarshal([]byte(got[0]), &note))
		require.Equal(t, x.Before, note.Method)
	}
	last := got[want-1]
	a := Decode(t, last)
	assert.Equal(t, x.ID, string(a.ID), "id in %s", last)
	if x.Code != 0 {
		require.NotNil(t, a.Error, last)
		assert.Equal(t, x.Code, a.Error.Code, last)
		assert.NotEmpty(t, a.Error.Message)
		assert.Nil(t, a.Result)
	} else {
		require.Nil(t, a.Error, last)
		require.NotNil(t, a.Result, last)
		assert.Equal(t, x.IsError, a.IsError, last)
	}
	assert.Contains(t, last, x.Text)
	if x.Modern {
		assert.Equal(t, "complete", a.ResultType, last)
		assert.Contains(t, last, `"io.modelcontextprotocol/serverInfo":{"name":`)
	}
}

// Answer is one decoded answer.
type Answer struct {
	ID     json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
	IsError    bool
	ResultType string
	Text       string // of the first content
}

// Decode reads one line that a front wrote and checks what holds for every line: one JSON-RPC 2.0 object, exact keys,
// valid UTF-8, no U+2028 and U+2029.
func Decode(t testing.TB, line string) Answer {
	t.Helper()
	require.True(t, utf8.ValidString(line), "%q", line)
	require.False(t, strings.ContainsAny(line, "\n\r\u2028\u2029"), "%q", line)
	var fields map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(line), &fields), "%q", line)
	require.Equal(t, `"2.0"`, string(fields["jsonrpc"]), line)
	a := Answer{ID: fields["id"], Result: fields["result"]}
	require.NotEqual(t, "null", string(a.ID), line)
	if raw := fields["error"]; raw != nil {
		require.NoError(t, json.Unmarshal(raw, &a.Error), line)
	}
	if a.Result != nil {
		var result struct {
			IsError    bool   `json:"isError"`
			ResultType string `json:"resultType"`
			Content    []struct {
				Text string `json:"text"`
			} `json:"content"`
		}
		require.NoError(t, json.Unmarshal(a.Result, &result), line)
		a.IsError, a.ResultType = result.IsError, result.ResultType
		if len(result.Content) > 0 {
			a.Text = result.Content[0].Text
		}
	}
	return a
}
