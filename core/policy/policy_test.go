package policy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

var sum = strings.Repeat("ab", 32)

// input is a valid development configuration that each test bends.
func input() policy.Input {
	return policy.Input{
		Profile:   policy.Development,
		Workspace: "/home/u/work",
		Mounts: []policy.MountInput{
			{Name: "docs", Path: "/srv/docs", Access: policy.AccessRead},
			{Name: "out", Path: "/srv/out", Access: policy.AccessWrite},
			{Name: "trash", Path: "/srv/out/trash", Access: policy.AccessDelete},
		},
		Entries: []policy.Entry{
			{Alias: "python", Path: "/opt/py/bin/python3", SHA256: sum, RuntimeRoot: "/opt/py"},
			{Alias: "sh", Path: "/usr/bin/dash", SHA256: sum},
		},
		Baseline:  []rights.Root{{Path: "/usr", Rights: rights.Read | rights.Execute}},
		Network:   policy.NetworkInput{Mode: sandbox.NetworkNone},
		Resources: policy.ResourceInput{Profile: "normal"},
		Require:   sandbox.Approximate,
		Denied:    policy.DeniedPlaces(policy.Style{}, "/home/u"),
	}
}

func build(t testing.TB, in policy.Input) *policy.Policy {
	t.Helper()
	p, f := policy.Build(in)
	require.Nil(t, f)
	return p
}

func codes(reasons []*fault.Error) string {
	var out []string
	for _, r := range reasons {
		out = append(out, strings.TrimPrefix(string(r.Code), "policy."))
	}
	return strings.Join(out, " ")
}

