package osroot

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// FS-02: over random trees full of links, a path leads where the system itself would lead a process, or out of the roots;
// and the own system calls and os.Root agree.
func TestResolve_AgreesWithTheSystem(t *testing.T) {
	var ins, outs, linked int
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 7))
		dir := base(t)
		roots := []string{dir + "/ws", dir + "/mnt"}
		places := grow(t, r, dir)
		native, err := open(native(), roots, Options{})
		require.NoError(t, err)
		portable, err := open(portable{}, roots, Options{})
		require.NoError(t, err)
		for range 150 {
			p := somePath(r, dir, places)
			abs := p
			if !filepath.IsAbs(p) {
				abs = dir + "/ws/" + p
			}
			got, code := ask(t, native, p)
			other, otherCode := ask(t, portable, p)
			require.Equal(t, code, otherCode, p)
			require.Equal(t, got, other, p)
			want, err := filepath.EvalSymlinks(abs)
			inside := strings.HasPrefix(want+"/", roots[0]+"/") || strings.HasPrefix(want+"/", roots[1]+"/")
			switch {
			case err == nil && inside:
				assert.Equal(t, want, got.Path, "%s: %s", p, code)
				assert.True(t, got.Exists, p)
				ins++
				if filepath.Clean(abs) != want {
					linked++
				}
			case err == nil:
				assert.Equal(t, workspace.CodeOutside, code, p)
				outs++
			default:
				assert.False(t, got.Exists, "%s exists only for us: %v", p, err)
			}
		}
		require.NoError(t, native.Close())
		require.NoError(t, portable.Close())
	}
	for what, n := range map[string]int{"inside": ins, "outside": outs, "through links": linked} {
		assert.Greater(t, n, 50, what)
	}
}

func ask(t *testing.T, tr *Tree, p string) (workspace.Info, fault.Code) {
	h, err := tr.Resolve(t.Context(), p)
	if err != nil {
		return workspace.Info{}, fault.CodeOf(err)
	}
	i := h.Info()
	i.Identity.Change = i.Identity.ModifiedAt // os.Root does not know it
	require.NoError(t, h.Close())
	return i, ""
}

// grow makes a random tree below dir with links in both roots, and returns the directories.
func grow(t *testing.T, r *rand.Rand, dir string) []string {
	places := []string{dir + "/ws", dir + "/mnt"}
	for _, p := range append(places, dir+"/out") {
		require.NoError(t, os.Mkdir(p, 0o755))
	}
	for range 60 {
		in := places[r.IntN(len(places))]
		name := in + "/" + string(rune('a'+r.IntN(5)))
		switch r.IntN(4) {
		case 0:
			if os.Mkdir(name, 0o755) == nil {
				places = append(places, name)
			}
		case 1:
			_ = os.Symlink(places[r.IntN(len(places))], name) // a taken name is fine
		default:
			_ = os.Symlink(somePath(r, dir, places), name)
		}
	}
	_ = os.WriteFile(dir+"/ws/e", nil, 0o600)
	return places
}

func somePath(r *rand.Rand, dir string, places []string) string {
	var parts []string
	for range 1 + r.IntN(4) {
		parts = append(parts, []string{"a", "b", "c", "d", "e", "..", ".", "..", "a", "b"}[r.IntN(10)])
	}
	p := strings.Join(parts, "/")
	switch r.IntN(6) {
	case 0, 1:
		return places[r.IntN(len(places))] + "/" + p
	case 2:
		return dir + "/out/" + p
	}
	return p
}
