package linux

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/agent-mcp/agent-mcp/adapters/sandbox/linux/internal/kernel"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/journal"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// Sandbox is the Linux adapter of the port. Make it with New.
type Sandbox struct {
	options  Options
	who      identity
	abi      int
	baseline []baseItem
	spawner  *spawner
	hashes   hashes
	owners   owners
	groups   groups

	life   context.Context // ends with Close
	cancel context.CancelFunc
	wait   sync.WaitGroup // helpers and runs

	looking sync.Mutex // held while the host is looked at, so that it is looked at once

	mu     sync.Mutex
	closed bool
	spare  chan spareChild // capacity 1; nil when none is under way
	report *sandbox.Report

	most       sandbox.Level // no higher level is tried; only tests lower it
	level      sandbox.Level // of helpers; settled by Preflight
	scratchDir string        // see UseScratch
	guard      journal.Guard
}

type spareChild struct {
	c   *child
	err error
}

var _ sandbox.Sandbox = (*Sandbox)(nil)

// New makes a Sandbox. It starts nothing but a thread; the process must call RunHelperIfAsked first in main.
func New(options Options) *Sandbox {
	o := options.withDefaults()
	uidMap, _ := os.ReadFile("/proc/self/uid_map")
	life, cancel := context.WithCancel(context.Background())
	who := whoAmI(o.RootUID, string(uidMap))
	return &Sandbox{
		groups: groups{guard: o.Guard}, options: o, who: who, abi: kernel.LandlockABI(), baseline: findBaseline(),
		spawner: newSpawner(who), life: life, cancel: cancel, level: sandbox.L2, most: sandbox.L3,
	}
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
	spare := s.spare
	s.spare = nil
	s.mu.Unlock()
	s.cancel()
	endSpare(spare)
	s.wait.Wait()
	err := s.groups.close(nil)
	s.spawner.stop()
	s.owners.close()
	if err != nil {
		return fault.Wrap(err, sandbox.CodeUnavailable, "detail", err.Error())
	}
	return nil
}

const readyWithin = 30 * time.Second

// ready starts a helper, in a control group where this host gives them, and waits until it has prepared itself.
func (s *Sandbox) ready() (*child, error) {
	home, err := s.groups.open()
	if err != nil {
		return nil, err
	}
	return s.readyIn(home)
}

func (s *Sandbox) readyIn(home *groupHome) (*child, error) {
	c, err := s.startChild(home)
	var failed *stepError
	if errors.As(err, &failed) {
		return nil, err
	}
	if err != nil {
		return nil, &stepError{step: "clone", code: sandbox.CodeUnavailable, err: err, args: map[string]string{"detail": "new namespaces: " + err.Error()}}
	}
	late := time.AfterFunc(readyWithin, c.kill) // a mount that hangs must not hang the Broker
	closed := context.AfterFunc(s.life, c.kill)
	r, err := c.next()
	inTime, open := late.Stop(), closed()
	if err == nil && r.Kind == kindReady {
		if !inTime || !open {
			err = errGone
		} else if c.cell == nil {
			return c, nil
		} else if err = groupError(c.cell.ready()); err == nil {
			return c, nil
		}
	}
	c.end()
	if errors.As(err, &failed) {
		return nil, err
	}
	if err != nil {
		return nil, &stepError{step: "exec", code: sandbox.CodeUnavailable, err: err, args: map[string]string{"detail": "the helper did not start: " + err.Error()}}
	}
	return nil, &stepError{step: r.Step, code: r.Code, args: r.Args, err: r.fault()}
}

// prepareSpare starts the next helper in the background, at most one.
func (s *Sandbox) prepareSpare() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.spare != nil || s.options.NoSpare {
		return
	}
	ch := make(chan spareChild, 1)
	s.spare = ch
	s.wait.Add(1)
	go func() {
		defer s.wait.Done()
		c, err := s.ready()
		ch <- spareChild{c, err}
	}()
}

// take returns a helper for one run, if possible one that was prepared before.
func (s *Sandbox) take() (c *child, prepared bool, err error) {
	s.mu.Lock()
	spare := s.spare
	s.spare = nil
	s.mu.Unlock()
	if spare != nil {
		got := <-spare
		if got.err != nil {
			return nil, true, got.err
		}
		select {
		case <-got.c.gone: // somebody killed it meanwhile
			got.c.release()
		default:
			return got.c, true, nil
		}
	}
	c, err = s.ready()
	return c, false, err
}

// Run implements sandbox.Sandbox.
func (s *Sandbox) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Result, error) {
	if f := s.enter(); f != nil {
		return sandbox.Result{}, f
	}
	defer s.wait.Done()
	if err := ctx.Err(); err != nil {
		return sandbox.Result{}, fault.From(err)
	}
	if f := sandbox.Check(spec); f != nil {
		return sandbox.Result{}, f
	}
	if f := checkHere(spec, baselineRoots(s.baseline)); f != nil {
		return sandbox.Result{}, f
	}
	report, err := s.Preflight(ctx)
	if err != nil {
		return sandbox.Result{}, err
	}
	if !report.Confines(spec.Network.Mode) {
		return sandbox.Result{}, fault.New(sandbox.CodeNetworkMode, "mode", string(spec.Network.Mode))
	}
	if f := strongEnough(report, spec.Require); f != nil {
		return sandbox.Result{}, f
	}
	r, f := s.newRun(ctx, spec)
	if f != nil {
		return sandbox.Result{}, f
	}
	defer r.close()
	start := time.Now()
	result, f := r.perform(ctx, start)
	if f != nil {
		return sandbox.Result{}, f
	}
	result.Enforced = report.Abilities
	result.Elapsed = time.Since(start)
	return result, nil
}
