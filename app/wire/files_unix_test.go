//go:build unix

package wire

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/config"
	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// PRM-01: a User System Prompt that is a pipe or a device is refused; it does not hang the start.
func TestUserPrompt_OnlyAFile(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "prompt.md")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	for _, path := range []string{pipe, "/dev/zero", t.TempDir()} {
		var cfg config.Config
		cfg.Agent.UserSystemPrompt = path
		_, err := userPrompt(cfg)
		require.Equal(t, CodePromptUnreadable, fault.CodeOf(err), path)
	}
}
