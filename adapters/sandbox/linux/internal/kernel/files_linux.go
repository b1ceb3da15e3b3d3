package kernel

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Identity tells whether a file is still the one that was looked at (stat(2)).
type Identity struct {
	Dev, Ino     uint64
	Size         int64
	Mtime, Ctime int64 // ns
	Mode         uint32
	UID, GID     uint32
}

// IsDir reports a directory.
func (i Identity) IsDir() bool { return i.Mode&unix.S_IFMT == unix.S_IFDIR }

// IsLink reports a symlink.
func (i Identity) IsLink() bool { return i.Mode&unix.S_IFMT == unix.S_IFLNK }

// IsRegular reports a regular file.
func (i Identity) IsRegular() bool { return i.Mode&unix.S_IFMT == unix.S_IFREG }

// SameObject reports the same inode; its content may differ.
func (i Identity) SameObject(o Identity) bool { return i.Dev == o.Dev && i.Ino == o.Ino }

// SameContent reports the same inode, unchanged since.
func (i Identity) SameContent(o Identity) bool {
	return i.SameObject(o) && i.Size == o.Size && i.Mtime == o.Mtime && i.Ctime == o.Ctime
}

// Stat looks at an open file.
func Stat(fd int) (Identity, error) {
	var st unix.Stat_t
	if err := retry(func() error { return unix.Fstat(fd, &st) }); err != nil {
		return Identity{}, err
	}
	return Identity{Dev: st.Dev, Ino: st.Ino, Size: st.Size, Mtime: st.Mtim.Nano(), Ctime: st.Ctim.Nano(), Mode: st.Mode, UID: st.Uid, GID: st.Gid}, nil
}

// OpenPath opens a place below dir (AT_FDCWD for the current root) as O_PATH without following any symlink. An
// absolute path is taken relative to dir when dir is a descriptor.
func OpenPath(dir int, path string) (int, error) { return openat2(dir, path, unix.O_PATH) }

// OpenEntry is OpenPath, except that the last component may be a symlink, which is then opened itself.
func OpenEntry(dir int, path string) (int, error) {
	return openat2(dir, path, unix.O_PATH|unix.O_NOFOLLOW)
}

// OpenRead opens a file for reading without following any symlink, never blocking on a pipe.
func OpenRead(dir int, path string) (int, error) {
	return openat2(dir, path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY)
}

// CurrentRoot as dir means absolute paths of this process.
const CurrentRoot = unix.AT_FDCWD

func openat2(dir int, path string, flags uint64) (fd int, err error) {
	how := unix.OpenHow{Flags: flags | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
	if dir >= 0 {
		how.Resolve |= unix.RESOLVE_IN_ROOT
	}
	err = retry(func() error { fd, err = unix.Openat2(dir, path, &how); return err })
	return fd, err
}

// ReadAt reads like pread(2).
func ReadAt(fd int, b []byte, off int64) (n int, err error) {
	err = retry(func() error { n, err = unix.Pread(fd, b, off); return err })
	return n, err
}

// Close closes a descriptor; errors of close(2) mean nothing here.
func Close(fd int) {
	if fd >= 0 {
		_ = unix.Close(fd)
	}
}

// retry repeats a call that a signal interrupted.
func retry(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN) {
			return err
		}
	}
}
