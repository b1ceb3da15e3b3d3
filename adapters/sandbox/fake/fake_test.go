package fake_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/sandbox/fake"
	"github.com/agent-mcp/agent-mcp/conformance/sandboxtest"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// host is the disk as the suite sees it.
type host struct {
	*fake.Disk
	next atomic.Int64
}

func (h *host) TempDir(testing.TB) string {
	dir := fmt.Sprintf("/project/%d/dir", h.next.Add(1))
	h.Disk.Mkdir(dir)
	return dir
}
func (h *host) Mkdir(_ testing.TB, path string)          { h.Disk.Mkdir(path) }
func (h *host) Write(_ testing.TB, path, content string) { h.Put(path, content) }
func (h *host) Program(_ testing.TB, path string)        { h.PutProgram(path, "program") }
func (h *host) Read(path string) (string, bool)          { return h.Get(path) }
func (h *host) SHA256(_ testing.TB, path string) string  { return h.Disk.SHA256(path) }

// system lets the suite's probe act on the fake.
type system struct {
	ctx context.Context
	*fake.Machine
}

func (s system) ReadFile(path string) error   { _, err := s.Machine.ReadFile(path); return err }
func (s system) List(path string) error       { _, err := s.Machine.List(path); return err }
func (s system) Stdin() ([]byte, error)       { return s.Machine.Stdin(), nil }
func (s system) Start(path string) error      { _, err := s.Machine.Start(s.ctx, path); return err }
func (s system) Take(n int64) error           { s.Machine.Take(n); return nil }
func (s system) Sleep(d time.Duration)        { s.Machine.Sleep(s.ctx, d) }
func (s system) Crash()                       { s.Machine.Crash("SIGKILL") }
func (s system) Daemon(string) error          { return nil }
func (s system) Orphan(string)                {}
func (s system) Below(string) (string, error) { return "", errors.ErrUnsupported }
func (s system) Dial(n, a string) error       { return s.Machine.Dial(n, a) }
func (s system) Resolve(name string) error    { return s.Machine.Resolve(name) }
func (s system) Own() error                   { return nil }

func (s system) Echo(address string, n int64) error {
	c, err := s.Connect(address)
	if err != nil {
		return err
	}
	defer c.Close()
	sent := bytes.Repeat([]byte("x"), int(n))
	got, err := c.Exchange(sent)
	if err == nil && !bytes.Equal(got, sent) {
		err = errors.New("other bytes")
	}
	return err
}

func (s system) Fan(address string, n int) (worked int) {
	for range n {
		if c, err := s.Connect(address); err == nil {
			defer c.Close()
			if got, err := c.Exchange([]byte("hello")); err == nil && string(got) == "hello" {
				worked++
			}
		}
	}
	return worked
}

func (s system) Children(n int) (started int) {
	for range n {
		if s.Fork() == nil {
			started++
		}
	}
	for range started {
		s.Reap()
	}
	return started
}

func probe(ctx context.Context, m *fake.Machine) int {
	return sandboxtest.Interpret(system{ctx, m}, m.Args(), m.Stdout(), m.Stderr())
}

func newBox(disk *fake.Disk, w *fake.World) *fake.Sandbox {
	return fake.New(fake.Options{
		Programs: map[string]fake.Program{"/probe/probe": probe}, Default: func(context.Context, *fake.Machine) int { return 0 }, Disk: disk, World: w,
	})
}

// world is the fake's network as the suite sees it.
type world struct {
	*fake.World
	next atomic.Int64
}

func echo(b []byte) []byte { return b }

func (w *world) Echo(t testing.TB) (uint16, bool) {
	port := w.Free(t)
	for _, a := range []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.IPv6Loopback()} {
		w.Serve(netip.AddrPortFrom(a, port), echo)
	}
	return port, true
}
func (w *world) Free(testing.TB) uint16                  { return uint16(20000 + w.next.Add(1)) }
func (w *world) Outside(_ testing.TB, at netip.AddrPort) { w.Serve(at, echo) }

func TestSandbox_Contract(t *testing.T) {
	w := &world{World: &fake.World{}}
	all, _ := net.InterfaceAddrs()
	for _, a := range all {
		if n, err := netip.ParsePrefix(a.String()); err == nil {
			w.Own(n.Addr())
		}
	}
	disk := fake.NewDisk()
	disk.PutProgram("/probe/probe", "probe")
	sandboxtest.Run(t, sandboxtest.Harness{
		New:   func(testing.TB) sandbox.Sandbox { return newBox(disk, w.World) },
		Entry: sandbox.Entry{Name: "probe", Path: "/probe/probe"}, EntryRoots: []rights.Root{{Path: "/probe", Rights: rights.Read | rights.Execute}},
		Host: &host{Disk: disk}, Network: w,
	})
}

