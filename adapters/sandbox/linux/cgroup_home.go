package linux

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agent-mcp/agent-mcp/ports/journal"
)

// groupFS is what the executor does with a cgroup file system. The kernel makes and removes the files of a directory.
type groupFS interface {
	Make(dir string) error
	Write(file, text string) error
	Read(file string) (string, error)
	Remove(dir string) error
	// Lock marks a directory as that of a living process until the returned function is called or the process ends.
	Lock(dir string) (unlock func(), err error)
}

// groupHome is one instance's directory in each hierarchy; the cells of its helpers lie in it. Safe for concurrent use.
type groupHome struct {
	plan  groupPlan
	name  string
	fs    groupFS
	guard journal.Guard // may be nil

	recorded []journal.Resource
	unlock   []func()

	mu     sync.Mutex
	seq    int
	closed bool
	left   error // of a cell that could not be removed
	cells  sync.WaitGroup
}

// newGroupHome makes the directories: on record first (REC-06), locked right after. After a failure nothing is left.
func newGroupHome(ctx context.Context, plan groupPlan, name string, fs groupFS, guard journal.Guard) (*groupHome, error) {
	h := &groupHome{plan: plan, name: name, fs: fs, guard: guard}
	err := h.open(ctx)
	if err != nil {
		return nil, errors.Join(err, h.close(ctx))
	}
	return h, nil
}

func (h *groupHome) open(ctx context.Context) error {
	for _, dir := range h.plan.homes(h.name) {
		if h.guard != nil {
			res, err := h.guard.Open(ctx, journal.KindCgroup, dir)
			if err != nil {
				return err
			}
			h.recorded = append(h.recorded, res)
		}
		if err := h.fs.Make(dir); err != nil {
			return err
		}
		unlock, err := h.fs.Lock(dir)
		if err != nil {
			return err
		}
		h.unlock = append(h.unlock, unlock)
	}
	return h.do(h.plan.openHome(h.name))
}

// do takes the steps in order and stops at the first that fails.
func (h *groupHome) do(steps []groupStep) (err error) {
	for _, s := range steps {
		switch s.Do {
		case stepMake:
			err = h.fs.Make(s.Path)
		case stepWrite:
			err = h.fs.Write(s.Path, s.Text)
			if s.May && errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
		case stepRemove:
			err = h.remove(s.Path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

const (
	removeTries = 200
	removePause = 5 * time.Millisecond
)

// remove waits for the last processes to leave: rmdir(2) gives EBUSY for a moment after they were reaped.
func (h *groupHome) remove(dir string) error { return removeGroup(h.fs, dir) }

func removeGroup(sys groupFS, dir string) (err error) {
	for range removeTries {
		if err = sys.Remove(dir); err == nil || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		time.Sleep(removePause)
	}
	return err
}

// close removes the directories, waiting for the cells first. What cannot be removed stays on record. ctx bounds nothing.
func (h *groupHome) close(ctx context.Context) error {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.cells.Wait()
	var failed error
	for _, s := range h.plan.closeHome(h.name) { // each is tried: a half-made home has not all of it
		if err := h.do([]groupStep{s}); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
	}
	for _, unlock := range h.unlock {
		unlock()
	}
	h.unlock = nil
	if failed == nil {
		for _, res := range h.recorded {
			failed = errors.Join(failed, h.guard.Close(ctx, res))
		}
		h.recorded = nil
	}
	return errors.Join(failed, h.left)
}

// groupCell is one helper's directory.
type groupCell struct {
	home *groupHome
	name string
	own  int64 // bytes the helper itself held when it was ready
	once sync.Once
}

var errHomeClosed = errors.New("the instance's cgroup is being removed")

// cell moves a helper that has done nothing yet into a new directory.
func (h *groupHome) cell(pid int) (*groupCell, error) {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil, errHomeClosed
	}
	h.seq++
	c := &groupCell{home: h, name: fmt.Sprintf("h%d", h.seq)}
	h.cells.Add(1)
	h.mu.Unlock()
	return c, h.do(h.plan.openCell(h.name, c.name, pid))
}

// ready measures what the helper needs for itself.
func (c *groupCell) ready() error {
	text, err := c.home.fs.Read(c.home.plan.usageFile(c.home.name, c.name))
	if err == nil {
		_, err = fmt.Sscan(strings.TrimSpace(text), &c.own)
	}
	return err
}

// helperRoom is what a helper may need beyond what it held when it was ready; programs could use it as well.
const helperRoom = 4 << 20

// limit binds the programs to bytes of memory and to tasks.
func (c *groupCell) limit(bytes int64, tasks int) error {
	return c.home.do(c.home.plan.limit(c.home.name, c.name, bytes+c.own+helperRoom, tasks))
}

// killed reports that the kernel killed a process of the tree for memory. The counter is unknown when it cannot be read.
func (c *groupCell) killed() bool {
	if c == nil {
		return false
	}
	text, err := c.home.fs.Read(c.home.plan.eventsFile(c.home.name, c.name))
	return err == nil && oomKills(text) > 0
}

// release removes the directory in the background; its processes must be dead. A home waits for it.
func (c *groupCell) release() {
	if c == nil {
		return
	}
	c.once.Do(func() {
		go func() {
			defer c.home.cells.Done()
			if err := c.home.do(c.home.plan.closeCell(c.home.name, c.name)); err != nil {
				c.home.mu.Lock()
				c.home.left = errors.Join(c.home.left, err)
				c.home.mu.Unlock()
			}
		}()
	})
}

// oomKills reads the counter from the text of eventsFile.
func oomKills(text string) (n int) {
	for line := range strings.Lines(text) {
		if name, value, _ := strings.Cut(strings.TrimSpace(line), " "); name == "oom_kill" || name == "oom_group_kill" {
			v, _ := strconv.Atoi(value)
			n += v
		}
	}
	return n
}
