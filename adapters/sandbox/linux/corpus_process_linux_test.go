package linux

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// processAttacks reach for other processes, for identity and for what binds this one.
func processAttacks() []attack {
	prctl := func(args ...uintptr) func() error { return call(157, 167, args...) }
	return []attack{
		{name: "outsiders are invisible", req: "DENY-01", try: func() error {
			entries, err := os.ReadDir("/proc")
			if err != nil {
				return err
			}
			for _, e := range entries {
				if pid, err := strconv.Atoi(e.Name()); err == nil && pid != 1 && pid != os.Getpid() {
					if cmd, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline"); !bytes.Contains(cmd, []byte(attackName)) && len(cmd) > 0 {
						return fmt.Errorf("pid %d: %q", pid, cmd)
					}
				}
			}
			return nil
		}, want: "ok"},
		{name: "signal the Broker", req: "DENY-01", try: func() error { return signalEnv(syscall.Kill) }, want: "ESRCH"},
		{name: "signal the Broker's group", req: "DENY-01", try: func() error {
			return signalEnv(func(pid int, s syscall.Signal) error { return syscall.Kill(-pid, s) })
		}, want: "ESRCH"},
		{name: "pidfd of the Broker", req: "DENY-01", try: func() error {
			return signalEnv(func(pid int, _ syscall.Signal) error { return raw(434, uintptr(pid), 0) })
		}, want: "ESRCH EINVAL"},
		{name: "ptrace the Broker", req: "DENY-01", try: func() error {
			return signalEnv(func(pid int, _ syscall.Signal) error { return syscall.PtraceAttach(pid) })
		}, want: "ESRCH"},
		{name: "the Broker's memory by pid", req: "DENY-01", try: func() error {
			return signalEnv(func(pid int, _ syscall.Signal) error { return raw(nr(310, 270), uintptr(pid), 0, 0, 0, 0, 0) })
		}, want: "EPERM"},
		{name: "signal everybody", req: "DENY-01", try: func() error { return syscall.Kill(-1, 0) }, want: "ESRCH ok EPERM"},
		{name: "kill everybody", req: "DENY-01", alone: true, want: "signal:9", try: func() error {
			// Alone in its session is not alone in the sandbox: what tries the corpus must live.
			if os.Getppid() != 1 {
				return syscall.Kill(os.Getpid(), syscall.SIGKILL)
			}
			return syscall.Kill(-1, syscall.SIGKILL)
		}},
		{name: "its own seccomp opens nothing", req: "SEC-INV-01", alone: true, want: "EACCES", try: func() error {
			return ownFilter(0, func() error { return socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)() })
		}},
		{name: "a second seccomp listener", req: "SEC-INV-01", alone: true, want: "EBUSY", try: func() error { return ownFilter(8, func() error { return nil }) }},
		{name: "seccomp strict", req: "SEC-INV-01", alone: true, want: "EINVAL", try: prctl(22, 1)},
		{name: "suspend seccomp of a child", req: "SEC-INV-01", want: "EPERM EINVAL", try: func() error {
			return traced(func(pid int) error { return raw(nr(101, 117), 0x4200, uintptr(pid), 0, 1<<21) })
		}},
		{name: "read the filter of a child", req: "SEC-INV-01", want: "EACCES EPERM EINVAL", try: func() error {
			return traced(func(pid int) error { return raw(nr(101, 117), 0x420c, uintptr(pid), 0, 0) })
		}},
		{name: "trace a child", req: "PRF-01", want: "ok", try: func() error { return traced(func(int) error { return nil }) }},
		{name: "kcmp", req: "DENY-01", try: call(312, 272, 1, 1, 0, 0, 0), want: "EPERM"},
		{name: "pidfd_getfd", req: "DENY-01", try: call(438, 438, 0, 0, 0), want: "EPERM"},
		{name: "become root", req: "SEC-INV-01", try: func() error { return syscall.Setuid(0) }, want: "EPERM EINVAL"},
		{name: "become root by setresuid", req: "SEC-INV-01", try: func() error { return syscall.Setresuid(0, 0, 0) }, want: "EPERM EINVAL"},
		{name: "become nobody", req: "SEC-INV-01", try: func() error { return syscall.Setreuid(65534, 65534) }, want: "EPERM EINVAL"},
		{name: "become group 0", req: "SEC-INV-01", try: func() error { return syscall.Setgid(0) }, want: "EPERM EINVAL"},
		{name: "setgroups", req: "SEC-INV-01", try: func() error { return syscall.Setgroups([]int{0}) }, want: "EPERM EINVAL"},
		{name: "setfsuid", req: "SEC-INV-01", try: func() error {
			_ = raw(nr(122, 151), 0)
			if now, _ := rawValue(nr(122, 151), ^uintptr(0)); now == 0 {
				return nil
			}
			return syscall.EPERM
		}, want: "EPERM"},
		{name: "raise capabilities", req: "SEC-INV-01", try: func() error {
			head, all := []byte{0x22, 5, 8, 0x20, 0, 0, 0, 0}, bytes.Repeat([]byte{0xff}, 24)
			return raw(nr(126, 91), addr(head), addr(all))
		}, want: "EPERM"},
		{name: "raise an ambient capability", req: "SEC-INV-01", try: prctl(47, 2, 21, 0, 0), want: "EPERM"},
		{name: "securebits", req: "SEC-INV-01", try: prctl(28, 1), want: "EPERM"},
		{name: "undo no-new-privileges", req: "SEC-INV-01", try: prctl(38, 0, 0, 0, 0), want: "EINVAL"},
		{name: "change its memory's layout", req: "SEC-INV-01", try: prctl(35, 13, 0, 0, 0), want: "EPERM EINVAL EBADF"},
		{name: "flush for I/O", req: "SEC-INV-01", try: prctl(57, 1, 0, 0, 0), want: "EPERM"},
		{name: "no new privileges", req: "SEC-INV-01", try: status("NoNewPrivs", "1"), want: "ok"},
		{name: "seccomp", req: "SEC-INV-01", try: status("Seccomp", "2"), want: "ok"},
		{name: "no core dumps", req: "DENY-01", try: crash, want: "ok"},
		{name: "no group 0", req: "SEC-INV-01", try: func() error {
			groups, err := os.Getgroups()
			for _, g := range groups {
				if g == 0 {
					return errors.New("group 0")
				}
			}
			return err
		}, want: "ok"},
		{name: "not root", req: "SEC-INV-01", try: func() error {
			if os.Getuid() == 0 || os.Geteuid() == 0 {
				return errors.New("uid 0")
			}
			return nil
		}, want: "ok"},
		{name: "keep a debug port", req: "SEC-INV-01", try: call(173, 0xfff, 0x80, 1, 1), want: "EPERM ENOSYS"},
		{name: "I/O privilege level", req: "SEC-INV-01", try: call(172, 0xfff, 3), want: "EPERM ENOSYS"},
		{name: "segment table", req: "SEC-INV-01", try: call(154, 0xfff, 1, 0, 0), want: "EPERM ENOSYS"},
		{name: "raise the task limit", req: "RES-01", try: raise(6), want: "EPERM"},
		{name: "raise the data limit", req: "RES-01", try: raise(syscall.RLIMIT_DATA), want: "EPERM unlimited"}, // at L3 the control group counts,
		{name: "raise the file limit", req: "RES-01", try: raise(syscall.RLIMIT_NOFILE), want: "EPERM"},
		{name: "raise the core limit", req: "RES-01", try: raise(syscall.RLIMIT_CORE), want: "EPERM"},
		{name: "raise the limit of real time", req: "RES-01", try: raise(14), want: "EPERM"},
		{name: "run in real time", req: "RES-01", try: func() error {
			prio := []byte{1, 0, 0, 0}
			return raw(nr(144, 119), 0, 1, addr(prio))
		}, want: "EPERM"},
		{name: "run more urgently", req: "RES-01", try: func() error { return syscall.Setpriority(syscall.PRIO_PROCESS, 0, -5) }, want: denied},
		{name: "do I/O in real time", req: "RES-01", try: call(251, 30, 1, 0, 1<<13), want: "EPERM"},
	}
}

