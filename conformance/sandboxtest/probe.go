package sandboxtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// ProbeName is argv[0] of the probe.
const ProbeName = "sandbox-probe"

const arrow = " -> "

// System is the world inside the sandbox, as the probe acts on it. Errors are judged with errors.Is and fs.Err….
type System interface {
	ReadFile(path string) error
	List(path string) error
	WriteFile(path, content string) error // creates or truncates
	Append(path, content string) error    // existing files only
	Mkdir(path string) error
	Chmod(path string) error
	Remove(path string) error // files
	Rmdir(path string) error
	Rename(from, to string) error
	Start(path string) error // runs a program to its end
	Dial(network, address string) error
	Echo(address string, n int64) error // send n bytes to an echo server over TCP, end the stream, and get all back, then its end
	Fan(address string, n int) int      // open n connections at once, echo a little over each that opened; how many worked
	Resolve(name string) error
	Own() error // listen on the own loopback at a free port and connect to it
	Environ() []string
	Stdin() ([]byte, error)
	Children(n int) (started int)
	Below(verb string) (result string, err error) // what verb gives in a child
	Take(bytes int64) error                       // allocate and touch
	Sleep(d time.Duration)
	Daemon(file string) error // leave a process behind that detaches itself and writes to file for ever
	Orphan(file string)       // that process: ignores TERM, HUP, INT
	Crash()                   // die by a signal
}

// RunProbeIfAsked turns this process into the probe when its argv[0] says so, and never returns then.
func RunProbeIfAsked() {
	if len(os.Args) > 0 && os.Args[0] == ProbeName {
		os.Exit(Interpret(realSystem{}, os.Args[1:], os.Stdout, os.Stderr))
	}
}

// Interpret runs verbs over a System, prints one line for each, and returns the exit code.
func Interpret(sys System, verbs []string, stdout, stderr io.Writer) int {
	for _, v := range verbs {
		verb, rest, _ := strings.Cut(v, "|")
		a, b, _ := strings.Cut(rest, "|")
		result, err, done := "ok", error(nil), false
		switch verb {
		case "read":
			err = sys.ReadFile(a)
		case "list":
			err = sys.List(a)
		case "write":
			err = sys.WriteFile(a, b)
		case "append":
			err = sys.Append(a, b)
		case "mkdir":
			err = sys.Mkdir(a)
		case "chmod":
			err = sys.Chmod(a)
		case "remove":
			err = sys.Remove(a)
		case "rmdir":
			err = sys.Rmdir(a)
		case "rename":
			err = sys.Rename(a, b)
		case "start":
			err = sys.Start(a)
		case "dial":
			err = sys.Dial(a, b)
		case "echo":
			err = sys.Echo(a, int64(number(b)))
		case "fan":
			result = strconv.Itoa(sys.Fan(a, number(b)))
		case "resolve":
			err = sys.Resolve(a)
		case "own":
			err = sys.Own()
		case "environ":
			result = fmt.Sprintf("%q", sys.Environ())
		case "stdin":
			var in []byte
			in, err = sys.Stdin()
			result = fmt.Sprintf("%q", in)
		case "children":
			result = strconv.Itoa(sys.Children(number(a)))
		case "below":
			result, err = sys.Below(rest)
		case "take":
			err = sys.Take(int64(number(a)))
		case "sleep":
			sys.Sleep(time.Duration(number(a)) * time.Millisecond)
		case "daemon":
			err = sys.Daemon(a)
		case "orphan":
			sys.Orphan(a)
		case "crash":
			sys.Crash()
		case "out", "err":
			done = true
			w := stdout
			if verb == "err" {
				w = stderr
			}
			flood(w, number(a))
		case "exit":
			return number(a)
		default:
			_, _ = fmt.Fprintf(stderr, "unknown verb %q\n", v)
			return 127
		}
		if err != nil {
			result = class(err)
		}
		if !done {
			_, _ = fmt.Fprintf(stdout, "%s%s%s\n", v, arrow, result)
		}
	}
	return 0
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic("sandboxtest: not a number: " + text)
	}
	return n
}

func flood(w io.Writer, n int) {
	block := bytes.Repeat([]byte("0123456789abcdef"), 4096)
	for n > 0 {
		k := min(n, len(block))
		if _, err := w.Write(block[:k]); err != nil {
			return
		}
		n -= k
	}
}

