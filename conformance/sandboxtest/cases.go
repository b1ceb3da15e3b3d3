package sandboxtest

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

const (
	r    = rights.Read
	rw   = rights.Read | rights.Write
	rx   = rights.Read | rights.Execute
	rwd  = rights.Read | rights.Write | rights.Delete
	rwx  = rights.Read | rights.Write | rights.Execute
	rwxd = rights.All
)

func (s *suite) preflight(t *testing.T) { // SEC-INV, OBS-01: shape of the report
	got, err := s.box.Preflight(context.Background())
	require.NoError(t, err)
	assert.NotEmpty(t, got.Platform)
	require.Greater(t, got.Level, sandbox.LevelNone, "this host cannot run the suite: %v", got.Missing)
	require.Len(t, got.Abilities, len(sandbox.Items()))
	for i, item := range sandbox.Items() {
		assert.Equal(t, item, got.Abilities[i].Item)
		if got.Abilities[i].Strength > sandbox.StrengthNone {
			assert.NotEmpty(t, got.Abilities[i].Mechanism, item)
		}
	}
	for _, mode := range []sandbox.NetworkMode{sandbox.NetworkLocal, sandbox.NetworkRestricted} { // NET-04: what is not claimed is refused
		spec := s.spec(s.Host.TempDir(t), r)
		spec.Network = sandbox.Network{Mode: mode, Ports: []uint16{80}, Connections: 1, Bytes: 1}
		if mode == sandbox.NetworkRestricted {
			spec.Network = sandbox.Network{Mode: mode, Hosts: []string{"example.org:443"}, Connections: 1, Bytes: 1}
		}
		if !got.Confines(mode) {
			assert.Equal(t, sandbox.CodeNetworkMode, s.refused(t, spec)[0], mode)
		}
	}
	for _, b := range got.Baseline {
		assert.True(t, filepath.IsAbs(b.Path), b.Path)
		assert.Zero(t, b.Rights&(rights.Write|rights.Delete), "the runtime is never writable: %s", b.Path)
	}
	again, err := s.box.Preflight(context.Background())
	require.NoError(t, err)
	assert.Equal(t, got, again)
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = s.box.Preflight(cancelled)
	assert.Equal(t, fault.CodeCancelled, fault.CodeOf(err))
}

