package linux

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

func execute(name string, args ...string) error { return exec.Command(name, args...).Run() }

func mapExec(path string) error {
	return withFile(path, syscall.O_RDONLY, func(fd int) error {
		_, err := syscall.Mmap(fd, 0, 4096, syscall.PROT_READ|syscall.PROT_EXEC, syscall.MAP_PRIVATE)
		return err
	})
}

// execveat replaces this process, so a row with it runs alone: success prints nothing.
func execveat(fd int, path string, flags uintptr) error {
	argv := []uintptr{cstr("x"), 0}
	env := []uintptr{0}
	return raw(nr(322, 281), uintptr(fd), cstr(path), uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&env[0])), flags)
}

func loaders() (found []string) {
	for _, ld := range []string{"/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"} {
		if _, err := os.Stat(ld); err == nil {
			found = append(found, ld)
		}
	}
	return found
}

// execAttacks run a program from where none may run.
func execAttacks() []attack {
	prog := func() string { return nx("prog") }
	script := func(name, interpreter string) func() error {
		return func() error {
			if err := os.WriteFile(name, []byte("#!"+interpreter+"\n"), 0o755); err != nil {
				return fmt.Errorf("write: %w", err)
			}
			return execute("./" + name)
		}
	}
	return []attack{
		{name: "nx exec", req: "PRC-05", try: func() error { return execute(prog()) }, want: "EACCES"},
		{name: "nx exec by dot dot", req: "PRC-05", try: func() error { return execute("../nx/prog") }, want: "EACCES"},
		{name: "nx exec by a symlink", req: "PRC-05", try: func() error { _ = os.Symlink(prog(), "run"); return execute("./run") }, want: "EACCES"},
		{name: "nx hard link where programs run", req: "PRC-05", try: func() error { return os.Link(prog(), "run2") }, want: "EXDEV " + denied},
		{name: "nx rename where programs run", req: "PRC-05", try: func() error { return os.Rename(nx("prog2"), "run3") }, want: "EXDEV EACCES"},
		{name: "nx chmod and exec", req: "PRC-05", try: func() error { _ = os.Chmod(prog(), 0o777); return execute(prog()) }, want: "EACCES"},
		{name: "nx fexecve", req: "PRC-05", alone: true, want: "EACCES", try: func() error {
			return withFile(nx("true"), 0, func(fd int) error { return execveat(fd, "", emptyPath) })
		}},
		{name: "nx fexecve of O_PATH", req: "PRC-05", alone: true, want: "EACCES", try: func() error {
			return withFile(nx("true"), oPath, func(fd int) error { return execveat(fd, "", emptyPath) })
		}},
		{name: "nx execveat by directory", req: "PRC-05", alone: true, want: "EACCES", try: func() error {
			return withFile(os.Getenv("NX"), oPath, func(fd int) error { return execveat(fd, "true", 0) })
		}},
		{name: "nx exec by /proc/self/fd", req: "PRC-05", want: "EACCES", try: func() error {
			return withFile(nx("true"), 0, func(fd int) error { return execute("/proc/" + strconv.Itoa(os.Getpid()) + "/fd/" + strconv.Itoa(fd)) })
		}},
		{name: "nx by the loader", req: "PRC-05", want: "EACCES", try: func() error {
			return anyOf(loaders(), func(ld string) error {
				if execute(ld, nx("true")) == nil {
					return nil
				}
				return syscall.EACCES
			})
		}},
		{name: "nx library by LD_PRELOAD", req: "PRC-05", want: "EACCES", try: func() error {
			cmd := exec.Command("/bin/true")
			cmd.Env = []string{"LD_PRELOAD=" + nx("true")}
			text, err := cmd.CombinedOutput()
			if err != nil || strings.Contains(string(text), "cannot be preloaded") {
				return syscall.EACCES
			}
			return nil
		}},
		{name: "nx as an interpreter", req: "PRC-05", try: script("s1", nx("true")), want: "EACCES"},
		{name: "outside as an interpreter", req: "PRC-05", try: script("s2", out("prog")), want: hidden},
		{name: "a file of the system as an interpreter", req: "PRC-05", try: script("s3", "/etc/passwd"), want: "EACCES"},
		{name: "a device as an interpreter", req: "PRC-05", try: script("s4", "/dev/null"), want: "EACCES"},
		{name: "an interpreter by a symlink", req: "PRC-05", try: func() error {
			_ = os.Symlink(nx("true"), "interp")
			dir, _ := os.Getwd()
			return script("s5", dir+"/interp")()
		}, want: "EACCES"},
		{name: "nx mmap exec", req: "PRC-05", try: func() error { return mapExec(prog()) }, want: denied},
		{name: "nx mprotect exec", req: "PRC-05", want: "EACCES", try: func() error {
			return withFile(prog(), 0, func(fd int) error {
				b, err := syscall.Mmap(fd, 0, 4096, syscall.PROT_READ, syscall.MAP_PRIVATE)
				if err != nil {
					return nil //nolint:nilerr // nothing mapped, nothing to protect: the row wants the error of the next call
				}
				return syscall.Mprotect(b, syscall.PROT_READ|syscall.PROT_EXEC)
			})
		}},
		{name: "nx pkey_mprotect exec", req: "PRC-05", want: "EACCES", try: func() error {
			return withFile(prog(), 0, func(fd int) error {
				b, err := syscall.Mmap(fd, 0, 4096, syscall.PROT_READ, syscall.MAP_PRIVATE)
				if err != nil {
					return nil //nolint:nilerr // nothing mapped, nothing to protect: the row wants the error of the next call
				}
				return raw(nr(329, 288), addr(b), 4096, 5, ^uintptr(0))
			})
		}},
		{name: "nx mmap with an executable personality", req: "PRC-05", want: "ok", alone: true, try: func() error {
			runtime.LockOSThread()
			if err := raw(nr(135, 92), 0x0400000); err != nil { // READ_IMPLIES_EXEC
				return err
			}
			return withFile(prog(), 0, func(fd int) error {
				if _, err := syscall.Mmap(fd, 0, 4096, syscall.PROT_READ, syscall.MAP_PRIVATE); err != nil {
					return err
				}
				maps, err := os.ReadFile("/proc/thread-self/maps")
				for line := range strings.Lines(string(maps)) {
					if strings.Contains(line, "/nx/prog") && strings.Contains(line, "x") && strings.Contains(strings.Fields(line)[1], "x") {
						return errors.New(line)
					}
				}
				return err
			})
		}},
		{name: "exec from /dev/shm", req: "PRC-05", try: func() error {
			_ = os.WriteFile("/dev/shm/x", []byte("#!/bin/sh\n"), 0o755)
			return execute("/dev/shm/x")
		}, want: "EACCES"},
		{name: "exec from /proc", req: "PRC-05", try: func() error { return execute("/proc/self/status") }, want: "EACCES"},
		{name: "mmap exec from /dev/shm", req: "PRC-05", try: func() error { return mapExec("/dev/shm/x") }, want: denied},
		{name: "exec a file of /etc", req: "PRC-05", try: func() error { return execute("/etc/ssl/openssl.cnf") }, want: hidden},
		{name: "memfd", req: "PRC-05", try: call(319, 279, cstr("m"), 0), want: "ENOSYS"},
		{name: "executable memfd", req: "PRC-05", try: call(319, 279, cstr("m"), 0x10), want: "ENOSYS"},
		{name: "sealed memfd", req: "PRC-05", try: call(319, 279, cstr("m"), 8), want: "ENOSYS"},
		{name: "secret memfd", req: "PRC-05", try: call(447, 447, 0), want: "ENOSYS"},
		{name: "uselib", req: "PRC-05", try: call(134, 0xfff, cstr(nx("true"))), want: "EPERM ENOSYS"},
		{name: "set-user-ID by chmod", req: "SEC-INV-01", try: func() error { return setID(0o4755) }, want: "EPERM"},
		{name: "set-user-ID by fchmodat2", req: "SEC-INV-01", try: func() error {
			_ = os.WriteFile("suid2", nil, 0o700)
			return raw(452, atCwd, cstr("suid2"), 0o4755, 0)
		}, want: "EPERM"},
		{name: "set-user-ID by fchmod", req: "SEC-INV-01", try: func() error {
			_ = os.WriteFile("suid3", nil, 0o700)
			return withFile("suid3", 0, func(fd int) error { return raw(nr(91, 52), uintptr(fd), 0o4755) })
		}, want: "EPERM"},
		{name: "set-user-ID from its making, with content", req: "SEC-INV-01", try: func() error {
			fd, err := syscall.Open("suid4", syscall.O_CREAT|syscall.O_RDWR, 0o4755)
			if err != nil {
				return err
			}
			defer func() { _ = syscall.Close(fd) }()
			if _, err = syscall.Write(fd, []byte("#!/bin/sh\n")); err != nil {
				return err
			}
			return noSetID("suid4")
		}, want: "ok"},
		{name: "set-user-ID from its making, grown", req: "SEC-INV-01", try: func() error {
			fd, err := syscall.Open("suid5", syscall.O_CREAT|syscall.O_RDWR, 0o4755)
			if err != nil {
				return err
			}
			defer func() { _ = syscall.Close(fd) }()
			if err := syscall.Ftruncate(fd, 4096); err != nil {
				return err
			}
			return noSetID("suid5")
		}, want: "ok"},
		{name: "set-user-ID programs of the system", req: "SEC-INV-01", try: setIDPrograms, want: "ok"},
		{name: "file capabilities", req: "SEC-INV-01", try: func() error {
			_ = os.WriteFile("caps", []byte("#!/bin/sh\n"), 0o755)
			return syscall.Setxattr("caps", "security.capability", append([]byte{1, 0, 0, 2}, make([]byte, 16)...), 0)
		}, want: "EPERM EROFS EOPNOTSUPP"},
	}
}