// class puts an error into one of the words that the suite expects.
func class(err error) string {
	switch text := err.Error(); {
	case errors.As(err, new(*net.DNSError)):
		return "unknown name"
	case errors.Is(err, ErrRefused), strings.Contains(text, "connection refused"), strings.Contains(text, "actively refused"):
		return "refused"
	case errors.Is(err, ErrUnreachable), strings.Contains(text, "unreachable"), strings.Contains(text, "no route"):
		return "unreachable"
	case errors.Is(err, fs.ErrPermission), strings.Contains(text, "read-only file system"), strings.Contains(text, "forbidden by its access permissions"):
		return "denied"
	case errors.Is(err, fs.ErrNotExist):
		return "missing"
	case strings.Contains(text, "resource busy"), strings.Contains(text, "being used by another process"):
		return "busy"
	case strings.Contains(text, "cross-device"):
		return "other device"
	case strings.Contains(text, "not empty"):
		return "not empty"
	default:
		return text
	}
}

// Errors that a simulated System gives for what a kernel says of a connection; a name that does not resolve is a
// *net.DNSError.
var (
	ErrRefused     = errors.New("nobody listens there")
	ErrUnreachable = errors.New("no way leads there")
)

type realSystem struct{}

func (realSystem) ReadFile(path string) error { _, err := os.ReadFile(path); return err }
func (realSystem) List(path string) error     { _, err := os.ReadDir(path); return err }
func (realSystem) WriteFile(path, content string) error {
	return os.WriteFile(path, []byte(content), 0o600)
}

func (realSystem) Append(path, content string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	return errors.Join(err, f.Close())
}

func (realSystem) Mkdir(path string) error      { return os.Mkdir(path, 0o700) }
func (realSystem) Chmod(path string) error      { return os.Chmod(path, 0o755) }
func (realSystem) Rename(from, to string) error { return os.Rename(from, to) }

func (realSystem) Remove(path string) error {
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		return errors.New("is a directory")
	}
	return os.Remove(path)
}

func (realSystem) Rmdir(path string) error {
	if info, err := os.Lstat(path); err == nil && !info.IsDir() {
		return errors.New("not a directory")
	}
	return os.Remove(path)
}

func (realSystem) Start(path string) error {
	err := exec.Command(path).Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return fmt.Errorf("ended with %d", exit.ExitCode())
	}
	return err
}

func (realSystem) Dial(network, address string) error {
	c, err := net.DialTimeout(network, address, 2*time.Second)
	if err == nil {
		_ = c.Close()
	}
	return err
}

func (realSystem) Environ() []string      { return os.Environ() }
func (realSystem) Stdin() ([]byte, error) { return io.ReadAll(os.Stdin) }
func (realSystem) Sleep(d time.Duration)  { time.Sleep(d) }

// self starts the probe again.
func self(verbs ...string) *exec.Cmd {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return &exec.Cmd{Path: path, Args: append([]string{ProbeName}, verbs...)}
}

func (realSystem) Children(n int) (started int) {
	var all []*exec.Cmd
	for range n {
		c := self("sleep|60000")
		if c.Start() == nil {
			all = append(all, c)
		} else {
			time.Sleep(10 * time.Millisecond) // at the limit an adapter may refuse for a moment what fits
		}
	}
	for _, c := range all {
		_ = c.Process.Kill()
		_ = c.Wait()
	}
	return len(all)
}

func (realSystem) Below(verb string) (string, error) {
	out, err := self(verb).Output()
	if err != nil {
		return "", err
	}
	_, result, _ := strings.Cut(strings.TrimSuffix(string(out), "\n"), arrow)
	return result, nil
}

func (realSystem) Take(n int64) error {
	const block = 1 << 20
	var held [][]byte
	for ; n > 0; n -= block {
		b := make([]byte, block)
		for i := 0; i < block; i += 4096 {
			b[i] = 1
		}
		held = append(held, b)
		if len(held)%8 == 0 {
			time.Sleep(time.Millisecond)
		}
	}
	time.Sleep(200 * time.Millisecond)
	_ = held
	return nil
}
