package linux

import (
	"errors"
	"syscall"

	"github.com/agent-mcp/agent-mcp/adapters/sandbox/linux/internal/kernel"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// A script's program is opened by the kernel, by its path, when the script is executed (execve(2)). So each interpreter is
// hashed by the Broker, and the helper finds the very same content at that path before and after the start: a swap leaves
// another file there, or another change time, whichever side of the start it falls on.

// inspectInterpreters opens each interpreter without following symlinks and compares it with what was approved (PRC-02).
func (s *Sandbox) inspectInterpreters(images []sandbox.Image) (pins []pin, f *fault.Error) {
	for _, i := range images {
		p, f := s.inspectInterpreter(i)
		if f != nil {
			return nil, f
		}
		pins = append(pins, p)
	}
	return pins, nil
}

func (s *Sandbox) inspectInterpreter(i sandbox.Image) (pin, *fault.Error) {
	fd, err := kernel.OpenRead(kernel.CurrentRoot, i.Path)
	if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP) {
		return pin{}, fault.Wrap(err, sandbox.CodeEntryMissing, "path", i.Path)
	}
	if err != nil {
		return pin{}, fault.Wrap(err, sandbox.CodeEntryFailed, "path", i.Path, "detail", err.Error())
	}
	defer kernel.Close(fd)
	id, err := kernel.Stat(fd)
	if err == nil && !id.IsRegular() {
		err = errors.New("not a regular file")
	}
	got := ""
	if err == nil {
		got, err = s.hashes.of(fd, id)
	}
	if err != nil {
		return pin{}, fault.Wrap(err, sandbox.CodeEntryFailed, "path", i.Path, "detail", err.Error())
	}
	if got != i.SHA256 {
		return pin{}, fault.New(sandbox.CodeEntryChanged, "path", i.Path, "want", i.SHA256, "got", got)
	}
	return pin{Path: i.Path, Dev: id.Dev, Ino: id.Ino, Size: id.Size, Mtime: id.Mtime, Ctime: id.Ctime}, nil
}

// sameInterpreters looks at what lies at each interpreter's path below root by now.
func (h *helper) sameInterpreters(root int) error {
	for _, p := range h.order.Entry.Interpreters {
		fd, err := kernel.OpenPath(root, p.Path)
		if err != nil {
			return stepCode("interpreter", err, sandbox.CodeEntryMissing, "path", p.Path)
		}
		now, err := kernel.Stat(fd)
		kernel.Close(fd)
		if err != nil {
			return step("interpreter", err)
		}
		if !now.SameContent(kernel.Identity{Dev: p.Dev, Ino: p.Ino, Size: p.Size, Mtime: p.Mtime, Ctime: p.Ctime}) {
			return stepCode("interpreter", errOther, sandbox.CodeEntryChanged, "path", p.Path, "want", "unchanged", "got", "changed while it was started")
		}
	}
	return nil
}