func (s *suite) specs(t *testing.T) { // fails closed on every malformed Spec; nothing runs
	root := s.Host.TempDir(t)
	for name, c := range map[string]struct {
		change func(*sandbox.Spec)
		want   fault.Code
	}{
		"relative root":         {func(p *sandbox.Spec) { p.Roots[0].Path = "relative" }, sandbox.CodeBadSpec},
		"root with slash":       {func(p *sandbox.Spec) { p.Roots = s.roots(rights.Root{Path: root + "/", Rights: r}) }, sandbox.CodeBadSpec},
		"root with dot dot":     {func(p *sandbox.Spec) { p.Roots = s.roots(rights.Root{Path: root + "/../x", Rights: r}) }, sandbox.CodeBadSpec},
		"the whole file system": {func(p *sandbox.Spec) { p.Roots = append([]rights.Root{{Path: "/", Rights: r}}, p.Roots...) }, sandbox.CodeBadSpec},
		"root twice":            {func(p *sandbox.Spec) { p.Roots = append(p.Roots, p.Roots[len(p.Roots)-1]) }, sandbox.CodeBadSpec},
		"no right":              {func(p *sandbox.Spec) { p.Roots = s.roots(rights.Root{Path: root}) }, sandbox.CodeBadSpec},
		"unknown right":         {func(p *sandbox.Spec) { p.Roots = s.roots(rights.Root{Path: root, Rights: 0x91}) }, sandbox.CodeBadSpec},
		"delete without write":  {func(p *sandbox.Spec) { p.Roots = s.roots(rights.Root{Path: root, Rights: r | rights.Delete}) }, sandbox.CodeBadSpec},
		"missing root": {func(p *sandbox.Spec) {
			p.Roots = s.roots(rights.Root{Path: root, Rights: r}, rights.Root{Path: root + "-none", Rights: r})
		}, sandbox.CodeRootChanged},
		"protect outside":        {func(p *sandbox.Spec) { p.Protect = []string{"/elsewhere/x"} }, sandbox.CodeBadSpec},
		"protect missing":        {func(p *sandbox.Spec) { p.Protect = []string{filepath.Join(root, "none")} }, sandbox.CodeRootChanged},
		"directory outside":      {func(p *sandbox.Spec) { p.Dir = filepath.Dir(root) }, sandbox.CodeBadSpec},
		"directory missing":      {func(p *sandbox.Spec) { p.Dir = filepath.Join(root, "none") }, sandbox.CodeRootChanged},
		"relative entry":         {func(p *sandbox.Spec) { p.Entry.Path = "sh" }, sandbox.CodeBadSpec},
		"nameless entry":         {func(p *sandbox.Spec) { p.Entry.Name = "" }, sandbox.CodeBadSpec},
		"short hash":             {func(p *sandbox.Spec) { p.Entry.SHA256 = "abcd" }, sandbox.CodeBadSpec},
		"upper-case hash":        {func(p *sandbox.Spec) { p.Entry.SHA256 = strings.Repeat("A", 64) }, sandbox.CodeBadSpec},
		"NUL in argument":        {func(p *sandbox.Spec) { p.Args = []string{"a\x00b"} }, sandbox.CodeBadSpec},
		"environment no value":   {func(p *sandbox.Spec) { p.Env = []string{"NAME"} }, sandbox.CodeBadSpec},
		"environment no name":    {func(p *sandbox.Spec) { p.Env = []string{"=x"} }, sandbox.CodeBadSpec},
		"no process":             {func(p *sandbox.Spec) { p.Limits.Processes = 0 }, sandbox.CodeBadSpec},
		"no memory":              {func(p *sandbox.Spec) { p.Limits.MemoryBytes = -1 }, sandbox.CodeBadSpec},
		"no time":                {func(p *sandbox.Spec) { p.Limits.WallClock = 0 }, sandbox.CodeBadSpec},
		"no output":              {func(p *sandbox.Spec) { p.Limits.OutputBytes = 0 }, sandbox.CodeBadSpec},
		"unknown network":        {func(p *sandbox.Spec) { p.Network.Mode = "open" }, sandbox.CodeNetworkMode},    // NET-04
		"empty network":          {func(p *sandbox.Spec) { p.Network.Mode = "" }, sandbox.CodeNetworkMode},        // NET-04
		"local without ports":    {func(p *sandbox.Spec) { p.Network.Mode = "local" }, sandbox.CodeBadSpec},       // NET-04
		"restricted, no host":    {func(p *sandbox.Spec) { p.Network.Mode = "restricted" }, sandbox.CodeBadSpec},  // NET-04
		"none with ports":        {func(p *sandbox.Spec) { p.Network.Ports = []uint16{80} }, sandbox.CodeBadSpec}, // NET-04
		"everything is reported": {func(p *sandbox.Spec) { *p = sandbox.Spec{} }, sandbox.CodeBadSpec},
	} {
		t.Run(name, func(t *testing.T) {
			spec := s.spec(root, rw, "write|"+filepath.Join(root, "ran")+"|x")
			c.change(&spec)
			assert.Equal(t, c.want, s.refused(t, spec)[0])
			_, ran := s.Host.Read(filepath.Join(root, "ran"))
			assert.False(t, ran)
		})
	}
	spec := s.spec(root, rw)
	spec.Limits = sandbox.Limits{}
	assert.Len(t, s.refused(t, spec), 4, "every reason is told")
}

// rights is the table of FS-00: each right opens exactly its own operations.
func (s *suite) rights(t *testing.T) {
	for _, set := range []rights.Set{r, rw, rx, rwd, rwx, rwxd, rights.Write, rights.Execute} {
		t.Run(set.String(), func(t *testing.T) {
			root := s.Host.TempDir(t)
			p := func(name string) string { return filepath.Join(root, name) }
			prog := s.program(root, "prog")
			for _, f := range []string{"old", "gone", "from"} {
				s.Host.Write(t, p(f), f)
			}
			s.Host.Mkdir(t, p("empty"))
			s.Host.Mkdir(t, p("full"))
			s.Host.Write(t, p("full/x"), "x")
			s.Host.Program(t, prog)
			word := func(need rights.Set) string {
				if set.Has(need) {
					return "ok"
				}
				return "denied"
			}
			want := map[string]string{
				"read|" + p("old"):                                  word(rights.Read), // FS-00
				"list|" + root:                                      word(rights.Read), // FS-06
				"write|" + p("new") + "|n":                          word(rights.Write),
				"append|" + p("old") + "|+":                         word(rights.Write),
				"mkdir|" + p("dir"):                                 word(rights.Write),  // FS-06
				"chmod|" + p("old"):                                 word(rights.Write),  // Landlock does not see it
				"rename|" + p("from") + "|" + p("to"):               word(rwd &^ r),      // stricter inside than FS-07
				"remove|" + p("gone"):                               word(rights.Delete), // FS-04
				"rmdir|" + p("empty"):                               word(rights.Delete),
				"start|" + prog:                                     word(rx), // FS-10; a script is also read
				"read|" + filepath.Join(filepath.Dir(root), "none"): "missing",
			}
			if set.Has(rights.Delete) {
				want["rmdir|"+p("full")] = "not empty" // FS-06
			}
			if set == rights.Execute || set == rights.Write {
				delete(want, "start|"+prog)
			}
			if s.cannot(GapAttributes) {
				want["chmod|"+p("old")] = "denied"
			}
			verbs := order(want)
			spec := s.spec(root, set, verbs...)
			got := s.run(t, spec)
			for v, result := range want {
				assert.Equal(t, result, got[v], v)
			}
			content, _ := s.Host.Read(p("old"))
			assert.Equal(t, set.Has(rights.Write), content == "old+", content)
			_, there := s.Host.Read(p("gone"))
			assert.Equal(t, !set.Has(rights.Delete), there)
		})
	}
}

