// Package trigger knows the files that an owner's own tools take commands from, outside every sandbox: Git's hooks and settings,
// editors', debuggers', package managers' and build tools' project files. A process that may write the workspace may write
// these too; whoever works there afterwards must know which are new (DENY-01, SEC-INV-13).
//
// It is a table and a few readings of contents, and pure: finding the files and comparing them with what was there before is
// app/lookout's. It judges nothing as evil: a file is named because something else will obey it. What every project has and
// everybody runs on purpose (Makefile, package.json, sources, tests) is not in the table.
package trigger

import (
	"path"
	"strings"
)

// Kind is what obeys a file, as the messages call it.
type Kind string

// Kinds.
const (
	Git         Kind = "git"         // hooks and settings of a repository
	Environment Kind = "environment" // loaded when a shell enters the directory
	Editor      Kind = "editor"      // tasks, settings and scripts of an editor
	Debugger    Kind = "debugger"
	Container   Kind = "container"  // built and started for an editor
	Hooks       Kind = "hooks"      // run by Git through a hook manager
	Packages    Kind = "packages"   // programs, or sources of packages, that a package manager runs
	Build       Kind = "build"      // programs that a build tool runs beside the compiler
	Python      Kind = "python"     // run when Python starts there
	Automation  Kind = "automation" // run elsewhere, with its secrets, once pushed
	Desktop     Kind = "desktop"    // started by a click
	Hidden      Kind = "hidden"     // a directory that cannot be listed: whatever lies in it
)

// WhyHidden says what obeys what lies in a directory that cannot be listed.
const WhyHidden = "programs find files in it by name, though it cannot be listed; what lies in it was not looked at"

// Rule is one line of the table.
type Rule struct {
	Kind Kind
	Why  string // for the model, in English: what obeys it, and when

	// Reads finds what in the content is obeyed; empty = nothing, the file is an ordinary one. nil = the file is named whatever
	// it holds.
	Reads func(content string) (what []string)

	top bool // only directly in a root
}

// Place is where a file lies.
type Place struct {
	Path       string // with slashes
	Top        bool   // directly in a root
	GitDir     bool   // in a Git directory, whatever its name
	Vendored   bool   // below a directory of dependencies (see Vendored)
	Executable bool
	Link       bool // a symlink: it may stand for a directory
}

// Match finds the rule of a regular file or a symlink.
func Match(p Place) (Rule, bool) {
	dir, name := path.Split(strings.ToLower(p.Path))
	parents := strings.Split(strings.Trim(dir, "/"), "/")
	if name == ".git" { // a real directory is no file
		return Rule{Kind: Git, Why: "Git takes the repository, with its hooks and settings, from where it points"}, true
	}
	if p.GitDir {
		return inGit(parents, name, p)
	}
	if p.Vendored {
		return Rule{}, false
	}
	if r, ok := byDirectory[name]; ok && p.Link {
		return r, true
	}
	for _, r := range byName[name] {
		if r.fits(parents, p) {
			return r.Rule, true
		}
	}
	for _, ext := range []string{path.Ext(name), ""} { // "" are those of "dir/*"
		for _, r := range byExtension[ext] {
			if r.fits(parents, p) && (ext != "" || name != ".gitignore") {
				return r.Rule, true
			}
		}
	}
	return Rule{}, false
}

// inGit judges a file of a Git directory.
func inGit(parents []string, name string, p Place) (Rule, bool) {
	switch {
	case name == "commondir":
		return Rule{Kind: Git, Why: "Git takes hooks and settings from where it points", Reads: elsewhere}, true
	case name == "hooks" && p.Link:
		return Rule{Kind: Git, Why: "Git runs the hooks that lie where it leads"}, true
	case len(parents) > 0 && parents[len(parents)-1] == "hooks" && p.Executable && !strings.HasSuffix(name, ".sample") && !strings.HasSuffix(name, ".refused"):
		return Rule{Kind: Git, Why: "Git runs this hook"}, true
	case name == "config" || name == "config.worktree":
		return Rule{Kind: Git, Why: "Git runs programs that these settings name", Reads: gitSettings}, true
	}
	return Rule{}, false
}

// vendored are directories of other people's projects: what lies there is obeyed by nobody who works here, but for Git.
var vendored = map[string]bool{
	"node_modules": true, "bower_components": true, "jspm_packages": true, "site-packages": true, "dist-packages": true, "vendor": true, "__pypackages__": true,
	".pnpm-store": true, ".yarn": true, "third_party": true, ".terraform": true, ".gradle": true, ".m2": true, ".tox": true, ".nox": true,
}

// Vendored reports whether a directory's name is one of dependencies.
func Vendored(name string) bool { return vendored[strings.ToLower(name)] }

// entry is a rule with its place: the names of the parents that must hold the file.
type entry struct {
	Rule
	parents []string
}

func (e entry) fits(parents []string, p Place) bool {
	n := len(parents) - len(e.parents)
	if n < 0 || e.top && !p.Top {
		return false
	}
	for i, want := range e.parents {
		if ok, err := path.Match(want, parents[n+i]); err != nil || !ok {
			return false
		}
	}
	return true
}
