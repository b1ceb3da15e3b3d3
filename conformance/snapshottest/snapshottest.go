// Package snapshottest is the contract suite of ports/snapshot.
package snapshottest

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/snapshot"
)

// Run checks a store; build returns an empty one.
func Run(t *testing.T, build func(t *testing.T) snapshot.Store) {
	t.Helper()
	ctx := context.Background()
	t.Run("nothing applied", func(t *testing.T) {
		_, err := build(t).Load(ctx, "abc")
		require.Equal(t, snapshot.CodeNone, fault.CodeOf(err))
		require.Equal(t, "abc", fault.From(err).Args["config"])
	})
	t.Run("gives back what was saved last", func(t *testing.T) { // CFG-05
		s := build(t)
		data := []byte("one")
		require.NoError(t, s.Save(ctx, "abc", data))
		data[0] = 'X'
		got, err := s.Load(ctx, "abc")
		require.NoError(t, err)
		require.Equal(t, "one", string(got))
		got[0] = 'X'
		require.NoError(t, s.Save(ctx, "other", []byte("three")))
		got, err = s.Load(ctx, "abc")
		require.NoError(t, err)
		require.Equal(t, "one", string(got), "neither side keeps the other's slice, ids are apart")
		require.NoError(t, s.Save(ctx, "abc", []byte("2")))
		got, err = s.Load(ctx, "abc")
		require.NoError(t, err)
		require.Equal(t, "2", string(got))
	})
	t.Run("refuses ids that name no place", func(t *testing.T) {
		s := build(t)
		for _, id := range []string{"", ".", "..", "a/b", "a\\b", "A", "a\x00", strings.Repeat("a", 65)} {
			require.Equal(t, snapshot.CodeFailed, fault.CodeOf(s.Save(ctx, id, []byte("x"))), "%q", id)
			_, err := s.Load(ctx, id)
			require.Equal(t, snapshot.CodeFailed, fault.CodeOf(err), "%q", id)
		}
	})
	t.Run("two writers leave one whole snapshot", func(t *testing.T) {
		s := build(t)
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				for range 5 {
					if err := s.Save(ctx, "abc", bytes.Repeat([]byte{byte('a' + i)}, 10_000)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		got, err := s.Load(ctx, "abc")
		require.NoError(t, err)
		require.Len(t, got, 10_000)
		require.Equal(t, bytes.Repeat(got[:1], 10_000), got)
	})
	t.Run("a cancelled context changes nothing", func(t *testing.T) {
		s := build(t)
		require.NoError(t, s.Save(ctx, "abc", []byte("old")))
		cancelled, cancel := context.WithCancel(ctx)
		cancel()
		require.Equal(t, fault.CodeCancelled, fault.CodeOf(s.Save(cancelled, "abc", []byte("new"))))
		_, err := s.Load(cancelled, "abc")
		require.Equal(t, fault.CodeCancelled, fault.CodeOf(err))
		got, err := s.Load(ctx, "abc")
		require.NoError(t, err)
		require.Equal(t, "old", string(got))
	})
}