// order sorts verbs so that reading comes before changing.
func order(want map[string]string) (verbs []string) {
	for _, prefix := range []string{"read", "list", "start", "write", "append", "mkdir", "chmod", "rename", "remove", "rmdir"} {
		var some []string
		for v := range want {
			if strings.HasPrefix(v, prefix+"|") {
				some = append(some, v)
			}
		}
		verbs = append(verbs, some...)
	}
	return verbs
}

func (s *suite) nested(t *testing.T) { // FS-03, SEC-INV
	root := s.Host.TempDir(t)
	inner := filepath.Join(root, "inner")
	s.Host.Mkdir(t, inner)
	s.Host.Write(t, filepath.Join(root, "f"), "f")
	s.Host.Write(t, filepath.Join(inner, "f"), "f")
	t.Run("adds", func(t *testing.T) {
		spec := s.spec(root, r, "append|"+filepath.Join(root, "f")+"|+", "append|"+filepath.Join(inner, "f")+"|+", "write|"+filepath.Join(inner, "n")+"|n", "remove|"+filepath.Join(inner, "f"))
		spec.Roots = s.roots(rights.Root{Path: root, Rights: r}, rights.Root{Path: inner, Rights: rw})
		got := s.run(t, spec)
		assert.Equal(t, "denied", got["append|"+filepath.Join(root, "f")+"|+"])
		assert.Equal(t, "ok", got["append|"+filepath.Join(inner, "f")+"|+"])
		assert.Equal(t, "ok", got["write|"+filepath.Join(inner, "n")+"|n"])
		assert.Equal(t, "denied", got["remove|"+filepath.Join(inner, "f")])
	})
	t.Run("takes", func(t *testing.T) {
		spec := s.spec(root, rwd)
		spec.Roots = s.roots(rights.Root{Path: root, Rights: rwd}, rights.Root{Path: inner, Rights: rw})
		assert.Equal(t, sandbox.CodeNestedRoots, s.refused(t, spec)[0])
	})
	t.Run("file", func(t *testing.T) { // FS-01: a single file is a root
		spec := s.spec(root, r, "append|"+filepath.Join(inner, "f")+"|+", "write|"+filepath.Join(inner, "other")+"|x")
		spec.Roots = s.roots(rights.Root{Path: root, Rights: r}, rights.Root{Path: filepath.Join(inner, "f"), Rights: rw})
		got := s.run(t, spec)
		assert.Equal(t, "ok", got["append|"+filepath.Join(inner, "f")+"|+"])
		assert.Equal(t, "denied", got["write|"+filepath.Join(inner, "other")+"|x"])
	})
}

