package file_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/image/file"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/image"
)

// dir returns a canonical temporary directory.
func dir(t testing.TB) string {
	t.Helper()
	d, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return d
}

func put(t testing.TB, path, text string, mode os.FileMode) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	require.NoError(t, os.Chmod(path, mode))
}

// A remembered hash never outlives the content, also when size and modification time are put back (PRC-02).
func TestIdentify_SeesEveryChange(t *testing.T) {
	d := dir(t)
	p := filepath.Join(d, "f")
	put(t, p, "one", 0o755)
	i := file.New()
	hash := func() string {
		id, err := i.Identify(context.Background(), p)
		require.NoError(t, err)
		return id.SHA256
	}
	first := hash()
	assert.Equal(t, first, hash())
	info, err := os.Stat(p)
	require.NoError(t, err)
	put(t, p, "two", 0o755) // in the same tick of the kernel's clock, perhaps
	require.NoError(t, os.Chtimes(p, info.ModTime(), info.ModTime()))
	second := hash()
	assert.NotEqual(t, first, second)
	require.NoError(t, os.Rename(p, p+"2"))
	put(t, p, "one", 0o755)
	assert.Equal(t, first, hash())
}

func TestIdentify_UnreadableIsSaid(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	p := filepath.Join(dir(t), "f")
	put(t, p, "x", 0o111)
	_, err := file.New().Identify(context.Background(), p)
	assert.Equal(t, image.CodeUnreadable, fault.CodeOf(err))
}

func BenchmarkIdentify(b *testing.B) {
	exe, err := os.Executable()
	require.NoError(b, err)
	i := file.New()
	for b.Loop() {
		if _, err := i.Identify(context.Background(), exe); err != nil {
			b.Fatal(err)
		}
	}
}
