package windows

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/agent-mcp/agent-mcp/adapters/internal/winpath"
)

// world is a Windows machine in memory. Every call can be made to fail or to be the last one before the process dies, before
// or after it took effect. What a kernel does when a process dies, die does.
type world struct {
	mu       sync.Mutex
	root     map[string]*node // by drive
	byID     map[objectID]*node
	ids      int
	handles  map[handle]any
	next     handle
	filters  map[guid]*session // nil session: persistent
	layers   map[guid]*session
	exempt   []sid
	claims   map[string]bool
	profiles map[string]bool
	keys     map[string]int // values below a profile's registry key
	self     self

	fail  failure
	calls int
	dead  bool
	log   []string
	does  func(w *world, o startOrder) does // what a started program does
	probe *does                             // preflight's program; nil: it exits as it should
	jobs  []*fakeJob
}

// failure says at which call something happens.
type failure struct {
	at    int // 1 = the first call; 0 = never
	after bool
	dies  bool
}

var errInjected = errors.New("injected failure")

type death struct{}

// call counts one call of the system.
func (w *world) call(name string, effect func() error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead {
		return errInjected // what runs after the process died
	}
	w.calls++
	hit := w.calls == w.fail.at
	stop := func() error {
		if w.fail.dies {
			w.dead = true
			panic(death{})
		}
		return fmt.Errorf("%s: %w", name, errInjected)
	}
	if hit && !w.fail.after {
		return stop()
	}
	w.log = append(w.log, name)
	err := effect()
	if hit && w.fail.after && (err == nil || w.fail.dies) {
		err = stop()
	}
	return err
}

type node struct {
	name     string
	id       objectID
	dir      bool
	link     string // target of a junction
	readOnly bool
	fixed    bool // nobody may change its list
	list     dacl
	content  string
	kids     map[string]*node // by folded name
	parent   *node
	pins     int
	volume   *volume
}

type volume struct {
	serial     uint64
	fileSystem string
	acls       bool
	remote     bool
}

func (n *node) path() string {
	if n.parent == nil {
		return n.name
	}
	return winpath.Join(n.parent.path(), n.name)
}

const testUser sid = "S-1-5-21-1-2-3-1001"

func newWorld() *world {
	w := &world{
		root: map[string]*node{}, byID: map[objectID]*node{}, handles: map[handle]any{}, filters: map[guid]*session{}, layers: map[guid]*session{},
		claims: map[string]bool{}, profiles: map[string]bool{}, keys: map[string]int{}, exempt: []sid{"S-1-15-2-9-9-9"},
		self: self{
			Arch: "amd64", Build: 26100, Admin: true, User: testUser, SystemRoot: `C:\Windows`, ProgramFiles: []string{`C:\Program Files`},
			Processors: 8, Filtering: running,
		},
	}
	w.drive("C:", &volume{serial: 0xc0, fileSystem: "NTFS", acls: true})
	low := ace{Type: aceAllow, Flags: flagFiles | flagDirs | flagInheritOnly, Mask: 0xa000_0000, SID: sidLowPackages}
	for _, dir := range []string{`C:\Windows`, `C:\Program Files`} {
		n := w.dir(dir)
		n.list.Aces = append(n.list.Aces, ace{Type: aceAllow, Mask: maskRead | maskRun, SID: sidLowPackages}, low)
	}
	w.file(`C:\Windows\System32\cmd.exe`, "MZ cmd")
	w.dir(`C:\agent\runs`)
	return w
}

