package windows

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/journal"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// Sandbox is the Windows adapter of the port. Make it with New.
type Sandbox struct {
	api     api // nil: not Windows
	options Options
	form    func(sandbox.Spec) *fault.Error // sandbox.Check
	now     func() time.Time

	life   context.Context // ends with Close
	cancel context.CancelFunc
	wait   sync.WaitGroup // runs

	looking sync.Mutex // held while the host is looked at

	mu     sync.Mutex
	closed bool
	report *sandbox.Report
	host   host
	guard  journal.Detailed
	left   []applied // what could not be taken back yet

	claiming sync.Mutex
	claim    handle // of the profile, machine-wide; 0 = none

	rights, network holder
}

var (
	_ sandbox.Sandbox  = (*Sandbox)(nil)
	_ sandbox.Recorder = (*Sandbox)(nil)
	_ sandbox.Settler  = (*Sandbox)(nil)
)

func newSandbox(options Options, calls api) *Sandbox {
	life, cancel := context.WithCancel(context.Background())
	return &Sandbox{api: calls, options: options.withDefaults(), form: sandbox.Check, now: time.Now, life: life, cancel: cancel}
}

// enter registers a use that Close waits for.
func (s *Sandbox) enter() *fault.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fault.New(sandbox.CodeClosed)
	}
	s.wait.Add(1)
	return nil
}

// Close implements sandbox.Sandbox. Repeats do nothing more.
func (s *Sandbox) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	s.wait.Wait()
	return s.settle()
}

// UseScratch sets where temporary directories are made.
func (s *Sandbox) UseScratch(dir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.options.Scratch, s.host.Scratch = dir, dir
}

// Record implements sandbox.Recorder. A guard that takes no details cannot record what this system leaves behind, so nothing
// can run with it.
func (s *Sandbox) Record(guard journal.Guard) (stop func() error) {
	_ = s.settle() // of what was not on record
	d, ok := guard.(journal.Detailed)
	if !ok {
		d = blind{guard}
	}
	s.mu.Lock()
	s.guard = d
	s.mu.Unlock()
	return func() error {
		err := s.settle()
		s.mu.Lock()
		s.guard = nil
		s.mu.Unlock()
		return err
	}
}

// blind refuses what it cannot record.
type blind struct{ journal.Guard }

func (blind) OpenWith(_ context.Context, kind journal.Kind, path, _ string) (journal.Resource, error) {
	return journal.Resource{}, fault.New(journal.CodeFailed, "path", path, "detail", "the journal takes no details of a "+string(kind))
}

func (s *Sandbox) recorder() journal.Detailed {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.guard
}

// Settle implements sandbox.Settler: it takes back what the runs of a Task have shared.
func (s *Sandbox) Settle(context.Context) error {
	if f := s.enter(); f != nil {
		return nil // Close has settled
	}
	defer s.wait.Done()
	return s.settle()
}

func (s *Sandbox) settle() error {
	if s.api == nil {
		return nil
	}
	m := &machine{api: s.api}
	err := errors.Join(s.network.release(s, m), s.rights.release(s, m), s.retry(m))
	s.claiming.Lock()
	defer s.claiming.Unlock()
	if s.claim != 0 && err == nil {
		err = s.api.Close(s.claim)
		s.claim = 0
	}
	if err != nil {
		return asFault(err, CodeLeft)
	}
	return nil
}

func (s *Sandbox) keepLeft(left []applied) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = append(s.left, left...)
}

// retry takes back what could not be taken back before.
func (s *Sandbox) retry(m *machine) error {
	s.mu.Lock()
	left := s.left
	s.left = nil
	s.mu.Unlock()
	left, err := s.takeBack(m, left)
	s.keepLeft(left)
	return err
}

// asFault gives an error its code: its own when it has one.
func asFault(err error, code fault.Code) *fault.Error {
	var f *fault.Error
	if errors.As(err, &f) {
		return f
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fault.From(err)
	}
	step, detail := "", err.Error()
	var e *stepError
	if errors.As(err, &e) {
		step, detail = firstLine(e.step.String()), e.err.Error()
	}
	return fault.Wrap(err, code, "step", step, "detail", detail)
}

func platform() *fault.Error { return fault.New(sandbox.CodePlatform, "platform", runtime.GOOS) }
