package hostfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Modes of everything made here.
const (
	FileMode fs.FileMode = 0o600
	DirMode  fs.FileMode = 0o700
)

// Poll is the pause between two tries for a lock that somebody else holds.
const Poll = 50 * time.Millisecond

// MakeDir makes dir and what is missing above it, owner-only and synced, and checks that dir is a directory that nobody
// else can write to. A symlink in the last place is refused.
func MakeDir(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		parent := filepath.Dir(dir)
		if _, err := os.Stat(parent); errors.Is(err, fs.ErrNotExist) && parent != dir {
			if err := MakeDir(parent); err != nil {
				return err
			}
		}
		if err := os.Mkdir(dir, DirMode); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := SyncDir(parent); err != nil {
			return err
		}
		if info, err = os.Lstat(dir); err != nil {
			return err
		}
	case err != nil:
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory", dir)
	}
	return checkOwner(dir, info)
}

// OpenAppend opens or makes a regular file for reading and appending, owner-only. made tells that it was not there: its
// name is durable only after SyncDir of its directory. A symlink, a device or a file of somebody else is refused.
func OpenAppend(path string) (f *os.File, made bool, err error) {
	f, err = os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL|noFollow, FileMode)
	if made = err == nil; !made && errors.Is(err, fs.ErrExist) {
		f, err = os.OpenFile(path, os.O_RDWR|os.O_APPEND|noFollow, 0)
	}
	if err != nil {
		return nil, false, err
	}
	if err := checkFile(f); err != nil {
		_ = f.Close()
		return nil, made, err
	}
	return f, made, nil
}

func checkFile(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", f.Name())
	}
	if err := checkOwner(f.Name(), info); err != nil {
		return err
	}
	return tighten(f, info)
}

// Lock opens (or makes) the file at path and waits until its lock is ours or ctx ends. onBusy, when not nil, is called
// before each pause. The lock ends when the file is closed or the process ends, however it ends.
func Lock(ctx context.Context, path string, onBusy func()) (*os.File, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f, err := TryLock(path)
		if f != nil || err != nil {
			return f, err
		}
		if onBusy != nil {
			onBusy()
		}
		pause := time.NewTimer(Poll)
		select {
		case <-ctx.Done():
			pause.Stop()
		case <-pause.C:
		}
	}
}

// TryLock is Lock without waiting: nil and no error when somebody else holds it, another open file of this process
// included. A file that was removed or replaced while it was being locked is tried again.
func TryLock(path string) (*os.File, error) {
	for {
		f, _, err := OpenAppend(path)
		if err != nil {
			return nil, err
		}
		ok, err := tryLock(f)
		if err != nil || !ok {
			_ = f.Close()
			return nil, err
		}
		if Same(f, path) {
			return f, nil
		}
		_ = f.Close()
	}
}

// Same reports whether path still names the open file f.
func Same(f *os.File, path string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Lstat(path)
	return err == nil && os.SameFile(a, b)
}

// Reason is an error of the file system without the path and the operation, which a message names itself.
func Reason(err error) string {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return p.Err.Error()
	case errors.As(err, &l):
		return l.Err.Error()
	}
	return err.Error()
}
