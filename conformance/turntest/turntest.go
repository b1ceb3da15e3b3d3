// Package turntest is the contract of ports/turn: every Turn passes Run.
package turntest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/turn"
)

// Setup makes one turn; other is a second view of the same turn, as another process has it.
type Setup func(t *testing.T) (a, other turn.Turn)

// Holder makes a test holder.
func Holder(name string) turn.Holder {
	return turn.Holder{Instance: name, PID: 1, Task: "task-" + name}
}

// Run checks the contract.
func Run(t *testing.T, setup Setup) {
	t.Helper()
	t.Run("a free turn is taken at once", func(t *testing.T) {
		a, other := setup(t)
		for _, x := range []turn.Turn{a, other, a} {
			release, err := x.Acquire(t.Context(), Holder("a"), func(turn.Holder) { t.Error("nobody holds it") })
			require.NoError(t, err)
			release()
			release() // twice is once
		}
	})
	t.Run("a waiter learns who holds it, and gets it after", func(t *testing.T) {
		a, other := setup(t)
		release, err := a.Acquire(t.Context(), Holder("a"), nil)
		require.NoError(t, err)
		var seen []turn.Holder
		var once sync.Once
		release2, err := other.Acquire(t.Context(), Holder("b"), func(h turn.Holder) {
			seen = append(seen, h)
			once.Do(release)
		})
		require.NoError(t, err)
		require.NotEmpty(t, seen)
		assert.Equal(t, Holder("a"), seen[0])
		release2()
	})
	t.Run("releasing twice does not free the next holder's turn", func(t *testing.T) {
		a, other := setup(t)
		release, err := a.Acquire(t.Context(), Holder("a"), nil)
		require.NoError(t, err)
		release()
		release2, err := other.Acquire(t.Context(), Holder("b"), nil)
		require.NoError(t, err)
		defer release2()
		release()
		ctx, cancel := context.WithCancel(t.Context())
		_, err = a.Acquire(ctx, Holder("c"), func(h turn.Holder) {
			assert.Equal(t, Holder("b"), h)
			cancel()
		})
		assert.Equal(t, fault.CodeCancelled, fault.CodeOf(err))
	})
	t.Run("giving up leaves the turn alone", func(t *testing.T) {
		a, other := setup(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := a.Acquire(ctx, Holder("a"), nil)
		assert.Equal(t, fault.CodeCancelled, fault.CodeOf(err))
		release, err := other.Acquire(t.Context(), Holder("b"), nil)
		require.NoError(t, err)
		release()
	})
	t.Run("one at a time", func(t *testing.T) {
		a, other := setup(t)
		var inside, most atomic.Int32
		var wg sync.WaitGroup
		ctx := context.WithoutCancel(t.Context())
		for n := range 6 {
			x := []turn.Turn{a, other}[n%2]
			wg.Go(func() {
				for range 3 {
					release, err := x.Acquire(ctx, Holder(fmt.Sprint(n)), nil)
					if !assert.NoError(t, err) {
						return
					}
					if now := inside.Add(1); now > most.Load() {
						most.Store(now)
					}
					inside.Add(-1)
					release()
				}
			})
		}
		wg.Wait()
		assert.EqualValues(t, 1, most.Load())
	})
}
