package toolbox_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/ident/sequence"
	"github.com/agent-mcp/agent-mcp/adapters/image/file"
	"github.com/agent-mcp/agent-mcp/adapters/workspace/osroot"
	"github.com/agent-mcp/agent-mcp/app/toolbox"
	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// trail keeps the Audit's records.
type trail struct{ all []audit.Record }

func (r *trail) Record(rec audit.Record) error {
	r.all = append(r.all, rec)
	return nil
}

// scripted is a stage on which bash runs scripts.
type scripted struct {
	*stage
	log *trail
}

func newScripted(t *testing.T, network policy.NetworkInput) *scripted {
	t.Helper()
	sb, report := confined(t)
	if !report.Confines(network.Mode) {
		t.Skipf("this sandbox does not confine %s", network.Mode)
	}
	s := &scripted{newStage(t, sb, report), &trail{}}
	for name, content := range map[string]string{"w/hello.c": "int main(){return 0;}\n", "docs/Makefile": "x:\n\ttouch x\n", "docs/mode": "m", "w/mode": "m"} {
		require.NoError(t, os.WriteFile(s.at(name), []byte(content), 0o644))
	}
	for _, name := range []string{"docs/mode", "w/mode"} {
		require.NoError(t, os.Chmod(s.at(name), 0))
	}
	id, err := file.New().Identify(context.Background(), "/bin/bash")
	require.NoError(t, err)
	p, f := policy.Build(policy.Input{
		Profile: policy.Development, Workspace: s.at("w"),
		Mounts: []policy.MountInput{
			{Name: "docs", Path: s.at("docs"), Access: policy.AccessRead},
			{Name: "out", Path: s.at("out"), Access: policy.AccessWrite},
			{Name: "trash", Path: s.at("out/trash"), Access: policy.AccessDelete},
		},
		Entries: []policy.Entry{{Alias: "bash", Path: id.Path, SHA256: id.SHA256}}, Baseline: report.Baseline, Network: network,
		Resources: policy.ResourceInput{Profile: "normal"}, Require: sandbox.Approximate,
	})
	require.Nil(t, f)
	var roots []string
	for _, r := range p.ToolRoots() {
		roots = append(roots, r.Path)
	}
	tree, err := osroot.New(roots, osroot.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, tree.Close()) })
	s.box = toolbox.New(toolbox.Config{Policy: p, Tree: tree, Sandbox: sb, Images: file.New(), Ident: sequence.New(), Audit: s.log})
	t.Cleanup(func() { require.NoError(t, s.box.Close()) })
	return s
}

// bash runs a script and returns what it was refused, as the Audit has it, and what the model reads.
func (s *scripted) bash(script string) (denied []string, said string) {
	s.log.all = nil
	r := s.box.Do(context.Background(), audit.Ref{}, tool.Call{Name: tool.Run, Alias: "bash", Args: []string{"-c", script}, TimeoutSec: 120})
	require.Nil(s.t, r.Fault, r.Text)
	for _, rec := range s.log.all {
		if rec.Kind == audit.KindDenied {
			f := rec.Fields()
			denied = append(denied, fmt.Sprintf("%v %v %v", f["rights"], strings.ReplaceAll(fmt.Sprint(f["path"]), s.dir+"/", ""), f["codes"]))
		}
	}
	return denied, r.Text
}

// need skips what this host does not have in the system directories.
func need(t *testing.T, program string) {
	t.Helper()
	if _, err := os.Stat("/usr/bin/" + program); program != "" && err != nil {
		t.Skipf("/usr/bin/%s is not installed", program)
	}
}

