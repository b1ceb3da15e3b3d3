package engine

import (
	"sync"
	"time"

	"github.com/agent-mcp/agent-mcp/core/agent"
	"github.com/agent-mcp/agent-mcp/ports/model"
)

// doing is what the started Task does at a moment, as far as people may know: no tool, no path, no thought (MCP-STS-03).
type doing uint8

const (
	nothing   doing = iota // between two steps
	asking                 // the model was asked; nothing came yet
	hearing                // its words arrive
	thinking               // its thinking arrives
	retrying               // its server failed and is asked again
	operating              // an operation on this machine
	learning               // skills are read
	cleaning               // Task Resources are given back
)

// moment is one look at a pulse.
type moment struct {
	doing   doing
	phase   agent.Phase // of a model call
	since   time.Time   // when this began
	first   time.Time   // piece of the answer
	last    time.Time
	pieces  int // of the answer so far; about one token each
	attempt int // of the call, from 1
}

// perSecond is how fast the pieces arrive, 0 when there are too few to tell.
func (m moment) perSecond() float64 {
	took := m.last.Sub(m.first)
	if m.pieces < minPieces || took < minSpan {
		return 0
	}
	return float64(m.pieces-1) / took.Seconds()
}

const (
	minPieces = 4
	minSpan   = 500 * time.Millisecond
)

// pulse follows the one started Task between the steps that the cores see. It has a lock of its own: a piece of an answer never
// waits for a record that is being written. Safe for concurrent use.
type pulse struct {
	mu   sync.Mutex
	task string
	now  moment
}

// set says what a Task does from now on.
func (p *pulse) set(task string, m moment) {
	p.mu.Lock()
	p.task, p.now = task, m
	p.mu.Unlock()
}

// piece counts one piece of an answer.
func (p *pulse) piece(c model.Chunk, at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now.pieces == 0 {
		p.now.first = at
	}
	p.now.pieces++
	p.now.last = at
	p.now.doing = hearing
	if c.Thinking != "" && c.Content == "" && c.Calls == 0 {
		p.now.doing = thinking
	}
}

// again says that what arrived so far is lost and the server will be asked once more.
func (p *pulse) again(attempt int, at time.Time) {
	p.mu.Lock()
	p.now = moment{doing: retrying, phase: p.now.phase, since: at, attempt: attempt}
	p.mu.Unlock()
}

// look tells what a Task does; nothing when it is not the started one.
func (p *pulse) look(task string) moment {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.task != task {
		return moment{}
	}
	return p.now
}
