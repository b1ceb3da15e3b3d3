package linux

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/agent-mcp/agent-mcp/adapters/sandbox/linux/internal/filter"
	"github.com/agent-mcp/agent-mcp/adapters/sandbox/linux/internal/kernel"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// RunHelperIfAsked turns this process into the sandbox's PID 1 when a Sandbox started it as such, and never returns
// then. main and TestMain call it before anything else; in every other process it does nothing.
func RunHelperIfAsked() {
	if len(os.Args) == 0 || os.Args[0] != helperName {
		return
	}
	if len(os.Args) > 1 { // holds a user namespace open until it is killed
		var b [1]byte
		_, _ = os.Stdin.Read(b[:])
		os.Exit(0)
	}
	runtime.LockOSThread()
	debug.SetGCPercent(-1) // nothing below allocates in a loop; the runtime must not need threads or memory once limits bind
	runtime.GOMAXPROCS(4)  // the confined thread keeps its P while it waits for the answer to its own fork
	h := helper{ctl: 3, entryDir: "/.entry"}
	if err := h.run(); err != nil {
		h.fail(err)
	}
	os.Exit(1)
}

// helper is PID 1 of one sandbox.
type helper struct {
	ctl   int
	setup setup
	order order
	old   int // the host's root, until the private one is entered
	root  int // the private root
	proc  int
	shm   int
	tmp   int
	entry int
	files [3]int // stdin, stdout, stderr of the program

	listeners int // made for the Broker

	entryDir string     // where the name lies that leads to the entry's descriptor
	reaping  sync.Mutex // level 1: held while children are reaped or killed
	ending   atomic.Bool
	orphan   atomic.Bool // the Broker is gone: abandoned ends the process
}

// stepError is a failed step with its code; what the Broker gets to know.
type stepError struct {
	step string
	code fault.Code
	args map[string]string
	err  error
}

func (e *stepError) Error() string { return e.step + ": " + e.err.Error() }
func (e *stepError) Unwrap() error { return e.err }

func step(name string, err error) error {
	if err == nil {
		return nil
	}
	return &stepError{step: name, code: sandbox.CodeUnavailable, err: err, args: map[string]string{"detail": name + ": " + err.Error()}}
}

func stepCode(name string, err error, code fault.Code, kv ...string) error {
	if err == nil {
		return nil
	}
	args := map[string]string{}
	for i := 0; i+1 < len(kv); i += 2 {
		args[kv[i]] = kv[i+1]
	}
	return &stepError{step: name, code: code, err: err, args: args}
}

func (h *helper) send(r reply) {
	if b, err := json.Marshal(r); err == nil {
		_ = kernel.Send(h.ctl, b)
	}
}

func (h *helper) fail(err error) {
	r := reply{Kind: kindFailed, Code: sandbox.CodeUnavailable, Args: map[string]string{"detail": err.Error()}}
	var s *stepError
	if errors.As(err, &s) {
		r.Step, r.Code, r.Args = s.step, s.code, s.args
	}
	h.send(r)
}

func (h *helper) run() error {
	kernel.DefaultSignals()
	if err := step("hide", kernel.Hide()); err != nil {
		return err
	}
	buf := make([]byte, 64<<10)
	n, _, err := kernel.Receive(h.ctl, buf)
	if err != nil || n == 0 {
		os.Exit(0) // the Broker is gone
	}
	if err := step("setup", json.Unmarshal(buf[:n], &h.setup)); err != nil {
		return err
	}
	if err := h.prepare(); err != nil {
		return err
	}
	h.send(reply{Kind: kindReady})
	mounts, err := h.receive(buf)
	if err != nil {
		return err
	}
	if err := h.build(mounts); err != nil {
		return err
	}
	return h.start()
}

// receive waits for the order. A Broker that goes away is the end, not an error.
func (h *helper) receive(buf []byte) (mounts []int, err error) {
	n, fds, err := kernel.Receive(h.ctl, buf)
	if err != nil || n == 0 || len(fds) != 4 {
		os.Exit(0)
	}
	f := os.NewFile(uintptr(fds[0]), "order")
	info, err := f.Stat()
	if err != nil {
		return nil, step("order", err)
	}
	text := make([]byte, info.Size())
	if _, err = f.ReadAt(text, 0); err == nil {
		err = h.order.unmarshal(text)
	}
	_ = f.Close()
	copy(h.files[:], fds[1:])
	for err == nil && len(mounts) < h.order.Mounts {
		if n, fds, err = kernel.Receive(h.ctl, buf); n == 0 {
			os.Exit(0)
		}
		mounts = append(mounts, fds...)
	}
	return mounts, step("order", err)
}

