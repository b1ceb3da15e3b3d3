package kernel

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// DefaultSignals takes every handler of the Go runtime away. For the PID 1 of a namespace a signal without a handler means
// nothing when it comes from inside, SIGKILL and SIGSTOP included (pid_namespaces(7)), while a handler that ends the
// process could be called by any program with the same user: Landlock keeps signals from the main thread, but not from
// the thread that is confined as the programs are. Faults of the process itself still end it. Programs it starts have the
// defaults.
func DefaultSignals() {
	var none [32]byte // struct sigaction: SIG_DFL, no flags, an empty mask
	for sig := uintptr(1); sig <= 64; sig++ {
		_, _, _ = unix.Syscall6(unix.SYS_RT_SIGACTION, sig, uintptr(unsafe.Pointer(&none)), 0, 8, 0, 0)
	}
}
