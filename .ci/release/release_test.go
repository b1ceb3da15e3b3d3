package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var at = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func TestDerive_AVersionOutOfWhatGitSays(t *testing.T) {
	const commit = "0123456789ab"
	for _, c := range []struct {
		long    string
		changed bool
		want    string // "" = refused
	}{
		{"v1.2.3-0-g0123456789ab", false, "1.2.3"},
		{"v1.2.3-rc.1-0-g0123456789ab", false, "1.2.3-rc.1"},
		{"v1.2.3-4-g0123456789ab", false, "1.2.4-0.20260304050607-0123456789ab"},
		{"v1.2.3-rc.1-4-g0123456789ab", false, "1.2.3-rc.1.0.20260304050607-0123456789ab"},
		{"v1.2.3-0-g0123456789ab", true, "1.2.4-0.20260304050607-0123456789ab.changed"},
		{"", false, "0.0.0-0.20260304050607-0123456789ab"},
		{"v1.2-0-g0123456789ab", false, ""},
		{"v1.2.3+x-0-g0123456789ab", false, ""},
	} {
		got, err := derive(c.long, commit, at, c.changed)
		if c.want == "" {
			assert.Error(t, err, c.long)
			continue
		}
		require.NoError(t, err, c.long)
		assert.Equal(t, c.want, got)
		assert.Regexp(t, semantic, got)
	}
}

func TestDescribe_TakesWhatIsSaid(t *testing.T) {
	src, err := describe(t.Context(), "v1.2.3", "2026-03-04T06:06:07+01:00", "1")
	require.NoError(t, err)
	assert.Equal(t, source{version: "1.2.3", at: at}, src)
	src, err = describe(t.Context(), "1.2.3-rc.1", "", "1772600767")
	require.NoError(t, err)
	assert.Equal(t, source{version: "1.2.3-rc.1", at: at}, src)
	for _, bad := range [][3]string{{"1.2", "", "1"}, {"1.2.3+meta", "", "1"}, {"01.2.3", "", "1"}, {"1.2.3 -X y=z", "", "1"}, {"1.2.3", "yesterday", ""}, {"1.2.3", "", "soon"}} {
		_, err := describe(t.Context(), bad[0], bad[1], bad[2])
		assert.Error(t, err, "%q", bad)
	}
}

// Without a word the version is the tag of the repository, and the time the commit's.
func TestDescribe_AsksGit(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for k, v := range map[string]string{
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_SYSTEM": os.DevNull, "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com",
		"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com", "GIT_AUTHOR_DATE": at.Format(time.RFC3339), "GIT_COMMITTER_DATE": at.Format(time.RFC3339),
	} {
		t.Setenv(k, v)
	}
	run := func(args ...string) {
		t.Helper()
		_, err := git(t.Context(), args...)
		require.NoError(t, err)
	}
	_, err := describe(t.Context(), "", "", "")
	require.Error(t, err, "no repository")
	run("init", "-q")
	run("commit", "-q", "--allow-empty", "-m", "one")
	src, err := describe(t.Context(), "", "", "")
	require.NoError(t, err)
	assert.Regexp(t, `^0\.0\.0-0\.20260304050607-[0-9a-f]{12}$`, src.version)
	assert.Equal(t, at, src.at)
	run("tag", "v2.0.1")
	run("tag", "nightly")
	src, err = describe(t.Context(), "", "", "")
	require.NoError(t, err)
	assert.Equal(t, source{"2.0.1", at}, src)
	require.NoError(t, os.WriteFile("new.go", nil, 0o600))
	src, err = describe(t.Context(), "", "", "")
	require.NoError(t, err)
	assert.Regexp(t, `^2\.0\.2-0\.20260304050607-[0-9a-f]{12}\.changed$`, src.version)
}

func TestChoose(t *testing.T) {
	all, err := choose("")
	require.NoError(t, err)
	assert.Len(t, all, 3)
	two, err := choose("win-x64,linux-arm64")
	require.NoError(t, err)
	assert.Equal(t, []string{"win-x64", "linux-arm64"}, []string{two[0].name, two[1].name})
	_, err = choose("plan9")
	assert.ErrorContains(t, err, "linux-amd64, linux-arm64, win-x64")
}

