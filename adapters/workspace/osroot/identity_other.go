//go:build !unix

package osroot

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// identify has nothing to add: os.SameFile tells files apart, Identity goes by size and time.
func identify(os.FileInfo, *meta) {}

// systemErrors are error numbers of Windows that the standard library gives no portable meaning, see
// learn.microsoft.com/windows/win32/debug/system-error-codes.
var systemErrors = map[syscall.Errno]syscall.Errno{
	17:  syscall.EXDEV,     // ERROR_NOT_SAME_DEVICE
	19:  syscall.EROFS,     // ERROR_WRITE_PROTECT
	112: syscall.ENOSPC,    // ERROR_DISK_FULL
	123: syscall.EILSEQ,    // ERROR_INVALID_NAME
	145: syscall.ENOTEMPTY, // ERROR_DIR_NOT_EMPTY
	206: syscall.ENAMETOOLONG,
}

func systemError(err error) error {
	var number syscall.Errno
	if errors.As(err, &number) {
		if known, ok := systemErrors[number]; ok {
			return errors.Join(known, err)
		}
	}
	return err
}

func isSeparator(c byte) bool { return os.IsPathSeparator(c) }

// validName refuses device names, alternate streams and names the system would shorten.
func validName(name string) bool {
	return len(name) <= maxName && filepath.IsLocal(name) && !strings.ContainsAny(name, `:*?"<>|`) &&
		strings.TrimRight(name, ". ") == name
}
