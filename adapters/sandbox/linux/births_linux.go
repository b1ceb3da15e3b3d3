package linux

import (
	"syscall"
	"time"

	"github.com/agent-mcp/agent-mcp/adapters/sandbox/linux/internal/kernel"
)

// births keeps the number of processes within the limit (RES-01) without asking at fork(2), where a signal would make the
// call fail with EINTR in programs that do not restart it. The kernel refuses tasks beyond the soft RLIMIT_NPROC of the
// forking process, which counts processes and threads of this user namespace alike, this process's own threads included.
// So the soft limit of every process is
//
//	processes allowed + own threads + threads beyond the first of each process
//
// and grows by one before each thread is made, which the listener asks for. Threads that end without a word make it too
// high until the next look, which lowers it and ends processes, the newest first, that slipped in meanwhile.
type births struct {
	own     int       // threads of this process
	extra   int       // threads beyond the first of each process: never fewer than there are
	set     int       // the soft limit the processes were given last
	pending [64]grant // threads that were allowed and may not be there yet
}

// mayStart binds the entry to its limits when it asks for its own session, which is before it runs.
func (w *watcher) mayStart(tid int32) bool {
	if w.limited.Load() {
		return true
	}
	b := &w.births
	b.own = kernel.OwnThreads(w.h.proc)
	if err := w.h.limit(int(tid)); err != nil {
		return false // its start fails with this answer
	}
	b.set = w.h.order.Processes + b.own
	if err := kernel.SoftLimit(int(tid), kernel.LimitTasks, uint64(b.set)); err != nil {
		return false
	}
	w.limited.Store(true)
	return true
}

// mayThread makes room for one more thread, up to the wall that the hard limit is.
func (b *births) mayThread(w *watcher, tid int32) bool {
	for i := range b.pending { // a thread that asks again is through with the last one
		if b.pending[i].tid == tid {
			b.pending[i].tid = 0
		}
	}
	if w.h.order.Processes+b.extra >= w.h.order.Processes*tasksPerProcess {
		w.tree.Scan()
		if b.measure(w); w.h.order.Processes+b.extra >= w.h.order.Processes*tasksPerProcess {
			return false
		}
	}
	b.extra++
	b.note(tid)
	w.tree.Scan()
	b.apply(w)
	return true
}

func (b *births) note(tid int32) {
	oldest := 0
	for i := range b.pending {
		if b.pending[i].tid == 0 {
			oldest = i
			break
		}
		if b.pending[i].at.Before(b.pending[oldest].at) {
			oldest = i
		}
	}
	b.pending[oldest] = grant{tid: tid, at: time.Now()}
}

// look lowers the limits when threads are gone, and raises those of processes that were born while they rose.
func (b *births) look(w *watcher) {
	if !w.limited.Load() {
		return
	}
	own := kernel.OwnThreads(w.h.proc)
	if b.extra == 0 && own == b.own {
		return
	}
	b.own = own
	w.tree.Scan()
	b.measure(w)
	b.apply(w)
	for i := len(w.tree.Pids) - 1; i >= w.h.order.Processes; i-- {
		_ = syscall.Kill(int(w.tree.Pids[i]), syscall.SIGKILL)
	}
}

// measure counts the threads there are. Those that were allowed count until their maker went on to sleep or a second has
// passed, so that none is refused for being slow.
func (b *births) measure(w *watcher) {
	n := w.tree.ExtraThreads()
	for i := range b.pending {
		g := &b.pending[i]
		if g.tid != 0 && (time.Since(g.at) > time.Second || w.tree.Asleep(g.tid)) {
			g.tid = 0
		}
		if g.tid != 0 {
			n++
		}
	}
	b.extra = min(b.extra, n)
}

// apply gives every process of the last scan the limit.
func (b *births) apply(w *watcher) {
	b.set = w.h.order.Processes + b.own + b.extra
	for _, pid := range w.tree.Pids {
		_ = kernel.SoftLimit(int(pid), kernel.LimitTasks, uint64(b.set)) // it may be gone
	}
}

// answer decides on a call that waits.
func (w *watcher) answer(q kernel.Question) {
	if size := q.Map(); size > 0 {
		kernel.Answer(w.listener, q, errno(w.mayShare(size), syscall.ENOMEM))
		return
	}
	if id, group := q.Schedules(); id != 0 { // never this process, which has the same user and leads the first group
		own := group && id == 1 || !group && w.tree.Own(id)
		kernel.Answer(w.listener, q, errno(!own, syscall.EPERM))
		return
	}
	if q.Connect() && w.connects != nil {
		w.connects.asked(q)
		return
	}
	if kind, no, refused := w.refusals.Of(q.NR, q.Args); refused {
		w.seen.call(kind)
		kernel.Answer(w.listener, q, no)
		return
	}
	allowed := false
	switch {
	case q.Session():
		allowed = w.mayStart(q.TID)
	case q.Thread():
		allowed = w.births.mayThread(w, q.TID)
	default:
		allowed = w.mayFork(q.TID)
	}
	kernel.Answer(w.listener, q, errno(allowed, syscall.EAGAIN))
}

func errno(allowed bool, otherwise syscall.Errno) uint32 {
	if allowed {
		return 0
	}
	return uint32(otherwise)
}
