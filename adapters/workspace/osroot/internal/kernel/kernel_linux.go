package kernel

import (
	"errors"
	"io"
	"io/fs"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

const (
	resolve = unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS
	beneath = resolve | unix.RESOLVE_BENEATH
)

// FD is a file descriptor, close-on-exec.
type FD int

// None is no descriptor.
const None FD = -1

// Stat is what the system knows about an object.
type Stat struct {
	Mode              fs.FileMode
	Links, Dev, Ino   uint64
	Size              int64
	Modified, Changed time.Time
	UID, GID          int
}

func retry(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func openat2(at int, name string, flags uint64, mode uint32, how uint64) (FD, error) {
	h := unix.OpenHow{Flags: flags | unix.O_CLOEXEC, Mode: uint64(mode), Resolve: how}
	for tries := 0; ; tries++ {
		fd, err := unix.Openat2(at, name, &h)
		if err == nil {
			return FD(fd), nil
		}
		if !errors.Is(err, unix.EINTR) && (!errors.Is(err, unix.EAGAIN) || tries > 100) {
			return None, err
		}
	}
}

// OpenRoot pins what an absolute path without symlinks names. ELOOP when a component is a symlink.
func OpenRoot(path string) (FD, error) {
	return openat2(unix.AT_FDCWD, path, unix.O_PATH|unix.O_NOFOLLOW, 0, resolve)
}

// Look pins the entry of a directory, itself when it is a symlink.
func (d FD) Look(name string) (FD, error) {
	return openat2(int(d), name, unix.O_PATH|unix.O_NOFOLLOW, 0, beneath)
}

// Descend pins a directory below; no component of path may be a symlink or "..".
func (d FD) Descend(path string) (FD, error) {
	return openat2(int(d), path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_DIRECTORY, 0, beneath)
}

// Open opens an entry for reading, without waiting and without becoming a controlling terminal.
func (d FD) Open(name string) (FD, error) {
	return openat2(int(d), name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY, 0, beneath)
}

// OpenDir opens a pinned directory for reading.
func (d FD) OpenDir() (FD, error) {
	return openat2(int(d), ".", unix.O_RDONLY|unix.O_DIRECTORY, 0, beneath)
}

// Create makes a new file for writing. EEXIST when the name is taken.
func (d FD) Create(name string, perm fs.FileMode) (FD, error) {
	return openat2(int(d), name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, uint32(perm.Perm()), beneath)
}

// Claim pins a subdirectory of the same mount and gives its owner every right on it. EXDEV: something is mounted there.
func (d FD) Claim(name string) (FD, error) {
	fd, err := openat2(int(d), name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_DIRECTORY, 0, beneath|unix.RESOLVE_NO_XDEV)
	if err != nil {
		return None, err
	}
	_ = fd.Reclaim()
	return fd, nil
}

// Reclaim gives the owner every right on a pinned directory, and leaves the other bits.
func (d FD) Reclaim() error {
	s, err := d.Stat()
	if err != nil || s.Mode.Perm()&0o700 == 0o700 {
		return err
	}
	bits := uint32(s.Mode.Perm()) | 0o700
	for _, b := range []struct {
		mode fs.FileMode
		bit  uint32
	}{{fs.ModeSetuid, unix.S_ISUID}, {fs.ModeSetgid, unix.S_ISGID}, {fs.ModeSticky, unix.S_ISVTX}} {
		if s.Mode&b.mode != 0 {
			bits |= b.bit
		}
	}
	// A pinned descriptor cannot be chmod'ed itself, see open(2) under O_PATH; its name in /proc can.
	return unix.Chmod("/proc/self/fd/"+strconv.Itoa(int(d)), bits)
}

// Dup returns another descriptor of the same object.
func (d FD) Dup() (FD, error) {
	fd, err := unix.FcntlInt(uintptr(d), unix.F_DUPFD_CLOEXEC, 0)
	return FD(fd), err
}

// Close closes the descriptor.
func (d FD) Close() error {
	if d == None {
		return nil
	}
	return unix.Close(int(d))
}

// Stat describes the object itself.
func (d FD) Stat() (Stat, error) {
	var st unix.Stat_t
	if err := retry(func() error { return unix.Fstat(int(d), &st) }); err != nil {
		return Stat{}, err
	}
	return convert(&st), nil
}

// StatEntry describes an entry, itself when it is a symlink.
func (d FD) StatEntry(name string) (Stat, error) {
	var st unix.Stat_t
	err := retry(func() error { return unix.Fstatat(int(d), name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	if err != nil {
		return Stat{}, err
	}
	return convert(&st), nil
}

func convert(st *unix.Stat_t) Stat {
	return Stat{
		Mode: fileMode(st.Mode), Links: uint64(st.Nlink), Dev: st.Dev, Ino: st.Ino, Size: st.Size, //nolint:unconvert // differs by CPU
		Modified: time.Unix(st.Mtim.Unix()), Changed: time.Unix(st.Ctim.Unix()),
		UID: int(st.Uid), GID: int(st.Gid),
	}
}

func fileMode(m uint32) fs.FileMode {
	mode := fs.FileMode(m & 0o777)
	switch m & unix.S_IFMT {
	case unix.S_IFDIR:
		mode |= fs.ModeDir
	case unix.S_IFLNK:
		mode |= fs.ModeSymlink
	case unix.S_IFIFO:
		mode |= fs.ModeNamedPipe
	case unix.S_IFSOCK:
		mode |= fs.ModeSocket
	case unix.S_IFBLK:
		mode |= fs.ModeDevice
	case unix.S_IFCHR:
		mode |= fs.ModeDevice | fs.ModeCharDevice
	}
	if m&unix.S_ISUID != 0 {
		mode |= fs.ModeSetuid
	}
	if m&unix.S_ISGID != 0 {
		mode |= fs.ModeSetgid
	}
	if m&unix.S_ISVTX != 0 {
		mode |= fs.ModeSticky
	}
	return mode
}

// ErrMagic says that a symlink is made up by the kernel and its text does not say where it leads.
var ErrMagic = errors.New("a link of the proc file system")

// Target is the text of a pinned symlink. ErrMagic on procfs.
func (d FD) Target() (string, error) {
	var fsys unix.Statfs_t
	if err := retry(func() error { return unix.Fstatfs(int(d), &fsys) }); err != nil {
		return "", err
	}
	if int64(fsys.Type) == unix.PROC_SUPER_MAGIC { //nolint:unconvert // differs by CPU
		return "", ErrMagic
	}
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(int(d), "", buf)
	if err != nil {
		return "", err
	}
	if n == len(buf) {
		return "", unix.ENAMETOOLONG
	}
	return string(buf[:n]), nil
}

// Writable reports whether the process may write to the pinned object, by its effective ids: nil, or the system's refusal.
func (d FD) Writable() error {
	err := unix.Faccessat2(int(d), "", unix.W_OK, unix.AT_EACCESS|unix.AT_EMPTY_PATH)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) {
		return nil // before Linux 5.8: the directory's rights decide alone
	}
	return err
}

// Rename gives an entry a new name, which it takes over when replace is true and which must be free otherwise (EEXIST).
// EINVAL: the file system cannot promise the latter.
func (d FD) Rename(name string, to FD, newName string, replace bool) error {
	flags := uint(unix.RENAME_NOREPLACE)
	if replace {
		flags = 0
	}
	return retry(func() error { return unix.Renameat2(int(d), name, int(to), newName, flags) })
}

// Link gives a file a second name, which must be free.
func (d FD) Link(name string, to FD, newName string) error {
	return unix.Linkat(int(d), name, int(to), newName, 0)
}

// Unlink removes an entry that is no directory.
func (d FD) Unlink(name string) error { return unix.Unlinkat(int(d), name, 0) }

// Rmdir removes an empty directory.
func (d FD) Rmdir(name string) error { return unix.Unlinkat(int(d), name, unix.AT_REMOVEDIR) }

// Mkdir makes a directory.
func (d FD) Mkdir(name string, perm fs.FileMode) error {
	return unix.Mkdirat(int(d), name, uint32(perm.Perm()))
}

// Names calls each with the names in a directory opened with OpenDir, in the system's order, some at a time.
func (d FD) Names(each func([]string) error) error {
	buf := make([]byte, 64<<10)
	var names []string
	for {
		n, err := unix.ReadDirent(int(d), buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n <= 0 {
			return err
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names[:0])
		if err := each(names); err != nil {
			return err
		}
	}
}

// ReadAt reads like io.ReaderAt, but may return fewer bytes without an error; 0 bytes is the end.
func (d FD) ReadAt(p []byte, off int64) (n int, err error) {
	err = retry(func() error { n, err = unix.Pread(int(d), p, off); return err })
	return max(n, 0), err
}

// Write writes all of p at the descriptor's position.
func (d FD) Write(p []byte) (int, error) {
	done := 0
	for done < len(p) {
		n, err := unix.Write(int(d), p[done:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return done, err
		}
		if n == 0 {
			return done, io.ErrShortWrite
		}
		done += n
	}
	return done, nil
}

// Sync makes the content durable.
func (d FD) Sync() error { return retry(func() error { return unix.Fsync(int(d)) }) }

// Chmod sets the permission bits; set-id and sticky bits are cleared.
func (d FD) Chmod(perm fs.FileMode) error { return unix.Fchmod(int(d), uint32(perm.Perm())) }

// Chown gives the object to another user and group, as far as the process may: first both, then the group alone.
func (d FD) Chown(uid, gid int) {
	if unix.Fchown(int(d), uid, gid) != nil {
		_ = unix.Fchown(int(d), -1, gid) // the file stays the process's own, which is never less private
	}
}
