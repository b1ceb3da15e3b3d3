package mem_test

import (
	"fmt"
	"maps"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/workspace/mem"
	"github.com/agent-mcp/agent-mcp/conformance/workspacetest"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

func TestTree_Contract(t *testing.T) {
	workspacetest.Run(t, func(*testing.T) workspacetest.World {
		base := "/base"
		tree := mem.New(base+"/ws", base+"/mnt")
		opened := 0
		return workspacetest.World{
			Base: base,
			Open: func(*testing.T) workspace.Tree {
				if opened++; opened == 1 {
					return tree
				}
				other := mem.New(base+"/ws", base+"/mnt")
				load(other, tree.Snapshot())
				return other
			},
			Put: func(_ *testing.T, p, content string, executable bool) {
				if executable {
					tree.Put(p, content, 0o755)
					return
				}
				tree.Put(p, content, 0)
			},
			Mkdir:   func(_ *testing.T, p string) { tree.MkdirAll(p) },
			Symlink: func(_ *testing.T, target, p string) { tree.Symlink(target, p) },
			Rename:  func(_ *testing.T, from, to string) { tree.Rename(from, to) },
			Remove:  func(_ *testing.T, p string) { tree.Drop(p) },
			Snapshot: func(*testing.T) map[string]string {
				all := tree.Snapshot()
				maps.DeleteFunc(all, func(p, _ string) bool { return !strings.HasPrefix(p, base+"/") || p == base+"/" })
				return all
			},
		}
	})
}

func load(tree *mem.Tree, all map[string]string) {
	for p, c := range all {
		if !strings.HasSuffix(p, "/") {
			tree.Put(p, c, 0)
		}
	}
}

func TestTree_EqualHistoriesAreEqual(t *testing.T) {
	history := func() []workspace.Info {
		tree := mem.New("/ws")
		var infos []workspace.Info
		for i := range 5 {
			h, err := tree.Resolve(t.Context(), fmt.Sprint("f", i%2))
			require.NoError(t, err)
			info, err := h.Replace(t.Context(), []byte{byte(i)}, false, nil)
			require.NoError(t, err)
			infos = append(infos, info)
		}
		return infos
	}
	assert.Equal(t, history(), history())
}

func TestTree_NestedAndWholeRoots(t *testing.T) {
	tree := mem.New("/", "/ws", "/ws/out")
	tree.Put("/ws/out/f", "f", 0)
	tree.Put("/etc/x", "x", 0)
	for p, root := range map[string]string{"/ws/out/f": "/ws/out", "/ws/g": "/ws", "/etc/x": "/", "/ws/../etc/x": "/", "/": "/"} {
		h, err := tree.Resolve(t.Context(), p)
		require.NoError(t, err)
		assert.Equal(t, root, h.Info().Root, p)
		assert.Equal(t, path.Clean(p), h.Info().Path)
	}
	h, err := tree.Resolve(t.Context(), "ws")
	require.NoError(t, err)
	entries, _, err := h.List(t.Context(), 10)
	require.NoError(t, err)
	assert.Equal(t, "/ws/out", entries[0].Root)
}

func TestNew_RefusesAProgramsMistake(t *testing.T) {
	for _, roots := range [][]string{nil, {"relative"}, {"/a/../b"}, {""}} {
		assert.Panics(t, func() { mem.New(roots...) })
	}
}
