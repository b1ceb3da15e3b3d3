package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/model/scripted"
	"github.com/agent-mcp/agent-mcp/core/audit"
)

// Variables that name the directory of a release, and of a newer one for this machine; .ci/run and `task release:test` make
// both. Without them what needs them is skipped.
const (
	released = "AGENT_MCP_RELEASE"
	newer    = "AGENT_MCP_RELEASE_NEWER"
)

// within bounds the wait for anything that a program does here; nothing is measured by it.
const within = 3 * time.Minute

// artifacts finds files of a release under test.
func artifacts(t *testing.T, variable, pattern string) []string {
	t.Helper()
	dir := os.Getenv(variable)
	if dir == "" {
		t.Skipf("NOT PROVEN here: what people install. Set %s to the directory of a release (`task release:test` does).", variable)
	}
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	require.NoError(t, err)
	require.NotEmpty(t, found, "%s has no %s", dir, pattern)
	return found
}

// home is a person's machine: a home directory, and the bundle unpacked somewhere in it.
type home struct {
	dir, folder, tmp string
	model            *scripted.Server
}

// settle makes a home outside the sources and unpacks the bundle of this machine in it, as the README says.
func settle(t *testing.T) *home {
	t.Helper()
	bundle := artifacts(t, released, "agent-mcp-*-linux-"+runtime.GOARCH+".tar.gz")[0]
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	sources, err := filepath.Abs("../..")
	require.NoError(t, err)
	require.False(t, strings.HasPrefix(dir, sources+"/"), "outside the sources")
	h := &home{dir: dir, folder: filepath.Join(dir, "apps", "agent-mcp"), tmp: filepath.Join(dir, "tmp")}
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "apps"), 0o755))
	require.NoError(t, os.Mkdir(h.tmp, 0o755))
	h.unpack(t, bundle)
	return h
}

func (h *home) unpack(t *testing.T, bundle string) {
	t.Helper()
	out, err := exec.Command("tar", "-xzf", bundle, "-C", filepath.Join(h.dir, "apps")).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// agent is the unpacked program, with the environment of a login and nothing of this test's.
func (h *home) agent(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, filepath.Join(h.folder, "agent-mcp"), args...)
	c.Dir = h.dir
	c.Env = []string{"HOME=" + h.dir, "TMPDIR=" + h.tmp, "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"}
	c.WaitDelay = 5 * time.Second
	return c
}

// run runs a command to its end and wants that exit code.
func (h *home) run(t *testing.T, code int, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	c := h.agent(ctx, args...)
	out, err := c.CombinedOutput()
	require.NotNil(t, c.ProcessState, "%v", err)
	require.Equal(t, code, c.ProcessState.ExitCode(), "%s", out)
	return string(out)
}

// configure writes agent.local.yaml out of the example that the bundle ships: Japanese, and the model server of this test.
func (h *home) configure(t *testing.T, more string, steps ...scripted.Step) {
	t.Helper()
	srv, err := scripted.NewServer(scripted.Script{Model: "m:latest", Steps: steps})
	require.NoError(t, err)
	t.Cleanup(srv.Close)
	h.model = srv
	example, err := os.ReadFile(filepath.Join(h.folder, "agent.local.example.yaml"))
	require.NoError(t, err)
	local := string(example)
	for old, with := range map[string]string{"language: en ": "language: ja ", "http://127.0.0.1:11434": srv.URL, "model: qwen3:8b ": "model: m:latest "} {
		require.Equal(t, 1, strings.Count(local, old), "%q in %s", old, local)
		local = strings.Replace(local, old, with, 1)
	}
	require.NoError(t, os.WriteFile(filepath.Join(h.folder, "agent.local.yaml"), []byte(local+more), 0o600))
}

func (h *home) workspace(name string) string { return filepath.Join(h.folder, "workspace", name) }

func (h *home) state(name string) string {
	return filepath.Join(h.dir, ".local", "state", "agent-mcp", name)
}

// serving is a started server.
type serving struct {
	t    *testing.T
	c    *exec.Cmd
	mu   sync.Mutex
	said bytes.Buffer  // stderr
	done chan struct{} // closed when stderr has ended
}

