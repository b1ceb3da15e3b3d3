package linux

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/journal"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// recordTo is a guard that keeps open directories in a file, one a line; "-" before those that are gone.
type recordTo string

func (r recordTo) Open(_ context.Context, kind journal.Kind, path string) (journal.Resource, error) {
	return journal.Resource{ID: path, Kind: kind, Path: path}, r.line(path)
}

func (r recordTo) Close(_ context.Context, res journal.Resource) error { return r.line("-" + res.Path) }

func (r recordTo) line(s string) error {
	f, err := os.OpenFile(string(r), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(s + "\n")
	return errors.Join(err, f.Close())
}

// recorded lists what was made and not removed.
func recorded(file string) (open []string) {
	text, _ := os.ReadFile(file)
	lines := strings.Fields(string(text))
	for _, l := range lines {
		if l[0] != '-' && !bytes.Contains(text, []byte("-"+l+"\n")) {
			open = append(open, l)
		}
	}
	return open
}

// levels runs a test with and without control groups, where there are any.
func levels(t *testing.T, test func(t *testing.T, box *Sandbox, level sandbox.Level)) {
	for name, options := range map[string]Options{"L2": {NoCgroup: true}, "L3": {}} {
		t.Run(name, func(t *testing.T) {
			box := New(options)
			defer func() { require.NoError(t, box.Close()) }()
			report, err := box.Preflight(context.Background())
			require.NoError(t, err)
			if name == "L3" && report.Level != sandbox.L3 {
				t.Skip("no control groups here: ", report.Missing)
			}
			test(t, box, report.Level)
		})
	}
}

// OBS-01, RES-01: what is promised is named, and the demand for more is refused.
func TestSandbox_LevelOfLimits(t *testing.T) {
	levels(t, func(t *testing.T, box *Sandbox, level sandbox.Level) {
		report, err := box.Preflight(context.Background())
		require.NoError(t, err)
		spec := shellSpec(t, host{}.TempDir(t), "true")
		spec.Require = sandbox.Exact
		res, err := box.Run(context.Background(), spec)
		memory := report.Ability(sandbox.ItemMemory)
		if level == sandbox.L3 {
			require.NoError(t, err)
			assert.Empty(t, report.Missing)
			assert.Contains(t, []string{"cgroup1", "cgroup2"}, memory.Mechanism)
			assert.Equal(t, sandbox.Exact, memory.Strength)
			assert.Equal(t, report.Abilities, res.Enforced)
			return
		}
		assert.Equal(t, sandbox.CodeTooWeak, fault.CodeOf(err))
		assert.Equal(t, sandbox.Approximate, memory.Strength)
		require.Len(t, report.Missing, 1)
		assert.Equal(t, sandbox.CodeNoCgroup, report.Missing[0].Code)
		assert.Equal(t, "switched off", report.Missing[0].Args["reason"])
		assert.NotEmpty(t, report.Missing[0].Args["remedy"])
	})
}

// RES-01: without a cgroup each process is bound by itself as well; with one, what is only mapped costs nothing.
func TestSandbox_DataLimit(t *testing.T) {
	levels(t, func(t *testing.T, box *Sandbox, level sandbox.Level) {
		res, err := box.Run(context.Background(), shellSpec(t, host{}.TempDir(t), "(ulimit -d); true")) // a child: the entry itself may be ahead of its limits
		require.NoError(t, err)
		want := strconv.Itoa(4 << 20)
		if level == sandbox.L3 {
			want = "unlimited"
		}
		assert.Equal(t, want, strings.TrimSpace(string(res.Stdout.Head)))
	})
}

// RES-01: the memory of the whole tree counts, and one process that is killed for it ends the run, also when the entry would
// go on or has ended well; a run that only waits is never said to lack memory.
func TestSandbox_TreeMemory(t *testing.T) {
	take := `head -c 120000000 /dev/zero | tail` // tail must keep all of it
	for name, c := range map[string]struct {
		script string
		l3     bool // needs a cgroup to be seen for sure
	}{
		"children":    {script: strings.Repeat(take+" & ", 4) + "sleep 60"},
		"one of many": {script: `sh -c "` + strings.Replace(take, "120000000", "400000000", 1) + `" >/dev/null || true; sleep 60`, l3: true},
		"after it":    {script: strings.Replace(take, "120000000", "400000000", 1) + " >/dev/null; exit 0", l3: true},
		"tmp":         {script: `head -c 400000000 /dev/zero >/dev/shm/x; sleep 60`},
	} {
		t.Run(name, func(t *testing.T) {
			levels(t, func(t *testing.T, box *Sandbox, level sandbox.Level) {
				if c.l3 && level != sandbox.L3 {
					t.Skip("a process may fail by its own limit first")
				}
				spec := shellSpec(t, host{}.TempDir(t), c.script)
				spec.Limits.MemoryBytes = 200 << 20
				res, err := box.Run(context.Background(), spec)
				require.NoError(t, err)
				assert.Equal(t, sandbox.EndMemory, res.End, "%s", res.Stderr.Head)
				assert.Equal(t, -1, res.ExitCode)
				assert.True(t, res.Started)
			})
		})
	}
}

// RES-01: time and the caller's word end a run as what they are, with much memory in use and with little.
func TestSandbox_TimeIsNoMemory(t *testing.T) {
	levels(t, func(t *testing.T, box *Sandbox, _ sandbox.Level) {
		spec := shellSpec(t, host{}.TempDir(t), `head -c 60000000 /dev/zero >/dev/shm/x; sleep 60`)
		spec.Limits.MemoryBytes, spec.Limits.WallClock = 128<<20, 2*time.Second
		res, err := box.Run(context.Background(), spec)
		require.NoError(t, err)
		assert.Equal(t, sandbox.EndTimedOut, res.End)
		ctx, cancel := context.WithCancel(context.Background())
		spec = shellSpec(t, host{}.TempDir(t), `echo up >up; sleep 60`)
		go func() {
			for _, ok := (host{}).Read(spec.Dir + "/up"); !ok; _, ok = (host{}).Read(spec.Dir + "/up") {
				time.Sleep(time.Millisecond)
			}
			cancel()
		}()
		res, err = box.Run(ctx, spec)
		require.NoError(t, err)
		assert.Equal(t, sandbox.EndCancelled, res.End)
	})
}

// RES-01: bombs of processes and threads meet the same walls with and without control groups, and other runs go on.
func TestSandbox_BombsAtEachLevel(t *testing.T) {
	levels(t, func(t *testing.T, box *Sandbox, _ sandbox.Level) {
		spec := shellSpec(t, host{}.TempDir(t), `bomb() { bomb | bomb & }; bomb; sleep 60`)
		spec.Limits.WallClock = 2 * time.Second
		ended := make(chan sandbox.Result, 1)
		go func() { res, _ := box.Run(context.Background(), spec); ended <- res }()
		other, err := box.Run(context.Background(), shellSpec(t, host{}.TempDir(t), "echo beside"))
		require.NoError(t, err)
		assert.Equal(t, "beside\n", string(other.Stdout.Head))
		assert.Contains(t, []sandbox.End{sandbox.EndTimedOut, sandbox.EndExited}, (<-ended).End)

		entry, roots := probe(t)
		entry.Name = attackName
		spec.Entry, spec.Args, spec.Limits.Processes, spec.Limits.WallClock = entry, []string{"threads"}, 1, time.Minute
		spec.Roots = append(spec.Roots, roots...)
		sortRoots(spec.Roots)
		res, err := box.Run(context.Background(), spec)
		require.NoError(t, err)
		assert.NotContains(t, string(res.Stdout.Head), "500 threads")
		assert.NotZero(t, res.ExitCode)
	})
}

// RES-01: a child that prints 10 GiB neither fills the Broker's memory nor keeps it from other work.
func TestSandbox_OutputFlood(t *testing.T) {
	if raceDetector {
		t.Skip("takes minutes under the race detector")
	}
	const flood = 10 << 30
	box := New(Options{})
	defer func() { require.NoError(t, box.Close()) }()
	spec := shellSpec(t, host{}.TempDir(t), "head -c "+strconv.Itoa(flood)+" /dev/zero")
	spec.Limits.MemoryBytes, spec.Limits.WallClock = 64<<20, 5*time.Minute
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil { // VmHWM starts anew: proc_pid_clear_refs(5)
		t.Skip("the peak of memory cannot be measured: ", err)
	}
	before := statusKiB(t, "VmRSS:")
	ended := make(chan sandbox.Result, 1)
	go func() { res, _ := box.Run(context.Background(), spec); ended <- res }()
	for range 5 {
		res, err := box.Run(context.Background(), shellSpec(t, host{}.TempDir(t), "echo beside"))
		require.NoError(t, err)
		assert.Equal(t, "beside\n", string(res.Stdout.Head))
	}
	res := <-ended
	assert.Equal(t, sandbox.EndExited, res.End)
	assert.EqualValues(t, flood, res.Stdout.Total)
	assert.LessOrEqual(t, len(res.Stdout.Head)+len(res.Stdout.Tail), spec.Limits.OutputBytes)
	assert.Less(t, statusKiB(t, "VmHWM:")-before, 32<<10, "KiB more at the peak")
}

func statusKiB(t *testing.T, name string) int {
	text, err := os.ReadFile("/proc/self/status")
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(text), name)
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	require.NoError(t, err)
	return n
}

