package linux

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// SEC-INV-01, DENY-01, PRC-08, NET-01: code that wants out does not get out.
func TestSandbox_HoldsAttacks(t *testing.T) {
	base := host{}.TempDir(t)
	dir := func(name string) string {
		p := filepath.Join(base, name)
		require.NoError(t, os.Mkdir(p, 0o755))
		for _, f := range []string{"f", "over"} {
			require.NoError(t, os.WriteFile(filepath.Join(p, f), []byte("original"), 0o644))
		}
		require.NoError(t, os.Mkdir(filepath.Join(p, "d"), 0o755))
		host{}.Program(t, filepath.Join(p, "prog"))
		if b, err := os.ReadFile("/usr/bin/true"); err == nil {
			require.NoError(t, os.WriteFile(filepath.Join(p, "true"), b, 0o755))
		}
		return p
	}
	all, ro, nx, nd := dir("all"), dir("ro"), dir("nx"), dir("nd")
	entry, roots := probe(t)
	entry.Name = attackName
	roots = append(roots,
		rights.Root{Path: all, Rights: rights.All}, rights.Root{Path: ro, Rights: rights.Read | rights.Execute},
		rights.Root{Path: nx, Rights: rights.All &^ rights.Execute}, rights.Root{Path: nd, Rights: rights.Read | rights.Write})
	sortRoots(roots)
	box := New(Options{})
	defer func() { require.NoError(t, box.Close()) }()
	res, err := box.Run(context.Background(), sandbox.Spec{
		Roots: roots, Entry: entry, Dir: all, Env: []string{"RO=" + ro, "NX=" + nx, "ND=" + nd},
		Network: sandbox.Network{Mode: sandbox.NetworkNone},
		Limits:  sandbox.Limits{Processes: 8, MemoryBytes: 1 << 30, WallClock: time.Minute, OutputBytes: 1 << 20},
	})
	require.NoError(t, err)
	require.Equal(t, sandbox.EndExited, res.End, "%s %s", res.Signal, res.Stderr.Head)
	got := map[string]string{}
	for line := range strings.Lines(string(res.Stdout.Head)) {
		name, result, _ := strings.Cut(strings.TrimSpace(line), " -> ")
		got[name] = result
	}
	for _, a := range attacks {
		assert.True(t, slices.Contains(strings.Fields(a.want), got[a.name]), "%s: got %q, want %q", a.name, got[a.name], a.want)
	}
	for _, d := range []string{ro, nd} {
		b, err := os.ReadFile(filepath.Join(d, "f"))
		require.NoError(t, err)
		assert.Equal(t, "original", string(b))
	}
}

func sortRoots(roots []rights.Root) {
	slices.SortFunc(roots, func(a, b rights.Root) int { return strings.Compare(a.Path, b.Path) })
}

// RES-01: bombs of processes and of threads meet a wall, and nothing of them is left.
func TestSandbox_HoldsBombs(t *testing.T) {
	box := New(Options{})
	defer func() { require.NoError(t, box.Close()) }()
	dir := host{}.TempDir(t)
	spec := shellSpec(t, dir, `bomb() { bomb | bomb & echo x >>grown; }; bomb; sleep 60`)
	spec.Limits.WallClock = time.Second
	res, err := box.Run(context.Background(), spec)
	require.NoError(t, err)
	assert.Contains(t, []sandbox.End{sandbox.EndTimedOut, sandbox.EndExited}, res.End)
	before, _ := host{}.Read(dir + "/grown")
	time.Sleep(20 * time.Millisecond)
	after, _ := host{}.Read(dir + "/grown")
	assert.Equal(t, len(before), len(after))

	entry, roots := probe(t)
	entry.Name = attackName
	spec.Entry, spec.Args, spec.Limits.Processes, spec.Limits.WallClock = entry, []string{"threads"}, 1, time.Minute
	spec.Roots = append(spec.Roots, roots...)
	sortRoots(spec.Roots)
	res, err = box.Run(context.Background(), spec)
	require.NoError(t, err)
	assert.NotContains(t, string(res.Stdout.Head), "500 threads")
	assert.NotZero(t, res.ExitCode)
}

// RES-01: what lies in the private memory file systems counts, too.
func TestSandbox_CountsHiddenMemory(t *testing.T) {
	box := New(Options{})
	defer func() { require.NoError(t, box.Close()) }()
	for _, place := range []string{"/dev/shm/a", "$TMPDIR/a"} {
		spec := shellSpec(t, host{}.TempDir(t), `head -c 200000000 /dev/zero >"`+place+`"; sleep 1; echo survived`)
		spec.Limits.MemoryBytes = 64 << 20
		res, err := box.Run(context.Background(), spec)
		require.NoError(t, err)
		if res.End != sandbox.EndMemory { // the file system may be full first
			info := string(res.Stderr.Head)
			assert.True(t, strings.Contains(info, "No space left"), "%s: %s %s", place, res.End, info)
		}
	}
}
