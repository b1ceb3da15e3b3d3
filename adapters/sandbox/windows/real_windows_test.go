package windows

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/internal/winpath"
)

// These tests make the real calls. Under Wine they prove those that Wine has; doc.go says which.

// place makes a directory that is removed through the adapter itself.
func placeOnDisk(t *testing.T) string {
	t.Helper()
	base, err := filepath.EvalSymlinks(os.TempDir())
	require.NoError(t, err)
	dir := filepath.Join(base, "agent-mcp-"+newName())
	require.NoError(t, os.Mkdir(dir, 0o700))
	t.Cleanup(func() {
		m := &machine{api: system{}}
		assert.NoError(t, m.removePath(context.Background(), dir))
		_, err := os.Lstat(dir)
		assert.ErrorIs(t, err, fs.ErrNotExist)
	})
	return dir
}

func open(t *testing.T, path string, to purpose) handle {
	t.Helper()
	h, err := system{}.Open(path, to)
	require.NoError(t, err, path)
	t.Cleanup(func() { _ = system{}.Close(h) })
	return h
}

// FS-02: the handle says where an object is, whatever way it was named.
func TestReal_Paths(t *testing.T) {
	dir := placeOnDisk(t)
	path := filepath.Join(dir, "Mixed Case 日本語.txt")
	require.NoError(t, os.WriteFile(path, []byte("MZ content"), 0o600))
	for _, asked := range []string{path, strings.ToUpper(path)} {
		h := open(t, asked, toRead)
		s, err := system{}.Status(h)
		require.NoError(t, err)
		assert.False(t, s.Dir || s.Link)
		at, err := system{}.Where(h)
		require.NoError(t, err)
		assert.Equal(t, winpath.None, winpath.Agree(asked, at.Final), at.Final)
		magic, sum, err := digest(system{}.Reader(h))
		require.NoError(t, err)
		assert.Equal(t, "MZ", magic)
		assert.Len(t, sum, 64)
	}
	_, err := system{}.Open(filepath.Join(dir, "missing"), toLook)
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = system{}.Open(path+".", toLook)
	require.Error(t, err, "no name is read as another: the trailing dot counts")
	_, err = system{}.Open(filepath.Join(dir, "NUL"), toLook)
	require.ErrorIs(t, err, fs.ErrNotExist, "nor is this the device")
	same := open(t, strings.ToLower(path), toLook)
	a, err := system{}.Status(same)
	require.NoError(t, err)
	b, err := system{}.Status(open(t, path, toLook))
	require.NoError(t, err)
	assert.Equal(t, a.ID, b.ID)
	assert.NotEqual(t, strings.Repeat("0", 32), a.ID.File)
}

func TestReal_ListsAndRemoves(t *testing.T) {
	dir := placeOnDisk(t)
	var want []string
	for i := range 300 { // more than one buffer
		name := strings.Repeat("n", 100) + string(rune('a'+i%26)) + string(rune('a'+i/26))
		want = append(want, name)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "deep", "er"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "deep", "er", "read only"), nil, 0o400))
	h := open(t, dir, toWalk)
	got, err := system{}.List(h)
	require.NoError(t, err)
	want = append(want, "deep")
	slices.Sort(got)
	slices.Sort(want)
	assert.Equal(t, want, got)
	child, err := system{}.OpenChild(h, "DEEP", toWalk)
	require.NoError(t, err)
	defer func() { _ = system{}.Close(child) }()
	again, err := system{}.OpenChild(child, "", toWalk)
	require.NoError(t, err)
	defer func() { _ = system{}.Close(again) }()
	got, err = system{}.List(again)
	require.NoError(t, err)
	assert.Equal(t, []string{"er"}, got)
	_, err = system{}.OpenChild(h, "nothing", toLook)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// A descriptor of the system's can be read, and an object has an owner.
