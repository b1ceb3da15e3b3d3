package linux

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/conformance/sandboxtest"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// The program under these tests is this test binary with argv[0] netName: its arguments are a case and two ports.
const netName = "sandbox-net"

func runNetIfAsked() {
	if len(os.Args) < 4 || os.Args[0] != netName {
		return
	}
	runtime.LockOSThread()
	a, _ := strconv.Atoi(os.Args[2])
	b, _ := strconv.Atoi(os.Args[3])
	fmt.Println(netCases[os.Args[1]](a, b))
	os.Exit(0)
}

func word(err error) string {
	var no syscall.Errno
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &no) && no == syscall.ECONNREFUSED:
		return "ECONNREFUSED"
	case errors.As(err, &no) && no == syscall.EINPROGRESS:
		return "EINPROGRESS"
	case errors.As(err, &no) && no == syscall.EINTR:
		return "EINTR"
	case errors.As(err, &no):
		return errnoName(no)
	}
	return err.Error()
}

func tcpSocket(family, flags int) int {
	fd, err := syscall.Socket(family, syscall.SOCK_STREAM|flags, 0)
	if err != nil {
		panic(err)
	}
	return fd
}

func in4(port int, a ...byte) *syscall.SockaddrInet4 {
	return &syscall.SockaddrInet4{Port: port, Addr: [4]byte(a)}
}

// echoOver reports whether a connected socket leads to an echo server.
func echoOver(fd int) string {
	if _, err := syscall.Write(fd, []byte("hello")); err != nil {
		return "write " + word(err)
	}
	b := make([]byte, 16)
	n, err := syscall.Read(fd, b)
	if err != nil {
		return "read " + word(err)
	}
	return string(b[:n])
}