// listen collects stderr and returns once the ready message is there.
func (h *home) listen(t *testing.T, c *exec.Cmd) *serving {
	t.Helper()
	s := &serving{t: t, c: c, done: make(chan struct{})}
	errs, err := c.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	t.Cleanup(func() { _ = c.Process.Kill() }) // does nothing to one that has ended and was waited for
	ready := make(chan struct{})
	go func() {
		defer close(s.done)
		seen := false
		for sc := bufio.NewScanner(errs); sc.Scan(); {
			s.mu.Lock()
			fmt.Fprintln(&s.said, sc.Text())
			s.mu.Unlock()
			if !seen && strings.Contains(sc.Text(), "agent-mcp の準備ができました") {
				seen = true
				close(ready)
			}
		}
	}()
	select {
	case <-ready:
	case <-s.done:
		_ = c.Wait()
		require.FailNow(t, "the server ended before it was ready", s.text())
	case <-time.After(within):
		require.FailNow(t, "the server is not ready", s.text())
	}
	return s
}

func (s *serving) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said.String()
}

// end waits for the server's own end.
func (s *serving) end() {
	s.t.Helper()
	timer := time.AfterFunc(within, func() { _ = s.c.Process.Kill() })
	defer timer.Stop()
	<-s.done
	err := s.c.Wait()
	require.NoError(s.t, err, s.text())
}

// connect says hello through a client of others.
func connect(t *testing.T, c *client.Client) {
	t.Helper()
	hello := mcp.InitializeRequest{}
	hello.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	hello.Params.ClientInfo = mcp.Implementation{Name: "a client", Version: "1"}
	info, err := c.Initialize(t.Context(), hello)
	require.NoError(t, err)
	require.Equal(t, "agent-mcp", info.ServerInfo.Name)
	list, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
	require.NoError(t, err)
	require.Len(t, list.Tools, 2)
}

func call(t *testing.T, c *client.Client, tool string, args map[string]any) string {
	t.Helper()
	req := mcp.CallToolRequest{}
	req.Params.Name, req.Params.Arguments = tool, args
	res, err := c.CallTool(t.Context(), req)
	require.NoError(t, err)
	var b strings.Builder
	for _, part := range res.Content {
		if text, ok := part.(mcp.TextContent); ok {
			b.WriteString(text.Text)
		}
	}
	require.False(t, res.IsError, b.String())
	return b.String()
}

var (
	uuid  = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	ended = regexp.MustCompile(`\((completed|failed|cancelled)\)`)
)

// work asks for the work and follows the Task to its end; say calls a tool.
func work(t *testing.T, say func(tool string, args map[string]any) string) (task, status string) {
	t.Helper()
	accepted := say("agent_run", map[string]any{"request": request})
	require.Contains(t, accepted, "タスク ID")
	task = uuid.FindString(accepted)
	for limit := time.Now().Add(within); ; time.Sleep(50 * time.Millisecond) {
		status = say("agent_status", map[string]any{"task_id": task})
		if ended.MatchString(status) {
			return task, status
		}
		require.True(t, time.Now().Before(limit), status)
	}
}

