// Package fake is the sandbox in memory, for embedders and tests: programs are Go functions, files live on a Disk, and
// rights, roots, protected paths, entry identity, output limits and endings follow the port's contract as a pure
// simulation (spec sections 8 and 12). It confines nothing: never use it where a real program could run.
package fake

import (
	"context"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// Program is what an entry does. It returns its exit code and should end when ctx does: Run waits for it, as the real
// sandbox waits for the last process.
type Program func(ctx context.Context, m *Machine) int

// Options of the fake. The zero value has no program and no disk.
type Options struct {
	Programs map[string]Program // by path, or by the base name of the entry's path
	Default  Program            // for every other entry; nil = such an entry fails with CodeEntryFailed
	// Disk is the host's file system. nil = there is none: every root and entry of a Spec is taken as existing and as
	// the approved one, and programs find no files.
	Disk     *Disk
	Baseline []rights.Root         // reported, and where entries may lie besides the roots
	Networks []sandbox.NetworkMode // reported besides none; nil = local and restricted, empty = no other
	// World is where network local and restricted lead to. nil = there is none: every listed endpoint takes connections and
	// answers nothing.
	World  *World
	Level  sandbox.Level    // default L2; LevelNone cannot be faked (use sandbox/unsupported)
	Memory sandbox.Strength // of the memory limit; default Approximate
}

// Sandbox is the fake. Safe for concurrent use.
type Sandbox struct {
	options Options
	life    context.Context
	cancel  context.CancelFunc

	mu     sync.Mutex
	closed bool
	wait   sync.WaitGroup
	specs  []sandbox.Spec
}

var _ sandbox.Sandbox = (*Sandbox)(nil)

// New makes a fake.
func New(o Options) *Sandbox {
	if o.Level == sandbox.LevelNone {
		o.Level = sandbox.L2
	}
	if o.Memory == sandbox.StrengthNone {
		o.Memory = sandbox.Approximate
	}
	if o.Networks == nil {
		o.Networks = []sandbox.NetworkMode{sandbox.NetworkLocal, sandbox.NetworkRestricted}
	}
	life, cancel := context.WithCancel(context.Background())
	return &Sandbox{options: o, life: life, cancel: cancel}
}

// Specs returns every Spec that started, oldest first, for assertions.
func (s *Sandbox) Specs() []sandbox.Spec {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.specs)
}

// Preflight implements sandbox.Sandbox.
func (s *Sandbox) Preflight(ctx context.Context) (sandbox.Report, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return sandbox.Report{}, fault.New(sandbox.CodeClosed)
	}
	if err := ctx.Err(); err != nil {
		return sandbox.Report{}, fault.From(err)
	}
	r := sandbox.Report{Platform: "fake", Level: s.options.Level, Baseline: slices.Clone(s.options.Baseline), Networks: slices.Clone(s.options.Networks)}
	for _, item := range sandbox.Items() {
		a := sandbox.Ability{Item: item, Strength: sandbox.Exact, Mechanism: "simulated"}
		if item == sandbox.ItemMemory {
			a.Strength = s.options.Memory
		}
		r.Abilities = append(r.Abilities, a)
	}
	return r, nil
}

// Run implements sandbox.Sandbox.
func (s *Sandbox) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Result, error) {
	report, err := s.Preflight(ctx)
	if err != nil {
		return sandbox.Result{}, err
	}
	program, f := s.admit(spec, report)
	if f != nil {
		return sandbox.Result{}, f
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return sandbox.Result{}, fault.New(sandbox.CodeClosed)
	}
	s.wait.Add(1)
	s.specs = append(s.specs, spec)
	s.mu.Unlock()
	defer s.wait.Done()
	start := time.Now()
	result := s.perform(ctx, spec, program)
	result.Enforced, result.Elapsed, result.Started = report.Abilities, time.Since(start), true
	return result, nil
}

// Close implements sandbox.Sandbox.
func (s *Sandbox) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	s.wait.Wait()
	return nil
}