func spec(verbs ...string) sandbox.Spec {
	return sandbox.Spec{
		Roots: []rights.Root{{Path: "/w", Rights: rights.All}}, Dir: "/w", Entry: sandbox.Entry{Name: "x", Path: "/w/x"}, Args: verbs,
		Network: sandbox.Network{Mode: sandbox.NetworkNone},
		Limits:  sandbox.Limits{Processes: 3, MemoryBytes: 1000, WallClock: time.Minute, OutputBytes: 1000},
	}
}

// RES-01: the endings are told apart, also in the simulation.
func TestSandbox_Endings(t *testing.T) {
	box := fake.New(fake.Options{Default: probe})
	cancelled, cancel := context.WithCancel(context.Background())
	defer cancel()
	for name, c := range map[string]struct {
		verbs []string
		wall  time.Duration
		ctx   context.Context
		want  sandbox.End
	}{
		"exit":      {[]string{"exit|3"}, time.Minute, context.Background(), sandbox.EndExited},
		"memory":    {[]string{"take|600", "take|600"}, time.Minute, context.Background(), sandbox.EndMemory},
		"signal":    {[]string{"crash"}, time.Minute, context.Background(), sandbox.EndSignaled},
		"time":      {[]string{"sleep|60000"}, time.Millisecond, context.Background(), sandbox.EndTimedOut},
		"cancelled": {[]string{"sleep|60000"}, time.Minute, cancelled, sandbox.EndCancelled},
	} {
		t.Run(name, func(t *testing.T) {
			s := spec(c.verbs...)
			s.Limits.WallClock = c.wall
			if name == "cancelled" {
				time.AfterFunc(time.Millisecond, cancel)
			}
			res, err := box.Run(c.ctx, s)
			require.NoError(t, err)
			assert.Equal(t, c.want, res.End)
		})
	}
	s := spec("children|9")
	res, err := box.Run(context.Background(), s)
	require.NoError(t, err)
	assert.True(t, strings.HasSuffix(string(res.Stdout.Head), "-> 2\n"), "%s", res.Stdout.Head)
	assert.NotEmpty(t, box.Specs())
}

func TestSandbox_WithoutProgram(t *testing.T) {
	_, err := fake.New(fake.Options{}).Run(context.Background(), spec())
	assert.Equal(t, sandbox.CodeEntryFailed, fault.CodeOf(err))
}

// NET-02, NET-03: the listed addresses and no others.
func TestMachine_Dial(t *testing.T) {
	box := fake.New(fake.Options{Default: probe, Networks: []sandbox.NetworkMode{sandbox.NetworkLocal, sandbox.NetworkRestricted}})
	for _, c := range []struct {
		net     sandbox.Network
		address string
		want    string
	}{
		{sandbox.Network{Mode: sandbox.NetworkLocal, Ports: []uint16{80}, Connections: 1, Bytes: 1}, "127.0.0.1:80", "ok"},
		{sandbox.Network{Mode: sandbox.NetworkLocal, Ports: []uint16{80}, Connections: 1, Bytes: 1}, "[::1]:80", "ok"},
		{sandbox.Network{Mode: sandbox.NetworkLocal, Ports: []uint16{80}, Connections: 1, Bytes: 1}, "127.0.0.1:81", "unreachable"},
		{sandbox.Network{Mode: sandbox.NetworkLocal, Ports: []uint16{80}, Connections: 1, Bytes: 1}, "192.168.0.1:80", "unreachable"},
		{sandbox.Network{Mode: sandbox.NetworkRestricted, Hosts: []string{"a.example:443"}, Connections: 1, Bytes: 1}, "a.example:443", "ok"},
		{sandbox.Network{Mode: sandbox.NetworkRestricted, Hosts: []string{"a.example:443"}, Connections: 1, Bytes: 1}, "b.example:443", "unreachable"},
	} {
		s := spec("dial|tcp|" + c.address)
		s.Network = c.net
		res, err := box.Run(context.Background(), s)
		require.NoError(t, err)
		assert.Contains(t, string(res.Stdout.Head), "-> "+c.want, c.address)
		assert.Equal(t, c.want == "unreachable", len(res.Denials) == 1)
	}
}