// signalEnv tries something with the pid that the Broker has outside.
func signalEnv(try func(int, syscall.Signal) error) error {
	pid, err := strconv.Atoi(os.Getenv("BROKER"))
	if err != nil {
		return err
	}
	return try(pid, syscall.SIGKILL)
}

func raise(what int) func() error {
	return func() error {
		var now syscall.Rlimit
		if err := syscall.Getrlimit(what, &now); err != nil {
			return err
		}
		more := now.Max + 1
		if more == 0 {
			return errors.New("unlimited")
		}
		return raw(nr(302, 261), 0, uintptr(what), addr(words(more, more)), 0)
	}
}

func status(field, want string) func() error {
	return func() error {
		b, err := os.ReadFile("/proc/self/status")
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(b)) {
			if k, v, _ := strings.Cut(line, ":"); k == field && strings.TrimSpace(v) != want {
				return errors.New(field + " is " + strings.TrimSpace(v))
			}
		}
		return nil
	}
}

// ownFilter installs a filter that allows everything, with seccomp(2) flags, and tries something under it.
func ownFilter(flags uintptr, try func() error) error {
	runtime.LockOSThread()
	allow := []uint64{0x7fff0000<<32 | 6} // ret ALLOW
	prog := words(1, uint64(uintptr(unsafe.Pointer(&allow[0]))))
	if err := raw(nr(317, 277), 1, flags, addr(prog)); err != nil {
		return err
	}
	runtime.KeepAlive(allow)
	return try()
}

// traced seizes a child of its own, stops it, and tries something with it.
func traced(try func(pid int) error) error {
	runtime.LockOSThread() // a tracer is a thread
	defer runtime.UnlockOSThread()
	p, err := os.StartProcess("/bin/sleep", []string{"sleep", "60"}, &os.ProcAttr{})
	if err != nil {
		return err
	}
	defer func() { _, _ = p.Kill(), p.Release(); _, _ = syscall.Wait4(p.Pid, nil, 0, nil) }()
	if err := raw(nr(101, 117), 0x4206, uintptr(p.Pid), 0, 0); err != nil { // PTRACE_SEIZE
		return fmt.Errorf("seize: %w", err)
	}
	if err := raw(nr(101, 117), 0x4207, uintptr(p.Pid), 0, 0); err != nil { // PTRACE_INTERRUPT
		return fmt.Errorf("interrupt: %w", err)
	}
	if _, err := syscall.Wait4(p.Pid, nil, 0, nil); err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	return try(p.Pid)
}

// crash ends a child by a signal that dumps core, and looks for the dump.
func crash() error {
	p, err := os.StartProcess("/bin/sleep", []string{"sleep", "60"}, &os.ProcAttr{})
	if err != nil {
		return err
	}
	time.Sleep(20 * time.Millisecond)
	_ = p.Signal(syscall.SIGSEGV)
	state, err := p.Wait()
	if err != nil {
		return err
	}
	if ws := state.Sys().(syscall.WaitStatus); !ws.Signaled() || ws.CoreDump() {
		return fmt.Errorf("%v", state)
	}
	return nil
}