// AT-07, NFR-07: real programs that the sandbox really refuses something; the path, the right and the reason are in the Audit and
// in the tool result.
func TestDiagnose_WhatRealProgramsAreRefused(t *testing.T) {
	s := newScripted(t, policy.NetworkInput{Mode: sandbox.NetworkNone})
	for _, tt := range []struct{ needs, script, want string }{
		{"", "rm @docs/d", "delete docs/d policy.no_delete"},
		{"", "rm -f @out/o", "delete out/o policy.no_delete"},
		{"", "rmdir @out/empty", "delete out/empty policy.no_delete"},
		{"", "mv @out/o @out/p", "delete out/o policy.no_delete"},
		{"", "mv @w/a @docs/a", "write docs/a policy.no_write"},
		{"", "cp @w/a @docs/a", "write docs/a policy.no_write"},
		{"", "cp @w/a @docs/d", "write docs/d policy.no_write"},
		{"", "ln -s a @docs/l", "write docs/l policy.no_write"},
		{"", "mkdir @docs/new", "write docs/new policy.no_write"},
		{"", "touch @docs/d", "write docs/d policy.no_write"},
		{"", "touch @docs/new", "write docs/new policy.no_write"},
		{"", "chmod 600 @docs/d", "write docs/d policy.no_write"},
		{"", "echo x > @docs/d", "write docs/d policy.no_write"},
		{"", "echo x >> @docs/new", "write docs/new policy.no_write"},
		{"", "sh -c 'echo x > @docs/new'", "write docs/new policy.no_write"},
		{"", "cd @docs && echo x | tee new", "write docs/new policy.no_write"},
		{"", "truncate -s 0 @docs/d", "write docs/d policy.no_write"},
		{"", "dd if=/dev/zero of=@docs/new count=1", "write docs/new policy.no_write"},
		{"", "cat @secret/key", "read secret/key policy.outside"},
		{"", "ls @secret", "read secret policy.outside"},
		{"", "cat < @secret/key", "read secret/key policy.outside"},
		{"", "echo x > @secret/new", "write secret/new policy.outside"},
		{"", "@docs/run", "execute docs/run policy.not_executable"},
		{"", "sh -c @docs/run", "execute docs/run policy.not_executable"},
		{"", "env @docs/run", "execute docs/run policy.not_executable"},
		{"", "timeout 5 @out/run", "execute out/run policy.not_executable"},
		{"", "echo x > @w/.git/config", "write w/.git/config policy.protected"},
		{"", "rm -r @w/.git/hooks", "delete w/.git/hooks/pre-commit policy.protected"},
		{"", "mv @w/.git/config @w/.git/c2", "delete w/.git/config policy.protected"},
		{"sed", "sed -i s/a/b/ @docs/d", "write docs/sed policy.no_write"},
		{"git", "git config --file @w/.git/config a.b c", "write w/.git/config policy.protected"},
		{"git", "git init -q @docs/repo", "write docs/repo policy.no_write"},
		{"git", "git -C @w clone -q @w/none @docs/clone; mkdir @docs/clone", "write docs/clone policy.no_write"},
		{"make", "make -C @docs x", "write docs/x policy.no_write"},
		{"gcc", "gcc -o @docs/prog @w/hello.c", "write docs/prog policy.no_write"},
		{"gcc", "gcc -c -o @docs/prog.o @w/hello.c", "write docs/prog.o policy.no_write"},
		{"tar", "tar -cf @docs/x.tar -C @w a", "write docs/x.tar policy.no_write"},
		{"tar", "tar -cf @w/x.tar -C @w a && tar -xf @w/x.tar -C @docs", "write docs/a policy.no_write"},
		{"zip", "cd @w && zip @docs/x.zip a", "write docs/x.zip policy.no_write"},
		{"perl", `perl -e 'open(F, ">", "@docs/new") or die "cannot open @docs/new: $!"'`, "write docs/new policy.no_write"},
		{"python3", `python3 -c 'open("@docs/new", "w")'`, "write docs/new policy.no_write"},
		{"python3", `python3 -c 'import os; os.remove("@out/o")'`, "delete out/o policy.no_delete"},
		{"python3", `python3 -c 'import os; os.rename("@out/o", "@out/p")'`, "delete out/o policy.no_delete"},
		{"python3", `python3 -c 'import os; os.rename("@w/a", "@out/trash/a")'`, "write out/trash/a workspace.cross_volume"},
		{"python3", `python3 -c 'import os; os.rmdir("@docs/empty")'`, "delete docs/empty policy.no_delete"},
		{"python3", `python3 -c 'import subprocess; subprocess.run(["@docs/run"])'`, "execute docs/run policy.not_executable"},
		{"python3", `python3 -c 'open("@secret/key")'`, "read secret/key policy.outside"},
		{"python3", `python3 -c 'import pathlib; pathlib.Path("@docs/d").unlink()'`, "delete docs/d policy.no_delete"},
		{"node", `node -e 'require("fs").writeFileSync("@docs/new", "x")'`, "write docs/new policy.no_write"},
		{"node", `node -e 'require("fs").unlinkSync("@out/o")'`, "delete out/o policy.no_delete"},
		{"node", `node -e 'require("fs").renameSync("@w/a", "@out/trash/a")'`, "write out/trash/a workspace.cross_volume"},
		{"node", `node -e 'require("child_process").execFileSync("@docs/run")'`, "execute docs/run policy.not_executable"},
		{"python3", `python3 -c 'import socket; socket.create_connection(("192.0.2.1", 80), 2)'`, "network socket AF_INET sandbox.not_listed"},
		{"curl", "curl -sS http://127.0.0.1:9/", "network 127.0.0.1:9 policy.network_none"},
		{"", "exec 3<>/dev/tcp/127.0.0.1/9", "network 127.0.0.1:9 policy.network_none"},
	} {
		t.Run(tt.script, func(t *testing.T) {
			need(t, tt.needs)
			denied, said := s.bash(strings.ReplaceAll(tt.script, "@", s.dir+"/"))
			want := strings.Fields(tt.want)
			assert.True(t, slices.ContainsFunc(denied, func(d string) bool { // the sandbox may have seen more
				return strings.HasPrefix(d, want[0]+" "+want[1]) && strings.HasSuffix(d, " ["+want[len(want)-1]+"]")
			}), "%s\n%s", denied, said)
			assert.Contains(t, said, "denied by policy: "+want[0], said)
		})
	}
}

