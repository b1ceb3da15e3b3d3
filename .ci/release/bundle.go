package main

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"
)

// own is what is written for the bundles alone.
//
//go:embed bundle
var own embed.FS

// Names in a bundle that .mcpb takes too.
const (
	nameLicence = "LICENSE"
	nameParty   = "THIRD_PARTY_LICENSES.txt"
	nameSBOM    = "sbom.cdx.json"
)

// owned are the names that belong to the user: a bundle has none of them, so no upgrade touches them (CFG-06). What a user may
// add or edit is listed in the bundle's README with the same words.
var owned = regexp.MustCompile(`(^|/)[^/]+\.local\.yaml$|^(prompts|skills|workspace)/.`)

// contents builds the program of a target and collects everything that goes with it.
func contents(ctx context.Context, src source, t target, work string) ([]file, error) {
	exe, info, err := build(ctx, src, t, work)
	if err != nil {
		return nil, err
	}
	all, err := parts(ctx, t, info)
	if err != nil {
		return nil, err
	}
	return collect(src, t, exe, all)
}

// collect lays out a bundle.
func collect(src source, t target, exe []byte, all []part) ([]file, error) {
	list, err := sbom(src, t, exe, all)
	if err != nil {
		return nil, err
	}
	files := []file{
		{name: t.exe, mode: 0o755, data: exe},
		{name: nameParty, mode: 0o644, data: thirdParty(all)},
		{name: nameSBOM, mode: 0o644, data: list},
		{name: "prompts/", mode: 0o755},
		{name: "skills/", mode: 0o755},
		{name: "workspace/", mode: 0o755},
	}
	for name, from := range map[string]string{
		nameLicence: "LICENSE", "locales/en.json": "locales/en.json", "locales/ja.json": "locales/ja.json", "all-settings.yaml": "examples/agent.yaml",
	} {
		if files, err = add(files, os.ReadFile, name, filepath.FromSlash(from)); err != nil {
			return nil, err
		}
	}
	for name, from := range map[string]string{"agent.yaml": "agent.yaml", "agent.local.example.yaml": "agent.local." + t.goos + ".yaml"} {
		if files, err = add(files, own.ReadFile, name, "bundle/"+from); err != nil {
			return nil, err
		}
	}
	for _, lang := range []string{"en", "ja"} {
		help, err := manual(src, t, lang)
		if err != nil {
			return nil, err
		}
		notes, err := readme(src, t, lang)
		if err != nil {
			return nil, err
		}
		files = append(files, help, notes)
	}
	for _, f := range files {
		if owned.MatchString(f.name) {
			return nil, fmt.Errorf("%s is a name that users own", f.name)
		}
	}
	return inOrder(files), nil
}

func add(files []file, read func(string) ([]byte, error), name, from string) ([]file, error) {
	b, err := read(from)
	return append(files, file{name: name, mode: 0o644, data: b}), err
}

// readme tells how to install, use and upgrade.
func readme(src source, t target, lang string) (file, error) {
	name := map[string]string{"en": "README.md", "ja": "README.ja.md"}[lang]
	page, err := template.ParseFS(own, "bundle/"+name+".tmpl")
	if err != nil {
		return file{}, err
	}
	about := struct {
		Version, Target, System, Exe, Run, Path, State string
		Windows                                        bool
	}{
		src.version, t.name, "Linux " + t.goarch, t.exe, "./agent-mcp", "/path/to/agent-mcp/agent-mcp", "~/.local/state/agent-mcp", false,
	}
	if t.goos == "windows" {
		about.System, about.Run, about.Windows = "Windows 11 x64", `.\agent-mcp`, true
		about.Path, about.State = `C:/path/to/agent-mcp/agent-mcp.exe`, `%LOCALAPPDATA%\agent-mcp`
	}
	var b bytes.Buffer
	err = page.Execute(&b, about)
	return file{name: name, mode: 0o644, data: b.Bytes()}, err
}

// manual is the help as a manual page, or as a text where there is no man.
func manual(src source, t target, lang string) (file, error) {
	help, err := helpText(lang)
	if err != nil {
		return file{}, err
	}
	if t.goos == "windows" {
		name := map[string]string{"en": "HELP.txt", "ja": "HELP.ja.txt"}[lang]
		return file{name: name, mode: 0o644, data: []byte(strings.ReplaceAll(help+"\n", "\n", "\r\n"))}, nil
	}
	dir := map[string]string{"en": "man/man1/", "ja": "man/ja/man1/"}[lang]
	page, err := man(help, lang, src.version, src.at)
	return file{name: dir + "agent-mcp.1", mode: 0o644, data: page}, err
}

// helpText is what `agent-mcp --help` prints.
func helpText(lang string) (string, error) {
	b, err := os.ReadFile(filepath.Join("locales", lang+".json"))
	if err != nil {
		return "", err
	}
	var texts map[string]string
	if err := json.Unmarshal(b, &texts); err != nil {
		return "", err
	}
	return texts["help.text"], nil
}
