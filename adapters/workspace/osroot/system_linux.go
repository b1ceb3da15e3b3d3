package osroot

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/agent-mcp/agent-mcp/adapters/workspace/osroot/internal/kernel"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// native is the system of this machine.
func native() system { return linux{} }

// linux goes through pinned descriptors alone.
type linux struct{}

// pinned, directory and openFile are each one descriptor, of an object, a directory and an open file.
type (
	pinned    struct{ fd kernel.FD }
	directory struct{ fd kernel.FD }
	openFile  struct{ fd kernel.FD }
)

var (
	_ pin    = pinned{}
	_ mover  = directory{}
	_ file   = openFile{}
	_ system = linux{}
)

func (linux) root(path string) (pin, error) {
	fd, err := kernel.OpenRoot(path)
	return pinned{fd}, err
}

func metaOf(s kernel.Stat, err error) (meta, error) {
	if err != nil {
		return meta{}, err
	}
	return meta{mode: s.Mode, links: s.Links, uid: s.UID, gid: s.GID, id: workspace.Identity{
		Volume: s.Dev, File: s.Ino, Size: s.Size, ModifiedAt: s.Modified, Change: s.Changed,
	}}, nil
}

func (p pinned) meta() (meta, error) { return metaOf(p.fd.Stat()) }

func (p pinned) target() (string, error) {
	t, err := p.fd.Target()
	if errors.Is(err, kernel.ErrMagic) {
		return "", errOutside
	}
	return t, err
}

func (p pinned) dir() (dir, error) {
	fd, err := p.fd.Dup()
	return directory{fd}, err
}

func (p pinned) into() (dir, error) { return directory(p), nil }

func (p pinned) dup() (pin, error) {
	fd, err := p.fd.Dup()
	return pinned{fd}, err
}

func (p pinned) reclaim() error { return p.fd.Reclaim() }

func (p pinned) writable() error { return p.fd.Writable() }

func (p pinned) close() { _ = p.fd.Close() }

func (d directory) look(name string) (pin, meta, error) {
	fd, err := d.fd.Look(name)
	if err != nil {
		return nil, meta{}, err
	}
	m, err := metaOf(fd.Stat())
	if err != nil {
		_ = fd.Close()
		return nil, meta{}, err
	}
	return pinned{fd}, m, nil
}

func (d directory) descend(path string) (dir, error) {
	fd, err := d.fd.Descend(path)
	return directory{fd}, err
}

func (d directory) stat(name string) (meta, error) { return metaOf(d.fd.StatEntry(name)) }

func (d directory) open(name string) (file, error) {
	fd, err := d.fd.Open(name)
	return openFile{fd}, err
}

func (d directory) create(name string, perm fs.FileMode) (file, error) {
	fd, err := d.fd.Create(name, perm)
	return openFile{fd}, err
}

func (d directory) replace(from, to string) error { return d.fd.Rename(from, d.fd, to, true) }

func (d directory) move(from string, dest dir, to string) error {
	err := d.fd.Rename(from, dest.(directory).fd, to, false)
	if errors.Is(err, syscall.EINVAL) { // a file system that cannot promise not to replace
		return moveStepwise(d, from, dest, to)
	}
	return err
}

func (d directory) rename(from string, dest dir, to string) error {
	return d.fd.Rename(from, dest.(directory).fd, to, true)
}

func (d directory) link(from string, dest dir, to string) error {
	return d.fd.Link(from, dest.(directory).fd, to)
}

func (d directory) unlink(name string) error { return d.fd.Unlink(name) }

func (d directory) rmdir(name string) error { return d.fd.Rmdir(name) }

func (d directory) mkdir(name string) error { return d.fd.Mkdir(name, 0o777) }

func (d directory) names(each func([]string) error) error {
	open, err := d.fd.OpenDir()
	if err != nil {
		return err
	}
	return errors.Join(open.Names(each), open.Close())
}

func (d directory) claim(name string) (dir, error) {
	fd, err := d.fd.Claim(name)
	return directory{fd}, err
}

func (d directory) sync() {
	if open, err := d.fd.OpenDir(); err == nil {
		_ = open.Sync()
		_ = open.Close()
	}
}

func (d directory) dup() (dir, error) {
	fd, err := d.fd.Dup()
	return directory{fd}, err
}

func (d directory) close() { _ = d.fd.Close() }

func (f openFile) meta() (meta, error) { return metaOf(f.fd.Stat()) }

// ReadAt implements file.
func (f openFile) ReadAt(p []byte, off int64) (int, error) { return f.fd.ReadAt(p, off) }

// Write implements file.
func (f openFile) Write(p []byte) (int, error) { return f.fd.Write(p) }

func (f openFile) adopt(of meta, perm fs.FileMode) error {
	f.fd.Chown(of.uid, of.gid)
	return f.fd.Chmod(perm)
}

func (f openFile) sync() error { return f.fd.Sync() }

func (f openFile) close() error { return f.fd.Close() }
