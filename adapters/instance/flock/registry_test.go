package flock_test

import (
	"bufio"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/instance/flock"
	"github.com/agent-mcp/agent-mcp/adapters/journal/file"
	"github.com/agent-mcp/agent-mcp/conformance/instancetest"
	"github.com/agent-mcp/agent-mcp/conformance/journaltest"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/instance"
	"github.com/agent-mcp/agent-mcp/ports/journal"
)

func open(path string) (journal.Journal, error) { return file.Open(path) }

func TestRegistry_Contract(t *testing.T) {
	instancetest.Run(t, func(t *testing.T) (a, b instance.Registry) {
		dir := filepath.Join(t.TempDir(), "state", "instances")
		return flock.New(dir, open), flock.New(dir, open)
	})
}

const childVariable = "AGENT_MCP_TEST_INSTANCES"

// TestMain lets the test binary be a process that owns an instance, journals one resource and waits to be killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv(childVariable); dir != "" {
		o, err := flock.New(dir, open).Own(context.Background(), "child")
		if err == nil {
			err = o.Journal().Append(context.Background(), journaltest.Record(1, journal.OpOpen))
		}
		fmt.Println("ready", err)
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // until the parent kills us or goes away
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func TestRecover_AKilledProcessIsDeadAndOnlyThen(t *testing.T) { // REC-06, AT-13
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+dir)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	defer func() { _ = in.Close() }()
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ready <nil>\n", line)

	r := flock.New(dir, open)
	count := 0
	see := func(ctx context.Context, d instance.Dead) error {
		recs, err := d.Journal.Replay(ctx)
		require.NoError(t, err)
		assert.Len(t, recs, 1)
		count++
		return nil
	}
	require.NoError(t, r.Recover(t.Context(), see))
	assert.Zero(t, count, "it lives")
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	require.NoError(t, r.Recover(t.Context(), see))
	assert.Equal(t, 1, count)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1, "only the registry's lock is left")
}

func TestRegistry_ManyAtOnceNeverSeeEachOtherAsDead(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			r := flock.New(dir, open)
			ctx := context.WithoutCancel(t.Context())
			for i := range 3 {
				id := fmt.Sprintf("i%d-%d", n, i)
				assert.NoError(t, r.Recover(ctx, func(_ context.Context, d instance.Dead) error {
					t.Errorf("%s taken for dead", d.ID)
					return nil
				}))
				o, err := r.Own(ctx, id)
				if assert.NoError(t, err) {
					assert.NoError(t, o.Retire())
				}
			}
		})
	}
	wg.Wait()
}

func TestRecover_CrashInTheMiddleOfMakingOrRemoving(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "empty"), 0o700))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, ".gone-x", "journal"), 0o700))
	var seen []string
	require.NoError(t, flock.New(dir, open).Recover(t.Context(), func(_ context.Context, d instance.Dead) error {
		seen = append(seen, d.ID)
		return nil
	}))
	assert.Equal(t, []string{"empty"}, seen)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1)
}

func TestRecover_DamageIsAReasonNotALoss(t *testing.T) { // REC-07
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "bad"), 0o700))
	path := filepath.Join(dir, "bad", "journal")
	require.NoError(t, os.WriteFile(path, []byte("hello\nworld\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "stray"), nil, 0o600))
	f := fault.From(flock.New(dir, open).Recover(t.Context(), func(context.Context, instance.Dead) error { return nil }))
	require.NotNil(t, f)
	require.Len(t, f.Reasons, 2)
	assert.Equal(t, journal.CodeDamaged, f.Reasons[0].Code)
	assert.Equal(t, instance.CodeFailed, f.Reasons[1].Code)
	assert.FileExists(t, path)
}

func TestOwn_RefusesUnsafeIDsAndPlaces(t *testing.T) {
	dir := t.TempDir()
	for _, id := range []string{"", ".", "..", "a/b", "a b", "日本", ".gone-x", "registry.lock", string(make([]byte, 65))} {
		_, err := flock.New(dir, open).Own(t.Context(), id)
		assert.Equal(t, instance.CodeUnsafe, fault.CodeOf(err), "%q", id)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	_, err := flock.New(filepath.Join(dir, "file", "instances"), open).Own(t.Context(), "a")
	assert.Equal(t, instance.CodeFailed, fault.CodeOf(err))
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		return // root writes everywhere
	}
	locked := filepath.Join(dir, "locked")
	require.NoError(t, os.Mkdir(locked, 0o500))
	_, err = flock.New(filepath.Join(locked, "instances"), open).Own(t.Context(), "a")
	assert.Equal(t, instance.CodeFailed, fault.CodeOf(err))
	assert.ErrorIs(t, err, fs.ErrPermission)
}
