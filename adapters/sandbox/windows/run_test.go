package windows

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/internal/winpath"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/journal"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

func runs(t *testing.T, r *rig, s sandbox.Spec) sandbox.Result {
	t.Helper()
	res, err := r.box.Run(context.Background(), s)
	require.NoError(t, err)
	return res
}

// REC-02, RES-01: how a run can end, and that nothing of the tree is left then.
func TestRun_Ends(t *testing.T) {
	for _, c := range []struct {
		name string
		does does
		want sandbox.Result
	}{
		{"exits", does{stdout: "out", stderr: "err", code: 3}, sandbox.Result{End: sandbox.EndExited, ExitCode: 3}},
		{"exits with a large code", does{code: 0xffffffff}, sandbox.Result{End: sandbox.EndExited, ExitCode: 0xffffffff}},
		{"crashes", does{code: 0xc0000005}, sandbox.Result{End: sandbox.EndSignaled, ExitCode: -1, Signal: "STATUS_ACCESS_VIOLATION"}},
		{"crashes otherwise", does{code: 0xc0000123}, sandbox.Result{End: sandbox.EndSignaled, ExitCode: -1, Signal: "STATUS_0xc0000123"}},
		{"hangs", does{hangs: true, kids: 5}, sandbox.Result{End: sandbox.EndTimedOut, ExitCode: -1}},
		{"eats memory", does{memory: true}, sandbox.Result{End: sandbox.EndMemory, ExitCode: -1}},
		{"leaves children", does{kids: 3}, sandbox.Result{End: sandbox.EndExited}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := testSpec(root(`C:\work`, rw))
			s.Limits.WallClock = 50 * time.Millisecond
			if !c.does.hangs {
				s.Limits.WallClock = time.Hour
			}
			w := prepared(s)
			w.does = func(*world, startOrder) does { return c.does }
			r := newRig(t, w)
			res := runs(t, r, s)
			assert.Equal(t, c.want.End, res.End)
			assert.Equal(t, c.want.ExitCode, res.ExitCode)
			assert.Equal(t, c.want.Signal, res.Signal)
			assert.Equal(t, c.does.stdout, string(res.Stdout.Head))
			assert.Equal(t, c.does.stderr, string(res.Stderr.Head))
			assert.True(t, res.Started)
			for _, j := range w.jobs {
				assert.Zero(t, j.now)
			}
		})
	}
}

func TestRun_GivesStandardInput(t *testing.T) {
	s := testSpec(root(`C:\work`, rw))
	s.Stdin = []byte("typed")
	w := prepared(s)
	w.does = func(*world, startOrder) does { return does{stdout: "got "} }
	assert.Equal(t, "got typed", string(runs(t, newRig(t, w), s).Stdout.Head))
}

// REC-05: cancelling ends the tree; the Sandbox's end too.
func TestRun_Cancelled(t *testing.T) {
	for _, byClose := range []bool{false, true} {
		s := testSpec(root(`C:\work`, rw))
		w := prepared(s)
		r := newRig(t, w)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		closed := make(chan error, 1)
		w.does = func(*world, startOrder) does {
			return does{hangs: true, effect: func(*world) {
				if byClose {
					go func() { closed <- r.box.Close() }()
				} else {
					cancel()
				}
			}}
		}
		res, err := r.box.Run(ctx, s)
		require.NoError(t, err)
		assert.Equal(t, sandbox.EndCancelled, res.End)
		if byClose {
			require.NoError(t, <-closed)
			assert.Empty(t, w.handles)
			assert.Empty(t, r.open(t))
		}
	}
}

