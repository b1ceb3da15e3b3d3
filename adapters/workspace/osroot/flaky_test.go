package osroot

import (
	"io/fs"
	"sync"
)

// flaky makes the n-th call that can fail, or every one from there on, fail with err. Closing never fails.
type flaky struct {
	system
	mu    sync.Mutex
	n     int
	after bool // and all later ones: a crash, as seen from the disk
	err   error
	calls int
	last  string // the call that failed first
}

func (f *flaky) fails(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	if f.calls == f.n || f.after && f.n > 0 && f.calls > f.n {
		if f.last == "" {
			f.last = name
		}
		return f.err
	}
	return nil
}

func (f *flaky) arm(n int, after bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n, f.after, f.err, f.calls, f.last = n, after, err, 0, ""
}

func (f *flaky) root(path string) (pin, error) {
	p, err := f.system.root(path)
	return flakyPin{p, f}, err
}

type flakyPin struct {
	pin
	f *flaky
}

func (p flakyPin) meta() (meta, error) {
	if err := p.f.fails("meta"); err != nil {
		return meta{}, err
	}
	return p.pin.meta()
}

func (p flakyPin) dir() (dir, error) {
	if err := p.f.fails("dir"); err != nil {
		return nil, err
	}
	d, err := p.pin.dir()
	return flakyDir{d, p.f}, err
}

func (p flakyPin) into() (dir, error) {
	if err := p.f.fails("into"); err != nil {
		p.close()
		return nil, err
	}
	d, err := p.pin.into()
	return flakyDir{d, p.f}, err
}

func (p flakyPin) dup() (pin, error) {
	d, err := p.pin.dup()
	return flakyPin{d, p.f}, err
}

type flakyDir struct {
	dir
	f *flaky
}

func (d flakyDir) look(name string) (pin, meta, error) {
	if err := d.f.fails("look"); err != nil {
		return nil, meta{}, err
	}
	p, m, err := d.dir.look(name)
	if err != nil {
		return nil, m, err
	}
	return flakyPin{p, d.f}, m, nil
}

func (d flakyDir) descend(path string) (dir, error) {
	if err := d.f.fails("descend"); err != nil {
		return nil, err
	}
	c, err := d.dir.descend(path)
	return flakyDir{c, d.f}, err
}

func (d flakyDir) stat(name string) (meta, error) {
	if err := d.f.fails("stat"); err != nil {
		return meta{}, err
	}
	return d.dir.stat(name)
}

func (d flakyDir) open(name string) (file, error) {
	if err := d.f.fails("open"); err != nil {
		return nil, err
	}
	f, err := d.dir.open(name)
	return flakyFile{f, d.f}, err
}

func (d flakyDir) create(name string, perm fs.FileMode) (file, error) {
	if err := d.f.fails("create"); err != nil {
		return nil, err
	}
	f, err := d.dir.create(name, perm)
	return flakyFile{f, d.f}, err
}

func (d flakyDir) replace(from, to string) error {
	if err := d.f.fails("replace"); err != nil {
		return err
	}
	return d.dir.replace(from, to)
}

func (d flakyDir) move(from string, dest dir, to string) error {
	if err := d.f.fails("move"); err != nil {
		return err
	}
	return d.dir.move(from, dest.(flakyDir).dir, to)
}

func (d flakyDir) unlink(name string) error {
	if err := d.f.fails("unlink"); err != nil {
		return err
	}
	return d.dir.unlink(name)
}

func (d flakyDir) rmdir(name string) error {
	if err := d.f.fails("rmdir"); err != nil {
		return err
	}
	return d.dir.rmdir(name)
}

func (d flakyDir) mkdir(name string) error {
	if err := d.f.fails("mkdir"); err != nil {
		return err
	}
	return d.dir.mkdir(name)
}

func (d flakyDir) names(each func([]string) error) error {
	if err := d.f.fails("names"); err != nil {
		return err
	}
	return d.dir.names(each)
}

func (d flakyDir) claim(name string) (dir, error) {
	if err := d.f.fails("claim"); err != nil {
		return nil, err
	}
	c, err := d.dir.claim(name)
	return flakyDir{c, d.f}, err
}

func (d flakyDir) dup() (dir, error) {
	c, err := d.dir.dup()
	return flakyDir{c, d.f}, err
}

type flakyFile struct {
	file
	f *flaky
}

func (f flakyFile) meta() (meta, error) {
	if err := f.f.fails("file meta"); err != nil {
		return meta{}, err
	}
	return f.file.meta()
}

// Write writes half before it fails.
func (f flakyFile) Write(p []byte) (int, error) {
	if err := f.f.fails("write"); err != nil {
		n, _ := f.file.Write(p[:len(p)/2])
		return n, err
	}
	return f.file.Write(p)
}

func (f flakyFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.f.fails("read"); err != nil {
		return 0, err
	}
	return f.file.ReadAt(p, off)
}

func (f flakyFile) adopt(of meta, perm fs.FileMode) error {
	if err := f.f.fails("adopt"); err != nil {
		return err
	}
	return f.file.adopt(of, perm)
}

func (f flakyFile) sync() error {
	if err := f.f.fails("sync"); err != nil {
		return err
	}
	return f.file.sync()
}
