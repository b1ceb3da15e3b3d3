//go:build unix

package wire

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/app/admin"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/service"
	"github.com/agent-mcp/agent-mcp/ports/settings"
)

// CFG-05: a path that is no text could be approved but never compared again; apply refuses it and says which.
func TestApply_PathsThatAreNoText(t *testing.T) {
	apply := func(p *place, path string) *fault.Error {
		_, err := Admin(Catalog, p.box, strings.NewReader(""), io.Discard, false).Apply(context.Background(), service.ApplyRequest{Path: path, Yes: true})
		return fault.From(err)
	}
	p := newPlace(t, "")
	odd := p.dir + "/odd\xff"
	if err := os.Mkdir(odd, 0o755); err != nil {
		t.Skip("this file system takes only text")
	}
	b, err := os.ReadFile(p.config)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(odd, "agent.yaml"), b, 0o600))
	require.Equal(t, settings.CodeUnreadable, apply(p, filepath.Join(odd, "agent.yaml")).Code)

	require.NoError(t, os.Mkdir(filepath.Join(odd, "ws"), 0o755))
	require.NoError(t, os.Symlink(odd, filepath.Join(p.dir, "plain")))
	text := strings.Replace(string(b), "workspace: ./ws", fmt.Sprintf("workspace: %s/plain/ws", p.dir), 1)
	require.NoError(t, os.WriteFile(p.config, []byte(text), 0o600))
	f := apply(p, p.config)
	require.NotNil(t, f)
	require.Len(t, f.Reasons, 1)
	require.Equal(t, admin.CodePathText, f.Reasons[0].Code)
}

// A home directory that is no absolute path would mean another state directory wherever the program is started.
func TestHost_OnlyAnAbsoluteHome(t *testing.T) {
	for in, want := range map[string]string{"/home/ann": "/home/ann", "rel": "", "": "", "./x": ""} {
		t.Setenv("HOME", in)
		require.Equal(t, want, host().Home, in)
	}
}
