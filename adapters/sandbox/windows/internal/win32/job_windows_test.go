package win32

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/windows"
)

// What the job does is the system's; these tests show that it was told right, where the confinement itself cannot be had.

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "child" {
		child(os.Args[2], os.Args[3:])
	}
	os.Exit(m.Run())
}

// child is a program of the tests: "tree n file" starts n more below it and waits; "leave file" tries to leave the job; "handle
// n" says whether it has handle n.
func child(verb string, args []string) {
	switch verb {
	case "tree":
		n, _ := strconv.Atoi(args[0])
		if n > 0 {
			c := exec.Command(os.Args[0], "child", "tree", strconv.Itoa(n-1), args[1])
			if err := c.Start(); err != nil {
				os.Exit(9)
			}
		} else {
			_ = os.WriteFile(args[1], []byte("ready"), 0o600)
		}
		time.Sleep(time.Minute)
	case "leave":
		c := exec.Command(os.Args[0], "child", "exit", "0")
		c.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_BREAKAWAY_FROM_JOB}
		if err := c.Run(); err != nil {
			os.Exit(5)
		}
		os.Exit(0)
	case "handle":
		n, _ := strconv.ParseUint(args[0], 10, 64)
		if err := windows.SetEvent(windows.Handle(n)); err != nil {
			os.Exit(6)
		}
		os.Exit(7)
	case "exit":
		n, _ := strconv.Atoi(args[0])
		os.Exit(n)
	}
	os.Exit(8)
}

// start creates a child in a job with the very attributes for job and handles.
func start(t *testing.T, job uintptr, args ...string) (process uintptr) {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	null, err := OpenNull()
	require.NoError(t, err)
	defer func() { _ = Close(null) }()
	list, err := windows.NewProcThreadAttributeList(2)
	require.NoError(t, err)
	defer list.Delete()
	handles, jobs := [1]Handle{Handle(null)}, [1]Handle{Handle(job)}
	require.NoError(t, list.Update(windows.PROC_THREAD_ATTRIBUTE_HANDLE_LIST, unsafe.Pointer(&handles), unsafe.Sizeof(handles)))
	require.NoError(t, list.Update(attributeJobList, unsafe.Pointer(&jobs), unsafe.Sizeof(jobs)))
	token, err := RestrictToken()
	require.NoError(t, err)
	defer func() { _ = Close(token) }()
	pi, err := create(Order{
		Token: token, Application: exe, CommandLine: `"` + exe + `" child ` + strings.Join(args, " "), Dir: filepath.Dir(exe), Env: os.Environ(),
		Flags: windows.CREATE_SUSPENDED | windows.CREATE_UNICODE_ENVIRONMENT | windows.EXTENDED_STARTUPINFO_PRESENT,
	}, list.List(), [3]Handle{handles[0], handles[0], handles[0]})
	require.NoError(t, err)
	require.NoError(t, Resume(uintptr(pi.Thread)))
	require.NoError(t, Close(uintptr(pi.Thread)))
	return uintptr(pi.Process)
}

func newJob(t *testing.T) (job, port uintptr) {
	t.Helper()
	job, err := CreateJob()
	require.NoError(t, err)
	require.NoError(t, LimitJob(job, 0x2608, 10, 1<<30, 0xff))
	port, err = WatchJob(job)
	require.NoError(t, err)
	return job, port
}

func code(t *testing.T, process uintptr) uint32 {
	t.Helper()
	c, ended, err := Wait(process, 30*time.Second)
	require.NoError(t, err)
	require.True(t, ended)
	require.NoError(t, Close(process))
	return c
}

// PRC-08, REC-03: a whole tree ends with its job, by our hand and with our handle.
func TestJob_EndsTheTree(t *testing.T) {
	for _, byClose := range []bool{false, true} {
		job, port := newJob(t)
		file := filepath.Join(os.TempDir(), "agent-mcp-job-"+strconv.Itoa(os.Getpid()))
		defer func() { _ = os.Remove(file) }()
		p := start(t, job, "tree", "2", file)
		for range 3000 {
			if _, err := os.Stat(file); err == nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		now, ever, err := JobProcesses(job)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, now, 3)
		assert.GreaterOrEqual(t, ever, 3)
		if byClose {
			require.NoError(t, Close(job))
		} else {
			require.NoError(t, TerminateJob(job))
		}
		code(t, p)
		if !byClose {
			empty := false
			for !empty {
				e, ok, err := NextEvent(port, 30*time.Second)
				require.NoError(t, err)
				require.True(t, ok, "the port never said that the job is empty")
				empty = e == 4
			}
			now, _, err := JobProcesses(job)
			require.NoError(t, err)
			assert.Zero(t, now)
			require.NoError(t, Close(job))
		}
		require.NoError(t, Close(port))
		_ = os.Remove(file)
	}
}

// PRC-08: nothing leaves.
func TestJob_RefusesBreakaway(t *testing.T) {
	job, port := newJob(t)
	assert.EqualValues(t, 5, code(t, start(t, job, "leave")))
	require.NoError(t, Close(job))
	require.NoError(t, Close(port))
}

// A handle that may be inherited but is not on the list stays here: no program reaches the protocol (SEC-INV-12).
func TestStart_InheritsTheListAlone(t *testing.T) {
	sa := windows.SecurityAttributes{InheritHandle: 1}
	sa.Length = uint32(unsafe.Sizeof(sa))
	event, err := windows.CreateEvent(&sa, 1, 0, nil)
	require.NoError(t, err)
	job, port := newJob(t)
	c := code(t, start(t, job, "handle", strconv.FormatUint(uint64(event), 10)))
	assert.Contains(t, []uint32{6, 7}, c, "6: no such handle there; 7: the number is one of its own")
	e, err := windows.WaitForSingleObject(event, 0)
	require.NoError(t, err)
	assert.EqualValues(t, windows.WAIT_TIMEOUT, e)
	require.NoError(t, Close(job))
	require.NoError(t, Close(port))
	require.NoError(t, Close(uintptr(event)))
}
