//go:build unix

package file_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/keep/file"
	"github.com/agent-mcp/agent-mcp/conformance/keeptest"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/keep"
)

var ctx = context.Background()

func base(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o755)) //nolint:gosec // whatever the umask
	return dir
}

func TestContract(t *testing.T) {
	keeptest.Run(t, file.New(), keeptest.Host{Base: base(t), Remove: func(t *testing.T, path string) {
		t.Helper()
		require.NoError(t, os.Remove(path))
	}})
}

// CFG-05: a kept directory is its owner's alone, and nothing below the state directory leads elsewhere.
func TestKeeper_OwnerOnlyAndNoLinks(t *testing.T) {
	k, below := file.New(), filepath.Join("cache", "id", "build")
	t.Run("mode", func(t *testing.T) {
		dir := filepath.Join(base(t), "state")
		require.NoError(t, k.Make(ctx, dir, below))
		for _, d := range []string{"", "cache", "cache/id", below} {
			info, err := os.Stat(filepath.Join(dir, d))
			require.NoError(t, err)
			assert.Equal(t, os.FileMode(0o700), info.Mode().Perm(), d)
		}
		// A program in the sandbox may change the mode of the directory itself: no reason to refuse, and mended by Make.
		for _, mode := range []os.FileMode{0o777, 0} {
			require.NoError(t, os.Chmod(filepath.Join(dir, below), mode))
			require.NoError(t, k.Check(ctx, dir, below))
			require.NoError(t, k.Make(ctx, dir, below))
			info, err := os.Stat(filepath.Join(dir, below))
			require.NoError(t, err)
			assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
		}
	})
	for name, spoil := range map[string]func(dir string) error{
		"the last is a link": func(dir string) error {
			return os.Symlink(dir, filepath.Join(dir, below))
		},
		"one above is a link": func(dir string) error {
			if err := os.RemoveAll(filepath.Join(dir, "cache")); err != nil {
				return err
			}
			return os.Symlink("elsewhere", filepath.Join(dir, "cache"))
		},
		"a file":         func(dir string) error { return os.WriteFile(filepath.Join(dir, below), nil, 0o600) },
		"open to others": func(dir string) error { return os.Chmod(filepath.Join(dir, "cache", "id"), 0o722) },
		"state open":     func(dir string) error { return os.Chmod(dir, 0o777) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := base(t)
			require.NoError(t, os.MkdirAll(filepath.Join(dir, "elsewhere", "id", "build"), 0o700))
			require.NoError(t, os.MkdirAll(filepath.Join(dir, "cache", "id"), 0o700))
			require.NoError(t, spoil(dir))
			assert.Equal(t, keep.CodeUnsafe, fault.CodeOf(k.Make(ctx, dir, below)))
			assert.Equal(t, keep.CodeUnsafe, fault.CodeOf(k.Check(ctx, dir, below)))
		})
	}
}
