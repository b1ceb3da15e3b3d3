package file

import (
	"fmt"
	"sync"
)

// queueBytes is how much a queue holds, in bytes, before it drops lines.
const queueBytes = 4 << 20

// queue hands lines from many emitters to one writer, without ever making an emitter wait.
type queue struct {
	mu      sync.Mutex
	filled  *sync.Cond
	pending []byte // whole lines
	dropped int
	lost    string // the line that tells of dropped lines, with %d for their number
	ended   bool
}

// The lines that tell of dropped lines.
const (
	lostText = "trace.dropped count=%d\n"
	lostJSON = `{"level":"warn","name":"trace.dropped","fields":{"count":%d}}` + "\n"
)

func newQueue(lost string) *queue {
	q := &queue{lost: lost}
	q.filled = sync.NewCond(&q.mu)
	return q
}

// put adds one line with its newline.
func (q *queue) put(line []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.ended:
	case len(q.pending) > 0 && len(q.pending)+len(line) > queueBytes:
		q.dropped++
	default:
		q.pending = append(q.pending, line...)
		q.filled.Signal()
	}
}

func (q *queue) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	q.filled.Signal()
}

// run writes until the queue has ended and is empty. write gets whole lines and must not keep them.
func (q *queue) run(write func([]byte)) {
	var spare []byte
	for {
		q.mu.Lock()
		for len(q.pending) == 0 && !q.ended {
			q.filled.Wait()
		}
		batch, dropped := q.pending, q.dropped
		q.pending, q.dropped = spare[:0], 0
		q.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		if dropped > 0 {
			batch = fmt.Appendf(batch, q.lost, dropped)
		}
		write(batch)
		if spare = batch; cap(spare) > 1<<20 {
			spare = nil // one flood must not hold its memory for ever
		}
	}
}
