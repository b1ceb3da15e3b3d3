package linux

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/agent-mcp/agent-mcp/adapters/sandbox/linux/internal/kernel"
	"github.com/agent-mcp/agent-mcp/ports/journal"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// groups is the Sandbox's use of control groups.
type groups struct {
	mu    sync.Mutex
	plan  *groupPlan // nil until preflight found that they work
	guard journal.Guard
	home  *groupHome // made when the first helper needs it
}

// open returns the instance's home, nil where runs use no control groups. It fails rather than let a run go without.
func (g *groups) open() (*groupHome, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.plan == nil || g.home != nil {
		return g.home, nil
	}
	home, err := newGroupHome(context.Background(), *g.plan, newGroupName(""), hostGroups{}, g.guard)
	if err != nil {
		return nil, groupError(err)
	}
	g.home = home
	return home, nil
}

// close gives the home back; guard is for the next one.
func (g *groups) close(guard journal.Guard) error {
	g.mu.Lock()
	home := g.home
	g.home, g.guard = nil, guard
	g.mu.Unlock()
	if home == nil {
		return nil
	}
	return home.close(context.Background())
}

func groupError(err error) error {
	if err == nil {
		return nil
	}
	return stepCode("cgroup", err, sandbox.CodeUnavailable, "detail", "cgroup: "+err.Error())
}

func newGroupName(kind string) string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return "agent-mcp-" + kind + hex.EncodeToString(b[:])
}

var _ sandbox.Recorder = (*Sandbox)(nil)

// Record implements sandbox.Recorder: directories of control groups are on record from now on.
func (s *Sandbox) Record(guard journal.Guard) (stop func() error) {
	_ = s.dropHome(guard) // of what was not on record
	if s.groups.planned() {
		s.prepareSpare()
	}
	return func() error { return s.dropHome(nil) }
}

func (g *groups) planned() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.plan != nil
}

// dropHome ends the spare helper and removes what control groups there are.
func (s *Sandbox) dropHome(next journal.Guard) error {
	if s.groups.planned() {
		s.mu.Lock()
		spare := s.spare
		s.spare = nil
		s.mu.Unlock()
		endSpare(spare)
	}
	return s.groups.close(next)
}

func endSpare(spare chan spareChild) {
	if spare != nil {
		if got := <-spare; got.c != nil {
			got.c.end()
		}
	}
}

// tryGroups finds a place and proves it with a real helper, a real move and real limits. Nothing is left of the trial: its
// directory is removed, and one that a killed trial left is removed by the next.
func (s *Sandbox) tryGroups() (*groupPlan, noGroup) {
	if s.options.NoCgroup {
		return nil, noGroup{Reason: "switched off", Remedy: "Options.NoCgroup = false"}
	}
	plan, why := chooseGroup(hostFacts())
	if plan.Version == 0 {
		return nil, why
	}
	sweepTrials(plan)
	if err := s.trial(plan); err != nil {
		return nil, noGroup{Reason: err.Error(), Remedy: remedySystemd}
	}
	return &plan, noGroup{}
}

const trialBytes, trialTasks = 64 << 20, 512

// trialHome makes a trial's directory. Another instance may sweep between making and locking.
func trialHome(plan groupPlan) (home *groupHome, err error) {
	for range 5 {
		home, err = newGroupHome(context.Background(), plan, newGroupName("trial-"), hostGroups{}, nil)
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.EWOULDBLOCK) {
			break
		}
	}
	return home, err
}

func (s *Sandbox) trial(plan groupPlan) error {
	home, err := trialHome(plan)
	if err != nil {
		return err
	}
	c, err := s.readyIn(home)
	if err == nil {
		err = c.cell.limit(trialBytes, trialTasks)
		c.end()
	}
	return errors.Join(err, home.close(context.Background()))
}

