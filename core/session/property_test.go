package session_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/session"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// Whatever arrives in whatever order: never two started Tasks, first in first out, final states never change, Ended exactly
// once per accepted Task, Apply is pure, and the queue drains.
func TestApply_RandomEventsKeepTheRules(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 7))
		b := open(t, session.Limits{MaxQueued: 4, KeepFinished: 1000, KeepSessions: 5})
		var accepted, startedIDs []string
		active, canceled := "", map[string]bool{}
		final := map[string]service.State{}
		check := func(e session.Event) {
			before := bytes(t, b.s)
			old := b.s
			_, twice := session.Apply(old, e)
			b.feed(e)
			require.Equal(t, before, bytes(t, old), "Apply changed its argument")
			require.Equal(t, fmt.Sprint(twice), fmt.Sprint(b.effects), "the same event, the same effects")
			for _, e := range b.effects {
				switch e := e.(type) {
				case session.Accepted:
					accepted = append(accepted, e.TaskID)
				case session.Start:
					require.Empty(t, active, "seed %d: two started", seed)
					active = e.TaskID
					startedIDs = append(startedIDs, e.TaskID)
				case session.Cancel:
					require.Equal(t, active, e.TaskID)
					require.False(t, canceled[e.TaskID])
					canceled[e.TaskID] = true
				case session.Ended:
					_, again := final[e.TaskID]
					require.False(t, again, "ended twice")
					final[e.TaskID] = e.State
					if active == e.TaskID {
						active = ""
					}
				}
			}
			for id, state := range final {
				if task, f := b.s.Find(id, ""); f == nil {
					require.Equal(t, state, task.State)
				}
			}
		}
		states := []service.State{service.Queued, service.Planning, service.Running, service.Completed, service.Failed, service.Cancelled}
		n := 0
		pick := func() string { return fmt.Sprint("t", r.IntN(n+1)) }
		for range 100 {
			switch r.IntN(8) {
			case 0, 1, 2:
				n++
				s := session.Submitted{At: b.at, TaskID: fmt.Sprint("t", n), NewSession: fmt.Sprint("s", n), Owner: fmt.Sprint("o", r.IntN(3))}
				if r.IntN(3) == 0 {
					s.SessionID = fmt.Sprint("s", r.IntN(n+1))
				}
				check(s)
			case 3:
				check(session.CancelAsked{At: b.at, TaskID: pick()})
			case 4:
				if r.IntN(6) == 0 {
					check(session.OwnerGone{At: b.at, Owner: fmt.Sprint("o", r.IntN(3))})
				}
			case 5:
				check(session.Moved{At: b.at, TaskID: pick(), State: states[r.IntN(6)]})
			case 6:
				check(session.Moved{At: b.at, TaskID: active, State: states[1+r.IntN(2)]})
			case 7:
				check(session.Finished{At: b.at, TaskID: active, State: states[r.IntN(6)]})
			}
		}
		check(session.Stopping{At: b.at})
		if active != "" {
			check(session.Finished{At: b.at, TaskID: active, State: service.Cancelled})
		}
		queued, act, _, _ := b.s.Counts()
		require.Zero(t, queued+act, "drained")
		require.Len(t, final, len(accepted), "every accepted Task ended")
		at := 0
		for _, id := range startedIDs { // the started are a subsequence of the accepted
			for at < len(accepted) && accepted[at] != id {
				at++
			}
			require.Less(t, at, len(accepted), "out of order")
		}
	}
}
