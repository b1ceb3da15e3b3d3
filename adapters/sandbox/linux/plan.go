package linux

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/ports/image"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// This file decides, as plain data, what the helper will do. It makes no system call.

// Landlock access rights (linux/landlock.h).
const (
	llExecute = 1 << iota
	llWriteFile
	llReadFile
	llReadDir
	llRemoveDir
	llRemoveFile
	llMakeChar
	llMakeDir
	llMakeReg
	llMakeSock
	llMakeFifo
	llMakeBlock
	llMakeSym
	llRefer    // ABI 2
	llTruncate // ABI 3
	llIoctlDev // ABI 5

	llRead   = llReadFile | llReadDir
	llWrite  = llWriteFile | llTruncate | llMakeDir | llMakeReg | llMakeSock | llMakeFifo | llMakeSym | llRefer
	llDelete = llRemoveFile | llRemoveDir
	llDevice = llReadFile | llWriteFile | llIoctlDev
	llFile   = llExecute | llWriteFile | llReadFile | llTruncate | llIoctlDev // what a rule on a file may hold
	llABI3   = llTruncate<<1 - 1
	llABI5   = llIoctlDev<<1 - 1

	scopeAbstractUnix = 1
	scopeSignal       = 2

	leastABI = 3 // truncation is not covered before
)

// handled is everything this kernel's Landlock can deny: what no rule gives is refused.
func handled(abi int) (access, scopes uint64) {
	access = llABI3
	if abi >= 5 {
		access = llABI5
	}
	if abi >= 6 {
		scopes = scopeAbstractUnix | scopeSignal
	}
	return access, scopes
}

func access(s rights.Set) (a uint64) {
	for _, m := range []struct {
		right rights.Set
		bits  uint64
	}{{rights.Read, llRead}, {rights.Write, llWrite}, {rights.Execute, llExecute}, {rights.Delete, llDelete}} {
		if s.Has(m.right) {
			a |= m.bits
		}
	}
	return a
}

// mountAttr holds what the mount must deny because Landlock cannot see it: chmod, utime and xattr on a root without
// write; ld.so and mmap(PROT_EXEC) on a root without execute.
type mountAttr struct{ ReadOnly, NoExec bool }

func attrOf(s rights.Set) mountAttr {
	return mountAttr{ReadOnly: !s.Has(rights.Write), NoExec: !s.Has(rights.Execute)}
}

// bind is one host object that appears at its own path.
type bind struct {
	Path     string
	Attr     mountAttr
	Dev, Ino uint64 // what the Broker saw there
	Dir      bool
	Entry    bool // a protected path: a symlink is bound itself
	Passed   bool // the mount comes as a descriptor
}

// rule is one Landlock rule.
type rule struct {
	Path   string
	Access uint64
	Maybe  bool // a host may not have it
}

// binds lists the mounts of a Spec, outer before inner: the roots, the protected paths (read-only), and the directories
// between a root and a protected path or a root in it, bound on themselves: a mount point cannot be renamed or removed, so
// what lies there cannot be moved away and replaced, for this run or for the next.
func binds(s sandbox.Spec) []bind {
	by := map[string]mountAttr{}
	for _, r := range s.Roots {
		by[r.Path] = attrOf(r.Rights)
	}
	between := func(path string) {
		root, ok := sandbox.RootOf(s.Roots, filepath.Dir(path))
		for d := filepath.Dir(path); ok && d != root.Path && sandbox.Under(d, root.Path); d = filepath.Dir(d) {
			if _, ok := by[d]; !ok {
				by[d] = attrOf(root.Rights)
			}
		}
	}
	for _, p := range s.Protect {
		between(p)
	}
	for _, r := range s.Roots {
		between(r.Path)
	}
	for _, p := range s.Protect {
		root, _ := sandbox.RootOf(s.Roots, p)
		a := attrOf(root.Rights)
		a.ReadOnly = true
		by[p] = a
	}
	for path := range by { // what lies in a protected directory, also a root, stays protected
		for _, p := range s.Protect {
			if sandbox.Under(path, p) {
				a := by[path]
				a.ReadOnly = true
				by[path] = a
			}
		}
	}
	paths := make([]string, 0, len(by))
	for p := range by {
		paths = append(paths, p)
	}
	slices.Sort(paths) // a parent sorts before its children
	out := make([]bind, len(paths))
	for i, p := range paths {
		out[i] = bind{Path: p, Attr: by[p], Entry: slices.Contains(s.Protect, p)}
	}
	return out
}

// tmpDir is where the private temporary directory lies. Landlock adds up the rights along a path, across mounts: it
// must never be an ancestor of a root, nor inside one.
func tmpDir(roots []rights.Root) string {
	for _, dir := range []string{"/tmp", "/.tmp", "/.agent-tmp"} {
		free := true
		for _, r := range roots {
			if sandbox.Under(r.Path, dir) || sandbox.Under(dir, r.Path) {
				free = false
			}
		}
		if free {
			return dir
		}
	}
	return "/.private-tmp"
}

// tmpExec: a temporary directory may hold programs only where the owner lets some root hold programs the tree wrote.
func tmpExec(roots []rights.Root) bool {
	return slices.ContainsFunc(roots, func(r rights.Root) bool { return r.Rights.Has(rights.Write | rights.Execute) })
}

// systemPaths are built by the sandbox itself: no root may cover or lie in them.
var systemPaths = []string{"/proc", "/dev", "/sys"}

func systemPath(path string) bool {
	return slices.ContainsFunc(systemPaths, func(d string) bool { return sandbox.Under(path, d) || sandbox.Under(d, path) })
}

// environment is the Spec's, and the four names every program needs.
func environment(env []string, tmp string) []string {
	out := make([]string, 0, len(env)+4)
	for _, kv := range []string{"PATH=" + image.SearchPath, "HOME=" + tmp, "TMPDIR=" + tmp, "LANG=C.UTF-8"} {
		name := kv[:strings.IndexByte(kv, '=')+1]
		if !slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, name) }) {
			out = append(out, kv)
		}
	}
	return append(out, env...)
}

// idRange is one line of a user namespace's id map.
type idRange struct{ Inside, Outside, Size int }

// lastID is the highest usable id (4294967295 means "no change" to the kernel).
const lastID = 4294967294

// ownerMap turns the owners on disk into the owners the tree sees when a root Broker's programs run as user: what
// belongs to owner (the root directory's) belongs to user, what is root's to owner's number, and nothing is lost, since
// the map is a permutation. Files that user creates are owner's on disk.
func ownerMap(owner, user int) []idRange {
	to := map[int]int{owner: user, user: 0, 0: owner}
	switch owner {
	case 0:
		to = map[int]int{0: user, user: 0}
	case user:
		to = nil
	}
	ids := make([]int, 0, len(to))
	for id := range to {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	var out []idRange
	next := 0
	for _, id := range ids {
		if id > next {
			out = append(out, idRange{next, next, id - next})
		}
		out = append(out, idRange{id, to[id], 1})
		next = id + 1
	}
	return append(out, idRange{next, next, lastID - next + 1})
}
