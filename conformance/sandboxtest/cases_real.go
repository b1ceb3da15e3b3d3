package sandboxtest

import (
	"context"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

func (s *suite) network(t *testing.T) { // NET-01, SEC-INV-06, AT-10: none denies everything, loopback included
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = tcp.Close() }()
	root := s.Host.TempDir(t)
	path, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err == nil {
		defer func() { _ = path.Close() }()
	}
	verbs := []string{"dial|tcp|" + tcp.Addr().String(), "dial|udp|127.0.0.1:53", "dial|tcp|[::1]:1", "dial|tcp|192.0.2.1:80", "dial|unix|" + filepath.Join(root, "s")}
	for v, result := range s.run(t, s.spec(root, rwxd, verbs...)) {
		assert.Equal(t, "denied", result, v)
	}
}

func (s *suite) limits(t *testing.T) { // RES-01
	root := s.Host.TempDir(t)
	t.Run("processes", func(t *testing.T) { // AT: fork bomb; the probe itself is one
		for _, n := range []int{2, 4, 9} {
			spec := s.spec(root, rwxd, "children|20")
			spec.Limits.Processes = n
			assert.Equal(t, strconv.Itoa(n-1), s.run(t, spec)["children|20"], "limit %d", n)
		}
	})
	t.Run("memory", func(t *testing.T) {
		spec := s.spec(root, r, "take|20000000")
		spec.Limits.MemoryBytes = 512 << 20
		assert.Equal(t, "ok", s.run(t, spec)["take|20000000"])
		spec.Args = []string{"take|600000000"}
		spec.Limits.MemoryBytes = 128 << 20
		res, err := s.box.Run(context.Background(), spec)
		require.NoError(t, err)
		assert.Empty(t, outcomes(res), "it must not get the memory")
		if res.End != sandbox.EndMemory { // the allocation itself may fail first
			assert.Equal(t, sandbox.EndExited, res.End)
			assert.NotZero(t, res.ExitCode)
		}
	})
	t.Run("wall clock", func(t *testing.T) { // REC-02: a hang ends with its tree (nothing_survives: time-out)
		spec := s.spec(root, r, "out|10", "sleep|60000")
		spec.Limits.WallClock = 3 * time.Second // long enough for a slow machine to start the probe
		res, err := s.box.Run(context.Background(), spec)
		require.NoError(t, err)
		assert.Equal(t, sandbox.EndTimedOut, res.End)
		assert.Equal(t, -1, res.ExitCode)
		assert.EqualValues(t, 10, res.Stdout.Total, "what was written before stays")
	})
}

// descendants: whatever an entry may and may not do, its child and grandchild may and may not do.
func (s *suite) descendants(t *testing.T) { // PRC-07, SEC-INV-03, AT-12, AT-21
	secret := filepath.Join(s.Host.TempDir(t), "secret")
	s.Host.Write(t, secret, "k")
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = tcp.Close() }()
	for _, set := range []rights.Set{r, rwxd} {
		root := s.Host.TempDir(t)
		prog := s.program(root, "prog")
		s.Host.Program(t, prog)
		verbs := []string{
			"read|" + secret, "write|" + secret + "|x", "list|" + filepath.Dir(secret), "dial|tcp|" + tcp.Addr().String(), "environ|",
			"write|" + prog + "2|x", "append|" + prog + "|", "start|" + prog, "mkdir|" + filepath.Join(root, "d", "e"), "chmod|" + prog, "remove|" + filepath.Join(root, "gone"),
		}
		var all []string
		for _, v := range verbs {
			all = append(all, v, "below|"+v, "below|below|"+v)
		}
		got := s.run(t, s.spec(root, set, all...))
		for _, v := range verbs {
			assert.Equal(t, got[v], got["below|"+v], "%s: child", set)
			assert.Equal(t, got[v], got["below|below|"+v], "%s: grandchild", set)
			if strings.Contains(v, secret) || strings.HasPrefix(v, "dial") {
				assert.Contains(t, []string{"denied", "missing"}, got["below|below|"+v], v)
			}
		}
	}
}

func (s *suite) ending(t *testing.T) {
	root := s.Host.TempDir(t)
	res, err := s.box.Run(context.Background(), s.spec(root, r, "crash"))
	require.NoError(t, err)
	assert.Equal(t, sandbox.EndSignaled, res.End)
	assert.Equal(t, crashSignal, res.Signal)
	assert.Equal(t, -1, res.ExitCode)

	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan sandbox.Result, 1)
	go func() {
		res, _ := s.box.Run(ctx, s.spec(root, rw, "write|"+filepath.Join(root, "up")+"|1", "sleep|60000"))
		ended <- res
	}()
	require.Eventually(t, func() bool { _, up := s.Host.Read(filepath.Join(root, "up")); return up }, 20*time.Second, time.Millisecond)
	cancel()
	assert.Equal(t, sandbox.EndCancelled, (<-ended).End)

	_, err = s.box.Run(ctx, s.spec(root, r))
	assert.Equal(t, fault.CodeCancelled, fault.CodeOf(err), "nothing runs for a cancelled caller")
}

// nothingSurvives: a process that left its session, was orphaned and ignores signals is gone when Run returns.
func (s *suite) nothingSurvives(t *testing.T) { // PRC-08, PRF-02
	for name, last := range map[string]string{"exit": "exit|0", "crash": "crash", "time-out": "sleep|60000"} {
		t.Run(name, func(t *testing.T) {
			root := s.Host.TempDir(t)
			file := filepath.Join(root, "beat")
			spec := s.spec(root, rwxd, "daemon|"+file, last)
			if name == "time-out" {
				spec.Limits.WallClock = time.Second
			}
			_, err := s.box.Run(context.Background(), spec)
			require.NoError(t, err)
			first, ok := s.Host.Read(file)
			require.True(t, ok, "the daemon lived")
			time.Sleep(30 * time.Millisecond)
			second, _ := s.Host.Read(file)
			assert.Equal(t, first, second, "it still writes")
		})
	}
}
