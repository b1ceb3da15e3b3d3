package kernel

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Tree looks at all processes of a pid namespace through its /proc. It allocates once, so that PID 1 can watch for
// hours without a garbage collector. Not safe for concurrent use.
type Tree struct {
	proc int
	dir  int
	buf  []byte
	text []byte
	path [64]byte
	tids []int32
	Pids []int32 // result of Scan, ascending, without PID 1

	listeners int64 // sockets of the namespace that are not the tree's

	family *family // nil: the whole namespace
}

// NewTree takes the descriptor of a /proc of the namespace.
func NewTree(proc int) (*Tree, error) {
	dir, err := unix.Openat(proc, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return &Tree{proc: proc, dir: dir, buf: make([]byte, 32<<10), text: make([]byte, 8<<10), tids: make([]int32, 0, 64), Pids: make([]int32, 0, 4096)}, nil
}

// Scan lists the processes (not threads), zombies included.
func (t *Tree) Scan() {
	if _, err := unix.Seek(t.dir, 0, 0); err != nil {
		t.Pids = t.Pids[:0]
		return
	}
	if t.family != nil {
		t.scanFamily()
		return
	}
	t.Pids = t.numbers(t.dir, t.Pids[:0])
}

// numbers appends the names in a directory that are numbers greater than 1.
func (t *Tree) numbers(dir int, to []int32) []int32 {
	for {
		n, _, e := unix.Syscall(unix.SYS_GETDENTS64, uintptr(dir), uintptr(unsafe.Pointer(&t.buf[0])), uintptr(len(t.buf)))
		if e != 0 || n == 0 {
			return to
		}
		for off := 0; off < int(n); {
			d := (*unix.Dirent)(unsafe.Pointer(&t.buf[off]))
			pid := int32(0)
			for _, c := range t.buf[off+19 : off+int(d.Reclen)] { // 19 = offset of d_name
				if c == 0 {
					break
				}
				if c < '0' || c > '9' {
					pid = -1
					break
				}
				pid = pid*10 + int32(c-'0')
			}
			if pid > 1 {
				to = append(to, pid)
			}
			off += int(d.Reclen)
		}
	}
}

// Threads returns the process of a thread and how many threads it has, or zeros when it is gone.
func (t *Tree) Threads(tid int32) (process int32, threads int) {
	status := t.read(tid, "/status\x00")
	return int32(field(status, "Tgid:")), int(field(status, "Threads:"))
}

// Asleep reports that a thread waits interruptibly, is stopped, dead or gone: it is not inside fork(2).
func (t *Tree) Asleep(tid int32) bool {
	b := t.read(tid, "/stat\x00")
	for i := len(b) - 2; i > 0; i-- { // the command name may contain anything: take the last parenthesis
		if b[i] == ')' && i+2 < len(b) {
			return b[i+2] != 'R' && b[i+2] != 'D'
		}
	}
	return true
}

func (t *Tree) read(pid int32, suffix string) []byte {
	fd, ok := t.open(pid, suffix)
	if !ok {
		return nil
	}
	n, _, e := unix.Syscall(unix.SYS_READ, fd, uintptr(unsafe.Pointer(&t.text[0])), uintptr(len(t.text)))
	_, _, _ = unix.Syscall(unix.SYS_CLOSE, fd, 0, 0)
	if e != 0 {
		return nil
	}
	return t.text[:n]
}

// open opens a file below /proc/PID; pid 0 is /proc itself. The suffix ends with a NUL byte.
func (t *Tree) open(pid int32, suffix string) (fd uintptr, ok bool) {
	digits := [12]byte{}
	i := len(digits)
	for n := pid; n > 0; n /= 10 {
		i--
		digits[i] = byte('0' + n%10)
	}
	k := copy(t.path[:], digits[i:])
	copy(t.path[k:], suffix)
	fd, _, e := unix.Syscall6(unix.SYS_OPENAT, uintptr(t.proc), uintptr(unsafe.Pointer(&t.path[0])), unix.O_RDONLY|unix.O_CLOEXEC, 0, 0, 0)
	return fd, e == 0
}

// Own reports that a number is a thread of PID 1.
func (t *Tree) Own(tid int32) bool {
	if tid == 1 {
		return true
	}
	if tid < 1 {
		return false
	}
	suffix := [24]byte{}
	i := len(suffix) - 1 // the last byte stays NUL
	for n := tid; n > 0; n /= 10 {
		i--
		suffix[i] = byte('0' + n%10)
	}
	i -= copy(suffix[i-6:], "/task/")
	fd, ok := t.open(1, unsafe.String(&suffix[i], len(suffix)-i))
	Close(int(fd))
	return ok
}

// field finds "\nName:   123" and returns 123.
func field(b []byte, name string) (v int64) {
	for i := 0; i+len(name) < len(b); i++ {
		if b[i] != name[0] || i > 0 && b[i-1] != '\n' || string(b[i:i+len(name)]) != name {
			continue
		}
		for _, c := range b[i+len(name):] {
			switch {
			case c >= '0' && c <= '9':
				v = v*10 + int64(c-'0')
			case c == '\n' || v > 0:
				return v
			}
		}
	}
	return v
}

// OwnThreads counts the threads of this process.
func OwnThreads(proc int) int {
	fd, err := unix.Openat(proc, "self/task", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 32
	}
	t := Tree{dir: fd, buf: make([]byte, 8<<10)}
	t.Scan()
	Close(fd)
	return len(t.Pids) + 1 // Scan leaves PID 1 out
}

// KillAll kills every process of the namespace but the caller, which must be its PID 1, and reaps until none is left.
func KillAll() {
	for {
		_ = unix.Kill(-1, unix.SIGKILL)
		if _, err := unix.Wait4(-1, nil, 0, nil); err == unix.ECHILD {
			return
		}
	}
}

// Nap sleeps without the scheduler's timers.
func Nap(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&ts, nil)
}
