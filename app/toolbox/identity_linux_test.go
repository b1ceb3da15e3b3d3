package toolbox_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/ident/sequence"
	imagefile "github.com/agent-mcp/agent-mcp/adapters/image/file"
	"github.com/agent-mcp/agent-mcp/adapters/workspace/osroot"
	"github.com/agent-mcp/agent-mcp/app/toolbox"
	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/core/broker"
	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// bench is a workspace /dir/w and programs in /dir/bin, which no root covers.
type bench struct {
	t       *testing.T
	dir     string
	sb      sandbox.Sandbox
	report  sandbox.Report
	entries []policy.Entry
	records recorder
	box     *toolbox.Box
}

type recorder struct{ all []audit.Record }

func (r *recorder) Record(rec audit.Record) error { r.all = append(r.all, rec); return nil }

func newBench(t *testing.T) *bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for _, d := range []string{"", "w", "bin"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, d), 0o755))
		require.NoError(t, os.Chmod(filepath.Join(dir, d), 0o755))
	}
	b := &bench{t: t, dir: dir}
	b.sb, b.report = confined(t)
	return b
}

func (b *bench) path(rel string) string { return filepath.Join(b.dir, rel) }

func (b *bench) put(rel, content string) string {
	p := b.path(rel)
	require.NoError(b.t, os.MkdirAll(filepath.Dir(p), 0o755))
	require.NoError(b.t, os.WriteFile(p, []byte(content), 0o755))
	require.NoError(b.t, os.Chmod(p, 0o755))
	return p
}

// program copies an installed program, "" when there is none of that name, or when it is one of many in one file.
func (b *bench) program(rel, name string) string {
	from, err := exec.LookPath(name)
	if err == nil {
		from, err = filepath.EvalSymlinks(from)
	}
	if err != nil || filepath.Base(from) != name {
		b.t.Skipf("no %s of its own here", name)
	}
	data, err := os.ReadFile(from)
	require.NoError(b.t, err)
	return b.put(rel, string(data))
}

// approve is what apply does with an entry.
func (b *bench) approve(alias, path string) {
	id, err := imagefile.New().Identify(context.Background(), path)
	require.NoError(b.t, err)
	require.Empty(b.t, broker.Approvable(alias, id))
	b.entries = append(b.entries, policy.Entry{Alias: alias, Path: id.Path, SHA256: id.SHA256, Interpreters: broker.Images(id)})
}

// open is a start.
func (b *bench) open() *bench {
	p, f := policy.Build(policy.Input{
		Profile: policy.Development, Workspace: b.path("w"), Entries: b.entries, Baseline: b.report.Baseline,
		Network: policy.NetworkInput{Mode: sandbox.NetworkNone}, Resources: policy.ResourceInput{Profile: "normal"}, Require: sandbox.Approximate,
	})
	if f != nil {
		b.t.Fatal(f)
	}
	var roots []string
	for _, r := range p.ToolRoots() {
		roots = append(roots, r.Path)
	}
	tree, err := osroot.New(roots, osroot.Options{})
	require.NoError(b.t, err)
	b.t.Cleanup(func() { require.NoError(b.t, tree.Close()) })
	b.box = toolbox.New(toolbox.Config{Policy: p, Tree: tree, Sandbox: b.sb, Images: imagefile.New(), Ident: sequence.New(), Audit: &b.records})
	b.t.Cleanup(func() { require.NoError(b.t, b.box.Close()) })
	return b
}

func (b *bench) run(alias string, args ...string) tool.Result {
	return b.box.Do(context.Background(), audit.Ref{}, tool.Call{Name: tool.Run, Alias: alias, Args: args, TimeoutSec: 60})
}

