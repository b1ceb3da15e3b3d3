// Package workspacetest is the contract suite of ports/workspace: what every Tree must do, whatever it stands on (FS-02,
// FS-03, FS-06, FS-07, EDT-01). Run it from the adapter's own tests.
package workspacetest

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// World is a tree with two roots, Base/ws (the first) and Base/mnt, and the power to prepare what the port cannot. Base is
// canonical, uses slashes and lies in no root. Prepare functions take absolute paths and make missing parents.
type World struct {
	Base     string
	Open     func(t *testing.T) workspace.Tree // called once Base/ws and Base/mnt exist
	Put      func(t *testing.T, path, content string, executable bool)
	Mkdir    func(t *testing.T, path string)
	Symlink  func(t *testing.T, target, path string)
	Rename   func(t *testing.T, from, to string) // moves anything, as another program would
	Remove   func(t *testing.T, path string)     // with all below it
	Snapshot func(t *testing.T) map[string]string
	// Snapshot: every path below Base → content, "dir" with a slash after the path, "-> target"
}

// Run checks the contract. factory is called for every test and cleans up after itself.
func Run(t *testing.T, factory func(t *testing.T) World) {
	for name, test := range map[string]func(*testing.T, *bench){
		"resolve":           resolveTable,
		"resolve entry":     resolveEntry,
		"link chains":       linkChains,
		"long names":        longNames,
		"info":              info,
		"read":              read,
		"list":              list,
		"replace new":       replaceNew,
		"replace old":       replaceOld,
		"replace wanted":    replaceWanted,
		"replace refusals":  replaceRefusals,
		"restore":           restore,
		"mkdir rmdir":       mkdirRmdir,
		"remove":            remove,
		"move":              move,
		"move refusals":     moveRefusals,
		"swapped object":    swappedObject,
		"swapped ancestor":  swappedAncestor,
		"removed parent":    removedParent,
		"cancelled":         cancelled,
		"closed":            closed,
		"concurrent writes": concurrentWrites,
	} {
		t.Run(name, func(t *testing.T) {
			b := &bench{World: factory(t), t: t, ctx: t.Context()}
			b.Mkdir(t, b.Base+"/ws")
			b.Mkdir(t, b.Base+"/mnt")
			b.tree = b.Open(t)
			t.Cleanup(func() { assert.NoError(t, b.tree.Close()) })
			test(t, b)
			for p := range b.Snapshot(t) {
				assert.NotContains(t, p, ".agent-mcp-", "a temporary file was left")
			}
		})
	}
}

// bench is one prepared world with its tree.
type bench struct {
	World
	t    *testing.T
	ctx  context.Context
	tree workspace.Tree
}

func (b *bench) ws(p string) string { return path.Join(b.Base, "ws", p) }

func (b *bench) put(p, content string) { b.Put(b.t, path.Join(b.Base, p), content, false) }

func (b *bench) link(target, p string) { b.Symlink(b.t, target, path.Join(b.Base, p)) }

// at resolves, and closes the handle when the test ends.
func (b *bench) at(p string) workspace.Handle {
	b.t.Helper()
	h, err := b.tree.Resolve(b.ctx, p)
	require.NoError(b.t, err, p)
	b.t.Cleanup(func() { _ = h.Close() })
	return h
}

func (b *bench) entry(p string) workspace.Handle {
	b.t.Helper()
	r, ok := b.tree.(workspace.EntryResolver)
	require.True(b.t, ok, "the tree is no workspace.EntryResolver")
	h, err := r.ResolveEntry(b.ctx, p)
	require.NoError(b.t, err, p)
	b.t.Cleanup(func() { _ = h.Close() })
	return h
}

// is demands a code, and the path among its arguments.
func (b *bench) is(code fault.Code, err error, hint ...any) {
	b.t.Helper()
	if assert.Equal(b.t, code, fault.CodeOf(err), append(hint, err)...) && strings.HasPrefix(string(code), "workspace.") {
		assert.NotEmpty(b.t, fault.From(err).Args["path"], "the fault names no path")
	}
}

// content of a file below Base, "" and false when it is missing.
func (b *bench) content(p string) (string, bool) {
	c, ok := b.Snapshot(b.t)[path.Join(b.Base, p)]
	return c, ok
}

func (b *bench) holds(p, want string) {
	b.t.Helper()
	c, ok := b.content(p)
	assert.True(b.t, ok, "%s is missing", p)
	assert.Equal(b.t, want, c, p)
}

func (b *bench) lacks(p string) {
	b.t.Helper()
	_, ok := b.content(p)
	assert.False(b.t, ok, "%s is there", p)
	_, ok = b.Snapshot(b.t)[path.Join(b.Base, p)+"/"]
	assert.False(b.t, ok, "%s/ is there", p)
}

// same demands that nothing changed since before.
func (b *bench) same(before map[string]string) {
	b.t.Helper()
	assert.Equal(b.t, before, b.Snapshot(b.t))
}

