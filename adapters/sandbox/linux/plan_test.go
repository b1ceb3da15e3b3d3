package linux

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

func at(path string, set rights.Set) rights.Root { return rights.Root{Path: path, Rights: set} }

func TestBinds(t *testing.T) {
	s := sandbox.Spec{
		Roots:   []rights.Root{at("/lib-ro", rights.Read), at("/w", rights.All), at("/w/vendor", rights.All)},
		Protect: []string{"/w/.git/config", "/w/.git/hooks", "/w/a/b/.git/config"},
	}
	ro, rw := mountAttr{ReadOnly: true}, mountAttr{}
	assert.Equal(t, []bind{
		{Path: "/lib-ro", Attr: mountAttr{ReadOnly: true, NoExec: true}},
		{Path: "/w", Attr: rw},
		{Path: "/w/.git", Attr: rw},
		{Path: "/w/.git/config", Attr: ro, Entry: true},
		{Path: "/w/.git/hooks", Attr: ro, Entry: true},
		{Path: "/w/a", Attr: rw},
		{Path: "/w/a/b", Attr: rw},
		{Path: "/w/a/b/.git", Attr: rw},
		{Path: "/w/a/b/.git/config", Attr: ro, Entry: true},
		{Path: "/w/vendor", Attr: rw},
	}, binds(s))
	s.Roots = append(s.Roots, at("/w/.git/hooks/mine", rights.All))
	for _, b := range binds(s) {
		if b.Path == "/w/.git/hooks/mine" {
			assert.True(t, b.Attr.ReadOnly, "a root inside a protected directory stays protected")
		}
	}
}

// The private temporary directory is never an ancestor of a root: Landlock would add its rights to the root's.
func TestTmpDir(t *testing.T) {
	for want, roots := range map[string][]rights.Root{
		"/tmp":          {at("/home/w", rights.All)},
		"/.tmp":         {at("/tmp/w", rights.All)},
		"/.agent-tmp":   {at("/.tmp", rights.All), at("/tmp", rights.Read)},
		"/.private-tmp": {at("/.agent-tmp/x", rights.Read), at("/.tmp/x", rights.All), at("/tmp/x", rights.Read)},
	} {
		assert.Equal(t, want, tmpDir(roots))
	}
	assert.False(t, tmpExec([]rights.Root{at("/a", rights.Read|rights.Execute), at("/b", rights.Read|rights.Write)}))
	assert.True(t, tmpExec([]rights.Root{at("/a", rights.All)}))
}

// The owners' map is a permutation: the directory's owner is the program's user, and nobody is lost.
func TestOwnerMap(t *testing.T) {
	lookup := func(m []idRange, id int) int {
		for _, r := range m {
			if id >= r.Inside && id < r.Inside+r.Size {
				return r.Outside + id - r.Inside
			}
		}
		return -1
	}
	for _, owner := range []int{0, 1, 1000, 65533, 65532, 65534, 1 << 31} {
		m := ownerMap(owner, 65533)
		require.LessOrEqual(t, len(m), 10)
		assert.Equal(t, 65533, lookup(m, owner), owner)
		seen := map[int]int{}
		for _, id := range []int{0, 1, 2, 999, 1000, 1001, 65532, 65533, 65534, 1<<31 - 1, 1 << 31, 1<<31 + 1, lastID} {
			to := lookup(m, id)
			require.GreaterOrEqual(t, to, 0, "%d is lost", id)
			if other, twice := seen[to]; twice {
				t.Errorf("owner %d: %d and %d both become %d", owner, id, other, to)
			}
			seen[to] = id
		}
	}
}

// FS-05: a root in a root stays where it is: what lies between is held as well.
func TestBinds_HoldTheWayToARootInARoot(t *testing.T) {
	s := sandbox.Spec{Roots: []rights.Root{at("/a", rights.Read|rights.Write|rights.Delete), at("/a/b/c/ws", rights.All), at("/d", rights.Read)}}
	var paths []string
	for _, b := range binds(s) {
		paths = append(paths, b.Path)
		assert.False(t, b.Attr.ReadOnly && b.Path != "/d", b.Path)
	}
	assert.Equal(t, []string{"/a", "/a/b", "/a/b/c", "/a/b/c/ws", "/d"}, paths)
}

func TestEnvironment(t *testing.T) {
	assert.Equal(t, []string{"PATH=/usr/local/bin:/usr/bin:/bin", "TMPDIR=/tmp", "LANG=C.UTF-8", "A=b", "HOME=/x"}, environment([]string{"A=b", "HOME=/x"}, "/tmp"))
}

func TestMaskedAndInitial(t *testing.T) {
	assert.True(t, masked("1 2 0:5 / /proc rw - proc proc rw\n3 1 0:6 / /proc/kcore rw - tmpfs tmpfs rw\n"))
	assert.False(t, masked("1 2 0:5 / /proc rw - proc proc rw\n3 1 0:6 / /processes rw - tmpfs tmpfs rw\n"))
	assert.True(t, isInitial("         0          0 4294967295\n"))
	assert.False(t, isInitial("         0     100000      65536\n"))
	assert.False(t, isInitial(""))
}

func TestCheckHere(t *testing.T) {
	base := []rights.Root{at("/usr", rights.Read|rights.Execute)}
	s := sandbox.Spec{Roots: []rights.Root{at("/w", rights.All)}, Entry: sandbox.Entry{Path: "/usr/bin/true"}}
	assert.Nil(t, checkHere(s, base))
	for name, root := range map[string]rights.Root{"proc": at("/proc/self", rights.Read), "dev": at("/dev", rights.Read), "sys": at("/sys/fs", rights.Read)} {
		s.Roots = []rights.Root{root}
		require.NotNil(t, checkHere(s, base), name)
	}
	s.Roots = []rights.Root{at("/usr/share", rights.Write)}
	assert.Equal(t, sandbox.CodeNestedRoots, checkHere(s, base).Code, "the runtime is readable anyway")
}

// The order reaches the helper byte by byte, whatever a path or an argument is made of.
func TestOrder_KeepsBytes(t *testing.T) {
	odd := "/w/b\xff\xfe/\u00e9\u65e5<&>\u2028\x01"
	want := order{
		Args: []string{odd, "", "plain"}, Env: []string{"A=" + odd}, Dir: odd, Tmp: odd, Entry: entryOrder{Path: odd, Name: odd},
		Binds: []bind{{Path: odd}}, Rules: []rule{{Path: odd}},
	}
	text, err := want.marshal()
	require.NoError(t, err)
	var got order
	require.NoError(t, got.unmarshal(text))
	assert.Equal(t, want, got)
}
