package mcp_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/front/mcp"
	"github.com/agent-mcp/agent-mcp/adapters/mcptask/mem"
	"github.com/agent-mcp/agent-mcp/conformance/fronttest"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

const postHead = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"

func (s *site) dial(t *testing.T) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.at)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// With the timeouts that users have, a crowd of clients that do not go on makes room for one that does: long before those timeouts.
func TestServeHTTP_StandingConnectionsMakeRoom(t *testing.T) {
	ask := fronttest.Request("7", "tools/list", "")
	whole := fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", postHead, len(ask), ask)
	for name, c := range map[string]struct {
		text  string
		times int
	}{
		"half a head":    {"POST /mcp HT", 1},
		"no body":        {postHead + "Content-Length: 10\r\n\r\n", 1},
		"half a body":    {postHead + "Content-Length: 1000\r\n\r\n{", 1},
		"half a chunk":   {postHead + "Transfer-Encoding: chunked\r\n\r\nff\r\n{", 1},
		"a large body":   {postHead + "Content-Length: 9000000\r\n\r\n" + strings.Repeat(" ", 70_000), 1},
		"a refused body": {strings.Replace(postHead, "localhost", "evil.example", 1) + "Content-Length: 1000\r\n\r\n{", 1},
		"never read":     {whole, 3000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serveHTTP(t, options(&fronttest.Runner{}), mcp.HTTPOptions{Connections: 16})
			for range 40 {
				bad := s.dial(t)
				if c.times > 1 {
					_ = bad.(*net.TCPConn).SetReadBuffer(1024)
				}
				go func() {
					for range c.times {
						if _, err := io.WriteString(bad, c.text); err != nil {
							return
						}
					}
				}()
			}
			time.Sleep(50 * time.Millisecond) // they are there first
			began := time.Now()
			status, _, _ := s.post(fronttest.Request("7", "tools/list", fronttest.Meta), nil)
			assert.Equal(t, 200, status)
			assert.Less(t, time.Since(began), 20*time.Second, "the timeouts are 10 s for a head, 60 s for a body, 30 s for a write")
		})
	}
}

// A refused request is answered and ended at once, whatever it still owes.
func TestServeHTTP_RefusedIsNotWaitedFor(t *testing.T) {
	s := serveHTTP(t, options(&fronttest.Runner{}), mcp.HTTPOptions{BodyBytes: 100_000})
	for name, c := range map[string]struct {
		head   string
		status int
	}{
		"foreign host": {strings.Replace(postHead, "localhost", "evil.example", 1), 403},
		"foreign page": {postHead + "Origin: https://evil.example\r\n", 403},
		"no page":      {strings.Replace(postHead, "/mcp", "/x", 1), 404},
		"no post":      {strings.Replace(postHead, "POST", "PUT", 1), 405},
		"no JSON":      {strings.Replace(postHead, "application/json", "text/plain", 1), 415},
	} {
		for body, text := range map[string]string{"length": "Content-Length: 1000\r\n\r\n{", "chunks": "Transfer-Encoding: chunked\r\n\r\nff\r\n{"} {
			t.Run(name+", "+body, func(t *testing.T) {
				t.Parallel()
				began := time.Now()
				conn := s.dial(t)
				_, err := io.WriteString(conn, c.head+text)
				require.NoError(t, err)
				require.NoError(t, conn.SetReadDeadline(began.Add(20*time.Second)))
				in := bufio.NewReader(conn)
				res, err := http.ReadResponse(in, nil)
				require.NoError(t, err)
				assert.Equal(t, c.status, res.StatusCode)
				_, err = io.Copy(io.Discard, in)
				require.NoError(t, errors.Join(err, res.Body.Close()))
				assert.Less(t, time.Since(began), 15*time.Second, "it was waited for")
			})
		}
	}
	t.Run("too long", func(t *testing.T) {
		conn := s.dial(t)
		_, err := io.WriteString(conn, postHead+"Content-Length: 100001\r\n\r\n{")
		require.NoError(t, err)
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(20*time.Second)))
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		assert.Equal(t, 413, res.StatusCode)
		_ = res.Body.Close()
	})
	t.Run("without a body the connection stays", func(t *testing.T) {
		conn := s.dial(t)
		in := bufio.NewReader(conn)
		for range 3 {
			_, err := io.WriteString(conn, "GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n")
			require.NoError(t, err)
			res, err := http.ReadResponse(in, nil)
			require.NoError(t, err)
			assert.Equal(t, 405, res.StatusCode)
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
		}
	})
}

