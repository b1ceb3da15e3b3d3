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
// The listener asks for threads: the limit grows by one for the process that makes one, and for the others at the next
// look, a millisecond later, when the thread is there, so that their forks cannot take its place. At the limit itself a
// fork may thus be refused that a moment later would not. Threads that end without a word leave it too high until the next look, which lowers it and ends
// processes, the newest first, that slipped in meanwhile.
type births struct {
	own     int // threads of this process
	extra   int // threads beyond the first of each process, as last counted
	counted []threads
	pending [64]pendingThread
	waiting int // pending threads
	looked  time.Time
	took    time.Duration // the last look
	started time.Time
}

// threads of a process, as last counted.
type threads struct {
	process int32
	many    int
}

// pendingThread was allowed and is not there yet, or was there and is gone.
type pendingThread struct {
	leader int32 // its process; 0 for none
	asker  int32 // the thread that makes it
	before int   // threads of the process before, those that were pending included
	at     time.Time
}

const countEvery = 10 * time.Millisecond

// lookShare bounds what looking costs: one part in so many of a processor's time, however many processes there are.
const lookShare = 20

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

// thread makes room for one more thread, up to the wall that the hard limit is. The next look counts it.
func (b *births) thread(w *watcher, q kernel.Question) {
	leader, now := w.tree.Threads(q.TID)
	before := b.recount(leader, q.TID, now)
	b.own = kernel.OwnThreads(w.h.proc)
	slot := b.free()
	if leader == 0 || slot == nil || w.h.order.Processes+b.extra+b.waiting >= w.h.order.Processes*tasksPerProcess {
		b.count(w)
		kernel.Answer(w.listener, q, uint32(syscall.EAGAIN))
		return
	}
	*slot = pendingThread{leader: leader, asker: q.TID, before: before, at: time.Now()}
	b.waiting++
	b.set(w, leader)
	kernel.Answer(w.listener, q, 0)
}

// recount takes the threads of one process as they are now. What the asker asked for before is over: it asks again, so what it made is
// among them or has ended since. before is how many there will be without the one that is asked for now.
func (b *births) recount(leader, asker int32, now int) (before int) {
	before = now
	for i := range b.pending {
		p := &b.pending[i]
		switch {
		case p.leader != leader || leader == 0:
		case p.asker == asker || now > p.before:
			p.leader = 0
			b.waiting--
		default:
			before++
		}
	}
	for i := range b.counted {
		if c := &b.counted[i]; c.process == leader {
			b.extra += max(0, now-1) - max(0, c.many-1)
			c.many = now
			return before
		}
	}
	if leader != 0 && len(b.counted) < cap(b.counted) {
		b.extra += max(0, now-1)
		b.counted = append(b.counted, threads{leader, now})
	}
	return before
}

// soon is how long a call may take that was allowed, where its place is needed.
const soon = 5 * time.Millisecond

// free finds a place for a pending thread: an empty one, else that of the oldest, whose thread has most likely come and gone.
func (b *births) free() *pendingThread {
	var oldest *pendingThread
	for i := range b.pending {
		p := &b.pending[i]
		if p.leader == 0 {
			return p
		}
		if oldest == nil || p.at.Before(oldest.at) {
			oldest = p
		}
	}
	if time.Since(oldest.at) < soon {
		return nil
	}
	oldest.leader = 0
	b.waiting--
	return oldest
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
		return min(atMost, max(time.Millisecond, lookShare*b.took))
	case b.extra > 0:
		return min(atMost, max(countEvery, lookShare*b.took))
	}
	return atMost
}

// look brings the limits up to date and ends processes that are too many.
func (b *births) look(w *watcher) {
	if w.h.shared() || !w.limited.Load() || b.own == 0 || time.Since(b.looked) < b.wait(max(countEvery, lookShare*b.took)) {
		return
	}
	b.looked = time.Now()
	defer func() { b.took = time.Since(b.looked) }()
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
	b.extra, b.counted = 0, b.counted[:0]
	for _, pid := range w.tree.Pids {
		_, many := w.tree.Threads(pid)
		b.extra += max(0, many-1)
		if len(b.counted) < cap(b.counted) {
			b.counted = append(b.counted, threads{pid, many})
		}
	}
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
