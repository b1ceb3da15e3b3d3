package osroot

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// Limits of a walk; the system's own, so that a process meets the same ones.
const (
	maxLinks = 40   // symlinks in one walk
	maxPath  = 4095 // bytes
	maxName  = 255  // bytes of one component
)

// walk is one resolution under way. While it is outside every root it only spells: volume and out are a path that nobody
// looked at. Once it enters a root it holds one directory, dir, which lies rel below root.
type walk struct {
	tree   *Tree
	asked  string
	follow bool // a symlink as the last component too

	todo   []string // components to come, the next one last
	slash  bool     // the last one must be a directory
	links  int
	active []expansion
	single bool // step by step until the next link: going several at once did not work

	volume string
	out    []string

	root  *root // nil while outside
	dir   dir
	rel   []string
	label string // the innermost root so far
}

// expansion is a symlink whose target is being walked: as long as more than rest components are to come.
type expansion struct {
	link meta
	rest int
}

func (w *walk) run(ctx context.Context) (*Handle, error) {
	if w.asked == "" || badName(w.asked) {
		return nil, refuse(workspace.CodeBadName, w.asked)
	}
	volume := filepath.VolumeName(w.asked)
	switch abs := filepath.IsAbs(w.asked); {
	case abs:
		w.volume = volume
	case volume != "" || isSeparator(w.asked[0]):
		return nil, refuse(workspace.CodeBadName, w.asked) // relative to a drive
	case w.tree.first.isFile():
		return nil, refuse(workspace.CodeNotDirectory, w.asked)
	default:
		if err := w.enter(w.tree.first); err != nil {
			return nil, err
		}
	}
	if err := w.push(w.asked[len(volume):]); err != nil {
		return nil, err
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		h, err := w.next()
		if err != nil || h != nil {
			return h, err
		}
	}
}

// next takes one component, or ends the walk. It returns the handle when there is one.
func (w *walk) next() (*Handle, error) {
	if len(w.todo) == 0 {
		return w.end()
	}
	name := w.todo[len(w.todo)-1]
	w.todo = w.todo[:len(w.todo)-1]
	return w.step(name)
}

// push puts the components of a path before those to come.
func (w *walk) push(path string) error {
	parts := strings.FieldsFunc(path, func(r rune) bool { return r < 0x80 && isSeparator(byte(r)) })
	if len(w.todo) == 0 && len(path) > 0 {
		last := ""
		if len(parts) > 0 {
			last = parts[len(parts)-1]
		}
		w.slash = w.slash || isSeparator(path[len(path)-1]) || last == "." || last == ".."
	}
	for _, p := range slices.Backward(parts) {
		if p == "." {
			continue
		}
		if p != ".." && !validName(p) {
			return refuse(workspace.CodeBadName, w.asked)
		}
		w.todo = append(w.todo, p)
	}
	return nil
}

// step takes one component. It returns a handle when that was the last one.
func (w *walk) step(name string) (*Handle, error) {
	if w.root == nil {
		return nil, w.spell(name)
	}
	if w.root.isFile() {
		return nil, refuse(workspace.CodeNotDirectory, w.asked)
	}
	if name == ".." {
		return nil, w.up()
	}
	if w.sprint(name) {
		return nil, nil
	}
	last := len(w.todo) == 0
	path := filepath.Join(w.here(), name)
	if len(path) > maxPath {
		return nil, refuse(workspace.CodeBadName, w.asked)
	}
	p, m, err := w.dir.look(name)
	if errors.Is(err, fs.ErrNotExist) && last {
		return w.handle(name, path, nil, meta{}), nil
	}
	if err != nil {
		return nil, err
	}
	if err := w.relabel(path, m); err != nil {
		p.close()
		return nil, err
	}
	switch {
	case m.mode&fs.ModeSymlink != 0 && (!last || w.follow || w.slash):
		defer p.close()
		return nil, w.expand(p, m)
	case !m.mode.IsDir() && (!last || w.slash):
		p.close()
		return nil, refuse(workspace.CodeNotDirectory, w.asked)
	case last:
		return w.handle(name, path, p, m), nil
	}
	d, err := p.into()
	if err != nil {
		return nil, err
	}
	w.dir.close()
	w.dir, w.rel = d, append(w.rel, name)
	return nil, nil
}

