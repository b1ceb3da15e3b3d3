//go:build unix

package goi18n_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/text/goi18n"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/text"
)

// I18N-09: a locale file that is a pipe is refused; it does not hang the start.
func TestNew_Pipe(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "fr.json"), 0o600))
	_, err := goi18n.New(goi18n.Options{Builtin: builtin(), Dirs: []goi18n.Dir{{Path: dir}}, Tag: "en"})
	require.Equal(t, text.CodeBrokenFile, fault.CodeOf(err))
	require.Equal(t, "not a regular file", fault.From(err).Args["detail"])
}
