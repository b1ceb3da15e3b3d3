package linux

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
)

// terminalAttacks put input where the user's shell would read it.
func terminalAttacks() []attack {
	ioctl := func(fd, request, arg uintptr) error { return raw(nr(16, 29), fd, request, arg) }
	out := func(request uintptr) func() error {
		return func() error { return ioctl(1, request, cstr("x")) }
	}
	// pty makes a terminal of its own and tries something with its user's side.
	pty := func(try func(slave int) error) func() error {
		return func() error {
			return withFile("/dev/ptmx", syscall.O_RDWR|syscall.O_NOCTTY, func(fd int) error {
				number := make([]byte, 4)
				if err := first(func() error { return ioctl(uintptr(fd), 0x40045431, addr(make([]byte, 4))) },
					func() error { return ioctl(uintptr(fd), 0x80045430, addr(number)) }); err != nil {
					return err
				}
				return withFile("/dev/pts/"+strconv.Itoa(int(number[0])), syscall.O_RDWR|syscall.O_NOCTTY, try)
			})
		}
	}
	return []attack{
		{name: "TIOCSTI", req: "DENY-01", try: out(0x5412), want: "EPERM"},
		{name: "TIOCSTI with bit 32", req: "DENY-01", try: out(1<<32 | 0x5412), want: "EPERM"},
		{name: "TIOCSTI with bit 63", req: "DENY-01", try: out(1<<63 | 0x5412), want: "EPERM"},
		{name: "TIOCSTI on its own terminal", req: "DENY-01", try: pty(func(fd int) error { return ioctl(uintptr(fd), 0x5412, cstr("x")) }), want: "EPERM"},
		{name: "TIOCLINUX", req: "DENY-01", try: out(0x541c), want: "EPERM"},
		{name: "TIOCLINUX with bit 32", req: "DENY-01", try: out(1<<32 | 0x541c), want: "EPERM"},
		{name: "TIOCCONS", req: "DENY-01", try: pty(func(fd int) error { return ioctl(uintptr(fd), 0x541d, 0) }), want: "EPERM EACCES"},
		{name: "TIOCSETD", req: "DENY-01", try: pty(func(fd int) error { return ioctl(uintptr(fd), 0x5423, addr(words(15))) }), want: "EPERM"},
		{name: "TIOCSETD with bit 32", req: "DENY-01", try: pty(func(fd int) error { return ioctl(uintptr(fd), 1<<32|0x5423, addr(words(15))) }), want: "EPERM"},
		{name: "TIOCSCTTY on its output", req: "DENY-01", try: out(0x540e), want: "ENOTTY EPERM"},
		{name: "steal its own terminal", req: "DENY-01", alone: true, want: "EPERM", try: func() error {
			return pty(func(fd int) error { return ioctl(uintptr(fd), 0x540e, 1) })()
		}},
		{name: "terminals of the host", req: "DENY-01", want: "ok", try: func() error {
			entries, err := os.ReadDir("/dev/pts")
			if err == nil && len(entries) > 1 {
				return syscall.EEXIST
			}
			return err
		}},
		{name: "a controlling terminal", req: "DENY-01", want: "ok", try: func() error {
			b, err := os.ReadFile("/proc/self/stat")
			if err != nil {
				return err
			}
			if f := bytes.Fields(b[bytes.LastIndexByte(b, ')'):]); string(f[5]) != "0" { // tty_nr
				return syscall.ENOTTY
			}
			return nil
		}},
		{name: "a terminal of its own", req: "PRF-01", want: "ok", try: pty(func(fd int) error { return ioctl(uintptr(fd), 0x5413, addr(make([]byte, 8))) })},
		{name: "blow up the output pipe", req: "RES-01", want: "ok EPERM EBUSY", try: func() error { return raw(nr(72, 25), 1, 1031, 1<<20) }},
	}
}

// archAttacks enter the kernel by other doors than the architecture's own.
func archAttacks() []attack {
	x32 := func(n uintptr, args ...uintptr) func() error {
		return func() error {
			if runtime.GOARCH != "amd64" {
				return syscall.ENOSYS
			}
			return raw(0x40000000|n, args...)
		}
	}
	int80 := func(code []byte) func() error {
		return func() error {
			if runtime.GOARCH != "amd64" {
				return errors.New("signal:31") // there is no such door
			}
			path := "int80-" + strconv.Itoa(len(code))
			if err := os.WriteFile(path, tinyELF(code), 0o700); err != nil {
				return err
			}
			return endsBy(exec.Command("./" + path).Run())
		}
	}
	return []attack{
		{name: "x32 socket", req: "NET-01", try: x32(41, 2, 1, 0), want: "ENOSYS"},
		{name: "x32 ptrace", req: "SEC-INV-01", try: x32(521, 16, 1, 0, 0), want: "ENOSYS"},
		{name: "x32 execve", req: "SEC-INV-01", try: x32(520, 0, 0, 0), want: "ENOSYS"},
		{name: "x32 mount", req: "SEC-INV-01", try: x32(165, 0, 0, 0, 0, 0), want: "ENOSYS"},
		{name: "number -1", req: "SEC-INV-01", try: call(^uintptr(0), ^uintptr(0)), want: "ENOSYS"},
		// The kernel has no such door, and faults, where it was built or started without IA32 emulation: signal 11.
		// mov eax, 20 (getpid); int 0x80; mov eax, 60; xor edi, edi; syscall
		{name: "the 32-bit door", req: "SEC-INV-01", want: "signal:31 signal:11", try: int80([]byte{0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0xb8, 60, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05})},
		// mov eax, 102 (socketcall); mov ebx, 1 (socket); mov ecx, esp; int 0x80; mov eax, 60; xor edi, edi; syscall
		{name: "the 32-bit door to a socket", req: "NET-01", want: "signal:31 signal:11", try: int80([]byte{0xb8, 102, 0, 0, 0, 0xbb, 1, 0, 0, 0, 0x89, 0xe1, 0xcd, 0x80, 0xb8, 60, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05})},
		{name: "a program without libraries", req: "PRF-01", want: "ok", try: func() error {
			if runtime.GOARCH != "amd64" {
				return nil
			}
			if err := os.WriteFile("tiny", tinyELF([]byte{0xb8, 60, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05}), 0o700); err != nil {
				return err
			}
			return execute("./tiny")
		}},
	}
}

// endsBy tells by which signal a child ended.
func endsBy(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if ws := exit.Sys().(syscall.WaitStatus); ws.Signaled() {
			return fmt.Errorf("signal:%d", ws.Signal())
		}
	}
	return err
}

// tinyELF is a static amd64 program that is nothing but code.
func tinyELF(code []byte) []byte {
	const base, head = 0x400000, 64 + 56
	half := func(v ...uint16) (b []byte) {
		for _, x := range v {
			b = append(b, byte(x), byte(x>>8))
		}
		return b
	}
	b := []byte{0x7f, 'E', 'L', 'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	b = append(b, half(2, 62, 1, 0)...)                                     // executable, x86-64, version 1
	b = append(b, words(base+head, 64, 0)...)                               // entry, program headers, no sections
	b = append(b, half(0, 0, 64, 56, 1, 0, 0, 0)...)                        // flags, sizes, one program header
	b = append(b, words(1|5<<32, 0, base, base, uint64(head+len(code)))...) // load, read and execute
	b = append(b, words(uint64(head+len(code)), 0x1000)...)
	return append(b, code...)
}
