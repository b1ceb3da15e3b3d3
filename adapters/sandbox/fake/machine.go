package fake

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// Errors of the simulation besides those of io/fs.
var (
	ErrBusy     = errors.New("device or resource busy")
	ErrNotEmpty = errors.New("directory not empty")
	ErrLimit    = errors.New("resource temporarily unavailable")
)

// Machine is the world a Program acts on. Every method does what the rights of the Spec allow and fails with a
// *fs.PathError otherwise. For the one goroutine of the program.
type Machine struct {
	box            *Sandbox
	spec           sandbox.Spec
	disk           *Disk
	stdout, stderr *sandbox.Collector
	processes      int
	taken          int64
	outOfMemory    bool
	signal         string
	denials        []sandbox.Denial
	open           int   // connections
	moved          int64 // bytes over all connections
	flows          []*sandbox.Flow
}

func newMachine(s *Sandbox, spec sandbox.Spec) *Machine {
	disk := s.options.Disk
	if disk == nil {
		disk = NewDisk()
	}
	return &Machine{
		box: s, spec: spec, disk: disk, processes: 1,
		stdout: sandbox.NewCollector(spec.Limits.OutputBytes), stderr: sandbox.NewCollector(spec.Limits.OutputBytes),
	}
}

// died ends a program from inside, like a signal.
type died struct{}

func (m *Machine) call(ctx context.Context, p Program) (code int) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(died); !ok {
				panic(r)
			}
			code = -1
		}
	}()
	return p(ctx, m)
}

// Spec is what the program runs under.
func (m *Machine) Spec() sandbox.Spec { return m.spec }

// Args are argv[1:].
func (m *Machine) Args() []string { return m.spec.Args }

// Stdout and Stderr are bounded by the Spec.
func (m *Machine) Stdout() io.Writer { return m.stdout }

// Stderr is the second stream.
func (m *Machine) Stderr() io.Writer { return m.stderr }

// Stdin is the Spec's input.
func (m *Machine) Stdin() []byte { return m.spec.Stdin }

// Environ is the Spec's environment and the four names every program needs.
func (m *Machine) Environ() []string {
	out := slices.Clone(m.spec.Env)
	for _, kv := range []string{"PATH=/usr/bin:/bin", "HOME=/tmp", "TMPDIR=/tmp", "LANG=C.UTF-8"} {
		name, _, _ := strings.Cut(kv, "=")
		if !slices.ContainsFunc(out, func(e string) bool { return strings.HasPrefix(e, name+"=") }) {
			out = append(out, kv)
		}
	}
	return out
}

func fail(op, name string, err error) error { return &fs.PathError{Op: op, Path: name, Err: err} }

// may checks the rights on a path; what is protected gives no write and no delete.
func (m *Machine) may(op, name string, need rights.Set) error {
	root, ok := sandbox.RootOf(m.spec.Roots, name)
	if !ok {
		root, ok = sandbox.RootOf(m.box.options.Baseline, name)
	}
	if !ok {
		return fail(op, name, fs.ErrNotExist) // not even visible
	}
	have := root.Rights
	for _, p := range m.spec.Protect {
		if sandbox.Under(name, p) {
			have &^= rights.Write | rights.Delete
		}
	}
	if have.Has(need) {
		return nil
	}
	m.denials = append(m.denials, sandbox.Denial{Target: name, Right: (need &^ have).String(), Times: 1, Seen: true})
	return fail(op, name, fs.ErrPermission)
}

// pinned: a protected path, and what holds one, cannot be moved or removed.
func (m *Machine) pinned(op, name string) error {
	for _, p := range m.spec.Protect {
		if sandbox.Under(p, name) {
			return fail(op, name, ErrBusy)
		}
	}
	return nil
}

func (m *Machine) file(op, name string) (node, error) {
	n, ok := m.disk.stat(name)
	if !ok {
		return n, fail(op, name, fs.ErrNotExist)
	}
	if n.dir {
		return n, fail(op, name, errors.New("is a directory"))
	}
	return n, nil
}

func (m *Machine) folder(op, name string) error {
	n, ok := m.disk.stat(name)
	if !ok {
		return fail(op, name, fs.ErrNotExist)
	}
	if !n.dir {
		return fail(op, name, errors.New("not a directory"))
	}
	return nil
}

// ReadFile needs read.
func (m *Machine) ReadFile(name string) (string, error) {
	if err := m.may("open", name, rights.Read); err != nil {
		return "", err
	}
	n, err := m.file("open", name)
	return n.content, err
}

// List needs read.
func (m *Machine) List(name string) ([]string, error) {
	if err := m.may("open", name, rights.Read); err != nil {
		return nil, err
	}
	return m.disk.List(name), m.folder("open", name)
}

