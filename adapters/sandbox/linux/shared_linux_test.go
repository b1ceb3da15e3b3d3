package linux

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/conformance/sandboxtest"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// sharedBox is a Sandbox that tries nothing above level 1, so that the level can be tested where the host gives more.
// TestSandbox_PoorHosts reaches the same level the real way.
func sharedBox(t testing.TB) *Sandbox {
	box := New(Options{})
	box.most = sandbox.L1
	report, err := box.Preflight(context.Background())
	require.NoError(t, err)
	if report.Level != sandbox.L1 {
		require.NoError(t, box.Close())
		t.Skipf("this host does not give level 1: %v", report.Missing)
	}
	return box
}

// OBS-01: level 1 passes the contract, but for what it says it cannot give.
func TestShared_Contract(t *testing.T) {
	entry, roots := probe(t)
	sandboxtest.Run(t, sandboxtest.Harness{
		New: func(t testing.TB) sandbox.Sandbox { return sharedBox(t) }, Entry: entry, EntryRoots: roots, Host: host{}, Real: true,
		Cannot: []sandboxtest.Gap{sandboxtest.GapAttributes, sandboxtest.GapBesideProtected},
	})
}

// runShared runs a script at level 1.
func runShared(t testing.TB, box *Sandbox, dir, script string) sandbox.Result {
	t.Helper()
	res, err := box.Run(context.Background(), shellSpec(t, dir, script))
	require.NoError(t, err)
	return res
}

// PRF-02: what a run made outside its roots is gone with it, also when directories in it were made unreadable.
func TestShared_ScratchIsRemoved(t *testing.T) {
	box := sharedBox(t)
	defer func() { require.NoError(t, box.Close()) }()
	dir, place := host{}.TempDir(t), filepath.Join(host{}.TempDir(t), "runs")
	box.UseScratch(place, nil)
	res := runShared(t, box, dir, `set -e; echo x >"$TMPDIR/f"; mkdir -p "$HOME/d/e"; echo "$TMPDIR"; (umask 777; mkdir "$HOME/d/e/g")`)
	require.Zero(t, res.ExitCode, "%s", res.Stderr.Head)
	assert.Contains(t, string(res.Stdout.Head), place)
	left, err := os.ReadDir(place)
	require.NoError(t, err)
	assert.Empty(t, left)
}

// PRC-08: processes that left their session, were orphaned and ignore signals end with the run, at a time-out as well.
func TestShared_NothingSurvives(t *testing.T) {
	box := sharedBox(t)
	defer func() { require.NoError(t, box.Close()) }()
	for name, last := range map[string]string{"exit": "exit 0", "time-out": "sleep 60"} {
		t.Run(name, func(t *testing.T) {
			dir := host{}.TempDir(t)
			spec := shellSpec(t, dir, `for i in 1 2 3; do (setsid sh -c 'trap "" TERM HUP INT; (trap "" TERM HUP; while :; do echo >>beat; done) & while :; do :; done' &) ; done
while [ ! -s beat ]; do :; done; `+last)
			spec.Limits.WallClock = 5 * time.Second
			if name == "time-out" {
				spec.Limits.WallClock = time.Second
			}
			_, err := box.Run(context.Background(), spec)
			require.NoError(t, err)
			before, ok := host{}.Read(dir + "/beat")
			require.True(t, ok)
			time.Sleep(50 * time.Millisecond)
			after, _ := host{}.Read(dir + "/beat")
			assert.Equal(t, len(before), len(after))
		})
	}
}

// SEC-INV-01: what belongs to other processes and to the host stays out of reach, though no namespace hides it.
func TestShared_Outsiders(t *testing.T) {
	box := sharedBox(t)
	defer func() { require.NoError(t, box.Close()) }()
	dir := host{}.TempDir(t)
	require.NoError(t, os.WriteFile(dir+"/f", nil, 0o644))
	for name, script := range map[string]string{
		"list /proc":      `ls /proc`,
		"own /proc":       `cat /proc/self/status`,
		"other's command": `cat /proc/1/cmdline`,
		"other's environ": `cat /proc/1/environ`,
		"the helper":      `cat /proc/$PPID/cmdline`,
		"kill the helper": `kill -9 $PPID`,
		"list /dev/pts":   `ls /dev/pts`,
		"shared memory":   `echo >/dev/shm/x`,
		"host's /tmp":     `echo >/tmp/agent-mcp-outside`,
		"list /":          `ls /`,
		"shadow":          `cat /etc/shadow`,
		"chmod":           `chmod 777 f`,
		"touch":           `touch -d 2001-01-01 f`,
		"own nice":        `renice -n 5 -p $PPID`,
	} {
		t.Run(name, func(t *testing.T) {
			res := runShared(t, box, dir, script)
			assert.Equal(t, sandbox.EndExited, res.End)
			assert.NotZero(t, res.ExitCode, "%s", res.Stdout.Head)
		})
	}
	_, err := os.Stat("/tmp/agent-mcp-outside")
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// Ordinary work that level 1 allows.
func TestShared_OrdinaryWork(t *testing.T) {
	box := sharedBox(t)
	defer func() { require.NoError(t, box.Close()) }()
	for name, script := range map[string]string{
		"devices":     `echo x >/dev/null && head -c 8 /dev/urandom >r && test -s r && echo ok >/dev/stdout`,
		"temporary":   `f=$(mktemp) && echo hi >"$f" && test "$(cat "$f")" = hi && case $f in "$TMPDIR"/*) ;; *) exit 1;; esac`,
		"account":     `id -un`,
		"pipes":       `test "$(seq 1 1000 | sort -n | tail -1)" = 1000`,
		"machine":     `grep -q MemTotal /proc/meminfo && grep -q cpu /proc/stat && nproc`,
		"substitute":  `bash -c 'read x < <(echo hi); test "$x" = hi'`,
		"python":      `/usr/bin/python3 -c 'import subprocess,tempfile,ssl,sqlite3,threading; assert subprocess.run(["echo","hi"],capture_output=True).stdout==b"hi\n"; tempfile.TemporaryFile().write(b"x"); t=[threading.Thread(target=int) for _ in range(30)]; [x.start() for x in t]; [x.join() for x in t]'`,
		"git reading": `git --version`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := host{}.TempDir(t)
			var res sandbox.Result
			for range 3 { // a child that ends while fork(2) waits to be asked interrupts it, and dash does not try again: see the package
				res = runShared(t, box, dir, "set -e\n"+script)
				if !strings.Contains(string(res.Stderr.Head), "Cannot fork") {
					break
				}
			}
			assert.Zero(t, res.ExitCode, "%s\n%s", res.Stdout.Head, res.Stderr.Head)
		})
	}
}

