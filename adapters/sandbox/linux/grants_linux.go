package linux

import "time"

func (w *watcher) pending() (n int) {
	for i := range w.granted {
		if g := &w.granted[i]; g.tid != 0 {
			if time.Since(g.at) > time.Second {
				g.tid = 0
				continue
			}
			n++
		}
	}
	return n
}

// settle: a thread that asks again is through with its last fork.
func (w *watcher) settle(tid int32) {
	for i := range w.granted {
		if w.granted[i].tid == tid {
			w.granted[i].tid = 0
		}
	}
}

func (w *watcher) remember(tid int32) {
	oldest := 0
	for i := range w.granted {
		if w.granted[i].tid == 0 {
			oldest = i
			break
		}
		if w.granted[i].at.Before(w.granted[oldest].at) {
			oldest = i
		}
	}
	w.granted[oldest] = grant{tid: tid, at: time.Now()}
}
