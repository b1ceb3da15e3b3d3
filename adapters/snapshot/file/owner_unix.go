//go:build unix

package file

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// foreign says why somebody else could have written the file or directory, "" when nobody could.
func foreign(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return "its owner is not known"
	case int(st.Uid) != os.Geteuid():
		return "it belongs to another user"
	case info.Mode().Perm()&0o022 != 0:
		return "others may write it (mode " + info.Mode().Perm().String() + ")"
	}
	return ""
}

// openFile follows no symlink and does not wait for a pipe's other end.
func openFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}

// lock keeps other Saves of the same configuration out, also those of other processes.
func lock(dir string) (unlock func(), err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	for {
		if err = syscall.Flock(int(d.Fd()), syscall.LOCK_EX); !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		_ = d.Close()
		return nil, &fs.PathError{Op: "flock", Path: dir, Err: err}
	}
	return func() { _ = d.Close() }, nil
}
