package wire

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-mcp/agent-mcp/conformance/officialtest"
)

// rival is one MCP server under measurement.
type rival struct {
	name string
	p    *process
	url  string // "" = stdio
	ask  string // method and params of agent_status
	took []time.Duration
	rate []float64 // calls per second of each round
	cpu  []float64 // µs of processor time for each call of a round
}

const (
	perRound = 2000
	window   = 8 // calls in flight
)

// round sends calls with window of them in flight and notes how long each took, and what all of them cost.
func (r *rival) round(b *testing.B) {
	b.Helper()
	begin, spent := time.Now(), r.p.ticks(b)
	if r.url == "" {
		r.overStdio(b)
	} else {
		r.overHTTP(b)
	}
	r.rate = append(r.rate, perRound/time.Since(begin).Seconds())
	r.cpu = append(r.cpu, float64(r.p.ticks(b)-spent)*10_000/perRound) // a tick is 10 ms
}

func (r *rival) overStdio(b *testing.B) {
	b.Helper()
	sent := make([]time.Time, perRound)
	free := make(chan struct{}, window)
	failed := make(chan error, 1)
	go func() {
		defer close(failed)
		for i := range perRound {
			free <- struct{}{}
			sent[i] = time.Now()
			if _, err := io.WriteString(r.p.in, `{"jsonrpc":"2.0","id":`+strconv.Itoa(1_000_000+i)+`,"method":`+r.ask+"}\n"); err != nil {
				failed <- err
				return
			}
		}
	}()
	for range perRound {
		line, err := r.p.out.ReadString('\n')
		must(b, err)
		at := strings.Index(line, `"id":1`)
		if at < 0 || !strings.Contains(line, "completed") {
			b.Fatal(line)
		}
		n, err := strconv.Atoi(line[at+5 : at+12])
		must(b, err)
		r.took = append(r.took, time.Since(sent[n-1_000_000]))
		<-free
	}
	must(b, <-failed)
}

// overHTTP uses one kept connection for each call in flight.
func (r *rival) overHTTP(b *testing.B) {
	b.Helper()
	var (
		mu  sync.Mutex
		all sync.WaitGroup
		bad error
	)
	for range window {
		all.Go(func() {
			took, err := r.calls(perRound / window)
			mu.Lock()
			defer mu.Unlock()
			r.took, bad = append(r.took, took...), errors.Join(bad, err)
		})
	}
	all.Wait()
	must(b, bad)
}

func (r *rival) calls(n int) (took []time.Duration, err error) {
	c, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(r.url, "http://"), "/mcp"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }()
	in := bufio.NewReader(c)
	body := `{"jsonrpc":"2.0","id":1,"method":` + r.ask + "}"
	ask := fmt.Sprintf("POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"+
		"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: agent_status\r\nContent-Length: %d\r\n\r\n%s", c.RemoteAddr(), len(body), body)
	for range n {
		at := time.Now()
		if _, err := io.WriteString(c, ask); err != nil {
			return nil, err
		}
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(res.Body)
		if err != nil || !strings.Contains(string(text), "completed") {
			return nil, fmt.Errorf("%s: %s %w", r.name, text, err)
		}
		took = append(took, time.Since(at))
	}
	return took, nil
}

// ticks is the processor time a process has used so far, proc_pid_stat(5).
func (p *process) ticks(b *testing.B) int {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	must(b, err)
	f := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	user, err := strconv.Atoi(f[11])
	must(b, err)
	system, err := strconv.Atoi(f[12])
	must(b, err)
	return user + system
}

