package osroot

import (
	"io"
	"io/fs"
	"os"

	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// system is what osroot needs of an operating system. Names are single components, never "." or "..". No method follows a
// symlink. Errors are the system's own; coded gives them their code.
type system interface {
	// root pins what an absolute canonical path names. It fails when a component is a symlink.
	root(path string) (pin, error)
}

// pin holds on to one object, whatever its name comes to mean.
type pin interface {
	meta() (meta, error)
	target() (string, error) // the text of a symlink
	dir() (dir, error)       // the same object as a directory, with a life of its own
	into() (dir, error)      // dir, and the pin is closed
	writable() error         // nil, or why the process may not write the file
	dup() (pin, error)
	reclaim() error // gives the owner of a directory every right on it
	close()
}

// dir is one pinned directory.
type dir interface {
	look(name string) (pin, meta, error)
	descend(path string) (dir, error) // several names at once; fails when one is no real directory
	stat(name string) (meta, error)
	open(name string) (file, error) // for reading, never waits
	create(name string, perm fs.FileMode) (file, error)
	replace(from, to string) error               // to is taken over
	move(from string, dest dir, to string) error // to must be free: fs.ErrExist
	unlink(name string) error                    // no directory
	rmdir(name string) error                     // an empty directory
	mkdir(name string) error                     // 0777 less umask
	names(each func(names []string) error) error // in no order
	claim(name string) (dir, error)              // a subdirectory of this very mount, made accessible to its owner
	sync()                                       // makes names durable where the system can
	dup() (dir, error)
	close()
}

// file is an open file.
type file interface {
	meta() (meta, error)
	ReadAt(p []byte, off int64) (int, error) // may be short; 0 bytes or io.EOF is the end
	io.Writer
	// adopt takes over the mode perm and, as far as the process may, the owner of another object.
	adopt(of meta, perm fs.FileMode) error
	sync() error
	close() error
}

// meta describes an object.
type meta struct {
	mode     fs.FileMode
	links    uint64
	id       workspace.Identity
	uid, gid int
	info     os.FileInfo // where only os.SameFile can tell objects apart
}

// same reports that both describe one object. A number may be given to a new object once the old one is gone and not
// pinned, so the type counts too.
func (m meta) same(o meta) bool {
	if m.mode.Type() != o.mode.Type() {
		return false
	}
	if m.info != nil && o.info != nil {
		return os.SameFile(m.info, o.info)
	}
	return m.id.Volume == o.id.Volume && m.id.File == o.id.File
}
