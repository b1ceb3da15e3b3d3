package policy

import (
	"strings"

	"github.com/agent-mcp/agent-mcp/ports/rights"
)

// node is one path component of a compiled set of paths. Looking a path up costs its own components, whatever the number
// of roots.
type node struct {
	children map[string]*node
	rights   rights.Set // union of the rights of every root on the way here
	root     int        // 1 + index of the root that starts here, 0 = none
	marked   bool       // protected tree: this path and all below
}

func (s Style) separator() byte {
	if s.Separator == 0 {
		return '/'
	}
	return s.Separator
}

// body strips what makes a path absolute and reports whether it is. Windows: "C:\x" → "C:\x" (the drive is a component).
func (s Style) body(path string) (string, bool) {
	if s.separator() == '/' {
		if path == "" || path[0] != '/' {
			return "", false
		}
		return path[1:], true
	}
	if len(path) < 3 || path[1] != ':' || path[2] != s.separator() {
		return "", false
	}
	if len(path) == 3 {
		return path[:2], true
	}
	return path, true
}

// next cuts the first component. ok is false for what a canonical path never holds.
func (s Style) next(body string) (component, rest string, ok bool) {
	i := strings.IndexByte(body, s.separator())
	if i < 0 {
		component = body
	} else {
		component, rest = body[:i], body[i+1:]
		if rest == "" {
			return "", "", false // trailing separator
		}
	}
	if component == "" || component == "." || component == ".." {
		return "", "", false
	}
	return component, rest, true
}

func (s Style) fold(path string) string {
	if s.FoldCase {
		return strings.ToLower(path)
	}
	return path
}

// canonical reports whether path is absolute and clean. Only the caller knows whether symlinks are resolved.
func (s Style) canonical(path string) bool {
	body, ok := s.body(path)
	if !ok || strings.IndexByte(path, 0) >= 0 {
		return false
	}
	for body != "" {
		if _, body, ok = s.next(body); !ok {
			return false
		}
	}
	return true
}

// within reports whether path is dir or lies below it; both are canonical.
func (s Style) within(path, dir string) bool {
	path, dir = s.fold(path), s.fold(dir)
	if path == dir {
		return true
	}
	if !strings.HasPrefix(path, dir) {
		return false
	}
	return dir[len(dir)-1] == s.separator() || path[len(dir)] == s.separator()
}

// insert returns the node of a canonical path, made when missing.
func (n *node) insert(s Style, path string) *node {
	body, _ := s.body(s.fold(path))
	at := n
	for body != "" {
		var c string
		c, body, _ = s.next(body)
		child := at.children[c]
		if child == nil {
			child = &node{}
			if at.children == nil {
				at.children = map[string]*node{}
			}
			at.children[c] = child
		}
		at = child
	}
	return at
}

// spread gives every node the union of rights from above.
func (n *node) spread(from rights.Set) {
	n.rights |= from
	for _, c := range n.children { // order does not matter: siblings do not see each other
		c.spread(n.rights)
	}
}

// place is where a walk ended.
type place struct {
	canonical bool
	rights    rights.Set
	root      int  // index of the deepest root, -1 = outside all
	atRoot    bool // the path is a root itself
	holdsRoot bool // a root lies below the path
}

// walk looks a path up without allocating (unless names are folded and path has upper case).
func (p *Policy) walk(path string) place {
	w := place{root: -1}
	body, ok := p.style.body(path)
	if !ok || strings.IndexByte(path, 0) >= 0 {
		return w
	}
	if p.style.FoldCase {
		body = p.style.fold(body)
	}
	at := &p.tree
	w.take(at, body == "")
	for body != "" {
		var c string
		if c, body, ok = p.style.next(body); !ok {
			return place{root: -1}
		}
		if at == nil {
			continue // only checks the rest
		}
		if at = at.children[c]; at != nil {
			w.take(at, body == "")
		}
	}
	w.canonical = true
	return w
}

func (w *place) take(n *node, last bool) {
	w.rights = n.rights
	if n.root > 0 {
		w.root = n.root - 1
	}
	if last {
		w.atRoot, w.holdsRoot = n.root > 0, len(n.children) > 0
	}
}

// above returns the rights that the roots strictly above path give it.
func (p *Policy) above(path string) rights.Set {
	var set rights.Set
	for _, r := range p.roots {
		if r.Path != path && p.style.within(path, r.Path) {
			set |= r.Rights
		}
	}
	return set
}

// guarded looks path up among the protected paths that are known to exist: at or below one, or above one.
func (p *Policy) guarded(path string) (inside, above bool) {
	if p.protected.children == nil {
		return false, false
	}
	body, ok := p.style.body(p.style.fold(path))
	at := &p.protected
	for ok && body != "" {
		var c string
		if c, body, ok = p.style.next(body); !ok {
			return false, false
		}
		if at = at.children[c]; at == nil {
			return false, false
		}
		if at.marked {
			return true, false
		}
	}
	return false, true
}