// prepare builds what every run shares: the private root with the runtime, /dev and /proc.
func (h *helper) prepare() (err error) {
	if h.shared() {
		return h.prepareShared()
	}
	if h.old, err = kernel.OpenPath(kernel.CurrentRoot, "/"); err != nil {
		return step("open root", err)
	}
	if h.root, err = kernel.NewFS("tmpfs", kernel.NoDev, kernel.Option{Key: "mode", Value: "755"}, kernel.Option{Key: "size", Value: "4m"}); err != nil {
		return step("mount tmpfs", err)
	}
	if h.proc, err = kernel.NewFS("proc", kernel.NoDev|kernel.NoExec); err != nil {
		return step("mount proc", err)
	}
	// The private root hides the host's /proc in this namespace: no root, and nothing of the runtime, lies there.
	place, err := kernel.OpenPath(h.old, "/proc")
	if err == nil {
		err = kernel.Attach(h.root, place)
		kernel.Close(place)
	}
	if err != nil {
		return step("attach root", err)
	}
	if err := h.attach(h.proc, "/proc", true); err != nil {
		return step("attach proc", err)
	}
	if err := h.mask("/proc/keys", "/proc/key-users"); err != nil {
		return step("mask proc", err)
	}
	for _, b := range h.setup.Baseline {
		if err := h.runtime(b); err != nil {
			return step("runtime "+b.Path, err)
		}
	}
	return step("devices", h.devices())
}

func (h *helper) runtime(b baseItem) error {
	if b.Link != "" {
		dir, err := h.parent(b.Path)
		if err != nil {
			return err
		}
		defer kernel.Close(dir)
		return kernel.MakeLink(dir, b.Link, filepath.Base(b.Path))
	}
	attr := mountAttr{ReadOnly: true, NoExec: !b.Exec}
	fd, err := kernel.OpenPath(h.old, b.Path)
	if err != nil {
		return err
	}
	return h.bind(fd, b.Path, attr, b.Dir)
}

// bind clones the tree at an open place and attaches it at path. It owns fd.
func (h *helper) bind(fd int, path string, attr mountAttr, dir bool) error {
	defer kernel.Close(fd)
	tree, err := cloned(fd, attr)
	if err != nil {
		return err
	}
	defer kernel.Close(tree)
	return h.attach(tree, path, dir)
}

// cloned is a detached copy of the tree at an open place, with its attributes.
func cloned(fd int, attr mountAttr) (int, error) {
	tree, err := kernel.CloneTree(fd)
	if err != nil {
		return -1, err
	}
	if err := kernel.SetAttr(tree, attr.kernel()|kernel.NoDev, -1); err != nil {
		kernel.Close(tree)
		return -1, err
	}
	return tree, nil
}

func (a mountAttr) kernel() (k kernel.Attr) {
	if a.ReadOnly {
		k |= kernel.ReadOnly
	}
	if a.NoExec {
		k |= kernel.NoExec
	}
	return k
}

// attach puts a detached tree at path in the private root, where a place is made if there is none.
func (h *helper) attach(tree int, path string, dir bool) error {
	place, err := kernel.OpenPath(h.root, path)
	if errors.Is(err, syscall.ENOENT) {
		if err = h.place(path, dir); err == nil {
			place, err = kernel.OpenPath(h.root, path)
		}
	}
	if err != nil {
		return err
	}
	defer kernel.Close(place)
	return kernel.Attach(tree, place)
}

// place makes an empty directory or file to mount on.
func (h *helper) place(path string, dir bool) error {
	parent, err := h.parent(path)
	if err != nil {
		return err
	}
	defer kernel.Close(parent)
	if dir {
		return kernel.MakeDir(parent, filepath.Base(path), 0o755)
	}
	return kernel.MakeFile(parent, filepath.Base(path), "")
}