// FS-00, FS-01, FS-04, FS-06..10, SEC-INV-04: one table of verdicts.
func TestDecide_Verdicts(t *testing.T) {
	p := build(t, input()).WithProtected([]string{"/home/u/work/bare/hooks", "/srv/out/gitdir/config"})
	for _, c := range []struct {
		op   policy.Op
		path string
		dest string
		want string // reasons, "" = allowed
	}{
		{policy.OpRead, "/home/u/work", "", ""},
		{policy.OpRead, "/home/u/work/a/b.txt", "", ""},
		{policy.OpList, "/home/u/work/a", "", ""},
		{policy.OpWrite, "/home/u/work/a/b.txt", "", ""},
		{policy.OpMkdir, "/home/u/work/new", "", ""},
		{policy.OpDelete, "/home/u/work/a/b.txt", "", ""},
		{policy.OpRmdir, "/home/u/work/a", "", ""},
		{policy.OpMove, "/home/u/work/a", "/home/u/work/b", ""},
		{policy.OpExecute, "/home/u/work/a.out", "", ""},
		// mounts
		{policy.OpRead, "/srv/docs/x", "", ""},
		{policy.OpWrite, "/srv/docs/x", "", "no_write"},
		{policy.OpDelete, "/srv/docs/x", "", "no_delete"},
		{policy.OpExecute, "/srv/docs/x", "", "not_executable"},
		{policy.OpWrite, "/srv/out/x", "", ""},
		{policy.OpDelete, "/srv/out/x", "", "no_delete"},
		{policy.OpRmdir, "/srv/out/x", "", "no_delete"},
		{policy.OpExecute, "/srv/out/x", "", "not_executable"},
		{policy.OpDelete, "/srv/out/trash/x", "", ""},
		{policy.OpMove, "/home/u/work/a", "/srv/out/a", ""},
		{policy.OpMove, "/srv/docs/a", "/srv/out/a", "no_write"},
		{policy.OpMove, "/srv/docs/a", "/srv/docs/b", "no_write no_write"},
		{policy.OpMove, "/etc/a", "/etc/b", "outside outside"},
		// roots themselves
		{policy.OpRmdir, "/home/u/work", "", "is_root holds_protected"},
		{policy.OpRmdir, "/srv/out/trash", "", "is_root"},
		{policy.OpRmdir, "/srv/out", "", "no_delete is_root holds_protected"},
		{policy.OpMove, "/srv/out/trash", "/srv/out/t", "is_root"},
		// outside, and a neighbour whose name begins like a root
		{policy.OpRead, "/etc/passwd", "", "outside"},
		{policy.OpRead, "/", "", "outside"},
		{policy.OpRead, "/home/u", "", "outside"},
		{policy.OpRead, "/home/u/workshop/x", "", "outside"},
		{policy.OpWrite, "/srv", "", "outside"},
		// not canonical: never judged as something else
		{policy.OpRead, "", "", "not_canonical"},
		{policy.OpRead, "relative", "", "not_canonical"},
		{policy.OpRead, "/home/u/work/../.ssh/id", "", "not_canonical"},
		{policy.OpRead, "/home/u/work/./a", "", "not_canonical"},
		{policy.OpRead, "/home/u//work/a", "", "not_canonical"},
		{policy.OpRead, "/home/u/work/", "", "not_canonical"},
		{policy.OpRead, "/home/u/work/a\x00b", "", "not_canonical"},
		{policy.OpRead, "/nowhere/at/all/..", "", "not_canonical"},
		// system and runtime
		{policy.OpRead, "/usr/lib/libc.so", "", ""},
		{policy.OpExecute, "/usr/lib/libc.so", "", ""},
		{policy.OpWrite, "/usr/lib/libc.so", "", "no_write"},
		{policy.OpExecute, "/opt/py/lib/x.so", "", ""},
		{policy.OpDelete, "/opt/py/bin/python3", "", "no_delete is_root"},
		// git
		{policy.OpRead, "/home/u/work/.git/config", "", ""},
		{policy.OpWrite, "/home/u/work/.git/config", "", "protected"},
		{policy.OpWrite, "/home/u/work/sub/.git/hooks/pre-commit", "", "protected"},
		{policy.OpMkdir, "/home/u/work/sub/.git/hooks", "", "protected"},
		{policy.OpDelete, "/home/u/work/.git/hooks/x", "", "protected"},
		{policy.OpMove, "/home/u/work/x", "/home/u/work/.git/hooks/x", "protected"},
		{policy.OpMove, "/home/u/work/.git", "/home/u/work/git", "protected"},
		{policy.OpWrite, "/home/u/work/.git/index", "", ""},
		{policy.OpWrite, "/srv/docs/.git/config", "", "no_write protected"},
		{policy.OpWrite, "/home/u/work/bare/hooks/x", "", "protected"},
		{policy.OpDelete, "/srv/out/gitdir/config", "", "no_delete protected"},
		{policy.OpMove, "/home/u/work/bare", "/home/u/work/b", "holds_protected"},
		{policy.OpWrite, "/home/u/work/bare/HEAD", "", ""},
		// nothing known
		{policy.Op(0), "/home/u/work/a", "", "unknown_op"},
		{policy.Op(99), "/home/u/work/a", "", "unknown_op"},
	} {
		d := p.Decide(policy.Request{Op: c.op, Path: c.path, Dest: c.dest})
		assert.Equal(t, c.want, codes(d.Reasons), "%s %q %q", c.op, c.path, c.dest)
		assert.Equal(t, c.want == "", d.Allowed, "%s %q", c.op, c.path)
	}
}

// FS-08: readonly gives the workspace read only, and runs nothing in it.
func TestDecide_ReadOnlyProfile(t *testing.T) {
	in := input()
	in.Profile = policy.ReadOnly
	p := build(t, in)
	for op, want := range map[policy.Op]string{
		policy.OpRead: "", policy.OpList: "", policy.OpWrite: "no_write", policy.OpMkdir: "no_write",
		policy.OpDelete: "no_delete", policy.OpExecute: "not_executable",
	} {
		assert.Equal(t, want, codes(p.Decide(policy.Request{Op: op, Path: "/home/u/work/x"}).Reasons), op.String())
	}
}