// PRC-01, PRC-02, PRC-05: only the very file that was approved starts, and only a program.
func TestRun_JudgesTheEntry(t *testing.T) {
	sum := func(text string) string { b := sha256.Sum256([]byte(text)); return hex.EncodeToString(b[:]) }
	for _, c := range []struct {
		name string
		bend func(w *world, s *sandbox.Spec)
		want fault.Code
	}{
		{"approved", func(_ *world, s *sandbox.Spec) { s.Entry.SHA256 = sum("MZ python") }, ""},
		{"not pinned", func(*world, *sandbox.Spec) {}, ""},
		{"changed", func(_ *world, s *sandbox.Spec) { s.Entry.SHA256 = sum("MZ other") }, sandbox.CodeEntryChanged},
		{"gone", func(w *world, _ *sandbox.Spec) { delete(w.dir(`C:\Python313`).kids, "PYTHON.EXE") }, sandbox.CodeEntryMissing},
		{"no program", func(w *world, _ *sandbox.Spec) { w.file(`C:\Python313\python.exe`, "#!/bin/sh") }, sandbox.CodeEntryFailed},
		{"empty", func(w *world, _ *sandbox.Spec) { w.file(`C:\Python313\python.exe`, "") }, sandbox.CodeEntryFailed},
		{"a directory", func(w *world, s *sandbox.Spec) { w.dir(`C:\Python313\d.exe`); s.Entry.Path = `C:\Python313\d.exe` }, sandbox.CodeEntryFailed},
		{"a link", func(w *world, _ *sandbox.Spec) {
			w.file(`C:\Python313\python.exe`, "MZ").link = `C:\Windows\System32\cmd.exe`
		}, sandbox.CodeEntryFailed},
		{"no right to execute", func(w *world, s *sandbox.Spec) {
			w.file(`C:\work\x.exe`, "MZ")
			s.Entry.Path = `C:\work\x.exe`
		}, sandbox.CodeEntryFailed},
		{"directory missing", func(_ *world, s *sandbox.Spec) { s.Dir = `C:\work\none` }, sandbox.CodeRootChanged},
		{"directory is a file", func(w *world, s *sandbox.Spec) { w.file(`C:\work\f`, ""); s.Dir = `C:\work\f` }, sandbox.CodeRootChanged},
		{"a batch file", func(w *world, s *sandbox.Spec) {
			w.file(`C:\Python313\x.bat`, "MZ")
			s.Entry.Path = `C:\Python313\x.bat`
		}, sandbox.CodeEntryFailed},
		{"a document", func(w *world, s *sandbox.Spec) {
			w.file(`C:\Python313\x.txt`, "MZ")
			s.Entry.Path = `C:\Python313\x.txt`
		}, sandbox.CodeEntryFailed},
		{"from the store", func(w *world, s *sandbox.Spec) {
			w.file(`C:\Program Files\WindowsApps\pwsh_7\pwsh.exe`, "MZ")
			s.Entry.Path = `C:\Program Files\WindowsApps\pwsh_7\pwsh.exe`
		}, CodeStoreApp},
		{"refused by the system", func(w *world, _ *sandbox.Spec) {
			w.does = func(*world, startOrder) does { return does{refused: errors.New("access is denied")} }
		}, sandbox.CodeEntryFailed},
		{"not confined", func(w *world, _ *sandbox.Spec) {
			w.does = func(*world, startOrder) does { return does{facts: func(t *tokenFacts) { t.Admin = true }} }
		}, CodeNotConfined},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := testSpec(root(`C:\work`, rw))
			w := prepared(s)
			w.does = func(*world, startOrder) does { return does{} }
			c.bend(w, &s)
			r := newRig(t, w)
			before := w.state()
			_, err := r.box.Run(context.Background(), s)
			assert.Equal(t, c.want, fault.CodeOf(err))
			require.NoError(t, r.box.Settle(context.Background()))
			assert.Equal(t, before, w.state())
			assert.Empty(t, r.open(t))
		})
	}
}

func calls(w *world, name string) (n int) {
	for _, c := range w.log {
		if strings.HasPrefix(c, name) {
			n++
		}
	}
	return n
}

// The cost of lists of rights: the first run of a Task pays for it, later ones write none, and the end of the Task takes all
// back.
func TestRun_SharesEntriesWithinATask(t *testing.T) {
	s := testSpec(root(`C:\work`, rwxd))
	w := prepared(s)
	for i := range 50 {
		w.file(`C:\work\d\f`+string(rune('a'+i)), "x")
	}
	w.does = func(*world, startOrder) does { return does{} }
	r := newRig(t, w)
	before := w.state()
	runs(t, r, s)
	written := calls(w, "SetDACL")
	assert.Greater(t, written, 50)
	for range 3 {
		runs(t, r, s)
	}
	assert.Equal(t, written, calls(w, "SetDACL"))
	assert.NotEmpty(t, r.open(t))
	require.NoError(t, r.box.Settle(context.Background()))
	assert.Equal(t, before, w.state())
	assert.Empty(t, r.open(t))
	require.NoError(t, r.box.Settle(context.Background()), "again")
}

