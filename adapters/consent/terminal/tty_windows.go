package terminal

import (
	"os"
	"syscall"
)

// IsTerminal reports whether f is a console.
func IsTerminal(f *os.File) bool {
	var mode uint32
	return f != nil && syscall.GetConsoleMode(syscall.Handle(f.Fd()), &mode) == nil
}
