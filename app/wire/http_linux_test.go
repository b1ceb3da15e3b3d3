package wire

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/model/scripted"
	"github.com/agent-mcp/agent-mcp/ports/model"
)

// webClient talks to the real program over HTTP.
type webClient struct {
	t   *testing.T
	url string
	cmd *exec.Cmd
}

// startHTTP runs the real program and returns when it says that it is ready (OBS-02); the rest of what it said is thrown away.
func startHTTP(t *testing.T, exe, config, url string) *webClient {
	t.Helper()
	w := &webClient{t: t, url: url, cmd: exec.Command(exe, config)}
	errs, err := w.cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, w.cmd.Start())
	t.Cleanup(func() { _ = w.cmd.Process.Kill(); _ = w.cmd.Wait() })
	said := bufio.NewReader(errs)
	for {
		line, err := said.ReadString('\n')
		require.NoError(t, err, line)
		if strings.Contains(line, url) {
			assert.Contains(t, line, "2026-07-28")
			assert.Contains(t, line, fmt.Sprint("PID ", w.cmd.Process.Pid))
			assert.Contains(t, line, "app.log")
			break
		}
	}
	go func() { _, _ = io.Copy(io.Discard, said) }()
	return w
}

// ask sends a request of a client with the Tasks extension and returns its result, or its error.
func (w *webClient) ask(method, params, name string) map[string]any {
	w.t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"agent-mcp/idempotencyKey":"key","io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}`
	req, err := http.NewRequest(http.MethodPost, w.url, strings.NewReader(body))
	require.NoError(w.t, err)
	for k, v := range map[string]string{"Content-Type": "application/json", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name} {
		req.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(w.t, err)
	defer func() { _ = res.Body.Close() }()
	var a struct{ Result, Error map[string]any }
	require.NoError(w.t, json.NewDecoder(res.Body).Decode(&a))
	if a.Error != nil {
		return a.Error
	}
	return a.Result
}

// MCP-TR-02, MCP-2026-04..07, MCP-ASY-01: the real program over HTTP. A Task outlives its client; a killed server's Task has failed
// after the restart, is not started again by a retry, and new work can be done; a stopped one's is cancelled.
func TestServe_HTTP(t *testing.T) {
	listen, urls := freePorts(t)
	hold, stuck := make(chan struct{}), make(chan struct{}, 10)
	p := newPlace(t, fmt.Sprintf("mcp: {transport: http, http: {listen: [%q, %q]}}\n", listen[0], listen[1]),
		scripted.Step{Times: scripted.Forever, Do: func(model.Request) scripted.Turn {
			stuck <- struct{}{}
			<-hold
			return scripted.Say("too late")
		}})
	t.Cleanup(func() { close(hold) })
	p.apply(t)
	exe := binary(t)
	run := `"name":"agent_run","arguments":{"request":"work"}`

	first := startHTTP(t, exe, p.config, urls[0])
	task := first.ask("tools/call", run, "agent_run")
	id, ok := task["taskId"].(string)
	require.True(t, ok, task)
	<-stuck
	second := &webClient{t: t, url: urls[1]}
	require.Equal(t, "working", second.ask("tasks/get", `"taskId":"`+id+`"`, id)["status"], "another client, over IPv6")
	require.Equal(t, id, second.ask("tools/call", run, "agent_run")["taskId"], "a retry")
	busy, err := exec.Command(exe, p.config).CombinedOutput()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, 2, exit.ExitCode())
	require.Contains(t, string(busy), listen[0])
	require.NoError(t, first.cmd.Process.Kill())
	_ = first.cmd.Wait()

	again := startHTTP(t, exe, p.config, urls[0])
	got := again.ask("tasks/get", `"taskId":"`+id+`"`, id)
	require.Equal(t, "failed", got["status"], got)
	require.Contains(t, fmt.Sprint(got["error"]), "server_restarted")
	require.Equal(t, id, again.ask("tools/call", run, "agent_run")["taskId"], "a retry after the crash")
	next := again.ask("tools/call", strings.Replace(run, "work", "other work", 1), "agent_run")
	require.Contains(t, fmt.Sprint(next), "mcp.idempotency")

	require.NoError(t, again.cmd.Process.Signal(os.Interrupt))
	_ = again.cmd.Wait()
	require.Equal(t, 130, again.cmd.ProcessState.ExitCode())
	kept, err := filepath.Glob(filepath.Join(p.dir, "state", "tasks", "*", "*"))
	require.NoError(t, err)
	require.Len(t, kept, 1, "one record, no lock")
	log, err := os.ReadFile(filepath.Join(p.dir, "state", "logs", "http.jsonl"))
	require.NoError(t, err)
	require.Contains(t, string(log), `"tasks/get"`)
	require.NotContains(t, string(log), "other work")
}

