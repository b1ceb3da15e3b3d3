package linux

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// RES-01, PRC-08, PRF-02: what a program uses up meets a wall; nothing of it is left, and the next run is answered.
func TestSandbox_HoldsBombs(t *testing.T) {
	box := New(Options{})
	defer func() { require.NoError(t, box.Close()) }()
	entry, roots := probe(t)
	entry.Name = attackName
	held := 0
	for _, b := range bombs() {
		t.Run(b.name, func(t *testing.T) {
			if raceDetector && strings.Contains(b.want, "out_of_memory") {
				t.Skip("the race detector's own memory does not fit the limit")
			}
			spec := shellSpec(t, host{}.TempDir(t), "")
			mark := "CORPUS_RUN=" + filepath.Base(spec.Dir) + b.name
			spec.Entry, spec.Args, spec.Env, spec.Roots = entry, []string{b.name}, []string{mark}, append(spec.Roots, roots...)
			sortRoots(spec.Roots)
			spec.Limits = sandbox.Limits{Processes: bombProcesses, MemoryBytes: bombMemory, WallClock: time.Minute, OutputBytes: 1 << 16}
			if strings.Contains(b.want, "timed_out") {
				spec.Limits.WallClock = time.Second
			}
			res, err := box.Run(context.Background(), spec)
			require.NoError(t, err)
			got := string(res.End)
			if res.End == sandbox.EndExited {
				if got = "exit"; res.ExitCode == 0 {
					got = lastLine(append(res.Stdout.Head, res.Stdout.Tail...))
				}
			}
			if assert.True(t, b.holds(got), "%s %s: got %q, want %q\n%s", b.req, b.name, got, b.want, res.Stderr.Head) {
				held++
			}
			assert.Empty(t, marked(mark), "a process is left")
			left, err := os.ReadDir(spec.Dir)
			require.NoError(t, err)
			assert.Empty(t, left, "a file is left")
			res, err = box.Run(context.Background(), shellSpec(t, spec.Dir, "echo next"))
			require.NoError(t, err)
			assert.Equal(t, "next\n", string(res.Stdout.Head))
		})
	}
	assert.GreaterOrEqual(t, len(bombs()), leastBombs, "the corpus shrank")
	t.Logf("%d of %d bombs held, as user %d", held, len(bombs()), os.Getuid())
}

const leastBombs = 24

// marked lists the processes of the host that have a mark in their environment.
func marked(mark string) (found []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && bytes.Contains(b, []byte(mark)) {
			found = append(found, f)
		}
	}
	return found
}
