package linux

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/agent-mcp/agent-mcp/adapters/sandbox/linux/internal/kernel"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// The helper at level 1. It shares the host's namespaces, and is the reaper of all that the entry starts.

// shared reports level 1.
func (h *helper) shared() bool { return h.setup.Level == sandbox.L1 }

// prepareShared finds out whether the host lets this level work.
func (h *helper) prepareShared() (err error) {
	h.root = kernel.CurrentRoot
	if h.proc, err = kernel.OpenPath(kernel.CurrentRoot, "/proc"); err != nil {
		return step("open proc", err)
	}
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		return step("open proc", err)
	}
	if err := step("reaper", kernel.Subreaper()); err != nil {
		return err
	}
	failed := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with its filter
		failed <- kernel.TryListener()
	}()
	return step("seccomp", <-failed)
}

// buildShared checks that the places are those the Broker saw, and lets the helper outlive its Broker, so that it can end
// what it started.
func (h *helper) buildShared() error {
	o := &h.order
	for _, b := range o.Binds {
		fd, err := b.open(kernel.CurrentRoot)
		if err == nil {
			var seen kernel.Identity
			if seen, err = kernel.Stat(fd); err == nil && (seen.Dev != b.Dev || seen.Ino != b.Ino) {
				err = errOther
			}
			kernel.Close(fd)
		}
		if err != nil {
			return stepCode("root", err, sandbox.CodeRootChanged, "path", b.Path)
		}
	}
	h.entryDir = filepath.Join(o.Scratch, scratchEntry)
	if err := h.openEntry(); err != nil {
		return err
	}
	if err := stepCode("directory", syscall.Chdir(o.Dir), sandbox.CodeRootChanged, "path", o.Dir); err != nil {
		return err
	}
	return step("survive", kernel.SurviveParent())
}

// reap waits for the next child that ends.
func (h *helper) reap(ws *syscall.WaitStatus) (int, error) {
	if !h.shared() {
		return syscall.Wait4(-1, ws, 0, nil)
	}
	for {
		if err := kernel.AwaitEnd(); err != nil {
			return 0, err
		}
		h.reaping.Lock() // see kernel.Tree.KillChildren
		pid, err := syscall.Wait4(-1, ws, syscall.WNOHANG, nil)
		h.reaping.Unlock()
		if pid != 0 || err != nil {
			return pid, err
		}
	}
}

// killAll ends every process of the tree and reaps it.
func (h *helper) killAll() {
	if !h.shared() {
		kernel.KillAll()
		return
	}
	h.ending.Store(true) // no question is answered any more: nothing new can be born
	tree, err := h.newTree()
	for {
		h.reaping.Lock()
		if err == nil {
			tree.Scan()
			tree.KillChildren() // their children become this process's
		}
		for {
			pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
			if err == syscall.ECHILD {
				h.reaping.Unlock()
				return
			}
			if pid == 0 {
				break
			}
		}
		h.reaping.Unlock()
		kernel.Nap(200 * time.Microsecond)
	}
}

// killNow begins to end the tree, and leaves it to wait to finish.
func (h *helper) killNow(tree *kernel.Tree) {
	if !h.shared() {
		_ = syscall.Kill(-1, syscall.SIGKILL)
		return
	}
	h.ending.Store(true)
	h.reaping.Lock()
	defer h.reaping.Unlock()
	tree.KillChildren()
}

// abandoned ends a run whose Broker is gone.
func (h *helper) abandoned() {
	if h.shared() {
		h.orphan.Store(true)
		h.killAll()
		_ = removeTree(h.order.Scratch)
	}
	os.Exit(0)
}

func (h *helper) newTree() (*kernel.Tree, error) {
	tree, err := kernel.NewTree(h.proc)
	if err == nil && h.shared() {
		tree.Only(os.Getpid())
	}
	return tree, err
}

// mayThread decides on one more thread: at level 1 no limit of the kernel counts this tree's tasks alone. Threads that were
// allowed since the last look count as born.
func (w *watcher) mayThread() bool {
	most := w.h.order.Processes * tasksPerProcess
	if w.tasks+w.threads >= most {
		w.tree.Scan()
		w.tasks, w.threads = w.tree.Tasks(), 0
	}
	if w.tasks+w.threads >= most {
		return false
	}
	w.threads++
	return true
}

// removeTree removes a directory of ours with its content, whatever modes a program gave to directories in it. Nobody uses
// it any more.
func removeTree(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil || !errors.Is(err, os.ErrPermission) {
		return err
	}
	_ = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil && strings.HasPrefix(path, dir) && os.Chmod(path, 0o700) == nil { // it could not be listed
			return removeTree(path)
		}
		if e != nil && e.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}
