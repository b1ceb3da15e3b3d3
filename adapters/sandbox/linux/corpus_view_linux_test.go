package linux

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// viewAttacks go for devices, /proc and /sys, and for what the read-only system is made of.
func viewAttacks() []attack {
	node := func(name string, mode uint32, dev int) func() error {
		return func() error { return syscall.Mknod(name, mode|0o666, dev) }
	}
	return []attack{
		{name: "list /dev", req: "DENY-01", try: func() error { return list("/dev") }, want: "EACCES"},
		{name: "open a disk", req: "DENY-01", try: func() error {
			return anyOf([]string{"sda", "vda", "nvme0n1", "xvda", "dm-0", "loop0", "mapper/control"}, func(n string) error { return read("/dev/" + n) })
		}, want: "ENOENT"},
		{name: "open other devices", req: "DENY-01", try: func() error {
			return anyOf(strings.Fields("mem port kmsg kvm fuse net/tun vsock vhost-net uinput snapshot rtc0 hwrng tpm0 dri/card0 snd/seq video0 loop-control userfaultfd udmabuf binder nvram watchdog rfkill"),
				func(n string) error { return withFile("/dev/"+n, syscall.O_RDWR, func(int) error { return nil }) })
		}, want: "ENOENT"},
		{name: "open the console", req: "DENY-01", try: func() error { return write("/dev/console") }, want: "ENOENT"},
		{name: "open /dev/tty", req: "DENY-01", try: func() error { return write("/dev/tty") }, want: "ENOENT ENXIO"},
		{name: "open virtual terminals", req: "DENY-01", try: func() error {
			return anyOf(strings.Fields("tty0 tty1 vcs vcs1 vcsa1 ttyS0 hvc0"), func(n string) error { return write("/dev/" + n) })
		}, want: "ENOENT"},
		{name: "write /dev/zero", req: "RES-01", try: func() error { return write("/dev/zero") }, want: "EACCES"},
		{name: "make a memory device", req: "DENY-01", try: node("c1", syscall.S_IFCHR, 0x101), want: denied},
		{name: "make a null device", req: "DENY-01", try: node("c3", syscall.S_IFCHR, 0x103), want: denied},
		{name: "make a disk", req: "DENY-01", try: node("b8", syscall.S_IFBLK, 0x800), want: denied},
		{name: "make a whiteout", req: "DENY-01", try: node("c0", syscall.S_IFCHR, 0), want: denied},
		{name: "make a device in /dev/shm", req: "DENY-01", try: node("/dev/shm/c", syscall.S_IFCHR, 0x101), want: denied},
		{name: "write into /dev", req: "DENY-01", try: func() error { return os.WriteFile("/dev/x", nil, 0o600) }, want: fixed},
		{name: "chmod a device", req: "DENY-01", try: func() error { return os.Chmod("/dev/null", 0o777) }, want: "EPERM EROFS"},
		{name: "administer the random pool", req: "DENY-01", try: func() error {
			return withFile("/dev/urandom", syscall.O_RDWR, func(fd int) error { return raw(nr(16, 29), uintptr(fd), 0x5204, addr(make([]byte, 8))) })
		}, want: "EPERM"},

		{name: "core_pattern", req: "DENY-01", try: func() error { return write("/proc/sys/kernel/core_pattern") }, want: fixed},
		{name: "modprobe path", req: "DENY-01", try: func() error { return write("/proc/sys/kernel/modprobe") }, want: fixed + " ENOENT"},
		{name: "every sysctl", req: "DENY-01", try: writeAll("/proc/sys"), want: fixed},
		{name: "binfmt_misc", req: "DENY-01", try: func() error { return write("/proc/sys/fs/binfmt_misc/register") }, want: fixed + " ENOENT"},
		{name: "sysrq", req: "DENY-01", try: func() error { return write("/proc/sysrq-trigger") }, want: fixed + " ENOENT"},
		{name: "kcore", req: "DENY-01", try: func() error { return withFile("/proc/kcore", 0, func(int) error { return nil }) }, want: denied + " ENOENT"},
		{name: "kmsg", req: "DENY-01", try: func() error { return withFile("/proc/kmsg", 0, func(int) error { return nil }) }, want: denied + " ENOENT"},
		{name: "page frames", req: "DENY-01", try: func() error { return withFile("/proc/kpageflags", 0, func(int) error { return nil }) }, want: denied + " ENOENT"},
		{name: "kernel addresses", req: "DENY-01", try: func() error {
			b, err := os.ReadFile("/proc/kallsyms")
			if err == nil && strings.Contains(string(b[:min(len(b), 4096)]), "ffffffff") {
				return nil
			}
			return errors.Join(err, syscall.EACCES)
		}, want: hidden},
		{name: "names of the caller's keys", req: "DENY-01", try: func() error {
			b, err := os.ReadFile("/proc/keys")
			if len(b) > 0 {
				return fmt.Errorf("%s", b)
			}
			return err
		}, want: "ok ENOENT"},
		{name: "users with keys", req: "DENY-01", try: func() error {
			b, err := os.ReadFile("/proc/key-users")
			if len(b) > 0 {
				return fmt.Errorf("%s", b)
			}
			return err
		}, want: "ok ENOENT"},
		{name: "write its own memory file", req: "DENY-01", try: func() error { return write("/proc/self/mem") }, want: fixed},
		{name: "its own id map", req: "DENY-01", try: func() error { return write("/proc/self/uid_map") }, want: fixed},
		{name: "its own setgroups", req: "DENY-01", try: func() error { return write("/proc/self/setgroups") }, want: fixed},
		{name: "its own OOM score", req: "RES-01", try: func() error { return write("/proc/self/oom_score_adj") }, want: fixed},
		{name: "its own security label", req: "DENY-01", try: func() error { return write("/proc/self/attr/current") }, want: fixed},
		{name: "raise the namespace limits", req: "SEC-INV-01", try: func() error { return write("/proc/sys/user/max_user_namespaces") }, want: fixed},
		{name: "pressure triggers", req: "DENY-01", try: func() error { return write("/proc/pressure/memory") }, want: fixed + " ENOENT"},

		{name: "write into /usr", req: "PRF-01", try: func() error { return os.WriteFile("/usr/bin/evil", nil, 0o755) }, want: fixed},
		{name: "write a program of the system", req: "PRF-01", try: func() error { return write("/usr/bin/env") }, want: fixed},
		{name: "remove a program of the system", req: "PRF-01", try: func() error { return os.Remove("/usr/bin/env") }, want: fixed},
		{name: "chmod a directory of the system", req: "PRF-01", try: func() error { return os.Chmod("/usr/bin", 0o777) }, want: "EROFS"},
		{name: "write into /", req: "PRF-01", try: func() error { return os.WriteFile("/evil", nil, 0o755) }, want: fixed},
		{name: "make a directory in /", req: "PRF-01", try: func() error { return os.Mkdir("/evil", 0o755) }, want: fixed},
		{name: "write /etc/passwd", req: "PRF-01", try: func() error { return write("/etc/passwd") }, want: fixed},
		{name: "write /etc/hosts", req: "PRF-01", try: func() error { return write("/etc/hosts") }, want: fixed},
		{name: "write /etc/ld.so.preload", req: "PRF-01", try: func() error { return os.WriteFile("/etc/ld.so.preload", nil, 0o644) }, want: fixed},
		{name: "replace a link of the system", req: "PRF-01", try: func() error { _ = os.Symlink("/tmp", "lk"); return os.Rename("lk", "/bin") }, want: fixed + " EXDEV EISDIR EBUSY"},
		{name: "hard link of a program", req: "FS-03", try: func() error { return os.Link("/usr/bin/env", "x") }, want: "EXDEV " + denied},
		{name: "the entry's own file", req: "PRC-01", try: func() error {
			self, err := os.Readlink("/proc/self/exe")
			if err != nil {
				return err
			}
			return write(self)
		}, want: fixed + " ETXTBSY"},
		{name: "the place of the entry", req: "PRC-01", try: func() error {
			links, _ := filepath.Glob("/.entry/*")
			if len(links) == 0 {
				return os.WriteFile("/.entry/x", nil, 0o700)
			}
			return os.Remove(links[0])
		}, want: fixed},
	}
}

// writeAll looks for any file below dir that opens for writing.
func writeAll(dir string) func() error {
	return func() error {
		left := 400 // files, spread over all directories
		var last error = syscall.EACCES
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || left == 0 {
				return nil //nolint:nilerr // what cannot be seen cannot be opened either
			}
			left--
			if e := withFile(path, syscall.O_WRONLY, func(int) error { return nil }); e == nil {
				return errors.New("opened " + path + strconv.Itoa(left))
			} else if !errors.Is(e, syscall.ENOENT) {
				last = e
			}
			return nil
		})
		if err != nil {
			return err
		}
		return last
	}
}
