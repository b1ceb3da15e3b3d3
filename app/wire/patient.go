package wire

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"time"
)

// patience is how long a message waits for a reader of stderr.
const patience = 2 * time.Second

var errNoReader = errors.New("nobody reads it")

// patient writes to a stream that may have stopped being read: a client that never looks at our stderr must not keep us
// from starting or from ending. A write that finds no reader in time is given up, and so is everything behind it until the
// reader comes back. Safe for concurrent use.
type patient struct {
	w     io.Writer
	limit time.Duration

	mu    sync.Mutex
	stuck chan struct{} // of the write that was given up, until it ends
}

// Write implements io.Writer.
func (p *patient) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stuck != nil {
		select {
		case <-p.stuck: // how it ended tells nobody anything any more
			p.stuck = nil
		default:
			return 0, errNoReader
		}
	}
	done := make(chan struct{})
	data := bytes.Clone(b)
	var err error
	go func() {
		defer close(done)
		_, err = p.w.Write(data)
	}()
	limit := time.NewTimer(p.limit)
	defer limit.Stop()
	select {
	case <-done:
		if err != nil {
			return 0, err
		}
		return len(b), nil
	case <-limit.C:
		p.stuck = done
		return 0, errNoReader
	}
}
