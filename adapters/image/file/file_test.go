package file_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/image/file"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/image"
)

// dir returns a canonical temporary directory.
func dir(t *testing.T) string {
	t.Helper()
	d, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return d
}

func put(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	require.NoError(t, os.Chmod(path, mode))
}

// PRC-01, PRC-02: what is reported is the resolved file, its hash, and every link on the way.
func TestIdentify_ResolvesEveryLinkAndHashes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("symlinks need a privilege there")
	}
	d := dir(t)
	require.NoError(t, os.MkdirAll(d+"/real/bin", 0o755))
	put(t, d+"/real/bin/tool1", "\x7fELF body", 0o755)
	require.NoError(t, os.Symlink("real", filepath.Join(d, "usr")))
	require.NoError(t, os.Symlink("tool1", d+"/real/bin/tool"))
	require.NoError(t, os.Symlink(d+"/usr/bin/tool", filepath.Join(d, "t")))

	id, err := file.New().Identify(context.Background(), d+"/x/../t")
	require.Error(t, err, "a missing component before .. is missing")
	assert.Equal(t, image.CodeMissing, fault.CodeOf(err))
	assert.Zero(t, id)

	id, err = file.New().Identify(context.Background(), d+"/real/../t")
	require.NoError(t, err)
	sum := sha256.Sum256([]byte("\x7fELF body"))
	assert.Equal(t, d+"/real/bin/tool1", id.Path)
	assert.Equal(t, hex.EncodeToString(sum[:]), id.SHA256)
	assert.Equal(t, []image.Link{
		{Path: filepath.Join(d, "t"), Target: d + "/usr/bin/tool"},
		{Path: filepath.Join(d, "usr"), Target: "real"},
		{Path: d + "/real/bin/tool", Target: "tool1"},
	}, id.Links)
	assert.True(t, id.Regular && id.Executable && !id.WorldWritable && !id.Directory)
	assert.Equal(t, image.FormatELF, id.Format)
	assert.EqualValues(t, 9, id.Size)
}

func TestIdentify_ReportsFacts(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("mode bits")
	}
	d := dir(t)
	shared := filepath.Join(d, "shared")
	require.NoError(t, os.Mkdir(shared, 0o755))
	require.NoError(t, os.Chmod(shared, 0o777))
	put(t, filepath.Join(d, "plain"), "hello", 0o644)
	put(t, filepath.Join(d, "world"), "MZ", 0o777)
	put(t, filepath.Join(shared, "in"), "x", 0o755)
	put(t, filepath.Join(d, "script"), "#! /bin/sh -e\necho\n", 0o755)
	put(t, filepath.Join(d, "lost"), "#!/no/such/interpreter\n", 0o755)
	put(t, filepath.Join(d, "bare"), "#!\n", 0o755)
	put(t, filepath.Join(d, "relative"), "#!python\n", 0o755)
	for name, check := range map[string]func(image.Identity){
		"plain": func(id image.Identity) { assert.False(t, id.Executable); assert.Empty(t, id.OpenParents) },
		"world": func(id image.Identity) {
			assert.True(t, id.WorldWritable && id.GroupWritable)
			assert.Equal(t, image.FormatPE, id.Format)
		},
		"shared/in": func(id image.Identity) { assert.Equal(t, []string{shared}, id.OpenParents) },
		"script": func(id image.Identity) {
			assert.Equal(t, "/bin/sh", id.Interpreter)
			assert.True(t, id.InterpreterFound)
		},
		"lost": func(id image.Identity) { assert.False(t, id.InterpreterFound) },
		"bare": func(id image.Identity) {
			assert.Equal(t, image.FormatScript, id.Format)
			assert.Empty(t, id.Interpreter)
		},
		"relative": func(id image.Identity) {
			assert.Equal(t, "python", id.Interpreter)
			assert.False(t, id.InterpreterFound)
		},
		".": func(id image.Identity) {
			assert.True(t, id.Directory)
			assert.Empty(t, id.SHA256)
			assert.Equal(t, d, id.Path)
		},
	} {
		id, err := file.New().Identify(context.Background(), filepath.Join(d, name))
		require.NoError(t, err, name)
		check(id)
	}
}

func TestIdentify_RefusesWhatIsNoPlace(t *testing.T) {
	d := dir(t)
	if runtime.GOOS != "windows" {
		require.NoError(t, os.Symlink("b", filepath.Join(d, "a")))
		require.NoError(t, os.Symlink("a", filepath.Join(d, "b")))
	}
	put(t, filepath.Join(d, "f"), "", 0o644)
	for path, want := range map[string]fault.Code{
		filepath.Join(d, "missing"): image.CodeMissing,
		filepath.Join(d, "f", "x"):  image.CodeMissing,
		filepath.Join(d, "a"):       image.CodeCycle,
		"relative/path":             image.CodeRelative,
	} {
		if runtime.GOOS == "windows" && want == image.CodeCycle {
			continue
		}
		_, err := file.New().Identify(context.Background(), path)
		assert.Equal(t, want, fault.CodeOf(err), path)
	}
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

func TestIdentify_StopsWhenCancelled(t *testing.T) {
	d := dir(t)
	put(t, filepath.Join(d, "f"), "x", 0o644)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := file.New().Identify(ctx, filepath.Join(d, "f"))
	assert.Equal(t, fault.CodeCancelled, fault.CodeOf(err))
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
