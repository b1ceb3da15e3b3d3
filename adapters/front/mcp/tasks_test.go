package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
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
	"github.com/agent-mcp/agent-mcp/ports/mcptask"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// following are options of a server that serves the Tasks extension.
func following(r service.Runner, store mcptask.Store, server string) mcp.Options {
	o := options(r)
	o.Tasks = &mcp.TaskOptions{Store: store, Server: server, TTL: time.Hour, PollInterval: 1500 * time.Millisecond}
	return o
}

func taskCall(id, arguments, more string) string {
	return fronttest.Request(id, "tools/call", `"name":"agent_run","arguments":`+arguments+`,`+strings.Replace(fronttest.TasksMeta, `{"io.`, `{`+more+`"io.`, 1))
}

func about(method, id, more string) string {
	return fronttest.Request("5", method, `"taskId":"`+id+`"`+more+`,`+fronttest.TasksMeta)
}

// flat is a Task on the wire.
type flat struct {
	ResultType, TaskID, Status, StatusMessage, CreatedAt, LastUpdatedAt string
	TTLMs                                                               *int64
	PollIntervalMs                                                      int64
	Result                                                              map[string]any
	Error                                                               *struct {
		Code    int
		Message string
		Data    map[string]string
	}
	Task, Content, RequestState, InputRequests any
}

func flatOf(t *testing.T, a fronttest.Answer) (f flat) {
	t.Helper()
	require.Nil(t, a.Error, "%+v", a.Error)
	require.NoError(t, json.Unmarshal(a.Result, &f))
	return f
}

// MCP-2026-04..06: a client that declares the extension gets one flat Task, which is the Agent Task; its states map one to one.
func TestTasks_Life(t *testing.T) {
	r := &fronttest.Runner{}
	s := open(t, following(r, mem.New(), ""))
	for _, c := range []struct {
		state  service.State
		status string
	}{{service.Completed, "completed"}, {service.Failed, "failed"}, {service.Cancelled, "cancelled"}} {
		f := flatOf(t, s.ask(taskCall("1", `{"request":"x"}`, "")))
		assert.Equal(t, []string{"task", "working"}, []string{f.ResultType, f.Status})
		assert.NotEmpty(t, f.StatusMessage)
		assert.Nil(t, f.Task)
		assert.Nil(t, f.Content)
		assert.Nil(t, f.Result)
		require.NotNil(t, f.TTLMs)
		assert.GreaterOrEqual(t, *f.TTLMs, time.Hour.Milliseconds())
		assert.EqualValues(t, 1500, f.PollIntervalMs)
		for _, at := range []string{f.CreatedAt, f.LastUpdatedAt} {
			_, err := time.Parse("2006-01-02T15:04:05.000Z", at)
			assert.NoError(t, err)
		}
		got := flatOf(t, s.ask(about("tasks/get", f.TaskID, "")))
		assert.Equal(t, []string{"complete", f.TaskID, "working"}, []string{got.ResultType, got.TaskID, got.Status})
		assert.Contains(t, s.ask(fronttest.Call("2", "agent_status", `{"task_id":"`+f.TaskID+`"}`)).Text, f.TaskID, "the same work, MCP-2026-05")

		r.Set(f.TaskID, c.state, "the answer")
		got = flatOf(t, s.ask(about("tasks/get", f.TaskID, "")))
		assert.Equal(t, c.status, got.Status)
		assert.Nil(t, got.RequestState)
		switch c.status {
		case "completed":
			assert.Equal(t, "complete", got.Result["resultType"])
			assert.Contains(t, fmt.Sprint(got.Result["content"]), "the answer")
			assert.Nil(t, got.Error)
		case "failed":
			require.NotNil(t, got.Error)
			assert.Equal(t, -32603, got.Error.Code)
			assert.Contains(t, got.Error.Data, "code")
			assert.Contains(t, got.Error.Data["status_text"], f.TaskID)
			assert.Nil(t, got.Result)
		default:
			assert.Nil(t, got.Error)
			assert.Nil(t, got.Result)
		}
		for _, method := range []string{"tasks/cancel", "tasks/cancel", "tasks/update"} { // final states never change
			a := s.ask(about(method, f.TaskID, `,"inputResponses":{"x":1}`))
			require.Nil(t, a.Error)
			assert.JSONEq(t, `{"resultType":"complete"}`, string(a.Result))
		}
		assert.Equal(t, c.status, flatOf(t, s.ask(about("tasks/get", f.TaskID, ""))).Status)
	}
}

