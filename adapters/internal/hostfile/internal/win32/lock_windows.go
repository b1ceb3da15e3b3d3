package win32

import (
	"errors"

	"golang.org/x/sys/windows"
)

// TryLock takes the exclusive lock of an open file (LockFileEx). Windows locks hinder reading, so one byte far behind
// any content is locked.
func TryLock(handle uintptr) (bool, error) {
	place := windows.Overlapped{Offset: 0xffffffff, OffsetHigh: 0x7fffffff}
	err := windows.LockFileEx(windows.Handle(handle), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &place)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}
