package linux

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

const (
	tmpFile     = 0x400000 | syscall.O_DIRECTORY // O_TMPFILE
	noReplace   = 1
	exchange    = 2
	whiteout    = 4
	emptyPath   = 0x1000
	followLinks = 0x400
)

func renameat2(from, to string, flags uintptr) error {
	return raw(nr(316, 276), atCwd, cstr(from), atCwd, cstr(to), flags)
}

// makeTmp makes a file without a name in dir and tries something with it.
func makeTmp(dir string, try func(fd int) error) error {
	return withFile(dir, tmpFile|syscall.O_RDWR, try)
}

func linkTo(fd int, to string) error {
	return raw(nr(265, 37), atCwd, cstr("/proc/self/fd/"+strconv.Itoa(fd)), atCwd, cstr(to), followLinks)
}

// readOnlyAttacks change a root without write, also where Landlock does not look.
func readOnlyAttacks() []attack {
	f := func() string { return ro("f") }
	onFile := func(flags int, try func(fd int) error) func() error {
		return func() error { return withFile(f(), flags, try) }
	}
	ioctl := func(request uintptr, arg []byte) func() error {
		return onFile(syscall.O_RDONLY, func(fd int) error { return raw(nr(16, 29), uintptr(fd), request, addr(arg)) })
	}
	source := func(try func(from int) error) error {
		if err := os.WriteFile("source", []byte(strings.Repeat("evil", 2048)), 0o600); err != nil {
			return err
		}
		return withFile("source", syscall.O_RDONLY, try)
	}
	return []attack{
		{name: "ro write", req: "FS-00", try: func() error { return write(f()) }, want: fixed},
		{name: "ro append", req: "FS-00", try: onFile(syscall.O_WRONLY|syscall.O_APPEND, func(int) error { return nil }), want: fixed},
		{name: "ro open for both", req: "FS-00", try: onFile(syscall.O_RDWR, func(int) error { return nil }), want: fixed},
		{name: "ro open to truncate, for reading", req: "FS-00", try: onFile(syscall.O_RDONLY|syscall.O_TRUNC, func(int) error { return nil }), want: fixed},
		{name: "ro truncate", req: "FS-00", try: func() error { return os.Truncate(f(), 0) }, want: fixed},
		{name: "ro ftruncate", req: "FS-00", try: onFile(0, func(fd int) error { return syscall.Ftruncate(fd, 0) }), want: "EINVAL"},
		{name: "ro fallocate", req: "FS-00", try: onFile(0, func(fd int) error { return syscall.Fallocate(fd, 3, 0, 4) }), want: "EBADF"},
		{name: "ro write by its descriptor's name", req: "FS-00", try: onFile(0, func(fd int) error { return write("/proc/self/fd/" + strconv.Itoa(fd)) }), want: fixed},
		{name: "ro write by an O_PATH descriptor", req: "FS-00", try: onFile(oPath, func(fd int) error { return write("/proc/self/fd/" + strconv.Itoa(fd)) }), want: fixed},
		{name: "ro write by a shared mapping", req: "FS-00", try: onFile(0, func(fd int) error {
			_, err := syscall.Mmap(fd, 0, 4, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
			return err
		}), want: "EACCES"},
		{name: "ro mprotect a mapping", req: "FS-00", try: onFile(0, func(fd int) error {
			b, err := syscall.Mmap(fd, 0, 4096, syscall.PROT_READ, syscall.MAP_SHARED)
			if err != nil {
				return nil //nolint:nilerr // the row wants the error of the next call
			}
			return syscall.Mprotect(b, syscall.PROT_READ|syscall.PROT_WRITE)
		}), want: "EACCES"},
		{name: "ro copy_file_range", req: "FS-00", try: onFile(0, func(fd int) error {
			return source(func(from int) error { return raw(nr(326, 285), uintptr(from), 0, uintptr(fd), 0, 4, 0) })
		}), want: "EBADF"},
		{name: "ro sendfile", req: "FS-00", try: onFile(0, func(fd int) error {
			return source(func(from int) error { _, err := syscall.Sendfile(fd, from, nil, 4); return err })
		}), want: "EBADF"},
		{name: "ro splice", req: "FS-00", try: onFile(0, func(fd int) error {
			var p [2]int
			if err := syscall.Pipe2(p[:], syscall.O_CLOEXEC); err != nil {
				return nil
			}
			defer func() { _, _ = syscall.Close(p[0]), syscall.Close(p[1]) }()
			_, _ = syscall.Write(p[1], []byte("evil"))
			_, err := syscall.Splice(p[0], nil, fd, nil, 4, 0)
			return err
		}), want: "EBADF"},
		{name: "ro FICLONE", req: "FS-00", try: onFile(0, func(fd int) error {
			return source(func(from int) error { return raw(nr(16, 29), uintptr(fd), 0x40049409, uintptr(from)) })
		}), want: "EBADF EOPNOTSUPP EXDEV"},
		{name: "ro FIDEDUPERANGE", req: "FS-00", try: func() error { // answers per file, below its own header
			return source(func(from int) error {
				return withFile(f(), 0, func(fd int) error {
					arg := words(0, 4, 1, uint64(fd), 0, 0, 0)
					if err := raw(nr(16, 29), uintptr(from), 0xc0189436, addr(arg)); err != nil {
						return err
					}
					if status := int32(uint32(arg[48]) | uint32(arg[49])<<8 | uint32(arg[50])<<16 | uint32(arg[51])<<24); status < 0 {
						return syscall.Errno(-status)
					}
					return nil
				})
			})
		}, want: "EPERM EOPNOTSUPP EXDEV EINVAL"},
		{name: "ro attributes of the inode", req: "FS-00", try: ioctl(0x40086602, words(0x80)), want: "EROFS EPERM EOPNOTSUPP ENOTTY"},
		{name: "ro extended attributes of the inode", req: "FS-00", try: ioctl(0x401c5820, make([]byte, 28)), want: "EROFS EPERM EOPNOTSUPP ENOTTY"},
		{name: "ro seal with verity", req: "FS-00", try: ioctl(0x40806685, append(words(1|1<<32, 4096), make([]byte, 112)...)), want: "EROFS EACCES EOPNOTSUPP ENOTTY EPERM"},
		{name: "ro file_setattr", req: "FS-00", try: func() error { return raw(469, atCwd, cstr(f()), addr(make([]byte, 24)), 24, 0) }, want: "ENOSYS"},
		{name: "ro create", req: "FS-00", try: func() error { return os.WriteFile(ro("n"), nil, 0o644) }, want: fixed},
		{name: "ro mkdir", req: "FS-06", try: func() error { return os.Mkdir(ro("n"), 0o755) }, want: fixed},
		{name: "ro symlink", req: "FS-00", try: func() error { return os.Symlink("x", ro("n")) }, want: fixed},
		{name: "ro mkfifo", req: "FS-00", try: func() error { return syscall.Mkfifo(ro("n"), 0o600) }, want: fixed},
		{name: "ro file without a name", req: "FS-00", try: func() error { return makeTmp(os.Getenv("RO"), func(int) error { return nil }) }, want: fixed},
		{name: "ro link in of a file without a name", req: "FS-00", try: func() error { return makeTmp(".", func(fd int) error { return linkTo(fd, ro("n")) }) }, want: "EXDEV EROFS EACCES EOPNOTSUPP"},
		{name: "ro link in", req: "FS-00", try: func() error { _ = os.WriteFile("m", nil, 0o600); return os.Link("m", ro("n")) }, want: "EXDEV EROFS EACCES"},
		{name: "ro link out", req: "FS-03", try: func() error { return os.Link(f(), "stolen") }, want: "EXDEV " + denied},
		{name: "ro link out by descriptor", req: "FS-03", try: onFile(0, func(fd int) error { return linkTo(fd, "stolen") }), want: "EXDEV " + denied},
		{name: "ro link out by AT_EMPTY_PATH", req: "FS-03", try: onFile(oPath, func(fd int) error {
			return raw(nr(265, 37), uintptr(fd), cstr(""), atCwd, cstr("stolen"), emptyPath)
		}), want: "EXDEV " + denied + " ENOENT"},
		{name: "ro rename in", req: "FS-07", try: func() error { _ = os.WriteFile("m", nil, 0o600); return os.Rename("m", ro("m")) }, want: "EXDEV EROFS EACCES"},
		{name: "ro rename out", req: "FS-07", try: func() error { return os.Rename(f(), "stolen") }, want: "EXDEV EROFS EACCES"},
		{name: "ro exchange", req: "FS-07", try: func() error { return renameat2(f(), "m", exchange) }, want: "EXDEV EROFS EACCES"},
		{name: "ro remove", req: "FS-00", try: func() error { return os.Remove(f()) }, want: fixed},
		{name: "ro rmdir", req: "FS-06", try: func() error { return syscall.Rmdir(ro("d")) }, want: fixed},
		{name: "ro remove the root itself", req: "FS-00", try: func() error { return syscall.Rmdir(os.Getenv("RO")) }, want: fixed + " EBUSY"},
		{name: "ro rename the root itself", req: "FS-00", try: func() error { return os.Rename(os.Getenv("RO"), "stolen") }, want: fixed + " EBUSY EXDEV"},
		{name: "ro chmod", req: "FS-00", try: func() error { return os.Chmod(f(), 0o777) }, want: "EROFS"},
		{name: "ro fchmod", req: "FS-00", try: onFile(0, func(fd int) error { return syscall.Fchmod(fd, 0o777) }), want: "EROFS"},
		{name: "ro fchmodat2", req: "FS-00", try: func() error { return raw(452, atCwd, cstr(f()), 0o777, 0) }, want: "EROFS ENOSYS"},
		{name: "ro chown", req: "FS-00", try: func() error { return os.Chown(f(), os.Getuid(), os.Getgid()) }, want: "EROFS"},
		{name: "ro fchown", req: "FS-00", try: onFile(0, func(fd int) error { return syscall.Fchown(fd, os.Getuid(), os.Getgid()) }), want: "EROFS"},
		{name: "ro lchown", req: "FS-00", try: func() error { return os.Lchown(f(), os.Getuid(), os.Getgid()) }, want: "EROFS"},
		{name: "ro utimes", req: "FS-00", try: func() error { return syscall.Utimes(f(), []syscall.Timeval{{}, {}}) }, want: "EROFS"},
		{name: "ro futimens", req: "FS-00", try: onFile(0, func(fd int) error { return raw(nr(280, 88), uintptr(fd), 0, 0, 0) }), want: "EROFS"},
		{name: "ro setxattr", req: "FS-00", try: func() error { return syscall.Setxattr(f(), "user.x", []byte("x"), 0) }, want: "EROFS"},
		{name: "ro fsetxattr", req: "FS-00", try: onFile(0, func(fd int) error {
			return raw(nr(190, 7), uintptr(fd), cstr("user.x"), cstr("x"), 1, 0)
		}), want: "EROFS"},
		{name: "ro setxattrat", req: "FS-00", try: func() error { return raw(463, atCwd, cstr(f()), 0, cstr("user.x"), addr(make([]byte, 16)), 16) }, want: "ENOSYS"},
		{name: "ro access list", req: "FS-00", try: func() error { return syscall.Setxattr(f(), "system.posix_acl_access", words(2), 0) }, want: "EROFS EOPNOTSUPP"},
		{name: "ro removexattr", req: "FS-00", try: func() error { return syscall.Removexattr(f(), "user.kept") }, want: "EROFS"},
		{name: "ro with a trailing slash", req: "FS-02", try: func() error { return os.WriteFile(os.Getenv("RO")+"//./f", nil, 0o600) }, want: fixed},
		{name: "ro by a symlink", req: "FS-03", try: func() error { _ = os.Symlink(f(), "to-ro"); return write("to-ro") }, want: fixed},
		{name: "ro by its neighbour", req: "FS-02", try: func() error { return write("../ro/f") }, want: fixed},
		{name: "ro lock it for others by a lease", req: "FS-00", try: onFile(0, func(fd int) error { return raw(nr(72, 25), uintptr(fd), 1024, 0) }), want: "EPERM"},
	}
}

// keepAttacks delete in a root that gives write but no delete, in every way that makes a name disappear.
func keepAttacks() []attack {
	f := func() string { return nd("f") }
	fresh := func() string { _ = os.WriteFile(nd("new"), nil, 0o600); return nd("new") }
	return []attack{
		{name: "nd remove", req: "FS-04", try: func() error { return os.Remove(f()) }, want: "EACCES"},
		{name: "nd remove what it made", req: "FS-04", try: func() error { return os.Remove(fresh()) }, want: "EACCES"},
		{name: "nd rmdir", req: "FS-06", try: func() error { return syscall.Rmdir(nd("d")) }, want: "EACCES"},
		{name: "nd rename", req: "FS-07", try: func() error { return os.Rename(f(), nd("g")) }, want: "EACCES"},
		{name: "nd rename into a directory", req: "FS-07", try: func() error { return os.Rename(f(), nd("d/f")) }, want: "EACCES EXDEV"},
		{name: "nd rename a directory", req: "FS-07", try: func() error { return os.Rename(nd("d"), nd("e")) }, want: "EACCES"},
		{name: "nd rename over", req: "FS-04", try: func() error { return os.Rename(fresh(), f()) }, want: "EACCES"},
		{name: "nd rename over from another root", req: "FS-04", try: func() error { _ = os.WriteFile("m", nil, 0o600); return os.Rename("m", f()) }, want: "EXDEV EACCES"},
		{name: "nd rename without replacing", req: "FS-04", try: func() error { return renameat2(f(), nd("g"), noReplace) }, want: "EACCES"},
		{name: "nd exchange", req: "FS-04", try: func() error { return renameat2(f(), fresh(), exchange) }, want: "EACCES"},
		{name: "nd whiteout", req: "FS-04", try: func() error { return renameat2(f(), nd("g"), whiteout) }, want: "EACCES EINVAL"},
		{name: "nd move out", req: "FS-07", try: func() error { return os.Rename(f(), "stolen") }, want: "EXDEV EACCES"},
		{name: "nd link over", req: "FS-04", try: func() error { return os.Link(fresh(), f()) }, want: "EEXIST"},
		{name: "nd link a nameless file over", req: "FS-04", try: func() error {
			return makeTmp(os.Getenv("ND"), func(fd int) error { return linkTo(fd, f()) })
		}, want: "EEXIST EOPNOTSUPP"},
		{name: "nd symlink over", req: "FS-04", try: func() error { return os.Symlink("x", f()) }, want: "EEXIST"},
		{name: "nd remove by dot dot", req: "FS-02", try: func() error { return os.Remove("../nd/f") }, want: "EACCES"},
		{name: "nd remove through a symlink", req: "FS-03", try: func() error { _ = os.Symlink(os.Getenv("ND"), "to-nd"); return os.Remove("to-nd/f") }, want: "EACCES"},
		{name: "nd remove by descriptor", req: "FS-04", try: func() error {
			return withFile(os.Getenv("ND"), oPath, func(fd int) error { return raw(nr(263, 35), uintptr(fd), cstr("f"), 0) })
		}, want: "EACCES"},
		{name: "nd subvolume", req: "FS-04", try: func() error { // deletes past every check of names where the file system is btrfs
			return withFile(os.Getenv("ND"), 0, func(fd int) error { return raw(nr(16, 29), uintptr(fd), 0x5000940f, addr(make([]byte, 4096))) })
		}, want: "EPERM"},
		{name: "snapshot of all there is", req: "SEC-INV-01", try: func() error { // shows a whole btrfs volume in a root
			return withFile(".", 0, func(fd int) error { return raw(nr(16, 29), uintptr(fd), 0x50009417, addr(make([]byte, 4096))) })
		}, want: "EPERM"},
		{name: "nd overwrite is write", req: "FS-00", try: func() error { return os.WriteFile(nd("over"), []byte("x"), 0o600) }, want: "ok"},
	}
}

// protectAttacks change what the owner protects inside a root with all rights.
func protectAttacks() []attack {
	return []attack{
		{name: "protected write", req: "DENY-01", try: func() error { return write("kept/hooks/pre") }, want: "EROFS"},
		{name: "protected add", req: "DENY-01", try: func() error { return os.WriteFile("kept/hooks/post", nil, 0o755) }, want: "EROFS"},
		{name: "protected remove", req: "DENY-01", try: func() error { return os.Remove("kept/hooks/pre") }, want: "EROFS"},
		{name: "protected remove of all", req: "DENY-01", try: func() error { return os.RemoveAll("kept/hooks") }, want: "EROFS EBUSY"},
		{name: "protected rename", req: "DENY-01", try: func() error { return os.Rename("kept/hooks", "kept/gone") }, want: "EBUSY EXDEV"},
		{name: "protected rename over", req: "DENY-01", try: func() error { _ = os.WriteFile("m", nil, 0o600); return os.Rename("m", "kept/config") }, want: "EBUSY EXDEV"},
		{name: "protected exchange", req: "DENY-01", try: func() error { _ = os.WriteFile("m", nil, 0o600); return renameat2("m", "kept/config", exchange) }, want: "EBUSY EXDEV"},
		{name: "protected rename of its directory", req: "DENY-01", try: func() error { return os.Rename("kept", "gone") }, want: "EBUSY EXDEV"},
		{name: "protected exchange of its directory", req: "DENY-01", try: func() error { _ = os.Mkdir("other", 0o700); return renameat2("kept", "other", exchange) }, want: "EBUSY EXDEV"},
		{name: "protected hard link", req: "DENY-01", try: func() error { return os.Link("kept/config", "alias") }, want: "EXDEV"},
		{name: "protected hard link beside", req: "DENY-01", try: func() error { return os.Link("kept/config", "kept/alias") }, want: "EXDEV"},
		{name: "protected chmod", req: "DENY-01", try: func() error { return os.Chmod("kept/hooks/pre", 0o777) }, want: "EROFS"},
		{name: "protected utimes", req: "DENY-01", try: func() error { return syscall.Utimes("kept/config", []syscall.Timeval{{}, {}}) }, want: "EROFS"},
		{name: "protected truncate", req: "DENY-01", try: func() error { return os.Truncate("kept/config", 0) }, want: "EROFS"},
		{name: "protected by its descriptor's directory", req: "DENY-01", try: func() error {
			return withFile("kept", oPath, func(fd int) error { return write("/proc/self/fd/" + strconv.Itoa(fd) + "/config") })
		}, want: "EROFS"},
		{name: "beside what is protected", req: "FS-08", try: func() error { return os.WriteFile("kept/free", nil, 0o600) }, want: "ok"},
	}
}
