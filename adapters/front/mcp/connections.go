package mcp

import (
	"net"
	"net/http"
	"sync"
	"time"
)

// bounded is a listener whose connections are counted.
type bounded struct {
	net.Listener
	slots chan struct{}
	stop  <-chan struct{}
	quiet *silences
}

// Accept waits for a slot: what is too many waits in the kernel's queue, and the connection that has said nothing for the longest
// time makes room.
func (b *bounded) Accept() (net.Conn, error) {
	for {
		select {
		case b.slots <- struct{}{}:
		case <-b.stop:
			return nil, net.ErrClosed
		case <-time.After(evictAfter):
			b.quiet.evict()
			continue
		}
		c, err := b.Listener.Accept()
		if err != nil {
			<-b.slots
			return nil, err
		}
		return &counted{Conn: c, leave: sync.OnceFunc(func() { <-b.slots })}, nil
	}
}

// evictAfter is how long there must be no room, newPatience and idlePatience how long a connection may be silent then: a client
// that is about to ask again is not cut off.
const (
	evictAfter   = 20 * time.Millisecond
	newPatience  = 500 * time.Millisecond
	idlePatience = 5 * time.Second
)

type counted struct {
	net.Conn
	leave func()
}

func (c *counted) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// silences are the connections without a request: nothing was said yet, or all is answered.
type silences struct {
	mu   sync.Mutex
	all  map[net.Conn]time.Time // until when they are left alone
	over bool
}

func (s *silences) note(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state != http.StateNew && state != http.StateIdle {
		delete(s.all, c)
		return
	}
	s.all[c] = time.Now().Add(newPatience)
	if state == http.StateIdle {
		s.all[c] = time.Now().Add(idlePatience)
	}
	if s.over {
		_ = c.Close()
	}
}

// evict closes the one that should have spoken first.
func (s *silences) evict() {
	s.mu.Lock()
	defer s.mu.Unlock()
	var oldest net.Conn
	for c, until := range s.all { // the least of a set: order does not matter
		if oldest == nil || until.Before(s.all[oldest]) {
			oldest = c
		}
	}
	if oldest != nil && time.Now().After(s.all[oldest]) {
		delete(s.all, oldest)
		_ = oldest.Close()
	}
}

// close ends them all, and those to come: Shutdown would wait for them.
func (s *silences) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	for c := range s.all {
		_ = c.Close()
	}
}