// The extension exists only for who declares it with this very request.
func TestTasks_OnlyForThoseWhoDeclareThem(t *testing.T) {
	s := open(t, following(&fronttest.Runner{}, mem.New(), ""))
	assert.Contains(t, string(s.ask(fronttest.Request("1", "server/discover", fronttest.Meta)).Result), `"extensions":{"io.modelcontextprotocol/tasks":{}}`)
	assert.NotContains(t, string(s.ask(fronttest.Request("1", "initialize", `"protocolVersion":"2025-11-25"`)).Result), "tasks")
	for _, send := range []string{
		fronttest.Call("1", "agent_run", `{"request":"x"}`), fronttest.Request("1", "tools/call", `"name":"agent_run","arguments":{"request":"x"}`),
		strings.Replace(taskCall("1", `{"request":"x"}`, ""), "2026-07-28", "2025-11-25", 1),
		fronttest.Request("1", "tools/call", `"name":"agent_run","arguments":{"request":"x"},"task":{"ttl":60000},`+fronttest.Meta),
	} {
		a := s.ask(send)
		assert.NotContains(t, string(a.Result), `"taskId"`)
		assert.Contains(t, a.Text, "Task ID: ")
	}
	id := flatOf(t, s.ask(taskCall("1", `{"request":"x"}`, ""))).TaskID
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		a := s.ask(strings.Replace(about(method, id, ""), fronttest.TasksMeta, fronttest.Meta, 1))
		require.NotNil(t, a.Error)
		assert.Equal(t, -32021, a.Error.Code)
		assert.JSONEq(t, `{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`, string(a.Error.Data))
		for _, unknown := range []string{fronttest.NoTask, "", "../x", strings.Repeat("x", 5000)} {
			a := s.ask(about(method, unknown, `,"inputResponses":{}`))
			require.NotNil(t, a.Error, unknown)
			assert.Equal(t, -32602, a.Error.Code)
		}
	}
	for _, method := range []string{"tasks/list", "tasks/result", "tasks/no"} {
		assert.Equal(t, -32601, s.ask(about(method, id, "")).Error.Code)
	}
	for _, params := range []string{`"taskId":7`, `"taskid":"` + id + `"`, `"taskId":null`} {
		assert.Equal(t, -32602, s.ask(fronttest.Request("5", "tasks/get", params+","+fronttest.TasksMeta)).Error.Code, params)
	}
	assert.Equal(t, -32602, s.ask(about("tasks/update", id, `,"inputResponses":[1]`)).Error.Code)
	assert.NotNil(t, s.ask(fronttest.Call("9", "agent_run", `{}`)), "a refused run is a result")
	refused := s.ask(taskCall("9", `{"request":""}`, ""))
	assert.True(t, refused.IsError)
	assert.NotContains(t, string(refused.Result), "taskId")
}

// MCP-2026-07: what was finished can be asked for after a restart, what was not has failed with server_restarted, and no work is
// resumed.
func TestTasks_Restart(t *testing.T) {
	disk := &mem.Disk{}
	r := &fronttest.Runner{}
	first := disk.Open("one")
	s := open(t, following(r, first, "one"))
	done := flatOf(t, s.ask(taskCall("1", `{"request":"x"}`, "")))
	lost := flatOf(t, s.ask(taskCall("2", `{"request":"y"}`, `"agent-mcp/idempotencyKey":"k",`)))
	r.Set(done.TaskID, service.Completed, "the answer")
	require.Equal(t, "completed", flatOf(t, s.ask(about("tasks/get", done.TaskID, ""))).Status)

	beside := open(t, following(&fronttest.Runner{}, disk.Open("beside"), "beside"))
	assert.Equal(t, -32602, beside.ask(about("tasks/get", lost.TaskID, "")).Error.Code, "another server lives")

	require.NoError(t, first.Close()) // as a crash does
	again := &fronttest.Runner{}
	s2 := open(t, following(again, disk.Open("two"), "two"))
	got := flatOf(t, s2.ask(about("tasks/get", done.TaskID, "")))
	assert.Equal(t, "completed", got.Status)
	assert.Contains(t, fmt.Sprint(got.Result), "the answer")
	for range 2 {
		got = flatOf(t, s2.ask(about("tasks/get", lost.TaskID, "")))
		assert.Equal(t, "failed", got.Status)
		assert.Equal(t, "server_restarted", got.Error.Data["code"])
		assert.Equal(t, -32603, got.Error.Code)
		assert.Contains(t, got.Error.Message, "mcp.server_restarted")
		require.Nil(t, s2.ask(about("tasks/cancel", lost.TaskID, "")).Error)
	}
	retried := flatOf(t, s2.ask(taskCall("3", `{"request":"y"}`, `"agent-mcp/idempotencyKey":"k",`)))
	assert.Equal(t, []string{lost.TaskID, "failed"}, []string{retried.TaskID, retried.Status}, "a retry does not start it again")
	_, err := again.Status(context.Background(), lost.TaskID, "")
	assert.Equal(t, service.CodeUnknownTask, fault.CodeOf(err))
}

