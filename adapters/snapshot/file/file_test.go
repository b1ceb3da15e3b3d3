//go:build unix

package file

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/conformance/snapshottest"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/snapshot"
)

var ctx = context.Background()

func TestStore_Contract(t *testing.T) {
	snapshottest.Run(t, func(t *testing.T) snapshot.Store { return New(filepath.Join(t.TempDir(), "applied")) })
}

func TestStore_OwnerOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "applied")
	s := New(dir)
	require.NoError(t, s.Save(ctx, "abc", []byte("x")))
	for path, mode := range map[string]os.FileMode{"": 0o700, "abc": 0o700, "abc/snapshot.json": 0o600} {
		info, err := os.Stat(filepath.Join(dir, path))
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().Perm(), path)
	}
}

func TestStore_RefusesWhatOthersCouldHaveWritten(t *testing.T) { // CFG-05
	for name, spoil := range map[string]func(t *testing.T, dir string){
		"a writable file":            func(t *testing.T, dir string) { require.NoError(t, os.Chmod(filepath.Join(dir, "abc", name), 0o620)) },
		"a writable directory":       func(t *testing.T, dir string) { require.NoError(t, os.Chmod(filepath.Join(dir, "abc"), 0o777)) },
		"a writable store":           func(t *testing.T, dir string) { require.NoError(t, os.Chmod(dir, 0o770)) },
		"a writable state directory": func(t *testing.T, dir string) { require.NoError(t, os.Chmod(filepath.Dir(dir), 0o777)) },
		"a linked directory": func(t *testing.T, dir string) {
			require.NoError(t, os.Rename(filepath.Join(dir, "abc"), filepath.Join(dir, "moved")))
			require.NoError(t, os.Symlink("moved", filepath.Join(dir, "abc")))
		},
		"a directory for a file": func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, "abc", name)))
			require.NoError(t, os.Mkdir(filepath.Join(dir, "abc", name), 0o700))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "applied")
			s := New(dir)
			require.NoError(t, s.Save(ctx, "abc", []byte("x")))
			spoil(t, dir)
			_, err := s.Load(ctx, "abc")
			require.Equal(t, snapshot.CodeUnsafe, fault.CodeOf(err))
		})
	}
	t.Run("a linked file", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "applied")
		s := New(dir)
		require.NoError(t, s.Save(ctx, "abc", []byte("x")))
		other := filepath.Join(t.TempDir(), "other")
		require.NoError(t, os.WriteFile(other, []byte("evil"), 0o600))
		require.NoError(t, os.Remove(filepath.Join(dir, "abc", name)))
		require.NoError(t, os.Symlink(other, filepath.Join(dir, "abc", name)))
		_, err := s.Load(ctx, "abc")
		require.Equal(t, snapshot.CodeFailed, fault.CodeOf(err))
	})
	t.Run("another user's file", func(t *testing.T) {
		if os.Geteuid() != 0 {
			t.Skip("only root can give a file away")
		}
		dir := filepath.Join(t.TempDir(), "applied")
		s := New(dir)
		require.NoError(t, s.Save(ctx, "abc", []byte("x")))
		require.NoError(t, os.Chown(filepath.Join(dir, "abc", name), 12345, -1))
		_, err := s.Load(ctx, "abc")
		require.Equal(t, snapshot.CodeUnsafe, fault.CodeOf(err))
	})
}

// CLI-02: whatever fails, the old snapshot stays and nothing is left beside it.
func TestStore_AnyFailureKeepsTheOld(t *testing.T) {
	for _, step := range []string{"mkdir", "create", "write", "sync", "close", "rename"} {
		t.Run(step, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "applied")
			s := New(dir)
			require.NoError(t, s.Save(ctx, "abc", []byte("old")))
			s.step = func(at string) error {
				if at == step {
					return errors.New("no space left")
				}
				return nil
			}
			err := s.Save(ctx, "abc", []byte("new"))
			require.Equal(t, snapshot.CodeFailed, fault.CodeOf(err))
			require.Equal(t, "no space left", fault.From(err).Args["detail"])
			got, err := s.Load(ctx, "abc")
			require.NoError(t, err)
			require.Equal(t, "old", string(got))
			entries, err := os.ReadDir(filepath.Join(dir, "abc"))
			require.NoError(t, err)
			require.Len(t, entries, 1)
		})
	}
}

func TestStore_SweepsWhatACrashLeft(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "applied")
	s := New(dir)
	require.NoError(t, s.Save(ctx, "abc", []byte("old")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "abc", temp+"123"), []byte("half"), 0o600))
	require.NoError(t, s.Save(ctx, "abc", []byte("new")))
	entries, err := os.ReadDir(filepath.Join(dir, "abc"))
	require.NoError(t, err)
	require.Len(t, entries, 1)
}
