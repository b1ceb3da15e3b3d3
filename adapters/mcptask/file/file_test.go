package file_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/mcptask/file"
	"github.com/agent-mcp/agent-mcp/conformance/mcptasktest"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/mcptask"
)

func TestStore_Contract(t *testing.T) {
	mcptasktest.Run(t, func(t *testing.T) func(string) mcptasktest.Store {
		dir := filepath.Join(t.TempDir(), "tasks")
		return func(server string) mcptasktest.Store {
			s, err := file.Open(dir, server)
			require.NoError(t, err)
			t.Cleanup(func() { _ = s.Close() })
			return s
		}
	})
}

// Bad files, links and names of others in the directory are nobody's records, and one server has one name.
func TestStore_HostileDirectory(t *testing.T) {
	ctx := context.Background()
	dir := filepath.Join(t.TempDir(), "tasks")
	s, err := file.Open(dir, "a")
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	_, err = file.Open(dir, "a")
	require.Equal(t, mcptask.CodeFailed, fault.CodeOf(err))
	_, err = file.Open(dir, "../a")
	require.Equal(t, mcptask.CodeFailed, fault.CodeOf(err))
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte(`{"id":"link"}`), 0o600))
	require.NoError(t, os.Symlink(secret, filepath.Join(dir, "link.json")))
	for name, text := range map[string]string{
		"half": `{"id":"half"`, "other": `{"id":"another"}`, "empty": "", "list": "[]", "huge": `{"id":"huge","text":"` + strings.Repeat("x", mcptask.MaxBytes) + `"}`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".json"), []byte(text), 0o600))
		_, err := s.Get(ctx, name)
		require.Error(t, err, name)
	}
	_, err = s.Get(ctx, "link")
	require.Equal(t, mcptask.CodeFailed, fault.CodeOf(err))
	heads, err := s.List(ctx)
	require.NoError(t, err)
	require.Empty(t, heads)
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Zero(t, info.Mode().Perm()&0o077)
}

// MCP-2026-07: a record is durable when Put returns, or there is none: a directory that cannot be written is told.
func TestStore_CannotWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tasks")
	s, err := file.Open(dir, "a")
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(dir))
	err = s.Put(context.Background(), mcptask.Record{Head: mcptask.Head{ID: "x", Server: "a"}})
	require.Equal(t, mcptask.CodeFailed, fault.CodeOf(err))
	_, err = s.List(context.Background())
	require.Equal(t, mcptask.CodeFailed, fault.CodeOf(err))
	_ = s.Close()
	require.NoError(t, os.WriteFile(dir, nil, 0o600))
	_, err = file.Open(dir, "b")
	require.Equal(t, mcptask.CodeFailed, fault.CodeOf(err))
}
