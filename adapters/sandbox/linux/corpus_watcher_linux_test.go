package linux

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// watcherAttacks go for PID 1, which runs as the same user in the same namespaces: it counts, kills and answers for the run.
// Each of its threads is a target of its own, since one of them is confined like the programs.
func watcherAttacks() []attack {
	threads := func(try func(tid uintptr) error) func() error {
		return func() error {
			dirs, err := filepath.Glob("/proc/1/task/[0-9]*")
			if err != nil || len(dirs) == 0 {
				return fmt.Errorf("no threads: %w", errors.Join(err, syscall.ESRCH))
			}
			return anyOf(dirs, func(d string) error {
				tid, err := strconv.Atoi(filepath.Base(d))
				if err != nil {
					return err
				}
				return try(uintptr(tid))
			})
		}
	}
	file := func(name string) func() error {
		return threads(func(tid uintptr) error { return read("/proc/1/task/" + strconv.Itoa(int(tid)) + "/" + name) })
	}
	ptrace := func(request uintptr) func() error {
		return threads(func(tid uintptr) error { return raw(nr(101, 117), request, tid, 0, 0) })
	}
	attr := words(48|5<<32, 0, 0, 0, 0, 0)
	return []attack{
		{name: "PID 1 environ", req: "DENY-01", try: file("environ"), want: denied},
		{name: "PID 1 memory", req: "DENY-01", try: file("mem"), want: denied},
		{name: "PID 1 maps", req: "DENY-01", try: file("maps"), want: denied},
		{name: "PID 1 syscall", req: "DENY-01", try: file("syscall"), want: denied},
		{name: "PID 1 stack", req: "DENY-01", try: file("stack"), want: denied},
		{name: "PID 1 auxv", req: "DENY-01", try: file("auxv"), want: denied},
		{name: "PID 1 io", req: "DENY-01", try: file("io"), want: denied},
		{name: "PID 1 descriptors", req: "DENY-01", try: func() error { return list("/proc/1/fd") }, want: denied},
		{name: "PID 1 descriptor infos", req: "DENY-01", try: func() error { return list("/proc/1/fdinfo") }, want: denied},
		{name: "PID 1 control socket", req: "DENY-01", try: func() error { return withFile("/proc/1/fd/3", syscall.O_RDWR, func(int) error { return nil }) }, want: denied + " ENXIO"},
		{name: "PID 1 root", req: "DENY-01", try: func() error { return list("/proc/1/root") }, want: denied},
		{name: "PID 1 cwd", req: "DENY-01", try: func() error { return list("/proc/1/cwd") }, want: denied},
		{name: "PID 1 program", req: "DENY-01", try: func() error { return withFile("/proc/1/exe", 0, func(int) error { return nil }) }, want: denied},
		{name: "PID 1 attach", req: "DENY-01", try: ptrace(16), want: "EPERM"},
		{name: "PID 1 seize", req: "DENY-01", try: ptrace(0x4206), want: "EPERM"},
		{name: "PID 1 process_vm_readv", req: "DENY-01", try: threads(func(tid uintptr) error { return raw(nr(310, 270), tid, 0, 0, 0, 0, 0) }), want: "EPERM"},
		{name: "PID 1 process_vm_writev", req: "DENY-01", try: threads(func(tid uintptr) error { return raw(nr(311, 271), tid, 0, 0, 0, 0, 0) }), want: "EPERM"},
		{name: "PID 1 process_madvise", req: "DENY-01", want: denied + " EINVAL", try: func() error {
			fd, err := rawValue(434, 1, 0)
			if err != nil {
				return err
			}
			return raw(440, fd, addr(words(4096, 4096)), 1, 21, 0)
		}},
		{name: "PID 1 process_mrelease", req: "DENY-01", want: "EPERM EINVAL", try: func() error {
			fd, err := rawValue(434, 1, 0)
			if err != nil {
				return err
			}
			return raw(448, fd, 0)
		}},
		{name: "PID 1 robust list", req: "DENY-01", want: "EPERM", try: threads(func(tid uintptr) error {
			return raw(nr(274, 100), tid, addr(make([]byte, 8)), addr(make([]byte, 8)))
		})},
		{name: "PID 1 move_pages", req: "DENY-01", want: "EPERM ENOSYS", try: threads(func(tid uintptr) error { return raw(nr(279, 239), tid, 0, 0, 0, 0, 0) })},
		{name: "PID 1 migrate_pages", req: "DENY-01", want: "EPERM ENOSYS", try: threads(func(tid uintptr) error {
			return raw(nr(256, 238), tid, 64, addr(words(1)), addr(words(1)))
		})},
		{name: "PID 1 core scheduling", req: "DENY-01", want: "EPERM EINVAL ENODEV ENOSYS", try: threads(func(tid uintptr) error { return raw(nr(157, 167), 62, 3, tid, 0, 0) })},
		{name: "PID 1 kill", req: "PRC-08", try: func() error { return syscall.Kill(1, syscall.SIGKILL) }, want: "EPERM"},
		{name: "PID 1 stop", req: "PRC-08", try: func() error { return syscall.Kill(1, syscall.SIGSTOP) }, want: "EPERM"},
		{name: "PID 1 queue a signal", req: "PRC-08", try: func() error {
			info := make([]byte, 128)
			info[0], info[8] = 15, 0xff
			return raw(nr(129, 138), 1, 15, addr(info))
		}, want: "EPERM"},
		{name: "PID 1 pidfd_send_signal", req: "PRC-08", want: "EPERM", try: func() error {
			fd, err := rawValue(434, 1, 0)
			if err != nil {
				return err
			}
			return raw(424, fd, 15, 0, 0)
		}},
		{name: "PID 1 every signal to every thread", req: "PRC-08", want: "ok EPERM", try: func() error {
			// One thread is confined as the programs are: signals reach it. They must mean nothing to PID 1.
			err := syscall.EPERM
			for sig := uintptr(1); sig <= 64; sig++ {
				_ = threads(func(tid uintptr) error {
					_ = raw(nr(234, 131), 1, tid, sig)
					_ = raw(nr(200, 130), tid, sig)
					return err
				})()
			}
			return nil
		}},
		{name: "PID 1 signals by descriptor", req: "PRC-08", want: "ok EPERM", try: func() error {
			return withFile("/dev/ptmx", syscall.O_RDWR, func(fd int) error {
				return threads(func(tid uintptr) error {
					_ = raw(nr(72, 25), uintptr(fd), 10, 9)                            // F_SETSIG: SIGKILL
					_ = raw(nr(72, 25), uintptr(fd), 15, addr(words(uint64(tid)<<32))) // F_SETOWN_EX: a thread
					_ = raw(nr(72, 25), uintptr(fd), 4, 0x2000|0x800|2)                // O_ASYNC
					_, _ = syscall.Write(fd, []byte("x"))
					return nil
				})()
			})
		}},
		{name: "PID 1 limits", req: "RES-01", want: "EPERM", try: threads(func(tid uintptr) error { return raw(nr(302, 261), tid, 7, addr(words(0, 0)), 0) })},
		{name: "PID 1 niceness", req: "RES-01", want: "EPERM", try: threads(func(tid uintptr) error { return raw(nr(141, 140), 0, tid, 19) })},
		{name: "PID 1 niceness with high bits", req: "RES-01", want: "EPERM", try: threads(func(tid uintptr) error { return raw(nr(141, 140), 1<<32, 1<<32|tid, 19) })},
		{name: "PID 1 niceness by group", req: "RES-01", want: "EPERM", try: call(141, 140, 1, 1, 19)},
		{name: "PID 1 niceness by user", req: "RES-01", want: "EPERM", try: call(141, 140, 2, 0, 19)},
		{name: "PID 1 niceness by user named", req: "RES-01", want: "EPERM", try: func() error { return raw(nr(141, 140), 2, uintptr(os.Getuid()), 19) }},
		{name: "PID 1 processors", req: "RES-01", want: "EPERM", try: threads(func(tid uintptr) error { return raw(nr(203, 122), tid, 8, addr(words(1))) })},
		{name: "PID 1 policy", req: "RES-01", want: "EPERM", try: threads(func(tid uintptr) error { return raw(nr(144, 119), tid, 5, addr(words(0))) })},
		{name: "PID 1 parameters", req: "RES-01", want: "EPERM", try: threads(func(tid uintptr) error { return raw(nr(142, 118), tid, addr(words(0))) })},
		{name: "PID 1 attributes", req: "RES-01", want: "EPERM", try: threads(func(tid uintptr) error { return raw(nr(314, 274), tid, addr(attr), 0) })},
		{name: "PID 1 I/O class", req: "RES-01", want: "EPERM", try: threads(func(tid uintptr) error { return raw(nr(251, 30), 1, tid, 3<<13) })},
		{name: "PID 1 I/O class by group", req: "RES-01", want: "EPERM", try: call(251, 30, 2, 1, 3<<13)},
		{name: "PID 1 I/O class by user", req: "RES-01", want: "EPERM", try: func() error { return raw(nr(251, 30), 3, uintptr(os.Getuid()), 3<<13) }},
		{name: "niceness of its own", req: "PRF-01", want: "ok", try: func() error { return raw(nr(141, 140), 0, uintptr(os.Getpid()), 1) }},
		{name: "niceness of its own group", req: "PRF-01", want: "ok", try: call(141, 140, 1, 0, 1)},
		{name: "processors of its own thread", req: "PRF-01", want: "ok", try: func() error {
			mask := words(make([]uint64, 16)...)
			if err := raw(nr(204, 123), uintptr(syscall.Gettid()), 128, addr(mask)); err != nil {
				return err
			}
			return raw(nr(203, 122), uintptr(syscall.Gettid()), 128, addr(mask))
		}},
		{name: "policy of its own thread", req: "PRF-01", want: "ok", try: func() error { return raw(nr(144, 119), uintptr(syscall.Gettid()), 0, addr(words(0))) }},
	}
}
