package fake

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strings"
	"sync"
)

// Disk is a file system in memory with absolute slash paths. Safe for concurrent use. The zero value is empty; parents
// are made as needed.
type Disk struct {
	mu    sync.Mutex
	nodes map[string]node
}

type node struct {
	dir     bool
	program bool // executable
	content string
}

func (n node) sum() string {
	s := sha256.Sum256([]byte(n.content))
	return hex.EncodeToString(s[:])
}

// NewDisk makes an empty disk.
func NewDisk() *Disk { return &Disk{} }

// Mkdir makes a directory and its parents, from outside the sandbox.
func (d *Disk) Mkdir(name string) { d.put(name, node{dir: true}) }

// Put writes a file from outside the sandbox; an existing program stays one.
func (d *Disk) Put(name, content string) {
	old, _ := d.stat(name)
	d.put(name, node{content: content, program: old.program})
}

// PutProgram writes an executable file from outside the sandbox.
func (d *Disk) PutProgram(name, content string) { d.put(name, node{content: content, program: true}) }

// Get reads a file from outside the sandbox.
func (d *Disk) Get(name string) (content string, ok bool) {
	n, ok := d.stat(name)
	return n.content, ok && !n.dir
}

// SHA256 is the hash of a file as Entry.SHA256 wants it, "" when there is none.
func (d *Disk) SHA256(name string) string {
	if n, ok := d.stat(name); ok && !n.dir {
		return n.sum()
	}
	return ""
}

// List names what lies directly in a directory, sorted.
func (d *Disk) List(dir string) (names []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for p := range d.nodes {
		if path.Dir(p) == dir && p != "/" {
			names = append(names, path.Base(p))
		}
	}
	slices.Sort(names)
	return names
}

func (d *Disk) put(name string, n node) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.nodes == nil {
		d.nodes = map[string]node{}
	}
	for p := path.Dir(name); p != "/" && p != "."; p = path.Dir(p) {
		d.nodes[p] = node{dir: true}
	}
	d.nodes[name] = n
}

func (d *Disk) stat(name string) (node, bool) {
	if d == nil {
		return node{}, false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	n, ok := d.nodes[name]
	return n, ok
}

func (d *Disk) remove(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.nodes, name)
}

func (d *Disk) move(from, to string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	moved := map[string]node{}
	for p, n := range d.nodes {
		if p == from || strings.HasPrefix(p, from+"/") {
			moved[to+strings.TrimPrefix(p, from)] = n
			delete(d.nodes, p)
		}
	}
	for p, n := range moved {
		d.nodes[p] = n
	}
}