// A run that wants other roots gets exactly its own: nothing of the run before is left to it (SEC-INV-04).
func TestRun_ChangesRoots(t *testing.T) {
	s := testSpec(root(`C:\a`, rwxd))
	w := prepared(s)
	w.file(`C:\a\secret`, "x")
	w.dir(`C:\b`)
	has := func(path string) bool {
		n, err := w.find(path)
		require.NoError(t, err)
		return len(n.list.of(looked.host.Package, false))+len(n.list.of(looked.host.Package, true)) > 0
	}
	var saw [][2]bool
	w.does = func(*world, startOrder) does {
		return does{effect: func(*world) { saw = append(saw, [2]bool{has(`C:\a\secret`), has(`C:\b`)}) }}
	}
	r := newRig(t, w)
	runs(t, r, s)
	runs(t, r, testSpec(root(`C:\b`, r_)))
	assert.Equal(t, [][2]bool{{true, false}, {false, true}}, saw)
}

// Two at once share what they both need; one that needs something else waits, and can be cancelled meanwhile.
func TestRun_AtOnce(t *testing.T) {
	s := testSpec(root(`C:\a`, rwxd))
	w := prepared(s)
	w.dir(`C:\b`)
	started, release := make(chan struct{}, 2), make(chan struct{})
	r := newRig(t, w)
	w.does = func(*world, startOrder) does {
		return does{hangs: true, effect: func(*world) { started <- struct{}{} }}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := r.box.Run(ctx, s)
			<-release
			done <- err
		}()
	}
	<-started
	<-started
	other, stop := context.WithCancel(context.Background())
	stop()
	_, err := r.box.Run(other, testSpec(root(`C:\b`, rw)))
	assert.Equal(t, fault.CodeCancelled, fault.CodeOf(err))
	waiting, leave := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer leave()
	_, err = r.box.Run(waiting, testSpec(root(`C:\b`, rw)))
	assert.Equal(t, fault.CodeTimeout, fault.CodeOf(err))
	cancel()
	close(release)
	require.NoError(t, <-done)
	require.NoError(t, <-done)
	w.does = func(*world, startOrder) does { return does{} }
	runs(t, r, testSpec(root(`C:\b`, rw)))
}

// Another instance of this user holds the profile: its entries must not count for our programs, so we wait.
func TestRun_WaitsForTheProfile(t *testing.T) {
	s := testSpec(root(`C:\work`, rw))
	w := prepared(s)
	w.does = func(*world, startOrder) does { return does{} }
	r := newRig(t, w)
	other, ok, err := w.Claim(looked.host.Profile)
	require.NoError(t, err)
	require.True(t, ok)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err = r.box.Run(ctx, s)
	assert.Equal(t, fault.CodeTimeout, fault.CodeOf(err))
	assert.Empty(t, r.open(t))
	require.NoError(t, w.Close(other))
	runs(t, r, s)
	_, ok, err = w.Claim(looked.host.Profile)
	require.NoError(t, err)
	assert.False(t, ok)
	require.NoError(t, r.box.Settle(context.Background()))
	_, ok, err = w.Claim(looked.host.Profile)
	require.NoError(t, err)
	assert.True(t, ok)
}

// SEC-INV-04: an entry that somebody made deep inside, and that gives more than the policy, stops the run.
func TestRun_FindsForeignEntriesInside(t *testing.T) {
	s := testSpec(root(`C:\work`, r_))
	w := prepared(s)
	r := newRig(t, w)
	n := w.file(`C:\work\a\b\c.txt`, "x")
	n.list, _ = n.list.with([]ace{{Mask: maskWrite, SID: looked.host.Package}})
	before := w.state()
	_, err := r.box.Run(context.Background(), s)
	assert.Equal(t, CodeForeignGrant, fault.CodeOf(err))
	assert.Equal(t, `C:\work\a\b\c.txt`, fault.From(err).Args["path"])
	require.NoError(t, r.box.Settle(context.Background()))
	assert.Equal(t, before, w.state())
}

