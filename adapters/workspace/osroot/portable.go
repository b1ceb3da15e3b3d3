package osroot

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// portable goes through os.Root, which every system has. Directories are pinned; a file is known by os.SameFile and looked
// up by name again, so that a swapped one is noticed. A move between two roots is refused as crossing volumes.
type portable struct{}

var (
	_ system = portable{}
	_ pin    = namedPin{}
	_ mover  = rootDir{}
	_ file   = osFile{}
)

func (portable) root(path string) (pin, error) {
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	if resolved != path {
		return nil, syscall.ELOOP
	}
	info, err := os.Lstat(path)
	return namedPin{path: path, info: info}, err
}

// namedPin is an entry of a directory, or a root when path is set.
type namedPin struct {
	in   rootDir
	name string
	path string
	info os.FileInfo
}

func (p namedPin) meta() (meta, error) {
	if p.path == "" {
		return p.in.stat(p.name)
	}
	info, err := os.Lstat(p.path)
	if err != nil {
		return meta{}, err
	}
	if !os.SameFile(info, p.info) {
		return meta{}, errChanged
	}
	return metaOfInfo(info), nil
}

func (p namedPin) target() (string, error) {
	t, err := p.in.root.Readlink(p.name)
	return t, escape(err)
}

func (p namedPin) dir() (dir, error) {
	d := rootDir{top: p.path, topInfo: p.info}
	var err error
	if p.path != "" {
		d.root, err = os.OpenRoot(p.path)
	} else {
		d.top, d.topInfo, d.rel = p.in.top, p.in.topInfo, filepath.Join(p.in.rel, p.name)
		d.root, err = p.in.root.OpenRoot(p.name)
	}
	if err != nil {
		return nil, escape(err)
	}
	info, err := d.root.Stat(".")
	if err == nil && !os.SameFile(info, p.info) {
		err = errChanged
	}
	if err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

func (p namedPin) into() (dir, error) { return p.dir() }

func (p namedPin) dup() (pin, error) { return p, nil }

func (p namedPin) reclaim() error {
	perm := p.info.Mode()&^fs.ModeType | 0o700
	if p.path != "" {
		return escape(os.Chmod(p.path, perm))
	}
	return escape(p.in.root.Chmod(p.name, perm)) // of a swapped symlink it stays within the tree
}

func (p namedPin) writable() error {
	f, err := p.in.root.OpenFile(p.name, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return escape(err)
	}
	return f.Close()
}

func (namedPin) close() {}

// rootDir is a directory at rel below the root top.
type rootDir struct {
	root    *os.Root
	top     string
	topInfo os.FileInfo
	rel     string
}

func (d rootDir) look(name string) (pin, meta, error) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return nil, meta{}, escape(err)
	}
	return namedPin{in: d, name: name, info: info}, metaOfInfo(info), nil
}

// descend leaves it to the single steps: os.Root would follow symlinks on the way.
func (d rootDir) descend(string) (dir, error) { return nil, errors.ErrUnsupported }

func (d rootDir) stat(name string) (meta, error) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return meta{}, escape(err)
	}
	return metaOfInfo(info), nil
}

func (d rootDir) open(name string) (file, error) {
	f, err := d.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	return osFile{f}, escape(err)
}

func (d rootDir) create(name string, perm fs.FileMode) (file, error) {
	f, err := d.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
	return osFile{f}, escape(err)
}

func (d rootDir) replace(from, to string) error { return escape(d.root.Rename(from, to)) }

func (d rootDir) move(from string, dest dir, to string) error {
	info, err := d.root.Lstat(from)
	if err != nil {
		return escape(err)
	}
	if !info.IsDir() {
		return moveStepwise(d, from, dest, to)
	}
	// os.Root never renames onto a directory, and the system never renames a directory onto a file.
	if _, err = dest.(rootDir).root.Lstat(to); err == nil {
		return syscall.EEXIST
	}
	return d.rename(from, dest, to)
}

func (d rootDir) rename(from string, dest dir, to string) error {
	return d.across(from, dest.(rootDir), to, (*os.Root).Rename)
}

