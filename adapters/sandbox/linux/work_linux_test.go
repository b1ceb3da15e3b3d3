package linux

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/journal"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

const shell = "/bin/sh"

// shellSpec runs a script under the development profile's rights (FS-08) and normal limits (RES-01).
func shellSpec(t testing.TB, dir, script string) sandbox.Spec {
	path, err := filepath.EvalSymlinks(shell)
	require.NoError(t, err)
	return newShellSpec(path, host{}.SHA256(t, path), dir, script)
}

func newShellSpec(path, sum, dir, script string) sandbox.Spec {
	return sandbox.Spec{
		Roots: []rights.Root{{Path: dir, Rights: rights.All}}, Dir: dir, Args: []string{"-c", script},
		Entry:   sandbox.Entry{Name: "sh", Path: path, SHA256: sum},
		Network: sandbox.Network{Mode: sandbox.NetworkNone},
		Limits:  sandbox.Limits{Processes: 16, MemoryBytes: 4 << 30, WallClock: time.Minute, OutputBytes: 1 << 16},
	}
}

// A root Broker works in workspaces of root and of others; what is written belongs to the directory's owner.
func TestSandbox_Owners(t *testing.T) {
	box := New(Options{})
	defer func() { require.NoError(t, box.Close()) }()
	owners := []int{os.Getuid()}
	if os.Getuid() == 0 {
		owners = append(owners, 12345)
	}
	for _, owner := range owners {
		t.Run(fmt.Sprint(owner), func(t *testing.T) {
			dir := host{}.TempDir(t)
			require.NoError(t, os.WriteFile(dir+"/brokers", []byte("b"), 0o600)) // as the Broker's own tools write it
			if os.Getuid() == 0 {
				require.NoError(t, os.WriteFile(dir+"/owners", []byte("o"), 0o600))
				require.NoError(t, os.Chown(dir+"/owners", owner, owner))
				require.NoError(t, os.Chown(dir, owner, owner))
			} else {
				require.NoError(t, os.WriteFile(dir+"/owners", []byte("o"), 0o600))
			}
			require.NoError(t, os.Chmod(dir, 0o700))
			res, err := box.Run(context.Background(), shellSpec(t, dir, `set -e; echo new >new; chmod 640 new; cat brokers owners; echo + >>brokers; echo + >>owners; test -O new; test -O .`))
			require.NoError(t, err)
			require.Zero(t, res.ExitCode, "%s", res.Stderr.Head)
			assert.Equal(t, "bo", string(res.Stdout.Head))
			info, err := os.Stat(dir + "/new")
			require.NoError(t, err)
			assert.EqualValues(t, owner, info.Sys().(*syscall.Stat_t).Uid)
		})
	}
}

// runBrokerIfAsked is a Broker of its own, to be killed.
func runBrokerIfAsked() {
	if len(os.Args) < 3 || os.Args[0] != "sandbox-broker" {
		return
	}
	dir := os.Args[1]
	path, _ := filepath.EvalSymlinks(shell)
	_, err := New(Options{Guard: recordTo(os.Args[2])}).Run(context.Background(), sandbox.Spec{
		Roots: []rights.Root{{Path: dir, Rights: rights.All}}, Dir: dir, Entry: sandbox.Entry{Name: "sh", Path: path},
		Args:    []string{"-c", `trap "" TERM HUP; (trap "" TERM HUP; while :; do date +%N >beat; done) & while :; do sleep 1; done`},
		Network: sandbox.Network{Mode: sandbox.NetworkNone},
		Limits:  sandbox.Limits{Processes: 16, MemoryBytes: 1 << 30, WallClock: time.Minute, OutputBytes: 1 << 10},
	})
	fmt.Println(err)
	os.Exit(1)
}

// PRF-02: a Broker that is killed leaves no process behind.
func TestSandbox_BrokerKilled(t *testing.T) {
	dir := host{}.TempDir(t)
	exe, err := os.Executable()
	require.NoError(t, err)
	records := host{}.TempDir(t) + "/journal"
	broker := &exec.Cmd{Path: exe, Args: []string{"sandbox-broker", dir, records}}
	require.NoError(t, broker.Start())
	beat := func() string { s, _ := host{}.Read(dir + "/beat"); return s }
	require.Eventually(t, func() bool { return beat() != "" }, 20*time.Second, time.Millisecond)
	require.NoError(t, broker.Process.Kill())
	_ = broker.Wait()
	require.Eventually(t, func() bool { // the kernel kills the namespace right after; no beat for a while means nobody beats
		before := beat()
		time.Sleep(50 * time.Millisecond)
		return before == beat()
	}, 20*time.Second, time.Millisecond)
	for _, path := range recorded(records) {
		require.NoError(t, Undoer{}.Undo(context.Background(), journal.Resource{Kind: journal.KindCgroup, Path: path}))
	}
}

