package linux

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/agent-mcp/agent-mcp/adapters/sandbox/linux/internal/kernel"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/journal"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// scratch is the private directory of one run at level 1, where no mount can hide the host's /tmp.
type scratch struct {
	dir   string
	guard journal.Guard
	res   journal.Resource
}

// What lies in a scratch directory: the program's temporary directory, and the name it is started by.
const (
	scratchTmp   = "tmp"
	scratchEntry = "entry"
)

// UseScratch sets where directories of runs are made, an absolute canonical directory of ours that is made when the first is
// needed, and the Guard that keeps them in a journal (REC-06). Without it they lie in the system's temporary directory, and
// a crash of this process and its helper together leaves them behind.
func (s *Sandbox) UseScratch(dir string, guard journal.Guard) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scratchDir, s.guard = dir, guard
}

func (s *Sandbox) newScratch(ctx context.Context) (*scratch, *fault.Error) {
	s.mu.Lock()
	dir, guard := s.scratchDir, s.guard
	s.mu.Unlock()
	if dir == "" {
		dir = os.TempDir()
	}
	fail := func(err error) (*scratch, *fault.Error) {
		return nil, fault.Wrap(err, sandbox.CodeUnavailable, "detail", "temporary directory: "+err.Error())
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fail(err)
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return fail(err)
	}
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	c := &scratch{dir: filepath.Join(dir, ".agent-mcp-"+hex.EncodeToString(b[:])+".tmp"), guard: guard}
	if guard != nil {
		if c.res, err = guard.Open(ctx, journal.KindTree, c.dir); err != nil {
			return nil, fault.From(err)
		}
	}
	for _, d := range []string{"", scratchTmp, scratchEntry} {
		if err == nil {
			err = os.Mkdir(filepath.Join(c.dir, d), 0o700)
		}
	}
	if err != nil {
		c.remove()
		return fail(err)
	}
	return c, nil
}

func (c *scratch) tmp() string { return filepath.Join(c.dir, scratchTmp) }

// remove is called when no process of the run is left. What cannot be removed stays in the journal.
func (c *scratch) remove() {
	if c == nil {
		return
	}
	if err := removeTree(c.dir); err == nil && c.guard != nil {
		_ = c.guard.Close(context.Background(), c.res) // a record that stays open finds nothing to undo
	}
}

// listDir gives the content of a directory that is reached without symlinks.
func listDir(dir string) (out []object, err error) {
	fd, err := kernel.OpenRead(kernel.CurrentRoot, dir)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), dir)
	defer func() { _ = f.Close() }()
	names, err := f.Readdirnames(mostBeside + 1)
	for _, name := range names {
		fd, err := kernel.OpenEntry(kernel.CurrentRoot, filepath.Join(dir, name))
		if err != nil {
			continue // gone
		}
		id, err := kernel.Stat(fd)
		kernel.Close(fd)
		if err == nil && (id.IsDir() || id.IsRegular() || id.IsLink()) {
			out = append(out, object{Name: name, Dev: id.Dev, Ino: id.Ino, Link: id.IsLink()})
		}
	}
	if errors.Is(err, io.EOF) { // an empty directory
		err = nil
	}
	return out, err
}

// share prepares a run at level 1.
func (r *run) share(ctx context.Context, entry entryOrder) (f *fault.Error) {
	defer func() {
		if f != nil {
			r.close()
		}
	}()
	if r.scratch, f = r.s.newScratch(ctx); f != nil {
		return f
	}
	spec, tmp := r.spec, r.scratch.tmp()
	r.order = order{
		Entry: entry, Args: spec.Args, Dir: spec.Dir, Tmp: tmp, TmpExec: tmpExec(spec.Roots), Scratch: r.scratch.dir,
		Env: environment(spec.Env, tmp), Processes: spec.Limits.Processes, Memory: spec.Limits.MemoryBytes, Binds: binds(spec),
	}
	if f := r.lookAll(); f != nil {
		return f
	}
	var kept []object
	for _, b := range r.order.Binds {
		if b.Entry && !b.Dir {
			kept = append(kept, object{Dev: b.Dev, Ino: b.Ino})
		}
	}
	r.order.Rules, f = sharedRules(spec, r.s.baseline, tmp, listDir, kept)
	return f
}
