package diagnose_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/diagnose"
	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

func rules(tb testing.TB, n policy.NetworkInput) *policy.Policy {
	tb.Helper()
	if n.Mode == "" {
		n.Mode = sandbox.NetworkNone
	}
	p, f := policy.Build(policy.Input{
		Profile: policy.Development, Workspace: "/w",
		Mounts: []policy.MountInput{
			{Name: "docs", Path: "/docs", Access: policy.AccessRead},
			{Name: "out", Path: "/out", Access: policy.AccessWrite},
			{Name: "pool", Path: "/pool", Access: policy.AccessDelete},
		},
		Baseline: []rights.Root{{Path: "/usr", Rights: rights.Read | rights.Execute}},
		Network:  n, Resources: policy.ResourceInput{Profile: "normal"}, Require: sandbox.Approximate,
	})
	require.Nil(tb, f)
	return p.WithProtected([]string{"/w/.git/config", "/w/.git/hooks"})
}

func capture(s string) sandbox.Capture { return sandbox.Capture{Head: []byte(s), Total: int64(len(s))} }

func short(all []sandbox.Denial) (out []string) {
	for _, d := range all {
		out = append(out, d.Right+" "+d.Target+" "+string(d.Reason))
	}
	return out
}

// AT-07, NFR-07: what programs print is understood, whatever program it is.
func TestConclude_Forms(t *testing.T) {
	for _, tt := range []struct{ stderr, want string }{
		// coreutils and other programs of the base system
		{"rm: cannot remove '/out/o': Permission denied", "delete /out/o policy.no_delete"},
		{"rm: cannot remove '/docs/d': Read-only file system", "delete /docs/d policy.no_delete"},
		{"rmdir: failed to remove '/out/d': Permission denied", "delete /out/d policy.no_delete"},
		{"mv: cannot move '/out/o' to '/out/p': Permission denied", "delete /out/o policy.no_delete"},
		{"mv: cannot move 'a' to '/docs/a': Read-only file system", "write /docs/a policy.no_write"},
		{"mv: inter-device move failed: '/out/o' to '/w/o'; unable to remove target: Permission denied", "delete /out/o policy.no_delete"},
		{"cp: cannot create regular file '/docs/x': Read-only file system", "write /docs/x policy.no_write"},
		{"cp: cannot create regular file '/docs/it'\\''s': Read-only file system", "write /docs/it's policy.no_write"},
		{"ln: failed to create symbolic link '/docs/l': Read-only file system", "write /docs/l policy.no_write"},
		{"ln: failed to create hard link '/pool/l' => '/w/a': Invalid cross-device link", "write /w/a workspace.cross_volume"},
		{"mkdir: cannot create directory ‘/docs/x’: Read-only file system", "write /docs/x policy.no_write"},
		{"touch: cannot touch '/docs/d': Read-only file system", "write /docs/d policy.no_write"},
		{"touch: setting times of '/docs/d': Read-only file system", "write /docs/d policy.no_write"},
		{"chmod: changing permissions of '/docs/d': Read-only file system", "write /docs/d policy.no_write"},
		{"tee: /docs/x: Read-only file system", "write /docs/x policy.no_write"},
		{"truncate: cannot open '/docs/d' for writing: Read-only file system", "write /docs/d policy.no_write"},
		{"sed: couldn't open temporary file /docs/sedX1: Read-only file system", "write /docs/sedX1 policy.no_write"},
		{"sed: cannot rename /out/sedX1: Permission denied", "delete /out/sedX1 policy.no_delete"},
		{"tar: /docs/x: Cannot open: Read-only file system", "write /docs/x policy.no_write"},
		{"tar: /docs/l: Cannot create symlink to ‘a’: Read-only file system", "write /docs/l policy.no_write"},
		{"zip I/O error: Read-only file system\nzip error: Could not create output file (/docs/x.zip)", "write /docs/x.zip policy.no_write"},
		{"error:  cannot create /docs/x\n        Read-only file system", "write /docs/x policy.no_write"},
		{"cat: /secret/key: No such file or directory", "read /secret/key policy.outside"},
		{"cat: ../secret/key: No such file or directory", "read /secret/key policy.outside"},
		{"ls: cannot access '/secret': No such file or directory", "read /secret policy.outside"},
		{"rm: cannot remove '.git/hooks': Device or resource busy", "delete /w/.git/hooks policy.protected"},
		// shells
		{"sh: 1: cannot create /docs/x: Read-only file system", "write /docs/x policy.no_write"},
		{"sh: 1: cannot create /docs/my file: Read-only file system", "write /docs/my file policy.no_write"},
		{"bash: line 1: /docs/x: Read-only file system", "write /docs/x policy.no_write"},
		{"bash: line 1: .git/config: Read-only file system", "write /w/.git/config policy.protected"},
		{"/w/run.sh: line 3: /secret/tool: No such file or directory", "read /secret/tool policy.outside"},
		{"sh: 1: /secret/tool: not found", "read /secret/tool policy.outside"},
		{"bash: ./x: /docs/run: bad interpreter: Permission denied", "execute /docs/run policy.not_executable"},
		{"env: '/docs/run': Permission denied", "execute /docs/run policy.not_executable"},
		// languages
		{"PermissionError: [Errno 13] Permission denied: '/out/o'", "delete /out/o policy.no_delete"},
		{"PermissionError: [Errno 13] Permission denied: '/out/o' -> '/out/p'", "delete /out/o policy.no_delete"},
		{"OSError: [Errno 30] Read-only file system: '/docs/x'", "write /docs/x policy.no_write"},
		{"OSError: [Errno 18] Invalid cross-device link: '/w/a' -> '/pool/a'", "write /pool/a workspace.cross_volume"},
		{`  File "/usr/lib/python3/subprocess.py", line 1, in _execute_child` + "\nPermissionError: [Errno 13] Permission denied: '/docs/run'", "execute /docs/run policy.not_executable"},
		{"FileNotFoundError: [Errno 2] No such file or directory: '/secret/key'", "read /secret/key policy.outside"},
		{"Error: EACCES: permission denied, unlink '/out/o'", "delete /out/o policy.no_delete"},
		{"Error: EROFS: read-only file system, open '/docs/x'", "write /docs/x policy.no_write"},
		{"Error: EXDEV: cross-device link not permitted, rename '/w/a' -> '/pool/a'", "write /pool/a workspace.cross_volume"},
		{"npm error Error: EROFS: read-only file system, mkdir '/docs/node_modules'", "write /docs/node_modules policy.no_write"},
		{"Error: spawn /docs/run EACCES", "execute /docs/run policy.not_executable"},
		{"open /docs/x: read-only file system", "write /docs/x policy.no_write"},
		{"panic: remove /out/o: permission denied", "delete /out/o policy.no_delete"},
		{"rename /out/o /out/p: permission denied", "delete /out/o policy.no_delete"},
		{"fork/exec /docs/run: permission denied", "execute /docs/run policy.not_executable"},
		{"error: failed to write `/docs/Cargo.lock`\n\nCaused by:\n  Read-only file system (os error 30)", "write /docs/Cargo.lock policy.no_write"},
		{"Caused by:\n  failed to open: /docs/Cargo.lock\n\nCaused by:\n  Read-only file system (os error 30)", "write /docs/Cargo.lock policy.no_write"},
		{"java.io.FileNotFoundException: /docs/x (Read-only file system)", "write /docs/x policy.no_write"},
		{"Exception in thread \"main\" java.nio.file.AccessDeniedException: /out/o", "delete /out/o policy.no_delete"},
		{"java.nio.file.FileSystemException: /docs/x: Read-only file system", "write /docs/x policy.no_write"},
		{"x.rb:1:in `initialize': Read-only file system @ rb_sysopen - /docs/x (Errno::EROFS)", "write /docs/x policy.no_write"},
		{"Can't open '/docs/x' for writing: Read-only file system at x.pl line 3.", "write /docs/x policy.no_write"},
		{"PHP Warning:  file_put_contents(/docs/x): Failed to open stream: Read-only file system in x.php on line 1", "write /docs/x policy.no_write"},
		// builders
		{"/usr/bin/ld: cannot open output file /docs/x: Read-only file system\ncollect2: error: ld returned 1 exit status", "write /docs/x policy.no_write"},
		{"Assembler messages:\nFatal error: can't create /docs/x.o: Read-only file system", "write /docs/x.o policy.no_write"},
		{"make: Entering directory '/docs'\ntouch: cannot touch 'x': Read-only file system", "write /docs/x policy.no_write"},
		{"ERROR: Could not install packages due to an OSError: [Errno 30] Read-only file system: '/usr/lib/python3/x'", "write /usr/lib/python3/x policy.no_write"},
		// git
		{"error: unable to unlink old '/out/o': Permission denied", "delete /out/o policy.no_delete"},
		{"error: unable to create file /docs/x: Read-only file system", "write /docs/x policy.no_write"},
		{"fatal: Unable to create '/docs/.git/index.lock': Read-only file system", "write /docs/.git/index.lock policy.no_write"},
		{"error: could not write config file .git/config: Device or resource busy", "write /w/.git/config policy.protected"},
		{"error: could not lock config file /docs/.git/config: Read-only file system", "write /docs/.git/config policy.no_write"},
		{"error: insufficient permission for adding an object to repository database /docs/.git/objects", ""}, // EACCES: its files' mode
		// glibc in Japanese
		{"rm: '/out/o' を削除できません: 許可がありません", "delete /out/o policy.no_delete"},
		{"cp: 通常ファイル '/docs/x' を作成できません: 読み込み専用ファイルシステムです", "write /docs/x policy.no_write"},
		{"cat: /secret/key: そのようなファイルやディレクトリはありません", "read /secret/key policy.outside"},
		// what the policy allows, or what is no error of the sandbox's
		{"cat: a: Permission denied", ""},
		{"cat: /docs/d: Permission denied", ""},
		{"cat: a: No such file or directory", ""},
		{"cat: /docs/none: No such file or directory", ""},
		{"rm: cannot remove 'a': Permission denied", ""},
		{"open a: permission denied", ""},
		{"Error: EACCES: permission denied, open '/docs/d'", ""},
		{"open /docs/d: permission denied", ""},
		{"PermissionError: [Errno 1] Operation not permitted: 'a'", ""},
		{"chown: changing ownership of 'a': Operation not permitted", ""},
		{"mv: cannot move 'a' to 'b/c': No such file or directory", ""},
		{"OSError: [Errno 18] Invalid cross-device link: '/tmp/a' -> '/w/a'", ""},
		{"cat: /proc/1/mem: Permission denied", ""},
		{"ls: cannot access '/tmp/x': No such file or directory", ""},
		{"bash: line 1: foo: command not found", ""},
		{"rm: cannot remove 'a': Device or resource busy", ""},
		{"rm: cannot remove '/docs/d': Device or resource busy", ""},
		{"Permission denied", ""},
		{"it is said that permission denied is /docs/x", ""},
		{"SyntaxError: invalid syntax", ""},
		{"'", ""},
		{"': Permission denied: '", ""},
	} {
		in := diagnose.Input{Policy: rules(t, policy.NetworkInput{}), Dir: "/w", End: sandbox.EndExited, ExitCode: 1, Stderr: capture(tt.stderr), Binds: true}
		var want []string
		if tt.want != "" {
			want = []string{tt.want}
		}
		assert.Equal(t, want, short(diagnose.Conclude(in)), tt.stderr)
	}
}