func (s *suite) protect(t *testing.T) { // the owner's git would run these later, outside
	root := s.Host.TempDir(t)
	p := func(name string) string { return filepath.Join(root, name) }
	for _, d := range []string{".git", ".git/hooks", "sub", "sub/.git"} {
		s.Host.Mkdir(t, p(d))
	}
	for _, f := range []string{".git/config", ".git/HEAD", ".git/hooks/pre-commit", "sub/.git/config"} {
		s.Host.Write(t, p(f), "original")
	}
	allowed := []string{
		"write|" + p("mine") + "|x", "read|" + p(".git/config"), "read|" + p(".git/hooks/pre-commit"), "append|" + p(".git/HEAD") + "|+",
		"write|" + p(".git/index.lock") + "|x", "rename|" + p(".git/index.lock") + "|" + p(".git/index"), "remove|" + p(".git/index"),
		"write|" + p("sub/file") + "|x", "write|" + p("sub/.git/index") + "|x",
	}
	if s.cannot(GapBesideProtected) {
		for _, f := range []string{"mine", ".git/index", "sub/file", "sub/.git/index"} {
			s.Host.Write(t, p(f), "there already")
		}
		allowed = []string{
			"write|" + p("mine") + "|x", "read|" + p(".git/config"), "read|" + p(".git/hooks/pre-commit"), "append|" + p(".git/HEAD") + "|+",
			"append|" + p(".git/index") + "|x", "write|" + p("sub/file") + "|x", "write|" + p("sub/.git/index") + "|x", "write|" + p("other/new") + "|x",
		}
		s.Host.Mkdir(t, p("other"))
	}
	denied := []string{
		"write|" + p(".git/config") + "|evil", "append|" + p(".git/config") + "|evil", "remove|" + p(".git/config"),
		"chmod|" + p(".git/config"), "rename|" + p(".git/config") + "|" + p("c"), "write|" + p(".git/hooks/post-checkout") + "|evil",
		"append|" + p(".git/hooks/pre-commit") + "|evil", "remove|" + p(".git/hooks/pre-commit"),
		"rename|" + p(".git/hooks") + "|" + p("h"), "rename|" + p(".git") + "|" + p("g"), "rename|" + p("sub") + "|" + p("s"),
		"rename|" + p("sub/.git") + "|" + p("s"), "rename|" + p("mine") + "|" + p(".git/config"),
	}
	spec := s.spec(root, rwxd, append(append([]string{}, allowed...), denied...)...)
	spec.Protect = []string{p(".git/config"), p(".git/hooks"), p("sub/.git/config")}
	got := s.run(t, spec)
	for _, v := range allowed {
		assert.Equal(t, "ok", got[v], v)
	}
	for _, v := range denied {
		assert.Contains(t, []string{"denied", "busy", "other device"}, got[v], v)
	}
	for _, f := range []string{".git/config", ".git/hooks/pre-commit", "sub/.git/config"} {
		content, _ := s.Host.Read(p(f))
		assert.Equal(t, "original", content, f)
	}
	_, there := s.Host.Read(p(".git/hooks/post-checkout"))
	assert.False(t, there)
}

func (s *suite) entry(t *testing.T) { // PRC-01, PRC-02, AT-09
	root := s.Host.TempDir(t)
	prog := s.program(root, "prog")
	s.Host.Program(t, prog)
	s.Host.Mkdir(t, filepath.Join(root, "dir"))
	s.Host.Write(t, filepath.Join(root, "data"), "no program")
	sum := s.Host.SHA256(t, prog)
	spec := func(path, sum string) sandbox.Spec {
		spec := s.spec(root, rwx)
		spec.Entry = sandbox.Entry{Name: "prog", Path: path, SHA256: sum}
		return spec
	}
	s.run(t, spec(prog, sum))
	s.run(t, spec(prog, "")) // PRC-04: a Workspace Artifact is not pinned
	s.run(t, spec(prog, sum))
	assert.Equal(t, sandbox.CodeEntryChanged, s.refused(t, spec(prog, strings.Repeat("0", 64)))[0])
	assert.Equal(t, sandbox.CodeEntryMissing, s.refused(t, spec(filepath.Join(root, "none"), sum))[0])
	assert.Equal(t, sandbox.CodeEntryFailed, s.refused(t, spec(filepath.Join(root, "dir"), ""))[0])
	assert.Equal(t, sandbox.CodeEntryFailed, s.refused(t, spec(filepath.Join(root, "data"), ""))[0])
	assert.Equal(t, sandbox.CodeBadSpec, s.refused(t, spec("/elsewhere/prog", ""))[0])
	runs := s.program(root, "interpreter") // PRC-02: what runs a script is pinned as the script is
	s.Host.Program(t, runs)
	script := spec(prog, sum)
	script.Entry.Interpreters = []sandbox.Image{{Path: runs, SHA256: s.Host.SHA256(t, runs)}}
	s.run(t, script)
	s.Host.Write(t, runs, "something else")
	assert.Equal(t, sandbox.CodeEntryChanged, s.refused(t, script)[0], "an interpreter was swapped after approval")
	script.Entry.Interpreters[0].Path = filepath.Join(root, "none")
	assert.Equal(t, sandbox.CodeEntryMissing, s.refused(t, script)[0])
	script.Entry.Interpreters[0].SHA256 = "abcd"
	assert.Equal(t, sandbox.CodeBadSpec, s.refused(t, script)[0])
	noExec := spec(prog, sum)
	noExec.Roots = s.roots(rights.Root{Path: root, Rights: rw})
	assert.Equal(t, sandbox.CodeEntryFailed, s.refused(t, noExec)[0], "read is never execute") // FS-10
	s.Host.Write(t, prog, "something else")
	assert.Equal(t, sandbox.CodeEntryChanged, s.refused(t, spec(prog, sum))[0], "drift after approval")
}