// The directory for the artifacts is emptied, but never of anything that a release did not make.
func TestEmpty(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dist", "release")
	require.NoError(t, empty(dir))
	require.NoError(t, write(dir, map[string][]byte{"agent-mcp-1.0.0-win-x64.zip": []byte("z"), "server.json": []byte("{}")}))
	sums, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	require.NoError(t, err)
	assert.Equal(t, "594e519ae499312b29433b7dd8a97ff068defcba9755b6d5d00e84c524d67b06  agent-mcp-1.0.0-win-x64.zip\n"+
		"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a  server.json\n", string(sums))
	require.NoError(t, empty(dir))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "thesis.txt"), nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "SHA256SUMS"), nil, 0o600))
	assert.ErrorContains(t, empty(dir), "thesis.txt")
	assert.FileExists(t, filepath.Join(dir, "SHA256SUMS"))
}

// Equal content gives equal bytes, in any order and any time zone, and the archives hold what was put in.
func TestArchives(t *testing.T) {
	files := []file{
		{name: "b/", mode: 0o755},
		{name: "a.txt", mode: 0o644, data: bytes.Repeat([]byte("text "), 1000)},
		{name: "b/run", mode: 0o755, data: []byte("#!")},
	}
	turned := slices.Clone(files)
	slices.Reverse(turned)
	there := at.In(time.FixedZone("there", 9*3600))
	for name, pack := range map[string]func(string, []file, time.Time) ([]byte, error){"tar": tarGz, "zip": zipped} {
		t.Run(name, func(t *testing.T) {
			one, err := pack(top, files, at)
			require.NoError(t, err)
			two, err := pack(top, turned, there.UTC())
			require.NoError(t, err)
			assert.Equal(t, sum(one), sum(two))
			got := map[string]string{}
			if name == "tar" {
				z, err := gzip.NewReader(bytes.NewReader(one))
				require.NoError(t, err)
				for r := tar.NewReader(z); ; {
					h, err := r.Next()
					if errors.Is(err, io.EOF) {
						break
					}
					require.NoError(t, err)
					assert.True(t, h.ModTime.Equal(at), h.Name)
					assert.Zero(t, h.Uid+h.Gid)
					assert.Empty(t, h.Uname+h.Gname)
					b, err := io.ReadAll(r)
					require.NoError(t, err)
					got[h.Name] = fmt.Sprintf("%o %d", h.Mode, len(b))
				}
			} else {
				r, err := zip.NewReader(bytes.NewReader(one), int64(len(one)))
				require.NoError(t, err)
				for _, f := range r.File {
					assert.True(t, f.Modified.Equal(at), f.Name)
					b, err := f.Open()
					require.NoError(t, err)
					data, err := io.ReadAll(b)
					require.NoError(t, err)
					got[f.Name] = fmt.Sprintf("%o %d", f.Mode().Perm(), len(data))
				}
			}
			assert.Equal(t, map[string]string{"agent-mcp/a.txt": "644 5000", "agent-mcp/b/": "755 0", "agent-mcp/b/run": "755 2"}, got)
		})
	}
}

func TestSPDX(t *testing.T) {
	mit := "Permission is hereby granted, free\nof charge, to any person obtaining a copy of this"
	bsd := "Redistribution and use in source and\n  binary forms, with or without"
	apache := "Apache License\n   Version 2.0, January 2004"
	for _, c := range []struct {
		texts []text
		want  string
	}{
		{[]text{{"LICENSE", mit}}, "MIT"},
		{[]text{{"LICENSE.md", bsd}}, "BSD-2-Clause"},
		{[]text{{"LICENCE", bsd + " … Neither the name of"}, {"PATENTS", "x"}}, "BSD-3-Clause"},
		{[]text{{"COPYING", apache}, {"NOTICE", "x"}}, "Apache-2.0"},
		{[]text{{"LICENSE", apache + mit}, {"sub/LICENSE", mit}}, "Apache-2.0 AND MIT"},
		{[]text{{"LICENSE", "GNU GENERAL PUBLIC LICENSE"}}, ""},
		{[]text{{"LICENSE", mit}, {"sub/LICENSE-THIRD", "Business Source License"}}, ""},
		{[]text{{"NOTICE", mit}}, ""},
		{nil, ""},
	} {
		got, err := spdx(c.texts)
		assert.Equal(t, c.want, got)
		assert.Equal(t, c.want == "", err != nil, c.want)
	}
}