// RES-01: without a control group or a namespace, threads are bounded by asking, and a fork bomb meets the wall.
func TestShared_Bombs(t *testing.T) {
	box := sharedBox(t)
	defer func() { require.NoError(t, box.Close()) }()
	dir := host{}.TempDir(t)
	spec := shellSpec(t, dir, `bomb() { bomb | bomb & }; bomb; sleep 60`)
	spec.Limits.WallClock = time.Second
	res, err := box.Run(context.Background(), spec)
	require.NoError(t, err)
	assert.Contains(t, []sandbox.End{sandbox.EndTimedOut, sandbox.EndExited}, res.End)

	entry, roots := probe(t)
	entry.Name = attackName
	spec = shellSpec(t, dir, "")
	spec.Entry, spec.Args, spec.Limits.Processes = entry, []string{"threads"}, 1
	spec.Roots = append(spec.Roots, roots...)
	sortRoots(spec.Roots)
	res, err = box.Run(context.Background(), spec)
	require.NoError(t, err)
	assert.NotContains(t, string(res.Stdout.Head), "500 threads")
}

// SEC-INV: what lies beside a protected path keeps its rights; the path itself and the directories on the way to it do not.
func TestSharedRules_Protect(t *testing.T) {
	if _, f := sharedRules(sandbox.Spec{}, nil, "/t", nil, nil); f != nil {
		t.Fatal(f)
	}
	tree := map[string][]object{
		"/w":      {{Name: ".git"}, {Name: "src"}, {Name: "l", Link: true}, {Name: "c2", Dev: 1, Ino: 7}},
		"/w/.git": {{Name: "config", Dev: 1, Ino: 7}, {Name: "hooks"}, {Name: "HEAD"}},
	}
	list := func(dir string) ([]object, error) { return tree[dir], nil }
	s := sandbox.Spec{Roots: newShellSpec("/bin/sh", "", "/w", "").Roots, Protect: []string{"/w/.git/config", "/w/.git/hooks"}}
	rules, f := sharedRules(s, nil, "/t", list, []object{{Dev: 1, Ino: 7}})
	require.Nil(t, f)
	got := map[string]uint64{}
	for _, r := range rules {
		got[r.Path] = r.Access
	}
	all := uint64(llRead | llWrite | llExecute | llDelete)
	assert.Equal(t, uint64(llUnchanging), got["/w"])
	assert.Equal(t, uint64(llUnchanging), got["/w/.git"])
	assert.Equal(t, all, got["/w/src"])
	assert.Equal(t, all, got["/w/.git/HEAD"])
	for _, p := range []string{"/w/.git/config", "/w/.git/hooks", "/w/l", "/w/c2"} {
		assert.NotContains(t, got, p, "no right but those of the directory above")
	}
	tree["/w"] = make([]object, mostBeside+1)
	_, f = sharedRules(s, nil, "/t", list, nil)
	require.NotNil(t, f)
	assert.Equal(t, sandbox.CodeProtect, f.Code)
}

// runSharedBrokerIfAsked is a Broker at level 1, to be killed; its runs' directories lie in the second argument.
func runSharedBrokerIfAsked() {
	if len(os.Args) < 3 || os.Args[0] != "sandbox-broker-shared" {
		return
	}
	path, _ := filepath.EvalSymlinks(shell)
	box := New(Options{})
	box.most = sandbox.L1
	box.UseScratch(os.Args[2], nil)
	_, err := box.Run(context.Background(), newShellSpec(path, "", os.Args[1],
		`trap "" TERM HUP; (setsid sh -c 'trap "" TERM HUP; while :; do echo >>beat; done' &) ; while :; do sleep 1; done`))
	_, _ = os.Stderr.WriteString(fault.From(err).Error())
	os.Exit(1)
}

// PRF-02: without a pid namespace the helper ends what a killed Broker left, and removes the run's directory.
func TestShared_BrokerKilled(t *testing.T) {
	require.NoError(t, sharedBox(t).Close()) // the host gives the level
	dir, place := host{}.TempDir(t), host{}.TempDir(t)
	exe, err := os.Executable()
	require.NoError(t, err)
	broker := &exec.Cmd{Path: exe, Args: []string{"sandbox-broker-shared", dir, place}}
	require.NoError(t, broker.Start())
	beats := func() int { s, _ := host{}.Read(dir + "/beat"); return len(s) }
	require.Eventually(t, func() bool { return beats() > 0 }, 20*time.Second, time.Millisecond)
	require.NoError(t, broker.Process.Kill())
	_ = broker.Wait()
	require.Eventually(t, func() bool { left, err := os.ReadDir(place); return err == nil && len(left) == 0 }, 20*time.Second, time.Millisecond)
	before := beats() // the directory goes last
	time.Sleep(50 * time.Millisecond)
	assert.Equal(t, before, beats())
}
