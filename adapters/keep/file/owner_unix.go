//go:build unix

package file

import (
	"io/fs"
	"os"
	"syscall"
)

// foreign says why a directory is not this user's alone, "" when it is.
func foreign(info fs.FileInfo, closed bool) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return "its owner is not known"
	case int(st.Uid) != os.Geteuid():
		return "it belongs to another user"
	case closed && info.Mode().Perm()&0o022 != 0:
		return "others may write it (mode " + info.Mode().Perm().String() + ")"
	}
	return ""
}

// tighten sets the mode through the opened directory, so that a symlink put there meanwhile is not followed.
func tighten(dir string) error {
	d, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_DIRECTORY, 0)
	if err != nil {
		// A program may have taken the owner's own rights away; the directories above keep everybody else out.
		return os.Chmod(dir, mode)
	}
	defer func() { _ = d.Close() }()
	return d.Chmod(mode)
}
