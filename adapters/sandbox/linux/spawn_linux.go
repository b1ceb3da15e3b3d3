package linux

import (
	"encoding/json"
	"errors"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/agent-mcp/agent-mcp/adapters/sandbox/linux/internal/kernel"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// spawner starts helpers from one thread that lives as long as the Sandbox: PDEATHSIG is bound to the thread that
// created the child, not to the process.
type spawner struct {
	jobs  chan func()
	once  sync.Once
	path  string
	image *os.File // a copy of this program, nil when the original will do
	err   error
}

// newSpawner starts programs of the identity given. Another user may be unable to execute this program's file: it then
// runs from a sealed copy in memory.
func newSpawner(who identity) *spawner {
	s := &spawner{jobs: make(chan func()), path: "/proc/self/exe"}
	if info, err := os.Stat(s.path); who.globalRoot && (err != nil || info.Mode()&0o001 == 0) {
		if s.image, s.err = kernel.ProgramCopy(s.path); s.err == nil {
			s.path = "/proc/self/fd/" + strconv.Itoa(int(s.image.Fd()))
		}
	}
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		for job := range s.jobs {
			job()
		}
	}()
	return s
}

func (s *spawner) start(args []string, files []*os.File, sys *syscall.SysProcAttr) (p *os.Process, err error) {
	if s.err != nil {
		return nil, s.err
	}
	done := make(chan struct{})
	s.jobs <- func() {
		defer close(done)
		p, err = os.StartProcess(s.path, args, &os.ProcAttr{Dir: "/", Env: []string{}, Files: files, Sys: sys})
	}
	<-done
	return p, err
}

func (s *spawner) stop() {
	s.once.Do(func() {
		close(s.jobs)
		if s.image != nil {
			_ = s.image.Close()
		}
	})
}

// child is one helper process as the Broker sees it.
type child struct {
	proc *os.Process
	ctl  int
	gone chan struct{} // closed when the process is reaped, which is after its whole namespace died
	once sync.Once
	cell *groupCell // nil without control groups

	shared bool // level 1: the helper ends its tree itself
}

// identity is who the programs are: ids on the host and inside.
type identity struct {
	globalRoot bool // this process is the root of the system: its programs get another id
	uid, gid   int  // inside
	uids, gids []syscall.SysProcIDMap
}

func whoAmI(rootUID int, uidMap string) identity {
	uid, gid := os.Geteuid(), os.Getegid()
	if uid == 0 && isInitial(uidMap) {
		// Everything but root itself is mapped: CAP_DAC_OVERRIDE then reaches no file that belongs to root outside.
		all := []syscall.SysProcIDMap{{ContainerID: 1, HostID: 1, Size: lastID}}
		return identity{globalRoot: true, uid: rootUID, gid: rootUID, uids: all, gids: all}
	}
	one := func(id int) (int, []syscall.SysProcIDMap) {
		inside := id
		if id == 0 {
			inside = 1000 // root of a container: no root inside
		}
		return inside, []syscall.SysProcIDMap{{ContainerID: inside, HostID: id, Size: 1}}
	}
	who := identity{}
	who.uid, who.uids = one(uid)
	who.gid, who.gids = one(gid)
	return who
}

// startChild starts a helper and, with a home, puts it into a cell of its own before it does anything.
func (s *Sandbox) startChild(home *groupHome) (*child, error) {
	ours, theirs, err := kernel.SocketPair()
	if err != nil {
		return nil, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		kernel.Close(ours)
		kernel.Close(theirs)
		return nil, err
	}
	defer func() { _ = null.Close() }()
	control := os.NewFile(uintptr(theirs), "control")
	defer func() { _ = control.Close() }()
	who, level := s.who, s.level
	sys := &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if level >= sandbox.L2 {
		sys = &syscall.SysProcAttr{
			Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET |
				syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS | syscall.CLONE_NEWCGROUP,
			UidMappings: who.uids, GidMappings: who.gids, GidMappingsEnableSetgroups: who.globalRoot,
			Credential:  &syscall.Credential{Uid: uint32(who.uid), Gid: uint32(who.gid), NoSetGroups: !who.globalRoot},
			AmbientCaps: kernel.SetupCaps(), Setsid: true, Pdeathsig: syscall.SIGKILL,
		}
	}
	proc, err := s.spawner.start([]string{helperName}, []*os.File{null, null, null, control}, sys)
	if err != nil {
		kernel.Close(ours)
		return nil, err
	}
	c := &child{proc: proc, ctl: ours, gone: make(chan struct{}), shared: level < sandbox.L2}
	s.wait.Add(1)
	go func() {
		defer s.wait.Done()
		_, _ = proc.Wait()
		close(c.gone)
	}()
	if home != nil {
		if c.cell, err = home.cell(proc.Pid); err != nil {
			c.end()
			return nil, groupError(err)
		}
	}
	message, err := json.Marshal(setup{
		Baseline: s.baseline, UID: who.uid, GID: who.gid, KeepDAC: who.globalRoot, ABI: s.abi, Arch: runtime.GOARCH, Level: level, Poll: s.options.PollEvery,
	})
	if err == nil {
		err = kernel.Send(c.ctl, message)
	}
	if err != nil {
		c.end()
		return nil, err
	}
	return c, nil
}

var errGone = errors.New("the helper ended")

// next waits for a message of the helper.
func (c *child) next() (r reply, err error) {
	m, err := c.message()
	for _, fd := range m.fds {
		kernel.Close(fd)
	}
	return m.reply, err
}

// message is one of the helper's, with the descriptors that came along, or a question about a connection.
type message struct {
	reply
	fds  []int
	dial []byte
}

// messageSize is more than any message takes: the last one holds the denials, whose number is bounded.
const messageSize = 64 << 10

func (c *child) message() (m message, err error) {
	buf := make([]byte, messageSize)
	n, fds, err := kernel.Receive(c.ctl, buf)
	m.fds = fds
	if err == nil && n == 0 {
		err = errGone
	}
	if err == nil && n == dialSize && buf[0] == dialMark {
		m.dial = buf[:n]
		return m, nil
	}
	if err == nil {
		err = json.Unmarshal(buf[:n], &m.reply)
	}
	return m, err
}

// kill begins to end the helper and its tree. A helper without a pid namespace must do that itself; one that does not
// answer any more is killed at last, and the kernel then kills the entry.
func (c *child) kill() {
	if !c.shared {
		_ = c.proc.Kill()
		return
	}
	kernel.HangUp(c.ctl)
	time.AfterFunc(endWithin, func() { _ = c.proc.Kill() }) // of a process that was waited for it does nothing
}

const endWithin = 20 * time.Second

// end kills the helper and with it every process of its namespace, and waits until the kernel has reaped them.
func (c *child) end() {
	c.kill()
	<-c.gone
	c.release()
}

// release closes the control socket and gives the cell back; the helper must be done.
func (c *child) release() {
	c.once.Do(func() { kernel.Close(c.ctl) })
	c.cell.release()
}
