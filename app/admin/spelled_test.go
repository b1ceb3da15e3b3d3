package admin_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/app/admin"
	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// FS-02, CFG-05: a root is the directory that it names, however it is written; a mount that is a symlink is the directory it
// leads to at apply, and drifts when it leads elsewhere later; the workspace may not be one.
func TestRoots_HoweverTheyAreWritten(t *testing.T) {
	w := newWorld(t)
	for _, d := range []string{"mnt", "other", "x"} {
		require.NoError(t, os.Mkdir(w.path(d), 0o755))
	}
	require.NoError(t, os.Symlink("mnt", w.path("link")))
	require.NoError(t, os.Symlink("ws", w.path("wslink")))
	write := func(ws, mount string) {
		w.config("  mounts: [{name: m, path: '" + mount + "', access: read_only}]\n")
		text, err := os.ReadFile(w.path("agent.yaml"))
		require.NoError(t, err)
		w.raw(strings.Replace(string(text), "workspace: ./ws\n", "workspace: '"+ws+"'\n", 1))
	}
	for _, tt := range [][2]string{
		{"./ws/", "./mnt/"},
		{"./ws/.", "./mnt/./"},
		{"./x/../ws", "./x/../mnt"},
		{".//ws", "mnt"},
		{w.path("ws") + "/", w.path("mnt") + "//"},
		{"./ws", "./link"},
		{"./ws", "./link/"},
		{"./ws", "./ws/../mnt"},
	} {
		write(tt[0], tt[1])
		w.apply()
		eff, err := w.load()
		require.NoError(t, err, tt)
		assert.Equal(t, w.path("ws"), eff.Policy.Workspace(), tt)
		var places []string
		for _, r := range eff.Policy.Roots() {
			places = append(places, r.Path)
		}
		assert.Contains(t, places, w.path("mnt"), tt)
		assert.NotContains(t, places, w.path("link"), tt)
	}
	write("./ws", "./link")
	w.apply()
	require.NoError(t, os.Remove(w.path("link")))
	require.NoError(t, os.Symlink("other", w.path("link")))
	_, err := w.load()
	require.Error(t, err, "it leads elsewhere by now")

	for _, ws := range []string{"./wslink", "./wslink/", "./x/../wslink/."} {
		write(ws, "./mnt")
		_, err := w.load()
		require.Error(t, err, ws)
		assert.Contains(t, codes(fault.From(err)), admin.CodeWorkspaceLink, ws)
	}
}
