package linux

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"github.com/agent-mcp/agent-mcp/adapters/sandbox/linux/internal/kernel"
)

// listen makes the run's listeners in this network namespace and hands them to the Broker. The loopback device is up
// afterwards; nothing else leads anywhere.
func (h *helper) listen() error {
	all := h.order.Network.Listen
	if len(all) == 0 {
		return nil
	}
	if err := step("loopback", kernel.LoopbackUp()); err != nil {
		return err
	}
	kernel.LimitTCP(h.proc)
	routed := map[netip.Addr]bool{}
	var fds, indexes []int
	for i, l := range all {
		if l.Route && !routed[l.At.Addr()] {
			routed[l.At.Addr()] = true
			if err := step("route to "+l.At.Addr().String(), kernel.LocalRoute(l.At.Addr())); err != nil {
				return err
			}
		}
		fd, err := kernel.Listen(l.At)
		if l.Optional && (errors.Is(err, syscall.EAFNOSUPPORT) || errors.Is(err, syscall.EADDRNOTAVAIL)) {
			continue
		}
		if err != nil {
			return step("listen at "+l.At.String(), err)
		}
		fds, indexes = append(fds, fd), append(indexes, i)
	}
	h.listeners = len(fds)
	for part := range slices.Chunk(indexes, kernel.MaxPassed) {
		b, err := json.Marshal(reply{Kind: kindListening, Listeners: part})
		if err == nil {
			err = kernel.Send(h.ctl, b, fds[:len(part)]...)
		}
		if err != nil {
			return step("hand over listeners", err)
		}
		for _, fd := range fds[:len(part)] {
			kernel.Close(fd)
		}
		fds = fds[len(part):]
	}
	return nil
}

// Questions about connections are small binary messages on the control socket, so that nothing allocates: to the Broker
// dialMark, a cookie and the endpoint's index; back the cookie and an errno, 0 for a connection that waits.
const (
	dialMark   = 'D'
	dialSize   = 9
	answerSize = 8

	mostConnects = 1024                  // that wait at once; more go on without an answer
	signalsAfter = 20 * time.Millisecond // a blocking connect lets signals in from then on
	answerWithin = 25 * time.Second      // beyond relay.DialWithin: a Broker that is stuck
	lookEvery    = 10 * time.Millisecond // at what waits
)

// connects are the calls of connect(2) that wait for the Broker. The answer is for the program's comfort: it gets the error
// that it would get without a sandbox. What it can reach, the namespace and the listeners decide alone.
type connects struct {
	w         *watcher
	endpoints map[netip.AddrPort]int
	listeners *kernel.Listeners
	works     bool // listeners can be looked up here
	tried     bool
	waiting   [mostConnects]waiting
	count     int
	looked    time.Time
	cookie    uint32
	buf       [64]byte
}

type waiting struct {
	q      kernel.Question
	cookie uint32 // 0: free
	soft   bool   // non-blocking
	since  time.Time
}

// newConnects returns nil without a network.
func newConnects(w *watcher) (*connects, error) {
	all := w.h.order.Network.Listen
	if len(all) == 0 {
		return nil, nil
	}
	c := &connects{w: w, endpoints: make(map[netip.AddrPort]int, len(all))}
	for i, l := range all {
		c.endpoints[l.At] = i
	}
	var err error
	c.listeners, err = kernel.NewListeners()
	return c, err
}

// asked handles one question; it never waits.
func (c *connects) asked(q kernel.Question) {
	at, ok := kernel.AddressOf(q)
	if !ok || !kernel.Waits(c.w.listener, q) {
		kernel.Answer(c.w.listener, q, 0)
		return
	}
	i, listed := c.endpoints[at]
	socket, known := c.w.tree.SocketOf(q)
	if !known {
		socket.Stream = true
	}
	switch {
	case listed && socket.Stream:
		c.dial(q, i, socket.NonBlocking)
		return
	case c.insideListens(at, socket.Stream):
		c.w.seen.forget(at)
	case at.Port() == 0 || !socket.Stream && at.Port() != 53: // a datagram socket is connected to learn an address
	default:
		c.w.seen.address(at)
	}
	kernel.Answer(c.w.listener, q, 0)
}

// insideListens reports that a program of the tree waits there. Where that cannot be found out, it says yes: no denial is
// told that may be none.
func (c *connects) insideListens(at netip.AddrPort, stream bool) bool {
	if c.listeners.At(at, stream) {
		return true
	}
	if !c.tried { // sock_diag may be missing in this kernel: at the listeners that are there it shows
		c.tried = true
		for known := range c.endpoints {
			c.works = c.works || c.listeners.At(known, true)
		}
	}
	return !c.works
}

func (c *connects) dial(q kernel.Question, endpoint int, soft bool) {
	for i := range c.waiting {
		w := &c.waiting[i]
		if w.cookie != 0 {
			continue
		}
		c.cookie += mostConnects
		cookie := c.cookie | uint32(i)
		if cookie == 0 {
			cookie = mostConnects | uint32(i)
		}
		c.buf[0] = dialMark
		binary.LittleEndian.PutUint32(c.buf[1:], cookie)
		binary.LittleEndian.PutUint32(c.buf[5:], uint32(endpoint))
		if !kernel.SendNow(c.w.h.ctl, c.buf[:dialSize]) {
			break // the Broker is slow
		}
		*w = waiting{q: q, cookie: cookie, soft: soft, since: time.Now()}
		c.count++
		return
	}
	kernel.Answer(c.w.listener, q, 0) // the Broker dials when the connection comes
}

// told takes the Broker's answers.
func (c *connects) told() {
	for {
		n, ok := kernel.ReceiveNow(c.w.h.ctl, c.buf[:])
		if !ok {
			return
		}
		if n != answerSize {
			continue
		}
		cookie := binary.LittleEndian.Uint32(c.buf[0:])
		w := &c.waiting[cookie%mostConnects]
		if w.cookie == cookie && cookie != 0 {
			c.answer(w, binary.LittleEndian.Uint32(c.buf[4:]))
		}
	}
}

func (c *connects) answer(w *waiting, errno uint32) {
	kernel.Answer(c.w.listener, w.q, errno)
	w.cookie = 0
	c.count--
}

// tick looks at what waits too long.
func (c *connects) tick(now time.Time) {
	if c.count == 0 || now.Sub(c.looked) < lookEvery {
		return
	}
	c.looked = now
	for i := range c.waiting {
		w := &c.waiting[i]
		if w.cookie == 0 {
			continue
		}
		switch since := now.Sub(w.since); {
		case !kernel.Waits(c.w.listener, w.q): // it died
			w.cookie = 0
			c.count--
		case w.soft && since >= c.w.h.order.Network.Patience, since >= answerWithin:
			c.answer(w, 0)
		case since >= signalsAfter && c.w.tree.Interrupted(w.q.TID):
			c.answer(w, kernel.Restart)
		}
	}
}