func TestReal_Security(t *testing.T) {
	dir := placeOnDisk(t)
	m := &machine{api: system{}}
	d, err := m.list(open(t, dir, toLook))
	require.NoError(t, err)
	assert.NotEmpty(t, d.Owner)
	out, err := d.marshal()
	require.NoError(t, err)
	again, err := parseDescriptor(out)
	require.NoError(t, err)
	assert.Equal(t, d.Aces, again.Aces)
}

// PRC-01: while a program is held open nobody changes, renames or removes it.
func TestReal_HoldsWhatItHashed(t *testing.T) {
	dir := placeOnDisk(t)
	path := filepath.Join(dir, "x.exe")
	require.NoError(t, os.WriteFile(path, []byte("MZ"), 0o600))
	h, err := system{}.Open(path, toRead)
	require.NoError(t, err)
	require.Error(t, os.WriteFile(path, []byte("MZ other"), 0o600))
	require.Error(t, os.Rename(path, path+"2"))
	require.Error(t, os.Remove(path))
	require.NoError(t, system{}.Close(h))
	require.NoError(t, os.WriteFile(path, []byte("MZ other"), 0o600))
	pinned, err := system{}.Open(dir, toHold)
	require.NoError(t, err)
	require.Error(t, os.Rename(dir, dir+"2"))
	require.NoError(t, system{}.Close(pinned))
}

func TestReal_Pipes(t *testing.T) {
	ours, theirs, err := system{}.Pipe(false)
	require.NoError(t, err)
	in, out := system{}.Stream(ours), system{}.Stream(theirs)
	go func() {
		_, _ = out.Write(bytes.Repeat([]byte("x"), 100_000))
		_ = out.Close()
	}()
	got, err := io.ReadAll(in)
	require.NoError(t, err)
	assert.Len(t, got, 100_000)
	require.NoError(t, in.Close())
	h, err := system{}.OpenNull()
	require.NoError(t, err)
	require.NoError(t, system{}.Close(h))
}

// RES-01, PRC-08: a job can be made and bounded, and its port says when it is empty.
func TestReal_Job(t *testing.T) {
	m := &machine{api: system{}}
	h := testHost()
	j, err := m.newJob(limitsOf(testSpec().Limits, h))
	require.NoError(t, err)
	defer j.close()
	now, ever, err := system{}.JobProcesses(j.job)
	require.NoError(t, err)
	assert.Zero(t, now+ever)
	_, ok, err := system{}.NextEvent(j.port, time.Millisecond)
	require.NoError(t, err)
	assert.False(t, ok)
	require.NoError(t, j.end())
}

func TestReal_Claim(t *testing.T) {
	name := "agent-mcp-test-" + newName()
	h, ok, err := system{}.Claim(name)
	require.NoError(t, err)
	require.True(t, ok)
	_, ok, err = system{}.Claim(name)
	require.NoError(t, err)
	assert.False(t, ok)
	require.NoError(t, system{}.Close(h))
	h, ok, err = system{}.Claim(name)
	require.NoError(t, err)
	assert.True(t, ok)
	require.NoError(t, system{}.Close(h))
}

// OBS-01: whatever this host gives, preflight answers, and leaves nothing.
func TestReal_Preflight(t *testing.T) {
	box := New(Options{})
	r, err := box.Preflight(context.Background())
	require.NoError(t, err)
	t.Log(r.Level, codes(r.Missing), r.Baseline)
	for _, m := range r.Missing {
		t.Log(m.Error())
	}
	require.NoError(t, box.Close())
}

// PRC-07, PRC-08: the real start of a confined program, with every attribute.
func TestReal_Start(t *testing.T) {
	m := &machine{api: system{}}
	s, err := system{}.Self()
	require.NoError(t, err)
	name := profileName(s.User)
	h := host{Profile: name, Package: packageSID(name), User: s.User, SystemRoot: s.SystemRoot, Processors: "1"}
	if p := tryProfile(m, h); p.failed() {
		t.Skipf("this host has no AppContainer profiles: %s", p.With)
	}
	p, hosts := tryProbe(context.Background(), m, h)
	require.False(t, p.failed(), "%s: %s", p.Step, p.With)
	t.Log("console hosts in the job:", hosts)
}