// WriteFile creates or replaces; it needs write.
func (m *Machine) WriteFile(name, content string) error {
	if err := m.may("open", name, rights.Write); err != nil {
		return err
	}
	old, _ := m.disk.stat(name)
	if err := m.folder("open", path.Dir(name)); err != nil {
		return err
	}
	if old.dir {
		return fail("open", name, errors.New("is a directory"))
	}
	m.disk.put(name, node{content: content, program: old.program})
	return nil
}

// Append needs write and the file.
func (m *Machine) Append(name, content string) error {
	if err := m.may("open", name, rights.Write); err != nil {
		return err
	}
	n, err := m.file("open", name)
	if err != nil {
		return err
	}
	n.content += content
	m.disk.put(name, n)
	return nil
}

// Chmod makes a file executable; it needs write.
func (m *Machine) Chmod(name string) error {
	if err := m.may("chmod", name, rights.Write); err != nil {
		return err
	}
	n, err := m.file("chmod", name)
	if err == nil {
		n.program = true
		m.disk.put(name, n)
	}
	return err
}

// Mkdir needs write.
func (m *Machine) Mkdir(name string) error {
	if err := m.may("mkdir", name, rights.Write); err != nil {
		return err
	}
	if _, ok := m.disk.stat(name); ok {
		return fail("mkdir", name, fs.ErrExist)
	}
	if err := m.folder("mkdir", path.Dir(name)); err != nil {
		return err
	}
	m.disk.put(name, node{dir: true})
	return nil
}

// Remove removes a file; it needs delete.
func (m *Machine) Remove(name string) error {
	err := m.may("remove", name, rights.Delete)
	if err == nil {
		_, err = m.file("remove", name)
	}
	if err == nil {
		err = m.pinned("remove", name)
	}
	if err == nil {
		m.disk.remove(name)
	}
	return err
}

// Rmdir removes an empty directory; it needs delete.
func (m *Machine) Rmdir(name string) error {
	err := m.may("rmdir", name, rights.Delete)
	if err == nil {
		err = m.folder("rmdir", name)
	}
	if err == nil {
		err = m.pinned("rmdir", name)
	}
	if err == nil && len(m.disk.List(name)) > 0 {
		err = fail("rmdir", name, ErrNotEmpty)
	}
	if err == nil {
		m.disk.remove(name)
	}
	return err
}

// Rename needs write and delete at both ends: inside it is stricter than the Broker's own move.
func (m *Machine) Rename(from, to string) error {
	for _, name := range []string{from, to} {
		if err := m.may("rename", name, rights.Write|rights.Delete); err != nil {
			return err
		}
		if err := m.pinned("rename", name); err != nil {
			return err
		}
	}
	if _, ok := m.disk.stat(from); !ok {
		return fail("rename", from, fs.ErrNotExist)
	}
	if err := m.folder("rename", path.Dir(to)); err != nil {
		return err
	}
	if sandbox.Under(to, from) && to != from {
		return fail("rename", to, fs.ErrInvalid)
	}
	m.disk.move(from, to)
	return nil
}

// Start runs another program to its end and returns its exit code; it needs read and execute on its path.
func (m *Machine) Start(ctx context.Context, name string) (int, error) {
	if err := m.may("fork/exec", name, rights.Read|rights.Execute); err != nil {
		return -1, err
	}
	n, err := m.file("fork/exec", name)
	if err != nil {
		return -1, err
	}
	p := m.box.lookup(name)
	if !n.program || p == nil {
		return -1, fail("fork/exec", name, fs.ErrPermission)
	}
	if err := m.Fork(); err != nil {
		return -1, err
	}
	defer m.Reap()
	return p(ctx, m), nil
}

// Fork counts one more process against the limit; Reap counts it off.
func (m *Machine) Fork() error {
	if m.processes >= m.spec.Limits.Processes {
		return ErrLimit
	}
	m.processes++
	return nil
}

// Reap ends a process that Fork made.
func (m *Machine) Reap() { m.processes-- }

// Take uses memory; beyond the limit the run ends with EndMemory and Take does not return.
func (m *Machine) Take(bytes int64) {
	if m.taken += bytes; m.taken > m.spec.Limits.MemoryBytes {
		m.outOfMemory = true
		panic(died{})
	}
}

// Crash ends the run by a signal ("SIGSEGV") and does not return.
func (m *Machine) Crash(signal string) {
	m.signal = signal
	panic(died{})
}

// Sleep waits, or less when the run ends; it then does not return.
func (m *Machine) Sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
		panic(died{})
	}
}
