package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/front/mcp"
	"github.com/agent-mcp/agent-mcp/conformance/fronttest"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/service"
	"github.com/agent-mcp/agent-mcp/ports/trace"
)

// site is a server on the loopback.
type site struct {
	t    *testing.T
	at   string // host:port
	end  context.CancelFunc
	done chan struct{}
	err  error
}

func serveHTTP(t *testing.T, o mcp.Options, h mcp.HTTPOptions) *site {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	s := &site{t: t, at: l.Addr().String(), end: cancel, done: make(chan struct{})}
	server := serverOf(o)
	go func() {
		defer close(s.done)
		_, s.err = server.ServeHTTP(ctx, []net.Listener{l}, h)
	}()
	t.Cleanup(func() {
		cancel()
		<-s.done
		require.NoError(t, s.err)
	})
	return s
}

// headers are those a client of the 2026-07-28 era sends with a message.
func headers(message string) map[string]string {
	h := map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
	var m struct {
		Method string
		Params struct {
			Name, TaskID any
			Meta         map[string]any `json:"_meta"`
		}
	}
	_ = json.Unmarshal([]byte(message), &m)
	version, ok := m.Params.Meta["io.modelcontextprotocol/protocolVersion"].(string)
	if !ok {
		return h
	}
	h["MCP-Protocol-Version"], h["Mcp-Method"] = version, m.Method
	name := m.Params.Name
	if strings.HasPrefix(m.Method, "tasks/") {
		name = m.Params.TaskID
	}
	if s, ok := name.(string); ok {
		h["Mcp-Name"] = s
	}
	return h
}

// post sends a message with headers changed; "" removes one.
func (s *site) post(message string, changed map[string]string) (int, http.Header, []string) {
	s.t.Helper()
	req, err := http.NewRequest(http.MethodPost, "http://"+s.at+"/mcp", strings.NewReader(message))
	require.NoError(s.t, err)
	all := headers(message)
	for k, v := range changed {
		all[k] = v
	}
	for k, v := range all {
		if v != "" {
			req.Header.Set(k, v)
		}
	}
	if host := all["Host"]; host != "" {
		req.Host = host
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	require.NoError(s.t, err)
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	require.NoError(s.t, err)
	return res.StatusCode, res.Header, messages(s.t, res.Header.Get("Content-Type"), body)
}

// messages are those in a body.
func messages(t *testing.T, kind string, body []byte) (all []string) {
	t.Helper()
	if kind != "text/event-stream" {
		if len(body) == 0 {
			return nil
		}
		text, ok := strings.CutSuffix(string(body), "\n")
		require.True(t, ok)
		require.NotContains(t, text, "\n")
		return []string{text}
	}
	for line := range strings.Lines(string(body)) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			all = append(all, strings.TrimSuffix(data, "\n"))
		}
	}
	return all
}

type overHTTP struct{}

func (overHTTP) Exchange(t *testing.T, r service.Runner, message string) []string {
	_, _, all := serveHTTP(t, options(r), mcp.HTTPOptions{}).post(message, nil)
	return all
}

// AT-01, AT-04, MCP-RUN-*, MCP-STS-*, MCP-2026-01..03 over HTTP: the same answers as over stdio.
func TestServeHTTP_Exchanges(t *testing.T) {
	fronttest.TestFront(t, overHTTP{}, false)
}