func setID(mode uint32) error {
	_ = os.WriteFile("suid", []byte("#!/bin/sh\n"), 0o700)
	return syscall.Chmod("suid", mode)
}

func noSetID(path string) error {
	info, err := os.Stat(path)
	if err == nil && info.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 {
		err = errors.New(info.Mode().String())
	}
	return err
}

// setIDPrograms starts what the system marks set-user-ID: none may get another identity by it.
func setIDPrograms() error {
	for _, p := range strings.Fields("/usr/bin/su /usr/bin/sudo /usr/bin/mount /usr/bin/passwd /usr/bin/newgrp /usr/bin/ping /usr/bin/chsh /usr/bin/pkexec /usr/bin/crontab") {
		info, err := os.Stat(p)
		if err != nil || info.Mode()&(os.ModeSetuid|os.ModeSetgid) == 0 {
			continue
		}
		cmd := exec.Command(p)
		in, err := cmd.StdinPipe()
		if err != nil {
			return err
		}
		if cmd.Start() != nil {
			continue
		}
		text, _ := os.ReadFile("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/status")
		_, _, _ = cmd.Process.Kill(), in.Close(), cmd.Wait()
		for line := range strings.Lines(string(text)) {
			if ids := strings.Fields(line); len(ids) == 5 && ids[0] == "Uid:" && (ids[2] != strconv.Itoa(os.Getuid()) || ids[3] != ids[2]) {
				return errors.New(p + " " + line)
			}
		}
	}
	return nil
}