// deadTrials lists trial directories that nobody holds: others on this host may be in the middle of theirs.
func deadTrials(t *testing.T) (found []string) {
	plan, _ := chooseGroup(hostFacts())
	if plan.Version == 0 {
		return nil
	}
	for _, dir := range plan.homes(".") {
		entries, err := filepath.Glob(filepath.Join(dir, trialPrefix+"*"))
		require.NoError(t, err)
		for _, e := range entries {
			if unlock, err := (hostGroups{}).Lock(e); err == nil {
				unlock()
				found = append(found, e)
			}
		}
	}
	return found
}

// REC-06, PRF-02, AT-13: a Broker killed with a run and a spare helper leaves directories that are on record, and undoing
// removes all of them; a living instance's are refused.
func TestUndo_RemovesWhatTheKilledLeft(t *testing.T) {
	records, dir := host{}.TempDir(t)+"/journal", host{}.TempDir(t)
	exe, err := os.Executable()
	require.NoError(t, err)
	broker := &exec.Cmd{Path: exe, Args: []string{"sandbox-broker", dir, records}}
	require.NoError(t, broker.Start())
	require.Eventually(t, func() bool { _, ok := host{}.Read(dir + "/beat"); return ok }, 20*time.Second, time.Millisecond)
	left := recorded(records)
	if len(left) == 0 {
		_ = broker.Process.Kill()
		_ = broker.Wait()
		t.Skip("no control groups here")
	}
	for _, path := range left {
		require.Eventually(t, func() bool { // the run's cell, and the spare's
			entries, _ := filepath.Glob(path + "/h*")
			return len(entries) == 2
		}, 20*time.Second, time.Millisecond)
		err := Undoer{}.Undo(context.Background(), journal.Resource{Kind: journal.KindCgroup, Path: path})
		assert.Equal(t, journal.CodeUndoFailed, fault.CodeOf(err), "it lives")
	}
	before, _ := host{}.Read(dir + "/beat")
	require.Eventually(t, func() bool { now, _ := host{}.Read(dir + "/beat"); return now != before }, 20*time.Second, time.Millisecond, "nothing in it was killed")
	require.NoError(t, broker.Process.Kill())
	_ = broker.Wait()
	for _, path := range left {
		for range 2 { // again is success
			require.NoError(t, Undoer{}.Undo(context.Background(), journal.Resource{Kind: journal.KindCgroup, Path: path}))
		}
		_, err := os.Stat(path)
		assert.ErrorIs(t, err, os.ErrNotExist)
	}
}