// NET-01..03: a connection that the policy lets through is no denial, whatever became of it.
func TestConclude_Network(t *testing.T) {
	local := policy.NetworkInput{Mode: sandbox.NetworkLocal, Ports: []int{8080}}
	some := policy.NetworkInput{Mode: sandbox.NetworkRestricted, Hosts: []string{"pypi.org:443", "192.0.2.7:80"}}
	for _, tt := range []struct{ stderr, off, local, some string }{
		{"curl: (7) Failed to connect to localhost port 8080 after 0 ms: Couldn't connect to server", "localhost:8080", "", "localhost:8080"},
		{"curl: (7) Failed to connect to 127.0.0.1 port 8081 after 0 ms: Connection refused", "127.0.0.1:8081", "127.0.0.1:8081", ""},
		{"curl: (6) Could not resolve host: example.com", "example.com", "example.com", "example.com"},
		{"curl: (6) Could not resolve host: pypi.org", "pypi.org", "pypi.org", ""},
		{"fatal: unable to access 'https://github.com/a/b/': Could not resolve host: github.com", "github.com:443", "github.com:443", "github.com:443"},
		{"wget: unable to resolve host address ‘example.com’", "example.com", "example.com", "example.com"},
		{"Connecting to localhost (localhost)|127.0.0.1|:8080... failed: Connection refused.", "127.0.0.1:8080", "", ""},
		{"nc: connect to 192.0.2.7 port 80 (tcp) failed: Network is unreachable", "192.0.2.7:80", "192.0.2.7:80", ""},
		{"(UNKNOWN) [192.0.2.8] 80 (http) : Network is unreachable", "192.0.2.8:80", "192.0.2.8:80", "192.0.2.8:80"},
		{"bash: connect: Connection refused\nbash: line 1: /dev/tcp/127.0.0.1/99: Connection refused", "network 127.0.0.1:99", "127.0.0.1:99", ""},
		{"ConnectionRefusedError: [Errno 111] Connection refused", "network", "", ""},
		{"socket.gaierror: [Errno -3] Temporary failure in name resolution", "network", "", ""},
		{"urllib3.exceptions.MaxRetryError: HTTPSConnectionPool(host='files.example', port=443): Max retries exceeded with url: / (Caused by NameResolutionError(Temporary failure in name resolution))", "files.example:443", "files.example:443", "files.example:443"},
		{"HTTPSConnectionPool(host='pypi.org', port=443): [Errno -3] Temporary failure in name resolution", "pypi.org:443", "pypi.org:443", ""},
		{"Error: connect ECONNREFUSED 127.0.0.1:8080\n    at TCPConnectWrap.afterConnect [as oncomplete] (node:net:1555:16)", "127.0.0.1:8080", "", ""},
		{"Error: connect ECONNREFUSED ::1:8081", "[::1]:8081", "[::1]:8081", ""},
		{"npm error request to https://registry.example/x failed, reason: getaddrinfo EAI_AGAIN registry.example", "registry.example:443", "registry.example:443", "registry.example:443"},
		{"main.go:12: dial tcp 192.0.2.9:443: connect: network is unreachable", "192.0.2.9:443", "192.0.2.9:443", "192.0.2.9:443"},
		{"dial tcp: lookup example.com: no such host", "example.com", "example.com", "example.com"},
		{"java.net.UnknownHostException: example.com", "example.com", "example.com", "example.com"},
		{"ssh: connect to host example.com port 22: Network is unreachable", "example.com:22", "example.com:22", "example.com:22"},
		{`psql: error: connection to server at "127.0.0.1", port 5432 failed: Connection refused`, "127.0.0.1:5432", "127.0.0.1:5432", ""},
		{"bash: line 1: /dev/tcp/127.0.0.1/9: Permission denied", "127.0.0.1:9", "127.0.0.1:9", ""},
		{"    _socket.socket.__init__(self, family, type, proto, fileno)\nPermissionError: [Errno 13] Permission denied", "network", "", ""},
		{"connect: 接続を拒否されました", "network", "", ""},
	} {
		for i, n := range []policy.NetworkInput{{}, local, some} {
			var got []string
			for _, d := range diagnose.Conclude(diagnose.Input{Policy: rules(t, n), Dir: "/w", End: sandbox.EndExited, ExitCode: 1, Stderr: capture(tt.stderr)}) {
				assert.Equal(t, "network", d.Right)
				got = append(got, d.Target)
			}
			assert.Equal(t, []string{tt.off, tt.local, tt.some}[i], strings.Join(got, " "), "%s in %s", tt.stderr, n.Mode)
		}
	}
}