// FS-02: where each kind of path leads, or why it does not.
func resolveTable(t *testing.T, b *bench) {
	b.put("secret.txt", "outside")
	b.put("wsx/a.txt", "beside, with a similar name")
	b.put("ws/a.txt", "a")
	b.put("ws/dir/sub/deep.txt", "deep")
	b.put("ws/\xff\xfe name.txt", "not UTF-8")
	b.put("ws/..dots", "a name that begins with dots")
	b.put("ws/日本語/ファイル.txt", "Japanese")
	b.put("mnt/m.txt", "m")
	for name, target := range map[string]string{
		"link": "a.txt", "dirlink": "dir", "abs": b.Base + "/mnt/m.txt", "absdir": b.Base + "/mnt", "out": "../secret.txt",
		"outabs": b.Base + "/secret.txt", "etc": "/etc", "loop1": "loop2", "loop2": "./loop1", "self": "self", "selfdir": "selfdir/x",
		"dangling": "nothing", "deepdangling": "no/thing", "up": "dir/..", "back": "../ws/a.txt", "slash": "a.txt/", "dirslash": "dir/",
		"toroot": b.Base + "/ws", "dot": ".", "outin": "../../" + path.Base(b.Base) + "/mnt/m.txt", "chain": "dirlink/sub/../../link",
		"danglingout": b.Base + "/nothing", "weird": "//" + strings.TrimPrefix(b.Base, "/") + "//ws/./a.txt",
	} {
		b.link(target, "ws/"+name)
	}
	b.link("../../a.txt", "ws/dir/sub/rel")
	b.link(".", "ws/dir/here")
	b.link("..", "ws/dir/sub/above")
	for p, want := range map[string]string{
		".": "ws", "./": "ws", "a.txt": "ws/a.txt", "./a.txt": "ws/a.txt", "dir": "ws/dir", "dir/": "ws/dir", "dir//sub/": "ws/dir/sub",
		"dir/.": "ws/dir", "dir/..": "ws", "dir/sub/..": "ws/dir", "dir/sub/../..": "ws", "dir/sub/../../a.txt": "ws/a.txt",
		"../ws/a.txt": "ws/a.txt", "../mnt/m.txt": "mnt/m.txt", "dir/../../mnt": "mnt", b.Base + "/ws": "ws", b.Base + "/ws/": "ws",
		b.Base + "/mnt/m.txt": "mnt/m.txt", b.Base + "/./x/../ws/a.txt": "ws/a.txt", "..dots": "ws/..dots", "日本語/ファイル.txt": "ws/日本語/ファイル.txt",
		"\xff\xfe name.txt": "ws/\xff\xfe name.txt", "link": "ws/a.txt", "dirlink": "ws/dir", "dirlink/sub/deep.txt": "ws/dir/sub/deep.txt",
		"dirlink/..": "ws", "dirlink/": "ws/dir", "abs": "mnt/m.txt", "absdir/m.txt": "mnt/m.txt", "absdir": "mnt", "absdir/../ws/a.txt": "ws/a.txt",
		"up": "ws", "up/a.txt": "ws/a.txt", "back": "ws/a.txt", "dirslash": "ws/dir", "toroot": "ws", "toroot/toroot/a.txt": "ws/a.txt",
		"dot/dot/a.txt": "ws/a.txt", "outin": "mnt/m.txt", "chain": "ws/a.txt", "dir/sub/rel": "ws/a.txt", "dirlink/sub/rel": "ws/a.txt",
		"dir/here": "ws/dir", "dir/here/": "ws/dir", "dir/here/here/sub": "ws/dir/sub", "dir/sub/above": "ws/dir", "dir/sub/above/..": "ws",
		"link/": "-workspace.not_directory", "a.txt/": "-workspace.not_directory", "a.txt/x": "-workspace.not_directory",
		"a.txt/..": "-workspace.not_directory", "a.txt/.": "-workspace.not_directory", "slash": "-workspace.not_directory",
		"missing": "?ws/missing", "missing/": "?ws/missing", "dir/missing": "?ws/dir/missing", "dangling": "?ws/nothing", "weird": "ws/a.txt",
		"missing/x": "-workspace.not_found", "missing/../a.txt": "-workspace.not_found", "deepdangling": "-workspace.not_found",
		"..": "-workspace.outside", "../secret.txt": "-workspace.outside", "../wsx/a.txt": "-workspace.outside", "/": "-workspace.outside",
		"/etc/passwd": "-workspace.outside", b.Base + "/secret.txt": "-workspace.outside", b.Base + "/nothing": "-workspace.outside",
		"out": "-workspace.outside", "outabs": "-workspace.outside", "etc/passwd": "-workspace.outside", "danglingout": "-workspace.outside",
		"dir/../../../x": "-workspace.outside", "loop1": "-workspace.cycle", "loop2/x": "-workspace.cycle", "self": "-workspace.cycle",
		"selfdir": "-workspace.cycle", "": "-workspace.bad_name", "a\x00b": "-workspace.bad_name", "a.txt\x00": "-workspace.bad_name",
	} {
		h, err := b.tree.Resolve(b.ctx, p)
		if code, bad := strings.CutPrefix(want, "-"); bad {
			if assert.Error(t, err, p) && p != "" {
				b.is(fault.Code(code), err, p)
			}
			assert.Nil(t, h, p)
			continue
		}
		if !assert.NoError(t, err, p) {
			continue
		}
		want, missing := strings.CutPrefix(want, "?")
		i := h.Info()
		assert.Equal(t, path.Join(b.Base, want), i.Path, p)
		assert.Equal(t, !missing, i.Exists, p)
		assert.Equal(t, path.Join(b.Base, strings.SplitN(want, "/", 2)[0]), i.Root, p)
		assert.Equal(t, path.Base(want), i.Name, p)
		assert.NoError(t, h.Close())
	}
}

