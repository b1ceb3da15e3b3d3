// Package keeptest is the contract suite of ports/keep. It knows no adapter.
package keeptest

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/keep"
)

// Host is the world that is kept in.
type Host struct {
	Base   string                          // canonical directory of this user's
	Remove func(t *testing.T, path string) // takes a kept directory away
}

// Run runs the suite.
func Run(t *testing.T, k keep.Keeper, h Host) {
	ctx := context.Background()
	below := filepath.Join("cache", "ab12", "build")
	t.Run("made once, found ever after", func(t *testing.T) {
		require.Equal(t, keep.CodeMissing, fault.CodeOf(k.Check(ctx, h.Base, below)))
		require.NoError(t, k.Make(ctx, h.Base, below))
		require.NoError(t, k.Check(ctx, h.Base, below))
		require.NoError(t, k.Make(ctx, h.Base, below), "a repeat changes nothing")
		require.NoError(t, k.Check(ctx, h.Base, below))
		require.Equal(t, keep.CodeMissing, fault.CodeOf(k.Check(ctx, h.Base, filepath.Join("cache", "ab12", "other"))))
	})
	t.Run("removed and made again", func(t *testing.T) {
		h.Remove(t, filepath.Join(h.Base, below))
		require.Equal(t, keep.CodeMissing, fault.CodeOf(k.Check(ctx, h.Base, below)))
		require.NoError(t, k.Make(ctx, h.Base, below))
		require.NoError(t, k.Check(ctx, h.Base, below))
	})
	t.Run("refusals", func(t *testing.T) {
		for _, bad := range [][2]string{{h.Base, ""}, {h.Base, "."}, {h.Base, "../x"}, {h.Base, "a/../b"}, {h.Base, "/a"}, {"rel", "a"}} {
			assert.Equal(t, keep.CodeFailed, fault.CodeOf(k.Make(ctx, bad[0], bad[1])), "%q", bad)
			assert.Equal(t, keep.CodeFailed, fault.CodeOf(k.Check(ctx, bad[0], bad[1])), "%q", bad)
		}
		cancelled, cancel := context.WithCancel(ctx)
		cancel()
		assert.Equal(t, fault.CodeCancelled, fault.CodeOf(k.Make(cancelled, h.Base, below)))
		assert.Equal(t, fault.CodeCancelled, fault.CodeOf(k.Check(cancelled, h.Base, below)))
	})
}
