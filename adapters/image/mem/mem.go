// Package mem identifies executables of a world in memory (ports/image): the twin of image/file for tests and embedders.
// It never touches a disk.
package mem

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/image"
)

// maxLinks is Linux's bound on symlinks in one path.
const maxLinks = 40

// Images is the world. Safe for concurrent use. Paths use slashes.
type Images struct {
	mu    sync.Mutex
	nodes map[string]node
}

type node struct {
	mode   fs.FileMode
	data   string
	target string
}

var _ image.Identifier = (*Images)(nil)

// New makes a world that has only "/".
func New() *Images { return &Images{nodes: map[string]node{"/": {mode: fs.ModeDir | 0o755}}} }

// Put makes a file with its parents, or replaces it.
func (m *Images) Put(name, content string, mode fs.FileMode) {
	m.set(name, node{mode: mode.Perm(), data: content})
}

// Link makes a symlink with its parents.
func (m *Images) Link(target, name string) {
	m.set(name, node{mode: fs.ModeSymlink | 0o777, target: target})
}

// Mkdir makes a directory with its parents.
func (m *Images) Mkdir(name string, mode fs.FileMode) {
	m.set(name, node{mode: fs.ModeDir | mode.Perm()})
}

func (m *Images) set(name string, n node) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.nodes[path.Clean(name)] = n
	for dir := path.Dir(path.Clean(name)); ; dir = path.Dir(dir) {
		if _, ok := m.nodes[dir]; ok {
			return
		}
		m.nodes[dir] = node{mode: fs.ModeDir | 0o755}
	}
}

// Identify implements image.Identifier.
func (m *Images) Identify(ctx context.Context, name string) (image.Identity, error) {
	if err := ctx.Err(); err != nil {
		return image.Identity{}, fault.From(err)
	}
	if !path.IsAbs(name) {
		return image.Identity{}, fault.New(image.CodeRelative, "path", name)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	id, err := m.look(name)
	if err != nil || id.Interpreter == "" {
		return id, err
	}
	id.Interpreters, id.InterpreterFound, err = image.Interpreters(id, m.look)
	return id, err
}

// look is Identify without the interpreters. The lock is held.
func (m *Images) look(name string) (image.Identity, error) {
	at, links, code := m.resolve(name)
	if code != "" {
		return image.Identity{}, fault.New(code, "path", name)
	}
	n := m.nodes[at]
	id := image.Identity{Asked: name, Path: at, Links: links, Mode: n.mode, Directory: n.mode.IsDir(), Regular: n.mode.IsRegular()}
	id.GroupWritable, id.WorldWritable = n.mode&0o020 != 0, n.mode&0o002 != 0
	for dir := path.Dir(at); ; dir = path.Dir(dir) {
		if m.nodes[dir].mode&0o002 != 0 {
			id.OpenParents = append(id.OpenParents, dir)
		}
		if dir == "/" {
			break
		}
	}
	if id.Regular {
		m.content(&id, n)
	}
	return id, nil
}

func (m *Images) content(id *image.Identity, n node) {
	sum := sha256.Sum256([]byte(n.data))
	id.Size, id.SHA256, id.Executable = int64(len(n.data)), hex.EncodeToString(sum[:]), n.mode&0o111 != 0
	switch {
	case strings.HasPrefix(n.data, "\x7fELF"):
		id.Format = image.FormatELF
	case strings.HasPrefix(n.data, "MZ"):
		id.Format = image.FormatPE
	case strings.HasPrefix(n.data, "#!"):
		id.Format = image.FormatScript
		id.Interpreter, id.InterpreterArgument, _ = image.Shebang([]byte(n.data))
	default:
		id.Format = image.FormatUnknown
	}
}

// resolve follows symlinks component by component. The lock is held.
func (m *Images) resolve(name string) (at string, links []image.Link, bad fault.Code) {
	at = "/"
	rest := strings.Split(name, "/")
	for len(rest) > 0 {
		c := rest[0]
		rest = rest[1:]
		switch c {
		case "", ".":
			continue
		case "..":
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, c)
		n, ok := m.nodes[next]
		switch {
		case !ok || !m.nodes[at].mode.IsDir():
			return "", nil, image.CodeMissing
		case n.mode&fs.ModeSymlink == 0:
			at = next
			continue
		case len(links) == maxLinks:
			return "", nil, image.CodeCycle
		}
		links = append(links, image.Link{Path: next, Target: n.target})
		if path.IsAbs(n.target) {
			at = "/"
		}
		rest = append(strings.Split(n.target, "/"), rest...)
	}
	return at, links, ""
}
