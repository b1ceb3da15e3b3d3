package linux

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"unsafe"
)

// The attacker runs inside the sandbox: this test binary with argv[0] attackName, its working directory a root with all
// rights, and $RO, $NX, $WX roots that are read-only, not executable, and write-only for deletes. Every attack prints
// its name and how it came out.

const attackName = "sandbox-attack"

func runAttackIfAsked() {
	if len(os.Args) == 0 || os.Args[0] != attackName {
		return
	}
	if len(os.Args) > 1 {
		leaderlessIfAsked(os.Args[1])
		hideIfAsked(os.Args[1])
	}
	if len(os.Args) > 1 { // a thread bomb
		var all sync.WaitGroup
		all.Add(500)
		for range 500 {
			go func() {
				runtime.LockOSThread()
				all.Done()
				select {}
			}()
		}
		all.Wait()
		fmt.Println("500 threads")
		os.Exit(0)
	}
	for _, a := range attacks {
		result := "ok"
		if err := a.try(); err != nil {
			var no syscall.Errno
			if errors.As(err, &no) {
				result = errnoName(no)
			} else {
				result = err.Error()
			}
		}
		fmt.Printf("%s -> %s\n", a.name, result)
	}
	os.Exit(0)
}

func errnoName(no syscall.Errno) string {
	for name, n := range map[string]syscall.Errno{
		"EPERM": syscall.EPERM, "EACCES": syscall.EACCES, "EROFS": syscall.EROFS, "ENOENT": syscall.ENOENT, "ENOSYS": syscall.ENOSYS,
		"EXDEV": syscall.EXDEV, "ESRCH": syscall.ESRCH, "EINVAL": syscall.EINVAL, "EBUSY": syscall.EBUSY, "ENXIO": syscall.ENXIO,
		"ENODEV": syscall.ENODEV, "EBADF": syscall.EBADF, "ENOTTY": syscall.ENOTTY,
	} {
		if n == no {
			return name
		}
	}
	return no.Error()
}

type attack struct {
	name string
	try  func() error
	want string // words any of which is right
}

func raw(nr uintptr, args ...uintptr) error {
	var a [6]uintptr
	copy(a[:], args)
	if _, _, e := syscall.Syscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5]); e != 0 {
		return e
	}
	return nil
}

func cstr(s string) uintptr {
	b := append([]byte(s), 0)
	held = append(held, b)
	return uintptr(unsafe.Pointer(&b[0]))
}

func addr(b []byte) uintptr { return uintptr(unsafe.Pointer(&b[0])) }

var held [][]byte

func write(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString("evil")
		_ = f.Close()
	}
	return err
}

func read(path string) error { _, err := os.ReadFile(path); return err }
func list(path string) error { _, err := os.ReadDir(path); return err }

func socket(family, kind, proto int) func() error {
	return func() error {
		fd, err := syscall.Socket(family, kind, proto)
		if err == nil {
			_ = syscall.Close(fd)
		}
		return err
	}
}

func nr(amd64, arm64 uintptr) uintptr {
	if runtime.GOARCH == "arm64" {
		return arm64
	}
	return amd64
}

func ro(name string) string { return filepath.Join(os.Getenv("RO"), name) }
func nx(name string) string { return filepath.Join(os.Getenv("NX"), name) }
func nd(name string) string { return filepath.Join(os.Getenv("ND"), name) }

const denied = "EPERM EACCES"

func call(amd64, arm64 uintptr, args ...uintptr) func() error {
	return func() error { return raw(nr(amd64, arm64), args...) }
}

func mapExec(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	_, err = syscall.Mmap(int(f.Fd()), 0, 4096, syscall.PROT_READ|syscall.PROT_EXEC, syscall.MAP_PRIVATE)
	return err
}

func execute(name string, args ...string) error { return exec.Command(name, args...).Run() }

