package osroot

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkList: a directory of 100,000 entries, of which 200 are wanted.
func BenchmarkList(b *testing.B) {
	dir, err := filepath.EvalSymlinks(b.TempDir())
	require.NoError(b, err)
	for i := range 100_000 {
		require.NoError(b, os.WriteFile(filepath.Join(dir, fmt.Sprintf("file-%06d", i)), nil, 0o600))
	}
	tr, err := New([]string{dir}, Options{})
	require.NoError(b, err)
	h, err := tr.Resolve(b.Context(), ".")
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		entries, total, err := h.List(b.Context(), 200)
		if err != nil || len(entries) != 200 || total != 100_000 {
			b.Fatal(len(entries), total, err)
		}
	}
}

// BenchmarkResolve: five components deep, and through a link and back.
func BenchmarkResolve(b *testing.B) {
	dir, err := filepath.EvalSymlinks(b.TempDir())
	require.NoError(b, err)
	require.NoError(b, os.MkdirAll(dir+"/a/b/c/d", 0o755))
	require.NoError(b, os.WriteFile(dir+"/a/b/c/d/f", nil, 0o600))
	require.NoError(b, os.Symlink("a/b/../b", dir+"/l"))
	tr, err := New([]string{dir}, Options{})
	require.NoError(b, err)
	for _, p := range []string{"a/b/c/d/f", "l/c/d/f"} {
		b.Run(strings.ReplaceAll(p, "/", "_"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				h, err := tr.Resolve(b.Context(), p)
				if err != nil {
					b.Fatal(err)
				}
				_ = h.Close()
			}
		})
	}
}