// What fails for another reason than the policy is no denial.
func TestDiagnose_WhatFailsOtherwise(t *testing.T) {
	s := newScripted(t, policy.NetworkInput{Mode: sandbox.NetworkNone})
	for _, tt := range []struct{ needs, script string }{
		{"", "cat @w/none"},
		{"", "cat @docs/none"},
		{"", "cat @docs/mode"},
		{"", "cat < @w/mode"},
		{"", "cat < @docs/mode"},
		{"", "cp @docs/mode @w/copy"},
		{"", "ls /dev/none /proc/none"},
		{"", "cat /proc/1/mem"},
		{"", "no-such-program"},
		{"", "if then fi"},
		{"", "rmdir @w/full"},
		{"", "mkdir @w/full"},
		{"", "mv @w/none @w/x"},
		{"", "cp @w/a @w/none/x"},
		{"", "chown 1 @w/a"},
		{"", "mkdir @w/closed && chmod 0 @w/closed && touch @w/closed/x; chmod 700 @w/closed; rmdir @w/closed"},
		{"", "@w/a"},
		{"", "grep -r nothing @w/full"},
		{"", "false"},
		{"python3", `python3 -c 'open("@w/none")'`},
		{"python3", `python3 -c 'open("@docs/mode")'`},
		{"python3", `python3 -c 'print('`},
		{"python3", `python3 -c 'raise PermissionError("no")'`},
		{"node", `node -e 'require("fs").readFileSync("@docs/mode")'`},
		{"git", "git -C @w/full status"},
		{"gcc", "gcc -o @w/prog @w/none.c"},
		{"make", "make -C @w nothing"},
		{"", "echo \"rm: cannot remove '@docs/d': Permission denied\""},
	} {
		t.Run(tt.script, func(t *testing.T) {
			need(t, tt.needs)
			denied, said := s.bash(strings.ReplaceAll(tt.script, "@", s.dir+"/"))
			assert.Empty(t, denied, said)
			assert.NotContains(t, said, "denied by policy")
		})
	}
}

// NET-02: a listed port where nobody listens is the server's affair, another one the policy's.
func TestDiagnose_RefusedConnections(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port := l.Addr().(*net.TCPAddr).Port
	require.NoError(t, l.Close())
	s := newScripted(t, policy.NetworkInput{Mode: sandbox.NetworkLocal, Ports: []int{port}})
	denied, said := s.bash(fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%d", port))
	assert.Empty(t, denied, said)
	denied, said = s.bash("exec 3<>/dev/tcp/127.0.0.1/9")
	assert.Len(t, denied, 1, said)
	if _, err := exec.LookPath("/usr/bin/curl"); err == nil {
		denied, said = s.bash(fmt.Sprintf("curl -sS http://127.0.0.1:%d/", port))
		assert.Empty(t, denied, said)
	}
}