// rivals starts the product and the bare servers; the caller ends them.
func rivals(b *testing.B, overHTTP bool) (all []*rival) {
	b.Helper()
	dir := os.Getenv(officialtest.Variable)
	if dir == "" {
		b.Skipf("set %s (`task official` does)", officialtest.Variable)
	}
	more, url := "", ""
	if overHTTP {
		at := freeAddress(b)
		more, url = fmt.Sprintf("mcp: {transport: http, http: {listen: [%q]}}\n", at), "http://"+at+"/mcp"
	}
	exe, config := program(b, more)
	ours, _ := launch(b, exe, config, url)
	if !overHTTP {
		ours.call(b, `"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"b","version":"1"}}`)
	}
	id, _ := ours.run(b)
	ours.finish(b, id)
	all = append(all, &rival{name: "agent-mcp", p: ours, url: url, ask: status(id, overHTTP)})
	for _, name := range []string{"gosdk", "mcpgo"} {
		all = append(all, bare(b, filepath.Join(dir, "peers"), name, overHTTP))
	}
	return all
}

// bare starts a server that does nothing but MCP.
func bare(b *testing.B, exe, name string, overHTTP bool) *rival {
	b.Helper()
	at := "stdio"
	if overHTTP {
		at = freeAddress(b)
	}
	p := &process{cmd: exec.Command(exe, name, at)}
	var err error
	p.in, err = p.cmd.StdinPipe()
	must(b, err)
	out, err := p.cmd.StdoutPipe()
	must(b, err)
	p.out = bufio.NewReader(out)
	must(b, p.cmd.Start())
	r := &rival{name: name, p: p, ask: status("00000000-0000-4000-8000-000000000000", overHTTP)}
	if overHTTP {
		r.url = "http://" + at + "/mcp"
		for i := 0; ; i++ {
			c, err := net.Dial("tcp", at)
			if err == nil {
				must(b, c.Close())
				return r
			}
			if i == 1000 {
				b.Fatal(err)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	p.call(b, `"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"b","version":"1"}}`)
	_, err = io.WriteString(p.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	must(b, err)
	return r
}

func freeAddress(b *testing.B) string {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(b, err)
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func status(id string, now bool) string {
	meta := ""
	if now {
		meta = "," + modern
	}
	return fmt.Sprintf(`"tools/call","params":{"name":"agent_status","arguments":{"task_id":%q}%s}`, id, meta)
}

// Target: agent_status over stdio, eight calls in flight, is answered at least as often per second, and with a p99 at most as
// long, as by the better of two bare servers that answer with a fixed text: both ratios ≥ 1.
func BenchmarkPeers_StatusStdio(b *testing.B) { race(b, false) }

// Target: the same over HTTP, on eight connections.
func BenchmarkPeers_StatusHTTP(b *testing.B) { race(b, true) }

func race(b *testing.B, overHTTP bool) {
	b.Helper()
	all := rivals(b, overHTTP)
	for b.Loop() {
		for _, r := range all {
			r.round(b)
		}
	}
	compare(b, all)
	for _, r := range all {
		if overHTTP {
			must(b, r.p.cmd.Process.Signal(os.Interrupt))
		}
		must(b, r.p.in.Close())
		_, _ = io.Copy(io.Discard, r.p.out)
		_ = r.p.cmd.Wait()
	}
}

// compare prints each server's median rate and p99, and how the first compares with the better of the others.
func compare(b *testing.B, all []*rival) {
	b.Helper()
	bestRate, bestTail, bestCPU := 0.0, 0.0, 0.0
	for i, r := range all {
		rate, tail := median(r.rate), quantile(r.took, 0.99)
		b.ReportMetric(rate, r.name+"-calls/s")
		b.ReportMetric(tail, r.name+"-ms-p99")
		b.ReportMetric(median(r.cpu), r.name+"-µs-cpu/call")
		if i > 0 {
			bestRate = max(bestRate, rate)
			if i == 1 || tail < bestTail {
				bestTail = tail
			}
			if i == 1 || median(r.cpu) < bestCPU {
				bestCPU = median(r.cpu)
			}
		}
	}
	b.ReportMetric(median(all[0].rate)/bestRate, "rate-ratio")
	b.ReportMetric(bestCPU/median(all[0].cpu), "cpu-ratio") // what a busy machine changes least
	b.ReportMetric(bestTail/quantile(all[0].took, 0.99), "p99-ratio")
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}
