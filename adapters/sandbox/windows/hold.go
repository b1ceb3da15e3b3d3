package windows

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/journal"
)

// applied is a step that was begun, with what takes it back.
type applied struct {
	step step
	res  journal.Resource
	open bool // its record is open
	held held
}

// apply does steps in order; each record is durable before its step begins (REC-06). When one fails all are taken back.
func (s *Sandbox) apply(ctx context.Context, m *machine, steps []step) (done []applied, err error) {
	for _, st := range steps {
		a := applied{step: st}
		if err = ctx.Err(); err == nil {
			err = s.begin(ctx, &a)
		}
		if err == nil {
			done = append(done, a)
			last := &done[len(done)-1]
			if last.held, err = m.do(ctx, st.Do); err == nil {
				continue
			}
			err = &stepError{step: st.Do, err: err}
		}
		left, undo := s.takeBack(m, done)
		s.keepLeft(left)
		return nil, errors.Join(err, undo)
	}
	return done, nil
}

// stepError is a call that failed.
type stepError struct {
	step call
	err  error
}

func (e *stepError) Error() string { return e.step.String() + ": " + e.err.Error() }
func (e *stepError) Unwrap() error { return e.err }

func (s *Sandbox) begin(ctx context.Context, a *applied) (err error) {
	g := s.recorder()
	if a.step.Record == nil || g == nil {
		return nil
	}
	r := a.step.Record
	a.res, err = g.OpenWith(ctx, r.Kind, r.Path, r.Detail)
	a.open = err == nil
	return err
}

// takeBack undoes steps, the last first, and closes their records. What fails stays open and is given back: later steps that
// lie under it are still undone.
func (s *Sandbox) takeBack(m *machine, done []applied) (left []applied, err error) {
	ctx := context.Background() // a cancelled Task takes back what it made
	for _, a := range slices.Backward(done) {
		var errs []error
		for _, h := range a.held {
			errs = append(errs, m.Close(h))
		}
		a.held = nil
		if r := a.step.Record; r != nil {
			undo, e := undoOf(r.Kind, r.Path, r.Detail)
			if e == nil {
				_, e = m.do(ctx, undo)
			}
			if g := s.recorder(); e == nil && a.open && g != nil {
				e = g.Close(ctx, a.res)
			}
			errs = append(errs, e)
		}
		if e := errors.Join(errs...); e != nil {
			err = errors.Join(err, &stepError{step: a.step.Do, err: e})
			left = append(left, a)
		}
	}
	slices.Reverse(left)
	return left, err
}

// holder keeps steps applied for as long as runs want the same ones, and between such runs, so that a Task pays once for the
// entries of its roots. Runs that want others wait until nobody uses these.
type holder struct {
	mu     sync.Mutex
	free   chan struct{} // closed and replaced whenever active becomes zero
	key    string
	active int
	done   []applied
}

// use makes the steps of key stand, planned by plan when they do not yet. The returned function ends the use.
func (h *holder) use(ctx context.Context, s *Sandbox, m *machine, key string, plan func() ([]step, *fault.Error)) (end func(), err error) {
	for {
		h.mu.Lock()
		if h.active == 0 || h.key == key {
			break
		}
		free := h.free
		h.mu.Unlock()
		select {
		case <-free:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	defer h.mu.Unlock()
	if h.key != key {
		if err := h.drop(s, m); err != nil {
			return nil, err
		}
		steps, f := plan()
		if f != nil {
			return nil, f
		}
		if h.done, err = s.apply(ctx, m, steps); err != nil {
			return nil, err
		}
		h.key = key
	}
	if h.active == 0 {
		h.free = make(chan struct{})
	}
	h.active++
	return sync.OnceFunc(func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.active--; h.active == 0 {
			close(h.free)
		}
	}), nil
}

// drop takes everything back. h.mu is held and nobody uses it.
func (h *holder) drop(s *Sandbox, m *machine) error {
	left, err := s.takeBack(m, h.done)
	s.keepLeft(left)
	h.done, h.key = nil, ""
	return err
}

// release waits until nobody uses it and takes everything back.
func (h *holder) release(s *Sandbox, m *machine) error {
	for {
		h.mu.Lock()
		if h.active == 0 {
			break
		}
		free := h.free
		h.mu.Unlock()
		<-free
	}
	defer h.mu.Unlock()
	return h.drop(s, m)
}