func (w *world) drive(letter string, v *volume) *node {
	n := w.node(letter+`\`, true, v)
	n.list = dacl{Revision: aclRevision, Owner: sidSystem, Aces: []ace{
		{Type: aceAllow, Flags: flagFiles | flagDirs, Mask: maskAll, SID: sidAdmins},
		{Type: aceAllow, Flags: flagFiles | flagDirs, Mask: maskAll, SID: sidSystem},
		{Type: aceAllow, Flags: flagFiles | flagDirs, Mask: maskRead | maskRun, SID: "S-1-5-32-545"},
		{Type: 5, Flags: flagInherited, raw: "\x05\x10\x08\x00abcd"}, // of a kind nobody here understands
	}}
	w.root[letter] = n
	return n
}

func (w *world) node(name string, dir bool, v *volume) *node {
	w.ids++
	n := &node{name: name, dir: dir, volume: v, id: objectID{v.serial, fmt.Sprintf("%032x", w.ids)}, list: dacl{Revision: aclRevision, Owner: testUser, AutoInherited: true}}
	if dir {
		n.kids = map[string]*node{}
	}
	w.byID[n.id] = n
	return n
}

// dir makes a directory with what is missing above it.
func (w *world) dir(path string) *node {
	at := w.root[path[:2]]
	for name := range strings.SplitSeq(path[3:], `\`) {
		at = w.child(at, name, true)
	}
	return at
}

func (w *world) file(path, content string) *node {
	n := w.child(w.dir(winpath.Dir(path)), winpath.Base(path), false)
	n.content = content
	return n
}

// child makes a name in a directory, with what it inherits, as the kernel does.
func (w *world) child(dir *node, name string, isDir bool) *node {
	if n := dir.kids[winpath.Fold(name)]; n != nil {
		return n
	}
	n := w.node(name, isDir, dir.volume)
	n.list.Aces = append(n.list.Aces, handDown(dir.list.Aces, isDir)...)
	n.parent = dir
	dir.kids[winpath.Fold(name)] = n
	return n
}

func (w *world) find(path string) (*node, error) {
	path = strings.TrimPrefix(path, `\\?\`)
	at := w.root[strings.ToUpper(path[:2])]
	if at == nil {
		return nil, fs.ErrNotExist
	}
	if len(path) <= 3 {
		return at, nil
	}
	parts := strings.Split(path[3:], `\`)
	for i, name := range parts {
		next := at.kids[winpath.Fold(name)]
		if next == nil {
			return nil, fs.ErrNotExist
		}
		if next.link != "" && i < len(parts)-1 {
			return w.find(winpath.Join(next.link, strings.Join(parts[i+1:], `\`)))
		}
		at = next
	}
	return at, nil
}

func (w *world) handle(v any) handle {
	w.next++
	w.handles[w.next] = v
	return w.next
}

type openNode struct {
	*node
	to purpose
}

func (w *world) open(n *node, to purpose) (handle, error) {
	if to == toChange || to == toWalk {
		if n.fixed {
			return 0, fs.ErrPermission
		}
	}
	if to == toDelete && n.pins > 0 {
		return 0, errors.New("sharing violation")
	}
	if to == toHold || to == toRead {
		n.pins++
	}
	return w.handle(openNode{n, to}), nil
}

func (w *world) Open(path string, to purpose) (h handle, err error) {
	err = w.call("Open "+path, func() error {
		n, err := w.find(path)
		if err == nil {
			h, err = w.open(n, to)
		}
		return err
	})
	return h, err
}

func (w *world) OpenID(path string, id objectID, to purpose) (h handle, err error) {
	err = w.call("OpenID", func() error {
		n := w.byID[id]
		if n == nil || w.root[path[:2]] == nil || w.root[path[:2]].volume != n.volume {
			return fs.ErrNotExist
		}
		h, err = w.open(n, to)
		return err
	})
	return h, err
}

func (w *world) OpenChild(dir handle, name string, to purpose) (h handle, err error) {
	err = w.call("OpenChild "+name, func() error {
		n := w.handles[dir].(openNode).node
		if name != "" {
			if n = n.kids[winpath.Fold(name)]; n == nil {
				return fs.ErrNotExist
			}
		}
		h, err = w.open(n, to)
		return err
	})
	return h, err
}

func (w *world) Status(h handle) (s status, err error) {
	err = w.call("Status", func() error {
		n := w.handles[h].(openNode).node
		s = status{ID: n.id, Dir: n.dir, Link: n.link != "", Surrogate: n.link != ""}
		return nil
	})
	return s, err
}

func (w *world) Where(h handle) (at whereabouts, err error) {
	err = w.call("Where", func() error {
		n := w.handles[h].(openNode).node
		at = whereabouts{Final: `\\?\` + n.path(), FileSystem: n.volume.fileSystem, ACLs: n.volume.acls}
		if n.volume.remote {
			at.Final = `\\?\UNC\server\share\` + n.path()[3:]
		}
		return nil
	})
	return at, err
}

func (w *world) List(dir handle) (names []string, err error) {
	err = w.call("List", func() error {
		n := w.handles[dir].(openNode).node
		for _, k := range slices.Sorted(maps.Keys(n.kids)) {
			names = append(names, n.kids[k].name)
		}
		return nil
	})
	return names, err
}

func (w *world) Security(h handle) (b []byte, err error) {
	err = w.call("Security", func() error {
		n := w.handles[h].(openNode).node
		b, err = n.list.marshal()
		if err != nil {
			return err
		}
		owner, err := n.list.Owner.marshal()
		if err != nil {
			return err
		}
		b[offsetOwner], b[offsetOwner+1] = byte(len(b)), byte(len(b)>>8)
		b = append(b, owner...)
		return nil
	})
	return b, err
}

func (w *world) SetDACL(h handle, descriptor []byte) error {
	return w.call("SetDACL", func() error {
		o := w.handles[h].(openNode)
		if o.to != toChange && o.to != toWalk {
			return fs.ErrPermission
		}
		d, err := parseDescriptor(descriptor)
		d.Owner = o.list.Owner
		o.list = d
		return err
	})
}

func (w *world) MakeScratch(path string) error {
	return w.call("MakeScratch", func() error { w.dir(path); return nil })
}

func (w *world) MakeDir(path string, descriptor []byte) error {
	return w.call("MakeDir "+path, func() error {
		dir, err := w.find(winpath.Dir(path))
		if err != nil {
			return err
		}
		if dir.kids[winpath.Fold(winpath.Base(path))] != nil {
			return fs.ErrExist
		}
		n := w.child(dir, winpath.Base(path), true)
		n.list, err = parseDescriptor(descriptor)
		n.list.Owner = testUser
		return err
	})
}

func (w *world) Delete(h handle) error {
	return w.call("Delete", func() error {
		n := w.handles[h].(openNode).node
		if len(n.kids) > 0 {
			return errors.New("not empty")
		}
		delete(n.parent.kids, winpath.Fold(n.name))
		delete(w.byID, n.id)
		return nil
	})
}

func (w *world) Reader(h handle) io.Reader {
	return bytes.NewReader([]byte(w.handles[h].(openNode).content))
}

// state is everything that outlives the process, to compare.
func (w *world) state() string {
	var b strings.Builder
	var visit func(n *node)
	visit = func(n *node) {
		raw, err := n.list.marshal()
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(&b, "%s %v %s pins %d\n", n.path(), n.content, hex.EncodeToString(raw), n.pins)
		for _, k := range slices.Sorted(maps.Keys(n.kids)) {
			visit(n.kids[k])
		}
	}
	for _, d := range slices.Sorted(maps.Keys(w.root)) {
		visit(w.root[d])
	}
	fmt.Fprintln(&b, "filters", len(w.filters), "layers", len(w.layers), "exempt", w.exempt, "keys", w.keys, "claims", w.claims, "handles", len(w.handles))
	for _, j := range w.jobs {
		if j.now != 0 {
			fmt.Fprintln(&b, "processes", j.now)
		}
	}
	return b.String()
}
