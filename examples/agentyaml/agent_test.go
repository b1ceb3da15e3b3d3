// Package agentyaml_test keeps examples/agent.yaml true.
package agentyaml_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/settings/koanf"
	"github.com/agent-mcp/agent-mcp/core/config"
	"github.com/agent-mcp/agent-mcp/locales"
	"github.com/agent-mcp/agent-mcp/ports/fault"
)

var host = config.Host{Home: "/home/ann"}

func load(t *testing.T, text string) (config.Config, []*fault.Error, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	layers, err := koanf.New().Load(context.Background(), path)
	require.NoError(t, err)
	cfg, warnings, err := config.Build(layers, host)
	cfg.Path, cfg.Dir, cfg.Fingerprint = "", "", ""
	cfg.Sandbox.Workspace = filepath.Base(cfg.Sandbox.Workspace)
	for i := range cfg.Sandbox.Entries {
		cfg.Sandbox.Entries[i].Place = ""
	}
	return cfg, warnings, err
}

const minimal = "schema_version: 2\nollama: {model: qwen3:8b}\nsandbox:\n  workspace: ./workspace\n  execution: {entries: [{alias: sh, path: /bin/sh}]}\n"

func example(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../agent.yaml")
	require.NoError(t, err)
	return string(data)
}

// The commented example is accepted, and every value in it is the default.
func TestAgentYAML_ShowsTheDefaults(t *testing.T) {
	got, warnings, err := load(t, example(t))
	require.NoError(t, err)
	require.Empty(t, warnings)
	want, _, err := load(t, minimal)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

// What is commented out works when the comment sign is taken away.
func TestAgentYAML_CommentsAreTrue(t *testing.T) {
	text := strings.Replace(example(t), "mounts: [] ", "mounts:    ", 1)
	text = regexp.MustCompile(`(?m)^(\s+)# (-|\w+:|  \w+:)`).ReplaceAllString(text, "$1$2")
	require.NotEqual(t, example(t), text)
	cfg, _, err := load(t, text)
	require.NoError(t, err)
	require.Len(t, cfg.Sandbox.Mounts, 1)
	require.Len(t, cfg.Sandbox.Entries, 2)
	require.NotNil(t, cfg.Ollama.Options.DraftNumPredict)
	require.NotNil(t, cfg.Ollama.Options.UseMmap)
}

// The file that a missing configuration's message shows can be used as it is.
func TestMissingConfiguration_ShowsAUsableFile(t *testing.T) {
	for _, name := range []string{"en.json", "ja.json"} {
		data, err := locales.FS.ReadFile(name)
		require.NoError(t, err)
		hint := regexp.MustCompile(`"config\.missing\.hint": "(.*)"`).FindStringSubmatch(string(data))
		require.NotNil(t, hint)
		_, file, ok := strings.Cut(strings.ReplaceAll(hint[1], `\n`, "\n"), "\n\n")
		require.True(t, ok)
		cfg, warnings, err := load(t, file)
		require.NoError(t, err)
		require.Empty(t, warnings)
		require.NotEmpty(t, cfg.Ollama.Model)
	}
}
