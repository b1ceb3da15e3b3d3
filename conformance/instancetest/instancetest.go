// Package instancetest is the contract of ports/instance: every Registry passes Run.
package instancetest

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/conformance/journaltest"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/instance"
	"github.com/agent-mcp/agent-mcp/ports/journal"
)

// Setup makes the registry of a fresh place; other is a second view of the same place, as another process has it.
type Setup func(t *testing.T) (r, other instance.Registry)

func ids(t *testing.T, r instance.Registry) (out []string) {
	t.Helper()
	require.NoError(t, r.Recover(t.Context(), func(_ context.Context, d instance.Dead) error {
		out = append(out, d.ID)
		return nil
	}))
	return out
}

// Run checks the contract.
func Run(t *testing.T, setup Setup) {
	t.Helper()
	own := func(t *testing.T, r instance.Registry, id string) instance.Owned {
		t.Helper()
		o, err := r.Own(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, id, o.ID())
		return o
	}
	t.Run("the living are never shown", func(t *testing.T) {
		r, other := setup(t)
		a, b := own(t, r, "a"), own(t, other, "b")
		assert.Empty(t, ids(t, r))
		assert.Empty(t, ids(t, other))
		require.NoError(t, a.Retire())
		require.NoError(t, b.Retire())
		assert.Empty(t, ids(t, r))
	})
	t.Run("the dead are shown once, with their journal", func(t *testing.T) { // REC-06
		r, other := setup(t)
		living := own(t, other, "living")
		defer func() { assert.NoError(t, living.Retire()) }()
		for _, id := range []string{"b", "a"} {
			o := own(t, r, id)
			require.NoError(t, o.Journal().Append(t.Context(), journaltest.Record(1, journal.OpOpen)))
			require.NoError(t, o.Close())
			_ = o.Close()
		}
		var seen []string
		require.NoError(t, other.Recover(t.Context(), func(ctx context.Context, d instance.Dead) error {
			recs, err := d.Journal.Replay(ctx)
			require.NoError(t, err)
			if assert.Len(t, recs, 1) {
				assert.Equal(t, journaltest.Record(1, journal.OpOpen), recs[0])
			}
			seen = append(seen, d.ID)
			return nil
		}))
		assert.Equal(t, []string{"a", "b"}, seen)
		assert.Empty(t, ids(t, r))
	})
	t.Run("what could not be undone is kept, the rest is tried", func(t *testing.T) { // REC-07
		r, other := setup(t)
		for _, id := range []string{"a", "b", "c"} {
			require.NoError(t, own(t, r, id).Close())
		}
		bad := fault.New(journal.CodeUndoFailed, "path", "/x", "detail", "busy")
		var seen []string
		err := r.Recover(t.Context(), func(_ context.Context, d instance.Dead) error {
			seen = append(seen, d.ID)
			if d.ID != "b" {
				return bad
			}
			return nil
		})
		f := fault.From(err)
		require.NotNil(t, f)
		assert.Equal(t, instance.CodeRecovery, f.Code)
		assert.Len(t, f.Reasons, 2)
		assert.True(t, errors.Is(f.Reasons[0], bad))
		assert.Equal(t, []string{"a", "b", "c"}, seen)
		assert.Equal(t, []string{"a", "c"}, ids(t, other))
	})
	t.Run("one recovers at a time", func(t *testing.T) { // SEC-INV-11
		r, other := setup(t)
		require.NoError(t, own(t, r, "a").Close())
		inside, leave := make(chan struct{}), make(chan struct{})
		done := make(chan error, 1)
		go func() {
			done <- r.Recover(context.Background(), func(context.Context, instance.Dead) error {
				close(inside)
				<-leave
				return nil
			})
		}()
		<-inside
		ctx, cancel := context.WithCancel(t.Context())
		second := make(chan error, 1)
		go func() {
			second <- other.Recover(ctx, func(context.Context, instance.Dead) error { t.Error("shown twice"); return nil })
		}()
		cancel()
		assert.Equal(t, fault.CodeCancelled, fault.CodeOf(<-second), "it waits as long as it is told to")
		close(leave)
		require.NoError(t, <-done)
		assert.Empty(t, ids(t, other))
	})
	t.Run("an id is used once", func(t *testing.T) {
		r, other := setup(t)
		o := own(t, r, "a")
		_, err := other.Own(t.Context(), "a")
		assert.Equal(t, instance.CodeExists, fault.CodeOf(err))
		require.NoError(t, o.Close())
		_, err = other.Own(t.Context(), "a")
		assert.Equal(t, instance.CodeExists, fault.CodeOf(err), "dead, not gone")
		assert.Equal(t, []string{"a"}, ids(t, r))
		require.NoError(t, own(t, other, "a").Retire())
		_, err = r.Own(t.Context(), "")
		assert.Equal(t, instance.CodeUnsafe, fault.CodeOf(err))
	})
}
