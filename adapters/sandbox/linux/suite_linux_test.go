package linux

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/conformance/sandboxtest"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

func TestMain(m *testing.M) {
	RunHelperIfAsked()
	sandboxtest.RunProbeIfAsked()
	runAttackIfAsked()
	runNetIfAsked()
	runHostIfAsked()
	runBrokerIfAsked()
	runSharedBrokerIfAsked()
	os.Exit(m.Run())
}

// host is the real file system.
type host struct{}

func (host) TempDir(t testing.TB) string {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return dir
}
func (host) Mkdir(t testing.TB, path string) { require.NoError(t, os.Mkdir(path, 0o755)) }
func (host) Write(t testing.TB, path, content string) {
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
}

func (host) Program(t testing.TB, path string) {
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\nexit 0\n"), 0o755))
}

func (host) Read(path string) (string, bool) {
	b, err := os.ReadFile(path)
	return string(b), err == nil
}

func (host) SHA256(t testing.TB, path string) string {
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// probe is this test binary as an entry, with the root that lets it start.
func probe(t testing.TB) (sandbox.Entry, []rights.Root) {
	exe, err := os.Executable()
	require.NoError(t, err)
	exe, err = filepath.EvalSymlinks(exe)
	require.NoError(t, err)
	return sandbox.Entry{Name: sandboxtest.ProbeName, Path: exe}, []rights.Root{{Path: exe, Rights: rights.Read | rights.Execute}}
}

func TestSandbox_Contract(t *testing.T) {
	entry, roots := probe(t)
	internet := &sandboxtest.Internet{}
	sandboxtest.Run(t, sandboxtest.Harness{
		New:   func(testing.TB) sandbox.Sandbox { return New(Options{Resolver: internet, Dialer: internet}) },
		Entry: entry, EntryRoots: roots, Host: host{}, Real: true, Network: internet,
	})
}