// parent opens the directory of path in the private root and makes what is missing on the way, but never outside the
// private file system: nothing is created in a user's root.
func (h *helper) parent(path string) (int, error) {
	own, err := kernel.Stat(h.root)
	if err != nil {
		return -1, err
	}
	at, done := h.root, ""
	for _, name := range strings.Split(strings.TrimPrefix(filepath.Dir(path), "/"), "/") {
		if name == "" {
			break
		}
		done += "/" + name
		next, err := kernel.OpenPath(h.root, done)
		if errors.Is(err, syscall.ENOENT) {
			where, serr := kernel.Stat(at)
			if serr != nil || where.Dev != own.Dev {
				err = syscall.ENOENT
			} else if err = kernel.MakeDir(at, name, 0o755); err == nil {
				next, err = kernel.OpenPath(h.root, done)
			}
		}
		if at != h.root {
			kernel.Close(at)
		}
		if err != nil {
			return -1, fmt.Errorf("%s: %w", done, err)
		}
		at = next
	}
	where, err := kernel.Stat(at)
	if err == nil && where.Dev != own.Dev {
		err = syscall.ENOENT
	}
	if at == h.root {
		at, err = kernel.OpenPath(h.root, "/")
	}
	return at, err
}

func (h *helper) devices() error {
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		fd, err := kernel.OpenPath(h.old, "/dev/"+name)
		if name == "tty" && errors.Is(err, syscall.ENOENT) {
			continue // a container without one
		}
		if err != nil {
			return err
		}
		tree, err := kernel.CloneTree(fd)
		kernel.Close(fd)
		if err != nil {
			return err
		}
		if err = kernel.SetAttr(tree, kernel.NoExec, -1); err == nil {
			err = h.attach(tree, "/dev/"+name, false)
		}
		kernel.Close(tree)
		if err != nil {
			return err
		}
	}
	pts, err := kernel.NewFS("devpts", kernel.NoExec, kernel.Option{Key: "newinstance"}, kernel.Option{Key: "mode", Value: "0620"}, kernel.Option{Key: "max", Value: "256"}, kernel.Option{Key: "ptmxmode", Value: "0666"})
	if err != nil {
		return err
	}
	if err := h.attach(pts, "/dev/pts", true); err != nil {
		return err
	}
	kernel.Close(pts)
	if h.shm, err = kernel.NewFS("tmpfs", kernel.NoDev|kernel.NoExec, kernel.Option{Key: "mode", Value: "1777"}); err != nil {
		return err
	}
	if err := h.attach(h.shm, "/dev/shm", true); err != nil {
		return err
	}
	dev, err := kernel.OpenPath(h.root, "/dev")
	if err != nil {
		return err
	}
	defer kernel.Close(dev)
	// /dev/tty is the controlling terminal: there is none (ENXIO) but for what runs in a pty made inside.
	for _, l := range [][2]string{{"ptmx", "pts/ptmx"}, {"fd", "/proc/self/fd"}, {"stdin", "/proc/self/fd/0"}, {"stdout", "/proc/self/fd/1"}, {"stderr", "/proc/self/fd/2"}} {
		if err := kernel.MakeLink(dev, l[1], l[0]); err != nil {
			return err
		}
	}
	return nil
}

// account makes getpwuid work without telling of the host's accounts.
func (h *helper) account() error {
	dir, err := h.parent("/etc/passwd")
	if err != nil {
		return err
	}
	defer kernel.Close(dir)
	uid, gid := strconv.Itoa(h.setup.UID), strconv.Itoa(h.setup.GID)
	for _, f := range [][2]string{
		{"passwd", "agent:x:" + uid + ":" + gid + ":agent:" + h.order.Tmp + ":/bin/sh\n"},
		{"group", "agent:x:" + gid + ":\n"},
		{"hosts", "127.0.0.1 localhost\n::1 localhost\n" + h.order.Network.Hosts},
	} {
		if err := kernel.MakeFile(dir, f[0], f[1]); err != nil {
			return err
		}
	}
	return nil
}

// program assembles the seccomp filter for this run.
func (h *helper) program() ([]filter.Insn, error) {
	inet := len(h.order.Network.Listen) > 0
	if h.shared() { // no limit of the kernel counts this tree alone
		return filter.Build(h.setup.Arch, filter.Options{CountForks: true, Shared: true, NoSetGID: true, Tell: true})
	}
	return filter.Build(h.setup.Arch, filter.Options{CountThreads: true, NoSetGID: h.setup.KeepDAC, Tell: true, Inet: inet, Connects: inet})
}
