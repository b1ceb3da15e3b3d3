// Package journaltest is the contract of ports/journal: every Journal passes Run.
package journaltest

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/journal"
)

// Setup makes one empty journal. reopen, when not nil, closes it and opens it again as after a restart.
type Setup func(t *testing.T) (j journal.Journal, reopen func() journal.Journal)

// Record makes the n-th test record.
func Record(n int, op journal.Op) journal.Record {
	path, err := filepath.Abs(filepath.Join(string(filepath.Separator), "tmp", fmt.Sprintf("日本語 %d\n\"x\"", n)))
	if err != nil {
		panic(err)
	}
	return journal.Record{
		At: time.Date(2026, 1, 2, 3, 4, 5, n, time.UTC), Op: op,
		Resource: journal.Resource{ID: fmt.Sprint("r", n), Kind: journal.KindTree, Path: path, Task: "t"},
	}
}

// Run checks the contract.
func Run(t *testing.T, setup Setup) {
	t.Helper()
	t.Run("replays what was appended, in order", func(t *testing.T) { // REC-06
		j, reopen := setup(t)
		got, err := j.Replay(t.Context())
		require.NoError(t, err)
		assert.Empty(t, got)
		want := []journal.Record{Record(1, journal.OpOpen), Record(2, journal.OpOpen), Record(1, journal.OpClose)}
		for i, rec := range want {
			require.NoError(t, j.Append(t.Context(), rec))
			got, err = j.Replay(t.Context())
			require.NoError(t, err)
			assert.Equal(t, want[:i+1], got)
		}
		if reopen != nil {
			j = reopen()
			got, err = j.Replay(t.Context())
			require.NoError(t, err)
			assert.Equal(t, want, got)
			require.NoError(t, j.Append(t.Context(), Record(3, journal.OpOpen)))
			got, err = j.Replay(t.Context())
			require.NoError(t, err)
			assert.Len(t, got, 4)
		}
		require.NoError(t, j.Close())
	})
	t.Run("the replayed slice is the caller's", func(t *testing.T) {
		j, _ := setup(t)
		defer func() { assert.NoError(t, j.Close()) }()
		require.NoError(t, j.Append(t.Context(), Record(1, journal.OpOpen)))
		got, err := j.Replay(t.Context())
		require.NoError(t, err)
		got[0].Resource.Path = "changed"
		again, err := j.Replay(t.Context())
		require.NoError(t, err)
		assert.Equal(t, Record(1, journal.OpOpen), again[0])
	})
	t.Run("concurrent appends are all there", func(t *testing.T) {
		j, _ := setup(t)
		defer func() { assert.NoError(t, j.Close()) }()
		var wg sync.WaitGroup
		for n := range 20 {
			wg.Go(func() { assert.NoError(t, j.Append(context.WithoutCancel(t.Context()), Record(n, journal.OpOpen))) })
		}
		wg.Wait()
		got, err := j.Replay(t.Context())
		require.NoError(t, err)
		ids := map[string]bool{}
		for _, r := range got {
			ids[r.Resource.ID] = true
		}
		assert.Len(t, ids, 20)
	})
	t.Run("a cancelled context appends nothing", func(t *testing.T) {
		j, _ := setup(t)
		defer func() { assert.NoError(t, j.Close()) }()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		assert.Equal(t, fault.CodeCancelled, fault.CodeOf(j.Append(ctx, Record(1, journal.OpOpen))))
		got, err := j.Replay(t.Context())
		require.NoError(t, err)
		assert.Empty(t, got)
	})
	t.Run("closed is closed", func(t *testing.T) {
		j, _ := setup(t)
		require.NoError(t, j.Close())
		assert.NoError(t, j.Close())
		assert.Equal(t, journal.CodeFailed, fault.CodeOf(j.Append(t.Context(), Record(1, journal.OpOpen))))
	})
}
