// Package mcptasktest is the contract suite of ports/mcptask.
package mcptasktest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/mcptask"
)

// Store is a mcptask.Store that can be closed: its server is gone then.
type Store interface {
	mcptask.Store
	Close() error
}

var day = time.Date(2030, 1, 2, 3, 4, 5, 6_000_000, time.UTC)

func rec(i int, server string) mcptask.Record {
	return mcptask.Record{
		Head: mcptask.Head{
			ID: fmt.Sprintf("00000000-0000-4000-8000-%012d", i), Session: "s-1", Server: server, Text: "queued \u2028 <", Created: day.Add(time.Duration(i) * time.Millisecond),
			Status: "working", Message: "待機中", Key: "k", Digest: "ab",
		},
	}
}

// Run checks an adapter; build makes a place that several servers share, and returns what opens a server's store in it.
func Run(t *testing.T, build func(t *testing.T) (open func(server string) Store)) {
	t.Helper()
	ctx := context.Background()
	ids := func(t *testing.T, s Store) (out []string) {
		heads, err := s.List(ctx)
		require.NoError(t, err)
		for _, h := range heads {
			out = append(out, h.ID)
		}
		return out
	}
	put := func(t *testing.T, s Store, r mcptask.Record) {
		t.Helper()
		require.NoError(t, s.Put(ctx, r))
	}
	unknown := func(t *testing.T, s Store, id string) {
		t.Helper()
		_, err := s.Get(ctx, id)
		require.Equal(t, mcptask.CodeUnknown, fault.CodeOf(err))
	}
	t.Run("what was put is there, whole, until it is removed", func(t *testing.T) {
		s := build(t)("a")
		require.Empty(t, ids(t, s))
		r := rec(1, "a")
		put(t, s, r)
		got, err := s.Get(ctx, r.ID)
		require.NoError(t, err)
		require.Equal(t, r, got)
		r.Status, r.Ended, r.Result = "completed", day.Add(time.Hour), json.RawMessage(`{"content":[{"type":"text","text":"done <>"}],"resultType":"complete"}`)
		put(t, s, r)
		got, err = s.Get(ctx, r.ID)
		require.NoError(t, err)
		require.JSONEq(t, string(r.Result), string(got.Result))
		got.Result, r.Result = nil, nil
		require.Equal(t, r, got)
		heads, err := s.List(ctx)
		require.NoError(t, err)
		require.Equal(t, []mcptask.Head{r.Head}, heads)
		require.NoError(t, s.Remove(ctx, r.ID))
		require.NoError(t, s.Remove(ctx, r.ID))
		unknown(t, s, r.ID)
		require.Empty(t, ids(t, s))
	})
	t.Run("the oldest first", func(t *testing.T) {
		s := build(t)("a")
		for _, i := range []int{3, 1, 2} {
			put(t, s, rec(i, "a"))
		}
		require.Equal(t, []string{rec(1, "").ID, rec(2, "").ID, rec(3, "").ID}, ids(t, s))
	})
	t.Run("what a server left is shown when it is gone, not before", func(t *testing.T) {
		open := build(t)
		a, b := open("a"), open("b")
		put(t, a, rec(1, "a"))
		put(t, b, rec(2, "b"))
		unknown(t, b, rec(1, "").ID)
		require.NoError(t, b.Remove(ctx, rec(1, "").ID))
		require.Equal(t, []string{rec(2, "").ID}, ids(t, b))
		require.NoError(t, a.Close())
		require.Equal(t, []string{rec(1, "").ID, rec(2, "").ID}, ids(t, b))
		r, err := b.Get(ctx, rec(1, "").ID)
		require.NoError(t, err)
		r.Server, r.Status = "b", "failed" // taken over
		put(t, b, r)
		c := open("c")
		require.Empty(t, ids(t, c))
		require.NoError(t, b.Close())
		require.Len(t, ids(t, c), 2)
		require.NoError(t, c.Close())
	})
	t.Run("refuses what it cannot keep", func(t *testing.T) {
		s := build(t)("a")
		for name, change := range map[string]func(*mcptask.Record){
			"no id": func(r *mcptask.Record) { r.ID = "" }, "key": func(r *mcptask.Record) { r.Key = strings.Repeat("k", mcptask.MaxKey+1) },
			"size": func(r *mcptask.Record) { r.Text = strings.Repeat("x", mcptask.MaxBytes+1) },
		} {
			r := rec(1, "a")
			change(&r)
			require.Equal(t, mcptask.CodeFailed, fault.CodeOf(s.Put(ctx, r)), name)
		}
		for _, id := range []string{"", "../x", "a/b", "00000000-0000-4000-8000-00000000000", strings.Repeat("a", 300)} {
			unknown(t, s, id)
			require.NoError(t, s.Remove(ctx, id))
		}
		gone, cancel := context.WithCancel(ctx)
		cancel()
		require.Equal(t, fault.CodeCancelled, fault.CodeOf(s.Put(gone, rec(1, "a"))))
		_, err := s.Get(gone, rec(1, "").ID)
		require.Equal(t, fault.CodeCancelled, fault.CodeOf(err))
		require.Empty(t, ids(t, s))
	})
	t.Run("several at once", func(t *testing.T) {
		s := build(t)("a")
		var all sync.WaitGroup
		for i := range 16 {
			all.Go(func() {
				if err := s.Put(ctx, rec(i%8, "a")); err != nil {
					t.Error(err)
				}
				_, _ = s.List(ctx)
			})
		}
		all.Wait()
		require.Len(t, ids(t, s), 8)
	})
}
