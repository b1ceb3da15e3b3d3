package linux

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// The escape corpus. The attacker is this test binary, started inside the sandbox with argv[0] attackName. It tries every
// row of the tables and prints how each came out; outside, the test holds that against the row and looks at what should
// not have changed. The tables lie in the corpus files beside this one, by kind.

const (
	attackName = "sandbox-attack"
	leastRows  = 180 // the corpus never shrinks below this
)

// attack is one way out that must stay closed (or, with want "ok", one thing that is allowed and harmless).
type attack struct {
	name string
	req  string // requirement
	try  func() error
	want string // outcomes, any of which holds: an errno, "ok" for success, a signal's number ("signal:31"), or other words
	// alone: in a process of its own, since it kills, stops or binds the one that tries.
	alone bool
}

// tables lists the corpus that runs in one sandbox, in the order it is tried.
func tables() []attack {
	return slices.Concat(reachAttacks(), viewAttacks(), readOnlyAttacks(), keepAttacks(), protectAttacks(), execAttacks(), kernelAttacks(),
		processAttacks(), watcherAttacks(), credentialAttacks(), socketAttacks(), terminalAttacks(), archAttacks())
}

func runAttackIfAsked() {
	if len(os.Args) == 0 || os.Args[0] != attackName {
		return
	}
	switch {
	case len(os.Args) == 1:
		tryAll(tables())
	case os.Args[1] == "listed":
		tryAll(listedAttacks())
	case os.Args[1] == "alone":
		for _, a := range tables() {
			if a.name == os.Args[2] {
				fmt.Print(describe(a.try()))
			}
		}
	default:
		leaderlessIfAsked(os.Args[1])
		hideIfAsked(os.Args[1])
		bombIfAsked(os.Args[1])
	}
	os.Exit(0)
}

func tryAll(rows []attack) {
	for _, a := range rows {
		fmt.Printf("%s -> %s\n", a.name, a.outcome())
	}
}

func (a attack) outcome() string {
	if !a.alone {
		return describe(a.try())
	}
	out, err := myself("alone", a.name).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if ws := exit.Sys().(syscall.WaitStatus); ws.Signaled() {
			return "signal:" + strconv.Itoa(int(ws.Signal()))
		}
		return "exit:" + strconv.Itoa(exit.ExitCode())
	}
	return string(out)
}

// myself is the attacker once more.
func myself(args ...string) *exec.Cmd {
	return &exec.Cmd{Path: "/proc/self/exe", Args: append([]string{attackName}, args...)}
}

func describe(err error) string {
	var no syscall.Errno
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &no):
		return errnoName(no)
	}
	return strings.ReplaceAll(err.Error(), "\n", " ")
}

// holds reports that an outcome is one of those wanted.
func (a attack) holds(got string) bool {
	return got == a.want || got != "" && slices.Contains(strings.Fields(a.want), got)
}

var errnoNames = map[syscall.Errno]string{
	syscall.EPERM: "EPERM", syscall.ENOENT: "ENOENT", syscall.ESRCH: "ESRCH", syscall.ENXIO: "ENXIO", syscall.ENOEXEC: "ENOEXEC",
	syscall.EBADF: "EBADF", syscall.EAGAIN: "EAGAIN", syscall.ENOMEM: "ENOMEM", syscall.EACCES: "EACCES", syscall.EFAULT: "EFAULT",
	syscall.EBUSY: "EBUSY", syscall.EEXIST: "EEXIST", syscall.EXDEV: "EXDEV", syscall.ENODEV: "ENODEV", syscall.ENOTDIR: "ENOTDIR",
	syscall.EISDIR: "EISDIR", syscall.EINVAL: "EINVAL", syscall.EMFILE: "EMFILE", syscall.ENFILE: "ENFILE", syscall.ENOTTY: "ENOTTY",
	syscall.ETXTBSY: "ETXTBSY", syscall.EFBIG: "EFBIG", syscall.ENOSPC: "ENOSPC", syscall.ESPIPE: "ESPIPE", syscall.EROFS: "EROFS",
	syscall.EMLINK: "EMLINK", syscall.EPIPE: "EPIPE", syscall.ELOOP: "ELOOP", syscall.ENOSYS: "ENOSYS", syscall.EOPNOTSUPP: "EOPNOTSUPP",
	syscall.EISCONN: "EISCONN", syscall.ENOTCONN: "ENOTCONN", syscall.ECONNREFUSED: "ECONNREFUSED", syscall.ENETUNREACH: "ENETUNREACH",
	syscall.EAFNOSUPPORT: "EAFNOSUPPORT", syscall.EPROTONOSUPPORT: "EPROTONOSUPPORT", syscall.ENAMETOOLONG: "ENAMETOOLONG",
	syscall.EHOSTUNREACH: "EHOSTUNREACH", syscall.ETIMEDOUT: "ETIMEDOUT", syscall.ENODATA: "ENODATA", syscall.EIO: "EIO",
	syscall.EADDRNOTAVAIL: "EADDRNOTAVAIL", syscall.EADDRINUSE: "EADDRINUSE", syscall.ENOTEMPTY: "ENOTEMPTY",
	syscall.ENOPROTOOPT: "ENOPROTOOPT", syscall.EINPROGRESS: "EINPROGRESS", syscall.EDQUOT: "EDQUOT", syscall.ETOOMANYREFS: "ETOOMANYREFS", syscall.ECHILD: "ECHILD", syscall.EOVERFLOW: "EOVERFLOW",
}