// A shell says the same whether it cannot start a program or not open a file: how it ended, and its script, tell.
func TestConclude_Shells(t *testing.T) {
	for _, tt := range []struct {
		stderr, script string
		exit           int
		want           string
	}{
		{"sh: 1: /secret/tool: not found", "", 127, "execute /secret/tool policy.outside"},
		{"bash: line 1: /secret/tool: No such file or directory", "", 127, "execute /secret/tool policy.outside"},
		{"bash: line 1: /docs/run: Permission denied", "/docs/run", 126, "execute /docs/run policy.not_executable"},
		{"bash: line 1: /secret/x: No such file or directory", "cat < /secret/x", 1, "read /secret/x policy.outside"},
		{"bash: line 1: /secret/x: No such file or directory", "date >> /secret/x", 1, "write /secret/x policy.outside"},
		{"bash: line 1: /docs/x: Permission denied", "cat < /docs/x", 1, ""},
	} {
		in := diagnose.Input{Policy: rules(t, policy.NetworkInput{}), Dir: "/w", Args: []string{"-c", tt.script}, End: sandbox.EndExited, ExitCode: tt.exit, Stderr: capture(tt.stderr), Binds: true}
		assert.Equal(t, tt.want, strings.Join(short(diagnose.Conclude(in)), ""), tt.stderr)
	}
}

