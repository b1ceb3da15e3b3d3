package linux

import (
	"errors"
	"os"
	"strconv"
	"sync"
	"syscall"

	"github.com/agent-mcp/agent-mcp/adapters/sandbox/linux/internal/kernel"
)

var errNoMap = errors.New("this file system cannot map owners for a root Broker; run as an ordinary user, or put the directory on ext4, xfs, btrfs or tmpfs")

// owners holds the user namespaces that map owners on disk to the ids a root Broker's programs run as, one per owner.
type owners struct {
	mu    sync.Mutex
	known map[[2]uint32]*os.File
}

func (o *owners) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, f := range o.known {
		_ = f.Close()
	}
	o.known = nil
}

// cloneMapped makes a detached tree of an open place with the attributes set and the owners mapped. What is read-only may
// go without the map: it is then readable as far as it is for everybody.
func (s *Sandbox) cloneMapped(fd int, id kernel.Identity, attr mountAttr) (int, error) {
	ns, err := s.ownerNS(id.UID, id.GID)
	if err != nil {
		return -1, err
	}
	tree, err := kernel.CloneTree(fd)
	if err != nil {
		return -1, err
	}
	flags := attr.kernel() | kernel.NoDev
	err = kernel.SetAttr(tree, flags, int(ns.Fd()))
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.EPERM) {
		if err = errors.Join(errNoMap, err); attr.ReadOnly {
			err = kernel.SetAttr(tree, flags, -1)
		}
	}
	if err != nil {
		kernel.Close(tree)
		return -1, err
	}
	return tree, nil
}

func (s *Sandbox) ownerNS(uid, gid uint32) (*os.File, error) {
	s.owners.mu.Lock()
	defer s.owners.mu.Unlock()
	key := [2]uint32{uid, gid}
	if f := s.owners.known[key]; f != nil {
		return f, nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _, _ = r.Close(), w.Close() }()
	p, err := s.spawner.start([]string{helperName, "hold"}, []*os.File{r}, &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWUSER, Pdeathsig: syscall.SIGKILL,
		UidMappings: idMap(ownerMap(int(uid), s.who.uid)), GidMappings: idMap(ownerMap(int(gid), s.who.gid)),
	})
	if err != nil {
		return nil, err
	}
	f, err := os.Open("/proc/" + strconv.Itoa(p.Pid) + "/ns/user")
	_ = p.Kill()
	_, _ = p.Wait()
	if err != nil {
		return nil, err
	}
	if s.owners.known == nil {
		s.owners.known = map[[2]uint32]*os.File{}
	}
	s.owners.known[key] = f
	return f, nil
}

func idMap(ranges []idRange) (out []syscall.SysProcIDMap) {
	for _, r := range ranges {
		out = append(out, syscall.SysProcIDMap{ContainerID: r.Inside, HostID: r.Outside, Size: r.Size})
	}
	return out
}
