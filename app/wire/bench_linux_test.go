package wire

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agent-mcp/agent-mcp/adapters/model/scripted"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// process is the real program under measurement.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	url string // "" = stdio
	n   int
}

// program builds agent-mcp once and applies a configuration whose model only talks.
func program(b *testing.B, more string) (exe, config string) {
	b.Helper()
	return programWith(b, more, scripted.Say("An answer of a few words."))
}

func programWith(b *testing.B, more string, answer scripted.Turn) (exe, config string) {
	b.Helper()
	dir, err := filepath.EvalSymlinks(b.TempDir())
	must(b, err)
	exe = filepath.Join(dir, "agent-mcp")
	out, err := exec.Command("go", "build", "-o", exe, "github.com/agent-mcp/agent-mcp/cmd/agent-mcp").CombinedOutput()
	if err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	srv, err := scripted.NewServer(scripted.Script{Model: "m:latest", Steps: []scripted.Step{
		{When: planning, Times: scripted.Forever, Reply: onePlan(map[string]any{"kind": "none"})},
		{Times: scripted.Forever, Reply: answer},
	}})
	must(b, err)
	b.Cleanup(srv.Close)
	must(b, os.Mkdir(filepath.Join(dir, "ws"), 0o755))
	config = filepath.Join(dir, "agent.yaml")
	must(b, os.WriteFile(config, []byte(fmt.Sprintf(`schema_version: 2
application: {state_dir: ./state}
ollama: {base_url: %q, model: "m:latest"}
sandbox:
  workspace: ./ws
  execution: {entries: [{alias: sh, path: /bin/sh}]}
%s`, srv.URL, more)), 0o600))
	box := newSandbox()
	defer func() { _ = box.Close() }()
	_, err = Admin(Catalog, box, strings.NewReader(""), io.Discard, false).Apply(context.Background(), service.ApplyRequest{Path: config, Yes: true})
	must(b, err)
	return exe, config
}

func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// start runs the program over stdio and returns once it is ready, and how long that took.
func start(b *testing.B, exe, config string) (*process, time.Duration) {
	b.Helper()
	p, took := launch(b, exe, config, "")
	p.call(b, `"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"b","version":"1"}}`)
	return p, took
}

func launch(b *testing.B, exe, config, url string) (*process, time.Duration) {
	b.Helper()
	p := &process{cmd: exec.Command(exe, config), url: url}
	var err error
	p.in, err = p.cmd.StdinPipe()
	must(b, err)
	out, err := p.cmd.StdoutPipe()
	must(b, err)
	errs, err := p.cmd.StderrPipe()
	must(b, err)
	p.out = bufio.NewReader(out)
	at := time.Now()
	must(b, p.cmd.Start())
	lines := bufio.NewReader(errs)
	for {
		line, err := lines.ReadString('\n')
		must(b, err)
		if strings.Contains(line, "is ready") {
			break
		}
	}
	took := time.Since(at)
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	return p, took
}

func (p *process) call(b *testing.B, methodAndParams string) string {
	b.Helper()
	p.n++
	if p.url != "" {
		return p.post(b, methodAndParams)
	}
	_, err := io.WriteString(p.in, `{"jsonrpc":"2.0","id":`+strconv.Itoa(p.n)+`,"method":`+methodAndParams+"}\n")
	must(b, err)
	line, err := p.out.ReadString('\n')
	must(b, err)
	return line
}