// PRC-02, AT-09, SEC-INV-05: an entry or what runs it, swapped after the start of the Broker, is refused, audited, and told in words.
func TestIdentity_SwapAfterStart(t *testing.T) {
	for name, swap := range map[string]func(b *bench){
		"entry overwritten": func(b *bench) { b.put("bin/tool", "#!"+b.path("bin/runner")+"\necho evil\n") },
		"entry renamed over": func(b *bench) {
			require.NoError(b.t, os.Rename(b.put("bin/new", "#!/bin/sh\necho evil\n"), b.path("bin/tool")))
		},
		"entry made a link": func(b *bench) {
			p := b.put("bin/new", "#!/bin/sh\necho evil\n")
			require.NoError(b.t, os.Remove(b.path("bin/tool")))
			require.NoError(b.t, os.Symlink(p, b.path("bin/tool")))
		},
		"interpreter overwritten": func(b *bench) { b.program("bin/runner", "cat") },
		"interpreter renamed over": func(b *bench) {
			require.NoError(b.t, os.Rename(b.program("bin/new", "cat"), b.path("bin/runner")))
		},
		"interpreter made a script": func(b *bench) { b.put("bin/runner", "#!/bin/sh\necho evil\n") },
		"ancestor renamed": func(b *bench) {
			require.NoError(b.t, os.Rename(b.path("bin"), b.path("bin2")))
			b.put("bin/tool", "#!/bin/sh\necho evil\n")
			b.program("bin/runner", "cat")
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			sh, err := filepath.EvalSymlinks("/bin/sh")
			require.NoError(t, err)
			data, err := os.ReadFile(sh)
			require.NoError(t, err)
			b.put("bin/runner", string(data))
			b.approve("tool", b.put("bin/tool", "#!"+b.path("bin/runner")+"\necho good\n"))
			b.open()
			require.Contains(t, b.run("tool").Text, "good")
			b.records.all = nil
			swap(b)
			r := b.run("tool")
			require.NotNil(t, r.Fault, r.Text)
			assert.True(t, r.Denied, r.Text)
			assert.Contains(t, r.Text, "only the owner can approve it again")
			assert.NotContains(t, r.Text, "evil")
			var denied bool
			for _, rec := range b.records.all {
				denied = denied || rec.Kind == audit.KindDenied
				assert.NotEqual(t, audit.KindProcess, rec.Kind, "no start is recorded, since there was none")
			}
			assert.True(t, denied)
		})
	}
}

// PRC-01, PRC-02: while somebody swaps the entry (or what runs it) as fast as they can, a run is the approved content or none.
func TestIdentity_SwapRace(t *testing.T) {
	const good, evil = "#!/bin/sh\necho good\n", "#!/bin/sh\necho evil\n"
	write := func(path string, data []byte) {
		f, err := os.OpenFile(path, os.O_WRONLY, 0) // in place, without an empty moment
		if err == nil {
			_, _ = f.WriteAt(data, 0)
			_ = f.Close()
		}
	}
	for name, prepare := range map[string]func(b *bench) (args []string, even, odd func()){
		"script overwritten in place": func(b *bench) ([]string, func(), func()) {
			p := b.put("bin/tool", good)
			return nil, func() { write(p, []byte(good)) }, func() { write(p, []byte(evil)) }
		},
		"script swapped by rename": func(b *bench) ([]string, func(), func()) {
			p := b.put("bin/tool", good)
			return nil, func() { _ = os.WriteFile(p+"1", []byte(good), 0o755); _ = os.Rename(p+"1", p) },
				func() { _ = os.WriteFile(p+"2", []byte(evil), 0o755); _ = os.Rename(p+"2", p) }
		},
		"ancestor swapped by rename": func(b *bench) ([]string, func(), func()) {
			b.put("bin/tool", good)
			b.put("other/tool", evil)
			turn := func(to, from string) func() {
				return func() { _, _ = os.Rename(b.path("bin"), b.path(to)), os.Rename(b.path(from), b.path("bin")) }
			}
			return nil, turn("other", "kept"), turn("kept", "other")
		},
		"program swapped by rename": func(b *bench) ([]string, func(), func()) {
			p := b.program("bin/tool", "echo")
			one, two := b.program("one", "echo"), b.program("two", "printf")
			return []string{"good%d"}, func() { link(one, p) }, func() { link(two, p) }
		},
		"interpreter swapped by rename": func(b *bench) ([]string, func(), func()) {
			p := b.program("bin/runner", "echo")
			one, two := b.program("one", "echo"), b.program("two", "printf")
			b.put("bin/tool", "#!"+p+" good%d\n")
			return nil, func() { link(one, p) }, func() { link(two, p) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			args, even, odd := prepare(b)
			b.approve("tool", b.path("bin/tool"))
			b.open()
			ran, refused := 0, 0
			for i := range 20 { // each swap comes a little later in its run, from before the hash to after the end
				even()
				var swap sync.WaitGroup
				swap.Go(func() {
					time.Sleep(time.Duration(i) * 2500 * time.Microsecond)
					odd()
				})
				r := b.run("tool", args...)
				swap.Wait()
				assert.NotContains(t, r.Text, "evil")
				assert.NotContains(t, r.Text, "good0")
				if r.Fault == nil {
					ran++
					assert.Contains(t, r.Text, "good")
					continue
				}
				refused++
			}
			t.Logf("%d ran, %d were refused", ran, refused)
			assert.Positive(t, ran+refused)
		})
	}
}

