package mcp

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/front/mcp/internal/wire"
	"github.com/agent-mcp/agent-mcp/conformance/fronttest"
)

func answer(t *testing.T, c *core, line string) string {
	t.Helper()
	m, bad := wire.Parse([]byte(line))
	require.Nil(t, bad)
	rep, _ := c.handle(context.Background(), m, "", nil)
	var buf bytes.Buffer
	require.NoError(t, rep.Append(&buf, c.render))
	return buf.String()
}

// FuzzParams: whatever is in params, the answer is one valid message with the id, and a call the Runner sees is valid.
func FuzzParams(f *testing.F) {
	for _, s := range []string{
		`{"name":"agent_run","arguments":{"request":"x","images":["iVBORw0KGgo="],"temperature":1e400}}`, `{"_meta":{"io.modelcontextprotocol/protocolVersion":1}}`,
		`{"name":"agent_status","arguments":{"task_id":"\ud800"},` + fronttest.TasksMeta + `}`, `{` + fronttest.Meta + `}`, `{"Name":1,"name":2,"name":3}`,
		`{"notifications":{"taskIds":[1]},` + fronttest.Meta + `}`, `{"protocolVersion":"\u0000","cursor":{}}`, `{"arguments":[[[[]]]]}`,
	} {
		for i := range 5 {
			f.Add(s, i)
		}
	}
	c := newCore(Options{Runner: &fronttest.Runner{}, Catalog: fronttest.Catalog{}, Name: "n", Version: "v", Trace: discard{}, Limits: Limits{}.withDefaults()})
	methods := []string{methodCall, methodList, methodDiscover, methodListen, methodInitialize, methodPing, "tasks/get"}
	f.Fuzz(func(t *testing.T, params string, method int) {
		m, bad := wire.Parse([]byte(`{"jsonrpc":"2.0","id":9007199254740993,"method":"` + methods[uint(method)%uint(len(methods))] + `","params":` + params + `}`))
		if bad != nil || m.Kind != wire.Request {
			return
		}
		rep, _ := c.handle(context.Background(), m, "", nil)
		var buf bytes.Buffer
		require.NoError(t, rep.Append(&buf, c.render))
		for line := range strings.Lines(buf.String()) {
			a := fronttest.Decode(t, strings.TrimSuffix(line, "\n"))
			if a.ID != nil {
				require.Equal(t, "9007199254740993", string(a.ID))
			}
			if a.Error != nil {
				require.NotEqual(t, wire.Internal, a.Error.Code, line)
			}
		}
	})
}

// FuzzServe: whatever comes in, only valid messages go out and the server ends in order.
func FuzzServe(f *testing.F) {
	for _, s := range []string{
		"{}\n[]\n\n", `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\r\n" + `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "\xef\xbb\xbf{\n\xff\n",
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, strings.Repeat("[", 300), fronttest.Call("2", "agent_run", `{"request":"x"}`),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		r := &fronttest.Runner{}
		s, err := New(Options{Runner: r, Catalog: fronttest.Catalog{}, Name: "n", Version: "v", OwnerID: "o", Limits: Limits{LineBytes: 200}})
		require.NoError(t, err)
		var out bytes.Buffer
		end, err := s.ServeStdio(context.Background(), bytes.NewReader(in), &out)
		require.NoError(t, err)
		require.Equal(t, EndInput, end)
		require.Equal(t, []string{"o"}, r.Released())
		for line := range strings.Lines(out.String()) {
			text, ok := strings.CutSuffix(line, "\n")
			require.True(t, ok)
			fronttest.Decode(t, text)
		}
	})
}