// post is call over HTTP, for tools/call.
func (p *process) post(b *testing.B, methodAndParams string) string {
	b.Helper()
	asked := strings.Replace(methodAndParams, `"params":{`, `"params":{`+modern+`,`, 1)
	req, err := http.NewRequest(http.MethodPost, p.url, strings.NewReader(`{"jsonrpc":"2.0","id":`+strconv.Itoa(p.n)+`,"method":`+asked+"}"))
	must(b, err)
	name := "agent_run"
	if strings.Contains(asked, `"agent_status"`) {
		name = "agent_status"
	}
	for k, v := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": name,
	} {
		req.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(req)
	must(b, err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	must(b, err)
	return string(text)
}

const modern = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

func (p *process) run(b *testing.B) (id string, took time.Duration) {
	b.Helper()
	at := time.Now()
	line := p.call(b, `"tools/call","params":{"name":"agent_run","arguments":{"request":"say something"}}`)
	took = time.Since(at)
	i := strings.Index(line, "Task ID: ")
	if i < 0 {
		b.Fatal(line)
	}
	return line[i+9 : i+45], took
}

func (p *process) finish(b *testing.B, id string) {
	b.Helper()
	for {
		line := p.call(b, `"tools/call","params":{"name":"agent_status","arguments":{"task_id":"`+id+`"}}`)
		if strings.Contains(line, "(completed)") {
			return
		}
		if strings.Contains(line, "(failed)") || strings.Contains(line, "(cancelled)") {
			b.Fatal(line)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func (p *process) end(b *testing.B) {
	b.Helper()
	must(b, p.in.Close())
	_, _ = io.Copy(io.Discard, p.out)
	must(b, p.cmd.Wait())
}

// rss is the resident memory of the program in MiB, without the sandbox's prepared helper.
func (p *process) rss(b *testing.B) float64 {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	must(b, err)
	for l := range strings.Lines(string(text)) {
		if f := strings.Fields(l); len(f) == 3 && f[0] == "VmRSS:" {
			kib, err := strconv.Atoi(f[1])
			must(b, err)
			return float64(kib) / 1024
		}
	}
	b.Fatal("no VmRSS")
	return 0
}

func quantile(d []time.Duration, q float64) float64 {
	slices.Sort(d)
	return float64(d[min(int(q*float64(len(d))), len(d)-1)].Microseconds()) / 1000
}

// Target: ≤ 150 ms from exec to the ready message after a warm build; idle memory ≤ 30 MiB.
func BenchmarkProcess_StartToReady(b *testing.B) {
	exe, config := program(b, "")
	var took []time.Duration
	var idle float64
	for b.Loop() {
		p, d := start(b, exe, config)
		took = append(took, d)
		time.Sleep(50 * time.Millisecond)
		idle = max(idle, p.rss(b))
		p.end(b)
	}
	b.ReportMetric(quantile(took, 0.5), "ms-median")
	b.ReportMetric(quantile(took, 0.9), "ms-p90")
	b.ReportMetric(idle, "MiB-idle")
}

// Target: agent_run answers with p99 ≤ 5 ms while 64 Tasks are queued. Every Task waits for a model that says nothing.
func BenchmarkProcess_AgentRun(b *testing.B) {
	for name, over := range map[string]bool{"stdio": false, "http": true} {
		b.Run(name, func(b *testing.B) {
			more, url := "mcp: {max_queued: 1000}\n", ""
			if over {
				at := freeAddress(b)
				url, more = "http://"+at+"/mcp", fmt.Sprintf("mcp: {max_queued: 1000, transport: http, http: {listen: [%q]}}\n", at)
			}
			exe, config := programWith(b, more, scripted.Turn{Fault: &scripted.Fault{Stall: true}})
			var took []time.Duration
			for b.Loop() {
				p, _ := launch(b, exe, config, url)
				if !over {
					p.call(b, `"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"b","version":"1"}}`)
				}
				for range 65 { // one runs, 64 wait
					p.run(b)
				}
				for range 500 {
					_, d := p.run(b)
					took = append(took, d)
				}
				must(b, p.cmd.Process.Signal(os.Interrupt))
				_, _ = io.Copy(io.Discard, p.out)
				_ = p.cmd.Wait() // by the signal
			}
			b.ReportMetric(quantile(took, 0.5), "ms-median")
			b.ReportMetric(quantile(took, 0.99), "ms-p99")
		})
	}
}

// Target: memory after 1,000 Tasks does not grow without limit: the second half adds next to nothing.
func BenchmarkProcess_ThousandTasks(b *testing.B) {
	exe, config := program(b, "")
	for b.Loop() {
		p, _ := start(b, exe, config)
		at := map[int]float64{}
		for i := 1; i <= 1000; i++ {
			id, _ := p.run(b)
			p.finish(b, id)
			if i == 1 || i == 500 || i == 1000 {
				at[i] = p.rss(b)
			}
		}
		p.end(b)
		b.ReportMetric(at[1], "MiB-1")
		b.ReportMetric(at[500], "MiB-500")
		b.ReportMetric(at[1000], "MiB-1000")
	}
}
