package file_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/report/file"
	"github.com/agent-mcp/agent-mcp/conformance/reporttest"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/report"
)

func TestStore_Contract(t *testing.T) {
	reporttest.Run(t, func(t *testing.T, keep int) report.Store {
		return file.New(filepath.Join(t.TempDir(), "reports"), keep)
	})
}

// A report is its owner's alone, and stands beside nothing half written.
func TestStore_IsTheOwnersAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "reports")
	s := file.New(dir, 3)
	place, err := s.Put(context.Background(), report.Entry{Task: "a-1", State: "failed", Title: "t", Ended: time.Unix(1, 0)}, "# T\n")
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "19700101T000001Z-a-1.md"), place)
	text, err := os.ReadFile(place)
	require.NoError(t, err)
	require.Contains(t, string(text), "-->\n# T\n")
	for _, p := range []string{dir, place} {
		info, err := os.Stat(p)
		require.NoError(t, err)
		require.Zero(t, info.Mode().Perm()&0o077, p)
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

// What others put there is neither shown nor removed.
func TestStore_LeavesForeignFilesAlone(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte(`<!-- {"task":"b"} -->`+"\n"), 0o600))
	require.NoError(t, os.Symlink(secret, filepath.Join(dir, "20300101T000000Z-b.md")))
	for name, text := range map[string]string{
		"notes.md": "mine", "20300101T000000Z-c.md": "no first line", "20300101T000000Z-d.md": `<!-- {"task":"x"} -->` + "\n", "20300101T000000Z-e.md": `<!-- [] -->` + "\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	s := file.New(dir, 9)
	got, err := s.Last(context.Background(), 9)
	require.NoError(t, err)
	require.Empty(t, got)
	_, err = s.Put(context.Background(), report.Entry{Task: "n", Ended: time.Unix(1, 0)}, "x")
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(dir, "notes.md"))
	require.FileExists(t, secret)
}

func TestStore_SaysWhyItFailed(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(blocked, nil, 0o600))
	s := file.New(filepath.Join(blocked, "reports"), 1)
	_, err := s.Put(context.Background(), report.Entry{Task: "n", Ended: time.Unix(1, 0)}, "x")
	require.Equal(t, report.CodeFailed, fault.CodeOf(err))
	_, err = s.Put(context.Background(), report.Entry{Task: "../n", Ended: time.Unix(1, 0)}, "x")
	require.Equal(t, report.CodeFailed, fault.CodeOf(err))
}