func TestDecide_ZeroPolicyDeniesEverything(t *testing.T) { // NFR-01
	var p policy.Policy
	for op := policy.OpRead; op <= policy.OpConnect; op++ {
		assert.False(t, p.Decide(policy.Request{Op: op, Path: "/a", Dest: "/b", Host: "h", Port: 1}).Allowed, op.String())
	}
}

func TestDecide_SaysWhatWouldHelp(t *testing.T) {
	p := build(t, input())
	r := policy.Request{Op: policy.OpDelete, Path: "/srv/out/x"}
	f := p.Decide(r).Fault(r)
	require.Equal(t, policy.CodeDenied, f.Code)
	require.Len(t, f.Reasons, 1)
	assert.Equal(t, fault.Args{"path": "/srv/out/x", "root": "mounts.out", "need": policy.Words(rights.Delete), "have": policy.Words(rights.Read | rights.Write)}, f.Reasons[0].Args)
	ok := policy.Request{Op: policy.OpRead, Path: "/srv/out/x"}
	assert.Nil(t, p.Decide(ok).Fault(ok))
}

// NET-01..03, SEC-INV-06, SEC-INV-07, AT-11: the verdicts; a host that cannot hold them refuses them (server, apply).
func TestDecide_Network(t *testing.T) {
	for _, c := range []struct {
		net  policy.NetworkInput
		host string
		port uint16
		want string
	}{
		{policy.NetworkInput{Mode: "none"}, "127.0.0.1", 80, "network_none"},
		{policy.NetworkInput{Mode: "local", Ports: []int{8080}}, "127.0.0.1", 8080, ""},
		{policy.NetworkInput{Mode: "local", Ports: []int{8080}}, "::1", 8080, ""},
		{policy.NetworkInput{Mode: "local", Ports: []int{8080}}, "localhost", 8080, ""},
		{policy.NetworkInput{Mode: "local", Ports: []int{8080}}, "127.0.0.1", 8081, "network_unlisted"},
		{policy.NetworkInput{Mode: "local", Ports: []int{8080}}, "192.168.1.2", 8080, "network_unlisted"},
		{policy.NetworkInput{Mode: "local", Ports: []int{8080}}, "::1%eth0", 8080, "network_unlisted"},
		{policy.NetworkInput{Mode: "restricted", Hosts: []string{"API.example.com.:443", "203.0.113.7:80"}}, "api.example.com", 443, ""},
		{policy.NetworkInput{Mode: "restricted", Hosts: []string{"api.example.com:443", "203.0.113.7:80"}}, "::ffff:203.0.113.7", 80, ""},
		{policy.NetworkInput{Mode: "restricted", Hosts: []string{"api.example.com:443"}}, "api.example.com", 80, "network_unlisted"},
		{policy.NetworkInput{Mode: "restricted", Hosts: []string{"api.example.com:443"}}, "evil.example.com", 443, "network_unlisted"},
		{policy.NetworkInput{Mode: "restricted", Hosts: []string{"[2001:db8::1]:443"}}, "2001:db8:0::1", 443, ""},
	} {
		in := input()
		in.Network = c.net
		d := build(t, in).Decide(policy.Request{Op: policy.OpConnect, Host: c.host, Port: c.port})
		assert.Equal(t, c.want, codes(d.Reasons), "%v %s:%d", c.net, c.host, c.port)
	}
}

