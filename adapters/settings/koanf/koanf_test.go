package koanf_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/settings/koanf"
	"github.com/agent-mcp/agent-mcp/conformance/settingstest"
	"github.com/agent-mcp/agent-mcp/ports/fault"
)

func TestSource_Contract(t *testing.T) { settingstest.Run(t, koanf.New()) }

func TestSource_OwnCodes(t *testing.T) {
	for text, code := range map[string]fault.Code{
		"a: 1\n---\nb: 2\n": koanf.CodeDocuments,
		"[a]: 1\n":          koanf.CodeKey,
		"? {a: 1}\n: 1\n":   koanf.CodeKey,
		"~: 1\n":            koanf.CodeKey,
	} {
		path := filepath.Join(t.TempDir(), "agent.yaml")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := koanf.New().Load(context.Background(), path)
		require.Equal(t, code, fault.CodeOf(err), text)
	}
}

func TestLocalPath(t *testing.T) {
	require.Equal(t, "/x/agent.local.yaml", koanf.LocalPath("/x/agent.yaml"))
	require.Equal(t, "/x/a.b.local.yml", koanf.LocalPath("/x/a.b.yml"))
	require.Equal(t, "/x/conf.local", koanf.LocalPath("/x/conf"))
}

func FuzzSource(f *testing.F) {
	for _, s := range []string{"a: &x {b: 1}\nc: {<<: *x}", "? a\n: b", "a: !!int x", "- 1\n- [2]", "a: |\n\tx", "!!binary aGk=: 1", "<<: 3", "a: !!set {x}", "%YAML 1.2\n---\nx"} {
		f.Add([]byte(s))
	}
	dir := f.TempDir()
	path := filepath.Join(dir, "agent.yaml")
	f.Fuzz(func(t *testing.T, data []byte) {
		require.NoError(t, os.WriteFile(path, data, 0o600))
		_, err := koanf.New().Load(context.Background(), path)
		if err != nil && fault.CodeOf(err) == fault.CodeInternal {
			t.Fatal(err)
		}
	})
}
