package linux

import (
	"errors"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/agent-mcp/agent-mcp/adapters/sandbox/linux/internal/filter"
	"github.com/agent-mcp/agent-mcp/adapters/sandbox/linux/internal/kernel"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// Tasks are threads and processes. RLIMIT_NPROC counts tasks: its hard limit is the wall for all of them, its soft limit
// the one for processes (births_linux.go).
const (
	tasksPerProcess = 64
	ownTasks        = 32 // room for the helper's own threads

	// Each descriptor of a process may hold kernel memory that nobody counts: half a pipe at least fileBytes, when its user
	// has many. All of them together stay below the limit, but no program works with less than leastFiles.
	mostFiles, leastFiles, fileBytes = 16384, 1024, 4096
)

// start confines a second thread, forks the entry from it, and watches until nothing is left. It returns only when the
// entry did not start.
func (h *helper) start() error {
	o := &h.order
	if err := step("descriptors", kernel.CloseOnExecFrom(3)); err != nil {
		return err
	}
	tree, err := h.newTree()
	if err != nil {
		return step("watch", err)
	}
	tree.Listeners(h.listeners)
	rules, err := h.rules()
	if err != nil {
		return err
	}
	program, err := h.program()
	if err != nil {
		return step("filter", err)
	}
	w := &watcher{tree: tree, h: h, seen: newSeen()}
	if w.connects, err = newConnects(w); err != nil {
		return step("listeners", err)
	}
	if w.refusals, err = filter.NewRefusals(h.setup.Arch, w.connects != nil); err != nil {
		return step("filter", err)
	}
	pids, errs, listeners := make(chan int, 1), make(chan error, 1), make(chan int, 1)
	// Landlock, seccomp and capabilities are per thread. The main thread, at which signal and ptrace checks look, stays
	// outside the domain; the runtime never gives the confined thread other work.
	go func() {
		runtime.LockOSThread()
		err := h.confine(rules, program, listeners)
		if err == nil {
			var pid int
			if pid, err = h.fork(); err == nil {
				pids <- pid
				select {}
			}
		}
		errs <- err
		select {}
	}()
	select {
	case w.listener = <-listeners:
	case err := <-errs:
		return err
	}
	go w.watch()
	select {
	case err := <-errs:
		return err
	case pid := <-pids:
		w.entry.Store(int32(pid))
		return h.wait(pid, w, o)
	}
}

func (h *helper) fork() (int, error) {
	o := &h.order
	files := []uintptr{uintptr(h.files[0]), uintptr(h.files[1]), uintptr(h.files[2])}
	if o.Entry.Script && !o.Entry.ByPath {
		files = append(files, uintptr(h.entry))
	}
	sys := &syscall.SysProcAttr{Setsid: true}
	if h.shared() {
		sys.Pdeathsig = syscall.SIGKILL // it is not PID 1's end that ends it
	}
	pid, err := syscall.ForkExec(h.entryName(), append([]string{o.Entry.Name}, o.Args...), &syscall.ProcAttr{
		Env: o.Env, Files: files, Sys: sys,
	})
	if err != nil {
		return 0, stepCode("exec", err, sandbox.CodeEntryFailed, "path", o.Entry.Path, "detail", err.Error())
	}
	for _, f := range h.files {
		kernel.Close(f)
	}
	return pid, nil
}

// limit binds the entry, and by inheritance all it starts, but not this process, whose runtime must never fail for want
// of a thread. No fork is answered before, so that nothing can be born without the limits.
func (h *helper) limit(entry int) error {
	files := uint64(min(max(h.order.Memory/fileBytes/int64(h.order.Processes), leastFiles), mostFiles))
	tasks := uint64(h.order.Processes)*tasksPerProcess + uint64(kernel.OwnThreads(h.proc)) + ownTasks
	for _, l := range []struct {
		what int
		max  uint64
	}{
		{kernel.LimitCore, 1}, // 0 would not keep a dump from a handler that core_pattern names: core(5)
		{kernel.LimitTasks, tasks}, {kernel.LimitData, uint64(h.order.Memory)}, {kernel.LimitFiles, files},
	} {
		if l.what == kernel.LimitData && h.order.Cgroup {
			continue // what is mapped but not used costs nothing
		}
		if h.shared() && l.what == kernel.LimitTasks {
			continue // it would count the user's other processes too: threads are asked for
		}
		if err := kernel.Limit(entry, l.what, l.max); err != nil && !errors.Is(err, syscall.ESRCH) {
			return step("limit", err)
		}
	}
	return nil
}

// wait reaps until the entry is gone, kills what it left, and answers.
func (h *helper) wait(entry int, w *watcher, o *order) error {
	err := h.sameEntry(h.entry)
	if err == nil {
		err = h.sameInterpreters(kernel.CurrentRoot)
	}
	if err != nil {
		h.killAll()
		return err
	}
	if !w.limited.Load() {
		if err := h.limit(entry); err != nil {
			h.killAll()
			return err
		}
		w.limited.Store(true)
	}
	h.send(reply{Kind: kindStarted})
	for {
		var ws syscall.WaitStatus
		pid, err := h.reap(&ws)
		if errors.Is(err, syscall.ECHILD) {
			break
		}
		if pid != entry || !ws.Exited() && !ws.Signaled() {
			continue
		}
		h.killAll()
		r := reply{Kind: kindDone, OOM: w.oom.Load(), Denials: w.seen.denials()}
		if ws.Signaled() {
			r.Signal = int(ws.Signal())
		} else {
			r.Exit = ws.ExitStatus()
		}
		h.send(r)
		break
	}
	if h.orphan.Load() {
		select {}
	}
	os.Exit(0)
	return nil
}

// watcher answers forks and looks at memory.
type watcher struct {
	h        *helper
	tree     *kernel.Tree
	listener int
	entry    atomic.Int32
	limited  atomic.Bool
	oom      atomic.Bool
	first    bool      // the entry's own fork was answered
	shared   int64     // bytes of shared anonymous memory granted
	granted  [64]grant // forks that were allowed and whose child was not seen yet
	known    []int32
	connects *connects // nil without a network
	refusals *filter.Refusals
	seen     *seen
	births   births

	tasks, threads int // level 1: of the last look, and allowed since
}

type grant struct {
	tid int32
	at  time.Time
}

func (w *watcher) watch() {
	w.known = make([]int32, 0, 4096)
	w.births.counted = make([]threads, 0, 4096)
	every := w.h.setup.Poll
	if w.h.order.Cgroup {
		every = time.Second
	}
	last := time.Now()
	for {
		asked, told, gone := kernel.Wait(w.listener, w.h.ctl, int(w.births.wait(every)/time.Millisecond))
		if gone { // PDEATHSIG's twin: without a Broker there is no run
			w.h.abandoned()
		}
		if w.h.ending.Load() {
			kernel.Nap(time.Millisecond)
			continue
		}
		if asked {
			if q, ok := kernel.Ask(w.listener); ok {
				w.answer(q)
			}
		}
		if w.connects != nil {
			if told {
				w.connects.told()
			}
			w.connects.tick(time.Now())
		}
		if now := time.Now(); now.Sub(last) >= every {
			last = now
			w.memory()
		}
		w.births.look(w)
	}
}

func (w *watcher) memory() {
	if w.h.order.Cgroup {
		return
	}
	w.tree.Scan()
	sum := w.tree.Memory()
	if w.h.shared() { // System V objects and private file systems do not exist
		w.tasks, w.threads = w.tree.Tasks(), 0
	} else {
		sum += kernel.UsedBytes(w.h.tmp) + kernel.UsedBytes(w.h.shm) + kernel.SysVMemory() + w.tree.SocketMemory()
	}
	if sum > w.h.order.Memory && w.entry.Load() != 0 {
		w.oom.Store(true)
		w.h.killNow(w.tree)
	}
}

// mayShare decides on more shared anonymous memory. Its pages outlive their mappings, where nothing shows them, so what was
// granted counts until no process maps any. It is then at most as much again as the limit.
func (w *watcher) mayShare(size int64) bool {
	if w.h.order.Cgroup {
		return true
	}
	if size > w.h.order.Memory-w.shared {
		if w.tree.Scan(); w.shared > 0 && !w.tree.HasSharedAnon() {
			w.shared = 0
		}
	}
	if size > w.h.order.Memory-w.shared {
		return false
	}
	w.shared += size
	return true
}

// mayFork decides on one more process. Live processes count, and so do forks that were allowed but whose child did not
// show up yet; near the limit it waits a little to see how those came out.
func (w *watcher) mayFork(tid int32) bool {
	for w.first && !w.limited.Load() {
		kernel.Nap(20 * time.Microsecond)
	}
	w.first = true
	w.settle(tid)
	for try := 0; ; try++ {
		if w.count() < w.h.order.Processes {
			w.remember(tid)
			return true
		}
		if w.pending() == 0 || try == 40 {
			return false
		}
		kernel.Nap(500 * time.Microsecond)
		for i := range w.granted {
			if g := &w.granted[i]; g.tid != 0 && w.tree.Asleep(g.tid) {
				g.tid = 0
			}
		}
	}
}

// count scans, matches new processes with grants, and returns live plus expected processes.
func (w *watcher) count() int {
	w.tree.Scan()
	fresh, i := 0, 0
	for _, pid := range w.tree.Pids {
		for i < len(w.known) && w.known[i] < pid {
			i++
		}
		if i == len(w.known) || w.known[i] != pid {
			fresh++
		}
	}
	w.known = append(w.known[:0], w.tree.Pids...)
	for i := range w.granted {
		if fresh > 0 && w.granted[i].tid != 0 {
			w.granted[i].tid = 0
			fresh--
		}
	}
	return len(w.tree.Pids) + w.pending()
}
