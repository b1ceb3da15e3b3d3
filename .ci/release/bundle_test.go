package main

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var linkedParts = []part{
	{name: "std", version: "1.26.8", spdx: "BSD-3-Clause", texts: []text{{"LICENSE", "go's words\n"}}},
	{name: "example.com/m", version: "v1.0.0", sum: "h1:x=", spdx: "Apache-2.0 AND MIT", texts: []text{{"LICENSE", "m's words\n"}}},
}

// laid makes every bundle, without building.
func laid(t *testing.T, each func(t *testing.T, tg target, files map[string]file)) {
	t.Chdir("../..")
	for _, tg := range targets() {
		t.Run(tg.name, func(t *testing.T) {
			list, err := collect(source{"1.2.3", at}, tg, []byte("program"), linkedParts)
			require.NoError(t, err)
			files := map[string]file{}
			for _, f := range list {
				assert.NotContains(t, files, f.name)
				files[f.name] = f
			}
			each(t, tg, files)
		})
	}
}

// CFG-06: a bundle ships defaults, and no name that a user edits or adds.
func TestBundle_HoldsDefaultsAlone(t *testing.T) {
	laid(t, func(t *testing.T, tg target, files map[string]file) {
		want := []string{
			"LICENSE", "README.ja.md", "README.md", "THIRD_PARTY_LICENSES.txt", tg.exe, "agent.local.example.yaml", "agent.yaml", "all-settings.yaml",
			"locales/en.json", "locales/ja.json", "prompts/", "sbom.cdx.json", "skills/", "workspace/",
		}
		if tg.goos == "windows" {
			want = append(want, "HELP.txt", "HELP.ja.txt")
		} else {
			want = append(want, "man/man1/agent-mcp.1", "man/ja/man1/agent-mcp.1")
		}
		assert.ElementsMatch(t, want, sorted(files))
		for name, f := range files {
			switch {
			case f.dir() || name == tg.exe:
				assert.EqualValues(t, 0o755, f.mode, name)
			default:
				assert.EqualValues(t, 0o644, f.mode, name)
				assert.NotEmpty(t, f.data, name)
			}
			if name != "locales/en.json" && name != "locales/ja.json" {
				assert.NotContains(t, string(f.data), "{{", "a template that was not filled: %s", name)
			}
		}
		settings, err := os.ReadFile("examples/agent.yaml")
		require.NoError(t, err)
		assert.Equal(t, settings, files["all-settings.yaml"].data)
		party := string(files["THIRD_PARTY_LICENSES.txt"].data)
		assert.Contains(t, party, "go's words")
		assert.Contains(t, party, "example.com/m v1.0.0 (Apache-2.0 AND MIT)")
		assert.Contains(t, party, "m's words")
	})
	for name, users := range map[string]bool{
		"agent.local.yaml": true, "work.local.yaml": true, "prompts/mine.md": true, "skills/x/SKILL.md": true, "workspace/README.md": true,
		"agent.yaml": false, "agent.local.example.yaml": false, "prompts/": false, "skills/": false, "workspace/": false, "README.md": false,
	} {
		assert.Equal(t, users, owned.MatchString(name), name)
	}
}

// What the notes name is there, and both languages name the same.
func TestReadme_NamesWhatIsThere(t *testing.T) {
	code := regexp.MustCompile("`([^`]+)`")
	laid(t, func(t *testing.T, tg target, files map[string]file) {
		en, ja := string(files["README.md"].data), string(files["README.ja.md"].data)
		for _, notes := range []string{en, ja} {
			for _, want := range []string{"1.2.3", "SHA256SUMS", " apply", " show", "agent.local.example.yaml", "all-settings.yaml", `{"mcpServers": `, "claude mcp add agent -- "} {
				assert.Contains(t, notes, want)
			}
			table := false
			for line := range strings.Lines(notes) {
				table = strings.HasPrefix(line, "| ")
				if !table {
					continue
				}
				first, _, _ := strings.Cut(line[2:], " | ")
				for _, m := range code.FindAllStringSubmatch(first, -1) {
					name := m[1]
					_, isFile := files[name]
					_, isDir := files[name+"/"]
					below := false
					for f := range files {
						below = below || strings.HasPrefix(f, name+"/")
					}
					assert.True(t, isFile || isDir || below || owned.MatchString(name), "%s is not in the bundle", name)
				}
			}
			assert.Equal(t, tg.goos == "windows", strings.Contains(notes, "Expand-Archive"))
			assert.Equal(t, tg.goos != "windows", strings.Contains(notes, "tar -xzf"))
		}
		assert.Equal(t, strings.Count(en, "\n## "), strings.Count(ja, "\n## "))
		assert.Equal(t, strings.Count(en, "\n| "), strings.Count(ja, "\n| "))
	})
}

