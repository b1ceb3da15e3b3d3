package windows

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/journal/mem"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/journal"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// rig is a Sandbox on a machine in memory, with a journal.
type rig struct {
	w   *world
	box *Sandbox
	j   journal.Journal
}

func (r *rig) guard() journal.Guard {
	var n atomic.Int64
	return journal.NewGuard(r.j, func() time.Time { return time.Unix(1, 0) }, func() string { return strconv.FormatInt(n.Add(1), 10) }, "")
}

// looked is what preflight found on the first machine; all are the same.
var looked struct {
	report *sandbox.Report
	host   host
}

func newRig(t *testing.T, w *world) *rig {
	r := &rig{w: w, box: newSandbox(Options{Scratch: `C:\agent\runs`}, w), j: mem.New()}
	r.box.form = func(sandbox.Spec) *fault.Error { return nil } // it judges paths as this system writes them
	if looked.report == nil {
		rep, err := r.box.Preflight(context.Background())
		require.NoError(t, err)
		require.Equal(t, sandbox.L3, rep.Level, "%v", rep.Missing)
		looked.report, looked.host = r.box.report, r.box.host
	}
	require.NoError(t, w.MakeProfile(looked.host.Profile))
	r.box.report, r.box.host = looked.report, looked.host
	r.box.Record(r.guard())
	return r
}

// open are the resources that the journal still has, the youngest first.
func (r *rig) open(t *testing.T) (out []journal.Resource) {
	records, err := r.j.Replay(context.Background())
	require.NoError(t, err)
	for _, rec := range records {
		if rec.Op == journal.OpOpen {
			out = append(out, rec.Resource)
		} else {
			out = slices.DeleteFunc(out, func(o journal.Resource) bool { return o.ID == rec.Resource.ID })
		}
	}
	slices.Reverse(out)
	return out
}

// recover does what the next start does.
func (r *rig) recover(t *testing.T) error {
	for _, res := range r.open(t) {
		var err error
		if res.Kind == journal.KindTree { // another adapter's
			m := &machine{api: r.w}
			err = m.removePath(context.Background(), res.Path)
		} else {
			err = Undoer{r.w}.Undo(context.Background(), res)
		}
		if err != nil {
			return err
		}
		if err := r.j.Append(context.Background(), journal.Record{Op: journal.OpClose, Resource: res}); err != nil {
			return err
		}
	}
	return nil
}

// sweepSpec needs everything that outlives a process: nested roots, a protected directory, filters, the exemption.
func sweepSpec() sandbox.Spec {
	s := testSpec(root(`C:\work`, rw), root(`C:\work\out`, rights.All))
	s.Protect = []string{`C:\work\.git\hooks`}
	s.Network = sandbox.Network{Mode: sandbox.NetworkLocal, Ports: []uint16{8080}, Connections: 1, Bytes: 1}
	return s
}

func sweepWorld() *world {
	w := prepared(sweepSpec())
	w.file(`C:\work\.git\hooks\pre-commit`, "#!")
	w.file(`C:\work\a\b.txt`, "x")
	w.file(`C:\work\out\c.txt`, "x").readOnly = true
	w.dir(`C:\work\j`).link = `C:\Windows`
	w.file(`C:\work\locked\d.txt`, "x")
	w.dir(`C:\work\locked`).fixed = true
	w.dir(`C:\work\own`).list.Protected = true
	w.does = func(w *world, o startOrder) does {
		return does{stdout: "hello", kids: 2, effect: func(w *world) { // the tree works: everything it makes inherits
			w.file(`C:\work\out\new\made.txt`, "made")
			for _, kv := range o.Env {
				if len(kv) > 5 && kv[:5] == "TEMP=" {
					w.file(kv[5:]+`\t.txt`, "temporary")
				}
			}
			for name := range w.profiles {
				w.file(profileDir(name)+`\Temp\left.txt`, "x")
				w.file(profileDir(name)+`\mine\left.txt`, "x")
				w.keys[name] = 3
			}
		}}
	}
	return w
}

// clean removes what the program was allowed to leave, so that the rest can be compared.
func clean(w *world) string {
	if n, err := w.find(`C:\work\out`); err == nil {
		delete(n.kids, "NEW")
	}
	return w.state()
}

