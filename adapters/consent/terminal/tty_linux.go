package terminal

import (
	"os"
	"syscall"
	"unsafe"
)

// IsTerminal reports whether f is a terminal: the kernel answers TCGETS only for one (ioctl_tty(2)).
func IsTerminal(f *os.File) bool {
	if f == nil {
		return false
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return false
	}
	is := false
	err = raw.Control(func(fd uintptr) {
		var t syscall.Termios
		_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, fd, syscall.TCGETS, uintptr(unsafe.Pointer(&t)))
		is = errno == 0
	})
	return err == nil && is
}