func (d rootDir) link(from string, dest dir, to string) error {
	return d.across(from, dest.(rootDir), to, (*os.Root).Link)
}

// across does what needs both places below one os.Root.
func (d rootDir) across(from string, dest rootDir, to string, do func(*os.Root, string, string) error) error {
	if d.root == dest.root {
		return escape(do(d.root, from, to))
	}
	if d.top != dest.top {
		return syscall.EXDEV
	}
	top, err := os.OpenRoot(d.top)
	if err != nil {
		return err
	}
	defer func() { _ = top.Close() }()
	info, err := top.Stat(".")
	if err != nil || !os.SameFile(info, d.topInfo) {
		return errors.Join(err, errChanged)
	}
	for _, side := range []rootDir{d, dest} {
		here, err := side.root.Stat(".")
		if err != nil {
			return err
		}
		named, err := top.Lstat(filepath.Join(".", side.rel))
		if err != nil || !os.SameFile(here, named) {
			return errChanged
		}
	}
	return escape(do(top, filepath.Join(d.rel, from), filepath.Join(dest.rel, to)))
}

func (d rootDir) unlink(name string) error {
	info, err := d.root.Lstat(name)
	if err != nil {
		return escape(err)
	}
	if info.IsDir() {
		return syscall.EISDIR
	}
	return escape(d.root.Remove(name))
}

func (d rootDir) rmdir(name string) error {
	info, err := d.root.Lstat(name)
	if err != nil {
		return escape(err)
	}
	if !info.IsDir() {
		return syscall.ENOTDIR
	}
	return escape(d.root.Remove(name))
}

func (d rootDir) mkdir(name string) error { return escape(d.root.Mkdir(name, 0o777)) }

func (d rootDir) names(each func([]string) error) (err error) {
	f, err := d.root.Open(".")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for {
		names, err := f.Readdirnames(1024)
		if len(names) == 0 {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if err := each(names); err != nil {
			return err
		}
	}
}

func (d rootDir) claim(name string) (dir, error) {
	here, err := d.stat(".")
	if err != nil {
		return nil, err
	}
	p, m, err := d.look(name)
	if err != nil {
		return nil, err
	}
	if m.id.Volume != here.id.Volume {
		return nil, syscall.EXDEV
	}
	if m.mode.Perm()&0o700 != 0o700 {
		_ = d.root.Chmod(name, 0o700) // of a swapped symlink it stays within the tree
	}
	return p.dir()
}

func (d rootDir) sync() {
	if f, err := d.root.Open("."); err == nil {
		_ = f.Sync()
		_ = f.Close()
	}
}

func (d rootDir) dup() (dir, error) {
	r, err := d.root.OpenRoot(".")
	d.root = r
	return d, err
}

func (d rootDir) close() { _ = d.root.Close() }

// osFile is an open file.
type osFile struct{ *os.File }

func (f osFile) meta() (meta, error) {
	info, err := f.Stat()
	if err != nil {
		return meta{}, err
	}
	return metaOfInfo(info), nil
}

func (f osFile) adopt(of meta, perm fs.FileMode) error {
	if of.uid >= 0 && f.Chown(of.uid, of.gid) != nil {
		_ = f.Chown(-1, of.gid) // the file stays the process's own, which is never less private
	}
	return f.Chmod(perm)
}

func (f osFile) sync() error { return f.Sync() }

func (f osFile) close() error { return f.Close() }

func metaOfInfo(info os.FileInfo) meta {
	m := meta{mode: info.Mode(), links: 1, uid: -1, gid: -1, info: info}
	m.id = workspace.Identity{Size: info.Size(), ModifiedAt: info.ModTime()}
	identify(info, &m)
	return m
}

// escape gives os.Root's refusal, which has no exported value, our own: a single name escapes only when it became a symlink.
func escape(err error) error {
	if err != nil && strings.Contains(err.Error(), "path escapes from parent") {
		return errors.Join(errChanged, err)
	}
	return err
}
