package linux

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// allJobs says that the programs the jobs need were installed, so that no more than a few may be skipped, and that there is
// time for what takes long (.ci/run).
const allJobs = "AGENT_MCP_WORK_JOBS"

const leastJobs = 40

// job is one piece of ordinary work in testdata/work. Its file's first comment lines say what it wants:
//
//	needs: names of programs, files, or python:MODULE
//	go: the Go tool chain as a Runtime Root (PRC-03)
//	stdin: bytes of standard input, whose hash lies in stdin.sha256
//	long: left out under -short
type job struct {
	file        string
	needs       []string
	long, tools bool
	stdin       int
}

// Ordinary work passes under the rights of the development profile (FS-08), the limits of the normal one (RES-01) and
// without a network, or people switch the sandbox off.
func TestSandbox_OrdinaryWork(t *testing.T) {
	box := New(Options{})
	files, err := filepath.Glob("testdata/work/*")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), leastJobs)
	var ran atomic.Int32
	for i, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			j := readJob(t, file)
			if j.long && testing.Short() {
				t.Skip("it takes long")
			}
			if raceDetector && (j.long || j.tools || i%6 != 0) {
				t.Skip("the jobs are the same, and the race detector sees enough helpers in some of them")
			}
			spec := j.spec(t)
			res, err := box.Run(context.Background(), spec)
			require.NoError(t, err)
			assert.Equal(t, sandbox.EndExited, res.End)
			assert.Zero(t, res.ExitCode, "%s%s\n%s%s", res.Stdout.Head, res.Stdout.Tail, res.Stderr.Head, res.Stderr.Tail)
			ran.Add(1)
		})
	}
	require.NoError(t, box.Close())
	if os.Getenv(allJobs) != "" && !raceDetector && !chosen() {
		assert.GreaterOrEqual(t, int(ran.Load()), leastJobs, "jobs that ran")
	}
	t.Logf("%d of %d jobs ran", ran.Load(), len(files))
}

// chosen reports whether -test.run or -test.short leaves jobs out.
func chosen() bool {
	return testing.Short() || slices.ContainsFunc(os.Args, func(a string) bool { return strings.Contains(a, "run=") && strings.Contains(a, "/") })
}

func readJob(t *testing.T, file string) job {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	j := job{file: file}
	for line := range strings.Lines(string(text)) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "# ")
		if !ok {
			break
		}
		word, value, _ := strings.Cut(rest, ":")
		switch word {
		case "needs":
			j.needs = append(j.needs, strings.Fields(value)...)
		case "long":
			j.long = true
		case "go":
			j.tools = true
		case "stdin":
			j.stdin, err = strconv.Atoi(strings.TrimSpace(value))
			require.NoError(t, err)
		}
	}
	if filepath.Ext(file) == ".py" {
		j.needs = append(j.needs, "/usr/bin/python3")
	}
	return j
}

// spec is what the Broker would ask for, or a skip when the host has no such program where programs of the runtime are.
func (j job) spec(t *testing.T) sandbox.Spec {
	interpreter := map[string]string{".sh": "/bin/sh", ".bash": "/bin/bash", ".py": "/usr/bin/python3"}[filepath.Ext(j.file)]
	require.NotEmpty(t, interpreter)
	path := []string{"/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"}
	dir := workspace(t)
	roots := []rights.Root{{Path: dir, Rights: rights.All}}
	var env []string
	if j.tools {
		root := goRoot(t)
		path = append([]string{root + "/bin"}, path...)
		if !sandbox.Under(root, "/usr") {
			roots = append(roots, rights.Root{Path: root, Rights: rights.Read | rights.Execute})
		}
		env = []string{"PATH=" + strings.Join(path, ":")}
	}
	for _, need := range j.needs {
		if !present(path, need) {
			t.Skip("this host has no " + need)
		}
	}
	slices.SortFunc(roots, func(a, b rights.Root) int { return strings.Compare(a.Path, b.Path) })
	name := "job" + filepath.Ext(j.file)
	text, err := os.ReadFile(j.file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o644))
	resolved, err := filepath.EvalSymlinks(interpreter)
	require.NoError(t, err)
	args := []string{name}
	if interpreter != "/usr/bin/python3" {
		args = []string{"-eu", name}
	}
	stdin := bytes.Repeat([]byte("0123456789abcdef"), j.stdin/16)
	if j.stdin > 0 {
		sum := sha256.Sum256(stdin)
		require.NoError(t, os.WriteFile(dir+"/stdin.sha256", []byte(hex.EncodeToString(sum[:])), 0o644))
	}
	return sandbox.Spec{
		Roots: roots, Dir: dir, Args: args, Env: env, Stdin: stdin,
		Entry:   sandbox.Entry{Name: filepath.Base(interpreter), Path: resolved, SHA256: host{}.SHA256(t, resolved)},
		Network: sandbox.Network{Mode: sandbox.NetworkNone},
		Limits:  sandbox.Limits{Processes: 16, MemoryBytes: 4 << 30, WallClock: 10 * time.Minute, OutputBytes: 1 << 16},
	}
}

// present reports whether the runtime has a program, a file, or a module of the system's Python.
func present(path []string, need string) bool {
	if module, ok := strings.CutPrefix(need, "python:"); ok {
		return exec.Command("/usr/bin/python3", "-c", "import "+module).Run() == nil
	}
	if filepath.IsAbs(need) {
		_, err := os.Stat(need)
		return err == nil
	}
	return slices.ContainsFunc(path, func(dir string) bool {
		info, err := os.Stat(filepath.Join(dir, need))
		return err == nil && !info.IsDir() && info.Mode()&0o111 != 0
	})
}

// goRoot is the tool chain's directory.
func goRoot(t *testing.T) string {
	tool := "/usr/local/go/bin/go" // where it is usual, and no PATH of a plain user leads
	if found, err := exec.LookPath("go"); err == nil {
		tool = found
	}
	out, err := exec.Command(tool, "env", "GOROOT").Output()
	if err != nil {
		t.Skip("this host has no go")
	}
	root, err := filepath.EvalSymlinks(strings.TrimSpace(string(out)))
	require.NoError(t, err)
	return root
}

// workspace is an empty directory outside /tmp where there is one, as workspaces are: the private /tmp then has its usual
// place.
func workspace(t testing.TB) string {
	dir, err := os.MkdirTemp("/var/tmp", "agent-mcp-work-")
	if err != nil {
		return host{}.TempDir(t)
	}
	t.Cleanup(func() { require.NoError(t, removeAll(dir)) })
	dir, err = filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	return dir
}

// removeAll also removes what its owner may not search or write.
func removeAll(dir string) error {
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}
