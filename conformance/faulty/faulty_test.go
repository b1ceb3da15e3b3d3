package faulty_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/conformance/faulty"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/ledger"
)

// lines is the smallest ledger.
type lines struct{ got []string }

func (l *lines) Append(_ context.Context, line []byte) error {
	l.got = append(l.got, string(line))
	return nil
}
func (l *lines) Lines(context.Context, func([]byte) bool) error { return nil }
func (l *lines) Close() error                                   { return nil }

func TestFail_ModesDifferInWhatHappened(t *testing.T) {
	full := fault.New(ledger.CodeFailed, "path", "x", "detail", "full")
	for _, tt := range []struct {
		mode faulty.Mode
		want []string
	}{
		{faulty.Before, []string{"one1", "three"}},
		{faulty.After, []string{"one1", "two2", "three"}},
		{faulty.Short, []string{"one1", "tw", "three"}},
	} {
		inner := &lines{}
		l := faulty.Ledger(inner, faulty.Fail(2, tt.mode, full))
		require.NoError(t, l.Append(t.Context(), []byte("one1")))
		assert.ErrorIs(t, l.Append(t.Context(), []byte("two2")), full)
		require.NoError(t, l.Append(t.Context(), []byte("three")))
		assert.Equal(t, tt.want, inner.got, "mode %d", tt.mode)
	}
}

func TestFail_HangEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l := faulty.Ledger(&lines{}, faulty.Fail(1, faulty.Hang, nil))
	assert.Equal(t, fault.CodeCancelled, fault.CodeOf(l.Append(ctx, []byte("x"))))
}

func TestAlways_StaysBrokenAndOnlyCountsItsNames(t *testing.T) {
	s := faulty.Always(2, faulty.Before, nil).Only("ledger.append")
	l := faulty.Ledger(&lines{}, s)
	require.NoError(t, l.Lines(t.Context(), nil))
	require.NoError(t, l.Append(t.Context(), []byte("1")))
	for range 3 {
		err := l.Append(t.Context(), []byte("2"))
		assert.True(t, errors.Is(err, faulty.ErrFault), "%v", err)
	}
	assert.Equal(t, 4, s.Calls())
	assert.Len(t, s.Fired(), 3)
}

func TestSweep_FailsEveryCallOnceAndStops(t *testing.T) {
	var fired []string
	runs := 0
	n := faulty.Sweep(t, faulty.Before, nil, func(t *testing.T, s *faulty.Script) {
		runs++
		l := faulty.Ledger(&lines{}, s)
		for range 3 {
			if l.Append(t.Context(), []byte("x")) != nil {
				break
			}
		}
		fired = append(fired, s.Fired()...)
	})
	assert.Equal(t, 3, n)
	assert.Equal(t, 4, runs)
	assert.Len(t, fired, 3)
}
