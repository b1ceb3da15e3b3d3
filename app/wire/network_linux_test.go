package wire

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/model/scripted"
)

// connectIfAsked makes a copy of this test binary a program that says a word to a port and writes down what came back.
func connectIfAsked() {
	if len(os.Args) != 4 || os.Args[1] != "connect" {
		return
	}
	for i, port := range os.Args[2:] {
		text := "refused"
		if c, err := net.Dial("tcp", net.JoinHostPort("localhost", port)); err == nil {
			_, _ = c.Write([]byte("word"))
			_ = c.(*net.TCPConn).CloseWrite()
			b, _ := io.ReadAll(c)
			text = string(b)
		}
		if os.WriteFile(fmt.Sprintf("said%d.txt", i), []byte(text), 0o600) != nil {
			os.Exit(1)
		}
	}
	os.Exit(0)
}

// NET-02, AT-11, LOG-03: network local from agent.yaml through apply, start and a run to the Audit.
func TestServe_NetworkLocal(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.Copy(c, struct{ io.Reader }{c})
			_ = c.Close()
		}
	}()
	hidden, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = hidden.Close() }()
	port, other := l.Addr().(*net.TCPAddr).Port, hidden.Addr().(*net.TCPAddr).Port

	p := newPlace(t, fmt.Sprintf("  network: {mode: local, endpoints: [%d]}\n", port),
		scripted.Step{When: planning, Reply: onePlan(map[string]any{"kind": "process", "alias": "client"})},
		scripted.Step{When: acting, Reply: scripted.Use(scripted.Tool("run_process", map[string]any{"command": "./client", "args": []string{"connect", strconv.Itoa(port), strconv.Itoa(other)}}))},
		scripted.Step{When: acting, Reply: scripted.Say("It answered.")},
	)
	exe, err := os.ReadFile("/proc/self/exe")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "ws", "client"), exe, 0o755))
	p.apply(t)
	c := p.serve(context.Background(), t)
	status := c.finish(taskID(c.tool("agent_run", map[string]any{"request": "talk to the server"})))
	require.NoError(t, c.end())
	for i, want := range []string{"word", "refused"} {
		got, err := os.ReadFile(filepath.Join(p.dir, "ws", fmt.Sprintf("said%d.txt", i)))
		require.NoError(t, err, status)
		require.Equal(t, want, string(got))
	}
	kinds := kindsOf(p.auditLines(t))
	require.Positive(t, kinds["network.flow"], "%v", kinds)
}