// A retry with the same key gets the same Task, in every form of answer, also while the first is not answered yet; with other
// arguments it is refused; a key that is none is refused.
func TestTasks_Idempotency(t *testing.T) {
	for _, transport := range []string{"stdio", "HTTP"} {
		t.Run(transport, func(t *testing.T) {
			r := &fronttest.Runner{}
			o := following(r, mem.New(), "")
			var ask func(string) fronttest.Answer
			if transport == "HTTP" {
				s := serveHTTP(t, o, mcp.HTTPOptions{})
				ask = func(m string) fronttest.Answer {
					_, _, all := s.post(m, nil)
					require.Len(t, all, 1)
					return fronttest.Decode(t, all[0])
				}
			} else {
				ask = open(t, o).ask
			}
			key := `"agent-mcp/idempotencyKey":"retry-1",`
			first := flatOf(t, ask(taskCall("1", `{"request":"x","temperature":0.5}`, key)))
			assert.Equal(t, first.TaskID, flatOf(t, ask(taskCall("2", `{"temperature":0.5, "request":"\u0078"}`, key))).TaskID, "written otherwise")
			plain := ask(fronttest.Request("3", "tools/call", `"name":"agent_run","arguments":{"request":"x","temperature":0.5},`+strings.Replace(fronttest.Meta, `{"io.`, `{`+key+`"io.`, 1)))
			assert.Contains(t, plain.Text, first.TaskID)
			legacy := ask(fronttest.Request("4", "tools/call", `"name":"agent_run","arguments":{"request":"x","temperature":0.5},"_meta":{`+strings.TrimSuffix(key, ",")+`}`))
			assert.Contains(t, legacy.Text, first.TaskID)
			other := ask(taskCall("5", `{"request":"y"}`, key))
			assert.True(t, other.IsError)
			assert.Contains(t, other.Text, "mcp.idempotency task="+first.TaskID)
			assert.NotEqual(t, first.TaskID, flatOf(t, ask(taskCall("6", `{"request":"x","temperature":0.5}`, ""))).TaskID, "no key, no promise")
			refused := ask(taskCall("7", `{"request":""}`, `"agent-mcp/idempotencyKey":"other",`))
			assert.True(t, refused.IsError)
			assert.Equal(t, "working", flatOf(t, ask(taskCall("8", `{"request":"now it is right"}`, `"agent-mcp/idempotencyKey":"other",`))).Status, "a refused request holds no key")
			for _, bad := range []string{`7`, `""`, `null`, `"` + strings.Repeat("k", 257) + `"`, `"\ud800"`} {
				a := ask(taskCall("9", `{"request":"x"}`, `"agent-mcp/idempotencyKey":`+bad+`,`))
				require.NotNil(t, a.Error, bad)
				assert.Equal(t, -32602, a.Error.Code)
			}
		})
	}
}