// A stop while a Task is at work cancels it, and the record says so after the restart.
func TestServe_HTTPStop(t *testing.T) {
	listen, urls := freePorts(t)
	hold, stuck := make(chan struct{}), make(chan struct{}, 10)
	p := newPlace(t, fmt.Sprintf("mcp: {transport: http, http: {listen: [%q]}}\n", listen[0]),
		scripted.Step{Times: scripted.Forever, Do: func(model.Request) scripted.Turn {
			stuck <- struct{}{}
			<-hold
			return scripted.Say("too late")
		}})
	t.Cleanup(func() { close(hold) })
	p.apply(t)
	exe := binary(t)
	w := startHTTP(t, exe, p.config, urls[0])
	id, ok := w.ask("tools/call", `"name":"agent_run","arguments":{"request":"work"}`, "agent_run")["taskId"].(string)
	require.True(t, ok)
	<-stuck
	idle, err := net.Dial("tcp", listen[0]) // nobody who only sits there holds up the stop
	require.NoError(t, err)
	defer func() { _ = idle.Close() }()
	begun := time.Now()
	require.NoError(t, w.cmd.Process.Signal(os.Interrupt))
	_ = w.cmd.Wait()
	t.Log("stopped in", time.Since(begun))
	w = startHTTP(t, exe, p.config, urls[0])
	require.Equal(t, "cancelled", w.ask("tasks/get", `"taskId":"`+id+`"`, id)["status"])
}

// Whatever is sent at once, the server holds at most 64 MiB more than idle, and serves a good client meanwhile.
func TestServe_HTTPMemory(t *testing.T) {
	listen, urls := freePorts(t)
	p := newPlace(t, fmt.Sprintf("mcp: {transport: http, http: {listen: [%q]}}\n", listen[0]))
	p.apply(t)
	w := startHTTP(t, binary(t), p.config, urls[0])
	idle := resident(t, w.cmd.Process.Pid)
	flood := strings.NewReplacer("\n", "\r\n").Replace("POST /mcp HTTP/1.1\nHost: localhost\nContent-Type: application/json\nContent-Length: 31000000\n\n")
	piece, stop := strings.Repeat(" ", 1<<20), make(chan struct{})
	var all sync.WaitGroup
	for range 24 {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				c, err := net.Dial("tcp", listen[0])
				if err != nil {
					continue
				}
				_ = c.SetDeadline(time.Now().Add(10 * time.Second))
				_, err = io.WriteString(c, flood)
				for i := 0; i < 28 && err == nil; i++ {
					_, err = io.WriteString(c, piece)
				}
				_ = c.Close() // half a message
			}
		})
	}
	most := 0
	for range 60 {
		require.Contains(t, fmt.Sprint(w.ask("tools/list", `"x":1`, "")), "agent_run")
		most = max(most, resident(t, w.cmd.Process.Pid))
	}
	close(stop)
	all.Wait()
	t.Logf("%d KiB idle, %d KiB at most", idle, most)
	require.LessOrEqual(t, most-idle, 64<<10)
}

// resident is the memory of a process in KiB, proc_pid_status(5).
func resident(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(t, err)
	for l := range strings.Lines(string(text)) {
		if f := strings.Fields(l); len(f) == 3 && f[0] == "VmRSS:" {
			n, err := strconv.Atoi(f[1])
			require.NoError(t, err)
			return n
		}
	}
	t.Fatal("no VmRSS")
	return 0
}