// netCases are told a port with an echo server and one at which nobody listens, both listed; a second case of ports where
// the test says so.
var netCases = map[string]func(a, b int) string{
	"mapped": func(a, b int) string {
		one, two := tcpSocket(syscall.AF_INET6, 0), tcpSocket(syscall.AF_INET6, 0)
		mapped := [16]byte{10: 0xff, 11: 0xff, 12: 127, 15: 1}
		err := syscall.Connect(one, &syscall.SockaddrInet6{Port: a, Addr: mapped})
		return word(err) + " " + echoOver(one) + " " + word(syscall.Connect(two, &syscall.SockaddrInet6{Port: b, Addr: mapped}))
	},
	"unspecified": func(a, b int) string { // 0.0.0.0 means the loopback
		one := tcpSocket(syscall.AF_INET, 0)
		err := syscall.Connect(one, in4(a, 0, 0, 0, 0))
		return word(err) + " " + echoOver(one) + " " + word(syscall.Connect(tcpSocket(syscall.AF_INET, 0), in4(b, 0, 0, 0, 0)))
	},
	"odd": func(a, b int) string { // sockaddrs that the kernel refuses, it refuses
		var out []string
		raw := []byte{2, 0, byte(a >> 8), byte(a), 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0}
		for _, c := range []struct {
			at   uintptr
			size uintptr
		}{{addr(raw), 8}, {addr(raw), 0}, {addr(raw), 1 << 31}, {1, 16}, {addr(raw), 16}} {
			_, _, e := syscall.Syscall(syscall.SYS_CONNECT, uintptr(tcpSocket(syscall.AF_INET, 0)), c.at, c.size)
			no := error(nil)
			if e != 0 {
				no = e
			}
			out = append(out, word(no))
		}
		_, _, e := syscall.Syscall(syscall.SYS_CONNECT, 999, addr(raw), 16)
		return strings.Join(append(out, word(e)), " ")
	},
	"nonblocking": func(a, b int) string {
		var out []string
		for _, port := range []int{a, b} {
			fd := tcpSocket(syscall.AF_INET, syscall.SOCK_NONBLOCK)
			err := syscall.Connect(fd, in4(port, 127, 0, 0, 1))
			out = append(out, word(err))
			if err == nil || errors.Is(err, syscall.EINPROGRESS) {
				_ = syscall.SetNonblock(fd, false)
				out = append(out, echoOver(fd))
			}
		}
		return strings.Join(out, " ")
	},
	"fastopen": func(a, b int) string { // data with the connect, which seccomp does not see: harmless
		var out []string
		for _, port := range []int{a, b} {
			fd := tcpSocket(syscall.AF_INET, 0)
			if err := syscall.Sendto(fd, []byte("hello"), 0x20000000, in4(port, 127, 0, 0, 1)); err != nil {
				out = append(out, word(err))
				continue
			}
			buf := make([]byte, 16)
			n, err := syscall.Read(fd, buf)
			if err != nil || n == 0 {
				out = append(out, "reset")
				continue
			}
			out = append(out, string(buf[:n]))
		}
		return strings.Join(out, " ")
	},
	"udp": func(a, b int) string { // a datagram reaches the own loopback alone
		fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0)
		if err == nil {
			err = syscall.Connect(fd, in4(a, 127, 0, 0, 1))
		}
		if err == nil {
			_, err = syscall.Write(fd, []byte("x"))
		}
		time.Sleep(10 * time.Millisecond)
		_, again := syscall.Write(fd, []byte("x"))
		return word(err) + " " + word(again)
	},
	"signal": func(a, b int) string { // a blocking connect that takes long lets signals in
		came, tid := make(chan os.Signal, 1), make(chan int, 1)
		signal.Notify(came, syscall.SIGUSR1)
		ended := make(chan string, 1)
		go func() {
			runtime.LockOSThread()
			tid <- syscall.Gettid()
			ended <- "the connect ended: " + word(syscall.Connect(tcpSocket(syscall.AF_INET, 0), in4(a, 127, 0, 0, 1)))
		}()
		thread := <-tid
		time.Sleep(200 * time.Millisecond)
		_, _, _ = syscall.Syscall(syscall.SYS_TGKILL, uintptr(os.Getpid()), uintptr(thread), uintptr(syscall.SIGUSR1))
		select {
		case <-came:
			return "signal came"
		case why := <-ended:
			return why
		}
	},
	"late listener": func(a, b int) string { // a server of the tree that comes up late is no denial
		l, _ := net.Listen("tcp", "127.0.0.1:0")
		at := l.Addr().String()
		_ = l.Close()
		_, _ = net.Dial("tcp", at)
		_, err := net.Listen("tcp", at)
		if err != nil {
			return err.Error()
		}
		_, err = net.Dial("tcp", at)
		return word(err)
	},
	"refused calls": func(_, _ int) string {
		for range 3 {
			_, _ = syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		}
		_, _ = syscall.Socket(syscall.AF_INET, syscall.SOCK_RAW, 1)
		_ = syscall.Mount("none", "/mnt", "tmpfs", 0, "")
		_ = syscall.Unshare(syscall.CLONE_NEWNET)
		_, _, _ = syscall.Syscall(syscall.SYS_IOCTL, 0, 0x5412, 0)
		_, _, e := syscall.Syscall(syscall.SYS_PTRACE, 0, 0, 0)
		_ = e
		return "done"
	},
	"flood": func(_, _ int) string { // many kinds and many addresses, and a process that forks meanwhile
		stop := make(chan struct{})
		var wait sync.WaitGroup
		for i := range 8 {
			wait.Add(1)
			go func() {
				defer wait.Done()
				for k := 0; ; k++ {
					select {
					case <-stop:
						return
					default:
					}
					_, _ = syscall.Socket(1000+i*7919+k, 1, 0)
					_ = syscall.Mount("a", "/b", "c", 0, "")
				}
			}()
		}
		_ = syscall.Unshare(syscall.CLONE_NEWUTS)
		for range 20 {
			if err := (&sandboxProbe{}).run(); err != nil {
				return err.Error()
			}
		}
		close(stop)
		wait.Wait()
		for i := range 200 {
			_ = syscall.Connect(tcpSocket(syscall.AF_INET, 0), in4(80, 192, 0, 2, byte(i)))
		}
		return "done"
	},
	"dies": func(a, _ int) string { // its child is killed while it waits for an answer
		p, err := os.StartProcess("/proc/self/exe", []string{netName, "connect", strconv.Itoa(a), "0"}, &os.ProcAttr{})
		if err != nil {
			return err.Error()
		}
		time.Sleep(50 * time.Millisecond)
		_ = p.Kill()
		_, _ = p.Wait()
		if err := (&sandboxProbe{}).run(); err != nil {
			return err.Error()
		}
		return "done"
	},
	"connect": func(a, _ int) string {
		return word(syscall.Connect(tcpSocket(syscall.AF_INET, 0), in4(a, 127, 0, 0, 1)))
	},
	"goodbye": func(a, _ int) string { // sends, and is gone before anybody reads
		fd := tcpSocket(syscall.AF_INET, 0)
		_ = syscall.Connect(fd, in4(a, 127, 0, 0, 1))
		_, err := syscall.Write(fd, make([]byte, 100_000))
		return word(err)
	},
	"swap": func(a, b int) string { // the address changes while it is looked at: a race that wins nothing
		raw := []byte{2, 0, byte(a >> 8), byte(a), 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0}
		var stop atomic.Bool
		go func() {
			for !stop.Load() {
				raw[2], raw[3] = byte(b>>8), byte(b)
				raw[2], raw[3] = byte(a>>8), byte(a)
			}
		}()
		reached := 0
		for range 300 {
			fd := tcpSocket(syscall.AF_INET, 0)
			if _, _, e := syscall.Syscall(syscall.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&raw[0])), 16); e == 0 {
				if n, err := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_ERROR); err == nil && n == 0 {
					if sa, err := syscall.Getpeername(fd); err == nil && sa.(*syscall.SockaddrInet4).Port == b {
						reached++
					}
				}
			}
			_ = syscall.Close(fd)
		}
		stop.Store(true)
		return strconv.Itoa(reached)
	},
}