// sprint takes name and all plain directories after it in one call, up to the last component, a ".." or a root of its own.
// It is only a shorter way: whatever stops it is found again by single steps, which know what to make of it.
func (w *walk) sprint(name string) bool {
	if w.single {
		return false
	}
	names, path := []string{name}, filepath.Join(w.here(), name)
	for len(w.todo) > len(names) && w.tree.roots[path] == nil {
		next := w.todo[len(w.todo)-len(names)]
		if next == ".." {
			break
		}
		names, path = append(names, next), path+string(filepath.Separator)+next
	}
	if w.tree.roots[path] != nil { // that one is for a single step
		names = names[:len(names)-1]
	}
	if len(names) < 2 || len(path) > maxPath {
		return false
	}
	d, err := w.dir.descend(filepath.Join(names...))
	if err != nil {
		w.single = true
		return false
	}
	w.dir.close()
	w.dir, w.rel, w.todo = d, append(w.rel, names...), w.todo[:len(w.todo)-len(names)+1]
	return true
}

// end is reached when no component is left: on a root, on a directory that was come back to, or outside.
func (w *walk) end() (*Handle, error) {
	switch {
	case w.root == nil:
		return nil, errOutside
	case len(w.rel) > 0: // walk there once more, so that its last step has a parent and a name
		w.slash = true
		name := w.rel[len(w.rel)-1]
		err := w.again(w.rel[:len(w.rel)-1])
		w.todo = slices.Insert(w.todo, 0, name)
		return nil, err
	case w.root.isFile() && w.slash:
		return nil, refuse(workspace.CodeNotDirectory, w.asked)
	}
	return w.rootHandle()
}

// spell moves outside the roots, without looking, and enters a root when it stands on one.
func (w *walk) spell(name string) error {
	if name != ".." {
		w.out = append(w.out, name)
	} else if len(w.out) > 0 {
		w.out = w.out[:len(w.out)-1]
	}
	return w.arrive()
}

func (w *walk) arrive() error {
	if r := w.tree.roots[w.volume+string(filepath.Separator)+filepath.Join(w.out...)]; r != nil {
		return w.enter(r)
	}
	return nil
}

func (w *walk) enter(r *root) error {
	d, err := r.dir.dup()
	if err != nil {
		return err
	}
	w.leave()
	w.root, w.dir, w.rel, w.label = r, d, nil, r.path
	return nil
}

func (w *walk) leave() {
	if w.dir != nil {
		w.dir.close()
	}
	w.root, w.dir, w.rel = nil, nil, nil
}

// up takes one "..", and those right after it. Inside the root the way down is walked again: a parent is what its path says,
// never what the system says.
func (w *walk) up() error {
	n := 1
	for len(w.todo) > 0 && w.todo[len(w.todo)-1] == ".." {
		w.todo = w.todo[:len(w.todo)-1]
		n++
	}
	if n <= len(w.rel) {
		return w.again(w.rel[:len(w.rel)-n])
	}
	n -= len(w.rel)
	volume, out := spelled(w.root.path)
	w.leave()
	w.volume, w.out = volume, out[:max(0, len(out)-n)]
	return w.arrive()
}

// again walks from the root to rel before anything else to come.
func (w *walk) again(rel []string) error {
	rel = slices.Clone(rel)
	if err := w.enter(w.root); err != nil {
		return err
	}
	for _, name := range slices.Backward(rel) {
		w.todo = append(w.todo, name)
	}
	return nil
}

// expand puts the target of a symlink before what is to come.
func (w *walk) expand(p pin, link meta) error {
	rest := len(w.todo)
	w.active = slices.DeleteFunc(w.active, func(e expansion) bool { return rest < e.rest })
	if w.links++; w.links > maxLinks || slices.ContainsFunc(w.active, func(e expansion) bool { return e.link.same(link) }) {
		return refuse(workspace.CodeCycle, w.asked)
	}
	target, err := p.target()
	if err != nil {
		return err
	}
	if target == "" || badName(target) {
		return refuse(workspace.CodeNotFound, w.asked)
	}
	w.active, w.single = append(w.active, expansion{link: link, rest: rest}), false
	volume := filepath.VolumeName(target)
	if filepath.IsAbs(target) {
		w.leave()
		w.volume, w.out = volume, nil
		if err := w.arrive(); err != nil {
			return err
		}
	} else if volume != "" || isSeparator(target[0]) {
		return errOutside
	}
	return w.push(target[len(volume):])
}

// relabel notices that a place is a root of its own. It must still be what was pinned as that root (FS-03).
func (w *walk) relabel(path string, m meta) error {
	r := w.tree.roots[path]
	if r == nil {
		return nil
	}
	if !r.meta.same(m) {
		return errChanged
	}
	w.label = r.path
	return nil
}

func (w *walk) here() string { return filepath.Join(append([]string{w.root.path}, w.rel...)...) }

// spelled splits an absolute clean path.
func spelled(path string) (volume string, parts []string) {
	volume = filepath.VolumeName(path)
	return volume, strings.FieldsFunc(path[len(volume):], func(r rune) bool { return r == filepath.Separator })
}

func badName(path string) bool { return len(path) > maxPath || strings.IndexByte(path, 0) >= 0 }