// Everything contradictory is refused, every reason at once, both roots named (FS-09, NET-04, RES-01, DENY-01).
func TestBuild_Refuses(t *testing.T) {
	zero, big, negative := 0, 1<<40, -time.Second
	for name, c := range map[string]struct {
		bend func(*policy.Input)
		want string
	}{
		"profile":         {func(i *policy.Input) { i.Profile = "open" }, "profile"},
		"no workspace":    {func(i *policy.Input) { i.Workspace = "" }, "root_path"},
		"dots":            {func(i *policy.Input) { i.Workspace = "/home/u/../v" }, "root_path"},
		"slash":           {func(i *policy.Input) { i.Workspace = "/home/u/work/" }, "root_path"},
		"access":          {func(i *policy.Input) { i.Mounts[0].Access = "execute" }, "mount_access"},
		"mount twice":     {func(i *policy.Input) { i.Mounts[0].Path = "/home/u/work" }, "root_same"},
		"mount name":      {func(i *policy.Input) { i.Mounts[0].Name = "out" }, "mount_name"},
		"takes rights":    {func(i *policy.Input) { i.Mounts[0].Path = "/home/u/work/docs" }, "root_nested"},
		"adds nothing":    {func(i *policy.Input) { i.Mounts[2].Access = policy.AccessWrite }, "root_nested"},
		"mount in system": {func(i *policy.Input) { i.Mounts[0].Path = "/usr/share/doc" }, "root_nested"},
		"ssh":             {func(i *policy.Input) { i.Mounts[0].Path = "/home/u/.ssh" }, "root_denied"},
		"in ssh":          {func(i *policy.Input) { i.Mounts[0].Path = "/home/u/.ssh/keys" }, "root_denied"},
		"ssh elsewhere":   {func(i *policy.Input) { i.Mounts[0].Path = "/backup/.SSH" }, "root_denied"},
		"home":            {func(i *policy.Input) { i.Mounts[0].Path = "/home/u" }, "root_denied"},
		"everything":      {func(i *policy.Input) { i.Mounts = nil; i.Workspace = "/" }, "root_denied entry_writable entry_writable root_nested entry_writable"},
		"devices":         {func(i *policy.Input) { i.Mounts[0].Path = "/dev/shm" }, "root_denied"},
		"etc":             {func(i *policy.Input) { i.Mounts[0].Path = "/etc" }, "root_denied"},
		"state": {func(i *policy.Input) {
			i.Denied = append(i.Denied, policy.Denied{Path: "/home/u/work/.state", What: "state"})
		}, "root_denied"},
		"entry writable":   {func(i *policy.Input) { i.Entries[1].Path = "/home/u/work/sh" }, "entry_writable"},
		"runtime writable": {func(i *policy.Input) { i.Entries[0].RuntimeRoot = "/srv/out/py" }, "entry_writable"},
		"entry mounted":    {func(i *policy.Input) { i.Mounts[1].Path = "/opt/py/bin/python3"; i.Mounts = i.Mounts[:2] }, "entry_writable entry_writable"},
		"alias twice":      {func(i *policy.Input) { i.Entries[1].Alias = "python" }, "entry_alias"},
		"alias path":       {func(i *policy.Input) { i.Entries[1].Alias = "../sh" }, "entry_alias"},
		"alias empty":      {func(i *policy.Input) { i.Entries[1].Alias = "" }, "entry_alias"},
		"hash":             {func(i *policy.Input) { i.Entries[1].SHA256 = strings.ToUpper(sum) }, "entry_hash"},
		"no hash":          {func(i *policy.Input) { i.Entries[1].SHA256 = "" }, "entry_hash"},
		"require":          {func(i *policy.Input) { i.Require = sandbox.StrengthNone }, "require"},
		"mode":             {func(i *policy.Input) { i.Network.Mode = "open" }, "network_mode"},
		"no mode":          {func(i *policy.Input) { i.Network.Mode = "" }, "network_mode"},
		"local empty":      {func(i *policy.Input) { i.Network.Mode = "local" }, "network_empty"},
		"restricted empty": {func(i *policy.Input) { i.Network.Mode = "restricted" }, "network_empty"},
		"none with list":   {func(i *policy.Input) { i.Network.Ports = []int{80}; i.Network.Hosts = []string{"a.b:1"} }, "network_extra network_extra"},
		"local with host": {func(i *policy.Input) {
			i.Network = policy.NetworkInput{Mode: "local", Ports: []int{80}, Hosts: []string{"a.b:1"}}
		}, "network_extra"},
		"ports": {func(i *policy.Input) { i.Network = policy.NetworkInput{Mode: "local", Ports: []int{0, 70000, 80, 80}} }, "network_port network_port network_twice"},
		"hosts": {func(i *policy.Input) {
			i.Network = policy.NetworkInput{Mode: "restricted", Hosts: []string{
				"a.example", "*.example.com:443", "a.example:0", "http://a.example:80", "127.0.0.1:80", "[::1]:80", "localhost:80",
				"169.254.169.254:80", "0.0.0.0:80", "a.example:80", "A.example.:80", "1.2.3:80", "a b:80", "::1:80", "0x7f.0x1:80", "a.example:+80",
			}}
		}, "network_host network_host network_port network_host network_host_local network_host_local network_host_local network_host_local " +
			"network_host_local network_twice network_host network_host network_host network_host network_port"},
		"resources": {func(i *policy.Input) {
			i.Resources = policy.ResourceInput{Profile: "huge", MemoryMiB: &big, Processes: &zero, Timeout: &negative}
		}, "resource_profile resource_value resource_value resource_value"},
		"hooks":   {func(i *policy.Input) { i.Mounts[1].Path = "/srv/repo/.git/hooks"; i.Mounts = i.Mounts[:2] }, "root_protected"},
		"several": {func(i *policy.Input) { i.Profile = "x"; i.Network.Mode = "y"; i.Resources.Profile = "z" }, "profile network_mode resource_profile"},
	} {
		in := input()
		c.bend(&in)
		p, f := policy.Build(in)
		assert.Nil(t, p, name)
		if assert.NotNil(t, f, name) {
			assert.Equal(t, policy.CodeInvalid, f.Code, name)
			assert.Equal(t, c.want, codes(f.Reasons), name)
		}
	}
}

