package mcp

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/front/mcp/internal/wire"
	"github.com/agent-mcp/agent-mcp/conformance/fronttest"
)

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

// FuzzHTTP: whatever the head and the body of a request are, the answer is one of HTTP, no panic of ours, and what a 200 says is a
// message; a request that the Runner sees had headers that agree with its message.
func FuzzHTTP(f *testing.F) {
	list := fronttest.Request("1", "tools/list", fronttest.Meta)
	for _, s := range []struct{ version, method, name, host, origin, kind, body string }{
		{"2026-07-28", "tools/list", "", "localhost", "", "application/json", list},
		{"2026-07-28", "tools/call", "agent_run", "127.0.0.1:1", "http://[::1]:2", "application/json;charset=utf-8", fronttest.Call("1", "agent_run", `{"request":"x"}`)},
		{"2099-01-01", "=?base64?eA==?=", "=?base64?YWdlbnRfcnVu?=", "evil", "null", "text/plain", "{"},
		{"", "", "", "[::1%25lo]", "http://localhost:99999", `application/json; x="`, "\xef\xbb\xbf" + list},
	} {
		f.Add(s.version, s.method, s.name, s.host, s.origin, s.kind, s.body)
	}
	runner := &fronttest.Runner{}
	c := newCore(Options{Runner: runner, Catalog: fronttest.Catalog{}, Name: "n", Version: "v", Trace: discard{}, Limits: Limits{}.withDefaults()})
	w := &web{core: c, opt: HTTPOptions{}.withDefaults(), work: make(chan struct{}, 1), streams: make(chan struct{}, 1), large: newLarge(), open: newConnections(1, nil), stop: context.Background()}
	f.Fuzz(func(t *testing.T, version, method, name, host, origin, kind, body string) {
		r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(body))
		r.Host = host
		for k, v := range map[string]string{headerVersion: version, headerMethod: method, headerName: name, "Origin": origin, "Content-Type": kind} {
			if v != "" {
				r.Header.Set(k, v)
			}
		}
		rec := httptest.NewRecorder()
		w.serve(rec, r)
		require.Contains(t, []int{200, 202, 400, 403, 404, 406, 413, 415}, rec.Code)
		require.Equal(t, loopbackHost(host) && (origin == "" || loopbackOrigin(origin)), rec.Code != 403)
		if rec.Code == 202 {
			require.Zero(t, rec.Body.Len())
			return
		}
		if rec.Header().Get("Content-Type") == "application/json" {
			fronttest.Decode(t, strings.TrimSuffix(rec.Body.String(), "\n"))
		}
	})
}
