package wire

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/sandbox/unsupported"
	"github.com/agent-mcp/agent-mcp/app/cli"
)

// OBS-01, NFR-01: where there is no sandbox the program says so at its start, with what helps, and serves nothing. It never
// runs anything unconfined.
func TestMain_WithoutASandbox(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "ws"), 0o755))
	for language, want := range map[string][]string{
		"en": {"There is no sandbox for " + runtime.GOOS, "Use Linux 6.2 or newer, or Windows 11"},
		"ja": {runtime.GOOS + " 用のサンドボックスはない", "Linux 6.2 以降、または Windows 11"},
	} {
		config := filepath.Join(dir, language+".yaml")
		text := fmt.Sprintf("schema_version: 2\napplication: {state_dir: ./state, language: %s}\nollama: {model: m}\nsandbox: {workspace: ./ws}\n", language)
		require.NoError(t, os.WriteFile(config, []byte(text), 0o600))
		for _, args := range [][]string{{config}, {"apply", config, "--yes"}} {
			box := unsupported.New()
			words := &library{}
			var stdout, stderr bytes.Buffer
			owner := Admin(words.catalog, box, strings.NewReader(""), &stdout, false)
			code := cli.Main(context.Background(), args, cli.Deps{
				Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" }, Executable: "agent-mcp", Version: "test",
				Language: owner.Language, Catalog: words.any, Admin: owner,
				Server: func(ctx context.Context, path string) error {
					eff, err := owner.Load(ctx, path)
					if err != nil {
						return err
					}
					return Serve(ctx, eff, box, eofReader{}, io.Discard, &stderr)
				},
			})
			assert.Equal(t, cli.ExitRefused, code, "%v", args)
			for _, part := range want {
				assert.Contains(t, stderr.String(), part, "%v", args)
			}
			require.NoError(t, box.Close())
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "state", "instances", "*"))
	require.NoError(t, err)
	assert.Empty(t, left, "nothing was served")
}

type eofReader struct{}

func (eofReader) Read([]byte) (int, error) { return 0, io.EOF }