// REC-03, PRF-02: many runs leave no descriptor, thread of control or file behind.
func TestSandbox_LeavesNothing(t *testing.T) {
	dir := host{}.TempDir(t)
	count := func() (fds, routines int) {
		entries, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		return len(entries), runtime.NumGoroutine()
	}
	once := func(n int) {
		box := New(Options{})
		for i := range n {
			spec := shellSpec(t, dir, "exit 0")
			if i%5 == 4 {
				spec.Entry.SHA256 = strings.Repeat("0", 64)
			}
			if i%5 == 3 {
				spec.Entry.Path, spec.Entry.SHA256 = "/etc/ld.so.cache", ""
			}
			_, _ = box.Run(context.Background(), spec)
		}
		require.NoError(t, box.Close())
	}
	once(2)
	fds, routines := count()
	once(50)
	settled := func() bool { f, r := count(); return f <= fds && r <= routines }
	for i := 0; i < 500 && !settled(); i++ {
		time.Sleep(10 * time.Millisecond)
	}
	if !settled() {
		f, r := count()
		stacks := make([]byte, 1<<16)
		t.Errorf("descriptors %d → %d, goroutines %d → %d\n%s", fds, f, routines, r, stacks[:runtime.Stack(stacks, true)])
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left, "nothing is created in a root")
}

// A Spec of any size reaches the helper; many runs at once do not mix.
func TestSandbox_LargeAndConcurrent(t *testing.T) {
	box := New(Options{})
	defer func() { require.NoError(t, box.Close()) }()
	dir := host{}.TempDir(t)
	var results [8]chan string
	for i := range results {
		results[i] = make(chan string, 1)
		go func() {
			spec := shellSpec(t, dir, fmt.Sprintf(`echo %d $# ${#1}`, i))
			spec.Args = append(spec.Args, "sh")
			for range 10 {
				spec.Args = append(spec.Args, strings.Repeat("x", 100_000))
			}
			res, err := box.Run(context.Background(), spec)
			results[i] <- fmt.Sprint(strings.TrimSpace(string(res.Stdout.Head)), err)
		}()
	}
	for i, r := range results {
		assert.Equal(t, fmt.Sprintf("%d 10 100000<nil>", i), <-r)
	}
}

// FS-02, FS-03: a root that is, or leads through, a symlink by now is not what was approved.
func TestSandbox_RootChanged(t *testing.T) {
	box := New(Options{})
	defer func() { require.NoError(t, box.Close()) }()
	base := host{}.TempDir(t)
	require.NoError(t, os.MkdirAll(base+"/real/sub", 0o755))
	require.NoError(t, os.Symlink(base+"/real", base+"/link"))
	for _, root := range []string{base + "/link", base + "/link/sub"} {
		_, err := box.Run(context.Background(), shellSpec(t, root, "exit 0"))
		assert.Equal(t, sandbox.CodeRootChanged, fault.CodeOf(err), root)
	}
	spec := shellSpec(t, base+"/real", "exit 0")
	require.NoError(t, os.Symlink(spec.Entry.Path, base+"/real/sh"))
	spec.Entry.Path = base + "/real/sh"
	_, err := box.Run(context.Background(), spec)
	assert.Equal(t, sandbox.CodeEntryMissing, fault.CodeOf(err), "an entry is never a symlink")
}

// PRC-01: pinned scripts run under their own name, also where the tree could change them.
func TestSandbox_PinnedScript(t *testing.T) {
	box := New(Options{})
	defer func() { require.NoError(t, box.Close()) }()
	dir := host{}.TempDir(t)
	require.NoError(t, os.WriteFile(dir+"/tool.sh", []byte("#!/bin/sh\necho \"$(basename \"$0\") $1\"\n"), 0o755))
	for _, set := range []rights.Set{rights.All, rights.Read | rights.Execute} {
		spec := shellSpec(t, dir, "")
		spec.Roots[0].Rights = set
		spec.Entry = sandbox.Entry{Name: "tool", Path: dir + "/tool.sh", SHA256: host{}.SHA256(t, dir+"/tool.sh")}
		spec.Args = []string{"arg"}
		res, err := box.Run(context.Background(), spec)
		require.NoError(t, err)
		assert.Equal(t, "tool.sh arg\n", string(res.Stdout.Head), "%s", res.Stderr.Head)
	}
	require.NoError(t, os.WriteFile(dir+"/bad.sh", []byte("#!/no/such/interpreter\n"), 0o755))
	spec := shellSpec(t, dir, "")
	spec.Entry = sandbox.Entry{Name: "bad", Path: dir + "/bad.sh"}
	_, err := box.Run(context.Background(), spec)
	assert.Equal(t, sandbox.CodeEntryFailed, fault.CodeOf(err))
}

// PRC-02: a second helper gets what the first one got; the answer tells what was wrong, not that the roots are gone.
func TestSandbox_SecondHelper(t *testing.T) {
	box := New(Options{NoSpare: true})
	defer func() { require.NoError(t, box.Close()) }()
	r, f := box.newRun(context.Background(), shellSpec(t, host{}.TempDir(t), "echo here"))
	require.Nil(t, f)
	defer r.close()
	for range 2 {
		require.Nil(t, r.lookAll())
		c, err := box.ready()
		require.NoError(t, err)
		res, f := r.attempt(context.Background(), time.Now(), c)
		require.Nil(t, f)
		assert.Equal(t, "here\n", string(res.Stdout.Head))
	}
}