// trail reads the audit of a server: every chain is whole, and it tells the whole life of the Task.
func (h *home) trail(t *testing.T, task string) {
	t.Helper()
	files, err := filepath.Glob(h.state("logs/audit*"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var mine []string
	kinds := map[audit.Kind]int{}
	for _, name := range files {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		rep, err := audit.Verify(func(fn func([]byte) bool) error {
			for line := range bytes.Lines(data) {
				if !fn(bytes.TrimSuffix(line, []byte("\n"))) {
					break
				}
			}
			return nil
		})
		require.NoError(t, err)
		require.Nil(t, rep.Fault, name)
		require.True(t, rep.Whole(), name)
		assert.NotContains(t, string(data), "DictReader", "contents are no matter of the audit")
		for line := range strings.Lines(string(data)) {
			var r struct {
				Kind   audit.Kind
				Task   string
				Fields map[string]any
			}
			require.NoError(t, json.Unmarshal([]byte(line), &r))
			kinds[r.Kind]++
			if r.Task != task {
				continue
			}
			switch r.Kind {
			case audit.KindTask:
				mine = append(mine, "task "+fmt.Sprint(r.Fields["to"]))
			case audit.KindProcessEnd:
				mine = append(mine, fmt.Sprint("process ", r.Fields["exit_code"]))
			case audit.KindWrite:
				mine = append(mine, "write "+filepath.Base(fmt.Sprint(r.Fields["path"])))
			}
		}
	}
	assert.Equal(t, []string{
		"task queued", "task planning", "task running", "write kakeibo.py", "write test_kakeibo.py", "process 1", "write kakeibo.py", "process 0",
		"task completed",
	}, mine)
	for _, kind := range []audit.Kind{audit.KindApply, audit.KindStart, audit.KindSandboxProof, audit.KindTool, audit.KindToolResult, audit.KindProcess, audit.KindStop} {
		assert.Positive(t, kinds[kind], kind)
	}
}

// clean proves that nothing remains but the work itself: no process, no instance, no temporary file, no file of its own in the
// workspace (SEC-INV-10).
func (h *home) clean(t *testing.T) {
	t.Helper()
	procs, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(t, err)
	for _, p := range procs {
		for _, link := range []string{"exe", "cwd"} {
			at, err := os.Readlink(filepath.Join(p, link))
			assert.False(t, err == nil && strings.HasPrefix(at, h.dir+"/"), "process %s (%s)", p, at)
		}
	}
	left, err := os.ReadDir(h.tmp)
	require.NoError(t, err)
	assert.Empty(t, left)
	instances, err := filepath.Glob(h.state("instances/*/*"))
	require.NoError(t, err)
	assert.Empty(t, instances)
	var files []string
	require.NoError(t, filepath.WalkDir(h.folder, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		assert.False(t, strings.HasPrefix(d.Name(), ".agent-mcp-"), path)
		if strings.HasPrefix(path, h.workspace("")) && !d.IsDir() {
			files = append(files, d.Name())
		}
		return nil
	}))
	assert.Equal(t, []string{"kakeibo.py", "test_kakeibo.py"}, files)
}

// done looks at the work itself.
func (h *home) done(t *testing.T, status string) {
	t.Helper()
	require.Contains(t, status, "(completed)", "%s\n%v", status, h.model.Model.Left())
	assert.Contains(t, status, answer)
	for name, want := range map[string]string{"kakeibo.py": strings.Replace(story(t, "kakeibo.py"), bug, fix, 1), "test_kakeibo.py": story(t, "test_kakeibo.py")} {
		got, err := os.ReadFile(h.workspace(name))
		require.NoError(t, err)
		assert.Equal(t, want, string(got), name)
	}
}

// again clears the workspace, so that the same work is work again.
func (h *home) again(t *testing.T) {
	t.Helper()
	for _, name := range []string{"kakeibo.py", "test_kakeibo.py"} {
		require.NoError(t, os.Remove(h.workspace(name)))
	}
}

// E2E-01, AT-01, AT-18, AT-21, OBS-02, SEC-INV-12: from the bundle, outside the sources, over stdio, in Japanese: a program and
// tests that start it with subprocess are written and run, found wrong, mended and run again; the audit is complete and nothing
// remains.
func TestInstalled_E2E01_Stdio(t *testing.T) {
	h := settle(t)
	h.configure(t, "", script(t)...)
	shown := h.run(t, 0, "apply", "--yes")
	assert.Contains(t, shown, "SHA-256")
	assert.Contains(t, shown, "適用しました")
	assert.Contains(t, h.run(t, 0, "show"), "python")

	c := h.agent(t.Context())
	in, err := c.StdinPipe()
	require.NoError(t, err)
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	s := h.listen(t, c)
	assert.Contains(t, s.text(), "stdio")
	assert.Contains(t, s.text(), "PID "+strconv.Itoa(c.Process.Pid))
	assert.Contains(t, s.text(), h.state("logs/app.log"))
	wire := &strict{r: out}
	cl := overPipes(wire, in)
	require.NoError(t, cl.Start(t.Context()))
	connect(t, cl)
	task, status := work(t, func(tool string, args map[string]any) string { return call(t, cl, tool, args) })
	h.done(t, status)
	require.NoError(t, in.Close()) // REC-04: the client goes, the server ends
	s.end()
	assert.Empty(t, wire.foreign(), "SEC-INV-12: stdout is MCP alone")
	h.trail(t, task)
	h.clean(t)
}

// CFG-06: unpacking a newer release over an older one keeps what is the user's, replaces what is the release's, and the program
// goes on after its owner has looked at what changed.
func TestInstalled_UpgradeKeepsWhatIsTheUsers(t *testing.T) {
	h := settle(t)
	next := artifacts(t, newer, "agent-mcp-*-linux-"+runtime.GOARCH+".tar.gz")[0]
	skill := "---\nname: ledger\ndescription: how we keep books\n---\nMine.\n"
	h.configure(t, "agent: {user_system_prompt: ./prompts/mine.md}\n", script(t)...)
	mine := map[string]string{
		"prompts/mine.md": "Answer briefly.\n", "skills/ledger/SKILL.md": skill, "skills/ledger/references/a.md": "a\n", "workspace/notes.txt": "mine\n",
		"work.yaml": "schema_version: 2\n", "work.local.yaml": "# mine\n", "locales/zh-CN.json": "{}\n",
	}
	for name, text := range mine {
		path := filepath.Join(h.folder, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	local, err := os.ReadFile(filepath.Join(h.folder, "agent.local.yaml"))
	require.NoError(t, err)
	mine["agent.local.yaml"] = string(local)
	old := strings.TrimSpace(h.run(t, 0, "--version"))
	h.run(t, 0, "apply", "--yes")
	before := h.stamps(t, mine)
	require.NoError(t, os.WriteFile(filepath.Join(h.folder, "agent.yaml"), []byte("# an older release's\n"), 0o600))

	h.unpack(t, next)

	assert.Equal(t, before, h.stamps(t, mine))
	for name, want := range mine {
		got, err := os.ReadFile(filepath.Join(h.folder, name))
		require.NoError(t, err)
		assert.Equal(t, want, string(got), name)
	}
	now := strings.TrimSpace(h.run(t, 0, "--version"))
	assert.NotEqual(t, old, now)
	assert.Contains(t, next, strings.TrimPrefix(now, "agent-mcp ")+"-linux")
	defaults, err := os.ReadFile(filepath.Join(h.folder, "agent.yaml"))
	require.NoError(t, err)
	assert.Contains(t, string(defaults), "schema_version: 2")
	shown := h.run(t, 0, "show")
	assert.Contains(t, shown, "ledger", "the user's skill is still used")
	h.run(t, 0, "apply", "--yes")
	c := h.agent(t.Context())
	in, err := c.StdinPipe()
	require.NoError(t, err)
	s := h.listen(t, c)
	require.NoError(t, in.Close())
	s.end()
}

// The same on Windows, as far as the archive goes: what is unpacked over a folder touches no name of the user's.
func TestInstalled_WindowsFolderIsUnpackedOver(t *testing.T) {
	bundle := artifacts(t, released, "agent-mcp-*-win-x64.zip")[0]
	h := &home{dir: t.TempDir()}
	h.folder = filepath.Join(h.dir, "agent-mcp")
	unzip := func() {
		t.Helper()
		out, err := exec.Command("unzip", "-q", "-o", bundle, "-d", h.dir).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	unzip()
	mine := map[string]string{"agent.local.yaml": "# mine\n", "prompts/mine.md": "x\n", "skills/a/SKILL.md": "y\n", "workspace/a.txt": "z\n"}
	for name, text := range mine {
		path := filepath.Join(h.folder, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	require.NoError(t, os.Remove(filepath.Join(h.folder, "agent-mcp.exe")))
	before := h.stamps(t, mine)
	unzip()
	assert.Equal(t, before, h.stamps(t, mine))
	assert.FileExists(t, filepath.Join(h.folder, "agent-mcp.exe"))
}

func (h *home) stamps(t *testing.T, names map[string]string) (out []string) {
	t.Helper()
	for name := range names {
		info, err := os.Stat(filepath.Join(h.folder, name))
		require.NoError(t, err)
		out = append(out, fmt.Sprint(name, info.Mode(), info.ModTime().UnixNano()))
	}
	slices.Sort(out)
	return out
}