// counting counts the Tasks that were started.
type counting struct {
	*fronttest.Runner
	runs atomic.Int32
}

func (c *counting) Run(ctx context.Context, r service.RunRequest) (service.Accepted, error) {
	c.runs.Add(1)
	return c.Runner.Run(ctx, r)
}

// MCP-ASY-01: where no more answers by events can be open, a run that asks for progress is answered without it. Refusing it then would have
// its client start the work a second time.
func TestServeHTTP_NoStreamLeft(t *testing.T) {
	r := &counting{Runner: &fronttest.Runner{}}
	o := following(r, mem.New(), "")
	s := serveHTTP(t, o, mcp.HTTPOptions{Streams: 1})
	_, _, all := s.post(taskCall("1", `{"request":"x"}`, ""), nil)
	id := flatOf(t, fronttest.Decode(t, all[0])).TaskID

	listen := fronttest.Request("7", "subscriptions/listen", `"notifications":{"taskIds":["`+id+`"]},`+fronttest.TasksMeta)
	req, err := http.NewRequest(http.MethodPost, "http://"+s.at+"/mcp", strings.NewReader(listen))
	require.NoError(t, err)
	for k, v := range headers(listen) {
		req.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	_, err = bufio.NewReader(res.Body).ReadString('\n') // the one stream is open
	require.NoError(t, err)

	status, h, _ := s.post(listen, nil)
	assert.Equal(t, 503, status)
	assert.Equal(t, "5", h.Get("Retry-After"))
	status, _, all = s.post(strings.Replace(fronttest.Call("1", "agent_run", `{"request":"y"}`), `{"io.`, `{"progressToken":1,"io.`, 1), nil)
	assert.Equal(t, 200, status, all)
	require.Len(t, all, 1)
	assert.Contains(t, all[0], "Task ID: ")
	assert.EqualValues(t, 2, r.runs.Load())
}

// MCP-2026-05, MCP-2026-07: what tasks/get knows of a Task, agent_status knows, also after a restart.
func TestTasks_StatusAfterARestart(t *testing.T) {
	store, before := mem.New(), &fronttest.Runner{}
	s := open(t, following(before, store, "old"))
	ids := map[service.State]string{}
	for _, state := range []service.State{service.Completed, service.Failed, ""} {
		ids[state] = flatOf(t, s.ask(taskCall("1", `{"request":"x"}`, ""))).TaskID
		if state != "" {
			before.Set(ids[state], state, "the answer")
			flatOf(t, s.ask(about("tasks/get", ids[state], "")))
		}
	}
	s.cancel()
	s = open(t, following(&fronttest.Runner{}, store, "new"))
	status := func(id, more string) fronttest.Answer {
		return s.ask(fronttest.Call("2", "agent_status", `{"task_id":"`+id+`"`+more+`}`))
	}
	assert.Contains(t, status(ids[service.Completed], "").Text, "the answer")
	assert.Contains(t, status(ids[service.Failed], "").Text, ids[service.Failed])
	assert.Contains(t, status(ids[""], "").Text, "mcp.server_restarted")
	wrong := status(ids[service.Completed], `,"session_id":"`+fronttest.NoTask+`"`)
	assert.Contains(t, wrong.Text, "status.wrong_session")
	assert.Contains(t, status(fronttest.NoTask, "").Text, "status.unknown_task")
}

// moody fails to say how a Task stands, with the error it is given.
type moody struct {
	*fronttest.Runner
	mu  sync.Mutex
	err error
}

func (m *moody) Status(ctx context.Context, task, session string) (service.Status, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return service.Status{}, m.err
	}
	return m.Runner.Status(ctx, task, session)
}

