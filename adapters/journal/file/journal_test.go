package file

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/conformance/journaltest"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/journal"
)

func TestJournal_Contract(t *testing.T) {
	journaltest.Run(t, func(t *testing.T) (journal.Journal, func() journal.Journal) {
		path := filepath.Join(t.TempDir(), "journal")
		j, err := Open(path)
		require.NoError(t, err)
		return j, func() journal.Journal {
			require.NoError(t, j.Close())
			again, err := Open(path)
			require.NoError(t, err)
			return again
		}
	})
}

func rec(n int) journal.Record { return journaltest.Record(n, journal.OpOpen) }

func written(t *testing.T, n int) []byte {
	t.Helper()
	var data []byte
	for i := range n {
		line, err := encode(rec(i))
		require.NoError(t, err)
		data = append(data, line...)
	}
	return data
}

// A kill at every byte of every write: what was acknowledged is there, what was not is gone, and appending goes on.
func TestOpen_SurvivesAKillAtEveryByte(t *testing.T) { // REC-06, NFR-03
	data := written(t, 2)
	path := filepath.Join(t.TempDir(), "journal")
	for cut := range len(data) + 1 {
		for _, tail := range [][]byte{nil, make([]byte, 10)} { // pages allocated, never written
			if tail != nil && cut%5 > 0 && cut < len(data) {
				continue // enough of those
			}
			require.NoError(t, os.WriteFile(path, append(bytes.Clone(data[:cut]), tail...), 0o600))
			j, err := Open(path)
			require.NoError(t, err, "cut %d", cut)
			whole := bytes.Count(data[:cut], []byte("\n"))
			got, err := j.Replay(t.Context())
			require.NoError(t, err)
			require.Len(t, got, whole, "cut %d", cut)
			require.NoError(t, j.Append(t.Context(), rec(9)))
			require.NoError(t, j.Close())

			j, err = Open(path)
			require.NoError(t, err, "cut %d", cut)
			got, err = j.Replay(t.Context())
			require.NoError(t, err)
			require.Len(t, got, whole+1)
			require.Equal(t, rec(9), got[whole])
			require.NoError(t, j.Close())
		}
	}
}

func TestOpen_DamageIsToldWithItsLine(t *testing.T) { // REC-07
	data := written(t, 3)
	path := filepath.Join(t.TempDir(), "journal")
	starts := []int{0}
	for i, c := range data {
		if c == '\n' {
			starts = append(starts, i+1)
		}
	}
	for i := range data {
		if i == len(data)-1 {
			continue // the last newline: then the last line is torn
		}
		changed := bytes.Clone(data)
		changed[i] ^= 0x11
		require.NoError(t, os.WriteFile(path, changed, 0o600))
		_, err := Open(path)
		f := fault.From(err)
		require.NotNil(t, f, "byte %d", i)
		require.Equal(t, journal.CodeDamaged, f.Code, "byte %d", i)
		line := 0
		for line < len(starts) && starts[line] <= i {
			line++
		}
		require.Equal(t, line, f.Args["line"], "byte %d", i)
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, changed, after, "a damaged journal is left as it is")
	}
}

func TestOpen_RefusesWhatIsNoJournal(t *testing.T) {
	dir := t.TempDir()
	_, err := Open(dir)
	assert.Equal(t, journal.CodeFailed, fault.CodeOf(err))
	_, err = Open(filepath.Join(dir, "missing", "journal"))
	assert.Equal(t, journal.CodeFailed, fault.CodeOf(err))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "text"), []byte("hello\nworld\n"), 0o600))
	_, err = Open(filepath.Join(dir, "text"))
	assert.Equal(t, journal.CodeDamaged, fault.CodeOf(err))
	if runtime.GOOS != "windows" {
		j, err := Open(filepath.Join(dir, "new"))
		require.NoError(t, err)
		info, err := os.Stat(filepath.Join(dir, "new"))
		require.NoError(t, err)
		assert.EqualValues(t, 0o600, info.Mode().Perm())
		require.NoError(t, j.Close())
	}
}

// disk is a file in memory that can be full, or lose its sync.
type disk struct {
	data             []byte
	room             int // bytes that still fit, -1 = no limit
	syncErr, cutErr  error
	writes, released int
}

var errFull = errors.New("no space left on device")

func (d *disk) ReadAt(p []byte, off int64) (int, error) {
	return bytes.NewReader(d.data).ReadAt(p, off)
}

func (d *disk) Write(p []byte) (int, error) {
	d.writes++
	n := len(p)
	if d.room >= 0 && n > d.room {
		n = d.room
	}
	d.data = append(d.data, p[:n]...)
	if d.room >= 0 {
		d.room -= n
	}
	if n < len(p) {
		return n, errFull
	}
	return n, nil
}
func (d *disk) Sync() error { return d.syncErr }
func (d *disk) Truncate(n int64) error {
	if d.cutErr == nil {
		d.data = d.data[:n]
	}
	return d.cutErr
}
func (d *disk) Close() error { d.released++; return nil }

// A disk that fills up at every byte: the record is refused, and the journal goes on when there is room again.
func TestAppend_AFullDiskLosesNothingThatWasAcknowledged(t *testing.T) {
	first, second := written(t, 1), written(t, 2)
	for room := len(first); room < len(second); room++ {
		d := &disk{room: room}
		j, err := open("journal", d, 0)
		require.NoError(t, err)
		require.NoError(t, j.Append(t.Context(), rec(0)))
		f := fault.From(j.Append(t.Context(), rec(1)))
		require.NotNil(t, f)
		require.Equal(t, journal.CodeFailed, f.Code)
		require.Contains(t, f.Args["detail"], "no space")
		require.Equal(t, first, d.data, "the half line is gone")
		d.room = -1
		require.NoError(t, j.Append(t.Context(), rec(1)))
		require.Equal(t, second, d.data)
	}
}

func TestAppend_AfterALostSyncNothingIsPromised(t *testing.T) {
	d := &disk{room: -1, syncErr: errors.New("I/O error")}
	j, err := open("journal", d, 0)
	require.NoError(t, err)
	require.Error(t, j.Append(t.Context(), rec(0)))
	d.syncErr = nil
	assert.Error(t, j.Append(t.Context(), rec(1)), "a later sync could succeed without the data")
	assert.Equal(t, 1, d.writes)

	d = &disk{room: 3, cutErr: errors.New("I/O error")}
	j, err = open("journal", d, 0)
	require.NoError(t, err)
	require.Error(t, j.Append(t.Context(), rec(0)))
	d.room, d.cutErr = -1, nil
	assert.Error(t, j.Append(t.Context(), rec(1)), "it would land behind a half line")
	assert.NoError(t, j.Close())
}

func TestAppend_RefusesNamesThatJSONWouldChange(t *testing.T) {
	d := &disk{room: -1}
	j, err := open("journal", d, 0)
	require.NoError(t, err)
	bad := rec(0)
	bad.Resource.Path = "/tmp/\xff"
	assert.Equal(t, journal.CodeFailed, fault.CodeOf(j.Append(t.Context(), bad)))
	assert.Empty(t, d.data)
}

func BenchmarkAppend(b *testing.B) {
	j, err := Open(filepath.Join(b.TempDir(), "journal"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	r := rec(1)
	for b.Loop() {
		if err := j.Append(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
}
