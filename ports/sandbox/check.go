package sandbox

import (
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/rights"
)

// Check judges the form of a Spec without touching the system, so that every adapter refuses the same Specs: nil, or a
// fault with CodeBadSpec, CodeNestedRoots or CodeNetworkMode that carries every reason found (style rule 10).
func Check(s Spec) *fault.Error {
	var c checker
	c.roots(s.Roots)
	c.protect(s)
	c.entry(s)
	c.limits(s.Limits)
	c.network(s.Network)
	switch len(c.found) {
	case 0:
		return nil
	case 1:
		return c.found[0]
	}
	first := *c.found[0]
	return first.With(c.found[1:]...)
}

// Under reports whether path is dir or lies below it. Both are canonical.
func Under(path, dir string) bool {
	if path == dir {
		return true
	}
	sep := string(filepath.Separator)
	return strings.HasPrefix(path, strings.TrimSuffix(dir, sep)+sep)
}

// RootOf returns the innermost root that covers path.
func RootOf(roots []rights.Root, path string) (best rights.Root, ok bool) {
	for _, r := range roots {
		if Under(path, r.Path) && (!ok || len(r.Path) > len(best.Path)) {
			best, ok = r, true
		}
	}
	return best, ok
}

type checker struct{ found []*fault.Error }

func (c *checker) bad(detail string) {
	c.found = append(c.found, fault.New(CodeBadSpec, "detail", detail))
}

func canonical(path string) bool {
	return filepath.IsAbs(path) && filepath.Clean(path) == path && !strings.ContainsRune(path, 0)
}

func (c *checker) roots(roots []rights.Root) {
	for i, r := range roots {
		switch {
		case !canonical(r.Path):
			c.bad("root is not canonical: " + r.Path)
		case filepath.Dir(r.Path) == r.Path:
			c.bad("the whole file system cannot be a root: " + r.Path)
		case i > 0 && roots[i-1].Path >= r.Path:
			c.bad("roots are not sorted or not unique: " + r.Path)
		}
		switch {
		case r.Rights == rights.None:
			c.bad("root gives no right: " + r.Path)
		case r.Rights&^rights.All != 0:
			c.bad("root has an unknown right: " + r.Path)
		case r.Rights.Has(rights.Delete) && !r.Rights.Has(rights.Write):
			c.bad("root gives delete without write: " + r.Path)
		}
		for _, outer := range roots {
			if outer.Path != r.Path && Under(r.Path, outer.Path) && !r.Rights.Has(outer.Rights) {
				c.found = append(c.found, fault.New(CodeNestedRoots, "path", r.Path, "parent", outer.Path))
			}
		}
	}
}

func (c *checker) protect(s Spec) {
	for _, p := range s.Protect {
		if r, ok := RootOf(s.Roots, p); !canonical(p) || !ok || r.Path == p {
			c.bad("protected path is not below a root: " + p)
		}
	}
}

func (c *checker) entry(s Spec) {
	e := s.Entry
	if !canonical(e.Path) {
		c.bad("entry path is not canonical: " + e.Path)
	}
	if e.Name == "" || strings.ContainsRune(e.Name, 0) {
		c.bad("entry has no usable name")
	}
	if e.SHA256 != "" && !hash(e.SHA256) {
		c.bad("entry hash is not lower-case SHA-256")
	}
	for _, i := range e.Interpreters {
		if !canonical(i.Path) || !hash(i.SHA256) || e.SHA256 == "" {
			c.bad("interpreter is not canonical, has no SHA-256, or its script is not pinned: " + i.Path)
		}
	}
	for _, a := range s.Args {
		if strings.ContainsRune(a, 0) {
			c.bad("an argument contains a NUL byte")
		}
	}
	for _, kv := range s.Env {
		if i := strings.IndexByte(kv, '='); i < 1 || strings.ContainsRune(kv, 0) {
			c.bad("an environment entry is not NAME=value") // the value may be a secret: not shown
		}
	}
	if _, ok := RootOf(s.Roots, s.Dir); !canonical(s.Dir) || !ok {
		c.bad("working directory is not inside a root: " + s.Dir)
	}
}

func hash(text string) bool {
	b, err := hex.DecodeString(text)
	return err == nil && len(b) == 32 && strings.ToLower(text) == text
}

func (c *checker) limits(l Limits) {
	if l.Processes < 1 {
		c.bad("process limit must be positive")
	}
	if l.MemoryBytes < 1 {
		c.bad("memory limit must be positive")
	}
	if l.WallClock <= 0 {
		c.bad("wall-clock limit must be positive")
	}
	if l.OutputBytes < 1 {
		c.bad("output limit must be positive")
	}
}

func (c *checker) network(n Network) {
	switch n.Mode {
	case NetworkNone:
		if len(n.Ports)+len(n.Hosts) > 0 {
			c.bad("network none with a list")
		}
	case NetworkLocal:
		if len(n.Ports) == 0 || len(n.Hosts) > 0 {
			c.bad("network local needs ports and nothing else")
		}
		if slices.Contains(n.Ports, 0) {
			c.bad("port 0")
		}
	case NetworkRestricted:
		if len(n.Hosts) == 0 || len(n.Ports) > 0 {
			c.bad("network restricted needs hosts and nothing else")
		}
		for _, h := range n.Hosts {
			if _, _, ok := SplitEndpoint(h); !ok {
				c.bad("not host:port: " + h)
			}
		}
	default:
		c.found = append(c.found, fault.New(CodeNetworkMode, "mode", string(n.Mode)))
		return
	}
	if n.Mode != NetworkNone && (n.Connections < 1 || n.Bytes < 1) {
		c.bad("network caps must be positive")
	}
}
