package windows

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/internal/winpath"
	"github.com/agent-mcp/agent-mcp/conformance/golden"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

const (
	rx   = rights.Read | rights.Execute
	rw   = rights.Read | rights.Write
	rwd  = rw | rights.Delete
	rwxd = rights.All
	r_   = rights.Read

	pkg sid    = "S-1-15-2-7-7-7"
	tmp string = `C:\agent\runs\t`
)

func root(path string, set rights.Set) rights.Root { return rights.Root{Path: path, Rights: set} }

func testHost() host {
	return host{
		Profile: "agent-mcp.test", Package: pkg, User: testUser, SystemRoot: `C:\Windows`, Processors: "8",
		Baseline: []rights.Root{root(`C:\Program Files`, rx), root(`C:\Windows`, rx)}, Scratch: `C:\agent\runs`,
	}
}

// testSpec runs Python from its runtime root in a workspace; prepared makes both.
func testSpec(roots ...rights.Root) sandbox.Spec {
	roots = append(roots, root(`C:\Python313`, rx))
	slices.SortFunc(roots, func(a, b rights.Root) int { return strings.Compare(a.Path, b.Path) })
	return sandbox.Spec{
		ID: "run", Roots: slices.CompactFunc(roots, func(a, b rights.Root) bool { return a.Path == b.Path }), Dir: roots[len(roots)-1].Path,
		Entry: sandbox.Entry{Name: `C:\Python313\python.exe`, Path: `C:\Python313\python.exe`}, Args: []string{"-c", "print(1)"},
		Env:     []string{"LANG=ja_JP.UTF-8", "NO_COLOR=1", "TERM=dumb"},
		Network: sandbox.Network{Mode: sandbox.NetworkNone},
		Limits:  sandbox.Limits{Processes: 16, MemoryBytes: 4 << 30, WallClock: time.Minute, OutputBytes: 1000},
	}
}

func prepared(s sandbox.Spec) *world {
	w := newWorld()
	w.file(`C:\Python313\python.exe`, "MZ python")
	w.file(`C:\Python313\Lib\os.py`, "")
	for _, r := range s.Roots {
		if r.Path[:2] == "C:" && !strings.HasSuffix(r.Path, ".exe") {
			w.dir(r.Path)
		}
	}
	return w
}

