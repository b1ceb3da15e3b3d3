package mcp_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	sdk "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/agent-mcp/agent-mcp/conformance/fronttest"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// instant is a Runner that costs nothing, so that only the front is measured.
type instant struct{}

const statusText = "Task ID: 00000000-0000-4000-8000-000000000001\nState: running\nProgress: 3 of 7\nTokens: 1234"

func (instant) Run(context.Context, service.RunRequest) (service.Accepted, error) {
	return service.Accepted{TaskID: fronttest.NoTask, Text: statusText}, nil
}

func (instant) Status(context.Context, string, string) (service.Status, error) {
	return service.Status{Text: statusText}, nil
}
func (instant) Cancel(context.Context, string) error  { return nil }
func (instant) Release(context.Context, string) error { return nil }

func serveOurs(ctx context.Context, in io.Reader, out io.Writer) {
	_, _ = serverOf(options(instant{})).ServeStdio(ctx, in, out)
}

// serveBare is the same two tools on mcp-go's own stdio server.
func serveBare(ctx context.Context, in io.Reader, out io.Writer) {
	s := server.NewMCPServer("bare", "1", server.WithToolCapabilities(false))
	s.AddTool(sdk.NewTool("agent_run", sdk.WithString("request", sdk.Required())), func(ctx context.Context, r sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		acc, err := instant{}.Run(ctx, service.RunRequest{Request: r.GetString("request", "")})
		return sdk.NewToolResultText(acc.Text), err
	})
	s.AddTool(sdk.NewTool("agent_status", sdk.WithString("task_id", sdk.Required())), func(ctx context.Context, r sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		st, err := instant{}.Status(ctx, r.GetString("task_id", ""), "")
		return sdk.NewToolResultText(st.Text), err
	})
	std := server.NewStdioServer(s)
	std.SetErrorLogger(log.New(io.Discard, "", 0))
	_ = std.Listen(ctx, in, out)
}

type serveFunc func(ctx context.Context, in io.Reader, out io.Writer)

// pipes starts a server on real pipes.
func pipes(b *testing.B, serve serveFunc) (in *os.File, out *bufio.Scanner) {
	b.Helper()
	inR, inW, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		serve(context.Background(), inR, outW)
		_ = outW.Close()
	}()
	b.Cleanup(func() {
		_ = inW.Close()
		<-done
		_, _ = inR.Close(), outR.Close()
	})
	return inW, bufio.NewScanner(outR)
}

func forBoth(b *testing.B, bench func(b *testing.B, serve serveFunc)) {
	b.Run("ours", func(b *testing.B) { bench(b, serveOurs) })
	b.Run("bare mcp-go", func(b *testing.B) { bench(b, serveBare) })
}

// BenchmarkStatus is the throughput of agent_status, requests pipelined.
func BenchmarkStatus(b *testing.B) {
	forBoth(b, func(b *testing.B, serve serveFunc) {
		in, out := pipes(b, serve)
		b.ReportAllocs()
		b.ResetTimer()
		go func() {
			w := bufio.NewWriter(in)
			for i := range b.N {
				_, _ = w.WriteString(fronttest.Call(strconv.Itoa(i), "agent_status", `{"task_id":"`+fronttest.NoTask+`"}`) + "\n")
			}
			_ = w.Flush()
		}()
		for range b.N {
			if !out.Scan() {
				b.Fatal("the output ended")
			}
		}
	})
}

// BenchmarkRun is one agent_run after another; p99 must stay under 5 ms.
func BenchmarkRun(b *testing.B) {
	forBoth(b, func(b *testing.B, serve serveFunc) {
		in, out := pipes(b, serve)
		took := make([]time.Duration, 0, b.N)
		b.ResetTimer()
		for i := range b.N {
			start := time.Now()
			if _, err := fmt.Fprintln(in, fronttest.Call(strconv.Itoa(i), "agent_run", `{"request":"say hello"}`)); err != nil || !out.Scan() {
				b.Fatal("no answer")
			}
			took = append(took, time.Since(start))
		}
		b.StopTimer()
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
	})
}

// BenchmarkBigRequest is an agent_run whose text has 10 MiB.
func BenchmarkBigRequest(b *testing.B) {
	line := fronttest.Call("1", "agent_run", `{"request":"`+strings.Repeat("x", 10<<20)+`"}`) + "\n"
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for range b.N {
		serveOurs(context.Background(), strings.NewReader(line), io.Discard)
	}
}
