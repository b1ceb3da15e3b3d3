package osroot

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/journal"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

const mountDir = "AGENT_MCP_TEST_MOUNT_DIR"

// Full, read-only and other file systems are real ones, mounted by a child in namespaces of its own.
func TestTree_OnOtherFileSystems(t *testing.T) {
	dir := base(t)
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chmod(dir, 0o755))
	}
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), exe, "-test.run=^TestMountChild$", "-test.v")
	cmd.Env = append(os.Environ(), mountDir+"="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || strings.Contains(string(out), "cannot mount") {
		t.Skipf("no user namespaces here: %v %s", err, out)
	}
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: TestMountChild")
}

func mount(t *testing.T, path, options string, flags uintptr) {
	t.Helper()
	require.NoError(t, os.MkdirAll(path, 0o755))
	if err := syscall.Mount("tmpfs", path, "tmpfs", 0, options); err != nil {
		t.Skip("cannot mount: ", err)
	}
	if flags != 0 {
		write(t, path+"/f", "old")
		require.NoError(t, syscall.Mount("", path, "", flags|syscall.MS_REMOUNT, options))
	}
}

func TestMountChild(t *testing.T) {
	dir := os.Getenv(mountDir)
	if dir == "" {
		t.Skip("run by TestTree_OnOtherFileSystems")
	}
	mount(t, dir+"/ws/small", "size=64k", 0)
	mount(t, dir+"/ws/fixed", "size=64k", syscall.MS_RDONLY)
	mount(t, dir+"/ws/inodes", "size=64k,nr_inodes=3", 0)
	write(t, dir+"/ws/f", "f")
	for name, sys := range systems() {
		t.Run(name, func(t *testing.T) { otherFileSystems(t, dir, sys) })
	}

	// A mounted file system inside a tree of ours is not ours.
	tmp := dir + "/own/tree"
	mount(t, tmp+"/mounted", "size=64k", 0)
	write(t, tmp+"/mounted/precious", "p")
	write(t, tmp+"/file", "x")
	for name, sys := range systems() {
		undo := NewUndoer(dir + "/own")
		undo.sys = sys
		err := undo.Undo(t.Context(), journal.Resource{Kind: journal.KindTree, Path: tmp})
		assert.Equal(t, journal.CodeUndoFailed, fault.CodeOf(err), name)
		assert.Equal(t, "p", contentOf(t, tmp+"/mounted/precious"), name)
	}
}

// EDT-01, FS-07: nothing is lost on a full or read-only disk, and nothing moves between file systems.
func otherFileSystems(t *testing.T, dir string, sys system) {
	g := newGuardian(t)
	tr, err := open(sys, []string{dir + "/ws", dir + "/ws/small"}, Options{Guard: g})
	require.NoError(t, err)
	defer func() { require.NoError(t, tr.Close()) }()
	big := strings.Repeat("x", 1<<20)
	write(t, dir+"/ws/small/f", "old")
	assert.Equal(t, workspace.CodeNoSpace, fault.CodeOf(replaceWith(t, tr, "small/f", big)))
	assert.Equal(t, workspace.CodeNoSpace, fault.CodeOf(replaceWith(t, tr, "small/new", big)))
	assert.Equal(t, "old", contentOf(t, dir+"/ws/small/f"))
	require.NoError(t, replaceWith(t, tr, "small/f", "new"), "space is free again")
	assert.Equal(t, "new", contentOf(t, dir+"/ws/small/f"))

	write(t, dir+"/ws/inodes/a", "a")
	_ = os.WriteFile(dir+"/ws/inodes/b", nil, 0o600)
	assert.Equal(t, workspace.CodeNoSpace, fault.CodeOf(replaceWith(t, tr, "inodes/a", "b")))
	assert.Equal(t, workspace.CodeNoSpace, fault.CodeOf(with(t, tr, "inodes/d", func(h workspace.Handle) error {
		_, err := h.Mkdir(t.Context())
		return err
	})))

	for what, err := range map[string]error{
		"replace": replaceWith(t, tr, "fixed/f", "new"),
		"new":     replaceWith(t, tr, "fixed/new", "new"),
		"mkdir":   with(t, tr, "fixed/d", func(h workspace.Handle) error { _, err := h.Mkdir(t.Context()); return err }),
		"remove":  with(t, tr, "fixed/f", func(h workspace.Handle) error { return h.Remove(t.Context()) }),
		"move":    moveErr(t, tr, "fixed/f", "fixed/g"),
	} {
		assert.Equal(t, workspace.CodeReadOnly, fault.CodeOf(err), "%s: %v", what, err)
	}
	for from, to := range map[string]string{"f": "small/moved", "small/f": "moved"} {
		err = moveErr(t, tr, from, to)
		assert.Equal(t, workspace.CodeCrossVolume, fault.CodeOf(err), from)
		assert.Equal(t, dir+"/ws/"+to, fault.From(err).Args["dest"])
	}
	assert.Empty(t, g.open)
	noTemps(t, dir)
}