// The status and the code of what is refused before or beside the message (design/mcp.md, section 1).
func TestServeHTTP_Rules(t *testing.T) {
	s := serveHTTP(t, options(&fronttest.Runner{}), mcp.HTTPOptions{BodyBytes: 200_000})
	list, status := fronttest.Request("7", "tools/list", fronttest.Meta), fronttest.Call("7", "agent_status", `{"task_id":"`+fronttest.NoTask+`"}`)
	legacy := fronttest.Request("7", "tools/list", "")
	other := strings.Replace(list, "2026-07-28", "2099-01-01", 1)
	task := fronttest.Request("7", "tasks/get", `"taskId":"x",`+fronttest.TasksMeta)
	for name, c := range map[string]struct {
		send    string
		headers map[string]string
		status  int
		code    int // 0 = a result
		text    string
	}{
		"ordinary":                        {list, nil, 200, 0, ""},
		"no version header":               {list, map[string]string{"MCP-Protocol-Version": ""}, 400, -32020, "mcp.header header=MCP-Protocol-Version"},
		"other version header":            {list, map[string]string{"MCP-Protocol-Version": "2025-11-25"}, 400, -32020, "mcp.header"},
		"version header in other case":    {strings.Replace(list, "2026-07-28", "Draft", 1), map[string]string{"MCP-Protocol-Version": "draft"}, 400, -32020, ""},
		"no method header":                {list, map[string]string{"Mcp-Method": ""}, 400, -32020, "header=Mcp-Method want=tools/list"},
		"method header in other case":     {list, map[string]string{"Mcp-Method": "Tools/List"}, 400, -32020, ""},
		"no name header":                  {status, map[string]string{"Mcp-Name": ""}, 400, -32020, "header=Mcp-Name want=agent_status"},
		"other name header":               {status, map[string]string{"Mcp-Name": "agent_run"}, 400, -32020, ""},
		"name header in Base64":           {status, map[string]string{"Mcp-Name": "=?base64?YWdlbnRfc3RhdHVz?="}, 200, 0, ""},
		"name header in broken Base64":    {status, map[string]string{"Mcp-Name": "=?base64?YWdl*?="}, 400, -32020, ""},
		"Base64 without an end":           {status, map[string]string{"Mcp-Name": "=?base64?YWdlbnRfc3RhdHVz"}, 400, -32020, ""},
		"other task header":               {task, map[string]string{"Mcp-Name": "y"}, 400, -32020, ""},
		"unknown version":                 {other, nil, 400, -32022, "2099-01-01"},
		"unknown version, header only":    {legacy, map[string]string{"MCP-Protocol-Version": "2099-01-01"}, 400, -32022, ""},
		"modern header without _meta":     {legacy, map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}, 400, -32602, "mcp.missing_meta"},
		"legacy without a header":         {legacy, nil, 200, 0, ""},
		"legacy with its header":          {legacy, map[string]string{"MCP-Protocol-Version": "2025-06-18"}, 200, 0, ""},
		"legacy unknown method":           {fronttest.Request("7", "no/such", ""), nil, 200, -32601, ""},
		"modern unknown method":           {fronttest.Request("7", "no/such", fronttest.Meta), nil, 404, -32601, ""},
		"unknown tool":                    {fronttest.Call("7", "nothing", `{}`), nil, 400, -32602, ""},
		"bad argument is a result":        {fronttest.Call("7", "agent_run", `{}`), nil, 200, 0, `"isError":true`},
		"not JSON":                        {"{", nil, 400, -32700, ""},
		"batch":                           {"[" + list + "]", nil, 400, -32600, ""},
		"BOM":                             {"\xef\xbb\xbf" + legacy, nil, 200, 0, ""},
		"empty body":                      {"", nil, 400, -32700, ""},
		"an answer":                       {`{"jsonrpc":"2.0","id":1,"result":{}}`, nil, 400, -32600, ""},
		"foreign host":                    {list, map[string]string{"Host": "evil.example"}, 403, -32600, "mcp.foreign_host host=evil.example"},
		"foreign host with our port":      {list, map[string]string{"Host": "evil.example:80"}, 403, -32600, ""},
		"a name that starts like ours":    {list, map[string]string{"Host": "127.0.0.1.evil.example"}, 403, -32600, ""},
		"localhost through a tunnel":      {list, map[string]string{"Host": "localhost:9999"}, 200, 0, ""},
		"IPv6 host":                       {list, map[string]string{"Host": "[::1]:1"}, 200, 0, ""},
		"own page":                        {list, map[string]string{"Origin": "http://localhost:6274"}, 200, 0, ""},
		"foreign page":                    {list, map[string]string{"Origin": "https://evil.example"}, 403, -32600, "mcp.foreign_page"},
		"foreign page alone, good host":   {list, map[string]string{"Origin": "http://127.0.0.1.evil.example", "Host": "127.0.0.1:1"}, 403, -32600, ""},
		"page without a name":             {list, map[string]string{"Origin": "null"}, 403, -32600, ""},
		"page of a file":                  {list, map[string]string{"Origin": "file://"}, 403, -32600, ""},
		"page with a password":            {list, map[string]string{"Origin": "http://localhost@evil.example"}, 403, -32600, ""},
		"text":                            {list, map[string]string{"Content-Type": "text/plain"}, 415, -32600, "mcp.content_type got=text/plain"},
		"no type":                         {list, map[string]string{"Content-Type": ""}, 415, -32600, ""},
		"form":                            {list, map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, 415, -32600, ""},
		"type with a charset":             {list, map[string]string{"Content-Type": "application/json; charset=UTF-8"}, 200, 0, ""},
		"type with another charset":       {list, map[string]string{"Content-Type": "application/json; charset=utf-16"}, 415, -32600, ""},
		"compressed":                      {list, map[string]string{"Content-Encoding": "gzip"}, 415, -32600, ""},
		"too long":                        {strings.Repeat(" ", 200_001), nil, 413, -32600, "mcp.body_too_long limit=200000"},
		"session and event ids are air":   {list, map[string]string{"Mcp-Session-Id": "x", "Last-Event-ID": "9"}, 200, 0, ""},
		"listen without events":           {fronttest.Request("7", "subscriptions/listen", `"notifications":{},`+fronttest.Meta), map[string]string{"Accept": "application/json"}, 406, -32600, ""},
		"progress without events":         {strings.Replace(status, `{"io.`, `{"progressToken":1,"io.`, 1), map[string]string{"Accept": "application/json"}, 200, 0, ""},
		"tasks without the extension":     {strings.Replace(task, fronttest.TasksMeta, fronttest.Meta, 1), nil, 404, -32601, ""},
		"removed method without a name":   {strings.Replace(task, "tasks/get", "tasks/result", 1), map[string]string{"Mcp-Name": ""}, 404, -32601, ""},
		"notification":                    {`{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil, 202, 1, ""},
		"cancellation has no use in HTTP": {`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`, nil, 202, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			status, h, all := s.post(c.send, c.headers)
			assert.Equal(t, c.status, status, all)
			assert.Empty(t, h.Get("Mcp-Session-Id"))
			assert.Empty(t, h.Get("Access-Control-Allow-Origin"))
			if c.status == http.StatusAccepted {
				assert.Empty(t, all)
				return
			}
			require.Len(t, all, 1)
			a := fronttest.Decode(t, all[0])
			assert.Contains(t, all[0], c.text)
			if c.code == 0 {
				assert.Nil(t, a.Error, all[0])
				return
			}
			require.NotNil(t, a.Error, all[0])
			assert.Equal(t, c.code, a.Error.Code, all[0])
		})
	}
}

// MCP-TR-03, MCP-TR-04: nothing but POST, and only at the endpoint.
func TestServeHTTP_Methods(t *testing.T) {
	s := serveHTTP(t, options(&fronttest.Runner{}), mcp.HTTPOptions{Path: "/agent"})
	for _, c := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/agent", 405},
		{"DELETE", "/agent", 405},
		{"OPTIONS", "/agent", 405},
		{"HEAD", "/agent", 405},
		{"PUT", "/agent", 405},
		{"post", "/agent", 405},
		{"GET", "/", 404},
		{"POST", "/", 404},
		{"POST", "/agent/", 404},
		{"POST", "/mcp", 404},
		{"GET", "/sse", 404},
		{"OPTIONS", "*", 404},
	} {
		c1, err := net.Dial("tcp", s.at)
		require.NoError(t, err)
		_, err = fmt.Fprintf(c1, "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", c.method, c.path)
		require.NoError(t, err)
		res, err := http.ReadResponse(bufio.NewReader(c1), &http.Request{Method: c.method})
		require.NoError(t, err)
		assert.Equal(t, c.status, res.StatusCode, c)
		if c.status == 405 {
			assert.Equal(t, "POST", res.Header.Get("Allow"), c)
		}
		_ = res.Body.Close()
		_ = c1.Close()
	}
}

// MCP-TR-02
func TestServeHTTP_OnlyOnTheLoopback(t *testing.T) {
	l := &strange{}
	_, err := serverOf(options(&fronttest.Runner{})).ServeHTTP(context.Background(), []net.Listener{l}, mcp.HTTPOptions{})
	require.Equal(t, mcp.CodeNotLoopback, fault.CodeOf(err))
	require.True(t, l.closed)
}

type strange struct {
	net.Listener
	closed bool
}

func (*strange) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 80} }
func (s *strange) Close() error { s.closed = true; return nil }

// OBS-03, OBS-04: a request is logged with its routing, and with nothing that is nobody's business.
func TestServeHTTP_Log(t *testing.T) {
	seen := &events{}
	o := options(&fronttest.Runner{})
	o.Trace = seen
	s := serveHTTP(t, o, mcp.HTTPOptions{})
	secret := "s3cret"
	req, err := http.NewRequest(http.MethodPost, "http://"+s.at+"/mcp?token="+secret, strings.NewReader(fronttest.Call("1", "agent_run", `{"request":"`+secret+`","images":["`+fronttest.Image+`"]}`)))
	require.NoError(t, err)
	for k, v := range headers(fronttest.Call("1", "agent_run", `{}`)) {
		req.Header.Set(k, v)
	}
	req.Header.Set("Authorization", "Bearer "+secret)
	req.Header.Set("Cookie", "a="+secret)
	req.Header.Set("X-Forwarded-For", "203.0.113.9")
	req.Header.Set("Mcp-Session-Id", secret)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	_ = res.Body.Close()
	require.Equal(t, 200, res.StatusCode)
	require.Eventually(t, func() bool { return len(seen.named("http.request")) == 1 }, 10*time.Second, time.Millisecond)
	ev := seen.named("http.request")[0]
	require.Equal(t, trace.HTTP, ev.Stream)
	got := map[string]any{}
	for _, f := range ev.Fields {
		got[f.Name] = f.Value
	}
	assert.Equal(t, s.at, got["local"])
	assert.Contains(t, got["remote"], "127.0.0.1:")
	assert.Equal(t, []any{"POST", "/mcp", 200, "2026-07-28", "tools/call", "agent_run"}, []any{got["method"], got["path"], got["status"], got["mcp_protocol_version"], got["mcp_method"], got["mcp_name"]})
	assert.Contains(t, got, "duration")
	everything := fmt.Sprint(seen.all)
	for _, hidden := range []string{secret, "203.0.113.9", fronttest.Image[:12], "Bearer"} {
		assert.NotContains(t, everything, hidden)
	}
}

// A client that goes away ends its own request and nothing else, and the same id in two clients is two requests.
func TestServeHTTP_RequestsAreApart(t *testing.T) {
	begun, hold := make(chan struct{}, 2), make(chan struct{})
	r := &fronttest.Runner{Before: func(ctx context.Context, call string) error {
		if call == "status" {
			begun <- struct{}{}
			select {
			case <-hold:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	}}
	s := serveHTTP(t, options(r), mcp.HTTPOptions{})
	ask := fronttest.Call("1", "agent_status", `{"task_id":"`+fronttest.NoTask+`"}`)
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.at+"/mcp", strings.NewReader(ask))
	require.NoError(t, err)
	for k, v := range headers(ask) {
		req.Header.Set(k, v)
	}
	gone := make(chan error, 1)
	go func() {
		_, err := http.DefaultClient.Do(req) //nolint:bodyclose // it fails
		gone <- err
	}()
	<-begun
	answered := make(chan []string, 1)
	go func() { _, _, all := s.post(ask, nil); answered <- all }()
	<-begun
	cancel()
	require.Error(t, <-gone)
	status, _, _ := s.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, nil)
	require.Equal(t, 202, status)
	close(hold)
	assert.Contains(t, (<-answered)[0], "status.unknown_task")
}

// Stopping answers what is in flight and ends.
func TestServeHTTP_GracefulStop(t *testing.T) {
	begun, hold := make(chan struct{}), make(chan struct{})
	r := &fronttest.Runner{Before: func(_ context.Context, call string) error {
		if call == "status" {
			close(begun)
			<-hold
		}
		return nil
	}}
	s := serveHTTP(t, options(r), mcp.HTTPOptions{})
	answered := make(chan []string, 1)
	go func() {
		_, _, all := s.post(fronttest.Call("1", "agent_status", `{"task_id":"`+fronttest.NoTask+`"}`), nil)
		answered <- all
	}()
	<-begun
	s.end()
	close(hold)
	assert.Len(t, <-answered, 1)
	<-s.done
	_, err := net.Dial("tcp", s.at)
	require.Error(t, err)
}

// Slow, silent, half-closed and greedy clients hold up nobody: a good client is served meanwhile, and the bad ones are cut off.
func TestServeHTTP_HostilePeers(t *testing.T) {
	o := options(&fronttest.Runner{})
	o.Limits.HeldBytes = 1 << 20
	s := serveHTTP(t, o, mcp.HTTPOptions{HeaderTimeout: 300 * time.Millisecond, BodyTimeout: 300 * time.Millisecond, WriteTimeout: 300 * time.Millisecond, IdleTimeout: 300 * time.Millisecond, Connections: 40})
	good := fronttest.Request("7", "tools/list", fronttest.Meta)
	const head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
	for name, text := range map[string]string{
		"half a head": "POST /mcp HT", "head without an end": head, "endless head": head + strings.Repeat("X: y\r\n", 20_000), "no body": head + "Content-Length: 10\r\n\r\n",
		"half a body": head + "Content-Length: 100000\r\n\r\n" + strings.Repeat(" ", 70_000), "half a chunk": head + "Transfer-Encoding: chunked\r\n\r\nff\r\n{",
		"two lengths": head + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}", "length and chunks": head + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"garbage": "\x16\x03\x01\x02\x00", "nothing": "", "old HTTP": "POST /mcp HTTP/0.9\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			var bad []net.Conn
			for range 8 {
				c, err := net.Dial("tcp", s.at)
				require.NoError(t, err)
				_, _ = io.WriteString(c, text)
				bad = append(bad, c)
			}
			status, _, _ := s.post(good, nil)
			assert.Equal(t, 200, status)
			for _, c := range bad {
				if name == "half a body" || name == "no body" {
					require.NoError(t, c.(*net.TCPConn).CloseWrite())
				}
				require.NoError(t, c.SetReadDeadline(time.Now().Add(30*time.Second)))
				_, err := io.Copy(io.Discard, c)
				require.NotErrorIs(t, err, context.DeadlineExceeded)
				if nerr, ok := err.(net.Error); ok { //nolint:errorlint // the type itself
					assert.False(t, nerr.Timeout(), "it was not cut off")
				}
				_ = c.Close()
			}
		})
	}
	t.Run("too many large bodies at once", func(t *testing.T) {
		var all []net.Conn
		for range 20 {
			c, err := net.Dial("tcp", s.at)
			require.NoError(t, err)
			_, _ = io.WriteString(c, head+"Content-Length: 400000\r\n\r\n"+strings.Repeat(" ", 300_000))
			all = append(all, c)
		}
		status, _, _ := s.post(good, nil)
		assert.Equal(t, 200, status)
		for _, c := range all {
			_ = c.Close()
		}
		require.Eventually(t, func() bool {
			res, err := http.Post("http://"+s.at+"/mcp", "application/json", strings.NewReader(strings.Repeat(" ", 300_000)+fronttest.Request("7", "tools/list", "")))
			if err != nil {
				return false
			}
			defer func() { _ = res.Body.Close() }()
			return res.StatusCode == http.StatusOK
		}, 20*time.Second, 50*time.Millisecond, "what they held is given back")
	})
	t.Run("a client that never reads", func(t *testing.T) {
		c, err := net.Dial("tcp", s.at)
		require.NoError(t, err)
		defer func() { _ = c.Close() }()
		_ = c.(*net.TCPConn).SetReadBuffer(1024)
		ask := fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", head, len(fronttest.Request("7", "tools/list", "")), fronttest.Request("7", "tools/list", ""))
		_ = c.SetWriteDeadline(time.Now().Add(3 * time.Second))
		for range 20_000 { // pipelined, never read
			if _, err := io.WriteString(c, ask); err != nil {
				break
			}
		}
		status, _, _ := s.post(good, nil)
		assert.Equal(t, 200, status)
	})
}

// 10,000 requests from 100 connections are all answered, whatever else goes on.
func TestServeHTTP_ManyRequests(t *testing.T) {
	s := serveHTTP(t, options(&fronttest.Runner{}), mcp.HTTPOptions{Connections: 128})
	clients, each := 100, 100
	if testing.Short() {
		each = 10
	}
	failed := make(chan error, clients)
	for range clients {
		go func() {
			failed <- func() error {
				client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1}}
				defer client.CloseIdleConnections()
				for range each {
					res, err := client.Post("http://"+s.at+"/mcp", "application/json", bytes.NewReader([]byte(fronttest.Request("7", "ping", ""))))
					if err != nil {
						return err
					}
					body, err := io.ReadAll(res.Body)
					_ = res.Body.Close()
					if err != nil || string(body) != `{"jsonrpc":"2.0","id":7,"result":{}}`+"\n" {
						return fmt.Errorf("%s %w", body, err)
					}
				}
				return nil
			}()
		}()
	}
	for range clients {
		require.NoError(t, <-failed)
	}
}

// Where there is no room, connections without a request make some, with the timeouts that users have.
func TestServeHTTP_SilentConnectionsMakeRoom(t *testing.T) {
	s := serveHTTP(t, options(&fronttest.Runner{}), mcp.HTTPOptions{Connections: 8})
	for i := range 40 {
		c, err := net.Dial("tcp", s.at)
		require.NoError(t, err)
		defer func() { _ = c.Close() }()
		if i == 0 {
			ask := fronttest.Request("7", "ping", "")
			_, err = fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(ask), ask)
			require.NoError(t, err)
		}
	}
	status, _, _ := s.post(fronttest.Request("7", "tools/list", fronttest.Meta), nil)
	assert.Equal(t, http.StatusOK, status)
}