type sandboxProbe struct{}

func (*sandboxProbe) run() error {
	p, err := os.StartProcess("/proc/self/exe", []string{netName, "nothing", "0", "0"}, &os.ProcAttr{})
	if err == nil {
		_, err = p.Wait()
	}
	return err
}

func init() { netCases["nothing"] = func(_, _ int) string { return "" } }

// netRun runs a case and returns what it said.
func netRun(t *testing.T, box sandbox.Sandbox, n sandbox.Network, name string, a, b int) (string, sandbox.Result) {
	t.Helper()
	spec := netSpec(t, n, name, a, b)
	res, err := box.Run(context.Background(), spec)
	require.NoError(t, err)
	require.Equal(t, sandbox.EndExited, res.End, "%s", res.Stderr.Head)
	require.Zero(t, res.ExitCode, "%s", res.Stderr.Head)
	return strings.TrimSpace(string(res.Stdout.Head)), res
}

func netSpec(t *testing.T, n sandbox.Network, name string, a, b int) sandbox.Spec {
	entry, roots := probe(t)
	entry.Name = netName
	spec := shellSpec(t, host{}.TempDir(t), "")
	spec.Entry, spec.Args = entry, []string{name, strconv.Itoa(a), strconv.Itoa(b)}
	spec.Roots = append(spec.Roots, roots...)
	sortRoots(spec.Roots)
	if n.Mode != sandbox.NetworkNone {
		n.Connections, n.Bytes = 100, 1<<30
	}
	spec.Network = n
	return spec
}

