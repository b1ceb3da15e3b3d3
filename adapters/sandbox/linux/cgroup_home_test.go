package linux

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/journal"
)

// fakeV2 is a version 2 hierarchy with the kernel's rules: controllers reach a directory only through its parent, a directory
// with controllers for its children holds no process, and one with processes or children cannot be removed.
type fakeV2 struct {
	self    string // where this process is
	enabled map[string]bool
	files   map[string]string
	log     []string
	fail    string
}

func newFakeV2() *fakeV2 {
	return &fakeV2{self: "/cg/own", enabled: map[string]bool{"/cg": true}, files: map[string]string{"/cg/own": ""}}
}

func (f *fakeV2) in(dir string) bool {
	return f.self == dir || strings.Contains(f.files[dir+"/cgroup.procs"], "4")
}

func (f *fakeV2) Make(dir string) error {
	if _, ok := f.files[filepath.Dir(dir)]; !ok {
		return fs.ErrNotExist
	}
	f.files[dir] = ""
	return nil
}

func (f *fakeV2) Write(file, text string) error {
	f.log = append(f.log, file+" "+text)
	dir, name := filepath.Split(file)
	dir = filepath.Clean(dir)
	given := f.enabled[filepath.Dir(dir)]
	_, ok := f.files[dir]
	switch {
	case strings.HasSuffix(file, f.fail) && f.fail != "":
		return syscall.EIO
	case !ok, !given && (strings.HasPrefix(name, "memory.") || strings.HasPrefix(name, "pids.")):
		return fs.ErrNotExist
	case name == "cgroup.subtree_control" && text == enable && (f.in(dir) || !given):
		return syscall.EBUSY
	case name == "cgroup.subtree_control":
		f.enabled[dir] = text == enable
	case name == "cgroup.procs" && f.enabled[dir]:
		return syscall.EBUSY
	case name == "cgroup.procs" && text == "0":
		f.self = dir
	case name == "cgroup.procs" && text == "-":
		delete(f.files, file)
	default:
		f.files[file] = text
	}
	return nil
}

func (f *fakeV2) Read(file string) (string, error) {
	switch filepath.Base(file) {
	case "memory.current":
		return "1000\n", nil
	case "memory.events":
		return "oom_kill 1\n", nil
	}
	return "", fs.ErrNotExist
}

func (f *fakeV2) Remove(dir string) error {
	if _, ok := f.files[dir]; !ok {
		return fs.ErrNotExist
	}
	if f.in(dir) {
		return syscall.EBUSY
	}
	for p := range f.files {
		if filepath.Dir(p) == dir && !strings.Contains(filepath.Base(p), ".") {
			return syscall.EBUSY
		}
	}
	for p := range f.files {
		if p == dir || filepath.Dir(p) == dir {
			delete(f.files, p)
		}
	}
	return nil
}

func (f *fakeV2) Lock(string) (func(), error) { return func() {}, nil }

// notes is a guard in memory.
type notes struct{ open []string }

func (n *notes) Open(_ context.Context, kind journal.Kind, path string) (journal.Resource, error) {
	n.open = append(n.open, path)
	return journal.Resource{Kind: kind, Path: path}, nil
}

func (n *notes) Close(_ context.Context, res journal.Resource) error {
	n.open = slices.DeleteFunc(n.open, func(p string) bool { return p == res.Path })
	return nil
}

// RES-01, REC-06: on a delegated version 2 hierarchy the Broker moves into a leaf, each helper is bound in a directory of its
// own, and all is as before after the end.
func TestGroupHome_LeafOnV2(t *testing.T) {
	f, n := newFakeV2(), &notes{}
	plan := groupPlan{Version: 2, Memory: "/cg/own", Pids: "/cg/own", Leaf: true, Swapping: true}
	home, err := newGroupHome(context.Background(), plan, "agent-mcp-x", f, n)
	require.NoError(t, err)
	assert.Equal(t, "/cg/own/agent-mcp-x/broker", f.self)
	assert.Equal(t, []string{"/cg/own/agent-mcp-x"}, n.open)
	c, err := home.cell(44)
	require.NoError(t, err)
	require.NoError(t, c.ready())
	require.NoError(t, c.limit(1<<20, 9))
	assert.True(t, c.killed())
	dir := "/cg/own/agent-mcp-x/h1"
	for file, want := range map[string]string{
		"memory.max": "5243880", "memory.swap.max": "0", "memory.oom.group": "1", "pids.max": "9", "cgroup.procs": "44",
	} {
		assert.Equal(t, want, f.files[dir+"/"+file], file)
	}
	delete(f.files, dir+"/cgroup.procs") // it ended
	c.release()
	c.release()
	require.NoError(t, home.close(context.Background()))
	assert.Equal(t, "/cg/own", f.self)
	assert.Equal(t, map[string]string{"/cg/own": ""}, f.files)
	assert.False(t, f.enabled["/cg/own"])
	assert.Empty(t, n.open)
	_, err = home.cell(45)
	assert.ErrorIs(t, err, errHomeClosed)
}

// REC-06: whatever fails on the way, nothing is left and nothing stays on record.
func TestGroupHome_FailsClean(t *testing.T) {
	plan := groupPlan{Version: 2, Memory: "/cg/own", Pids: "/cg/own", Leaf: true}
	for _, fail := range []string{"broker/cgroup.procs", "own/cgroup.subtree_control", "agent-mcp-x/cgroup.subtree_control"} {
		f, n := newFakeV2(), &notes{}
		f.fail = fail
		_, err := newGroupHome(context.Background(), plan, "agent-mcp-x", &failOnce{fakeV2: f}, n)
		assert.ErrorIs(t, err, syscall.EIO, fail)
		assert.Equal(t, map[string]string{"/cg/own": ""}, f.files, fail)
		assert.Empty(t, n.open, fail)
	}
}

type failOnce struct{ *fakeV2 }

func (f *failOnce) Write(file, text string) error {
	err := f.fakeV2.Write(file, text)
	if errors.Is(err, syscall.EIO) {
		f.fail = ""
	}
	return err
}

// RES-01: a swap limit that is missing matters only where there is swap.
func TestGroupHome_SwapMustBeBound(t *testing.T) {
	for _, swapping := range []bool{false, true} {
		h := &groupHome{plan: groupPlan{Version: 1, Memory: "/m", Pids: "/p", Swapping: swapping}, fs: noSwapFile{newFakeV2()}}
		err := h.do(h.plan.limit("x", "h1", 1, 1))
		assert.Equal(t, swapping, err != nil)
	}
}

type noSwapFile struct{ *fakeV2 }

func (noSwapFile) Write(file, _ string) error {
	if strings.Contains(file, "memsw") {
		return fs.ErrNotExist
	}
	return nil
}
