package linux

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"path/filepath"
	"time"

	"github.com/agent-mcp/agent-mcp/adapters/sandbox/linux/internal/kernel"
)

// An interpreter opens its script by name, some time after the start: no descriptor and no look at the file's times pins
// what it reads then. So a pinned script's very bytes that were hashed go with the order, into a file of the private root
// that lies over the script's path; whoever overwrites the script afterwards overwrites another file.

// maxScript is the largest script that travels with the order; the private root has 4 MiB. A larger one stays where it is,
// compared before and after the start like a program.
const maxScript = 1 << 20

// pinnedScript reads a script whole. It is nil when the bytes are not what sum says, or too many.
func pinnedScript(fd int, size int64, sum string) []byte {
	if size > maxScript {
		return nil
	}
	content, err := io.ReadAll(io.NewSectionReader(readerAt(fd), 0, maxScript+1))
	got := sha256.Sum256(content)
	if err != nil || hex.EncodeToString(got[:]) != sum {
		return nil
	}
	return content
}

// isScript reports the bind of the script itself. It is left out: a mount on a file of the host is taken away when somebody
// there renames another file over it, one on a file of the private root is not.
func (h *helper) isScript(b bind) bool {
	return len(h.order.Entry.Content) > 0 && b.Path == h.order.Entry.Path
}

// dropPassed lets go of a tree that came for a bind.
func dropPassed(b bind, passed *[]int) {
	if b.Passed && len(*passed) > 0 {
		kernel.Close((*passed)[0])
		*passed = (*passed)[1:]
	}
}

// placeScript puts the order's script over its path in the private root, and makes it the entry.
func (h *helper) placeScript() error {
	e := &h.order.Entry
	name := filepath.Base(e.Path)
	dir, err := h.parent("/.script/x")
	if err != nil {
		return err
	}
	defer kernel.Close(dir)
	if err := kernel.MakeScript(dir, name, e.Content); err != nil {
		return err
	}
	fd, err := kernel.OpenPath(h.root, "/.script/"+name)
	if err != nil {
		return err
	}
	if err := h.bind(fd, e.Path, mountAttr{ReadOnly: true}, false); err != nil { // closes fd
		return err
	}
	if fd, err = kernel.OpenPath(h.root, e.Path); err != nil {
		return err
	}
	now, err := kernel.Stat(fd)
	if err != nil {
		kernel.Close(fd)
		return err
	}
	h.entry = fd
	e.Dev, e.Ino, e.Size, e.Mtime, e.Ctime = now.Dev, now.Ino, now.Size, now.Mtime, now.Ctime
	return nil
}

// Kernels before 6.13 stamp changes with the time of the last clock tick, at most 10 ms ago: two contents within one tick
// look the same. What changed that recently is left to settle before it is read, and is not remembered for longer.
const (
	clockTick  = 20 * time.Millisecond
	settledAge = 3 * time.Second
)

// young reports whether a file changed within d, or claims to have changed in the future.
func young(id kernel.Identity, d time.Duration) bool {
	return time.Since(time.Unix(0, max(id.Mtime, id.Ctime))) < d
}
