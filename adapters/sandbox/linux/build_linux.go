package linux

import (
	"errors"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/agent-mcp/agent-mcp/adapters/sandbox/linux/internal/kernel"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

var errOther = errors.New("another file is there by now")

// build completes the private root for one run and enters it.
func (h *helper) build(mounts []int) error {
	if h.shared() {
		return h.buildShared()
	}
	o := &h.order
	if err := step("account", h.account()); err != nil {
		return err
	}
	if err := h.listen(); err != nil {
		return err
	}
	attr := kernel.NoDev
	if !o.TmpExec {
		attr |= kernel.NoExec
	}
	size := strconv.FormatInt(o.Memory, 10)
	tmp, err := kernel.NewFS("tmpfs", attr, kernel.Option{Key: "mode", Value: "1777"}, kernel.Option{Key: "size", Value: size})
	if err == nil {
		err = h.attach(tmp, o.Tmp, true)
		h.tmp = tmp
	}
	if err != nil {
		return step("private tmp", err)
	}
	for _, b := range o.Binds {
		if h.isScript(b) {
			dropPassed(b, &mounts)
			continue
		}
		if err := h.mount(b, &mounts); err != nil {
			return stepCode("bind", err, sandbox.CodeRootChanged, "path", b.Path)
		}
	}
	if err := h.openEntry(); err != nil {
		return err
	}
	if err := step("enter root", kernel.EnterRoot(h.root)); err != nil {
		return err
	}
	kernel.Close(h.old)
	for _, name := range []string{"user", "mnt", "net", "pid", "ipc", "uts", "cgroup", "time"} {
		if fd, err := syscall.Open("/proc/sys/user/max_"+name+"_namespaces", syscall.O_WRONLY|syscall.O_CLOEXEC, 0); err == nil {
			_, _ = syscall.Write(fd, []byte("0")) // a second lock: seccomp already refuses new namespaces
			kernel.Close(fd)
		}
	}
	if err := step("seal proc", kernel.SetAttr(h.proc, kernel.ReadOnly, -1)); err != nil {
		return err
	}
	if err := step("seal root", kernel.SealRoot()); err != nil {
		return err
	}
	return stepCode("directory", syscall.Chdir(o.Dir), sandbox.CodeRootChanged, "path", o.Dir)
}

func (h *helper) mount(b bind, passed *[]int) error {
	if b.Passed {
		if len(*passed) == 0 {
			return errors.New("no descriptor")
		}
		tree := (*passed)[0]
		*passed = (*passed)[1:]
		defer kernel.Close(tree)
		return h.attachAt(tree, b)
	}
	fd, err := b.open(h.old)
	if err != nil {
		return err
	}
	seen, err := kernel.Stat(fd)
	if err == nil && (seen.Dev != b.Dev || seen.Ino != b.Ino) {
		err = errOther
	}
	if err != nil {
		kernel.Close(fd)
		return err
	}
	defer kernel.Close(fd)
	tree, err := cloned(fd, b.Attr)
	if err != nil {
		return err
	}
	defer kernel.Close(tree)
	return h.attachAt(tree, b)
}

// open opens what lies at a bind's path below dir.
func (b *bind) open(dir int) (int, error) {
	if b.Entry {
		return kernel.OpenEntry(dir, b.Path)
	}
	return kernel.OpenPath(dir, b.Path)
}

// attachAt puts a detached tree at a bind's path. A mount on a symlink keeps it from being removed or replaced.
func (h *helper) attachAt(tree int, b bind) error {
	if !b.Entry {
		return h.attach(tree, b.Path, b.Dir)
	}
	place, err := kernel.OpenEntry(h.root, b.Path)
	if err != nil {
		return err
	}
	defer kernel.Close(place)
	return kernel.Attach(tree, place)
}

// openEntry opens the executable as the tree will see it and compares it with the file the Broker hashed.
func (h *helper) openEntry() error {
	e := &h.order.Entry
	if len(e.Content) > 0 {
		if err := h.sameInterpreters(h.root); err != nil {
			return err
		}
		return step("script", h.placeScript())
	}
	fd, err := kernel.OpenPath(h.root, e.Path)
	if err != nil {
		return stepCode("entry", err, sandbox.CodeEntryMissing, "path", e.Path)
	}
	if err := h.sameEntry(fd); err != nil {
		return err
	}
	if err := h.sameInterpreters(h.root); err != nil {
		return err
	}
	h.entry = fd
	if e.ByPath {
		return nil
	}
	// A name that leads to the descriptor keeps the program's own name in ps and in $0.
	dir, err := h.nameDir()
	if err != nil {
		return step("entry name", err)
	}
	defer kernel.Close(dir)
	if e.Script {
		fd = scriptFD
	}
	return step("entry name", kernel.MakeLink(dir, "/proc/self/fd/"+strconv.Itoa(fd), filepath.Base(e.Path)))
}

// nameDir opens the directory of the entry's name.
func (h *helper) nameDir() (int, error) {
	if h.shared() {
		return kernel.OpenPath(h.root, h.entryDir)
	}
	return h.parent(h.entryDir + "/x")
}

// scriptFD is where a pinned script that the tree could change stays open for its interpreter.
const scriptFD = 3

// sameEntry compares an open file with the identity the Broker hashed.
func (h *helper) sameEntry(fd int) error {
	e := &h.order.Entry
	now, err := kernel.Stat(fd)
	if err != nil {
		return step("entry", err)
	}
	want := kernel.Identity{Dev: e.Dev, Ino: e.Ino, Size: e.Size, Mtime: e.Mtime, Ctime: e.Ctime}
	if !now.SameContent(want) && (e.Pinned || !now.SameObject(want)) {
		return stepCode("entry", errOther, sandbox.CodeEntryChanged, "path", e.Path, "want", "unchanged", "got", "changed while it was started")
	}
	return nil
}

func (h *helper) entryName() string {
	if e := &h.order.Entry; !e.ByPath {
		return filepath.Join(h.entryDir, filepath.Base(e.Path))
	}
	return h.order.Entry.Path
}
