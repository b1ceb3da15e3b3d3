// Package tracetest is the contract suite of ports/trace (LOG-01, LOG-02, LOG-04): every event of a stream arrives once, in
// its order, as it was when it was emitted, and no event whatever fails the caller. It knows no adapter.
package tracetest

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/trace"
)

// Seen is what an adapter kept of one event. Value is its field "value".
type Seen struct{ Name, Session, Task, PlannerTask, Call, Value string }

// Run runs the suite. open returns a new Sink that keeps every stream and level, and a function that is called once, after
// the last Emit, and tells what arrived on a stream, in its order.
func Run(t *testing.T, open func(t *testing.T) (s trace.Sink, seen func(trace.Stream) []Seen)) {
	t.Helper()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	streams := []trace.Stream{trace.App, trace.LLM, trace.Tokens, trace.HTTP}

	for _, stream := range streams {
		t.Run("correlated, and as it was: "+string(stream), func(t *testing.T) {
			s, seen := open(t)
			fields := []trace.Field{trace.F("value", "before")}
			s.Emit(trace.Event{
				At: at, Stream: stream, Level: trace.Info, Name: "a.b", Session: "s", Task: "t", PlannerTask: "p", Call: "c", Fields: fields,
			})
			fields[0].Value = "after"
			assert.Equal(t, []Seen{{"a.b", "s", "t", "p", "c", "before"}}, seen(stream))
		})
	}
	t.Run("many at once", func(t *testing.T) {
		s, seen := open(t)
		const writers, each = 4, 100
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for i := range each {
					s.Emit(trace.Event{At: at, Stream: trace.Tokens, Name: fmt.Sprint("w", w), Fields: []trace.Field{trace.F("value", fmt.Sprint(i))}})
				}
			})
		}
		wg.Wait()
		next := map[string]int{}
		for _, e := range seen(trace.Tokens) {
			require.Equal(t, fmt.Sprint(next[e.Name]), e.Value, "each writer's events keep their order")
			next[e.Name]++
		}
		require.Len(t, next, writers)
		for w, n := range next {
			require.Equal(t, each, n, w)
		}
	})
	t.Run("no event fails the caller", func(t *testing.T) {
		s, seen := open(t)
		odd := []any{nil, func() {}, make(chan int), strings.Repeat("x", 1<<20), "\x00\xff\n", []string{"a", "b"}, struct{ A any }{}}
		for _, stream := range append(streams, "", "no such stream") {
			s.Emit(trace.Event{Stream: stream})
			for _, v := range odd {
				s.Emit(trace.Event{At: at, Stream: stream, Name: "odd\nname", Fields: []trace.Field{trace.F("", v)}})
			}
			s.Emit(trace.Event{At: at, Stream: stream, Name: "last"})
		}
		got := seen(trace.Tokens)
		require.NotEmpty(t, got)
		require.Equal(t, "last", got[len(got)-1].Name)
	})
}
