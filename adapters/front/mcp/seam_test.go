package mcp

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/front/mcp/internal/wire"
	"github.com/agent-mcp/agent-mcp/conformance/fronttest"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// fakeTasks stands where the Tasks extension will.
type fakeTasks struct{}

func (fakeTasks) extensions() map[string]any { return map[string]any{extensionTasks: struct{}{}} }
func (fakeTasks) serve(_ context.Context, r *request) wire.Reply {
	if !r.declares(extensionTasks) {
		return r.fail(missingTasks())
	}
	return r.reply(map[string]any{"resultType": "complete"})
}

func (fakeTasks) hoist(_ *request, acc service.Accepted) (any, bool) {
	return map[string]any{"resultType": "task", "taskId": acc.TaskID}, true
}

func answer(t *testing.T, c *core, line string) string {
	t.Helper()
	m, bad := wire.Parse([]byte(line))
	require.Nil(t, bad)
	rep, _ := c.handle(context.Background(), m, "", nil)
	var buf bytes.Buffer
	require.NoError(t, rep.Append(&buf, c.render))
	return buf.String()
}

// The seam works before the extension exists: only a client that declares it with this request gets a Task.
func TestTasks_Seam(t *testing.T) {
	o := Options{Runner: &fronttest.Runner{}, Catalog: fronttest.Catalog{}, Name: "n", Version: "v", Trace: discard{}, Limits: Limits{}.withDefaults()}
	run := func(meta string) string {
		return fronttest.Request("1", "tools/call", `"name":"agent_run","arguments":{"request":"x"},`+meta)
	}
	with := newCore(o, fakeTasks{})
	assert.Contains(t, answer(t, with, run(fronttest.TasksMeta)), `"resultType":"task"`)
	assert.NotContains(t, answer(t, with, run(fronttest.Meta)), `"taskId"`)
	legacy := strings.Replace(fronttest.TasksMeta, "2026-07-28", "2025-11-25", 1)
	assert.NotContains(t, answer(t, with, run(legacy)), `"taskId"`)
	assert.Contains(t, answer(t, with, fronttest.Request("1", "tasks/get", fronttest.TasksMeta)), `"resultType":"complete"`)
	assert.Contains(t, answer(t, with, fronttest.Request("1", "tasks/get", fronttest.Meta)), `-32021`)
	assert.Contains(t, answer(t, with, fronttest.Request("1", "server/discover", fronttest.Meta)), extensionTasks)
	assert.NotContains(t, answer(t, with, fronttest.Request("1", "initialize", `"protocolVersion":"2025-11-25"`)), extensionTasks)

	without := newCore(o, noTasks{})
	assert.NotContains(t, answer(t, without, run(fronttest.TasksMeta)), `"taskId"`)
	assert.NotContains(t, answer(t, without, fronttest.Request("1", "server/discover", fronttest.TasksMeta)), extensionTasks)
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel", "tasks/list", "tasks/result"} {
		assert.Contains(t, answer(t, without, fronttest.Request("1", method, fronttest.TasksMeta)), `-32601`)
	}
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
	c := newCore(Options{Runner: &fronttest.Runner{}, Catalog: fronttest.Catalog{}, Name: "n", Version: "v", Trace: discard{}, Limits: Limits{}.withDefaults()}, noTasks{})
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
		s := New(Options{Runner: r, Catalog: fronttest.Catalog{}, Name: "n", Version: "v", OwnerID: "o", Limits: Limits{LineBytes: 200}})
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