// Two requests with one key at the same moment start one Task.
func TestTasks_IdempotencyAtOnce(t *testing.T) {
	r := &fronttest.Runner{}
	s := serveHTTP(t, following(r, mem.New(), ""), mcp.HTTPOptions{})
	var all sync.WaitGroup
	var mu sync.Mutex
	ids := map[string]int{}
	for i := range 16 {
		all.Go(func() {
			_, _, got := s.post(taskCall(fmt.Sprint(i), `{"request":"x"}`, `"agent-mcp/idempotencyKey":"one",`), nil)
			mu.Lock()
			defer mu.Unlock()
			var f struct{ Result flat }
			if assert.NoError(t, json.Unmarshal([]byte(got[0]), &f)) {
				ids[f.Result.TaskID]++
			}
		})
	}
	all.Wait()
	require.Len(t, ids, 1, ids)
}

// Two piped requests with one key are one Task, however they are scheduled.
func TestTasks_IdempotencyPiped(t *testing.T) {
	for range 100 {
		r := &fronttest.Runner{}
		var in strings.Builder
		for i := range 4 {
			in.WriteString(taskCall(fmt.Sprint(i), `{"request":"x"}`, `"agent-mcp/idempotencyKey":"one",`) + "\n")
		}
		ids := map[string]int{}
		for _, line := range piped(t, following(r, mem.New(), ""), in.String()) {
			ids[flatOf(t, fronttest.Decode(t, line)).TaskID]++
		}
		require.Len(t, ids, 1)
		for _, n := range ids {
			require.Equal(t, 4, n)
		}
	}
}

// Cancel and the end of the work race a thousand times: the final state that a client has seen stays.
func TestTasks_CancelRace(t *testing.T) {
	rounds := 1000
	if testing.Short() {
		rounds = 100
	}
	r := &fronttest.Runner{}
	s := open(t, following(r, mem.New(), ""))
	for i := range rounds {
		f := flatOf(t, s.ask(taskCall("1", `{"request":"x"}`, "")))
		var race sync.WaitGroup
		race.Go(func() { r.Set(f.TaskID, service.Completed, "done") })
		require.Nil(t, s.ask(about("tasks/cancel", f.TaskID, "")).Error)
		race.Wait()
		got := flatOf(t, s.ask(about("tasks/get", f.TaskID, "")))
		require.Contains(t, []string{"completed", "cancelled"}, got.Status, i)
		r.Set(f.TaskID, service.Failed, "later")
		require.Equal(t, got.Status, flatOf(t, s.ask(about("tasks/get", f.TaskID, ""))).Status)
	}
}

// A Task over HTTP outlives its client's connection; over stdio it ends with its client (REC-04).
func TestTasks_Ownership(t *testing.T) {
	r := &fronttest.Runner{}
	store := mem.New()
	web := serveHTTP(t, following(r, store, ""), mcp.HTTPOptions{})
	_, _, all := web.post(taskCall("1", `{"request":"x"}`, ""), nil)
	id := flatOf(t, fronttest.Decode(t, all[0])).TaskID
	web.end()
	<-web.done
	st, err := r.Status(context.Background(), id, "")
	require.NoError(t, err)
	assert.False(t, st.State.Final())
	assert.Empty(t, r.Released())

	s := open(t, following(r, mem.New(), ""))
	mine := flatOf(t, s.ask(taskCall("1", `{"request":"x"}`, ""))).TaskID
	s.finish()
	st, err = r.Status(context.Background(), mine, "")
	require.NoError(t, err)
	assert.Equal(t, service.Cancelled, st.State)
}

// A store that cannot write refuses the request, and the Task that was begun is cancelled: nobody could follow it.
func TestTasks_StoreFails(t *testing.T) {
	r := &fronttest.Runner{}
	store := &broken{Store: mem.New()}
	s := open(t, following(r, store, ""))
	store.fail.Store(true)
	a := s.ask(taskCall("1", `{"request":"x"}`, ""))
	require.True(t, a.IsError)
	assert.Contains(t, a.Text, "mcptask.failed")
	st, err := r.Status(context.Background(), "00000000-0000-4000-8000-000000000001", "")
	require.NoError(t, err)
	assert.Equal(t, service.Cancelled, st.State)

	store.fail.Store(false)
	id := flatOf(t, s.ask(taskCall("1", `{"request":"x"}`, ""))).TaskID
	store.fail.Store(true)
	r.Set(id, service.Completed, "the answer")
	got := flatOf(t, s.ask(about("tasks/get", id, "")))
	assert.Equal(t, "completed", got.Status, "answered from memory while the disk is full")
	assert.Contains(t, fmt.Sprint(got.Result), "the answer")
	_, err = mcp.New(following(r, store, ""))
	assert.Equal(t, mcptask.CodeFailed, fault.CodeOf(err))
}