func TestSBOM(t *testing.T) {
	laid(t, func(t *testing.T, tg target, files map[string]file) {
		b := decode(t, files["sbom.cdx.json"].data)
		assert.Equal(t, "CycloneDX", b["bomFormat"])
		assert.Equal(t, "1.6", b["specVersion"])
		assert.InDelta(t, 1, b["version"], 0)
		assert.Regexp(t, `^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, b["serialNumber"])
		meta := b["metadata"].(map[string]any)
		assert.Equal(t, "2026-03-04T05:06:07Z", meta["timestamp"])
		main := meta["component"].(map[string]any)
		assert.Equal(t, "pkg:golang/github.com/agent-mcp/agent-mcp@v1.2.3", main["purl"])
		assert.Equal(t, []any{map[string]any{"alg": "SHA-256", "content": sum([]byte("program"))}}, main["hashes"])
		parts := b["components"].([]any)
		require.Len(t, parts, 2)
		assert.Equal(t, []any{map[string]any{"license": map[string]any{"id": "BSD-3-Clause"}}}, parts[0].(map[string]any)["licenses"])
		assert.Equal(t, []any{map[string]any{"expression": "Apache-2.0 AND MIT"}}, parts[1].(map[string]any)["licenses"])
		refs := map[any]bool{main["bom-ref"]: true}
		for _, p := range parts {
			p := p.(map[string]any)
			for _, key := range []string{"type", "name", "version", "purl"} {
				assert.NotEmpty(t, p[key])
			}
			assert.False(t, refs[p["bom-ref"]])
			refs[p["bom-ref"]] = true
		}
		for _, d := range b["dependencies"].([]any) {
			d := d.(map[string]any)
			assert.True(t, refs[d["ref"]])
			uses, _ := d["dependsOn"].([]any)
			for _, u := range uses {
				assert.True(t, refs[u])
			}
		}
	})
}

func TestMCPB_HoldsTheProgramAndItsManifest(t *testing.T) {
	laid(t, func(t *testing.T, tg target, files map[string]file) {
		var list []file
		for _, f := range files {
			list = append(list, f)
		}
		b, err := mcpb(list, source{"1.2.3", at}, tg)
		require.NoError(t, err)
		r, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
		require.NoError(t, err)
		got := map[string][]byte{}
		for _, f := range r.File {
			rc, err := f.Open()
			require.NoError(t, err)
			got[f.Name], err = io.ReadAll(rc)
			require.NoError(t, err)
		}
		exe := "server/" + tg.exe
		assert.ElementsMatch(t, []string{"manifest.json", "mcpb-resources/ja-JP.json", exe, "LICENSE", "THIRD_PARTY_LICENSES.txt", "sbom.cdx.json"}, sorted(got))
		m := decode(t, got["manifest.json"])
		server := m["server"].(map[string]any)
		assert.Equal(t, "binary", server["type"])
		assert.Equal(t, exe, server["entry_point"])
		assert.Equal(t, "${__dirname}/"+exe, server["mcp_config"].(map[string]any)["command"])
		assert.Equal(t, []any{"${user_config.config}"}, server["mcp_config"].(map[string]any)["args"])
		assert.Equal(t, map[string]any{"platforms": []any{tg.platform}}, m["compatibility"])
		assert.Equal(t, true, m["user_config"].(map[string]any)["config"].(map[string]any)["required"])
	})
}

// The configurations that the README gives to paste are JSON of the form that each client reads.
func TestReadme_ConfigurationsCanBePasted(t *testing.T) {
	b, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	var top []string
	for _, m := range regexp.MustCompile("(?s)\n```json\n(.*?)\n```\n|`(\\{\"[^`…]*\\}\\})`").FindAllStringSubmatch(string(b), -1) {
		for kind, servers := range decode(t, []byte(m[1]+m[2])) {
			server := servers.(map[string]any)["agent"].(map[string]any)
			entry := kind
			if url, ok := server["url"]; ok {
				assert.Equal(t, "http://127.0.0.1:8765/mcp", url)
				entry += " url"
			} else {
				assert.Equal(t, "/path/to/agent-mcp/agent-mcp", server["command"])
			}
			if kind == "servers" {
				assert.Contains(t, []any{"stdio", "http"}, server["type"])
			}
			top = append(top, entry)
		}
	}
	assert.Equal(t, []string{"mcpServers", "servers", "servers url"}, top)
}
