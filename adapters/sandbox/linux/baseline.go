package linux

import (
	"os"
	"path/filepath"
	"slices"

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
// before children. Execute is given where the system keeps programs and libraries.
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
		info, err := os.Lstat(b.path)
		if err != nil {
			continue
		}
		item := baseItem{Path: b.path, Exec: b.exec, Dir: info.IsDir()}
		if info.Mode()&os.ModeSymlink != 0 {
			if item.Link, err = os.Readlink(b.path); err != nil {
				continue
			}
		} else if !info.IsDir() && !info.Mode().IsRegular() {
			continue
		}
		items = append(items, item)
	}
	return items
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