// sweepTrials removes trial directories whose process is gone; a living one holds its lock.
func sweepTrials(plan groupPlan) {
	for _, dir := range plan.homes(".") {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), trialPrefix) {
				_ = undoGroup(context.Background(), filepath.Join(dir, e.Name()))
			}
		}
	}
}

// hostFacts looks at this host.
func hostFacts() groupFacts {
	text := func(path string) string { b, _ := os.ReadFile(path); return string(b) }
	f := groupFacts{
		MountInfo: text("/proc/self/mountinfo"), Self: text("/proc/self/cgroup"), Cmdline: text("/proc/cmdline"),
		Swapping: strings.Count(text("/proc/swaps"), "\n") > 1, PID: os.Getpid(), Dirs: map[string]groupDir{},
	}
	v2, memory, pids := groupPlaces(f.MountInfo, f.Self)
	for i, dir := range v2 {
		d := groupDir{
			Available: strings.Fields(text(dir + "/cgroup.controllers")), Enabled: strings.Fields(text(dir + "/cgroup.subtree_control")),
			Make: writable2(dir), Move: writable2(dir + "/cgroup.procs"), Enable: writable2(dir + "/cgroup.subtree_control"),
			Delegated: delegated(dir),
		}
		_, err := os.Stat(dir + "/cgroup.type") // the real top has none
		d.Top = os.IsNotExist(err)
		if i == 0 {
			for _, p := range strings.Fields(text(dir + "/cgroup.procs")) {
				n, _ := strconv.Atoi(p)
				d.Procs = append(d.Procs, n)
			}
		}
		f.Dirs[dir] = d
	}
	for _, dir := range append(memory, pids...) {
		f.Dirs[dir] = groupDir{Make: writable2(dir)}
	}
	return f
}

func writable2(path string) bool { return syscall.Access(path, 2) == nil } // W_OK

func delegated(dir string) bool {
	var b [8]byte
	for _, name := range []string{"user.delegate", "trusted.delegate"} {
		if n, err := syscall.Getxattr(dir, name, b[:]); err == nil && n == 1 && b[0] == '1' {
			return true
		}
	}
	return false
}

// hostGroups is the kernel's.
type hostGroups struct{}

func (hostGroups) Make(dir string) error { return os.Mkdir(dir, 0o755) }

func (hostGroups) Read(file string) (string, error) {
	b, err := os.ReadFile(file)
	return string(b), err
}

func (hostGroups) Write(file, text string) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

func (hostGroups) Remove(dir string) error { return syscallError("rmdir", dir, syscall.Rmdir(dir)) }

func syscallError(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return &os.PathError{Op: op, Path: path, Err: err}
}

func (hostGroups) Lock(dir string) (func(), error) {
	f, err := lockGroup(kernel.CurrentRoot, dir)
	if err != nil {
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}

// lockGroup holds a directory for as long as the file is open: flock(2).
func lockGroup(at int, path string) (*os.File, error) {
	fd, err := kernel.OpenRead(at, path)
	if err != nil {
		return nil, syscallError("open", path, err)
	}
	f := os.NewFile(uintptr(fd), path)
	if err := syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, syscallError("lock", path, err)
	}
	return f, nil
}

// killedEvery is how often a run looks whether the kernel killed one of its processes: with it the whole run ends.
const killedEvery = 20 * time.Millisecond

// outOfMemory gives a channel that is closed when the kernel killed a process of the tree; done ends the look.
func outOfMemory(c *child, done <-chan struct{}) <-chan struct{} {
	if c.cell == nil {
		return nil
	}
	found := make(chan struct{})
	go func() {
		tick := time.NewTicker(killedEvery)
		defer tick.Stop()
		for !c.cell.killed() {
			select {
			case <-tick.C:
			case <-done:
				return
			}
		}
		close(found)
	}()
	return found
}

// mostTasks is the wall behind the count of processes: threads and processes of the programs, and the helper's threads.
func mostTasks(processes int) int { return processes*tasksPerProcess + 2*ownTasks }

func (g *groups) use(plan *groupPlan) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.plan = plan
}
