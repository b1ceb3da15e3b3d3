package mcp

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// connections bounds how many connections are open at once, all listeners together. What is too many waits in the kernel's queue until one
// ends; where none does, those that keep others waiting make room: they have nothing to say, do not finish what they say, or do not
// read their answer. A connection that is worked for is left alone.
type connections struct {
	slots chan struct{}
	stop  <-chan struct{}

	mu   sync.Mutex
	all  map[*link]struct{}
	over bool
}

func newConnections(most int, stop <-chan struct{}) *connections {
	return &connections{slots: make(chan struct{}, most), stop: stop, all: map[*link]struct{}{}}
}

// stage is what a connection is at.
type stage uint8

const (
	fresh   stage = iota // nothing was said yet
	resting              // all is answered
	reading              // a request has begun and is not whole
	busy                 // what comes next is up to the server, or comes at a rate that is watched
	writing              // an answer waits for its reader
)

// patience is how long a connection may stay at a stage when there is no room for another: a client that is about to go on is not cut
// off. There is no end to busy.
var patience = map[stage]time.Duration{fresh: time.Second, resting: 5 * time.Second, reading: 2 * time.Second, writing: 2 * time.Second}

// crowded is how long there must be no room first.
const crowded = 20 * time.Millisecond

// full reports that there is no room for another connection.
func (c *connections) full() bool { return len(c.slots) == cap(c.slots) }

// link is one connection. Guarded by connections.mu.
type link struct {
	net.Conn
	of    *connections
	leave func()
	stage stage
	since time.Time
}

func (l *link) Close() error {
	l.of.mu.Lock()
	delete(l.of.all, l)
	l.of.mu.Unlock()
	defer l.leave()
	return l.Conn.Close()
}

// Write is at the stage of writing until the peer has taken all of it.
func (l *link) Write(p []byte) (int, error) {
	before := l.enter(writing)
	defer l.enter(before)
	return l.Conn.Write(p)
}

// enter begins a stage and returns the one before.
func (l *link) enter(s stage) stage {
	l.of.mu.Lock()
	defer l.of.mu.Unlock()
	before := l.stage
	l.stage, l.since = s, time.Now()
	return before
}

type linkKey struct{}

// linkOf is the connection of a request.
func linkOf(r *http.Request) *link {
	l, _ := r.Context().Value(linkKey{}).(*link)
	return l
}

// attach lets requests find their connection.
func (*connections) attach(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, linkKey{}, c)
}

// note follows what net/http says of a connection.
func (c *connections) note(conn net.Conn, state http.ConnState) {
	l, ok := conn.(*link)
	if !ok {
		return
	}
	switch state {
	case http.StateActive:
		l.enter(reading)
	case http.StateIdle:
		l.enter(resting)
		c.mu.Lock()
		over := c.over
		c.mu.Unlock()
		if over {
			_ = l.Conn.Close()
		}
	default:
	}
}

// bounded is one listener of them.
type bounded struct {
	net.Listener
	of *connections
}

// Accept waits for room.
func (b *bounded) Accept() (net.Conn, error) {
	c := b.of
	for {
		select {
		case c.slots <- struct{}{}:
		case <-c.stop:
			return nil, net.ErrClosed
		case <-time.After(crowded):
			c.evict(time.Now())
			continue
		}
		conn, err := b.Listener.Accept()
		if err != nil {
			<-c.slots
			return nil, err
		}
		l := &link{Conn: conn, of: c, leave: sync.OnceFunc(func() { <-c.slots }), since: time.Now()}
		c.mu.Lock()
		c.all[l] = struct{}{}
		c.mu.Unlock()
		return l, nil
	}
}

// evict closes all that had their time.
func (c *connections) evict(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for l := range c.all { // each is judged for itself: order does not matter
		if most, ends := patience[l.stage]; ends && now.Sub(l.since) > most {
			_ = l.Conn.Close() // its server notices, and gives the slot back
		}
	}
}

// close ends those without a request, and those to come: Shutdown would wait for them.
func (c *connections) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	for l := range c.all {
		if l.stage == fresh || l.stage == resting {
			_ = l.Conn.Close()
		}
	}
}