// Licences lie at a module's root and beside code inside it; those of packages that are not linked are not ours.
func TestLicences_FollowTheLinkedPackages(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"LICENSE", "NOTICE.txt", "license.go", "README.md", "a/b/COPYING", "other/LICENSE", "a/UNLICENSE"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(name+"\r\n"), 0o600))
	}
	got, err := licences(root, []string{root, filepath.Join(root, "a", "b")})
	require.NoError(t, err)
	assert.Equal(t, []text{
		{"LICENSE", "LICENSE\n"}, {"NOTICE.txt", "NOTICE.txt\n"}, {"a/UNLICENSE", "a/UNLICENSE\n"}, {"a/b/COPYING", "a/b/COPYING\n"},
	}, got)
}

// The manual page is the help text, every word of it, in both languages.
func TestMan_SaysWhatHelpSays(t *testing.T) {
	t.Chdir("../..")
	for lang, want := range map[string][]string{
		"en": {".SH NAME\n", ".SH SYNOPSIS\n", ".SH OPTIONS\n.TP\n.B \\-\\-yes\n", ".SH EXIT STATUS\nExit codes: 0 done"},
		"ja": {".SH 名前\n", ".SH 書式\n", ".SH オプション\n.TP\n.B \\-\\-yes\n", ".SH 終了コード\n終了コード: 0 完了"},
	} {
		help, err := helpText(lang)
		require.NoError(t, err)
		page, err := man(help, lang, "1.2.3", at)
		require.NoError(t, err)
		assert.True(t, strings.HasPrefix(string(page), ".TH AGENT-MCP 1 2026-03-04 \"agent-mcp 1.2.3\"\n"))
		for _, w := range want {
			assert.Contains(t, string(page), w)
		}
		plain := regexp.MustCompile(`(?m)^\.(TH .*|SH .*|TP|PP|B )\n?`).ReplaceAllString(string(page), "")
		plain = strings.NewReplacer(`\e`, `\`, `\-`, "-", `\&`, "").Replace(plain)
		plain = strings.Replace(plain, "agent-mcp - ", "agent-mcp: ", 1)
		assert.Equal(t, slices.Sorted(slices.Values(strings.Fields(help))), slices.Sorted(slices.Values(strings.Fields(plain))), lang)
	}
	_, err := man("agent-mcp does things", "en", "1", at)
	assert.ErrorContains(t, err, "another shape")
	assert.Equal(t, "\\&.a \\e\n\\&'b\\-c", roff(".a \\\n'b-c"))
}

func decode(t *testing.T, b []byte) (v map[string]any) {
	t.Helper()
	require.NoError(t, json.Unmarshal(b, &v), "%s", b)
	return v
}

// The rules of the registry's schema of 2025-12-11 and what the public registry adds for .mcpb files.
func TestServerJSON_FollowsTheRegistrysRules(t *testing.T) {
	b, err := serverJSON(source{"1.2.3", at}, []published{{"agent-mcp-1.2.3-linux-amd64.mcpb", sum(nil)}, {"agent-mcp-1.2.3-win-x64.mcpb", sum([]byte("x"))}})
	require.NoError(t, err)
	s := decode(t, b)
	assert.Equal(t, "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json", s["$schema"])
	assert.Regexp(t, `^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`, s["name"])
	assert.Equal(t, "io.github.agent-mcp/agent-mcp", s["name"], "the namespace of the repository's owner")
	assert.Equal(t, "1.2.3", s["version"])
	assert.LessOrEqual(t, len([]rune(s["description"].(string))), 100)
	assert.NotEmpty(t, s["description"])
	assert.LessOrEqual(t, len(s["title"].(string)), 100)
	assert.Equal(t, map[string]any{"url": "https://github.com/agent-mcp/agent-mcp", "source": "github"}, s["repository"])
	packages := s["packages"].([]any)
	require.Len(t, packages, 2)
	for _, p := range packages {
		p := p.(map[string]any)
		assert.Equal(t, "mcpb", p["registryType"])
		assert.Regexp(t, `^https://github\.com/agent-mcp/agent-mcp/releases/download/v1\.2\.3/agent-mcp-1\.2\.3-[a-z0-9-]+\.mcpb$`, p["identifier"])
		assert.Regexp(t, `^[a-f0-9]{64}$`, p["fileSha256"])
		assert.Equal(t, map[string]any{"type": "stdio"}, p["transport"])
	}
	for _, key := range sorted(s) {
		assert.Contains(t, []string{"$schema", "name", "title", "description", "version", "repository", "packages"}, key)
	}
}
