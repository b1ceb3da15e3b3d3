// Package faulty wraps ports so that they fail on purpose: before the n-th call, after it, or with a write cut short. Use
// it to show that a use case survives every failure at every place: fail call 1, 2, 3… until nothing is left to fail.
//
// A wrapper never invents behaviour of its own: what it does not fail, it passes on untouched.
package faulty

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// Mode is how a call fails.
type Mode int

// Modes.
const (
	Before Mode = iota // the inner call is not made
	After              // the inner call is made, its success is not reported
	Short              // a write is cut to half of its bytes; where a port writes no bytes this is Before
	Hang               // the call blocks until its context ends
)

// Script decides which call fails. One script may be shared by several wrappers: calls are then counted together, in
// the order in which they happen. Safe for concurrent use.
type Script struct {
	mu    sync.Mutex
	only  map[string]bool
	n     int
	every bool
	mode  Mode
	err   error
	calls int
	fired []string
}

// ErrFault is the cause of every failure made here.
var ErrFault = errors.New("a failure made on purpose")

// Fail returns a script whose n-th call (from 1) fails with err in the given mode; n = 0 never fails. A nil err becomes an
// internal fault.
func Fail(n int, mode Mode, err error) *Script {
	if err == nil {
		err = fault.Wrap(ErrFault, fault.CodeInternal, "detail", ErrFault.Error())
	}
	return &Script{n: n, mode: mode, err: err}
}

// Always returns a script that fails every call from the n-th on: a disk that stays full.
func Always(n int, mode Mode, err error) *Script {
	s := Fail(n, mode, err)
	s.every = true
	return s
}

// Only restricts the script to calls of these names ("journal.append", "workspace.replace"…); others are not counted.
func (s *Script) Only(names ...string) *Script {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.only = map[string]bool{}
	for _, n := range names {
		s.only[n] = true
	}
	return s
}

// Calls is the number of counted calls so far.
func (s *Script) Calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

// Fired names the calls that were made to fail.
func (s *Script) Fired() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.fired...)
}

// next counts a call and says whether and how it fails. A nil script never fails.
func (s *Script) next(name string) (Mode, error) {
	if s == nil {
		return Before, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.only != nil && !s.only[name] {
		return Before, nil
	}
	s.calls++
	if s.n == 0 || s.calls != s.n && (!s.every || s.calls < s.n) {
		return Before, nil
	}
	s.fired = append(s.fired, name)
	return s.mode, s.err
}

// call runs do under the script. cut, when not nil, is what Short does instead.
func (s *Script) call(ctx context.Context, name string, do, cut func() error) error {
	mode, err := s.next(name)
	if err == nil {
		return do()
	}
	switch {
	case mode == Hang:
		<-ctx.Done()
		return fault.From(ctx.Err())
	case mode == After:
		if inner := do(); inner != nil {
			return inner
		}
	case mode == Short && cut != nil:
		if inner := cut(); inner != nil {
			return inner
		}
	}
	return err
}

// sweepLimit stops a Sweep whose code under test never stops calling.
const sweepLimit = 10_000

// Sweep runs once for n = 1, 2, 3… with a script that fails the n-th call, and once more when n is beyond the last
// call. run must make everything anew. It returns the number of failures that were tried.
func Sweep(t *testing.T, mode Mode, err error, run func(t *testing.T, s *Script)) int {
	t.Helper()
	for n := 1; n <= sweepLimit; n++ {
		s := Fail(n, mode, err)
		run(t, s)
		if t.Failed() {
			t.Fatalf("faulty: failed with call %d made to fail: %v", n, s.Fired())
		}
		if len(s.Fired()) == 0 {
			return n - 1
		}
	}
	t.Fatalf("faulty: more than %d calls", sweepLimit)
	return sweepLimit
}
