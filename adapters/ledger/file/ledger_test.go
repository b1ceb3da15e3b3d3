package file

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/conformance/ledgertest"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/ledger"
)

func TestLedger_Contract(t *testing.T) {
	for _, size := range []int64{0, 100} { // one part, and a part for almost every line
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			ledgertest.Run(t, func(t *testing.T) (ledger.Ledger, func() ledger.Ledger) {
				opt := Options{Dir: filepath.Join(t.TempDir(), "logs"), Name: "i1", MaxFileBytes: size, MaxFiles: 1000}
				l := mustNew(t, opt)
				return l, func() ledger.Ledger {
					require.NoError(t, l.Close())
					return mustNew(t, opt)
				}
			})
		})
	}
}

func mustNew(t *testing.T, opt Options) *Ledger {
	t.Helper()
	l, err := New(opt)
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func names(t *testing.T, dir string) (out []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestAppend_RotatesBySizeAndKeepsMaxFiles(t *testing.T) {
	dir := t.TempDir()
	l := mustNew(t, Options{Dir: dir, Name: "i1", MaxFileBytes: 20, MaxFiles: 3})
	for n := range 10 { // two lines of ten bytes fill a part
		require.NoError(t, l.Append(t.Context(), fmt.Appendf(nil, `{"n":%03d}`, n)[:9]))
	}
	require.NoError(t, l.Append(t.Context(), []byte(strings.Repeat("x", 50))), "longer than a part: it gets its own")
	assert.Equal(t, []string{"audit-i1.00004.jsonl", "audit-i1.00005.jsonl", "audit-i1.00006.jsonl"}, names(t, dir))
	assert.Len(t, ledgertest.Lines(t, l), 5)
	if runtime.GOOS != "windows" {
		for _, name := range names(t, dir) {
			info, err := os.Stat(filepath.Join(dir, name))
			require.NoError(t, err)
			assert.EqualValues(t, 0o600, info.Mode().Perm())
		}
	}
}

func TestNew_CutsATornLineAtEveryByte(t *testing.T) {
	dir := t.TempDir()
	whole := "{\"n\":1}\n{\"n\":2}\n"
	for cut := range len(whole) + 1 {
		path := filepath.Join(dir, "audit-i1.00001.jsonl")
		require.NoError(t, os.WriteFile(path, []byte(whole[:cut]), 0o600))
		l := mustNew(t, Options{Dir: dir, Name: "i1"})
		require.NoError(t, l.Append(t.Context(), []byte("{}")))
		want := whole[:strings.LastIndexByte(whole[:cut], '\n')+1] + "{}\n"
		require.NoError(t, l.Close())
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, want, string(data), "cut %d", cut)
	}
	big := strings.Repeat("y", 200_000) // a torn line longer than the reading buffer
	require.NoError(t, os.WriteFile(filepath.Join(dir, "audit-i2.00001.jsonl"), []byte("{}\n"+big), 0o600))
	assert.Equal(t, []string{"{}"}, ledgertest.Lines(t, mustNew(t, Options{Dir: dir, Name: "i2"})))
}

// full is a file that takes room bytes and then no more.
type full struct {
	data   []byte
	room   int
	cutErr error
}

func (f *full) Write(p []byte) (int, error) {
	n := min(len(p), f.room)
	f.data, f.room = append(f.data, p[:n]...), f.room-n
	if n < len(p) {
		return n, errors.New("no space left on device")
	}
	return n, nil
}
func (f *full) Sync() error { return nil }
func (f *full) Truncate(n int64) error {
	if f.cutErr == nil {
		f.data = f.data[:n]
	}
	return f.cutErr
}
func (f *full) Close() error { return nil }

func TestAppend_AFullDiskIsToldAndLeavesNoHalfLine(t *testing.T) { // LOG-03
	for room := range 6 {
		d := &full{room: 3 + room}
		l := &Ledger{opt: Options{Dir: "d", Name: "i1", MaxFileBytes: 1000, MaxFiles: 1}, f: d, part: 1}
		require.NoError(t, l.Append(t.Context(), []byte("{}")))
		f := fault.From(l.Append(t.Context(), []byte("[1,2]")))
		require.NotNil(t, f)
		assert.Equal(t, ledger.CodeFailed, f.Code)
		assert.Contains(t, f.Args["detail"], "no space")
		assert.Equal(t, "{}\n", string(d.data))
		d.room = 100
		require.NoError(t, l.Append(t.Context(), []byte("[1,2]")), "it goes on when there is room")
	}
	d := &full{room: 4, cutErr: errors.New("I/O error")}
	l := &Ledger{opt: Options{Dir: "d", Name: "i1", MaxFileBytes: 1000, MaxFiles: 1}, f: d, part: 1}
	require.Error(t, l.Append(t.Context(), []byte("[1,2]")))
	d.room = 100
	assert.Error(t, l.Append(t.Context(), []byte("{}")), "it would land behind a half line")
}

func TestNew_PrunesTheOldestOfTheDeadOnly(t *testing.T) {
	dir := t.TempDir()
	opt := func(name string) Options { return Options{Dir: dir, Name: name, MaxFileBytes: 100, MaxFiles: 2} }
	alive := mustNew(t, opt("alive"))
	require.NoError(t, alive.Append(t.Context(), []byte(strings.Repeat("a", 90))))
	for i, name := range []string{"alive", "old", "mid", "new"} {
		path := filepath.Join(dir, "audit-"+name+".00001.jsonl")
		if name != "alive" {
			require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("x", 89)+"\n"), 0o600))
		}
		at := time.Unix(int64(1000*i), 0)
		require.NoError(t, os.Chtimes(path, at, at))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "audit-x.jsonl"), nil, 0o600)) // not ours
	mustNew(t, opt("me"))
	assert.ElementsMatch(t, []string{
		"audit-alive.00001.jsonl", "audit-me.00001.jsonl", "audit-mid.00001.jsonl",
		"audit-new.00001.jsonl", "audit-x.jsonl",
	}, names(t, dir))
}

func TestNew_RefusesBadPlaces(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"", "a/b", "..", ".x"} {
		_, err := New(Options{Dir: dir, Name: name})
		assert.Equal(t, ledger.CodeFailed, fault.CodeOf(err), "%q", name)
	}
	mustNew(t, Options{Dir: dir, Name: "i1"})
	_, err := New(Options{Dir: dir, Name: "i1"})
	assert.Equal(t, ledger.CodeFailed, fault.CodeOf(err), "another writer would break the chain")
	_, err = New(Options{Dir: filepath.Join(dir, "audit-i1.00001.jsonl"), Name: "i1"})
	assert.Equal(t, ledger.CodeFailed, fault.CodeOf(err))
}

func BenchmarkAppend(b *testing.B) {
	l, err := New(Options{Dir: b.TempDir(), Name: "i1"})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	line := []byte(strings.Repeat("x", 400))
	for b.Loop() {
		if err := l.Append(b.Context(), line); err != nil {
			b.Fatal(err)
		}
	}
}
