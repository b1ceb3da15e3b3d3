package kernel

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// family narrows a Tree to the descendants of one process, for a helper without a pid namespace of its own.
type family struct {
	self    int32
	all     []int32
	members []member // of the last scan, ascending
	spare   []member
	at      time.Time
}

type member struct {
	pid int32
	in  bool
}

// freshFor is how long the last scan tells who a pid is: so many processes that a number comes up again are not born in
// that time.
const freshFor = 100 * time.Millisecond

// Only narrows the Tree to the descendants of a process that is their reaper (Subreaper).
func (t *Tree) Only(self int) {
	t.family = &family{self: int32(self), all: make([]int32, 0, 4096), members: make([]member, 0, 4096), spare: make([]member, 0, 4096)}
}

// scanFamily lists the descendants. Only processes that were not there at the last scan are asked for their parents.
func (t *Tree) scanFamily() {
	f := t.family
	f.all = t.numbers(t.dir, f.all[:0])
	now := time.Now()
	old := f.members
	if now.Sub(f.at) > freshFor {
		old = old[:0]
	}
	f.at = now
	f.members, f.spare = f.spare[:0], f.members
	t.Pids = t.Pids[:0]
	i := 0
	for _, pid := range f.all {
		for i < len(old) && old[i].pid < pid {
			i++
		}
		in := false
		if i < len(old) && old[i].pid == pid {
			in = old[i].in
		} else if pid != f.self {
			in = t.descends(pid, old)
		}
		f.members = append(f.members, member{pid, in})
		if in {
			t.Pids = append(t.Pids, pid)
		}
	}
}

// descends asks for a process's parents until one is known. A parent that ends meanwhile hands its child on, so the child is
// asked again. What cannot be told is counted.
func (t *Tree) descends(pid int32, old []member) bool {
	for range 64 {
		at := pid
		for range 4096 {
			parent, ok := t.parent(at)
			if !ok {
				if at == pid {
					return false // gone
				}
				break
			}
			if parent == t.family.self {
				return true
			}
			if parent <= 1 {
				return false
			}
			if in, known := find(old, parent); known {
				return in
			}
			if in, known := find(t.family.members, parent); known {
				return in
			}
			at = parent
		}
	}
	return true
}

func find(list []member, pid int32) (in, known bool) {
	lo, hi := 0, len(list)
	for lo < hi {
		mid := (lo + hi) / 2
		if list[mid].pid < pid {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo < len(list) && list[lo].pid == pid && list[lo].in, lo < len(list) && list[lo].pid == pid
}

// parent of a process; false when it is gone.
func (t *Tree) parent(pid int32) (int32, bool) {
	b := t.read(pid, "/stat\x00")
	for i := len(b) - 2; i > 0; i-- { // the command name may contain anything: take the last parenthesis
		if b[i] != ')' {
			continue
		}
		n := int32(0)
		for _, c := range b[min(i+4, len(b)):] { // ") S 123 "
			if c < '0' || c > '9' {
				break
			}
			n = n*10 + int32(c-'0')
		}
		return n, true
	}
	return 0, false
}

// Tasks counts the threads of the last Scan's processes.
func (t *Tree) Tasks() (n int) {
	for _, pid := range t.Pids {
		n += max(1, int(field(t.read(pid, "/status\x00"), "Threads:")))
	}
	return n
}

// KillChildren kills the direct children of the calling process among the last Scan's processes. Nobody else can reap
// them, so that no stranger can have got their number: the caller must not reap at the same time.
func (t *Tree) KillChildren() {
	for _, pid := range t.Pids {
		if parent, ok := t.parent(pid); ok && parent == t.family.self {
			_ = unix.Kill(int(pid), unix.SIGKILL)
		}
	}
}

// Subreaper makes orphaned descendants this process's children: PR_SET_CHILD_SUBREAPER(2const).
func Subreaper() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// SurviveParent undoes Hide's bond to the creating thread. Call it on the thread that called Hide.
func SurviveParent() error { return unix.Prctl(unix.PR_SET_PDEATHSIG, 0, 0, 0, 0) }

// HangUp ends a control channel for both sides; the descriptor stays open.
func HangUp(socket int) { _ = unix.Shutdown(socket, unix.SHUT_RDWR) }

// AwaitEnd waits until a child has ended, and does not reap it. It fails with ECHILD when there is none.
func AwaitEnd() error {
	return retry(func() error { return unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOWAIT, nil) })
}

// DropCapsPlain is DropCaps(-1) for a process without rights over its own bounding set: with NoNewPrivs nothing in that set
// can be got any more. A root that has the right drops the set as well.
func DropCapsPlain() error {
	err := DropCaps(-1)
	if errors.Is(err, unix.EPERM) {
		h := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var d [2]unix.CapUserData
		return unix.Capset(&h, &d[0])
	}
	return err
}

// TryListener reports whether this process may install a filter with a listener: a container whose runtime listens itself
// (EBUSY) does not let it. It binds the calling thread, which must be thrown away.
func TryListener() error {
	if err := NoNewPrivs(); err != nil {
		return err
	}
	listener, err := Filter(allowAll)
	Close(listener)
	return err
}