func (s *suite) streams(t *testing.T) {
	root := s.Host.TempDir(t)
	t.Run("kept whole", func(t *testing.T) {
		res, err := s.box.Run(context.Background(), s.spec(root, r, "out|100", "err|50", "exit|7"))
		require.NoError(t, err)
		assert.Equal(t, sandbox.EndExited, res.End)
		assert.Equal(t, 7, res.ExitCode)
		assert.Len(t, res.Stdout.Head, 100)
		assert.Empty(t, res.Stdout.Tail)
		assert.EqualValues(t, 50, res.Stderr.Total)
		assert.Len(t, res.Enforced, len(sandbox.Items()))
	})
	t.Run("flood", func(t *testing.T) { // RES-01: bounded memory, full count, no stall
		spec := s.spec(root, r, "out|50000000", "err|3000000")
		spec.Limits.OutputBytes = 1000
		res, err := s.box.Run(context.Background(), spec)
		require.NoError(t, err)
		assert.Equal(t, sandbox.EndExited, res.End)
		assert.EqualValues(t, 50_000_000, res.Stdout.Total)
		assert.EqualValues(t, 3_000_000, res.Stderr.Total)
		assert.Len(t, res.Stdout.Head, 500)
		assert.Len(t, res.Stdout.Tail, 500)
		assert.Equal(t, "0123456789abcdef", string(res.Stdout.Head[:16]))
		assert.Equal(t, "0123456789abcdef", string(res.Stdout.Tail[500-16:]))
	})
	t.Run("stdin", func(t *testing.T) { // never the caller's
		assert.Equal(t, `""`, s.run(t, s.spec(root, r, "stdin"))["stdin"])
		spec := s.spec(root, r, "stdin")
		spec.Stdin = []byte("hello")
		assert.Equal(t, `"hello"`, s.run(t, spec)["stdin"])
		spec.Args, spec.Stdin = []string{"sleep|1"}, make([]byte, 1<<20) // nobody reads it
		s.run(t, spec)
	})
}

func (s *suite) environment(t *testing.T) { // DENY-01, AT-10: nothing of the caller's
	t.Setenv("SANDBOXTEST_SECRET", "hunter2")
	root := s.Host.TempDir(t)
	spec := s.spec(root, r, "environ")
	spec.Env = []string{"GIVEN=yes", "HOME=/own"}
	got := s.run(t, spec)["environ"]
	assert.NotContains(t, got, "hunter2")
	assert.Contains(t, got, `"GIVEN=yes"`)
	assert.Contains(t, got, `"HOME=/own"`)
	for _, name := range []string{"PATH=", "TMPDIR=", "LANG="} {
		assert.Contains(t, got, `"`+name)
	}
	assert.Equal(t, 1, strings.Count(got, `"HOME=`))
}

func (s *suite) require(t *testing.T) { // a weaker result is never hidden
	report, err := s.box.Preflight(context.Background())
	require.NoError(t, err)
	spec := s.spec(s.Host.TempDir(t), r)
	weakest := min(report.Ability(sandbox.ItemMemory).Strength, report.Ability(sandbox.ItemProcesses).Strength)
	spec.Require = weakest
	s.run(t, spec)
	if weakest < sandbox.Exact {
		spec.Require = sandbox.Exact
		assert.Equal(t, sandbox.CodeTooWeak, s.refused(t, spec)[0])
	}
}

func (s *suite) close(t *testing.T) { // REC-03
	box := s.New(t)
	root := s.Host.TempDir(t)
	if s.Real {
		ended := make(chan sandbox.Result, 1)
		go func() {
			res, _ := box.Run(context.Background(), s.spec(root, rw, "write|"+filepath.Join(root, "up")+"|1", "sleep|60000"))
			ended <- res
		}()
		require.Eventually(t, func() bool { _, up := s.Host.Read(filepath.Join(root, "up")); return up }, 20*time.Second, time.Millisecond)
		require.NoError(t, box.Close())
		assert.Equal(t, sandbox.EndCancelled, (<-ended).End)
	}
	require.NoError(t, box.Close())
	require.NoError(t, box.Close())
	_, err := box.Run(context.Background(), s.spec(root, r))
	assert.Equal(t, sandbox.CodeClosed, fault.CodeOf(err))
	_, err = box.Preflight(context.Background())
	assert.Equal(t, sandbox.CodeClosed, fault.CodeOf(err))
}
