// Package kernel wraps the Linux system calls the sandbox needs and the standard library lacks: mounts by descriptor,
// Landlock, seccomp, capabilities, the control socket and the look at the process tree. It decides nothing; every
// function does what its manual page says and returns the plain error. Only this package imports x/sys.
package kernel
