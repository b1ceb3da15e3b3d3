package linux

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/agent-mcp/agent-mcp/adapters/sandbox/linux/internal/kernel"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/journal"
)

// Undoer removes control groups that a killed Broker left (REC-06, PRF-02). It touches nothing but directories with a name
// of ours in a cgroup file system, and none that a living process holds.
type Undoer struct{}

var _ journal.Undoer = Undoer{}

// Undo implements journal.Undoer for KindCgroup; other kinds are journal.CodeUnknown. What is in the directory is killed, and
// waited for. Anything else at the path is journal.CodeUndoFailed: nothing is touched.
func (Undoer) Undo(ctx context.Context, res journal.Resource) error {
	if res.Kind != journal.KindCgroup {
		return fault.New(journal.CodeUnknown, "kind", string(res.Kind), "path", res.Path)
	}
	err := ctx.Err()
	if err == nil {
		err = undoGroup(ctx, res.Path)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return fault.From(err)
	}
	return fault.Wrap(err, journal.CodeUndoFailed, "path", res.Path, "detail", err.Error())
}

// Magic numbers of statfs(2).
const (
	cgroupMagic  = 0x27e0eb
	cgroup2Magic = 0x63677270
)

var (
	errNotOurs   = errors.New("not a cgroup of ours by its name")
	errNotCgroup = errors.New("not in a cgroup file system")
	errLiving    = errors.New("a living instance holds it")
)

func undoGroup(ctx context.Context, path string) error {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path || !groupName.MatchString(filepath.Base(path)) {
		return errNotOurs
	}
	f, err := lockGroup(kernel.CurrentRoot, path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return nil
	case errors.Is(err, syscall.EWOULDBLOCK):
		return errLiving
	case err != nil:
		return err
	}
	defer func() { _ = f.Close() }()
	var st syscall.Statfs_t
	if err := syscall.Fstatfs(int(f.Fd()), &st); err != nil {
		return err
	}
	if t := int64(uint32(st.Type)); t != cgroupMagic && t != cgroup2Magic {
		return errNotCgroup
	}
	// The name cannot lead elsewhere by now: no cgroup file system has symlinks, and each check below is by this path.
	return emptyGroup(ctx, path)
}

// emptyGroup kills what is below a directory and removes it, children first.
func emptyGroup(ctx context.Context, dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			if err := emptyGroup(ctx, filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	for try := 0; ; try++ {
		err := syscall.Rmdir(dir)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if !errors.Is(err, syscall.EBUSY) || try == 1000 {
			return err
		}
		if err := killGroup(dir); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(removePause):
		}
	}
}

// killGroup kills all processes of a directory: through cgroup.kill where there is one, else one by one. The identity of a
// process is held while it is looked up again, so that a number given anew hits nobody.
func killGroup(dir string) error {
	if err := (hostGroups{}).Write(dir+"/cgroup.kill", "1"); err == nil {
		return nil
	}
	for _, pid := range groupProcs(dir) {
		if pid <= 1 || pid == os.Getpid() {
			return fmt.Errorf("it holds process %d, which must not be killed", pid)
		}
		p, err := os.FindProcess(pid)
		if err != nil {
			continue
		}
		if slices.Contains(groupProcs(dir), pid) {
			_ = p.Kill()
		}
		_ = p.Release()
	}
	return nil
}

func groupProcs(dir string) (pids []int) {
	b, _ := os.ReadFile(dir + "/cgroup.procs")
	for word := range strings.FieldsSeq(string(b)) {
		if n, err := strconv.Atoi(word); err == nil {
			pids = append(pids, n)
		}
	}
	return pids
}