func TestBuild_NamesBothRoots(t *testing.T) {
	in := input()
	in.Mounts[0].Path = "/home/u/work/docs"
	_, f := policy.Build(in)
	require.Len(t, f.Reasons, 1)
	assert.Equal(t, fault.Args{
		"path": "/home/u/work/docs", "root": "mounts.docs", "have": policy.Words(rights.Read), "other": "workspace",
		"other_path": "/home/u/work", "other_have": policy.Words(rights.All),
	}, f.Reasons[0].Args)
}

func TestBuild_Resources(t *testing.T) { // RES-01
	memory, timeout := 10, 2*time.Second
	in := input()
	in.Resources = policy.ResourceInput{Profile: "constrained", MemoryMiB: &memory, Timeout: &timeout}
	assert.Equal(t, policy.Limits{Processes: 4, MemoryBytes: 10 << 20, WallClock: timeout}, build(t, in).Limits())
	assert.Equal(t, policy.Limits{Processes: 16, MemoryBytes: 4 << 30, WallClock: 30 * time.Minute}, build(t, input()).Limits())
}

func TestPolicy_IsTheSameWhateverTheOrder(t *testing.T) { // NFR-02
	in := input()
	slices.Reverse(in.Mounts)
	slices.Reverse(in.Entries)
	a, b := build(t, input()), build(t, in)
	assert.Equal(t, a.Roots(), b.Roots())
	assert.Equal(t, a.Entries(), b.Entries())
	assert.Equal(t, a.SandboxRoots(), b.SandboxRoots())
}

