package linux

import (
	"syscall"
	"time"

	"github.com/agent-mcp/agent-mcp/adapters/sandbox/linux/internal/kernel"
)

// births keeps the number of processes within the limit (RES-01) without asking at fork(2), where a signal would make the
// call fail with EINTR in programs that do not restart it. The kernel refuses tasks beyond the soft RLIMIT_NPROC of the
// process that makes them. It counts processes and threads of this user namespace alike, this process's own threads
// included. So the soft limit of every process is
//
//	processes allowed + own threads + threads beyond the first of each process
//
// The listener asks for threads: the limit grows by one for the process that makes one, and for the others when the
// thread is there, so that their forks cannot take its place. At the limit itself a fork may thus be refused that a moment
// later would not. Threads that end without a word leave it too high until the next look, which lowers it and ends
// processes, the newest first, that slipped in meanwhile.
type births struct {
	own     int // threads of this process
	extra   int // threads beyond the first of each process, as last counted
	pending [64]pendingThread
	waiting int // pending threads
	looked  time.Time
	started time.Time
}

// pendingThread was allowed and is not there yet.
type pendingThread struct {
	leader int32 // its process; 0 for none
	before int   // threads of the process before
	at     time.Time
}

const countEvery = 10 * time.Millisecond

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
	if err := kernel.SoftLimit(int(tid), kernel.LimitTasks, uint64(w.h.order.Processes+b.own)); err != nil {
		return false
	}
	b.started = time.Now()
	w.limited.Store(true)
	return true
}

// thread makes room for one more thread, up to the wall that the hard limit is, and waits a little until it is there.
func (b *births) thread(w *watcher, q kernel.Question) {
	leader, before := w.tree.Threads(q.TID)
	slot := b.free()
	if leader == 0 || slot == nil || w.h.order.Processes+b.extra+b.waiting >= w.h.order.Processes*tasksPerProcess {
		b.count(w)
		kernel.Answer(w.listener, q, uint32(syscall.EAGAIN))
		return
	}
	*slot = pendingThread{leader: leader, before: before, at: time.Now()}
	b.waiting++
	b.set(w, leader)
	kernel.Answer(w.listener, q, 0)
	for range 20 {
		kernel.Nap(20 * time.Microsecond)
		if b.settle(w, slot) {
			break
		}
	}
	b.count(w)
}

func (b *births) free() *pendingThread {
	for i := range b.pending {
		if b.pending[i].leader == 0 {
			return &b.pending[i]
		}
	}
	return nil
}

// settle reports whether a pending thread is there, or its process gone, or a second has passed.
func (b *births) settle(w *watcher, p *pendingThread) bool {
	if _, now := w.tree.Threads(p.leader); now != 0 && now <= p.before && time.Since(p.at) < time.Second {
		return false
	}
	p.leader = 0
	b.waiting--
	return true
}

// wait is how long the watcher may sleep at most.
func (b *births) wait(atMost time.Duration) time.Duration {
	switch {
	case b.waiting > 0 || time.Since(b.started) < 10*countEvery: // the own threads still grow
		return min(atMost, time.Millisecond)
	case b.extra > 0:
		return min(atMost, countEvery)
	}
	return atMost
}

// look brings the limits up to date and ends processes that are too many.
func (b *births) look(w *watcher) {
	if w.h.shared() || !w.limited.Load() || b.own == 0 || time.Since(b.looked) < b.wait(countEvery) {
		return
	}
	b.looked = time.Now()
	own := kernel.OwnThreads(w.h.proc)
	if b.extra == 0 && b.waiting == 0 && own == b.own {
		return
	}
	for i := range b.pending {
		if b.pending[i].leader != 0 {
			b.settle(w, &b.pending[i])
		}
	}
	b.own = own
	b.count(w)
	for i := len(w.tree.Pids) - 1; i >= w.h.order.Processes; i-- {
		_ = syscall.Kill(int(w.tree.Pids[i]), syscall.SIGKILL)
	}
}

// count counts the threads there are and gives every process its limit.
func (b *births) count(w *watcher) {
	w.tree.Scan()
	b.extra = w.tree.ExtraThreads()
	for _, pid := range w.tree.Pids {
		b.set(w, pid)
	}
}

// set gives a process its limit.
func (b *births) set(w *watcher, pid int32) {
	limit := w.h.order.Processes + b.own + b.extra
	for i := range b.pending {
		if b.pending[i].leader == pid {
			limit++
		}
	}
	_ = kernel.SoftLimit(int(pid), kernel.LimitTasks, uint64(limit)) // it may be gone
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
	switch {
	case q.Session():
		kernel.Answer(w.listener, q, errno(w.mayStart(q.TID), syscall.EAGAIN))
	case q.Thread() && w.h.shared():
		kernel.Answer(w.listener, q, errno(w.mayThread(), syscall.EAGAIN))
	case q.Thread():
		w.births.thread(w, q)
	default:
		kernel.Answer(w.listener, q, errno(w.mayFork(q.TID), syscall.EAGAIN))
	}
}

func errno(allowed bool, otherwise syscall.Errno) uint32 {
	if allowed {
		return 0
	}
	return uint32(otherwise)
}
