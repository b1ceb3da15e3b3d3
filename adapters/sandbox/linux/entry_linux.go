package linux

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"sync"
	"syscall"
	"time"

	"github.com/agent-mcp/agent-mcp/adapters/sandbox/linux/internal/kernel"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// hashes remembers the SHA-256 of files whose identity did not change since: (dev, ino, size, mtime, ctime).
type hashes struct {
	mu    sync.Mutex
	known map[kernel.Identity]string
}

const maxHashes = 256

func (h *hashes) of(fd int, id kernel.Identity) (string, error) {
	h.mu.Lock()
	sum, ok := h.known[id]
	h.mu.Unlock()
	if ok {
		return sum, nil
	}
	if young(id, clockTick) {
		time.Sleep(clockTick)
	}
	digest := sha256.New()
	if _, err := io.Copy(digest, io.NewSectionReader(readerAt(fd), 0, 1<<62)); err != nil {
		return "", err
	}
	sum = hex.EncodeToString(digest.Sum(nil))
	after, err := kernel.Stat(fd)
	if err != nil || !after.SameContent(id) || young(id, settledAge) {
		return sum, err // it changed while it was read, or just before: nothing to remember
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.known == nil || len(h.known) >= maxHashes {
		h.known = map[kernel.Identity]string{}
	}
	h.known[id] = sum
	return sum, nil
}

type readerAt int

func (fd readerAt) ReadAt(b []byte, off int64) (int, error) {
	n, err := kernel.ReadAt(int(fd), b, off)
	if err == nil && n < len(b) {
		err = io.EOF
	}
	return n, err
}

// inspect opens the entry without following symlinks and judges it. What it returns names the very file the helper must
// start.
func (s *Sandbox) inspect(spec sandbox.Spec) (e entryOrder, f *fault.Error) {
	path := spec.Entry.Path
	fd, err := kernel.OpenRead(kernel.CurrentRoot, path)
	if err != nil {
		if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP) {
			return e, fault.Wrap(err, sandbox.CodeEntryMissing, "path", path)
		}
		return e, fault.Wrap(err, sandbox.CodeEntryFailed, "path", path, "detail", err.Error())
	}
	defer kernel.Close(fd)
	id, err := kernel.Stat(fd)
	switch {
	case err != nil:
		return e, fault.Wrap(err, sandbox.CodeEntryFailed, "path", path, "detail", err.Error())
	case id.IsDir():
		return e, fault.New(sandbox.CodeEntryFailed, "path", path, "detail", syscall.EISDIR.Error())
	case !id.IsRegular():
		return e, fault.New(sandbox.CodeEntryFailed, "path", path, "detail", "not a regular file")
	case id.Mode&0o111 == 0:
		return e, fault.New(sandbox.CodeEntryFailed, "path", path, "detail", syscall.EACCES.Error())
	}
	if want := spec.Entry.SHA256; want != "" {
		got, err := s.hashes.of(fd, id)
		if err != nil {
			return e, fault.Wrap(err, sandbox.CodeEntryFailed, "path", path, "detail", err.Error())
		}
		if got != want {
			return e, fault.New(sandbox.CodeEntryChanged, "path", path, "want", want, "got", got)
		}
	}
	var magic [2]byte
	n, _ := kernel.ReadAt(fd, magic[:], 0)
	e = entryOrder{
		Path: path, Name: spec.Entry.Name, Dev: id.Dev, Ino: id.Ino, Size: id.Size, Mtime: id.Mtime, Ctime: id.Ctime,
		Pinned: spec.Entry.SHA256 != "", Script: n == 2 && string(magic[:]) == "#!",
	}
	if e.Interpreters, f = s.inspectInterpreters(spec.Entry.Interpreters); f != nil {
		return e, f
	}
	e.ByPath = e.Script && (!e.Pinned || !writable(spec.Roots, path))
	if e.ByPath && e.Pinned {
		e.Content = pinnedScript(fd, id.Size, spec.Entry.SHA256)
	}
	return e, nil
}
