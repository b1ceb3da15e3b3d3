package sandbox

import "sync"

// Collector keeps a bounded head and tail of a stream and counts all of it; adapters build a Capture with it. It never
// blocks and never fails, so a flood neither fills memory nor stalls the writer. Safe for concurrent use.
type Collector struct {
	mu    sync.Mutex
	head  []byte
	tail  []byte // ring
	at    int    // next position in a full ring
	limit int
	total int64
}

// NewCollector keeps at most limit bytes: half from the head, half from the tail.
func NewCollector(limit int) *Collector { return &Collector{limit: max(limit, 0)} }

// Write takes everything.
func (c *Collector) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(p)
	c.total += int64(n)
	if room := c.headCap() - len(c.head); room > 0 {
		k := min(room, len(p))
		c.head = append(c.head, p[:k]...)
		p = p[k:]
	}
	size := c.limit - c.headCap()
	if len(p) > size {
		p = p[len(p)-size:]
	}
	if room := size - len(c.tail); room > 0 {
		k := min(room, len(p))
		c.tail = append(c.tail, p[:k]...)
		p = p[k:]
	}
	for len(p) > 0 {
		k := copy(c.tail[c.at:], p)
		c.at = (c.at + k) % size
		p = p[k:]
	}
	return n, nil
}

func (c *Collector) headCap() int { return (c.limit + 1) / 2 }

// Capture returns what was kept so far. The caller owns the slices.
func (c *Collector) Capture() Capture {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := Capture{Total: c.total}
	kept := append(append(make([]byte, 0, len(c.head)+len(c.tail)), c.head...), c.tail[c.at:]...)
	kept = append(kept, c.tail[:c.at]...)
	if c.total <= int64(c.limit) {
		out.Head = kept
		return out
	}
	out.Head, out.Tail = kept[:len(c.head):len(c.head)], kept[len(c.head):]
	return out
}