// FS-01, FS-08: the cache exists for processes alone; it is executable only where the workspace is, and lies in no other root.
func TestPolicy_Cache(t *testing.T) {
	in := input()
	in.Cache = "/home/u/state/cache/1/build"
	in.Denied = append(in.Denied, policy.Denied{Path: "/home/u/state", What: policy.State})
	for profile, want := range map[policy.Profile]rights.Set{
		policy.Development: rights.All, policy.ReadOnly: rights.Read | rights.Write | rights.Delete,
	} {
		in.Profile = profile
		p := build(t, in)
		assert.Contains(t, p.SandboxRoots(), rights.Root{Path: in.Cache, Rights: want})
		assert.Equal(t, in.Cache, p.Cache())
		for _, r := range p.ToolRoots() {
			assert.NotEqual(t, in.Cache, r.Path)
		}
		for _, op := range []policy.Op{policy.OpRead, policy.OpList, policy.OpWrite, policy.OpDelete, policy.OpExecute} {
			d := p.Decide(policy.Request{Op: op, Path: in.Cache + "/x"})
			assert.Equal(t, "outside", codes(d.Reasons), op)
		}
		_, _, ok := p.RootOf(in.Cache)
		assert.False(t, ok)
	}
	assert.Empty(t, build(t, input()).Cache())
	for name, c := range map[string]struct {
		cache string
		more  policy.Denied
		want  string
	}{
		"in the workspace":     {"/home/u/work/.cache", policy.Denied{}, "cache_overlap"},
		"around a mount":       {"/srv", policy.Denied{}, "cache_overlap cache_overlap cache_overlap"},
		"the workspace":        {"/home/u/work", policy.Denied{}, "cache_overlap"},
		"in the OS runtime":    {"/usr/local/state/cache/1/b", policy.Denied{}, "cache_overlap"},
		"in a runtime root":    {"/opt/py/cache", policy.Denied{}, "cache_overlap"},
		"holds the audit log":  {in.Cache, policy.Denied{Path: in.Cache + "/logs", What: policy.State}, "root_denied"},
		"in the configuration": {in.Cache, policy.Denied{Path: "/home/u/state/cache", What: "configuration"}, "root_denied"},
		"in credentials":       {"/home/u/.ssh/cache", policy.Denied{}, "root_denied"},
		"not canonical":        {"/home/u/state/../x", policy.Denied{}, "root_path"},
	} {
		bent := in
		bent.Cache, bent.Denied = c.cache, append(slices.Clone(in.Denied), c.more)
		_, f := policy.Build(bent)
		require.NotNil(t, f, name)
		assert.Equal(t, c.want, codes(f.Reasons), name)
	}
}

func TestPolicy_SandboxRoots(t *testing.T) { // PRF-01
	rx, rw := rights.Read|rights.Execute, rights.Read|rights.Write
	assert.Equal(t, []rights.Root{
		{Path: "/home/u/work", Rights: rights.All},
		{Path: "/opt/py", Rights: rx},
		{Path: "/srv/docs", Rights: rights.Read},
		{Path: "/srv/out", Rights: rw},
		{Path: "/srv/out/trash", Rights: rw | rights.Delete},
	}, build(t, input()).SandboxRoots(), "what adds nothing and what the adapter has anyway are left out")
	assert.Equal(t, "/home/u/work", build(t, input()).ToolRoots()[0].Path, "the workspace comes first")
}