// What a source calls tells what an error without a verb means: a file's own mode is no denial where only reading was tried.
func TestConclude_Sources(t *testing.T) {
	const line = "PermissionError: [Errno 13] Permission denied: '/docs/d'"
	for script, want := range map[string]string{
		`open("/docs/d")`: "", `import os; os.remove("/docs/d")`: "delete /docs/d policy.no_delete", `subprocess.Popen(["/docs/d"])`: "execute /docs/d policy.not_executable",
	} {
		in := diagnose.Input{Policy: rules(t, policy.NetworkInput{}), Dir: "/w", Args: []string{"-c", script}, End: sandbox.EndExited, ExitCode: 1, Stderr: capture(line), Binds: true}
		assert.Equal(t, want, strings.Join(short(diagnose.Conclude(in)), ""), script)
	}
}

// A relative name is meant from where the program was.
func TestConclude_Directories(t *testing.T) {
	in := diagnose.Input{Policy: rules(t, policy.NetworkInput{}), Dir: "/w", End: sandbox.EndExited, ExitCode: 1, Stderr: capture("rm: cannot remove 'o': Permission denied\n")}
	assert.Empty(t, diagnose.Conclude(in))
	for _, args := range [][]string{{"-c", "cd /out && rm o"}, {"-c", "cd '../out'; rm o"}, {"-C", "../out", "gc"}} {
		in.Args = args
		assert.Equal(t, []string{"delete /out/o policy.no_delete"}, short(diagnose.Conclude(in)), args)
	}
	in.Args, in.Dir = nil, "/out"
	assert.Equal(t, []string{"delete /out/o policy.no_delete"}, short(diagnose.Conclude(in)))
	in.Dir = `C:\w`
	assert.Empty(t, diagnose.Conclude(in))
}

