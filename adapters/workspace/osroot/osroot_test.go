package osroot

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/conformance/workspacetest"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// base is a canonical temporary directory that the test framework removes.
func base(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return dir
}

func systems() map[string]system {
	return map[string]system{"native": native(), "portable": portable{}}
}

// FS-02, FS-03, FS-06, FS-07, EDT-01, both through the system's own calls and through os.Root.
func TestTree_Contract(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the suite's worlds need slash paths and symlinks")
	}
	for name, sys := range systems() {
		t.Run(name, func(t *testing.T) {
			workspacetest.Run(t, func(t *testing.T) workspacetest.World { return world(base(t), sys) })
		})
	}
}

func world(dir string, sys system) workspacetest.World {
	return workspacetest.World{
		Base: dir,
		Open: func(t *testing.T) workspace.Tree {
			tree, err := open(sys, []string{dir + "/ws", dir + "/mnt"}, Options{})
			require.NoError(t, err)
			return tree
		},
		Put: func(t *testing.T, p, content string, executable bool) {
			require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o755))
			mode := fs.FileMode(0o644)
			if executable {
				mode = 0o755
			}
			require.NoError(t, os.WriteFile(p, []byte(content), mode))
		},
		Mkdir: func(t *testing.T, p string) { require.NoError(t, os.MkdirAll(p, 0o755)) },
		Symlink: func(t *testing.T, target, p string) {
			require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o755))
			require.NoError(t, os.Symlink(target, p))
		},
		Rename:   func(t *testing.T, from, to string) { require.NoError(t, os.Rename(from, to)) },
		Remove:   func(t *testing.T, p string) { require.NoError(t, os.RemoveAll(p)) },
		Snapshot: func(t *testing.T) map[string]string { return snapshot(t, dir) },
	}
}

func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == dir {
			return err
		}
		switch {
		case d.IsDir():
			all[p+"/"] = "dir"
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(p)
			if err != nil {
				return err
			}
			all[p] = "-> " + target
		case d.Type().IsRegular():
			content, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			all[p] = string(content)
		default:
			all[p] = d.Type().String()
		}
		return nil
	}))
	return all
}

func noTemps(t *testing.T, dir string) {
	t.Helper()
	for p := range snapshot(t, dir) {
		require.False(t, strings.Contains(p, TempPrefix), p)
	}
}
