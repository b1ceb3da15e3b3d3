package mem

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// The limits of a usual system.
const (
	maxLinks = 40
	maxPath  = 4095
	maxName  = 255
)

// walk is one resolution, under the tree's lock. at is where it stands: a canonical path, looked at only inside the roots.
type walk struct {
	tree   *Tree
	asked  string
	follow bool
	at     string
	todo   []string // the next one first
	slash  bool
	links  int
}

func bad(name string) bool { return len(name) > maxPath || strings.IndexByte(name, 0) >= 0 }

func (w *walk) run() (*Handle, fault.Code) {
	if w.asked == "" || bad(w.asked) {
		return nil, workspace.CodeBadName
	}
	if !w.push(w.asked) {
		return nil, workspace.CodeBadName
	}
	for len(w.todo) > 0 {
		if code := w.step(); code != "" {
			return nil, code
		}
	}
	return w.end()
}

// push puts a path before what is to come; false when a name in it is none.
func (w *walk) push(p string) bool {
	if path.IsAbs(p) {
		w.at = "/"
	}
	if len(w.todo) == 0 {
		last := p[strings.LastIndexByte(p, '/')+1:]
		w.slash = w.slash || last == "" || last == "." || last == ".."
	}
	var parts []string
	for part := range strings.SplitSeq(p, "/") {
		if len(part) > maxName {
			return false
		}
		if part != "" && part != "." {
			parts = append(parts, part)
		}
	}
	w.todo = append(parts, w.todo...)
	return true
}

// step takes one component. The place it comes to may be missing when it is the last one.
func (w *walk) step() fault.Code {
	name := w.todo[0]
	w.todo = w.todo[1:]
	if name == ".." {
		w.at = path.Dir(w.at)
		return ""
	}
	w.at = path.Join(w.at, name)
	root, n, code := w.find(w.at)
	switch {
	case len(w.at) > maxPath:
		return workspace.CodeBadName
	case code != "" || root == "":
		return code
	case n == nil && len(w.todo) > 0:
		return workspace.CodeNotFound
	case n == nil:
		return ""
	case n.mode&fs.ModeSymlink != 0 && (len(w.todo) > 0 || w.follow || w.slash):
		return w.expand(n)
	case !n.mode.IsDir() && (len(w.todo) > 0 || w.slash):
		return workspace.CodeNotDirectory
	}
	return ""
}

func (w *walk) expand(n *node) fault.Code {
	if w.links++; w.links > maxLinks {
		return workspace.CodeCycle
	}
	if n.target == "" || bad(n.target) {
		return workspace.CodeNotFound
	}
	w.at = path.Dir(w.at)
	if !w.push(n.target) {
		return workspace.CodeBadName
	}
	return ""
}

// find looks up a canonical path: the innermost root it lies in ("" for none) and the object, nil when it is missing.
func (w *walk) find(at string) (root string, n *node, code fault.Code) {
	var outer string
	for r := range w.tree.roots {
		if !within(at, r) {
			continue
		}
		if outer == "" || len(r) < len(outer) {
			outer = r
		}
		if len(r) > len(root) {
			root = r
		}
	}
	if root == "" {
		return "", nil, ""
	}
	n = w.tree.roots[outer]
	below := outer
	for _, part := range strings.FieldsFunc(at[len(outer):], func(r rune) bool { return r == '/' }) {
		if n = n.kids[part]; n == nil {
			return root, nil, ""
		}
		below = path.Join(below, part)
		if pinned := w.tree.roots[below]; pinned != nil && pinned != n {
			return root, nil, workspace.CodeChanged
		}
	}
	return root, n, ""
}

func within(at, root string) bool {
	return at == root || root == "/" || strings.HasPrefix(at, root+"/")
}

func (w *walk) end() (*Handle, fault.Code) {
	root, n, code := w.find(w.at)
	switch {
	case code != "":
		return nil, code
	case root == "":
		return nil, workspace.CodeOutside
	}
	h := &Handle{tree: w.tree, path: w.at, root: root, name: path.Base(w.at), node: n, slash: w.slash}
	if parent := path.Dir(w.at); w.at != "/" && slices.ContainsFunc(w.roots(), func(r string) bool { return within(parent, r) }) {
		_, h.parent, code = w.find(parent)
	}
	return h, code
}

func (w *walk) roots() []string {
	var all []string
	for r := range w.tree.roots {
		all = append(all, r)
	}
	return all
}