func errnoName(no syscall.Errno) string {
	if name := errnoNames[no]; name != "" {
		return name
	}
	return no.Error()
}

// The places of the corpus: what the test made, as the attacker sees it.
func ro(name string) string  { return filepath.Join(os.Getenv("RO"), name) }  // read and execute
func nx(name string) string  { return filepath.Join(os.Getenv("NX"), name) }  // all but execute
func nd(name string) string  { return filepath.Join(os.Getenv("ND"), name) }  // read and write, no delete
func out(name string) string { return filepath.Join(os.Getenv("OUT"), name) } // no root
// A directory with all rights is the working directory; "kept" in it is protected.

const (
	denied = "EPERM EACCES"
	hidden = "ENOENT EACCES"
	fixed  = "EROFS EACCES" // a read-only mount, or Landlock before it
	atCwd  = ^uintptr(99)   // AT_FDCWD
)

func raw(nr uintptr, args ...uintptr) error {
	_, err := rawValue(nr, args...)
	return err
}

func rawValue(nr uintptr, args ...uintptr) (uintptr, error) {
	var a [6]uintptr
	copy(a[:], args)
	v, _, e := syscall.Syscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5])
	if e != 0 {
		return v, e
	}
	return v, nil
}

// call makes a system call with constant arguments.
func call(amd64, arm64 uintptr, args ...uintptr) func() error {
	return func() error { return raw(nr(amd64, arm64), args...) }
}

// nr picks the architecture's number; 0 is never asked for on an architecture that lacks the call.
func nr(amd64, arm64 uintptr) uintptr {
	if runtime.GOARCH == "arm64" {
		return arm64
	}
	return amd64
}

func cstr(s string) uintptr { return addr(append([]byte(s), 0)) }

// addr pins bytes and tells where they are.
func addr(b []byte) uintptr {
	held = append(held, b)
	return uintptr(unsafe.Pointer(&b[0]))
}

var held [][]byte

func words(values ...uint64) []byte {
	b := make([]byte, 0, 8*len(values))
	for _, v := range values {
		for i := range 8 {
			b = append(b, byte(v>>(8*i)))
		}
	}
	return b
}

// withFile opens, tries and closes.
func withFile(path string, flags int, try func(fd int) error) error {
	fd, err := syscall.Open(path, flags|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = syscall.Close(fd) }()
	return try(fd)
}

func write(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString("evil")
		_ = f.Close()
	}
	return err
}

func read(path string) error { _, err := os.ReadFile(path); return err }
func list(path string) error { _, err := os.ReadDir(path); return err }

// first is the first failure of some steps.
func first(steps ...func() error) error {
	for _, s := range steps {
		if err := s(); err != nil {
			return err
		}
	}
	return nil
}

// any reports success as soon as one of many attempts succeeds, else the last failure.
func anyOf[T any](all []T, try func(T) error) (err error) {
	for _, x := range all {
		if err = try(x); err == nil {
			return nil
		}
	}
	return err
}
