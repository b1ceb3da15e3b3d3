package linux

import (
	"errors"
	"os"
	"strings"
	"syscall"
)

// kernelAttacks ask the kernel for new rooms and for its administration.
func kernelAttacks() []attack {
	rows := []attack{
		{name: "mount tmpfs", req: "SEC-INV-01", try: func() error { return syscall.Mount("x", "/tmp", "tmpfs", 0, "") }, want: "EPERM"},
		{name: "mount overlay", req: "SEC-INV-01", try: func() error {
			return syscall.Mount("x", ".", "overlay", 0, "lowerdir="+os.Getenv("RO")+",upperdir=.,workdir=d")
		}, want: "EPERM"},
		{name: "mount proc", req: "SEC-INV-01", try: func() error { return syscall.Mount("x", "d", "proc", 0, "") }, want: "EPERM"},
		{name: "bind mount", req: "SEC-INV-01", try: func() error { return syscall.Mount("/", "d", "", syscall.MS_BIND|syscall.MS_REC, "") }, want: "EPERM"},
		{name: "remount writable", req: "SEC-INV-01", try: func() error { return syscall.Mount("", os.Getenv("RO"), "", syscall.MS_REMOUNT|syscall.MS_BIND, "") }, want: "EPERM"},
		{name: "share the mounts", req: "SEC-INV-01", try: func() error { return syscall.Mount("", "/", "", syscall.MS_SHARED|syscall.MS_REC, "") }, want: "EPERM"},
		{name: "move a mount", req: "SEC-INV-01", try: func() error { return syscall.Mount(os.Getenv("RO"), "d", "", syscall.MS_MOVE, "") }, want: "EPERM"},
		{name: "umount", req: "SEC-INV-01", try: func() error { return syscall.Unmount(os.Getenv("RO"), 2) }, want: "EPERM"},
		{name: "umount what protects", req: "SEC-INV-01", try: func() error { return syscall.Unmount("kept/hooks", 2) }, want: "EPERM"},
		{name: "pivot_root", req: "SEC-INV-01", try: func() error { return syscall.PivotRoot(".", ".") }, want: "EPERM"},
		{name: "chroot", req: "SEC-INV-01", try: func() error { return syscall.Chroot(".") }, want: "EPERM"},
		{name: "open_tree", req: "SEC-INV-01", try: call(428, 428, atCwd, cstr("/"), 1), want: "EPERM"},
		{name: "open_tree of what is there", req: "SEC-INV-01", try: call(428, 428, atCwd, cstr("/"), 0), want: "EPERM"},
		{name: "open_tree_attr", req: "SEC-INV-01", try: call(467, 467, atCwd, cstr("/"), 1, 0, 0), want: "ENOSYS"},
		{name: "move_mount", req: "SEC-INV-01", try: call(429, 429, atCwd, cstr("/tmp"), atCwd, cstr("."), 0), want: "EPERM"},
		{name: "fsopen", req: "SEC-INV-01", try: call(430, 430, cstr("tmpfs"), 0), want: "EPERM"},
		{name: "fspick", req: "SEC-INV-01", try: call(433, 433, atCwd, cstr("/"), 0), want: "EPERM"},
		{name: "fsconfig", req: "SEC-INV-01", try: call(431, 431, 0, 6, 0, 0, 0), want: "EPERM"},
		{name: "fsmount", req: "SEC-INV-01", try: call(432, 432, 0, 0, 0), want: "EPERM"},
		{name: "mount_setattr", req: "SEC-INV-01", try: call(442, 442, atCwd, cstr("/"), 0x8000, addr(words(0, 1, 0, 0)), 32), want: "EPERM"},
		{name: "setns of its own", req: "SEC-INV-01", try: setns("/proc/self/ns/user"), want: "EPERM"},
		{name: "setns of PID 1", req: "SEC-INV-01", try: func() error {
			return anyOf(strings.Fields("user mnt pid net cgroup"), func(n string) error { return setns("/proc/1/ns/" + n)() })
		}, want: denied},
		{name: "setns of a process", req: "SEC-INV-01", try: func() error {
			fd, err := rawValue(434, 1, 0)
			if err != nil {
				return err
			}
			return raw(nr(308, 268), fd, 0x7e020080)
		}, want: "EPERM"},
		{name: "the parent namespace by ioctl", req: "SEC-INV-01", try: nsIoctl("/proc/self/ns/user", 0xb702), want: "EPERM"},
		{name: "the owner of the mount namespace by ioctl", req: "SEC-INV-01", try: func() error {
			return withFile("/proc/self/ns/pid", 0, func(fd int) error {
				up, err := rawValue(nr(16, 29), uintptr(fd), 0xb702, 0)
				if err != nil {
					return err
				}
				return raw(nr(308, 268), up, 0)
			})
		}, want: "EPERM"},
		{name: "the next mount namespace by ioctl", req: "SEC-INV-01", try: func() error {
			return withFile("/proc/self/ns/mnt", 0, func(fd int) error { return raw(nr(16, 29), uintptr(fd), 0x8010b70b, addr(make([]byte, 16))) })
		}, want: "EPERM ENOTTY ENOENT EINVAL"},
		{name: "clone into the parent", req: "PRC-08", try: call(56, 220, 0x8000|17, 0, 0, 0, 0), want: "EPERM"},
		{name: "clone3", req: "PRC-08", try: call(435, 435, addr(words(0x10000000, 0, 0, 0, 17, 0, 0, 0)), 64), want: "ENOSYS"},
		{name: "bpf", req: "SEC-INV-01", try: call(321, 280, 0, addr(make([]byte, 72)), 72), want: "EPERM"},
		{name: "perf_event_open", req: "SEC-INV-01", try: call(298, 241, addr(make([]byte, 128)), 0, ^uintptr(0), ^uintptr(0), 0), want: "EPERM"},
		{name: "userfaultfd", req: "SEC-INV-01", try: call(323, 282, 0), want: "EPERM"},
		{name: "userfaultfd of user mode", req: "SEC-INV-01", try: call(323, 282, 1), want: "EPERM"},
		{name: "io_uring_setup", req: "NET-01", try: call(425, 425, 8, addr(make([]byte, 120))), want: "ENOSYS"},
		{name: "io_uring_enter", req: "NET-01", try: call(426, 426, 0, 1, 0, 0, 0, 0), want: "ENOSYS"},
		{name: "io_uring_register", req: "NET-01", try: call(427, 427, ^uintptr(0), 0, 0, 0), want: "ENOSYS"},
		{name: "load a module", req: "SEC-INV-01", try: call(175, 105, 0, 0, cstr("")), want: "EPERM"},
		{name: "load a module file", req: "SEC-INV-01", try: call(313, 273, 0, cstr(""), 0), want: "EPERM"},
		{name: "remove a module", req: "SEC-INV-01", try: call(176, 106, cstr("x"), 0), want: "EPERM"},
		{name: "kexec", req: "SEC-INV-01", try: call(246, 104, 0, 0, 0, 0), want: "EPERM"},
		{name: "kexec of a file", req: "SEC-INV-01", try: call(320, 294, 0, 0, 0, 0, 0), want: "EPERM"},
		{name: "read the kernel's log", req: "SEC-INV-01", try: call(103, 116, 3, addr(make([]byte, 64)), 64), want: "EPERM"},
		{name: "reboot", req: "SEC-INV-01", try: call(169, 142, 0xfee1dead, 672274793, 0, 0), want: "EPERM"},
		{name: "swapon", req: "SEC-INV-01", try: call(167, 224, cstr("x"), 0), want: "EPERM"},
		{name: "swapoff", req: "SEC-INV-01", try: call(168, 225, cstr("x")), want: "EPERM"},
		{name: "acct", req: "SEC-INV-01", try: call(163, 89, cstr("acct")), want: "EPERM"},
		{name: "quotactl", req: "SEC-INV-01", try: call(179, 60, 0x80000700, cstr("/dev/vda"), 0, 0), want: "EPERM"},
		{name: "quotactl_fd", req: "SEC-INV-01", try: call(443, 443, 0, 0, 0, 0), want: "EPERM"},
		{name: "sethostname", req: "SEC-INV-01", try: func() error { return syscall.Sethostname([]byte("x")) }, want: "EPERM"},
		{name: "setdomainname", req: "SEC-INV-01", try: func() error { return syscall.Setdomainname([]byte("x")) }, want: "EPERM"},
		{name: "set the clock", req: "SEC-INV-01", try: func() error { return syscall.Settimeofday(&syscall.Timeval{Sec: 1}) }, want: "EPERM"},
		{name: "set the clock by clock_settime", req: "SEC-INV-01", try: call(227, 112, 0, addr(words(1, 0))), want: "EPERM"},
		{name: "slew the clock", req: "SEC-INV-01", try: func() error { _, err := syscall.Adjtimex(&syscall.Timex{Modes: 1, Offset: 1}); return err }, want: "EPERM"},
		{name: "hang up", req: "SEC-INV-01", try: call(153, 58), want: "EPERM"},
		{name: "file_setattr and all that is newer", req: "SEC-INV-01", try: func() error {
			for n := uintptr(463); n < 600; n++ {
				if err := raw(n, 0, 0, 0, 0, 0, 0); !errors.Is(err, syscall.ENOSYS) {
					return err
				}
			}
			return syscall.ENOSYS
		}, want: "ENOSYS"},
		{name: "vmsplice", req: "RES-01", try: call(278, 75, 1, 0, 0, 0), want: "ENOSYS"},
	}
	for name, flag := range map[string]uintptr{
		"time": 0x80, "mount": 0x20000, "cgroup": 0x2000000, "uts": 0x4000000, "ipc": 0x8000000, "user": 0x10000000, "pid": 0x20000000, "network": 0x40000000,
	} {
		rows = append(rows,
			attack{name: "unshare " + name, req: "SEC-INV-01", try: call(272, 97, flag), want: "EPERM"},
			attack{name: "clone " + name, req: "SEC-INV-01", try: call(56, 220, flag|17, 0, 0, 0, 0), want: "EPERM"},
			attack{name: "clone " + name + " with high bits", req: "SEC-INV-01", try: call(56, 220, 1<<40|flag|17, 0, 0, 0, 0), want: "EPERM"})
	}
	return rows
}

func setns(path string) func() error {
	return func() error {
		return withFile(path, syscall.O_RDONLY, func(fd int) error { return raw(nr(308, 268), uintptr(fd), 0) })
	}
}

func nsIoctl(path string, request uintptr) func() error {
	return func() error {
		return withFile(path, syscall.O_RDONLY, func(fd int) error { return raw(nr(16, 29), uintptr(fd), request, 0) })
	}
}
