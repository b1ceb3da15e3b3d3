package linux

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/journal"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// listing is all that stat tells of a directory's content, directories included; access times are nobody's change.
func listing(t *testing.T, dir string) (out []string) {
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		st := info.Sys().(*syscall.Stat_t)
		out = append(out, fmt.Sprintf("%s %d %v %d %d:%d %d %d %d", path, st.Ino, info.Mode(), info.Size(), st.Uid, st.Gid, st.Nlink, info.ModTime().UnixNano(), st.Ctim.Nano()))
		return nil
	}))
	return out
}

// cleanRoots makes a place with one root of each kind; work is the only one a job writes in.
func cleanRoots(t *testing.T) (base, work string, spec sandbox.Spec) {
	base = host{}.TempDir(t)
	for _, d := range []string{"work", "work/.git", "work/.git/hooks", "work/deep", "work/deep/inner", "ro", "ro/sub", "nd", "nx", "single"} {
		host{}.Mkdir(t, filepath.Join(base, d))
		host{}.Write(t, filepath.Join(base, d, "f"), "original")
	}
	work = base + "/work"
	host{}.Write(t, work+"/.git/config", "[core]\n")
	require.NoError(t, os.Symlink("f", base+"/ro/link"))
	spec = shellSpec(t, work, "")
	spec.Roots = []rights.Root{
		{Path: base + "/nd", Rights: rights.Read | rights.Write},
		{Path: base + "/nx", Rights: rights.All &^ rights.Execute},
		{Path: base + "/ro", Rights: rights.Read},
		{Path: base + "/ro/sub", Rights: rights.Read | rights.Write},
		{Path: base + "/single/f", Rights: rights.Read | rights.Write},
		{Path: work, Rights: rights.All},
	}
	sortRoots(spec.Roots)
	spec.Protect = []string{work + "/.git/config", work + "/.git/hooks"}
	return base, work, spec
}

const lookAround = `find . ` + `"$RO" "$ND" >/dev/null; cat f .git/config "$RO/f" >/dev/null; echo try >.git/config; rm -f "$RO/f"; :`

// PRF-02: every root is, before, during and after a run, what it was, but for what the job wrote; no placeholder, no mark.
func TestClean_RootsStayAsTheyWere(t *testing.T) {
	base, work, spec := cleanRoots(t)
	spec.Env = []string{"RO=" + base + "/ro", "ND=" + base + "/nd"}
	box := New(Options{})
	before := listing(t, base)
	spec.Args = []string{"-c", "{ " + lookAround + "; } 2>/dev/null"}
	res, err := box.Run(context.Background(), spec)
	require.NoError(t, err)
	require.Zero(t, res.ExitCode, "%s", res.Stderr.Head)
	assert.Equal(t, before, listing(t, base), "a job that writes nothing")

	spec.Args = []string{"-c", lookAround + " 2>/dev/null; echo new >made; while [ ! -e go ]; do sleep 0.01; done; rm go"}
	ended := make(chan error, 1)
	go func() { _, err := box.Run(context.Background(), spec); ended <- err }()
	require.Eventually(t, func() bool { _, ok := host{}.Read(work + "/made"); return ok }, 20*time.Second, time.Millisecond)
	during := listing(t, base)
	host{}.Write(t, work+"/go", "")
	require.NoError(t, <-ended)
	require.NoError(t, box.Close())
	but := func(all []string) []string { // the file that was made, and the directory it is in
		return slices.DeleteFunc(slices.Clone(all), func(l string) bool {
			return strings.HasPrefix(l, work+" ") || strings.HasPrefix(l, work+"/made ")
		})
	}
	assert.Equal(t, but(before), but(during), "while it ran")
	assert.Equal(t, but(before), but(listing(t, base)), "afterwards")
}

// traces are what is held of the system by this process and its children, and, where one cannot tell them apart, by others of
// the same user.
func traces(t *testing.T) map[string][]string {
	lines := func(path string) []string {
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		return strings.Split(strings.TrimSpace(string(b)), "\n")
	}
	names := func(pattern string) []string {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		return found
	}
	own := fmt.Sprintf("/proc/self/task/%d/children", os.Getpid())
	out := map[string][]string{
		"mounts": lines("/proc/self/mountinfo"), "children": lines(own), "shared memory": names("/dev/shm/*agent*"),
		"temporary": names(filepath.Join(os.TempDir(), "*agent-mcp-sandbox*")),
	}
	for _, ns := range []string{"user", "mnt", "net", "pid", "ipc", "uts", "cgroup"} {
		link, err := os.Readlink("/proc/self/ns/" + ns)
		require.NoError(t, err)
		out["namespaces"] = append(out["namespaces"], link)
	}
	keys, err := os.ReadFile("/proc/keys")
	if err == nil {
		for l := range strings.Lines(string(keys)) {
			if strings.Contains(l, "agent-mcp-sandbox") {
				out["keyrings"] = append(out["keyrings"], l)
			}
		}
	}
	return out
}