// REC-06, REC-07, PRF-02, SEC-INV-10, AT-13: whatever call is the last one, recovery brings back the state before. Each call
// of a whole Task (two runs and its end) fails, or is the process's last, before or after it took effect.
func TestCrash_EveryCall(t *testing.T) {
	probe := newRig(t, sweepWorld())
	before := probe.w.state()
	probe.w.calls = 0
	task := func(r *rig) error {
		for range 2 {
			if _, err := r.box.Run(context.Background(), sweepSpec()); err != nil {
				return err
			}
		}
		return r.box.Settle(context.Background())
	}
	require.NoError(t, task(probe))
	require.Equal(t, before, clean(probe.w), "an undisturbed Task leaves nothing")
	require.Empty(t, probe.open(t))
	total := probe.w.calls
	require.Greater(t, total, 300)
	for _, mode := range []failure{{}, {after: true}, {dies: true}, {after: true, dies: true}} {
		died := 0
		for at := 1; at <= total; at++ {
			r := newRig(t, sweepWorld())
			r.w.fail, r.w.calls = failure{at: at, after: mode.after, dies: mode.dies}, 0
			gone := func() (gone bool) {
				defer func() {
					if v := recover(); v != nil {
						require.Equal(t, death{}, v)
						gone = true
					}
				}()
				_ = task(r)
				return false
			}()
			what := fmt.Sprintf("%+v at call %d of %d (%v)", mode, at, total, r.w.log[max(0, len(r.w.log)-3):])
			if gone {
				died++
				r.w.die()
			} else {
				r.w.fail = failure{}
				_ = r.box.Close() // what failed once is tried again
			}
			require.NoError(t, r.recover(t), what)
			r.w.die()
			require.Equal(t, before, clean(r.w), what)
			require.Empty(t, r.open(t), what)
		}
		if mode.dies {
			assert.Equal(t, total, died)
		}
	}
}

// The process dies with everything standing, and recovery dies at each of its calls: the next recovery still ends clean.
func TestCrash_RecoveryItself(t *testing.T) {
	before := newRig(t, sweepWorld()).w.state()
	crashed := func() *rig {
		r := newRig(t, sweepWorld())
		_, err := r.box.Run(context.Background(), sweepSpec())
		require.NoError(t, err)
		r.w.die()
		require.NotEqual(t, before, r.w.state())
		return r
	}
	probe := crashed()
	require.NoError(t, probe.recover(t))
	total := probe.w.calls
	require.Greater(t, total, 100)
	for _, after := range []bool{false, true} {
		for at := 1; at <= total; at++ {
			r := crashed()
			r.w.fail = failure{at: at, after: after, dies: true}
			func() {
				defer func() { _ = recover() }()
				_ = r.recover(t)
			}()
			r.w.die()
			require.NoError(t, r.recover(t))
			require.Equal(t, before, clean(r.w), "recovery died at call %d", at)
			require.NoError(t, r.recover(t), "again: nothing to do")
			require.Equal(t, before, clean(r.w))
		}
	}
}

// brokenJournal fails from the n-th record on.
type brokenJournal struct {
	journal.Journal
	left int
}

func (b *brokenJournal) Append(ctx context.Context, rec journal.Record) error {
	if b.left--; b.left < 0 {
		return errors.New("disk full")
	}
	return b.Journal.Append(ctx, rec)
}

// REC-06: what cannot be recorded is not made; what was recorded is undone by the next start.
func TestCrash_JournalFails(t *testing.T) {
	before := newRig(t, sweepWorld()).w.state()
	for n := 0; ; n++ {
		r := newRig(t, sweepWorld())
		b := &brokenJournal{Journal: r.j, left: n}
		r.box.Record(journal.NewGuard(b, time.Now, func() string { return strconv.Itoa(n*1000 + b.left) }, ""))
		_, err := r.box.Run(context.Background(), sweepSpec())
		settled := r.box.Settle(context.Background())
		if err == nil && settled == nil {
			assert.Greater(t, n, 20)
			break
		}
		b.left = 1000
		r.w.die()
		require.NoError(t, r.recover(t))
		require.Equal(t, before, clean(r.w), "journal full after %d records", n)
	}
}
