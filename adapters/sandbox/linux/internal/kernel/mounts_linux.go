package kernel

import (
	"golang.org/x/sys/unix"
)

// Attr is a set of mount attributes (mount_setattr(2)).
type Attr uint64

// Attributes. NoSuid and private propagation are always set.
const (
	ReadOnly Attr = unix.MOUNT_ATTR_RDONLY
	NoExec   Attr = unix.MOUNT_ATTR_NOEXEC
	NoDev    Attr = unix.MOUNT_ATTR_NODEV
)

const emptyRecursive = unix.AT_EMPTY_PATH | unix.AT_RECURSIVE

// CloneTree makes a detached copy of the mount tree at an O_PATH descriptor: open_tree(2).
func CloneTree(fd int) (int, error) {
	return unix.OpenTree(fd, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|emptyRecursive)
}

// SetAttr adds attributes to a detached tree and makes it private. A userns >= 0 also maps owners through that user
// namespace (MOUNT_ATTR_IDMAP).
func SetAttr(tree int, attr Attr, userns int) error {
	a := unix.MountAttr{Attr_set: uint64(attr) | unix.MOUNT_ATTR_NOSUID, Propagation: unix.MS_PRIVATE}
	if userns >= 0 {
		a.Attr_set |= unix.MOUNT_ATTR_IDMAP
		a.Userns_fd = uint64(userns)
	}
	return unix.MountSetattr(tree, "", emptyRecursive, &a)
}

// Attach puts a detached tree at the place an O_PATH descriptor names: move_mount(2).
func Attach(tree, place int) error {
	return unix.MoveMount(tree, "", place, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
}

// Option is a key with its value for NewFS.
type Option struct{ Key, Value string }

// NewFS makes a detached file system instance: fsopen(2), fsmount(2).
func NewFS(kind string, attr Attr, options ...Option) (int, error) {
	fs, err := unix.Fsopen(kind, unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, err
	}
	defer Close(fs)
	for _, o := range options {
		if o.Value == "" {
			err = unix.FsconfigSetFlag(fs, o.Key)
		} else {
			err = unix.FsconfigSetString(fs, o.Key, o.Value)
		}
		if err != nil {
			return -1, err
		}
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return -1, err
	}
	return unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, int(attr)|unix.MOUNT_ATTR_NOSUID)
}

// EnterRoot makes the attached tree at fd the root of this process and drops the old one: pivot_root(2) "." trick.
func EnterRoot(fd int) error {
	if err := unix.Fchdir(fd); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return err
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return err
	}
	return unix.Chdir("/")
}

// SealRoot makes the mount at "/" read-only, without what is mounted below.
func SealRoot() error {
	a := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	return unix.MountSetattr(unix.AT_FDCWD, "/", 0, &a)
}

// MakeDir fills, with MakeFile and MakeLink, the private root. An existing entry is no error.
func MakeDir(dir int, name string, mode uint32) error {
	if err := unix.Mkdirat(dir, name, mode); err != unix.EEXIST {
		return err
	}
	return nil
}

// MakeFile creates a file with content.
func MakeFile(dir int, name, content string) error {
	fd, err := unix.Openat(dir, name, unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0o644)
	if err != nil {
		return err
	}
	defer Close(fd)
	if content == "" {
		return nil
	}
	_, err = unix.Write(fd, []byte(content))
	return err
}

// MakeLink creates a symlink.
func MakeLink(dir int, target, name string) error {
	if err := unix.Symlinkat(target, dir, name); err != unix.EEXIST {
		return err
	}
	return nil
}

const inodeBytes = 1536 // of kernel memory for one file of a tmpfs and its name

// UsedBytes is what a tmpfs holds, names of empty files included (statfs(2)).
func UsedBytes(fd int) int64 {
	var s unix.Statfs_t
	if unix.Fstatfs(fd, &s) != nil {
		return 0
	}
	return int64(s.Blocks-s.Bfree)*s.Bsize + int64(s.Files-s.Ffree)*inodeBytes
}
