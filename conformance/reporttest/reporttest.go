// Package reporttest is the contract suite of ports/report.
package reporttest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/report"
)

var day = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

func entry(i int) report.Entry {
	return report.Entry{
		Task: fmt.Sprintf("00000000-0000-4000-8000-%012d", i), State: "completed", Title: fmt.Sprint("task --> <", i, ">"),
		Ended: day.Add(time.Duration(i) * time.Second),
	}
}

// Run checks a store; build returns an empty one that keeps at most so many reports.
func Run(t *testing.T, build func(t *testing.T, keep int) report.Store) {
	t.Helper()
	ctx := context.Background()
	tasks := func(t *testing.T, s report.Store, n int) (out []string) {
		got, err := s.Last(ctx, n)
		require.NoError(t, err)
		for _, k := range got {
			out = append(out, k.Task)
		}
		return out
	}
	t.Run("the newest first, with what was said of it", func(t *testing.T) {
		s := build(t, 10)
		require.Empty(t, tasks(t, s, 5))
		for _, i := range []int{2, 3, 1} {
			_, err := s.Put(ctx, entry(i), "# report\n")
			require.NoError(t, err)
		}
		require.Equal(t, []string{entry(3).Task, entry(2).Task}, tasks(t, s, 2))
		require.Empty(t, tasks(t, s, 0))
		require.Empty(t, tasks(t, s, -1))
		got, err := s.Last(ctx, 9)
		require.NoError(t, err)
		require.Len(t, got, 3)
		require.Equal(t, entry(1), got[2].Entry)
	})
	t.Run("the oldest go above the bound", func(t *testing.T) {
		s := build(t, 2)
		for i := range 4 {
			_, err := s.Put(ctx, entry(i), "x")
			require.NoError(t, err)
		}
		require.Equal(t, []string{entry(3).Task, entry(2).Task}, tasks(t, s, 9))
	})
	t.Run("a second report replaces the first", func(t *testing.T) {
		s := build(t, 5)
		e := entry(1)
		_, err := s.Put(ctx, e, "x")
		require.NoError(t, err)
		e.Ended, e.State = e.Ended.Add(time.Hour), "failed"
		_, err = s.Put(ctx, e, "y")
		require.NoError(t, err)
		got, err := s.Last(ctx, 9)
		require.NoError(t, err)
		require.Len(t, got, 1)
		require.Equal(t, e, got[0].Entry)
	})
	t.Run("refuses what it cannot keep", func(t *testing.T) {
		s := build(t, 5)
		for name, e := range map[string]report.Entry{
			"no task": {State: "failed", Ended: day}, "title": {Task: entry(1).Task, Title: strings.Repeat("x", report.MaxTitle+1), Ended: day},
		} {
			_, err := s.Put(ctx, e, "x")
			require.Equal(t, report.CodeFailed, fault.CodeOf(err), name)
		}
		_, err := s.Put(ctx, entry(1), strings.Repeat("x", report.MaxBytes+1))
		require.Equal(t, report.CodeFailed, fault.CodeOf(err))
		cancelled, cancel := context.WithCancel(ctx)
		cancel()
		_, err = s.Put(cancelled, entry(1), "x")
		require.Equal(t, fault.CodeCancelled, fault.CodeOf(err))
		_, err = s.Last(cancelled, 1)
		require.Equal(t, fault.CodeCancelled, fault.CodeOf(err))
		require.Empty(t, tasks(t, s, 5))
	})
	t.Run("several at once", func(t *testing.T) {
		s := build(t, 8)
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				if _, err := s.Put(ctx, entry(i), "x"); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		require.Len(t, tasks(t, s, 99), 8)
	})
}
