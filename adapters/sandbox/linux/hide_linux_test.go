package linux

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

func init() { runtime.LockOSThread() } // main stays on the first thread

const hideLimit = 192 << 20

// hides are ways to hold memory that no process seems to have. Each returns how many bytes it got hold of.
var hides = map[string]func() int64{
	"shared": func() (sum int64) { // the pages stay with their object when they are unmapped
		for sum < 4*hideLimit {
			b, err := syscall.Mmap(-1, 0, 8<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED|syscall.MAP_ANON)
			if err != nil {
				return sum
			}
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			_ = syscall.Madvise(b, syscall.MADV_DONTNEED)
			sum += int64(len(b))
		}
		return sum
	},
	"sockets": func() (sum int64) {
		junk := make([]byte, 64<<10)
		for sum < 4*hideLimit {
			p, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK, 0)
			if err != nil {
				return sum
			}
			for err == nil {
				var n int
				if n, err = syscall.Write(p[0], junk); n > 0 {
					sum += int64(n)
				}
			}
		}
		return sum
	},
	"names": func() (sum int64) {
		for ; sum < 4*hideLimit; sum += 1024 {
			fd, err := syscall.Open(fmt.Sprintf("/dev/shm/%0200d", sum), syscall.O_CREAT|syscall.O_WRONLY, 0o600)
			if err != nil {
				return sum
			}
			_ = syscall.Close(fd)
		}
		return sum
	},
	"semaphores": func() (sum int64) {
		for sum < 4*hideLimit {
			if _, _, e := syscall.Syscall(nr(64, 190), 0, 32000, 0o600); e != 0 {
				return sum
			}
			sum += 32000 * 64
		}
		return sum
	},
	"messages": func() (sum int64) {
		m := make([]byte, 8+8192) // once: its own heap is not what is hidden
		m[0] = 1
		for sum < 4*hideLimit {
			q, _, e := syscall.Syscall(nr(68, 186), 0, 0o600, 0)
			if e != 0 {
				return sum
			}
			for range 2 {
				if raw(nr(69, 189), q, addr(m), 8192, 0x800) == nil {
					sum += 8192
				}
			}
		}
		return sum
	},
}

// hideIfAsked runs one of the hides in the sandbox and lets the poller look.
func hideIfAsked(name string) {
	if hide := hides[name]; hide != nil {
		sum := hide()
		time.Sleep(200 * time.Millisecond)
		fmt.Println("held", sum)
		os.Exit(0)
	}
}

// leaderlessIfAsked makes processes whose first thread ends while others hold memory, each less than its own limit.
func leaderlessIfAsked(verb string) {
	switch verb {
	case "leaderless":
		for range 4 {
			_, _ = os.StartProcess("/proc/self/exe", []string{attackName, "no-leader"}, &os.ProcAttr{Files: []*os.File{nil, os.Stdout, os.Stderr}})
		}
		time.Sleep(time.Minute) // the limit ends it long before
		fmt.Println("survived")
		os.Exit(0)
	case "no-leader": // TestMain runs on the first thread: init locked it
		go func() {
			b, err := syscall.Mmap(-1, 0, hideLimit/3, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
			if err != nil {
				os.Exit(1)
			}
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			time.Sleep(time.Minute)
			os.Exit(0)
		}()
		_ = raw(nr(60, 93), 0) // exit(2): the thread, not the process
	}
}

// RES-01: memory counts also where no process shows it.
func TestSandbox_CountsMemoryOfNobody(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector's own memory does not fit the limit")
	}
	box := New(Options{})
	defer func() { require.NoError(t, box.Close()) }()
	entry, roots := probe(t)
	entry.Name = attackName
	for name := range hides {
		spec := shellSpec(t, host{}.TempDir(t), "")
		spec.Entry, spec.Args, spec.Limits.MemoryBytes = entry, []string{name}, hideLimit
		spec.Roots = append(spec.Roots, roots...)
		sortRoots(spec.Roots)
		res, err := box.Run(context.Background(), spec)
		require.NoError(t, err)
		if res.End == sandbox.EndMemory || strings.Contains(string(res.Stderr.Head), "runtime: out of memory") {
			continue // it was ended, or got no more
		}
		var held int64
		_, err = fmt.Sscanf(string(res.Stdout.Head), "held %d", &held)
		require.NoError(t, err, "%s: %s %s", name, res.End, res.Stderr.Head)
		assert.LessOrEqual(t, held, int64(hideLimit), name)
	}
}

// RES-01: shared anonymous memory is granted again when nobody maps any more.
func TestSandbox_SharedMemoryComesBack(t *testing.T) {
	python := "/usr/bin/python3"
	if _, err := os.Stat(python); err != nil {
		t.Skip("no python")
	}
	box := New(Options{})
	defer func() { require.NoError(t, box.Close()) }()
	spec := shellSpec(t, host{}.TempDir(t), strings.Repeat(python+` -c 'import mmap; mmap.mmap(-1, 100 << 20)' && `, 4)+"echo all")
	spec.Limits.MemoryBytes = 256 << 20
	res, err := box.Run(context.Background(), spec)
	require.NoError(t, err)
	assert.Equal(t, "all\n", string(res.Stdout.Head), "%s", res.Stderr.Head)
}

// RES-01: memory counts when the first thread of its process is gone, which then looks like a zombie.
func TestSandbox_CountsMemoryWithoutLeader(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector's own memory does not fit the limit")
	}
	box := New(Options{})
	defer func() { require.NoError(t, box.Close()) }()
	entry, roots := probe(t)
	entry.Name = attackName
	spec := shellSpec(t, host{}.TempDir(t), "")
	spec.Entry, spec.Args, spec.Limits.MemoryBytes = entry, []string{"leaderless"}, hideLimit
	spec.Roots = append(spec.Roots, roots...)
	sortRoots(spec.Roots)
	res, err := box.Run(context.Background(), spec)
	require.NoError(t, err)
	assert.Equal(t, sandbox.EndMemory, res.End, "%s %s", res.Stdout.Head, res.Stderr.Head)
}
