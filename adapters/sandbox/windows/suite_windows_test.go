package windows

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/conformance/sandboxtest"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

func TestMain(m *testing.M) {
	if exe, err := os.Executable(); err == nil {
		switch strings.ToLower(filepath.Base(exe)) {
		case "prog.exe", "interpreter.exe": // copies that Host.Program made
			os.Exit(0)
		}
	}
	sandboxtest.RunProbeIfAsked()
	os.Exit(m.Run())
}

// onDisk is the real file system.
type onDisk struct{}

func (onDisk) TempDir(t testing.TB) string {
	base, err := filepath.EvalSymlinks(os.TempDir())
	require.NoError(t, err)
	dir := filepath.Join(base, "agent-mcp-suite-"+newName())
	require.NoError(t, os.Mkdir(dir, 0o700))
	t.Cleanup(func() {
		m := &machine{api: system{}}
		require.NoError(t, m.removePath(context.Background(), dir))
	})
	return dir
}
func (onDisk) Mkdir(t testing.TB, path string) { require.NoError(t, os.Mkdir(path, 0o755)) }
func (onDisk) Write(t testing.TB, path, content string) {
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
}

// Program copies this test binary: it ends at once when it is called as the suite calls it.
func (onDisk) Program(t testing.TB, path string) {
	exe, err := os.Executable()
	require.NoError(t, err)
	b, err := os.ReadFile(exe)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, b, 0o755))
}

func (onDisk) Read(path string) (string, bool) {
	b, err := os.ReadFile(path)
	return string(b), err == nil
}

func (onDisk) SHA256(t testing.TB, path string) string {
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// The whole contract on a real Windows host: it needs an administrator, and says what else is missing.
func TestSandbox_Contract(t *testing.T) {
	box := New(Options{})
	report, err := box.Preflight(context.Background())
	require.NoError(t, err)
	require.NoError(t, box.Close())
	if report.Level == sandbox.LevelNone {
		t.Skipf("this host cannot confine anything: %v", report.Missing)
	}
	exe, err := os.Executable()
	require.NoError(t, err)
	exe, err = filepath.EvalSymlinks(exe)
	require.NoError(t, err)
	internet := &sandboxtest.Internet{}
	sandboxtest.Run(t, sandboxtest.Harness{
		New: func(testing.TB) sandbox.Sandbox { return New(Options{Resolver: internet}) }, Suffix: ".exe",
		Entry: sandbox.Entry{Name: sandboxtest.ProbeName, Path: exe}, EntryRoots: []rights.Root{{Path: exe, Rights: rights.Read | rights.Execute}},
		Host: onDisk{}, Real: true, Network: internet,
		Cannot: []sandboxtest.Gap{sandboxtest.GapFlows, sandboxtest.GapLoopback},
	})
}