// NET-02: whatever way a program connects, it gets what an ordinary connection would give.
func TestNetwork_WaysToConnect(t *testing.T) {
	internet := &sandboxtest.Internet{}
	box := New(Options{Dialer: internet, Resolver: internet})
	defer func() { require.NoError(t, box.Close()) }()
	port, _ := internet.Echo(t)
	quiet := internet.Free(t)
	list := sandbox.Network{Mode: sandbox.NetworkLocal, Ports: []uint16{port, quiet}}
	for name, want := range map[string]string{
		"mapped": "ok hello ECONNREFUSED", "unspecified": "ok hello ECONNREFUSED", "odd": "EINVAL EINVAL EINVAL EFAULT ok EBADF",
		"nonblocking": "EINPROGRESS hello ECONNREFUSED", "fastopen": "hello reset", "udp": "ok ECONNREFUSED",
	} {
		t.Run(name, func(t *testing.T) {
			got, res := netRun(t, box, list, name, int(port), int(quiet))
			assert.Equal(t, want, got)
			assert.Empty(t, res.Denials)
		})
	}
	t.Run("late listener", func(t *testing.T) {
		got, res := netRun(t, box, list, "late listener", 0, 0)
		assert.Equal(t, "ok", got)
		assert.Empty(t, res.Denials)
	})
	t.Run("swap", func(t *testing.T) {
		hidden, _ := internet.Echo(t)
		got, res := netRun(t, box, list, "swap", int(port), int(hidden))
		assert.Equal(t, "0", got)
		for _, f := range res.Flows {
			assert.Equal(t, port, f.Port)
		}
	})
	t.Run("goodbye", func(t *testing.T) { // what was sent before the end arrives
		_, res := netRun(t, box, list, "goodbye", int(port), 0)
		require.Len(t, res.Flows, 1)
		assert.EqualValues(t, 100_000, res.Flows[0].Sent)
	})
}

// slowDialer takes its time until it is told to stop.
type slowDialer struct{ began chan struct{} }

