//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package hostfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// noFollow refuses a symlink in the last place (open(2)); a FIFO must not block the open.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// checkOwner refuses what somebody else owns or can write to.
func checkOwner(path string, info fs.FileInfo) error {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to another user (uid %d)", path, st.Uid)
	}
	if m := info.Mode().Perm(); m&0o022 != 0 {
		return fmt.Errorf("%s can be written by other users (mode %#o)", path, m)
	}
	return nil
}

// tighten takes reading away from others, where an older umask gave it.
func tighten(f *os.File, info fs.FileInfo) error {
	if info.Mode().Perm()&^FileMode == 0 {
		return nil
	}
	return f.Chmod(FileMode)
}

// SyncDir makes the entries of dir durable (fsync(2)). File systems that cannot do it are taken as they are.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	return err
}

// tryLock takes the exclusive lock of an open file (flock(2)).
func tryLock(f *os.File) (bool, error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return false, err
	}
	var lockErr error
	err = raw.Control(func(fd uintptr) {
		for {
			lockErr = syscall.Flock(int(fd), syscall.LOCK_EX|syscall.LOCK_NB)
			if !errors.Is(lockErr, syscall.EINTR) {
				return
			}
		}
	})
	switch {
	case err != nil:
		return false, err
	case errors.Is(lockErr, syscall.EWOULDBLOCK):
		return false, nil
	}
	return lockErr == nil, lockErr
}