// REC-06: nothing but a directory of ours in a cgroup file system is touched.
func TestUndo_TouchesNothingElse(t *testing.T) {
	dir := host{}.TempDir(t)
	ours := filepath.Join(dir, newGroupName(""))
	require.NoError(t, os.Mkdir(ours, 0o755))
	require.NoError(t, os.Symlink(ours, filepath.Join(dir, "agent-mcp-0123456789abcdef")))
	for path, code := range map[string]fault.Code{
		ours: journal.CodeUndoFailed, dir: journal.CodeUndoFailed, "/sys/fs/cgroup": journal.CodeUndoFailed, "relative": journal.CodeUndoFailed,
		ours + "/../" + filepath.Base(ours): journal.CodeUndoFailed, filepath.Join(dir, "agent-mcp-0123456789abcdef"): journal.CodeUndoFailed,
		filepath.Join(dir, "none", "agent-mcp-0123456789abcdef"): "", filepath.Join(dir, "agent-mcp-fedcba9876543210"): "",
	} {
		err := Undoer{}.Undo(context.Background(), journal.Resource{Kind: journal.KindCgroup, Path: path})
		assert.Equal(t, code, fault.CodeOf(err), path)
	}
	assert.DirExists(t, ours)
	err := Undoer{}.Undo(context.Background(), journal.Resource{Kind: journal.KindTree, Path: ours})
	assert.Equal(t, journal.CodeUnknown, fault.CodeOf(err))
}

