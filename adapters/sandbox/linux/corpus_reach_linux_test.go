package linux

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// reachAttacks try to get at files that no root shows.
func reachAttacks() []attack {
	how := func(flags, resolve uint64) []byte { return words(flags, 0, resolve) }
	openat2 := func(path string, flags, resolve uint64) func() error {
		return func() error { return raw(437, atCwd, cstr(path), addr(how(flags, resolve)), 24) }
	}
	return []attack{
		{name: "read /etc/shadow", req: "DENY-01", try: func() error { return read("/etc/shadow") }, want: hidden},
		{name: "read a file beside the roots", req: "DENY-01", try: func() error { return read(out("secret")) }, want: hidden},
		{name: "read it by dot dot", req: "FS-02", try: func() error { return read("../out/secret") }, want: hidden},
		{name: "read it by many dot dots", req: "FS-02", try: func() error { return read(strings.Repeat("../", 60) + out("secret")) }, want: hidden},
		{name: "read it by a root with dot dot", req: "FS-02", try: func() error { return read(os.Getenv("RO") + "/../out/secret") }, want: hidden},
		{name: "read it with a trailing slash", req: "FS-02", try: func() error { return read(out("secret") + "/") }, want: hidden},
		{name: "read it by doubled slashes", req: "FS-02", try: func() error { return read(strings.ReplaceAll(out("secret"), "/", "//./")) }, want: hidden},
		{name: "read it in capitals", req: "FS-02", try: func() error { return read(strings.ToUpper(out("secret"))) }, want: hidden},
		{name: "stat it", req: "DENY-01", try: func() error { _, err := os.Lstat(out("secret")); return err }, want: hidden},
		{name: "symlink to it", req: "FS-03", try: func() error { _ = os.Symlink(out("secret"), "l1"); return read("l1") }, want: hidden},
		{name: "relative symlink to it", req: "FS-03", try: func() error { _ = os.Symlink("../out/secret", "l2"); return read("l2") }, want: hidden},
		{name: "chain of symlinks to it", req: "FS-03", try: func() error {
			_, _ = os.Symlink("/proc/self/cwd/../out", "l3"), os.Symlink("l3/secret", "l4")
			return read("l4")
		}, want: hidden},
		{name: "write through a dangling symlink", req: "FS-03", try: func() error {
			_ = os.Symlink(out("new"), "l5")
			return os.WriteFile("l5", nil, 0o600)
		}, want: hidden + " EROFS"},
		{name: "the owner's symlink in a root", req: "FS-03", try: func() error { return read("owners-link") }, want: hidden},
		{name: "hard link to it", req: "FS-03", try: func() error { return os.Link(out("secret"), "h1") }, want: hidden},
		{name: "rename it in", req: "FS-03", try: func() error { return os.Rename(out("secret"), "stolen") }, want: hidden},
		{name: "make a file beside the roots", req: "DENY-01", try: func() error { return os.WriteFile(out("new"), nil, 0o600) }, want: hidden + " EROFS"},
		{name: "make a directory beside the roots", req: "DENY-01", try: func() error { return os.Mkdir(filepath.Dir(os.Getenv("RO"))+"/new", 0o700) }, want: fixed},
		{name: "list the parent of the roots", req: "DENY-01", try: func() error { return list("..") }, want: "EACCES"},
		{name: "list /", req: "DENY-01", try: func() error { return list("/") }, want: "EACCES"},
		{name: "list /root", req: "DENY-01", try: func() error { return list("/root") }, want: hidden},
		{name: "list /home", req: "DENY-01", try: func() error { return list("/home") }, want: hidden},
		{name: "list /run", req: "DENY-01", try: func() error { return list("/run") }, want: hidden},
		{name: "list /var", req: "DENY-01", try: func() error { return list("/var") }, want: hidden},
		{name: "list /sys", req: "DENY-01", try: func() error { return list("/sys") }, want: "ENOENT"},
		{name: "list /boot", req: "DENY-01", try: func() error { return list("/boot") }, want: hidden},
		{name: "read /sys by proc", req: "DENY-01", try: func() error { return list("/proc/self/root/sys") }, want: "ENOENT"},
		{name: "/proc/self/root", req: "SEC-INV-01", try: func() error { return read("/proc/self/root" + out("secret")) }, want: hidden},
		{name: "/proc/thread-self/root", req: "SEC-INV-01", try: func() error { return read("/proc/thread-self/root" + out("secret")) }, want: hidden},
		{name: "/proc/self/cwd and up", req: "SEC-INV-01", try: func() error { return read("/proc/self/cwd/../out/secret") }, want: hidden},
		{name: "/proc/PID/root of all", req: "SEC-INV-01", try: func() error { return everyPID("/root" + out("secret")) }, want: hidden + " EPERM"},
		{name: "/proc/PID/cwd of all", req: "SEC-INV-01", try: func() error { return everyPID("/cwd/../out/secret") }, want: hidden + " EPERM"},
		{name: "/proc/PID/fd of all", req: "SEC-INV-01", try: func() error {
			for n := 3; n < 64; n++ {
				if err := everyPID("/fd/" + strconv.Itoa(n) + "/secret"); err == nil {
					return nil
				}
			}
			return syscall.ENOENT
		}, want: "ENOENT"},
		{name: "/proc/PID/map_files", req: "SEC-INV-01", try: func() error { return list("/proc/1/map_files") }, want: denied + " ENOENT"},
		{name: "openat2 from its own root", req: "FS-02", try: openat2("/../../"+out("secret"), 0, 0x10), want: hidden},
		{name: "openat2 without crossing", req: "FS-02", try: openat2(out("secret"), 0, 0x01), want: hidden + " EXDEV"},
		{name: "openat2 by a magic link", req: "FS-02", try: openat2("/proc/self/root"+out("secret"), 0, 0), want: hidden},
		{name: "O_PATH on it", req: "DENY-01", try: func() error { return withFile(out("secret"), oPath, func(int) error { return nil }) }, want: hidden},
		{name: "O_PATH on / and down", req: "DENY-01", try: func() error {
			return withFile("/", oPath, func(fd int) error { return raw(nr(257, 56), uintptr(fd), cstr("."+out("secret")), 0) })
		}, want: hidden},
		{name: "O_PATH on a directory, opened again", req: "DENY-01", try: func() error {
			return withFile("..", oPath, func(fd int) error { return list("/proc/self/fd/" + strconv.Itoa(fd)) })
		}, want: "EACCES"},
		{name: "chdir up and list", req: "DENY-01", try: func() error { return first(func() error { return os.Chdir("..") }, func() error { return list(".") }) }, want: "EACCES", alone: true},
		{name: "open_by_handle_at of the root directory", req: "SEC-INV-01", try: byHandle, want: "EPERM"},
		{name: "descriptor over a socket pair", req: "SEC-INV-01", try: passed, want: fixed + " EBADF"},
		{name: "inherited descriptors", req: "SEC-INV-01", try: inherited, want: "ok"},
		{name: "descriptors the Broker forgot", req: "SEC-INV-01", try: func() error {
			for fd := 3; fd < 1024; fd++ {
				if target, _ := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd)); strings.Contains(target, "/out/") {
					return errors.New(target)
				}
			}
			return nil
		}, want: "ok"},
		{name: "inotify on the outside", req: "DENY-01", try: func() error {
			fd, err := syscall.InotifyInit()
			if err != nil {
				return err
			}
			defer func() { _ = syscall.Close(fd) }()
			_, err = syscall.InotifyAddWatch(fd, out("."), syscall.IN_ALL_EVENTS)
			return err
		}, want: hidden},
		{name: "fanotify", req: "DENY-01", try: call(300, 262, 0, 0), want: "EPERM"},
		{name: "fanotify of unprivileged users", req: "DENY-01", try: call(300, 262, 0x200, 0), want: "EPERM"},
	}
}

