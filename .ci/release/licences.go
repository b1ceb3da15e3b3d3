package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// part is something of others that is linked into the program.
type part struct {
	name, version string
	sum           string // of go.sum, "" for the standard library
	spdx          string // an SPDX expression
	texts         []text
}

// text is a licence or notice that must travel with the program.
type text struct{ name, body string }

// parts lists what is linked: the standard library and every module that gave a package, each with its texts. It comes from
// the packages of this target; the program's own record of its modules must agree.
func parts(ctx context.Context, t target, info *buildinfo.BuildInfo) ([]part, error) {
	goroot, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	std := part{name: "std", version: strings.TrimPrefix(info.GoVersion, "go")}
	if std.texts, err = licences(strings.TrimSpace(string(goroot)), nil); err != nil {
		return nil, err
	}
	out := []part{std}
	dirs, roots, err := linked(ctx, t)
	if err != nil {
		return nil, err
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			return nil, fmt.Errorf("%s is replaced; a release has only published modules", m.Path)
		}
		p := part{name: m.Path, version: m.Version, sum: m.Sum}
		root, ok := roots[m.Path+"@"+m.Version]
		if !ok {
			return nil, fmt.Errorf("the program has %s %s, its packages do not", m.Path, m.Version)
		}
		delete(roots, m.Path+"@"+m.Version)
		if p.texts, err = licences(root, dirs[m.Path]); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	if len(roots) > 0 {
		return nil, fmt.Errorf("the program's record lacks %s", strings.Join(sorted(roots), ", "))
	}
	for i := range out {
		if out[i].spdx, err = spdx(out[i].texts); err != nil {
			return nil, fmt.Errorf("%s: %w", out[i].name, err)
		}
	}
	return out, nil
}

// linked asks which packages the program of a target has: module → their directories, and module@version → its own.
func linked(ctx context.Context, t target) (dirs map[string][]string, roots map[string]string, err error) {
	c := exec.CommandContext(ctx, "go", "list", "-deps", "-json=Dir,Module", program)
	c.Env, c.Stderr = t.environment(), os.Stderr
	out, err := c.Output()
	if err != nil {
		return nil, nil, fmt.Errorf("go list: %w", err)
	}
	dirs, roots = map[string][]string{}, map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			Dir    string
			Module *struct {
				Path, Version, Dir string
				Main               bool
			}
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return dirs, roots, nil
		} else if err != nil {
			return nil, nil, err
		}
		if p.Module == nil || p.Module.Main {
			continue
		}
		dirs[p.Module.Path] = append(dirs[p.Module.Path], p.Dir)
		roots[p.Module.Path+"@"+p.Module.Version] = p.Module.Dir
	}
}

// legal are the names of files that must travel with the code beside them.
var legal = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying|copyright|notice|patents|authors)s?([-._].*)?$`)

// licences reads the texts of a module: those of its root, and those between the root and a linked package.
func licences(root string, packages []string) (out []text, err error) {
	look := map[string]bool{".": true}
	for _, dir := range packages {
		rel, err := filepath.Rel(root, dir)
		if err != nil {
			return nil, err
		}
		for rel = filepath.ToSlash(rel); rel != "."; rel = path.Dir(rel) {
			look[rel] = true
		}
	}
	for _, dir := range sorted(look) {
		entries, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(dir)))
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if !e.Type().IsRegular() || !legal.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
				continue
			}
			b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(dir), e.Name()))
			if err != nil {
				return nil, err
			}
			out = append(out, text{name: path.Join(dir, e.Name()), body: strings.ReplaceAll(string(b), "\r\n", "\n")})
		}
	}
	return out, nil
}

// kinds are the licences that may be linked, by words that they have and words that they lack.
func kinds() []struct{ id, has, lacks string } {
	const bsd, third = "Redistribution and use in source and binary forms", "Neither the name of"
	return []struct{ id, has, lacks string }{
		{"Apache-2.0", "Apache License, Version 2.0", ""},
		{"Apache-2.0", "Apache License Version 2.0, January 2004", ""},
		{"BSD-2-Clause", bsd, third},
		{"BSD-3-Clause", third, ""},
		{"MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy", ""},
	}
}

// spdx names the licences of texts. A text that is none of the known ones is a mistake, and so is no text at all: somebody
// has to look at it before it is shipped.
func spdx(texts []text) (string, error) {
	var ids []string
	for _, t := range texts {
		base := strings.ToLower(path.Base(t.name))
		if !strings.Contains(base, "licen") && !strings.HasPrefix(base, "copying") {
			continue // notices, patents, authors
		}
		plain := strings.Join(strings.Fields(t.body), " ")
		known := false
		for _, k := range kinds() {
			if strings.Contains(plain, k.has) && (k.lacks == "" || !strings.Contains(plain, k.lacks)) {
				ids, known = append(ids, k.id), true
			}
		}
		if !known {
			return "", fmt.Errorf("%s is a licence that is not known here", t.name)
		}
	}
	if len(ids) == 0 {
		return "", errors.New("no licence found")
	}
	slices.Sort(ids)
	return strings.Join(slices.Compact(ids), " AND "), nil
}

// thirdParty is the text that travels with the program.
func thirdParty(all []part) []byte {
	var b strings.Builder
	b.WriteString("agent-mcp contains the following software of others, under these licences.\n")
	for _, p := range all {
		name := p.name
		if name == "std" {
			name = "Go (standard library and runtime)"
		}
		fmt.Fprintf(&b, "\n%s\n%s %s (%s)\n%s\n", strings.Repeat("=", 78), name, p.version, p.spdx, strings.Repeat("=", 78))
		for _, t := range p.texts {
			fmt.Fprintf(&b, "\n--- %s ---\n\n%s\n", t.name, strings.TrimRight(t.body, "\n"))
		}
	}
	return []byte(b.String())
}
