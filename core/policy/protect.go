package policy

import "strings"

// Protected reports whether path is one that Git, run by the owner outside the sandbox, would take programs or settings
// from. It is the one place of the rule, by name alone, without regard to case:
//
//   - a component named ".git" or ending in ".git" (a bare repository), or "git~1" (its short name), is a Git directory;
//     submodules and worktrees lie inside one (".git/modules/x", ".git/worktrees/x");
//   - a Git directory's own name: ".git" may be a file that points elsewhere, so it is neither replaced, removed nor renamed
//     ("x.git" is, being an ordinary name too);
//   - at any depth inside: "hooks" and everything below it; "config", "config.worktree", and the redirections
//     "commondir" and "gitdir" as last component.
//
// Everything else in a repository (index, objects, refs, HEAD) stays writable, so that git add and commit work. What a
// name cannot tell (a bare repository without suffix, a gitdir somewhere else) is found on disk and given as
// Input.Protected. Protected paths are read-only; making the directory ".git" is refused to the tools as well.
func Protected(path string) bool {
	inside := false
	for rest := path; rest != ""; {
		i := 0
		for i < len(rest) && rest[i] != '/' && rest[i] != '\\' {
			i++
		}
		c := rest[:i]
		rest = rest[min(i+1, len(rest)):]
		last := rest == ""
		switch {
		case inside && protectedName(c, last):
			return true
		case gitDirName(c):
			if last && len(c) <= len("git~1") && c[0] != '.' || last && len(c) == len(".git") {
				return true
			}
			inside = true
		}
	}
	return false
}

// protectedName judges one component inside a Git directory.
func protectedName(c string, last bool) bool {
	switch len(c) {
	case len("hooks"):
		return strings.EqualFold(c, "hooks")
	case len("config"), len("commondir"), len("config.worktree"):
		return last && (strings.EqualFold(c, "config") || strings.EqualFold(c, "gitdir") ||
			strings.EqualFold(c, "commondir") || strings.EqualFold(c, "config.worktree"))
	}
	return false
}

// gitDirName reports whether a component names a Git directory.
func gitDirName(c string) bool {
	n := len(c)
	return n >= 4 && strings.EqualFold(c[n-4:], ".git") || n == 5 && strings.EqualFold(c, "git~1")
}

// InGitDir reports whether path is a Git directory or lies in one, by name alone.
func InGitDir(path string) bool { return Protected(path + "/config") }

// GuardedNames lists, relative to a Git directory, what exists there and has to stay read-only for processes too: each
// that exists belongs into Spec.Protect. Worktrees and modules are Git directories of their own.
func GuardedNames() []string {
	return []string{"commondir", "config", "config.worktree", "gitdir", "hooks"}
}