type broken struct {
	mcptask.Store
	fail atomic.Bool
}

func (b *broken) Put(ctx context.Context, r mcptask.Record) error {
	if b.fail.Load() {
		return fault.Wrap(errors.New("full"), mcptask.CodeFailed, "path", "p", "detail", "full")
	}
	return b.Store.Put(ctx, r)
}

func (b *broken) List(ctx context.Context) ([]mcptask.Head, error) {
	if b.fail.Load() {
		return nil, fault.New(mcptask.CodeFailed, "path", "p", "detail", "full")
	}
	return b.Store.List(ctx)
}

// A client that listens hears how its Tasks stand, and each change, until they are over; then the request is answered.
func TestTasks_Listen(t *testing.T) {
	r := &fronttest.Runner{}
	s := serveHTTP(t, following(r, mem.New(), ""), mcp.HTTPOptions{})
	_, _, all := s.post(taskCall("1", `{"request":"x"}`, ""), nil)
	id := flatOf(t, fronttest.Decode(t, all[0])).TaskID
	listen := fronttest.Request("77", "subscriptions/listen", `"notifications":{"taskIds":["`+id+`","`+fronttest.NoTask+`"]},`+fronttest.TasksMeta)
	req, err := http.NewRequest(http.MethodPost, "http://"+s.at+"/mcp", strings.NewReader(listen))
	require.NoError(t, err)
	for k, v := range headers(listen) {
		req.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	require.Equal(t, "text/event-stream", res.Header.Get("Content-Type"))
	lines := bufio.NewScanner(res.Body)
	next := func() (m struct {
		ID     json.RawMessage
		Method string
		Params struct {
			flat
			Meta          map[string]any `json:"_meta"`
			Notifications struct{ TaskIDs []string }
		}
	},
	) {
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				require.NoError(t, json.Unmarshal([]byte(data), &m))
				return m
			}
		}
		t.Fatal("the stream ended")
		return m
	}
	ack := next()
	assert.Equal(t, "notifications/subscriptions/acknowledged", ack.Method)
	assert.Equal(t, []string{id}, ack.Params.Notifications.TaskIDs, "what is unknown is left out")
	first := next()
	assert.Equal(t, "notifications/tasks", first.Method)
	assert.Equal(t, []string{id, "working", ""}, []string{first.Params.TaskID, first.Params.Status, first.Params.ResultType})
	assert.EqualValues(t, 77, first.Params.Meta["io.modelcontextprotocol/subscriptionId"])
	r.Set(id, service.Completed, "the answer")
	last := next()
	for last.Params.Status == "working" {
		last = next()
	}
	assert.Equal(t, "completed", last.Params.Status)
	assert.Contains(t, fmt.Sprint(last.Params.Result), "the answer")
	assert.Equal(t, "77", string(next().ID))
	assert.False(t, lines.Scan() && lines.Text() != "", "the stream is over")
}

// Over stdio a subscription can be cancelled, is not answered then, and holds up neither other requests nor the end of the input.
func TestTasks_ListenOverStdio(t *testing.T) {
	r := &fronttest.Runner{}
	s := open(t, following(r, mem.New(), ""))
	id := flatOf(t, s.ask(taskCall("1", `{"request":"x"}`, ""))).TaskID
	listen := func(n string) string {
		return fronttest.Request(n, "subscriptions/listen", `"notifications":{"taskIds":["`+id+`"]},`+fronttest.TasksMeta)
	}
	next := func() string {
		require.True(t, s.lines.Scan())
		return s.lines.Text()
	}
	s.send(listen("8"))
	assert.Contains(t, next(), "acknowledged")
	assert.Contains(t, next(), `"notifications/tasks"`)
	s.send(cancelled("8"))
	s.sync()
	s.send(listen("9"))
	assert.Contains(t, next(), "acknowledged")
	assert.Contains(t, next(), `"notifications/tasks"`)
	rest := s.finish()
	require.LessOrEqual(t, len(rest), 2)
	assert.Equal(t, mcp.EndInput, s.end)
}