func status(field, want string) func() error {
	return func() error {
		b, err := os.ReadFile("/proc/self/status")
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(b)) {
			if k, v, _ := strings.Cut(line, ":"); k == field && strings.TrimSpace(v) != want {
				return errors.New(field + " is " + strings.TrimSpace(v))
			}
		}
		return nil
	}
}

var attacks = []attack{
	// File system: what is not given does not exist.
	{"read /etc/shadow", func() error { return read("/etc/shadow") }, "ENOENT EACCES"},
	{"list /root", func() error { return list("/root") }, "ENOENT EACCES"},
	{"list /home", func() error { return list("/home") }, "ENOENT EACCES"},
	{"list /", func() error { return list("/") }, "EACCES"},
	{"list parent of the root", func() error { return list("..") }, "EACCES"},
	{"list /sys", func() error { return list("/sys") }, "ENOENT"},
	{"list /run", func() error { return list("/run") }, "ENOENT EACCES"},
	{"list /dev", func() error { return list("/dev") }, "EACCES"},
	{"open a disk", func() error { return read("/dev/sda") }, "ENOENT"},
	{"open /dev/tty", func() error { return read("/dev/tty") }, "ENOENT ENXIO"},
	{"open /dev/kmsg", func() error { return read("/dev/kmsg") }, "ENOENT"},
	{"through /proc/self/root", func() error { return read("/proc/self/root/etc/shadow") }, "ENOENT EACCES"},
	{"through /proc/1/root", func() error { return list("/proc/1/root") }, denied + " ENOENT"},
	{"through /proc/1/cwd", func() error { return list("/proc/1/cwd") }, denied + " ENOENT"},
	{"through dot dot", func() error { return read("../../../../../../../../etc/shadow") }, "ENOENT EACCES"},
	{"symlink out", func() error { _ = os.Symlink("/etc/shadow", "l"); return read("l") }, "ENOENT EACCES"},
	{"write into /usr", func() error { return os.WriteFile("/usr/bin/evil", nil, 0o755) }, "EROFS EACCES"},
	{"write into /", func() error { return os.WriteFile("/evil", nil, 0o755) }, "EROFS EACCES"},
	{"write /etc/passwd", func() error { return write("/etc/passwd") }, "EROFS EACCES"},
	{"write /etc/hosts", func() error { return write("/etc/hosts") }, "EROFS EACCES"},
	{"chmod /usr", func() error { return os.Chmod("/usr/bin", 0o777) }, "EROFS EPERM"},
	{"core_pattern", func() error { return write("/proc/sys/kernel/core_pattern") }, "EROFS EACCES"},
	{"sysrq", func() error { return write("/proc/sysrq-trigger") }, "EROFS EACCES ENOENT"},
	{"kcore", func() error { return read("/proc/kcore") }, denied + " ENOENT"},
	{"char device", func() error { return syscall.Mknod("c", syscall.S_IFCHR|0o666, 0x103) }, denied},
	{"block device", func() error { return syscall.Mknod("b", syscall.S_IFBLK|0o666, 0x800) }, denied},
	{"hard link of a program", func() error { return os.Link("/usr/bin/env", "x") }, "EXDEV EPERM EACCES"},
	{"hard link out of read-only", func() error { return os.Link(ro("f"), "x") }, "EXDEV EPERM EACCES"},
	// A root without write, below Landlock's sight as well.
	{"ro write", func() error { return write(ro("f")) }, "EROFS EACCES"},
	{"ro truncate", func() error { return os.Truncate(ro("f"), 0) }, "EROFS EACCES"},
	{"ro create", func() error { return os.WriteFile(ro("n"), nil, 0o644) }, "EROFS EACCES"},
	{"ro chmod", func() error { return os.Chmod(ro("f"), 0o777) }, "EROFS"},
	{"ro chown", func() error { return os.Chown(ro("f"), os.Getuid(), os.Getgid()) }, "EROFS"},
	{"ro utime", func() error { return syscall.Utimes(ro("f"), []syscall.Timeval{{}, {}}) }, "EROFS"},
	{"ro xattr", func() error { return syscall.Setxattr(ro("f"), "user.x", []byte("x"), 0) }, "EROFS"},
	{"ro tmpfile", func() error { _, err := syscall.Open(os.Getenv("RO"), 0x410000|syscall.O_RDWR, 0o600); return err }, "EROFS EACCES"},
	{"ro rename in", func() error { _ = os.WriteFile("m", nil, 0o600); return os.Rename("m", ro("m")) }, "EXDEV EROFS EACCES"},
	{"ro link by descriptor", func() error {
		f, err := os.Open(ro("f"))
		if err != nil {
			return err
		}
		return write("/proc/self/fd/" + strconv.Itoa(int(f.Fd())))
	}, "EROFS EACCES"},
	// Write without delete.
	{"nd remove", func() error { return os.Remove(nd("f")) }, "EACCES"},
	{"nd rmdir", func() error { return syscall.Rmdir(nd("d")) }, "EACCES"},
	{"nd rename", func() error { return os.Rename(nd("f"), nd("g")) }, "EACCES"},
	{"nd rename over", func() error { _ = os.WriteFile(nd("new"), nil, 0o600); return os.Rename(nd("new"), nd("f")) }, "EACCES"},
	{"nd exchange", func() error {
		at := -100
		return raw(nr(316, 276), uintptr(at), cstr(nd("f")), uintptr(at), cstr(nd("new")), 2)
	}, "EACCES"},
	{"nd move out", func() error { return os.Rename(nd("f"), "stolen") }, "EXDEV EACCES"},
	{"nd overwrite is write", func() error { return os.WriteFile(nd("over"), []byte("x"), 0o600) }, "ok"},
	// Execution.
	{"nx exec", func() error { return execute(nx("prog")) }, "EACCES"},
	{"nx ld.so", func() error {
		for _, ld := range []string{"/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"} {
			if _, err := os.Stat(ld); err == nil {
				if execute(ld, nx("true")) != nil {
					return syscall.EACCES
				}
				return nil
			}
		}
		return syscall.EACCES
	}, "EACCES"},
	{"nx mmap exec", func() error { return mapExec(nx("prog")) }, denied},
	{"shm exec", func() error {
		_ = os.WriteFile("/dev/shm/x", []byte("#!/bin/sh\n"), 0o755)
		return execute("/dev/shm/x")
	}, "EACCES"},
	{"plain memfd", call(319, 279, cstr("m"), 0), "ENOSYS"},
	{"executable memfd", call(319, 279, cstr("m"), 0x10), "ENOSYS"},
	{"sealed memfd", call(319, 279, cstr("m"), 8), "ENOSYS"},
	{"vmsplice", call(278, 75, 1, 0, 0, 0), "ENOSYS"},
	{"write to /dev/zero", func() error { return write("/dev/zero") }, "EACCES"},
	{"set-user-ID program", func() error {
		for _, su := range []string{"/usr/bin/su", "/usr/bin/sudo", "/usr/bin/mount"} {
			if info, err := os.Stat(su); err == nil && info.Mode()&os.ModeSetuid != 0 {
				out, _ := exec.Command(su, "--version").CombinedOutput()
				_ = out // it may run, without its privilege: NoNewPrivs and nosuid
			}
		}
		return syscall.Setuid(0)
	}, "EPERM EINVAL"},
	// Namespaces, mounts, kernel administration.
	{"mount", func() error { return syscall.Mount("x", "/tmp", "tmpfs", 0, "") }, "EPERM"},
	{"remount", func() error { return syscall.Mount("", os.Getenv("RO"), "", syscall.MS_REMOUNT|syscall.MS_BIND, "") }, "EPERM"},
	{"umount", func() error { return syscall.Unmount(os.Getenv("RO"), 2) }, "EPERM"},
	{"pivot_root", func() error { return syscall.PivotRoot(".", ".") }, "EPERM"},
	{"chroot", func() error { return syscall.Chroot(".") }, "EPERM"},
	{"unshare user", func() error { return syscall.Unshare(syscall.CLONE_NEWUSER) }, "EPERM"},
	{"unshare mount", func() error { return syscall.Unshare(syscall.CLONE_NEWNS) }, "EPERM"},
	{"clone new user", call(56, 220, syscall.CLONE_NEWUSER|17, 0, 0, 0, 0), "EPERM"},
	{"clone parent", call(56, 220, 0x8000|17, 0, 0, 0, 0), "EPERM"},
	{"clone3", call(435, 435, 0, 0), "ENOSYS"},
	{"setns", func() error {
		f, err := os.Open("/proc/self/ns/user")
		if err != nil {
			return err
		}
		return raw(nr(308, 268), f.Fd(), 0)
	}, "EPERM"},
	{"open_tree", call(428, 428, ^uintptr(99), cstr("/"), 1), "EPERM"},
	{"fsopen", call(430, 430, cstr("tmpfs"), 0), "EPERM"},
	{"mount_setattr", call(442, 442, ^uintptr(99), cstr("/"), 0, 0, 0), "EPERM"},
	{"open_by_handle_at", call(304, 265, 0, 0, 0), "EPERM"},
	{"file_setattr and later", call(469, 469, 0, 0, 0, 0, 0), "ENOSYS"},
	{"bpf", call(321, 280, 0, 0, 0), "EPERM"},
	{"perf_event_open", call(298, 241, 0, 0, 0, 0, 0), "EPERM"},
	{"userfaultfd", call(323, 282, 0), "EPERM"},
	{"io_uring", call(425, 425, 1, 0), "ENOSYS"},
	{"kexec", call(246, 104, 0, 0, 0, 0), "EPERM"},
	{"syslog", call(103, 116, 3, 0, 0), "EPERM"},
	{"reboot", call(169, 142, 0, 0, 0, 0), "EPERM"},
	{"swapon", call(167, 224, cstr("x"), 0), "EPERM"},
	{"sethostname", func() error { return syscall.Sethostname([]byte("x")) }, "EPERM"},
	{"setgroups", func() error { return syscall.Setgroups([]int{0}) }, "EPERM EINVAL"},
	// Credentials and other processes.
	{"add_key", call(248, 217, cstr("user"), cstr("k"), cstr("v"), 1, ^uintptr(2)), "EPERM"},
	{"keyctl read session", call(250, 219, 11, ^uintptr(2), 0, 0), "EPERM"},
	{"request_key", call(249, 218, cstr("user"), cstr("k"), 0, 0), "EPERM"},
	{"ptrace PID 1", func() error { return syscall.PtraceAttach(1) }, "EPERM"},
	{"kill PID 1", func() error { return syscall.Kill(1, syscall.SIGKILL) }, "EPERM"},
	{"PID 1 environ", func() error { return read("/proc/1/environ") }, denied},
	{"PID 1 memory", func() error { return read("/proc/1/mem") }, denied},
	{"PID 1 descriptors", func() error { return list("/proc/1/fd") }, denied},
	{"process_vm_readv", call(310, 270, 1, 0, 0, 0, 0, 0), "EPERM"},
	{"pidfd_getfd", call(438, 438, 0, 0, 0), "EPERM"},
	{"kcmp", call(312, 272, 1, 1, 0, 0, 0), "EPERM"},
	{"outsiders are invisible", func() error {
		entries, err := os.ReadDir("/proc")
		if err != nil {
			return err
		}
		for _, e := range entries {
			if pid, err := strconv.Atoi(e.Name()); err == nil && pid != 1 && pid != os.Getpid() {
				if cmd, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline"); !bytes.Contains(cmd, []byte(attackName)) && len(cmd) > 0 {
					return fmt.Errorf("pid %d: %q", pid, cmd)
				}
			}
		}
		return nil
	}, "ok"},
	{"inherited descriptors", func() error {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			return err
		}
		for _, e := range entries {
			target, _ := os.Readlink("/proc/self/fd/" + e.Name())
			if n, _ := strconv.Atoi(e.Name()); n > 2 && !strings.Contains(target, "eventpoll") && !strings.Contains(target, "eventfd") &&
				!strings.HasPrefix(target, "/proc/") && target != "" && !strings.Contains(target, "pidfd") &&
				!strings.HasPrefix(target, os.Getenv("RO")) && target != nx("prog") && !strings.HasPrefix(target, "user:") {
				return fmt.Errorf("%s is %s", e.Name(), target)
			}
		}
		return nil
	}, "ok"},
	{"no new privileges", status("NoNewPrivs", "1"), "ok"},
	{"seccomp", status("Seccomp", "2"), "ok"},
	{"no supplementary root group", func() error {
		groups, err := os.Getgroups()
		for _, g := range groups {
			if g == 0 {
				return errors.New("group 0")
			}
		}
		return err
	}, "ok"},
	{"not root", func() error {
		if os.Getuid() == 0 || os.Geteuid() == 0 {
			return errors.New("uid 0")
		}
		return nil
	}, "ok"},
	// Network, NET-01.
	{"tcp", socket(syscall.AF_INET, syscall.SOCK_STREAM, 0), "EACCES"},
	{"tcp6", socket(syscall.AF_INET6, syscall.SOCK_STREAM, 0), "EACCES"},
	{"udp", socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0), "EACCES"},
	{"mptcp", socket(syscall.AF_INET, syscall.SOCK_STREAM, 262), "EACCES"},
	{"icmp", socket(syscall.AF_INET, syscall.SOCK_DGRAM, 1), "EACCES"},
	{"raw", socket(syscall.AF_INET, syscall.SOCK_RAW, 255), "EACCES"},
	{"packet", socket(syscall.AF_PACKET, syscall.SOCK_RAW, 0), "EACCES"},
	{"netlink", socket(syscall.AF_NETLINK, syscall.SOCK_RAW, 0), "EACCES"},
	{"unix", socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0), "EACCES"},
	{"vsock", socket(40, syscall.SOCK_STREAM, 0), "EACCES"},
	{"alg", socket(38, syscall.SOCK_SEQPACKET, 0), "EACCES"},
	{"datagram pair", func() error { _, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_DGRAM, 0); return err }, "EACCES"},
	{"stream pair", func() error {
		p, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		if err == nil {
			_, _ = syscall.Close(p[0]), syscall.Close(p[1])
		}
		return err
	}, "ok"},
	// Terminal.
	{"TIOCSTI", call(16, 29, 0, 0x5412, cstr("x")), "EPERM"},
	{"TIOCSTI high bits", call(16, 29, 0, 0x5412|1<<32, cstr("x")), "EPERM"},
	{"TIOCLINUX", call(16, 29, 0, 0x541c, cstr("x")), "EPERM"},
	// Limits cannot be raised.
	{"raise the task limit", func() error { return syscall.Setrlimit(6, &syscall.Rlimit{Cur: 1 << 30, Max: 1 << 30}) }, "EPERM"},
	{"limit the watcher", func() error {
		zero := make([]byte, 16)
		return raw(nr(302, 261), 1, 7, addr(zero), 0)
	}, "EPERM"},
	{"raise the data limit", func() error {
		var now syscall.Rlimit
		if syscall.Getrlimit(syscall.RLIMIT_DATA, &now) == nil && now.Max == ^uint64(0) {
			return syscall.EPERM // there is none at L3, where the cgroup counts (TestSandbox_DataLimit)
		}
		return syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: ^uint64(0), Max: ^uint64(0)})
	}, "EPERM"},
}