// link puts a hard link of one file in the place of another, in one step.
func link(from, to string) {
	_ = os.Remove(to + ".new")
	if os.Link(from, to+".new") == nil {
		_ = os.Rename(to+".new", to)
	}
}

// PRC-04, PRC-05, PRC-07, AT-21, AT-22: what lies in the workspace runs; a link to something outside does not make it an artifact;
// external programs never start from the Broker, but programs that did start may run those of the system, as confined as they are.
func TestIdentity_ArtifactsAndExternals(t *testing.T) {
	b := newBench(t)
	b.approve("sh", "/bin/sh")
	outside := b.put("outside/tool", "#!/bin/sh\necho outside\n")
	b.put("w/tool", "#!/bin/sh\necho artifact\n")
	b.put("w/python", "#!/usr/bin/env sh\necho by env\n")
	require.NoError(t, os.Symlink(outside, b.path("w/link")))
	require.NoError(t, os.Symlink("/usr/bin/env", b.path("w/env")))
	require.NoError(t, os.Symlink("tool", b.path("w/inner")))
	require.NoError(t, os.Link(outside, b.path("w/hard")))
	b.open()
	for alias, want := range map[string]string{
		"tool": "artifact", "./tool": "artifact", "inner": "artifact", "python": "by env", b.path("w/tool"): "artifact",
		"hard": "outside", // the same bytes under a name of the workspace: its content may be read and copied there anyway
	} {
		r := b.run(alias)
		require.Nil(t, r.Fault, "%s: %s", alias, r.Text)
		assert.Contains(t, r.Text, want, alias)
	}
	for _, alias := range []string{"link", "env", outside, "/usr/bin/env", "/bin/sh", "env.exe", `C:\Windows\System32\cmd.exe`, "../outside/tool"} {
		r := b.run(alias)
		require.NotNil(t, r.Fault, alias)
		assert.Equal(t, broker.CodeRefused, r.Fault.Code, "%s: %s", alias, r.Text)
		assert.True(t, r.Denied, alias)
	}
	r := b.run("sh", "-c", "/usr/bin/env echo descendant; "+outside+" || echo refused; ln -s "+outside+" l; ./l || echo refused too")
	require.Nil(t, r.Fault)
	assert.Contains(t, r.Text, "descendant")
	assert.Contains(t, r.Text, "refused\n")
	assert.Contains(t, r.Text, "refused too")
	assert.NotContains(t, r.Text, "outside\n")
}

// PRC-07, SEC-INV-03: a setuid program in the workspace runs as everything else there.
func TestIdentity_SetuidGivesNothing(t *testing.T) {
	b := newBench(t)
	p := b.program("w/who", "id")
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chown(p, 0, 0))
	}
	require.NoError(t, os.Chmod(p, 0o6755))
	b.approve("sh", "/bin/sh")
	b.open()
	plain, raised := b.run("sh", "-c", "id -u; id -g"), b.run("sh", "-c", "./who -u; ./who -g")
	require.Nil(t, plain.Fault, plain.Text)
	require.Nil(t, raised.Fault, raised.Text)
	stdout := func(r tool.Result) string { _, text, _ := strings.Cut(r.Text, "stdout:\n"); return text }
	assert.Equal(t, stdout(plain), stdout(raised))
	assert.NotContains(t, strings.Split(stdout(raised), "\n"), "0")
	r := b.run("who", "-u")
	require.Nil(t, r.Fault, r.Text)
	assert.NotContains(t, strings.Split(stdout(r), "\n"), "0")
}
