// Package imagetest is the contract suite of ports/image (PRC-01, PRC-02, CFG-05): what an Identifier reports about files,
// links, directories and scripts, and which codes its refusals have. It knows no adapter.
package imagetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/image"
)

// Host is the world that is looked at. Paths are absolute; parents exist or are made.
type Host interface {
	Root() string // canonical directory to work in
	Put(t testing.TB, path, content string, mode uint32)
	Link(t testing.TB, target, path string)
	Mkdir(t testing.TB, path string, mode uint32)
}

// Run runs the suite on an Identifier and the Host it looks at. The host must have symlinks and mode bits.
func Run(t *testing.T, i image.Identifier, h Host) {
	root := h.Root()
	look := func(t *testing.T, path string) image.Identity {
		t.Helper()
		id, err := i.Identify(context.Background(), path)
		require.NoError(t, err, path)
		return id
	}
	h.Put(t, root+"/real/bin/tool1", "\x7fELF body", 0o755)
	h.Link(t, "real", root+"/usr")
	h.Link(t, "tool1", root+"/real/bin/tool")
	h.Link(t, root+"/usr/bin/tool", root+"/t")
	h.Put(t, root+"/interpreter", "\x7fELF", 0o755)

	t.Run("links", func(t *testing.T) {
		id := look(t, root+"/real/../t")
		sum := sha256.Sum256([]byte("\x7fELF body"))
		assert.Equal(t, image.Identity{
			Asked: root + "/real/../t", Path: root + "/real/bin/tool1", Regular: true, Executable: true, Mode: id.Mode, Size: 9,
			SHA256: hex.EncodeToString(sum[:]), Format: image.FormatELF, OpenParents: id.OpenParents, Shared: id.Shared,
			Links: []image.Link{
				{Path: root + "/t", Target: root + "/usr/bin/tool"},
				{Path: root + "/usr", Target: "real"},
				{Path: root + "/real/bin/tool", Target: "tool1"},
			},
		}, id)
	})
	t.Run("facts", func(t *testing.T) {
		h.Mkdir(t, root+"/shared", 0o777)
		h.Put(t, root+"/shared/in", "x", 0o755)
		h.Put(t, root+"/plain", "hello", 0o644)
		h.Put(t, root+"/open", "MZ", 0o777)
		id := look(t, root+"/plain")
		assert.False(t, id.Executable || id.GroupWritable || id.WorldWritable)
		assert.Equal(t, image.FormatUnknown, id.Format)
		id = look(t, root+"/open")
		assert.True(t, id.Executable && id.GroupWritable && id.WorldWritable)
		assert.Equal(t, image.FormatPE, id.Format)
		assert.Contains(t, look(t, root+"/shared/in").OpenParents, root+"/shared")
		id = look(t, root+"/real")
		assert.True(t, id.Directory && !id.Regular)
		assert.Empty(t, id.SHA256)
	})
	t.Run("scripts", func(t *testing.T) {
		for name, c := range map[string]struct {
			text, interpreter string
			found             bool
		}{
			"good":     {"#! " + root + "/interpreter -e\nx\n", root + "/interpreter", true},
			"lost":     {"#!/no/such/interpreter\n", "/no/such/interpreter", false},
			"bare":     {"#!\n", "", false},
			"relative": {"#!python\n", "python", false},
			"is a dir": {"#!" + root + "/real\n", root + "/real", false},
		} {
			h.Put(t, root+"/scripts/"+name, c.text, 0o755)
			id := look(t, root+"/scripts/"+name)
			assert.Equal(t, image.FormatScript, id.Format, name)
			assert.Equal(t, c.interpreter, id.Interpreter, name)
			assert.Equal(t, c.found, id.InterpreterFound, name)
		}
	})
	t.Run("interpreters", func(t *testing.T) { // PRC-02: what really runs a script, each link resolved, nested scripts and env followed
		h.Put(t, root+"/chain/env", "\x7fELF env", 0o755)
		h.Put(t, root+"/chain/py3", "\x7fELF py", 0o755)
		h.Link(t, "py3", root+"/chain/py")
		h.Put(t, root+"/chain/wrapper", "#!"+root+"/chain/py -u\n", 0o755)
		h.Put(t, root+"/chain/loop", "#!"+root+"/chain/loop\n", 0o755)
		h.Put(t, root+"/chain/data", "no program", 0o755)
		for text, c := range map[string]struct {
			want  []string
			found bool
		}{
			"#!" + root + "/chain/py\n":                            {[]string{"py3"}, true},
			"#!  " + root + "/chain/py  -x  y \nmore":              {[]string{"py3"}, true},
			"#!" + root + "/chain/env " + root + "/chain/py\n":     {[]string{"env", "py3"}, true},
			"#!" + root + "/chain/env -S " + root + "/chain/py a":  {[]string{"env", "py3"}, true},
			"#!" + root + "/chain/wrapper\n":                       {[]string{"wrapper", "py3"}, true},
			"#!" + root + "/chain/env no-such-program-anywhere\n":  {[]string{"env"}, false},
			"#!" + root + "/chain/env -i " + root + "/chain/py\n":  {[]string{"env"}, false},
			"#!" + root + "/chain/env A=b " + root + "/chain/py\n": {[]string{"env"}, false},
			"#!" + root + "/chain/env\n":                           {[]string{"env"}, false},
			"#!" + root + "/chain/loop\n":                          {[]string{"loop", "loop", "loop", "loop", "loop"}, false},
			"#!" + root + "/chain/data\n":                          {[]string{"data"}, false},
			"#!" + root + "/chain/none\n":                          {nil, false},
		} {
			h.Put(t, root+"/chain/script", text, 0o755)
			id := look(t, root+"/chain/script")
			var names []string
			for _, i := range id.Interpreters {
				names = append(names, strings.TrimPrefix(i.Path, root+"/chain/"))
				assert.Len(t, i.SHA256, 64)
				assert.Empty(t, i.Interpreters)
			}
			assert.Equal(t, c.want, names, text)
			assert.Equal(t, c.found, id.InterpreterFound, text)
		}
	})
	t.Run("changes", func(t *testing.T) { // PRC-02
		p := root + "/changing"
		h.Put(t, p, "one", 0o755)
		one := look(t, p).SHA256
		h.Put(t, p, "two", 0o755)
		assert.NotEqual(t, one, look(t, p).SHA256)
		h.Put(t, p, "one", 0o755)
		assert.Equal(t, one, look(t, p).SHA256)
	})
	t.Run("refusals", func(t *testing.T) {
		h.Link(t, "b", root+"/a")
		h.Link(t, "a", root+"/b")
		for path, want := range map[string]fault.Code{
			root + "/missing":       image.CodeMissing,
			root + "/missing/../t":  image.CodeMissing,
			root + "/interpreter/x": image.CodeMissing,
			root + "/a":             image.CodeCycle,
			"relative":              image.CodeRelative,
			"":                      image.CodeRelative,
		} {
			id, err := i.Identify(context.Background(), path)
			assert.Equal(t, want, fault.CodeOf(err), path)
			assert.Zero(t, id)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		h.Put(t, root+"/fresh", "never read before", 0o755)
		_, err := i.Identify(ctx, root+"/fresh")
		assert.Equal(t, fault.CodeCancelled, fault.CodeOf(err))
	})
}