// Only a restart is told as one. A Task that cannot be looked at now is looked at again; one that nobody knows any more is told so.
func TestTasks_ALookThatFailsIsNoRestart(t *testing.T) {
	r := &moody{Runner: &fronttest.Runner{}}
	s := open(t, following(r, mem.New(), ""))
	id := flatOf(t, s.ask(taskCall("1", `{"request":"x"}`, ""))).TaskID
	set := func(err error) { r.mu.Lock(); r.err = err; r.mu.Unlock() }
	set(errors.New("no memory"))
	assert.Equal(t, "working", flatOf(t, s.ask(about("tasks/get", id, ""))).Status)
	set(nil)
	assert.Equal(t, "working", flatOf(t, s.ask(about("tasks/get", id, ""))).Status)
	set(fault.New(service.CodeUnknownTask, "task", id))
	f := flatOf(t, s.ask(about("tasks/get", id, "")))
	assert.Equal(t, "failed", f.Status)
	assert.Equal(t, "task_forgotten", f.Error.Data["code"])
}

// What a failed Task says is bounded like every other result.
func TestTasks_TheTextOfAFailureIsBounded(t *testing.T) {
	r := &fronttest.Runner{}
	o := following(r, mem.New(), "")
	o.Limits.ResultBytes = 5000
	s := open(t, o)
	id := flatOf(t, s.ask(taskCall("1", `{"request":"x"}`, ""))).TaskID
	r.Set(id, service.Failed, strings.Repeat("long ", 100_000))
	f := flatOf(t, s.ask(about("tasks/get", id, "")))
	require.Equal(t, "failed", f.Status)
	assert.Less(t, len(f.Error.Data["status_text"]), 6000)
	assert.Less(t, len(f.Error.Message), 6000)
}

// 10,000 clients at once, many more than connections can be open, are all answered; none has to wait for another one's patience to end.
func TestServeHTTP_TenThousandConnections(t *testing.T) {
	clients := 10_000
	if testing.Short() {
		clients = 1000
	}
	clients = min(clients, openFiles()/2-200) // this process holds both ends of each
	s := serveHTTP(t, options(&fronttest.Runner{}), mcp.HTTPOptions{Connections: 64})
	ask := fronttest.Request("7", "ping", "")
	whole := fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", postHead, len(ask), ask)
	failed := make(chan error, clients)
	for range clients {
		go func() {
			failed <- func() error {
				c, err := (&net.Dialer{Timeout: 60 * time.Second}).Dial("tcp", s.at)
				if err != nil {
					return err
				}
				defer func() { _ = c.Close() }()
				_ = c.SetDeadline(time.Now().Add(60 * time.Second))
				if _, err = io.WriteString(c, whole); err != nil {
					return err
				}
				res, err := http.ReadResponse(bufio.NewReader(c), nil)
				if err != nil {
					return err
				}
				defer func() { _ = res.Body.Close() }()
				body, err := io.ReadAll(res.Body)
				if err != nil || string(body) != `{"jsonrpc":"2.0","id":7,"result":{}}`+"\n" {
					return fmt.Errorf("%s %w", body, err)
				}
				return nil
			}()
		}()
	}
	for range clients {
		require.NoError(t, <-failed)
	}
	t.Logf("%d clients", clients)
}

// openFiles is how many files this process may have open; a careful guess where /proc does not tell.
func openFiles() int {
	text, err := os.ReadFile("/proc/self/limits")
	if err != nil {
		return 2000
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "Max open files"); ok {
			if n, err := strconv.Atoi(strings.Fields(rest)[0]); err == nil {
				return n
			}
		}
	}
	return 2000
}