// policies are the Specs whose plans are compared with files. bend changes the machine before it is looked at.
var policies = []struct {
	name string
	spec func() sandbox.Spec
	bend func(w *world)
}{
	{name: "readonly workspace", spec: func() sandbox.Spec { return testSpec(root(`C:\work`, r_)) }},
	{name: "development workspace", spec: func() sandbox.Spec { return testSpec(root(`C:\work`, rwxd)) }},
	{name: "write without delete", spec: func() sandbox.Spec { return testSpec(root(`C:\work`, rw)) }},
	{name: "read write delete", spec: func() sandbox.Spec { return testSpec(root(`C:\work`, rwd)) }},
	{name: "execute alone", spec: func() sandbox.Spec { return testSpec(root(`C:\tools`, rights.Execute), root(`C:\work`, r_)) }},
	{name: "write alone", spec: func() sandbox.Spec { return testSpec(root(`C:\drop`, rights.Write), root(`C:\work`, r_)) }},
	{name: "three mounts", spec: func() sandbox.Spec {
		return testSpec(root(`C:\docs`, r_), root(`C:\out`, rw), root(`C:\scratch`, rwd), root(`C:\work`, rwxd))
	}},
	{name: "a single file", spec: func() sandbox.Spec { return testSpec(root(`C:\tools\sign.exe`, rx), root(`C:\work`, r_)) }, bend: func(w *world) {
		w.file(`C:\tools\sign.exe`, "MZ")
	}},
	{name: "a single file with delete", spec: func() sandbox.Spec { return testSpec(root(`C:\notes\todo.txt`, rwd), root(`C:\work`, r_)) }, bend: func(w *world) {
		delete(w.root["C:"].kids[winpath.Fold("notes")].kids, winpath.Fold("todo.txt"))
		w.file(`C:\notes\todo.txt`, "x")
	}},
	{name: "nested root adds write", spec: func() sandbox.Spec { return testSpec(root(`C:\work`, r_), root(`C:\work\out`, rw)) }},
	{name: "nested deep below", spec: func() sandbox.Spec { return testSpec(root(`C:\work`, r_), root(`C:\work\a\b\c`, rwxd)) }},
	{name: "three levels nested", spec: func() sandbox.Spec {
		return testSpec(root(`C:\w`, r_), root(`C:\w\a`, rw), root(`C:\w\a\b`, rwd), root(`C:\w\a\b\c`, rwxd))
	}},
	{name: "nested file already covered", spec: func() sandbox.Spec {
		return testSpec(root(`C:\Python313\python.exe`, rx), root(`C:\work`, rwxd))
	}},
	{name: "nested would remove rights", spec: func() sandbox.Spec { return testSpec(root(`C:\work`, rwxd), root(`C:\work\vendor`, r_)) }},
	{name: "siblings with one prefix", spec: func() sandbox.Spec { return testSpec(root(`C:\work`, r_), root(`C:\work-out`, rwd)) }},
	{name: "one root in two cases", spec: func() sandbox.Spec { return testSpec(root(`C:\WORK`, r_), root(`C:\work`, r_)) }},
	{name: "two hundred roots", spec: func() sandbox.Spec {
		var roots []rights.Root
		for i := range 200 {
			roots = append(roots, root(fmt.Sprintf(`C:\mounts\m%03d`, i), r_))
		}
		return testSpec(append(roots, root(`C:\work`, rwxd))...)
	}},
	{name: "in the users profile", spec: func() sandbox.Spec { return testSpec(root(`C:\Users\me\project`, rwxd)) }},
	{name: "names in japanese with spaces", spec: func() sandbox.Spec { return testSpec(root(`C:\作業 場所\プロジェクト`, rwxd)) }},
	{name: "long path", spec: func() sandbox.Spec {
		return testSpec(root(`C:\`+strings.Repeat(`long-directory-name\`, 15)+"work", rwxd))
	}},
	{name: "another drive", spec: func() sandbox.Spec { return testSpec(root(`D:\work`, rwxd)) }, bend: func(w *world) {
		w.drive("D:", &volume{serial: 0xd0, fileSystem: "ReFS", acls: true})
		w.dir(`D:\work`)
	}},
	{name: "fat drive", spec: func() sandbox.Spec { return testSpec(root(`E:\work`, rwxd)) }, bend: func(w *world) {
		w.drive("E:", &volume{serial: 0xe0, fileSystem: "exFAT"}).list = dacl{Null: true, Owner: sidEveryone}
		w.dir(`E:\work`)
	}},
	{name: "network drive", spec: func() sandbox.Spec { return testSpec(root(`Z:\work`, rwxd)) }, bend: func(w *world) {
		w.drive("Z:", &volume{serial: 0x20, fileSystem: "NTFS", acls: true, remote: true})
		w.dir(`Z:\work`)
	}},
	{name: "root is a junction", spec: func() sandbox.Spec { return testSpec(root(`C:\work`, rwxd)) }, bend: func(w *world) {
		w.dir(`C:\elsewhere`)
		w.dir(`C:\work`).link = `C:\elsewhere`
	}},
	{name: "junction on the way", spec: func() sandbox.Spec { return testSpec(root(`C:\link\work`, rwxd)) }, bend: func(w *world) {
		w.dir(`C:\real\work`)
		w.dir(`C:\link`).link = `C:\real`
	}},
	{name: "junction inside", spec: func() sandbox.Spec { return testSpec(root(`C:\work`, rwxd)) }, bend: func(w *world) {
		w.file(`C:\secret\key`, "x")
		w.dir(`C:\work\j`).link = `C:\secret`
	}},
	{name: "root missing", spec: func() sandbox.Spec { return testSpec(root(`C:\work`, rwxd)) }, bend: func(w *world) {
		delete(w.root["C:"].kids, winpath.Fold("work"))
	}},
	{name: "foreign owner", spec: func() sandbox.Spec { return testSpec(root(`C:\work`, rwxd)) }, bend: func(w *world) {
		n := w.dir(`C:\work`)
		n.fixed, n.list.Owner = true, "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464"
	}},
	{name: "foreign owner above", spec: func() sandbox.Spec { return testSpec(root(`C:\shared\work`, rwxd)) }, bend: func(w *world) {
		w.dir(`C:\shared`).fixed = true
	}},
	{name: "no list at all", spec: func() sandbox.Spec { return testSpec(root(`C:\work`, rwxd)) }, bend: func(w *world) {
		w.dir(`C:\work`).list = dacl{Null: true, Owner: testUser}
	}},
	{name: "already granted", spec: func() sandbox.Spec { return testSpec(root(`C:\work`, rwd)) }, bend: func(w *world) {
		n := w.dir(`C:\work`)
		n.list, _ = n.list.with(entries(pkg, rwd, true))
	}},
	{name: "half granted", spec: func() sandbox.Spec { return testSpec(root(`C:\work`, rwd)) }, bend: func(w *world) {
		n := w.dir(`C:\work`)
		n.list, _ = n.list.with(entries(pkg, rwd, true)[1:])
	}},
	{name: "granted more by somebody", spec: func() sandbox.Spec { return testSpec(root(`C:\work`, r_)) }, bend: func(w *world) {
		n := w.dir(`C:\work`)
		n.list, _ = n.list.with(entries(pkg, rwxd, true))
	}},
	{name: "granted above by somebody", spec: func() sandbox.Spec { return testSpec(root(`C:\shared\work`, r_)) }, bend: func(w *world) {
		n := w.dir(`C:\shared`)
		n.list, _ = n.list.with(entries(pkg, r_, true))
	}},
	{name: "stale inherited entry", spec: func() sandbox.Spec { return testSpec(root(`C:\work`, r_)) }, bend: func(w *world) {
		n := w.dir(`C:\work`) // moved here from where it was given more
		n.list, _ = n.list.inherit(pkg, handDown(entries(pkg, rwxd, true), true))
	}},
	{name: "stale inherited entry and already granted", spec: func() sandbox.Spec { return testSpec(root(`C:\work`, r_)) }, bend: func(w *world) {
		n := w.dir(`C:\work`)
		n.list, _ = n.list.inherit(pkg, handDown(entries(pkg, rwxd, true), true))
		n.list, _ = n.list.with(entries(pkg, r_, true))
	}},
	{name: "protected list", spec: func() sandbox.Spec { return testSpec(root(`C:\work`, rwxd)) }, bend: func(w *world) {
		w.dir(`C:\work`).list.Protected = true
	}},
	{name: "deny entries", spec: func() sandbox.Spec { return testSpec(root(`C:\work`, rwxd)) }, bend: func(w *world) {
		n := w.dir(`C:\work`)
		n.list.Aces = append([]ace{{Type: aceDeny, Flags: flagFiles | flagDirs, Mask: maskWrite, SID: "S-1-5-32-546"}}, n.list.Aces...)
	}},
	{name: "read-only files", spec: func() sandbox.Spec {
		return testSpec(root(`C:\work`, rwd), root(`C:\work\locked.txt`, rwd|rights.Execute))
	}, bend: func(w *world) {
		delete(w.root["C:"].kids[winpath.Fold("work")].kids, winpath.Fold("locked.txt"))
		w.file(`C:\work\locked.txt`, "x").readOnly = true
	}},
	{name: "way already open", spec: func() sandbox.Spec { return testSpec(root(`C:\work`, r_)) }, bend: func(w *world) {
		n := w.root["C:"]
		n.list, _ = n.list.with([]ace{{Mask: 0x120088, SID: sidLowPackages}})
	}},
	{name: "below program files", spec: func() sandbox.Spec { return testSpec(root(`C:\Program Files\nodejs`, rx), root(`C:\work`, rwxd)) }},
	{name: "write below program files", spec: func() sandbox.Spec { return testSpec(root(`C:\Program Files\app\data`, rwd), root(`C:\work`, r_)) }},
	{name: "write below windows", spec: func() sandbox.Spec { return testSpec(root(`C:\Windows\Temp\x`, rwd), root(`C:\work`, r_)) }},
	{name: "a root that holds windows", spec: func() sandbox.Spec {
		s := testSpec(root(`C:\work`, r_))
		s.Roots = append([]rights.Root{root(`C:\`, rw)}, s.Roots...)
		return s
	}},
	{name: "cmd as the entry", spec: func() sandbox.Spec {
		s := testSpec(root(`C:\Windows\System32\cmd.exe`, rx), root(`C:\work`, rwxd))
		s.Entry = sandbox.Entry{Name: `C:\Windows\System32\cmd.exe`, Path: `C:\Windows\System32\cmd.exe`}
		s.Args = []string{"/c", "dir", "my files", "50%"}
		return s
	}},
	{name: "protected git", spec: func() sandbox.Spec {
		s := testSpec(root(`C:\work`, rwxd))
		s.Protect = []string{`C:\work\.git\config`, `C:\work\.git\hooks`}
		return s
	}, bend: func(w *world) {
		w.file(`C:\work\.git\config`, "[core]")
		w.file(`C:\work\.git\hooks\pre-commit`, "#!")
	}},
	{name: "protected link", spec: func() sandbox.Spec {
		s := testSpec(root(`C:\work`, rwxd))
		s.Protect = []string{`C:\work\.git`}
		return s
	}, bend: func(w *world) { w.dir(`C:\work\.git`).link = `C:\elsewhere` }},
	{name: "protected in a readonly root", spec: func() sandbox.Spec {
		s := testSpec(root(`C:\work`, r_))
		s.Protect = []string{`C:\work\.git`}
		return s
	}, bend: func(w *world) { w.dir(`C:\work\.git`) }},
	{name: "root inside what is protected", spec: func() sandbox.Spec {
		s := testSpec(root(`C:\work`, rw), root(`C:\work\.git\x`, rwd))
		s.Protect = []string{`C:\work\.git`}
		return s
	}},
	{name: "protected that inherits nothing already", spec: func() sandbox.Spec {
		s := testSpec(root(`C:\work`, rwxd))
		s.Protect = []string{`C:\work\.git`}
		return s
	}, bend: func(w *world) { w.dir(`C:\work\.git`).list.Protected = true }},
	{name: "network local", spec: func() sandbox.Spec {
		s := testSpec(root(`C:\work`, rwxd))
		s.Network = sandbox.Network{Mode: sandbox.NetworkLocal, Ports: []uint16{8080, 5432}, Connections: 10, Bytes: 1 << 20}
		return s
	}},
	{name: "network restricted", spec: func() sandbox.Spec {
		s := testSpec(root(`C:\work`, rwxd))
		s.Network = sandbox.Network{
			Mode: sandbox.NetworkRestricted, Connections: 10, Bytes: 1 << 20,
			Hosts: []string{"example.org:443", "[2001:db8::7]:8443", "intranet.example:80", "evil.example:443", "nowhere.example:443", "both.example:443"},
		}
		return s
	}},
	{name: "smallest limits", spec: func() sandbox.Spec {
		s := testSpec(root(`C:\work`, r_))
		s.Limits = sandbox.Limits{Processes: 1, MemoryBytes: 1, WallClock: 1, OutputBytes: 1}
		return s
	}},
	{name: "largest limits", spec: func() sandbox.Spec {
		s := testSpec(root(`C:\work`, r_))
		s.Limits = sandbox.Limits{Processes: 1 << 40, MemoryBytes: 1<<63 - 1, WallClock: 1 << 62, OutputBytes: 1 << 40}
		return s
	}},
	{name: "paths that are none", spec: func() sandbox.Spec {
		s := testSpec(root(`C:\work`, r_))
		s.Roots = append(s.Roots, root(`C:\x\NUL`, r_), root(`C:\x:stream`, r_), root(`C:\x.`, r_), root(`C:x`, r_), root(`\\server\share`, r_), root(`\\?\C:\x`, r_))
		s.Protect, s.Entry.Path, s.Dir = []string{`C:\work\..`}, `c:\python.exe`, `/work`
		return s
	}},
	{name: "entry in no root", spec: func() sandbox.Spec {
		s := testSpec(root(`C:\work`, r_))
		s.Entry.Path = `C:\elsewhere\x.exe`
		return s
	}},
	{name: "argument with a line end for cmd", spec: func() sandbox.Spec {
		s := testSpec(root(`C:\Windows\System32\cmd.exe`, rx), root(`C:\work`, r_))
		s.Entry = sandbox.Entry{Name: "cmd", Path: `C:\Windows\System32\cmd.exe`}
		s.Args = []string{"/c", "a\nb"}
		return s
	}},
}

// names leads to addresses.
var names = map[string][]netip.Addr{
	"example.org":      {netip.MustParseAddr("93.184.216.34"), netip.MustParseAddr("2606:2800::1")},
	"intranet.example": {netip.MustParseAddr("10.1.2.3")},
	"evil.example":     {netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("169.254.169.254")},
	"both.example":     {netip.MustParseAddr("::1"), netip.MustParseAddr("93.184.216.34"), netip.MustParseAddr("93.184.216.35")},
}

// render is the whole plan of a Spec on a machine, or its refusal, and what recovery would do after a crash at its end.
func render(t *testing.T, s sandbox.Spec, w *world) string {
	h, m := testHost(), &machine{api: w}
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	refused := func(f *fault.Error) string {
		line("refused")
		for _, r := range append([]*fault.Error{f}, f.Reasons...) {
			line("  %s", r.Error())
		}
		return b.String()
	}
	if f := check(s, h); f != nil {
		return refused(f)
	}
	looked := found{}
	for _, path := range subjects(s, h) {
		if o, err := m.look(path); err == nil {
			looked[winpath.Fold(path)] = o
		}
	}
	hold, f := planHold(s, h, looked)
	if f != nil {
		return refused(f)
	}
	order, f := planStart(s, h, tmp)
	if f != nil {
		return refused(f)
	}
	if !strings.HasSuffix(t.Name(), "/development_workspace") {
		order.Env = nil // one file shows it
	}
	permits := loopback(s.Network.Ports)
	var flows []sandbox.Flow
	if s.Network.Mode == sandbox.NetworkRestricted {
		var list []resolved
		for _, text := range s.Network.Hosts {
			host, port, ok := sandbox.SplitEndpoint(text)
			require.True(t, ok)
			a := names[host]
			if ip, err := netip.ParseAddr(host); err == nil {
				a = []netip.Addr{ip}
			}
			list = append(list, resolved{Host: host, Port: port, Addresses: a})
		}
		permits, flows = reachable(list, nil)
	}
	parts := []struct {
		title string
		steps []step
	}{{"for as long as runs want the same", hold}, {"network", planNetwork(s.Network.Mode, "net", h, permits, false)}, {"run", planRun(s, h, tmp)}}
	var all []step
	for _, p := range parts {
		line("# %s", p.title)
		for i, st := range p.steps {
			if len(p.steps) > 60 && i > 2 && i < len(p.steps)-3 {
				if i == 3 {
					line("… %d steps in all", len(p.steps))
				}
			} else {
				line("%s", st)
			}
		}
		all = append(all, p.steps...)
	}
	for _, f := range flows {
		line("flow %s:%d %s %s %s", f.Host, f.Port, f.Address, f.Verdict, f.Reason)
	}
	line("# program\njob.create\n%s\njob.port\npipes\n%s\ntoken.check\nprocess.resume", limitsOf(s.Limits, h), order)
	line("# recovery after a crash")
	n := 0
	for _, st := range slices.Backward(all) {
		if st.Record == nil {
			continue
		}
		undo, err := undoOf(st.Record.Kind, st.Record.Path, st.Record.Detail)
		require.NoError(t, err)
		if n++; len(all) < 60 || n <= 6 {
			line("%s", undo)
		}
	}
	line("# %d records", n)
	return b.String()
}

// FS-00..10, NET-01..04, RES-01, DENY-01: policy → calls, as values.
func TestPlan_Golden(t *testing.T) {
	require.GreaterOrEqual(t, len(policies), 40)
	seen := map[string]bool{}
	for _, p := range policies {
		require.False(t, seen[p.name], p.name)
		seen[p.name] = true
		t.Run(p.name, func(t *testing.T) {
			s := p.spec()
			w := prepared(s)
			if p.bend != nil {
				p.bend(w)
			}
			before := w.state()
			text := render(t, s, w)
			assert.Equal(t, text, render(t, s, w), "equal input gives equal bytes")
			assert.Equal(t, before, w.state(), "planning changes nothing")
			golden.Equal(t, "plans/"+strings.ReplaceAll(p.name, " ", "-")+".txt", []byte(text))
		})
	}
}
