package linux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/sandbox/linux/internal/filter"
	"github.com/agent-mcp/agent-mcp/adapters/sandbox/linux/internal/kernel"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// runHostIfAsked is a Broker on a poorer host: it spoils one thing for itself and tells what preflight and Run say.
func runHostIfAsked() {
	if len(os.Args) < 3 || os.Args[0] != "sandbox-host" {
		return
	}
	dir := os.Args[2]
	spoil := map[string]func() error{
		"container root": func() error { return nil },
		"spoiled":        func() error { return nil },
		"no namespaces":  func() error { return os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0) },
		"masked proc":    func() error { return syscall.Mount("tmpfs", "/proc/sys", "tmpfs", 0, "") },
		"no landlock":    func() error { return refuse(444) },
		"clone flags":    refuseNamespaces,
	}
	if err := spoil[os.Args[1]](); err != nil {
		fmt.Println("cannot:", err)
		os.Exit(0)
	}
	box := New(Options{NoCgroup: os.Args[1] != "control groups"})
	report, err := box.Preflight(context.Background())
	fmt.Println("level", report.Level, err)
	for _, m := range report.Missing {
		fmt.Println(m.Code)
	}
	path, _ := filepath.EvalSymlinks(shell)
	res, err := box.Run(context.Background(), newShellSpec(path, "", dir, "id -u; echo x >made; test -O made"))
	fmt.Println("run", fault.CodeOf(err), res.ExitCode, strings.TrimSpace(string(res.Stdout.Head)))
	fmt.Println("close", box.Close())
	os.Exit(0)
}

// refuse makes one call fail with ENOSYS for this thread and all it starts.
func refuse(nr uint32) error {
	runtime.LockOSThread()
	if err := kernel.NoNewPrivs(); err != nil {
		return err
	}
	listener, err := kernel.Filter([]filter.Insn{{Code: 0x20, K: 0}, {Code: 0x15, K: nr, Jf: 1}, {Code: 6, K: filter.Errno(filter.ENOSYS)}, {Code: 6, K: filter.Allow}})
	kernel.Close(listener)
	return err
}

// refuseNamespaces is what a container's filter does: clone with a flag for a namespace, and unshare, fail with EPERM.
func refuseNamespaces() error {
	runtime.LockOSThread()
	if err := kernel.NoNewPrivs(); err != nil {
		return err
	}
	const flags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET
	no := filter.Errno(filter.EPERM)
	listener, err := kernel.Filter([]filter.Insn{
		{Code: 0x20, K: 0},
		{Code: 0x15, K: uint32(nr(272, 97)), Jt: 3},
		{Code: 0x15, K: uint32(nr(56, 220)), Jf: 3},
		{Code: 0x20, K: 16},
		{Code: 0x45, K: flags, Jf: 1},
		{Code: 6, K: no},
		{Code: 6, K: filter.Allow},
	})
	kernel.Close(listener)
	if err == nil { // every thread of the next program has the filter
		err = syscall.Exec("/proc/self/exe", []string{"sandbox-host", "spoiled", os.Args[2]}, os.Environ())
	}
	return err
}

// OBS-01: on a host that gives too little nothing runs, and the refusal names the cause; a container's root is no
// system root and works.
func TestSandbox_PoorHosts(t *testing.T) {
	exe, err := os.Executable()
	require.NoError(t, err)
	l1 := []string{"run  0 0", "close <nil>"}
	refused := sandbox.CodeNoUserNS
	if container(exists, os.Getenv) != "" {
		refused = sandbox.CodeContainer
	}
	for name, want := range map[string][]string{
		"container root": {"level 2 <nil>", string(sandbox.CodeNoCgroup), "run  0 1000", "close <nil>"},
		"no namespaces":  append([]string{"level 1 <nil>", string(sandbox.CodeNestedUserNS)}, l1...),
		"clone flags":    append([]string{"level 1 <nil>", string(refused)}, l1...),
		"masked proc":    append([]string{"level 1 <nil>", string(sandbox.CodeMaskedProc)}, l1...),
		"no landlock":    {"level 0 <nil>", string(sandbox.CodeLandlockHidden), "run sandbox.unavailable 0 ", "close <nil>"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := host{}.TempDir(t)
			cmd := &exec.Cmd{Path: exe, Args: []string{"sandbox-host", name, dir}, SysProcAttr: &syscall.SysProcAttr{
				Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
				UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
				GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
			}}
			out, err := cmd.CombinedOutput()
			if errors.Is(err, syscall.EPERM) || strings.HasPrefix(string(out), "cannot:") {
				t.Skipf("this host cannot be made poorer: %v %s", err, out)
			}
			require.NoError(t, err, "%s", out)
			assert.Equal(t, want, strings.Split(strings.TrimSpace(string(out)), "\n"))
		})
	}
}

// A root Broker may be a program that only root may execute.
func TestSandbox_PrivateProgram(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root")
	}
	exe, err := os.Executable()
	require.NoError(t, err)
	b, err := os.ReadFile(exe)
	require.NoError(t, err)
	dir := host{}.TempDir(t)
	require.NoError(t, os.WriteFile(dir+"/private", b, 0o700))
	require.NoError(t, os.Mkdir(dir+"/w", 0o700))
	out, err := (&exec.Cmd{Path: dir + "/private", Args: []string{"sandbox-host", "container root", dir + "/w"}}).CombinedOutput()
	require.NoError(t, err)
	assert.Contains(t, string(out), "run  0 65533")
}

// A root Broker never writes as a stranger: where owners cannot be mapped it refuses, and still reads.
func TestSandbox_UnmappableRoot(t *testing.T) {
	dir := host{}.TempDir(t)
	for _, d := range []string{"low", "up", "work", "w"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, d), 0o755))
	}
	if err := syscall.Mount("overlay", dir+"/w", "overlay", 0, "lowerdir="+dir+"/low,upperdir="+dir+"/up,workdir="+dir+"/work"); err != nil {
		t.Skip("needs a root that may mount overlays: ", err)
	}
	defer func() { assert.NoError(t, syscall.Unmount(dir+"/w", 0)) }()
	box := New(Options{})
	defer func() { require.NoError(t, box.Close()) }()
	_, err := box.Run(context.Background(), shellSpec(t, dir+"/w", "exit 0"))
	if err != nil { // a kernel may learn it
		assert.Equal(t, sandbox.CodeUnavailable, fault.CodeOf(err))
	}
	spec := shellSpec(t, dir+"/w", "test -d .")
	spec.Roots[0].Rights = rights.Read | rights.Execute
	res, err := box.Run(context.Background(), spec)
	require.NoError(t, err)
	assert.Zero(t, res.ExitCode, "%s", res.Stderr.Head)
}
