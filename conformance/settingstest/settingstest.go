// Package settingstest is the contract suite of ports/settings: layers, places and refusals of every Source of YAML files.
package settingstest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/settings"
)

// Run checks a Source that reads files.
func Run(t *testing.T, source settings.Source) {
	t.Helper()
	ctx := context.Background()
	write := func(t *testing.T, base, local string) string {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "agent.yaml"), []byte(base), 0o600))
		if local != "-" {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "agent.local.yaml"), []byte(local), 0o600))
		}
		return filepath.Join(dir, "agent.yaml")
	}
	load := func(t *testing.T, base, local string) ([]settings.Layer, error) {
		return source.Load(ctx, write(t, base, local))
	}

	t.Run("values keep kind, order and place", func(t *testing.T) {
		text := "b: 1\na:\n  s: 'x: y'\n  f: 0.5\n  n: null\n  t: true\n  big: 99999999999999999999\n  when: 2024-01-02\n  no: no\nl: [1, two]\ne: {}\n"
		layers, err := load(t, text, "-")
		require.NoError(t, err)
		require.Len(t, layers, 1)
		require.Equal(t, text, string(layers[0].Bytes))
		root := layers[0].Root
		require.Equal(t, settings.Map, root.Kind)
		require.Equal(t, []string{"b", "a", "l", "e"}, keys(root), "the file's order")
		a, _ := root.Get("a")
		for key, want := range map[string]settings.Node{
			"s":    {Kind: settings.String, String: "x: y", Line: 3, Column: 6},
			"f":    {Kind: settings.Float, Float: 0.5, String: "0.5", Line: 4, Column: 6},
			"n":    {Kind: settings.Null, Line: 5, Column: 6},
			"t":    {Kind: settings.Bool, Bool: true, Line: 6, Column: 6},
			"when": {Kind: settings.String, String: "2024-01-02", Line: 8, Column: 9},
			"no":   {Kind: settings.String, String: "no", Line: 9, Column: 7},
		} {
			want.File = layers[0].Path
			got, ok := a.Get(key)
			require.True(t, ok, key)
			require.Equal(t, want, got, key)
		}
		big, _ := a.Get("big")
		require.Equal(t, settings.Float, big.Kind, "no 64-bit integer")
		require.Equal(t, "99999999999999999999", big.String)
		list, _ := root.Get("l")
		require.Equal(t, settings.List, list.Kind)
		require.Equal(t, int64(1), list.Items[0].Int)
		require.Equal(t, "two", list.Items[1].String)
		empty, _ := root.Get("e")
		require.Equal(t, settings.Map, empty.Kind)
		require.Equal(t, 2, root.Fields[1].Line)
	})
	t.Run("keys with dots and merge keys", func(t *testing.T) {
		layers, err := load(t, "a.b: 1\nbase: &x {p: 1, q: 2}\nc:\n  <<: *x\n  q: 3\n1: n\n", "-")
		require.NoError(t, err)
		require.Equal(t, []string{"a.b", "base", "c", "1"}, keys(layers[0].Root))
		c, _ := layers[0].Root.Get("c")
		require.Equal(t, []string{"q", "p"}, keys(c))
		q, _ := c.Get("q")
		require.Equal(t, int64(3), q.Int, "own keys win")
	})
	t.Run("the local file is the second layer", func(t *testing.T) { // CFG-03
		layers, err := load(t, "a: 1", "a: 2")
		require.NoError(t, err)
		require.Len(t, layers, 2)
		require.Equal(t, "agent.local.yaml", filepath.Base(layers[1].Path))
		require.Equal(t, layers[1].Path, layers[1].Root.File)
		layers, err = load(t, "a: 1", "# nothing\n")
		require.NoError(t, err)
		require.Equal(t, settings.Null, layers[1].Root.Kind)
	})
	t.Run("a linked base file stands where it leads to", func(t *testing.T) {
		target := write(t, "a: 1", "a: 2")
		link := filepath.Join(t.TempDir(), "other.yaml")
		require.NoError(t, os.Symlink(target, link))
		layers, err := source.Load(ctx, link)
		require.NoError(t, err)
		require.Equal(t, target, layers[0].Path)
		require.Len(t, layers, 2)
	})

	for name, tc := range map[string]struct {
		text string
		code fault.Code
		args fault.Args
	}{
		"empty":              {"", settings.CodeEmpty, nil},
		"blank":              {" \n\n", settings.CodeEmpty, nil},
		"only a mark":        {"\ufeff", settings.CodeEmpty, nil},
		"only comments":      {"# x\n---\n", settings.CodeEmpty, nil},
		"binary":             {"\x7fELF\x02\x01\x01\x00", settings.CodeEncoding, nil},
		"a NUL":              {"a: 1\x00", settings.CodeEncoding, nil},
		"UTF-16":             {"\xff\xfea\x00:\x00", settings.CodeEncoding, nil},
		"Latin-1":            {"a: caf\xe9", settings.CodeEncoding, nil},
		"escape sequences":   {"a: \x1b[2J", settings.CodeEncoding, nil},
		"a tab":              {"a:\n\tb: 1\n", settings.CodeTab, fault.Args{"line": 2}},
		"bad syntax":         {"a: 1\nb: [1, 2\nc: 3\n", settings.CodeSyntax, nil},
		"an unknown alias":   {"a: *nowhere\n", settings.CodeSyntax, nil},
		"a doubled key":      {"a:\n  b: 1\n  c: 2\n  b: 3\n", settings.CodeDuplicate, fault.Args{"key": "b", "line": 4, "first": 2}},
		"a deep doubled key": {"l:\n- {x: 1, y: {z: 1, z: 2}}\n", settings.CodeDuplicate, fault.Args{"key": "z"}},
		"huge":               {"a: " + strings.Repeat("x", 1<<20), settings.CodeTooLarge, nil},
		"an alias bomb":      {bomb(), settings.CodeBomb, nil},
		"its own alias":      {"a: &a [*a]", settings.CodeBomb, nil},
		"too deep":           {strings.Repeat("[", 200) + strings.Repeat("]", 200), settings.CodeBomb, nil},
		"far too deep":       {strings.Repeat("[", 500_000), settings.CodeSyntax, nil},
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			_, err := load(t, tc.text, "-")
			f := fault.From(err)
			require.NotNil(t, f)
			require.Equal(t, tc.code, f.Code, f.Error())
			require.Contains(t, f.Args["path"], "agent.yaml")
			for k, v := range tc.args {
				require.Equal(t, v, f.Args[k], k)
			}
			if tc.code == settings.CodeEmpty {
				return
			}
			_, err = load(t, "a: 1", tc.text)
			require.Equal(t, tc.code, fault.CodeOf(err), "in the local file too")
			require.Contains(t, fault.From(err).Args["path"], "agent.local.yaml")
		})
	}

	t.Run("refuses what is no readable file", func(t *testing.T) {
		_, err := source.Load(ctx, filepath.Join(t.TempDir(), "agent.yaml"))
		require.Equal(t, settings.CodeMissing, fault.CodeOf(err))
		_, err = source.Load(ctx, t.TempDir())
		require.Equal(t, settings.CodeUnreadable, fault.CodeOf(err), "a directory")
		base := write(t, "a: 1", "-")
		require.NoError(t, os.Symlink("nowhere", filepath.Join(filepath.Dir(base), "agent.local.yaml")))
		_, err = source.Load(ctx, base)
		require.Equal(t, settings.CodeUnreadable, fault.CodeOf(err), "a local file that leads nowhere is not ignored")
		if os.Geteuid() != 0 {
			base = write(t, "a: 1", "-")
			require.NoError(t, os.Chmod(base, 0))
			_, err = source.Load(ctx, base)
			require.Equal(t, settings.CodeUnreadable, fault.CodeOf(err))
		}
	})
	t.Run("a cancelled context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		_, err := source.Load(ctx, write(t, "a: 1", "-"))
		require.Equal(t, fault.CodeCancelled, fault.CodeOf(err))
	})
}

func keys(n settings.Node) (out []string) {
	for _, f := range n.Fields {
		out = append(out, f.Key)
	}
	return out
}

// bomb expands to 9^9 nodes.
func bomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x]\n")
	for i := '1'; i <= '9'; i++ {
		prev := "*a" + string(i-1)
		b.WriteString("a" + string(i) + ": &a" + string(i) + " [" + strings.TrimSuffix(strings.Repeat(prev+", ", 9), ", ") + "]\n")
	}
	return b.String()
}