// REC-03, PRF-02: 1,000 runs in a row (200 outside of .ci/run) leave no descriptor, goroutine, process, mount, namespace or keyring, and memory does
// not grow.
func TestClean_ManyRuns(t *testing.T) {
	runs, settle := 200, 100
	switch {
	case testing.Short() || raceDetector:
		runs, settle = 100, 50
	case os.Getenv(allJobs) != "": // it takes a minute
		runs = 1000
	}
	path, err := filepath.EvalSymlinks("/usr/bin/true")
	require.NoError(t, err)
	spec := shellSpec(t, host{}.TempDir(t), "")
	spec.Entry, spec.Args = sandbox.Entry{Name: "true", Path: path, SHA256: host{}.SHA256(t, path)}, nil
	count := func() (fds, routines int) {
		entries, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		return len(entries), runtime.NumGoroutine()
	}
	warm := New(Options{}) // the runtime's own descriptors and threads are there from now on
	_, err = warm.Run(context.Background(), spec)
	require.NoError(t, err)
	require.NoError(t, warm.Close())
	before := traces(t)
	fds, routines := count()
	box := New(Options{})
	memory := 0
	for i := range runs {
		res, err := box.Run(context.Background(), spec)
		require.NoError(t, err)
		require.Zero(t, res.ExitCode)
		if i == settle {
			runtime.GC()
			memory = statusKiB(t, "VmRSS:")
		}
	}
	runtime.GC()
	if !raceDetector {
		assert.Less(t, statusKiB(t, "VmRSS:")-memory, 16<<10, "KiB more than after %d runs", settle)
	}
	require.NoError(t, box.Close())
	settled := func() bool { f, r := count(); return f <= fds && r <= routines }
	for i := 0; i < 1000 && !settled(); i++ {
		time.Sleep(10 * time.Millisecond)
	}
	if !settled() {
		f, r := count()
		stacks := make([]byte, 1<<16)
		t.Errorf("descriptors %d → %d, goroutines %d → %d\n%s", fds, f, routines, r, stacks[:runtime.Stack(stacks, true)])
	}
	left := appeared(before, traces(t)) // other packages' tests run beside this one: what is theirs goes when they end
	for i := 0; i < 1200 && len(left) > 0; i++ {
		time.Sleep(50 * time.Millisecond)
		now := traces(t)
		left = slices.DeleteFunc(left, func(l string) bool { return !slices.Contains(appeared(before, now), l) })
	}
	assert.Empty(t, left)
}

// appeared lists what is in after and was not in before.
func appeared(before, after map[string][]string) (out []string) {
	for kind, lines := range after {
		for _, l := range lines {
			if kind == "keyrings" {
				l, _, _ = strings.Cut(l, " ") // the serial number; the number of its users changes
			}
			if !slices.ContainsFunc(before[kind], func(b string) bool { return b == l || kind == "keyrings" && strings.HasPrefix(b, l+" ") }) {
				out = append(out, kind+": "+l)
			}
		}
	}
	return out
}

// AT-13, REC-06, PRF-02: a Broker that is killed at any moment leaves no helper and no program, undoing what is on record leaves
// no control group, the roots are as they were but for what the job wrote, and the next Broker works at once.
func TestClean_KilledAtRandomMoments(t *testing.T) {
	kills := 200
	if testing.Short() || raceDetector {
		kills = 40
	}
	exe, err := os.Executable()
	require.NoError(t, err)
	dir, records := host{}.TempDir(t), host{}.TempDir(t)
	host{}.Mkdir(t, dir+"/kept")
	host{}.Write(t, dir+"/kept/f", "original")
	kept := listing(t, dir+"/kept")
	random := rand.New(rand.NewPCG(7, 11))
	var all sync.WaitGroup
	slots := make(chan struct{}, 4)
	for i := range kills {
		after := time.Duration(random.IntN(250)) * time.Millisecond
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			killOnce(t, exe, dir, fmt.Sprintf("%s/%d", records, i), after)
		})
	}
	all.Wait()
	assert.Equal(t, kept, listing(t, dir+"/kept"))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range left {
		assert.Contains(t, []string{"kept", "beat"}, e.Name())
	}
	box := New(Options{})
	res, err := box.Run(context.Background(), shellSpec(t, dir, "echo works"))
	require.NoError(t, err)
	assert.Equal(t, "works\n", string(res.Stdout.Head))
	require.NoError(t, box.Close())
}

// killOnce kills one Broker. Its helpers hold the other end of a pipe; the kernel ends their programs with them.
func killOnce(t *testing.T, exe, dir, record string, after time.Duration) {
	held, end, err := os.Pipe()
	if !assert.NoError(t, err) {
		return
	}
	defer func() { _ = held.Close() }()
	broker := &exec.Cmd{Path: exe, Args: []string{"sandbox-broker", dir, record}, ExtraFiles: []*os.File{nil, end}}
	err = broker.Start()
	_ = end.Close()
	if !assert.NoError(t, err) {
		return
	}
	time.Sleep(after)
	_ = broker.Process.Kill()
	_ = broker.Wait()
	assert.NoError(t, held.SetReadDeadline(time.Now().Add(30*time.Second)))
	n, err := held.Read(make([]byte, 1))
	assert.Zero(t, n)
	assert.ErrorIs(t, err, io.EOF, "somebody lives on, %v after its start", after)
	for _, path := range recorded(record) {
		assert.NoError(t, Undoer{}.Undo(context.Background(), journal.Resource{Kind: journal.KindCgroup, Path: path}), after)
		assert.NoDirExists(t, path)
	}
}
