package linux

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/ports/rights"
)

// baseItem is one part of the read-only runtime: a host path bound at its place, or a symlink.
type baseItem struct {
	Path string
	Link string // target; Path is then a symlink
	Exec bool
	Dir  bool
}

// baselinePaths are what ordinary programs need of a system (PRF-01), and nothing that tells of its users. Parents
// before children; a * stands for versions. Execute is given where the system keeps programs and libraries.
var baselinePaths = []struct {
	path string
	exec bool
}{
	{"/usr", true},
	{"/bin", true},
	{"/sbin", true},
	{"/lib", true},
	{"/lib32", true},
	{"/lib64", true},
	{"/libx32", true},
	{"/nix/store", true},
	{"/gnu/store", true},
	{"/etc/alternatives", false},
	{"/etc/bash.bashrc", false},
	{"/etc/ca-certificates", false},
	{"/etc/crypto-policies", false},
	{"/etc/debian_version", false},
	{"/etc/fonts", false},
	{"/etc/inputrc", false},
	{"/etc/java-*-openjdk", false},
	{"/etc/ld.so.cache", false},
	{"/etc/ld.so.conf", false},
	{"/etc/ld.so.conf.d", false},
	{"/etc/locale.alias", false},
	{"/etc/localtime", false},
	{"/etc/magic", false},
	{"/etc/mime.types", false},
	{"/etc/nsswitch.conf", false},
	{"/etc/os-release", false},
	{"/etc/perl", false},
	{"/etc/pki", false},
	{"/etc/profile", false},
	{"/etc/protocols", false},
	{"/etc/services", false},
	{"/etc/shells", false},
	{"/etc/ssl", false},
	{"/etc/terminfo", false},
	{"/etc/timezone", false},
}

// findBaseline looks at what this system has.
func findBaseline() (items []baseItem) {
	for _, b := range baselinePaths {
		paths := []string{b.path}
		if strings.Contains(b.path, "*") {
			paths, _ = filepath.Glob(b.path)
		}
		for _, path := range paths {
			if item, ok := baseItemAt(path, b.exec); ok {
				items = append(items, item)
			}
		}
	}
	return items
}

func baseItemAt(path string, exec bool) (item baseItem, ok bool) {
	info, err := os.Lstat(path)
	if err != nil {
		return item, false
	}
	item = baseItem{Path: path, Exec: exec, Dir: info.IsDir()}
	if info.Mode()&os.ModeSymlink != 0 {
		item.Link, err = os.Readlink(path)
		return item, err == nil
	}
	return item, info.IsDir() || info.Mode().IsRegular()
}

// baselineRoots is the report's view: canonical, sorted, without symlinks.
func baselineRoots(items []baseItem) (roots []rights.Root) {
	for _, b := range items {
		if b.Link != "" {
			continue
		}
		set := rights.Read
		if b.Exec {
			set |= rights.Execute
		}
		roots = append(roots, rights.Root{Path: filepath.Clean(b.Path), Rights: set})
	}
	slices.SortFunc(roots, func(a, b rights.Root) int {
		if a.Path < b.Path {
			return -1
		}
		return 1
	})
	return roots
}
