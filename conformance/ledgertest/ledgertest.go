// Package ledgertest is the contract of ports/ledger: every Ledger passes Run.
package ledgertest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/ledger"
)

// Setup makes one empty ledger. reopen, when not nil, closes it and opens it again as after a restart.
type Setup func(t *testing.T) (l ledger.Ledger, reopen func() ledger.Ledger)

// Lines collects every line.
func Lines(t *testing.T, l ledger.Ledger) []string {
	t.Helper()
	var out []string
	require.NoError(t, l.Lines(t.Context(), func(line []byte) bool {
		out = append(out, string(line))
		return true
	}))
	return out
}

// Run checks the contract.
func Run(t *testing.T, setup Setup) {
	t.Helper()
	t.Run("gives back what was appended, in order", func(t *testing.T) { // LOG-03
		l, reopen := setup(t)
		assert.Empty(t, Lines(t, l))
		var want []string
		for n := range 50 {
			line := fmt.Sprintf(`{"n":%d,"text":"日本語 %s"}`, n, strings.Repeat("x", n*7))
			buf := []byte(line)
			require.NoError(t, l.Append(t.Context(), buf))
			clear(buf) // the slice is the caller's
			want = append(want, line)
		}
		assert.Equal(t, want, Lines(t, l))
		if reopen != nil {
			l = reopen()
			assert.Equal(t, want, Lines(t, l))
			require.NoError(t, l.Append(t.Context(), []byte("{}")))
			assert.Equal(t, append(want, "{}"), Lines(t, l))
		}
		require.NoError(t, l.Close())
	})
	t.Run("stops when told, and may be appended to while being read", func(t *testing.T) {
		l, _ := setup(t)
		defer func() { assert.NoError(t, l.Close()) }()
		for range 3 {
			require.NoError(t, l.Append(t.Context(), []byte("{}")))
		}
		n := 0
		require.NoError(t, l.Lines(t.Context(), func([]byte) bool {
			n++
			assert.NoError(t, l.Append(t.Context(), []byte("[]")))
			return n < 2
		}))
		assert.Equal(t, 2, n)
		assert.Len(t, Lines(t, l), 5)
	})
	t.Run("refuses what is no line", func(t *testing.T) {
		l, _ := setup(t)
		defer func() { assert.NoError(t, l.Close()) }()
		for _, bad := range []string{"", "a\nb", "\n"} {
			assert.Equal(t, ledger.CodeFailed, fault.CodeOf(l.Append(t.Context(), []byte(bad))), "%q", bad)
		}
		assert.Empty(t, Lines(t, l))
	})
	t.Run("concurrent appends stay whole", func(t *testing.T) {
		l, _ := setup(t)
		defer func() { assert.NoError(t, l.Close()) }()
		ctx := context.WithoutCancel(t.Context())
		var wg sync.WaitGroup
		for n := range 8 {
			wg.Go(func() {
				for i := range 20 {
					assert.NoError(t, l.Append(ctx, fmt.Appendf(nil, `{"from":%d,"n":%02d}`, n, i)))
				}
			})
		}
		wg.Wait()
		lines := Lines(t, l)
		assert.Len(t, lines, 160)
		next := [8]int{}
		for _, line := range lines {
			var from, n int
			_, err := fmt.Sscanf(line, `{"from":%d,"n":%d}`, &from, &n)
			require.NoError(t, err)
			assert.Equal(t, next[from], n, "the order of one caller is kept")
			next[from]++
		}
	})
	t.Run("a cancelled context and a closed ledger append nothing", func(t *testing.T) {
		l, _ := setup(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		assert.Equal(t, fault.CodeCancelled, fault.CodeOf(l.Append(ctx, []byte("{}"))))
		assert.Empty(t, Lines(t, l))
		require.NoError(t, l.Close())
		assert.NoError(t, l.Close())
		assert.Equal(t, ledger.CodeFailed, fault.CodeOf(l.Append(t.Context(), []byte("{}"))))
	})
}
