package unsupported

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// OBS-01: what is missing is named; nothing ever runs.
func TestSandbox_Refuses(t *testing.T) {
	s := New()
	r, err := s.Preflight(context.Background())
	require.NoError(t, err)
	assert.Equal(t, sandbox.LevelNone, r.Level)
	assert.Equal(t, sandbox.CodePlatform, r.Missing[0].Code)
	assert.Len(t, r.Abilities, len(sandbox.Items()))
	root := t.TempDir()
	spec := sandbox.Spec{
		Roots: []rights.Root{{Path: root, Rights: rights.Read}}, Dir: root, Entry: sandbox.Entry{Name: "x", Path: root},
		Network: sandbox.Network{Mode: sandbox.NetworkNone}, Limits: sandbox.Limits{Processes: 1, MemoryBytes: 1, WallClock: time.Second, OutputBytes: 1},
	}
	_, err = s.Run(context.Background(), spec)
	assert.Equal(t, sandbox.CodeUnavailable, fault.CodeOf(err))
	assert.Equal(t, sandbox.CodePlatform, fault.From(err).Reasons[0].Code)
	_, err = s.Run(context.Background(), sandbox.Spec{})
	assert.Equal(t, sandbox.CodeBadSpec, fault.CodeOf(err))
	require.NoError(t, s.Close())
	_, err = s.Run(context.Background(), spec)
	assert.Equal(t, sandbox.CodeClosed, fault.CodeOf(err))
}