// A link itself can be named, for removing and moving it.
func resolveEntry(t *testing.T, b *bench) {
	b.put("ws/dir/a.txt", "a")
	b.link("dir", "ws/dirlink")
	b.link("dir/a.txt", "ws/link")
	b.link("self", "ws/self")
	b.link("../nowhere", "ws/out")
	for _, name := range []string{"link", "dirlink", "self", "out", "dirlink/../out"} {
		i := b.entry(name).Info()
		assert.Equal(t, b.ws(path.Base(name)), i.Path)
		assert.Equal(t, "L", i.Mode.String()[:1], name)
	}
	assert.Equal(t, b.ws("dir/a.txt"), b.entry("dirlink/a.txt").Info().Path, "only the last component is not followed")
	assert.Equal(t, b.ws("dir"), b.entry("dirlink/").Info().Path, "a trailing slash follows")

	h := b.entry("link")
	_, err := h.Read(b.ctx, 0, 10)
	b.is(workspace.CodeNotRegular, err)
	_, err = h.Replace(b.ctx, []byte("x"), false, nil)
	b.is(workspace.CodeNotRegular, err)
	_, _, err = b.entry("dirlink").List(b.ctx, 10)
	b.is(workspace.CodeNotDirectory, err)
	b.is(workspace.CodeNotDirectory, b.entry("dirlink").Rmdir(b.ctx))
	_, err = b.entry("link").MoveTo(b.ctx, b.entry("moved"))
	require.NoError(t, err)
	b.holds("ws/moved", "-> dir/a.txt")
	for _, name := range []string{"moved", "dirlink", "self", "out"} {
		require.NoError(t, b.entry(name).Remove(b.ctx))
		b.lacks("ws/" + name)
	}
	b.holds("ws/dir/a.txt", "a")
}

// The system allows 40 links in one walk.
func linkChains(t *testing.T, b *bench) {
	b.put("ws/l0", "end")
	for i := 1; i <= 41; i++ {
		b.link("l"+itoa(i-1), "ws/l"+itoa(i))
	}
	b.link(".", "ws/here")
	assert.Equal(t, b.ws("l0"), b.at("l40").Info().Path)
	_, err := b.tree.Resolve(b.ctx, "l41")
	b.is(workspace.CodeCycle, err)
	assert.Equal(t, b.ws("l0"), b.at(strings.Repeat("here/", 40)+"l0").Info().Path, "one link many times is no cycle")
	_, err = b.tree.Resolve(b.ctx, strings.Repeat("here/", 41)+"l0")
	b.is(workspace.CodeCycle, err)
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + itoa(n%10)
}

func longNames(t *testing.T, b *bench) {
	long := strings.Repeat("n", 255)
	_, err := b.at(long).Replace(b.ctx, []byte("x"), false, nil)
	require.NoError(t, err)
	b.holds("ws/"+long, "x")
	for _, p := range []string{long + "n", long + "n/x", strings.Repeat("a/", 3000), strings.Repeat("./", 3000) + long, b.Base + strings.Repeat("/../x", 1000)} {
		_, err = b.tree.Resolve(b.ctx, p)
		b.is(workspace.CodeBadName, err, len(p))
	}
	deep := strings.Repeat("d/", 300)
	b.put("ws/"+deep+"f", "far down")
	data, err := b.at(deep+"f").Read(b.ctx, 0, 100)
	require.NoError(t, err)
	assert.Equal(t, "far down", string(data))
	assert.Equal(t, b.ws("d"), b.at(deep+strings.Repeat("../", 299)).Info().Path)
}

func info(t *testing.T, b *bench) {
	b.put("ws/f", "12345")
	b.Put(t, b.ws("x"), "x", true)
	f := b.at("f").Info()
	assert.Equal(t, int64(5), f.Identity.Size)
	assert.True(t, f.Mode.IsRegular())
	assert.Equal(t, uint64(1), f.Links)
	assert.False(t, f.Identity.ModifiedAt.IsZero())
	assert.Zero(t, f.Mode&0o111)
	assert.NotZero(t, b.at("x").Info().Mode&0o100)
	assert.True(t, b.at(".").Info().Mode.IsDir())
	missing := b.at("missing").Info()
	assert.Equal(t, workspace.Info{Path: b.ws("missing"), Root: b.ws(""), Name: "missing"}, missing)
	again := b.at("f").Info()
	assert.Equal(t, f, again, "looking changes nothing")
	assert.NotEqual(t, f.Identity, b.at("x").Info().Identity)
}

func sorted(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
