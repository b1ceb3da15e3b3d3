package session_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/conformance/golden"
	"github.com/agent-mcp/agent-mcp/core/session"
	"github.com/agent-mcp/agent-mcp/ports/service"
	"github.com/agent-mcp/agent-mcp/ports/turn"
)

// play feeds a script, one event a line (submit ID SESSION|- OWNER, wait ID PID, move ID STATE, finish ID STATE, cancel ID,
// gone OWNER, stop), and returns every effect and the state at the end as bytes.
func play(t testing.TB, script string) []byte {
	t.Helper()
	var out strings.Builder
	b := open(t, session.Limits{})
	for _, l := range strings.Split(script, "\n") {
		f := append(strings.Fields(l), "", "", "")
		var effects []session.Effect
		switch f[0] {
		case "", "#":
			continue
		case "submit":
			effects = b.submit(f[1], strings.TrimPrefix(f[2], "-"), f[3])
		case "wait":
			pid, err := strconv.Atoi(f[2])
			require.NoError(t, err)
			effects = b.feed(session.Waiting{TaskID: f[1], Holder: turn.Holder{PID: pid}})
		case "move":
			effects = b.moved(f[1], service.State(f[2]))
		case "finish":
			effects = b.finish(f[1], service.State(f[2]))
		case "cancel":
			effects = b.feed(session.CancelAsked{At: b.at, TaskID: f[1]})
		case "gone":
			effects = b.feed(session.OwnerGone{At: b.at, Owner: f[1]})
		case "stop":
			effects = b.feed(session.Stopping{At: b.at})
		default:
			t.Fatalf("unknown word %q", f[0])
		}
		fmt.Fprintf(&out, "> %s\n", l)
		for _, e := range effects {
			j, err := json.Marshal(e)
			require.NoError(t, err)
			fmt.Fprintf(&out, "%T %s\n", e, j)
		}
	}
	j, err := json.MarshalIndent(b.s, "", " ")
	require.NoError(t, err)
	return []byte(out.String() + string(j) + "\n")
}

// Determinism: the same events give the same bytes; Go walks its maps anew in every replay.
func TestScripts_SameEventsSameBytes(t *testing.T) {
	scripts, err := filepath.Glob("testdata/*.script")
	require.NoError(t, err)
	require.NotEmpty(t, scripts)
	for _, name := range scripts {
		script, err := os.ReadFile(name)
		require.NoError(t, err)
		first := play(t, string(script))
		for range 10 {
			require.Equal(t, string(first), string(play(t, string(script))))
		}
		golden.Equal(t, strings.TrimSuffix(filepath.Base(name), ".script")+".golden", first)
	}
}

// BenchmarkApply_Submit is agent_run's part of the machine with 1,000 finished Tasks on record.
func BenchmarkApply_Submit(b *testing.B) {
	x := open(b, session.Limits{})
	for i := range 1000 {
		id := fmt.Sprint("t", i)
		x.submit(id, "", "")
		x.moved(id, service.Planning)
		x.moved(id, service.Running)
		x.finish(id, service.Completed)
	}
	b.ReportAllocs()
	for b.Loop() {
		session.Apply(x.s, session.Submitted{TaskID: "n", NewSession: "s"})
	}
}