func (d slowDialer) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	select {
	case d.began <- struct{}{}:
	default:
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

// NET-02, RES-01: a Broker that waits for an endpoint keeps nobody else waiting; a program that dies or is signalled while
// it waits is no trouble, and the end ends it all.
func TestNetwork_SlowEndpoint(t *testing.T) {
	box := New(Options{Dialer: slowDialer{began: make(chan struct{}, 1)}})
	defer func() { require.NoError(t, box.Close()) }()
	list := sandbox.Network{Mode: sandbox.NetworkLocal, Ports: []uint16{4242}}
	got, _ := netRun(t, box, list, "dies", 4242, 0)
	assert.Equal(t, "done", got)
	got, _ = netRun(t, box, list, "signal", 4242, 0)
	assert.Equal(t, "signal came", got)

	ctx, cancel := context.WithCancel(context.Background())
	began := make(chan struct{}, 1)
	waiting := New(Options{Dialer: slowDialer{began: began}})
	defer func() { require.NoError(t, waiting.Close()) }()
	go func() {
		<-began
		cancel()
	}()
	res, err := waiting.Run(ctx, netSpec(t, list, "connect", 4242, 0))
	require.NoError(t, err)
	assert.Equal(t, sandbox.EndCancelled, res.End)
}

// Issue 3, item 4: refused calls are told with their name, in every mode, and a flood hides nothing.
func TestDenials_RefusedCalls(t *testing.T) {
	box := New(Options{})
	defer func() { require.NoError(t, box.Close()) }()
	none := sandbox.Network{Mode: sandbox.NetworkNone}
	system := func(target string, times int) sandbox.Denial {
		return sandbox.Denial{Target: target, Right: "system", Reason: sandbox.CodeSystemCall, Times: times, Seen: true}
	}
	_, res := netRun(t, box, none, "refused calls", 0, 0)
	assert.ElementsMatch(t, []sandbox.Denial{
		system("socket AF_UNIX", 3), system("mount", 1), system("unshare", 1), system("ioctl TIOCSTI", 1),
		{Target: "socket AF_INET SOCK_RAW", Right: "network", Reason: sandbox.CodeNotListed, Times: 1, Seen: true},
	}, res.Denials)

	_, res = netRun(t, box, sandbox.Network{Mode: sandbox.NetworkLocal, Ports: []uint16{4242}}, "flood", 0, 0)
	find := func(target string) sandbox.Denial {
		i := slices.IndexFunc(res.Denials, func(d sandbox.Denial) bool { return d.Target == target })
		require.GreaterOrEqual(t, i, 0, "%s in %v", target, res.Denials)
		return res.Denials[i]
	}
	assert.Equal(t, 1, find("unshare").Times)
	assert.Positive(t, find("mount").Times)
	assert.Positive(t, find("socket of an unknown family").Times)
	assert.Equal(t, 200-mostAddresses, find("other addresses").Times)
	assert.LessOrEqual(t, len(res.Denials), mostAddresses+10)
}

// NET-01: in mode none the network is what was denied.
func TestDenials_NetworkNone(t *testing.T) {
	entry, roots := probe(t)
	box := New(Options{})
	defer func() { require.NoError(t, box.Close()) }()
	spec := shellSpec(t, host{}.TempDir(t), "")
	spec.Entry, spec.Args = entry, []string{"dial|tcp4|127.0.0.1:80"}
	spec.Roots = append(spec.Roots, roots...)
	sortRoots(spec.Roots)
	res, err := box.Run(context.Background(), spec)
	require.NoError(t, err)
	assert.True(t, slices.ContainsFunc(res.Denials, func(d sandbox.Denial) bool { return d.Target == "socket AF_INET" && d.Right == "network" }), "%v", res.Denials)
	for _, d := range res.Denials {
		assert.Equal(t, "network", d.Right, d)
	}
}

// PRC-08: runs with connections leave no descriptor, no goroutine and no listener behind.
func TestNetwork_LeavesNothing(t *testing.T) {
	internet := &sandboxtest.Internet{}
	box := New(Options{Dialer: internet, Resolver: internet, NoSpare: true})
	port, _ := internet.Echo(t)
	list := sandbox.Network{Mode: sandbox.NetworkLocal, Ports: []uint16{port}}
	count := func() int {
		all, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		return len(all)
	}
	netRun(t, box, list, "goodbye", int(port), 0)
	box.wait.Wait()
	before, goroutines := count(), runtime.NumGoroutine()
	for range 5 {
		netRun(t, box, list, "goodbye", int(port), 0)
	}
	box.wait.Wait()
	assert.LessOrEqual(t, runtime.NumGoroutine(), goroutines+8) // the echo server may still be closing
	require.Eventually(t, func() bool { return count() <= before }, 10*time.Second, time.Millisecond)
	require.NoError(t, box.Close())
}

// NET-02, NET-03: places inside, as plain data.
func TestPlanNetwork(t *testing.T) {
	o, e := planNetwork(sandbox.Network{Mode: sandbox.NetworkLocal, Ports: []uint16{80}})
	require.Len(t, o.Listen, 2)
	assert.Equal(t, "127.0.0.1:80", o.Listen[0].At.String())
	assert.Equal(t, "[::1]:80", o.Listen[1].At.String())
	assert.True(t, e[0].Local && e[1].Local)
	o, e = planNetwork(sandbox.Network{Mode: sandbox.NetworkRestricted, Hosts: []string{"a.b:1", "a.b:2", "c.d:1", "8.8.8.8:53", "[2001:db8::1]:1", "[::ffff:8.8.8.8]:53"}})
	assert.Equal(t, "127.77.0.1 a.b\n127.77.0.2 c.d\n", o.Hosts)
	require.Len(t, o.Listen, 5)
	assert.Equal(t, []string{"127.77.0.1:1", "127.77.0.1:2", "127.77.0.2:1", "8.8.8.8:53", "[2001:db8::1]:1"},
		[]string{o.Listen[0].At.String(), o.Listen[1].At.String(), o.Listen[2].At.String(), o.Listen[3].At.String(), o.Listen[4].At.String()})
	assert.True(t, o.Listen[3].Route && o.Listen[4].Route && !o.Listen[0].Route)
	assert.Equal(t, "8.8.8.8", e[3].Host)
	var many sandbox.Network
	for i := range 3000 {
		many.Hosts = append(many.Hosts, fmt.Sprintf("h%d.x:1", i))
	}
	o, _ = planNetwork(many)
	at := map[netip.AddrPort]bool{}
	for _, l := range o.Listen {
		at[l.At] = true
	}
	assert.Len(t, at, 3000)
}
