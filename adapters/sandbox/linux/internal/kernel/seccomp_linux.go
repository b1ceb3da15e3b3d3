package kernel

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/agent-mcp/agent-mcp/adapters/sandbox/linux/internal/filter"
)

// SeccompNotifies reports whether the kernel has filters with user notification and CONTINUE (5.5): seccomp(2).
func SeccompNotifies() bool {
	action := uint32(filter.Notify)
	_, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	return e == 0
}

// Filter installs a program on the calling thread. It returns the listener for Notify actions.
func Filter(insns []filter.Insn) (listener int, err error) {
	prog := unix.SockFprog{Len: uint16(len(insns)), Filter: (*unix.SockFilter)(unsafe.Pointer(&insns[0]))}
	flags := []uintptr{unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER}
	for _, f := range flags { // the second for kernels before 5.19
		fd, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, f, uintptr(unsafe.Pointer(&prog)))
		if e == 0 {
			return int(fd), nil
		}
		err = e
		if e != unix.EINVAL {
			break
		}
	}
	return -1, err
}

var allowAll = []filter.Insn{{Code: unix.BPF_RET | unix.BPF_K, K: filter.Allow}}

type notification struct {
	id    uint64
	pid   uint32
	flags uint32
	nr    int32
	arch  uint32
	ip    uint64
	args  [6]uint64
}

type response struct {
	id    uint64
	val   int64
	error int32
	flags uint32
}

// Question is one call that waits for an answer.
type Question struct {
	id   uint64
	TID  int32 // the asking thread, in this process's pid namespace
	NR   uint32
	Args [6]uint64
}

// Map is how many bytes of shared anonymous memory it wants; 0 when it is another call.
func (q *Question) Map() int64 {
	if q.NR != unix.SYS_MMAP {
		return 0
	}
	return int64(max(1, min(q.Args[1], 1<<62)))
}

// Thread reports clone(2) for a thread.
func (q *Question) Thread() bool {
	return q.NR == unix.SYS_CLONE && q.Args[0]&unix.CLONE_THREAD != 0
}

// Session reports setsid(2).
func (q *Question) Session() bool { return q.NR == unix.SYS_SETSID }

// Schedules is the thread, process or, with group, process group whose urgency or place it wants to set; 0 when it is
// another call.
func (q *Question) Schedules() (id int32, group bool) {
	switch q.NR {
	case unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETATTR, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETSCHEDULER:
		return int32(q.Args[0]), false
	case unix.SYS_SETPRIORITY:
		return int32(q.Args[1]), int32(q.Args[0]) == unix.PRIO_PGRP
	case unix.SYS_IOPRIO_SET:
		return int32(q.Args[1]), int32(q.Args[0]) == 2 // IOPRIO_WHO_PGRP
	}
	return 0, false
}

// Connect reports connect(2).
func (q *Question) Connect() bool { return q.NR == unix.SYS_CONNECT }

// Ask takes the next question; ok is false when the asker is gone by now.
func Ask(listener int) (q Question, ok bool) {
	var n notification
	if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&n))); e != 0 {
		return Question{}, false
	}
	return Question{id: n.id, TID: int32(n.pid), NR: uint32(n.nr), Args: n.args}, true
}

// Restart as an answer lets the waiting signals in and then repeats the call, or ends it with EINTR, as signal(7) says.
const Restart = 512 // ERESTARTSYS

// Answer lets the call go on with 0, or makes it fail with an errno. Letting it go on is safe where all that decides are
// numbers in registers, or where something else than the answer is the boundary.
func Answer(listener int, q Question, errno uint32) {
	r := response{id: q.id, error: -int32(errno)}
	if errno == 0 {
		r.flags = unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE
	}
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&r)))
}

// Wait polls two descriptors for at most ms milliseconds: input on both, hang-up on the second.
func Wait(listener, peer, ms int) (asked, told, hungUp bool) {
	fds := [2]unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}, {Fd: int32(peer), Events: unix.POLLIN}}
	if _, err := unix.Poll(fds[:], ms); err != nil {
		return false, false, false
	}
	return fds[0].Revents&unix.POLLIN != 0, fds[1].Revents&unix.POLLIN != 0, fds[1].Revents&(unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) != 0
}
