package file_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/image/file"
	"github.com/agent-mcp/agent-mcp/conformance/imagetest"
)

// host is the real file system.
type host struct{ root string }

func (h host) Root() string { return h.root }

func (h host) Put(t testing.TB, path, content string, mode uint32) {
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	put(t, path, content, fs.FileMode(mode))
}

func (h host) Link(t testing.TB, target, path string) { require.NoError(t, os.Symlink(target, path)) }

func (h host) Mkdir(t testing.TB, path string, mode uint32) {
	require.NoError(t, os.Mkdir(path, 0o755))
	require.NoError(t, os.Chmod(path, fs.FileMode(mode)))
}

func TestIdentifier_Contract(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("symlinks and mode bits")
	}
	imagetest.Run(t, file.New(), host{dir(t)})
}