// What may not be changed inside a root is told, not hidden.
func TestRun_TellsWhatItCouldNotGive(t *testing.T) {
	s := testSpec(root(`C:\work`, rw))
	w := prepared(s)
	w.does = func(*world, startOrder) does { return does{} }
	w.file(`C:\work\theirs\x`, "x")
	w.dir(`C:\work\theirs`).fixed = true
	res := runs(t, newRig(t, w), s)
	require.Len(t, res.Denials, 1)
	assert.Equal(t, sandbox.Denial{Target: `C:\work\theirs`, Right: "read", Reason: CodeGrant, Times: 1}, res.Denials[0])
}

// REC-06: recovery finds a directory that was moved meanwhile, leaves what the owner changed, and takes a removed one as done.
func TestRecovery_TakesOutExactlyWhatIsOurs(t *testing.T) {
	s := testSpec(root(`C:\gone`, rw), root(`C:\moved`, rwxd), root(`C:\stays`, r_))
	w := prepared(s)
	w.file(`C:\moved\f`, "x")
	w.does = func(*world, startOrder) does { return does{} }
	r := newRig(t, w)
	runs(t, r, s)
	w.die()
	c := w.root["C:"]
	moved := c.kids["MOVED"]
	delete(c.kids, "MOVED")
	delete(c.kids, "GONE")
	maps := w.byID
	for id, n := range maps {
		if n.name == "gone" {
			delete(maps, id)
		}
	}
	to := w.dir(`C:\elsewhere`)
	moved.parent, moved.name = to, "new"
	to.kids["NEW"] = moved
	w.dir(`C:\moved`) // another directory by that name
	stays := w.dir(`C:\stays`)
	mine := ace{Mask: maskRead, SID: "S-1-5-21-9-9-9-1000"}
	stays.list, _ = stays.list.with([]ace{mine, {Mask: maskWrite, SID: looked.host.Package}})
	require.NoError(t, r.recover(t))
	assert.Contains(t, stays.list.Aces, mine)
	assert.Equal(t, []ace{{Mask: maskWrite, SID: looked.host.Package}}, stays.list.of(looked.host.Package, false), "not ours")
	for _, n := range []*node{moved, moved.kids["F"]} {
		assert.Empty(t, n.list.of(looked.host.Package, false))
		assert.Empty(t, n.list.of(looked.host.Package, true))
	}
	assert.Empty(t, r.open(t))
}

// REC-07: a record that is not one of ours undoes nothing.
func TestUndoer_FailsClosed(t *testing.T) {
	w := newWorld()
	good := recordOf(journal.KindGrant, `C:\x`, place{ID: objectID{1, strings.Repeat("0", 32)}}.detail(pkg))
	for text, kind := range map[string]journal.Kind{
		"": journal.KindGrant, "{}": journal.KindGrant, "x": journal.KindSeal, `{"layer":"x"}`: journal.KindFirewall, `{"filters":["x"]}`: journal.KindFirewall,
		`{"sid":"S-1-5-32-544"}`: journal.KindExemption, `{"sid":"S-1-15-2-1"}`: journal.KindExemption, "{ }": journal.KindProfile,
		strings.Replace(good.Detail, string(pkg), "S-1-1-0", 1):                                                journal.KindGrant,
		strings.Replace(good.Detail, "}", `,"aces":["`+packAces([]ace{{SID: sidAdmins, Mask: 1}})[0]+`"]}`, 1): journal.KindGrant,
		strings.Replace(good.Detail, "}", `,"aces":["00"]}`, 1):                                                journal.KindGrant,
		strings.Replace(good.Detail, "}", `,"turned":["zz"]}`, 1):                                              journal.KindSeal,
	} {
		err := Undoer{w}.Undo(context.Background(), journal.Resource{Kind: kind, Path: `C:\x`, Detail: text})
		assert.Equal(t, journal.CodeUndoFailed, fault.CodeOf(err), "%s %s", kind, text)
	}
	assert.Zero(t, calls(w, "Set"))
	err := Undoer{w}.Undo(context.Background(), journal.Resource{Kind: journal.KindCgroup, Path: `C:\x`})
	assert.Equal(t, journal.CodeUnknown, fault.CodeOf(err))
	require.NoError(t, Undoer{w}.Undo(context.Background(), journal.Resource{Kind: journal.KindGrant, Path: good.Path, Detail: good.Detail}), "nothing there: done")
}