// REC-06, PRF-02: preflight alone leaves nothing; runs leave nothing after the record is stopped, and the box goes on.
func TestSandbox_RecordsItsGroups(t *testing.T) {
	box := New(Options{})
	report, err := box.Preflight(context.Background())
	require.NoError(t, err)
	assert.Empty(t, deadTrials(t), "a trial leaves nothing")
	for range 2 {
		records := host{}.TempDir(t) + "/journal"
		stop := box.Record(recordTo(records))
		for range 3 {
			res, err := box.Run(context.Background(), shellSpec(t, host{}.TempDir(t), "exit 3"))
			require.NoError(t, err)
			assert.Equal(t, 3, res.ExitCode)
		}
		made := recorded(records)
		assert.Equal(t, report.Level == sandbox.L3, len(made) > 0)
		require.NoError(t, stop())
		assert.Empty(t, recorded(records))
		for _, dir := range made {
			assert.NoDirExists(t, dir)
		}
	}
	require.NoError(t, box.Close())
}

// REC-06: what cannot be put on record is not made, and the run is refused rather than weakened.
func TestSandbox_NoRecordNoRun(t *testing.T) {
	box := New(Options{Guard: recordTo("/proc/no/such/journal")})
	defer func() { require.NoError(t, box.Close()) }()
	report, err := box.Preflight(context.Background())
	require.NoError(t, err)
	if report.Level != sandbox.L3 {
		t.Skip("no control groups here")
	}
	_, err = box.Run(context.Background(), shellSpec(t, host{}.TempDir(t), "true"))
	assert.Equal(t, sandbox.CodeUnavailable, fault.CodeOf(err))
}

// REC-06: a trial that was killed half-way is removed by the next preflight; one that lives is left alone.
func TestPreflight_SweepsDeadTrials(t *testing.T) {
	plan, _ := chooseGroup(hostFacts())
	if plan.Version == 0 {
		t.Skip("no control groups here")
	}
	var homes [2]*groupHome
	for i := range homes {
		home, err := trialHome(plan)
		require.NoError(t, err)
		homes[i] = home
	}
	dead, living := homes[0], homes[1]
	for _, unlock := range dead.unlock {
		unlock()
	}
	dead.unlock = nil
	box := New(Options{})
	_, err := box.Preflight(context.Background())
	require.NoError(t, err)
	require.NoError(t, box.Close())
	for _, dir := range plan.homes(dead.name) {
		assert.NoDirExists(t, dir)
	}
	for _, dir := range plan.homes(living.name) {
		assert.DirExists(t, dir)
	}
	require.NoError(t, living.close(context.Background()))
}
