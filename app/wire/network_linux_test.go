package wire

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/model/scripted"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// connectIfAsked makes a copy of this test binary a program that says a word to each of two ports of localhost (or host:port)
// and writes down what came back.
func connectIfAsked() {
	if len(os.Args) != 4 || os.Args[1] != "connect" {
		return
	}
	for i, at := range os.Args[2:] {
		text := "refused"
		if !strings.Contains(at, ":") {
			at = net.JoinHostPort("localhost", at)
		}
		if c, err := net.Dial("tcp", at); err == nil {
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

// unreachable is an endpoint that an owner may list and that nothing outside of this machine hears of: an own address, which the
// Broker never dials, or, on a machine that has none, a name that nobody knows.
func unreachable(t *testing.T) (endpoint, reason string) {
	addrs, err := net.InterfaceAddrs()
	require.NoError(t, err)
	for _, a := range addrs {
		if ip, ok := netip.AddrFromSlice(a.(*net.IPNet).IP); ok && sandbox.MayReach(ip.Unmap(), nil) {
			return netip.AddrPortFrom(ip.Unmap(), 443).String(), string(sandbox.CodeAddress)
		}
	}
	return "nowhere.invalid:443", string(sandbox.CodeNoAnswer)
}

// NET-03, SEC-INV-07, AT-10, LOG-03: network restricted from agent.yaml through apply, start and a run to the Audit; the model is
// told what was refused and why.
func TestServe_NetworkRestricted(t *testing.T) {
	at, reason := unreachable(t)
	p := newPlace(t, fmt.Sprintf("  network: {mode: restricted, endpoints: [%q]}\n", at),
		scripted.Step{When: planning, Reply: onePlan(map[string]any{"kind": "process", "alias": "client"})},
		scripted.Step{When: acting, Reply: scripted.Use(scripted.Tool("run_process", map[string]any{"command": "./client", "args": []string{"connect", at, "198.51.100.7:443"}}))},
		scripted.Step{When: acting, Reply: scripted.Say("Nobody answered.")},
	)
	exe, err := os.ReadFile("/proc/self/exe")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "ws", "client"), exe, 0o755))
	p.apply(t)
	c := p.serve(context.Background(), t)
	status := c.finish(taskID(c.tool("agent_run", map[string]any{"request": "talk to the server"})))
	require.NoError(t, c.end())
	for i := range 2 {
		got, err := os.ReadFile(filepath.Join(p.dir, "ws", fmt.Sprintf("said%d.txt", i)))
		require.NoError(t, err, status)
		require.NotEqual(t, "word", string(got))
	}
	flows, denied := 0, ""
	for _, r := range p.auditLines(t) {
		line := fmt.Sprint(r)
		switch r["kind"] {
		case "network.flow":
			flows++
			require.Contains(t, line, reason)
		case "access.denied":
			denied += line
		}
	}
	require.Equal(t, 2, flows, "when it is tried, and when all is over")
	require.Contains(t, denied, "198.51.100.7:443")
	require.Contains(t, denied, string(sandbox.CodeNotListed))
	told := fmt.Sprint(p.model.Model.Requests())
	require.Contains(t, told, "198.51.100.7:443")
}