func (s *Sandbox) perform(ctx context.Context, spec sandbox.Spec, program Program) sandbox.Result {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	timed, stop := context.WithTimeout(ctx, spec.Limits.WallClock)
	defer stop()
	m := newMachine(s, spec)
	code := m.call(timed, program)
	result := sandbox.Result{End: sandbox.EndExited, ExitCode: code, Stdout: m.stdout.Capture(), Stderr: m.stderr.Capture(), Denials: m.denials, Flows: m.sums()}
	switch {
	case m.outOfMemory:
		result.End = sandbox.EndMemory
	case m.signal != "":
		result.End, result.Signal = sandbox.EndSignaled, m.signal
	case ctx.Err() != nil:
		result.End = sandbox.EndCancelled
	case timed.Err() != nil:
		result.End = sandbox.EndTimedOut
	}
	if result.End != sandbox.EndExited {
		result.ExitCode = -1
	}
	return result
}

// admit judges a Spec as a real adapter does and finds the program.
func (s *Sandbox) admit(spec sandbox.Spec, report sandbox.Report) (Program, *fault.Error) {
	if f := sandbox.Check(spec); f != nil {
		return nil, f
	}
	entry := spec.Entry.Path
	_, inRoot := sandbox.RootOf(spec.Roots, entry)
	_, inBase := sandbox.RootOf(s.options.Baseline, entry)
	if !inRoot && !inBase {
		return nil, fault.New(sandbox.CodeBadSpec, "detail", "the entry lies in no root: "+entry)
	}
	if mode := spec.Network.Mode; mode != sandbox.NetworkNone && !slices.Contains(s.options.Networks, mode) {
		return nil, fault.New(sandbox.CodeNetworkMode, "mode", string(mode))
	}
	for _, item := range []sandbox.Item{sandbox.ItemMemory, sandbox.ItemProcesses} {
		if have := report.Ability(item).Strength; have < spec.Require {
			return nil, fault.New(sandbox.CodeTooWeak, "item", item.Word(), "have", have.Word(), "want", spec.Require.Word())
		}
	}
	if f := s.files(spec); f != nil {
		return nil, f
	}
	program := s.lookup(entry)
	if program == nil {
		return nil, fault.New(sandbox.CodeEntryFailed, "path", entry, "detail", "the fake has no program for it")
	}
	return program, nil
}

func (s *Sandbox) lookup(entry string) Program {
	if p := s.options.Programs[entry]; p != nil {
		return p
	}
	if p := s.options.Programs[path.Base(entry)]; p != nil {
		return p
	}
	return s.options.Default
}

// files judges what must exist.
func (s *Sandbox) files(spec sandbox.Spec) *fault.Error {
	d := s.options.Disk
	if d == nil {
		return nil
	}
	entry := spec.Entry.Path
	n, ok := d.stat(entry)
	root, inRoot := sandbox.RootOf(spec.Roots, entry)
	if !inRoot {
		root, _ = sandbox.RootOf(s.options.Baseline, entry)
	}
	switch got := n.sum(); {
	case !ok:
		return fault.New(sandbox.CodeEntryMissing, "path", entry)
	case n.dir:
		return fault.New(sandbox.CodeEntryFailed, "path", entry, "detail", "is a directory")
	case spec.Entry.SHA256 != "" && spec.Entry.SHA256 != got:
		return fault.New(sandbox.CodeEntryChanged, "path", entry, "want", spec.Entry.SHA256, "got", got)
	case !n.program || !root.Rights.Has(rights.Execute):
		return fault.New(sandbox.CodeEntryFailed, "path", entry, "detail", "permission denied")
	}
	for _, i := range spec.Entry.Interpreters {
		switch n, ok := d.stat(i.Path); {
		case !ok:
			return fault.New(sandbox.CodeEntryMissing, "path", i.Path)
		case n.sum() != i.SHA256:
			return fault.New(sandbox.CodeEntryChanged, "path", i.Path, "want", i.SHA256, "got", n.sum())
		}
	}
	places := append([]string{spec.Dir}, spec.Protect...)
	for _, r := range spec.Roots {
		places = append(places, r.Path)
	}
	for _, p := range places {
		if _, ok := d.stat(p); !ok {
			return fault.New(sandbox.CodeRootChanged, "path", p)
		}
	}
	return nil
}