// What a program that ended well printed on stdout is its result, not its errors; equal lines count; what was cut says nothing.
func TestConclude_Streams(t *testing.T) {
	const line = "rm: cannot remove '/out/o': Permission denied\n"
	in := diagnose.Input{Policy: rules(t, policy.NetworkInput{}), Dir: "/w", End: sandbox.EndExited, Stdout: capture(line)}
	assert.Empty(t, diagnose.Conclude(in))
	in.ExitCode = 1
	assert.Len(t, diagnose.Conclude(in), 1)
	in.ExitCode, in.End = -1, sandbox.EndTimedOut
	in.Stderr = capture(line + line)
	assert.Equal(t, 3, diagnose.Conclude(in)[0].Times)
	assert.False(t, diagnose.Conclude(in)[0].Seen)
	in.Stdout = sandbox.Capture{}
	in.Stderr = sandbox.Capture{Head: []byte("x\n" + line[:20]), Tail: []byte(line[20:] + "y\n"), Total: 9999}
	assert.Empty(t, diagnose.Conclude(in))
	in.Stderr.Total = int64(len(in.Stderr.Head) + len(in.Stderr.Tail))
	assert.Len(t, diagnose.Conclude(in), 1)
	in.Stderr = capture(strings.Repeat("cat: /x", 9) + ": No such file or directory")
	in.End, in.ExitCode = sandbox.EndExited, 0
	assert.Empty(t, diagnose.Conclude(in), "programs that end well look for much that is not there")
}