const oPath = 0x200000

// everyPID reads a path below each /proc/PID.
func everyPID(path string) error {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil || len(dirs) == 0 {
		return fmt.Errorf("no processes: %w", err)
	}
	return anyOf(dirs, func(d string) error { return read(d + path) })
}

// byHandle asks for a handle of something it may see and opens it anew, which would give any file of that file system.
func byHandle() error {
	handle := make([]byte, 8+128)
	handle[0] = 128
	var mount [8]byte
	if err := raw(nr(303, 264), atCwd, cstr("."), addr(handle), addr(mount[:]), 0); err != nil && !errors.Is(err, syscall.EOPNOTSUPP) {
		return fmt.Errorf("name_to_handle_at: %w", err)
	}
	return withFile(".", syscall.O_RDONLY, func(fd int) error { return raw(nr(304, 265), uintptr(fd), addr(handle), oPath) })
}

// passed sends a read-only descriptor through a socket pair and tries to get more out of it.
func passed() error {
	p, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	defer func() { _, _ = syscall.Close(p[0]), syscall.Close(p[1]) }()
	err = withFile(ro("f"), syscall.O_RDONLY, func(fd int) error {
		return syscall.Sendmsg(p[0], []byte("x"), syscall.UnixRights(fd), nil, 0)
	})
	if err != nil {
		return err
	}
	oob := make([]byte, 64)
	_, n, _, _, err := syscall.Recvmsg(p[1], make([]byte, 1), oob, 0)
	if err != nil {
		return err
	}
	messages, err := syscall.ParseSocketControlMessage(oob[:n])
	if err != nil {
		return err
	}
	fds, err := syscall.ParseUnixRights(&messages[0])
	if err != nil {
		return err
	}
	defer func() { _ = syscall.Close(fds[0]) }()
	if _, err := syscall.Write(fds[0], []byte("evil")); err == nil {
		return nil
	}
	return write("/proc/self/fd/" + strconv.Itoa(fds[0]))
}

func inherited() error {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	for _, e := range entries {
		target, err := os.Readlink("/proc/self/fd/" + e.Name())
		if n, _ := strconv.Atoi(e.Name()); n <= 2 || err != nil {
			continue
		}
		own := strings.HasPrefix(target, "/proc/") || bytes.ContainsAny([]byte(target), "[") // what this program's runtime made: anon_inode:[eventpoll]
		if !own {
			return fmt.Errorf("%s is %s", e.Name(), target)
		}
	}
	return nil
}
