package kernel

import (
	"bytes"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Memory is the sum over the last Scan of private and shared anonymous memory, in RAM or swapped out, and of page tables,
// in bytes. Shared pages count once per process that has them.
func (t *Tree) Memory() (sum int64) {
	for _, pid := range t.Pids {
		sum += t.memory(pid)
	}
	return sum
}

// memory of one process. The first thread may be gone while others live: the process then looks like a zombie, and each
// thread left tells of the memory of all.
func (t *Tree) memory(pid int32) int64 {
	if n, ok := resident(t.read(pid, "/status\x00")); ok {
		return n
	}
	dir, ok := t.open(pid, "/task\x00")
	if !ok {
		return 0
	}
	t.tids = t.numbers(int(dir), t.tids[:0])
	Close(int(dir))
	for _, tid := range t.tids { // /proc/TID is there for every thread, though not listed
		if n, ok := resident(t.read(tid, "/status\x00")); ok {
			return n
		}
	}
	return 0
}

func resident(status []byte) (sum int64, ok bool) {
	if !bytes.Contains(status, rssAnon) {
		return 0, false
	}
	for _, name := range [...]string{"RssAnon:", "RssShmem:", "VmPTE:", "VmSwap:", "HugetlbPages:"} {
		sum += field(status, name)
	}
	return sum << 10, true
}

var (
	rssAnon    = []byte("\nRssAnon:")
	sharedAnon = []byte("/dev/zero (deleted)") // how proc(5) names shared anonymous memory
)

// HasSharedAnon reports whether a process of the last Scan maps shared anonymous memory, or does not let itself be looked
// at.
func (t *Tree) HasSharedAnon() bool {
	for _, pid := range t.Pids {
		if t.hasSharedAnon(pid) {
			return true
		}
	}
	return false
}

func (t *Tree) hasSharedAnon(pid int32) bool {
	if _, ok := resident(t.read(pid, "/status\x00")); !ok && t.memory(pid) == 0 {
		return false // a zombie
	}
	fd, ok := t.open(pid, "/maps\x00")
	if !ok {
		return true
	}
	defer Close(int(fd))
	kept, some := 0, false
	for {
		n, _, e := unix.Syscall(unix.SYS_READ, fd, uintptr(unsafe.Pointer(&t.text[kept])), uintptr(len(t.text)-kept))
		if e != 0 {
			return true
		}
		if n == 0 {
			return !some // no map at all: its first thread is gone
		}
		some = true
		text := t.text[:kept+int(n)]
		if bytes.Contains(text, sharedAnon) {
			return true
		}
		kept = copy(t.text, text[max(0, len(text)-len(sharedAnon)):])
	}
}

const (
	socketBytes = 2 * 212992 // one may hold twice net.core.wmem_max, see socket(7); this is its usual value
	freeSockets = 64         // so many count nothing, since few programs fill any
)

// Listeners tells how many listening sockets of the namespace are no program's: what the Broker serves holds nothing.
func (t *Tree) Listeners(n int) { t.listeners = int64(n) }

// SocketMemory is what the sockets of this network namespace, connected pairs included, may hold in bytes: sockstat counts
// them, also those that no descriptor names any more.
func (t *Tree) SocketMemory() int64 {
	fd, ok := t.open(0, "self/net/sockstat\x00")
	if !ok {
		return 0
	}
	n, _, e := unix.Syscall(unix.SYS_READ, fd, uintptr(unsafe.Pointer(&t.text[0])), uintptr(len(t.text)))
	Close(int(fd))
	if e != 0 {
		return 0
	}
	return max(0, field(t.text[:n], "sockets:")-t.listeners-freeSockets) * socketBytes
}

// SysVMemory is the memory of System V shared memory, messages and semaphores of this IPC namespace, in bytes: shmctl(2)
// SHM_INFO, msgctl(2) MSG_INFO, semctl(2) SEM_INFO.
func SysVMemory() (sum int64) {
	var shm struct { // struct shm_info
		used     int32
		_        int32
		tot, rss uint64
		swp      uint64
		_, _     uint64
	}
	if _, _, e := unix.Syscall(unix.SYS_SHMCTL, 0, 14, uintptr(unsafe.Pointer(&shm))); e == 0 {
		sum += int64(shm.rss+shm.swp) * int64(unix.Getpagesize())
	}
	var msg struct { // struct msginfo
		queues, messages             int32 // msgpool, msgmap
		max, mnb, mni, ssz, allBytes int32 // …, msgtql
		_                            uint16
	}
	if _, _, e := unix.Syscall(unix.SYS_MSGCTL, 0, 12, uintptr(unsafe.Pointer(&msg))); e == 0 {
		sum += int64(msg.queues)*512 + int64(msg.messages)*128 + int64(msg.allBytes)
	}
	var sem struct{ v [10]int32 } // struct seminfo: 8 is semusz, the sets; 9 is semaem, the semaphores
	if _, _, e := unix.Syscall6(unix.SYS_SEMCTL, 0, 0, 19, uintptr(unsafe.Pointer(&sem)), 0, 0); e == 0 {
		sum += int64(sem.v[8])*512 + int64(sem.v[9])*64
	}
	return sum
}