// NET-02: others on the loopback list stay, and one that the owner put our profile on stays too.
func TestRun_LeavesTheLoopbackListAlone(t *testing.T) {
	s := testSpec(root(`C:\work`, rw))
	s.Network = sandbox.Network{Mode: sandbox.NetworkLocal, Ports: []uint16{80}, Connections: 1, Bytes: 1}
	for _, owners := range []bool{false, true} {
		w := prepared(s)
		r := newRig(t, w)
		if owners {
			w.exempt = append(w.exempt, looked.host.Package)
		}
		before := slices.Clone(w.exempt)
		filtersAtStart := -1
		w.does = func(*world, startOrder) does {
			return does{effect: func(w *world) {
				filtersAtStart = len(w.filters)
				assert.Contains(t, w.exempt, looked.host.Package)
			}}
		}
		runs(t, r, s)
		assert.Equal(t, 8, filtersAtStart, "block before the loopback is opened: six layers and two permits")
		require.NoError(t, r.box.Settle(context.Background()))
		assert.Equal(t, before, w.exempt)
	}
}

type fixedNames map[string][]netip.Addr

func (f fixedNames) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if a, ok := f[host]; ok {
		return a, nil
	}
	return nil, errors.New("no such host")
}

// NET-03: what a name leads to is judged before the start, and the refusal is in the result.
func TestRun_Restricted(t *testing.T) {
	s := testSpec(root(`C:\work`, rw))
	s.Network = sandbox.Network{Mode: sandbox.NetworkRestricted, Hosts: []string{"example.org:443", "evil.example:80", "none.example:1"}, Connections: 1, Bytes: 1}
	w := prepared(s)
	w.does = func(_ *world, o startOrder) does {
		assert.Contains(t, o.Capabilities, sidInternet)
		return does{}
	}
	r := newRig(t, w)
	r.box.options.Resolver = fixedNames(names)
	res := runs(t, r, s)
	require.Len(t, res.Flows, 3)
	assert.Equal(t, []sandbox.Verdict{sandbox.FlowDenied, sandbox.FlowDenied, sandbox.FlowFailed}, []sandbox.Verdict{res.Flows[0].Verdict, res.Flows[1].Verdict, res.Flows[2].Verdict})
	assert.Len(t, res.Denials, 2)
	for _, f := range w.filters {
		assert.NotNil(t, f, "dynamic")
	}
	assert.Len(t, w.filters, 6+2)
}

// PRF-02: what a Task's programs leave in the profile is gone before the next one's start.
func TestRun_EmptiesTheProfile(t *testing.T) {
	s := testSpec(root(`C:\work`, rw))
	w := prepared(s)
	left := ""
	w.does = func(*world, startOrder) does {
		return does{effect: func(w *world) {
			n := w.dir(winpath.Dir(profileDir(looked.host.Profile) + `\x`))
			for k := range n.kids {
				left += k + " "
			}
			w.file(profileDir(looked.host.Profile)+`\evil`, "x")
			w.file(profileDir(looked.host.Profile)+`\Temp\evil`, "x")
		}}
	}
	r := newRig(t, w)
	for range 2 {
		runs(t, r, s)
		require.NoError(t, r.box.Settle(context.Background()))
	}
	assert.Equal(t, "TEMP TEMP ", left)
}

// Rights that meet: check refuses what the port's own check cannot see on a file system without case.
func TestCheck_FoldsCase(t *testing.T) {
	s := testSpec(root(`C:\WORK`, rwxd), root(`C:\work\vendor`, r_))
	f := check(s, testHost())
	require.NotNil(t, f)
	assert.Equal(t, sandbox.CodeNestedRoots, f.Code)
}
