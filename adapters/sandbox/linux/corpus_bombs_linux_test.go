package linux

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Bombs use up what the host has to give. Each runs in a sandbox of its own, under bombMemory and bombProcesses; want is
// how the run ends, or what the bomb says when it gives up.

const (
	bombMemory    = 192 << 20
	bombProcesses = 8
)

// bombIfAsked runs one bomb, or a part of one that it started itself.
func bombIfAsked(name string) {
	for _, b := range bombs() {
		if b.name == name {
			fmt.Println(describe(b.try()))
			os.Exit(0)
		}
	}
	if part := bombParts[name]; part != nil {
		part()
		os.Exit(0)
	}
}

var bombParts = map[string]func(){
	"part: sleep": func() {
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
		time.Sleep(time.Hour)
	},
	"part: daemon": func() { // the second fork: its parent ends at once
		_ = detached("part: sleep").Start()
	},
	"part: third": func() {
		_, _ = touch(bombMemory / 3)
		time.Sleep(time.Hour)
	},
	"part: pipes": func() {
		fmt.Println(fillPipes())
		_ = syscall.Nanosleep(&syscall.Timespec{Sec: 3600}, nil) // the runtime's own sleep wants a descriptor
	},
	"part: nothing": func() {},
}

func detached(part string) *exec.Cmd {
	cmd := myself(part)
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = os.Stdout, os.Stderr, &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// startAll starts a part until it fails, at most n times.
func startAll(part string, n int) error {
	for range n {
		if err := detached(part).Start(); err != nil {
			return err
		}
	}
	return nil
}

func touch(size int) ([]byte, error) {
	b, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	for i := 0; err == nil && i < len(b); i += 4096 {
		b[i] = 1
	}
	return b, err
}

// fill writes to a file until it fails.
func fill(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	for junk := make([]byte, 1<<20); err == nil; {
		_, err = f.Write(junk)
	}
	return err
}

// fillPipes opens pipes and fills them until no more open, and tells how much they hold.
func fillPipes() (held int) {
	junk := make([]byte, 64<<10)
	for {
		var p [2]int
		if err := syscall.Pipe2(p[:], syscall.O_NONBLOCK); err != nil {
			return held
		}
		for n, err := 1, error(nil); err == nil && n > 0; held += max(n, 0) {
			n, err = syscall.Write(p[1], junk)
		}
	}
}

func recurse(n int) int {
	var frame [4096]byte
	frame[n%4096] = byte(n)
	if n < 0 { // never, but that no compiler can tell
		return 0
	}
	return recurse(n+1) + int(frame[(n+1)%4096])
}

func bombs() []attack {
	tmp := os.Getenv("TMPDIR")
	return []attack{
		{name: "processes", req: "RES-01", want: "EAGAIN", try: func() error { return startAll("part: sleep", 4*bombProcesses) }},
		{name: "processes that double", req: "RES-01", want: "timed_out exit", try: func() error {
			return syscall.Exec("/bin/sh", []string{"sh", "-c", "bomb() { bomb | bomb & }; bomb; sleep 60"}, os.Environ())
		}},
		{name: "processes that nobody waits for", req: "RES-01", want: "EAGAIN", try: func() error { return startAll("part: nothing", 20*bombProcesses) }},
		{name: "daemons", req: "PRC-08", want: "ok", try: func() error {
			for range 3 {
				if err := detached("part: daemon").Run(); err != nil {
					return err
				}
			}
			return nil
		}},
		{name: "threads", req: "RES-01", want: "exit", try: func() error {
			debug.SetMaxThreads(1 << 20)
			var all sync.WaitGroup
			for range 200 * bombProcesses {
				all.Add(1)
				go func() { runtime.LockOSThread(); all.Done(); select {} }()
			}
			all.Wait()
			return nil
		}},
		{name: "memory of one", req: "RES-01", want: "ENOMEM out_of_memory", try: func() error { _, err := touch(4 * bombMemory); return err }},
		{name: "memory of many", req: "RES-01", want: "out_of_memory", try: func() error { _ = startAll("part: third", 5); time.Sleep(time.Minute); return nil }},
		{name: "huge pages", req: "RES-01", want: "ENOMEM out_of_memory", try: func() error {
			for {
				b, err := syscall.Mmap(-1, 0, 2<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_HUGETLB)
				if err != nil {
					return err
				}
				b[0] = 1
			}
		}},
		{name: "locked memory", req: "RES-01", want: "ENOMEM EPERM EAGAIN out_of_memory", try: func() error {
			if err := syscall.Mlockall(2); err != nil { // what is mapped from now on
				return err
			}
			_, err := touch(2 * bombMemory)
			return err
		}},
		{name: "the private tmp", req: "RES-01", want: "ENOSPC out_of_memory", try: func() error { return fill(filepath.Join(tmp, "big")) }},
		{name: "/dev/shm", req: "RES-01", want: "ENOSPC out_of_memory", try: func() error { return fill("/dev/shm/big") }},
		{name: "files that nobody names", req: "RES-01", want: "ENOSPC out_of_memory", try: func() error {
			for {
				if err := makeTmp(tmp, func(fd int) error {
					if _, err := syscall.Dup(fd); err != nil {
						return err
					}
					return syscall.Fallocate(fd, 0, 0, 1<<20)
				}); err != nil {
					return err
				}
			}
		}},
		{name: "a huge directory", req: "RES-01", want: "ENOSPC out_of_memory", try: func() error {
			for i := 0; ; i++ {
				if err := os.WriteFile(fmt.Sprintf("%s/%0200d", tmp, i), nil, 0o600); err != nil {
					return err
				}
			}
		}},
		{name: "a deep tree", req: "RES-01", want: "ok ENOSPC out_of_memory", try: func() error {
			name := strings.Repeat("d", 200)
			return first(func() error { return os.Chdir(tmp) }, func() error {
				for range 2_000 {
					if err := errors.Join(syscall.Mkdir(name, 0o700), syscall.Chdir(name)); err != nil {
						return err
					}
				}
				return nil
			})
		}},
		{name: "a sparse file", req: "RES-01", want: "ok EFBIG EINVAL", try: func() error { _ = os.WriteFile(tmp+"/s", nil, 0o600); return os.Truncate(tmp+"/s", 1<<45) }},
		{name: "descriptors", req: "RES-01", want: "EMFILE", try: func() error {
			for {
				if _, err := syscall.Open("/dev/null", 0, 0); err != nil {
					return err
				}
			}
		}},
		{name: "descriptors in flight", req: "RES-01", want: "EMFILE ETOOMANYREFS EAGAIN", try: func() error {
			for {
				p, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK, 0)
				if err != nil {
					return err
				}
				for err == nil {
					err = syscall.Sendmsg(p[0], []byte("x"), syscall.UnixRights(p[0], p[1]), nil, 0)
				}
				if !errors.Is(err, syscall.EAGAIN) {
					return syscall.EMFILE
				}
				_, _ = syscall.Close(p[0]), syscall.Close(p[1]) // they hold each other, where no process has them
			}
		}},
		{name: "pipes", req: "RES-01", want: "ok out_of_memory", try: func() error {
			var sum, n int
			var all string
			for range bombProcesses - 1 {
				cmd := myself("part: pipes")
				out, err := cmd.StdoutPipe()
				if err != nil {
					return err
				}
				if err := cmd.Start(); err != nil {
					return err
				}
				if _, err := fmt.Fscan(out, &n); err != nil {
					return err
				}
				sum += n
				all += fmt.Sprint(" ", n>>20)
			}
			if sum > 2*bombMemory {
				return fmt.Errorf("held %d MiB%s", sum>>20, all)
			}
			return nil
		}},
		{name: "watches", req: "RES-01", want: "ok ENOSPC EMFILE ENOMEM out_of_memory", try: func() error {
			fd, err := syscall.InotifyInit()
			for i := 0; err == nil && i < 20_000; i++ {
				name := fmt.Sprintf("%s/%d", tmp, i)
				if err = os.WriteFile(name, nil, 0o600); err == nil {
					_, err = syscall.InotifyAddWatch(fd, name, syscall.IN_ALL_EVENTS)
				}
			}
			return err
		}},
		{name: "terminals", req: "RES-01", want: "ENOSPC", try: func() error {
			for {
				if _, err := syscall.Open("/dev/ptmx", syscall.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
					return err
				}
			}
		}},
		{name: "output", req: "RES-01", want: "ok", try: func() error {
			junk := []byte(strings.Repeat("flood\n", 10_000))
			for range 5_000 {
				if _, err := os.Stdout.Write(junk); err != nil {
					return err
				}
			}
			return nil
		}},
		{name: "a deep stack", req: "RES-01", want: "exit out_of_memory", try: func() error {
			debug.SetMaxStack(1 << 40)
			return fmt.Errorf("%d", recurse(1))
		}},
		{name: "all processors", req: "RES-01", want: "timed_out", try: func() error {
			for range runtime.NumCPU() {
				go func() {
					for {
						runtime.Gosched()
					}
				}()
			}
			select {}
		}},
		{name: "stopping itself", req: "PRC-08", want: "timed_out", try: func() error { return syscall.Kill(os.Getpid(), syscall.SIGSTOP) }},
		{name: "killing its group", req: "PRC-08", want: "signaled", try: func() error { return syscall.Kill(0, syscall.SIGKILL) }},
		{name: "killing everybody", req: "PRC-08", want: "ESRCH ok", try: func() error { _ = startAll("part: sleep", 2); return syscall.Kill(-1, syscall.SIGKILL) }},
	}
}