// Output is hostile: what is concluded stays small and printable.
func TestConclude_IsBounded(t *testing.T) {
	var flood strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&flood, "rm: cannot remove '/out/%d': Permission denied\n", i)
	}
	in := diagnose.Input{Policy: rules(t, policy.NetworkInput{}), Dir: "/w", End: sandbox.EndExited, ExitCode: 1, Stderr: capture(flood.String())}
	assert.Len(t, diagnose.Conclude(in), diagnose.MaxDenials)
	in.Stderr = capture("rm: cannot remove '/out/\xff': Permission denied\nrm: cannot remove '/out/a\x1b[2J': Permission denied\nrm: cannot remove '/out/" + strings.Repeat("a", 9000) + "': Permission denied")
	assert.Equal(t, []string{"delete /out/\uFFFD policy.no_delete"}, short(diagnose.Conclude(in)))
}

func TestMerge_ExactFirst(t *testing.T) {
	seen := []sandbox.Denial{{Target: "192.0.2.1:80", Right: "network", Seen: true, Times: 2}}
	guess := []sandbox.Denial{
		{Target: "/out/o", Right: "delete", Times: 1},
		{Target: "192.0.2.1:80", Right: "network", Times: 1},
		{Target: "network", Right: "network", Times: 1},
		{Target: "pypi.org:443", Right: "network", Times: 1},
		{Target: "[::1]:9", Right: "network", Times: 1},
	}
	flows := []sandbox.Flow{{Host: "pypi.org", Port: 443}, {Host: "::1", Port: 9}}
	assert.Equal(t, []sandbox.Denial{seen[0], guess[0]}, diagnose.Merge(seen, guess, flows))
	assert.Equal(t, guess, diagnose.Merge(nil, guess, nil))
}

func FuzzConclude(f *testing.F) {
	for _, s := range []string{
		"rm: cannot remove '/out/o': Permission denied", "'\\''", "‘: Read-only file system", "x: \xff: EACCES", "a ( (: permission denied @ x - (", "curl://@[::]:0 connection refused",
		"make: Entering directory '/docs'\nrename a b: permission denied", "許可がありません: '", "zip I/O error: Read-only file system\n()",
	} {
		f.Add([]byte(s), 1)
	}
	p := rules(f, policy.NetworkInput{})
	f.Fuzz(func(t *testing.T, out []byte, code int) {
		in := diagnose.Input{
			Policy: p, Dir: "/w", Args: []string{string(out)}, End: sandbox.EndExited, ExitCode: code, Binds: code%2 == 0,
			Stdout: sandbox.Capture{Head: out, Total: int64(len(out))}, Stderr: sandbox.Capture{Head: out, Tail: out, Total: int64(len(out))},
		}
		all := diagnose.Conclude(in)
		assert.LessOrEqual(t, len(all), diagnose.MaxDenials)
		for _, d := range all {
			assert.Positive(t, d.Times)
			assert.NotEmpty(t, d.Target)
			assert.True(t, utf8.ValidString(d.Target))
			if d.Right == "network" || d.Reason == "workspace.cross_volume" {
				continue
			}
			op := map[string]policy.Op{"read": policy.OpRead, "write": policy.OpWrite, "delete": policy.OpDelete, "execute": policy.OpExecute}[d.Right]
			if !strings.Contains(d.Target, "\uFFFD") {
				assert.False(t, p.Decide(policy.Request{Op: op, Path: d.Target}).Allowed, "%+v", d)
			}
		}
	})
}

func BenchmarkConclude(b *testing.B) {
	in := diagnose.Input{Policy: rules(b, policy.NetworkInput{}), Dir: "/w", End: sandbox.EndExited, ExitCode: 1}
	in.Stderr = capture(strings.Repeat("rm: cannot remove '/out/o': Permission denied\n", 1400))
	in.Stdout = capture(strings.Repeat("src/main.c:12:3: warning: unused variable 'x' [-Wunused-variable]\n", 1000))
	for b.Loop() {
		diagnose.Conclude(in)
	}
}