func TestPolicy_WindowsNames(t *testing.T) {
	p := build(t, policy.Input{
		Profile: policy.Development, Workspace: `C:\Users\U\Work`, Style: policy.Style{Separator: '\\', FoldCase: true},
		Mounts:  []policy.MountInput{{Name: "d", Path: `D:\data`, Access: policy.AccessRead}},
		Network: policy.NetworkInput{Mode: "none"}, Resources: policy.ResourceInput{Profile: "normal"}, Require: sandbox.Approximate,
	})
	for path, want := range map[string]string{
		`c:\users\u\WORK\a`: "", `C:\Users\U\Work`: "", `C:\Users\U\Worker`: "outside", `D:\`: "outside", `D:\Data\x`: "",
		`\\server\share`: "not_canonical", `C:\Users\U\Work\..\x`: "not_canonical", `/home`: "not_canonical",
	} {
		assert.Equal(t, want, codes(p.Decide(policy.Request{Op: policy.OpRead, Path: path}).Reasons), path)
	}
	assert.False(t, p.Decide(policy.Request{Op: policy.OpWrite, Path: `C:\Users\U\Work\.GIT\Hooks\x`}).Allowed)
}

// The one rule about Git's own programs and settings.
func TestProtected(t *testing.T) {
	for path, want := range map[string]bool{
		"/w/.git": true, "/w/.git/config": true, "/w/.git/hooks": true, "/w/.git/hooks/pre-commit": true, "/w/.git/hooks/a/b": true,
		"/w/a/b/.git/config": true, "/w/.git/modules/m/config": true, "/w/.git/modules/m/hooks/x": true,
		"/w/.git/worktrees/t/config.worktree": true, "/w/.git/worktrees/t/commondir": true, "/w/.git/worktrees/t/gitdir": true,
		"/w/.git/config.worktree": true, "/w/.GIT/Config": true, "/w/.git/HOOKS/x": true, "/w/GIT~1/config": true,
		"/w/repo.git/config": true, "/w/repo.git/hooks/x": true, `C:\w\.git\hooks\x`: true,
		"/w/.git/index": false, "/w/.git/objects/ab/cd": false, "/w/.git/HEAD": false, "/w/.git/refs/heads/main": false,
		"/w/.git/config.lock": false, "/w/.git/info/exclude": false, "/w/config": false, "/w/hooks/x": false, "/w/src/hooks": false,
		"/w/.github/hooks": false, "/w/.gitignore": false, "/w/repo.git": false, "/w/repo.git/HEAD": false, "/w/git/config": false, "": false,
		"/w/.git/config/x": false,
	} {
		assert.Equal(t, want, policy.Protected(path), path)
	}
}

func wide(t testing.TB, roots int) (*policy.Policy, []policy.Request) {
	in := input()
	in.Mounts = nil
	var ask []policy.Request
	for i := range roots - 5 {
		path := fmt.Sprintf("/srv/data/project%03d/files", i)
		in.Mounts = append(in.Mounts, policy.MountInput{Name: fmt.Sprint(i), Path: path, Access: policy.AccessDelete})
		ask = append(ask, policy.Request{Op: policy.Op(1 + i%6), Path: path + "/src/pkg/main.go"})
	}
	p := build(t, in)
	require.Len(t, p.Roots(), roots)
	return p, ask
}

func TestDecide_AllowingDoesNotAllocate(t *testing.T) {
	p, ask := wide(t, 32)
	p = p.WithProtected([]string{"/srv/data/project001/files/bare/hooks"})
	for i := range ask {
		require.True(t, p.Decide(ask[i]).Allowed, ask[i].Path)
	}
	i := 0
	assert.Zero(t, testing.AllocsPerRun(1000, func() {
		p.Decide(ask[i%len(ask)])
		i++
	}))
}

func BenchmarkDecide(b *testing.B) {
	for _, n := range []int{8, 32, 128, 512, 2048} {
		b.Run(fmt.Sprintf("roots=%d", n), func(b *testing.B) {
			p, ask := wide(b, n)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if !p.Decide(ask[i]).Allowed {
					b.Fatal("denied")
				}
				if i++; i == len(ask) {
					i = 0
				}
			}
		})
	}
}

// No path that does not lie in a root by its own components is ever allowed, and deciding never panics.
func FuzzDecide(f *testing.F) {
	for _, s := range []string{"/home/u/work/a", "/home/u/work/../x", "//", "/", "", "/srv/out/.git/hooks", "\x00", "/srv/outer"} {
		f.Add(uint8(1), s)
	}
	p := build(f, input())
	f.Fuzz(func(t *testing.T, op uint8, path string) {
		d := p.Decide(policy.Request{Op: policy.Op(op), Path: path, Dest: path})
		if d.Allowed != (len(d.Reasons) == 0) {
			t.Fatalf("allowed with reasons: %q", path)
		}
		if !d.Allowed {
			return
		}
		inside := false
		for _, r := range p.Roots() {
			inside = inside || path == r.Path || strings.HasPrefix(path, r.Path+"/")
		}
		if !inside || strings.Contains(path+"/", "/../") || strings.Contains(path, "//") {
			t.Fatalf("allowed outside the roots: %q", path)
		}
	})
}
