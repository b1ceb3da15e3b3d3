package diagnose

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// act is what a program tried on a path.
type act uint8

const (
	unknown act = iota
	reads
	writes
	deletes
	executes
	renames
	opens // reads or writes
)

// words that tell an act, in lower case; the first that fits counts.
var words = []struct {
	act   act
	words []string
}{
	{executes, []string{"execut", "fork/exec", "execv", "exec ", "exec:", "run command", "spawn", "env:", "xargs:", "bad interpreter", "実行"}},
	{renames, []string{"rename", "renaming", "move", "mv:", "移動", "名前"}},
	{deletes, []string{"remov", "unlink", "rmdir", "rmtree", "delet", "rm:", "削除"}},
	{reads, []string{"for reading", "open directory", "opendir", "scandir", "listdir", "読み込", "read_text", "read_bytes"}},
	{writes, []string{
		"creat", "writ", "mkdir", "makedirs", "touch", "append", "truncat", "chmod", "changing", "attributes", "times", "preserv", "link", "output", "tee:", "lock", "temporary",
		"insufficient permission for", "save", "作成", "書き込", "変更",
	}},
	{reads, []string{"read", "access", "stat ", "statx", "cat:", "head:", "tail:", "less:", "grep:", "ls:", "find:", "wc:", "sort:", "diff:", "cmp:", "file:", "md5sum:", "sha256sum:", "list"}},
	{opens, []string{"open"}},
}

func actOf(context string) act {
	for _, w := range words {
		if slices.ContainsFunc(w.words, func(s string) bool { return begins(context, s) }) {
			return w.act
		}
	}
	return unknown
}

// begins reports whether a word of s begins with w: "thread" does not with "read".
func begins(s, w string) bool {
	for at := 0; ; {
		i := strings.Index(s[at:], w)
		if i < 0 {
			return false
		}
		if at += i; at == 0 || !word(s[at-1]) {
			return true
		}
		at += len(w)
	}
}

// calls are what sources and tracebacks show before an error that does not say what was tried.
var calls = []struct {
	act   act
	words []string
}{
	{executes, []string{"_execute_child", "subprocess.", "os.exec", "Popen("}},
	{renames, []string{".rename(", "os.replace(", "shutil.move(", ".replace("}},
	{deletes, []string{".unlink(", ".remove(", ".rmdir(", "rmtree("}},
	{writes, []string{".mkdir(", "makedirs(", ".write_", ".touch(", ".chmod(", ".symlink(", ".link(", "copy("}},
	{opens, []string{"open("}},
}

// attempts lists what a line may mean, most likely first.
func (l *look) attempts(s said) []act {
	a := actOf(s.context)
	if a == unknown && !s.shell {
		a = (l.calls | called(s.hints)).only()
	}
	if s.cause == crossed || len(s.names) > 1 && a == unknown && strings.Contains(s.context, "->") {
		a = renames
	}
	switch {
	case (a == reads || a == opens) && s.cause == readOnly: // "cannot open x: Read-only file system"
		return []act{writes}
	case a == opens && s.cause == missing && !l.redirects(s.names):
		return []act{reads}
	case a == opens:
		return []act{reads, writes}
	case a != unknown:
		return []act{a}
	case s.cause == readOnly, s.cause == busy:
		return []act{writes, deletes}
	case s.shell && (l.ExitCode == exitCannotExecute || l.ExitCode == exitNotFound):
		return []act{executes}
	case s.shell && l.redirects(s.names):
		return []act{writes}
	case s.cause == missing:
		return []act{reads}
	case s.shell:
		return []act{reads, writes}
	}
	return []act{reads, writes, deletes, executes}
}

// What a shell, env and the like end with when a program cannot be started, and when there is none.
const (
	exitCannotExecute = 126
	exitNotFound      = 127
)

// redirects reports whether a script sends output to the first name.
func (l *look) redirects(all []string) bool {
	return len(all) > 0 && slices.ContainsFunc(l.Args[:min(len(l.Args), maxNames)], func(a string) bool {
		return len(a) < maxArgsBytes && (strings.Contains(a, ">"+all[0]) || strings.Contains(a, "> "+all[0]))
	})
}

// acts is a set of them.
type acts uint8

// only returns the one act of a set; several say nothing.
func (s acts) only() act {
	for a := reads; a <= opens; a++ {
		if s == 1<<a {
			return a
		}
	}
	return unknown
}

// called finds what a source or a traceback calls.
func called(text string) (set acts) {
	for _, c := range calls {
		if slices.ContainsFunc(c.words, func(s string) bool { return begins(text, s) || s[0] == '.' && strings.Contains(text, s) }) {
			set |= 1 << c.act
		}
	}
	return set
}

// judge asks the policy about what a line may mean and notes the first thing that it denies.
func (l *look) judge(s said) {
	if s.cause == missing && !l.failed {
		return // programs look for much that is not there
	}
	for _, a := range l.attempts(s) {
		if a == renames {
			if l.rename(s) {
				return
			}
			continue
		}
		for _, name := range s.names {
			for _, p := range l.paths(name) {
				if l.denied(s, a, p) {
					return
				}
			}
		}
	}
}

// rename judges both sides as the sandbox does: delete at the source, write at the destination, and no way between roots.
func (l *look) rename(s said) bool {
	if len(s.names) == 0 {
		return false
	}
	from := l.paths(s.names[0])
	for _, p := range from {
		if l.denied(s, deletes, p) || l.denied(s, writes, p) {
			return true
		}
	}
	if len(s.names) < 2 {
		return false
	}
	to := l.paths(s.names[1])
	for _, p := range to {
		if l.denied(s, writes, p) || l.denied(s, deletes, p) {
			return true
		}
	}
	a, _, inA := l.Policy.RootOf(from[0])
	b, _, inB := l.Policy.RootOf(to[0])
	if s.cause == crossed && inA && inB && a.Path != b.Path {
		l.add(sandbox.Denial{Target: to[0], Right: "write", Reason: workspace.CodeCrossVolume})
		return true
	}
	return false
}

// denied notes one access if the policy denies it for a reason that fits the error.
func (l *look) denied(s said, a act, p string) bool {
	ask := policy.Request{Path: p}
	var right string
	switch a {
	case reads:
		ask.Op, right = policy.OpRead, "read"
	case writes:
		ask.Op, right = policy.OpWrite, "write"
	case deletes:
		ask.Op, right = policy.OpDelete, "delete"
	case executes:
		ask.Op, right = policy.OpExecute, "execute"
	default:
		return false
	}
	_, have, inside := l.Policy.RootOf(p)
	switch {
	case !inside && l.private(p):
		return false
	case inside && s.cause == missing:
		return false
	case a == writes && s.cause == refused && l.Binds && inside && !have.Has(rights.Write):
		return false // there it would have been a read-only file system
	}
	reasons := l.Policy.Decide(ask).Reasons
	if s.cause == busy {
		reasons = slices.DeleteFunc(reasons, func(f *fault.Error) bool { return !held(f.Code) })
	}
	if len(reasons) == 0 {
		return false
	}
	l.add(sandbox.Denial{Target: p, Right: right, Reason: reasons[0].Code})
	return true
}

// held reports whether a reason is why a name is busy: it is mounted to stay what it is.
func held(c fault.Code) bool {
	return slices.Contains([]fault.Code{policy.CodeProtected, policy.CodeHoldsProtected, policy.CodeIsRoot, policy.CodeHoldsRoot}, c)
}

// private reports whether a path outside the roots is the sandbox's own place, which every program has: what is missing or
// refused there is no denial. /tmp is one unless a root lies in it.
func (l *look) private(p string) bool {
	for _, dir := range []string{"/proc", "/dev", "/sys", "/etc/passwd", "/etc/group", "/etc/hosts"} {
		if under(p, dir) {
			return true
		}
	}
	return under(p, "/tmp") && !slices.ContainsFunc(l.Policy.Roots(), func(r policy.Root) bool { return under(r.Path, "/tmp") })
}

func under(p, dir string) bool { return p == dir || strings.HasPrefix(p, dir+"/") }

// paths are what a name may mean: itself, or below each directory that a program may have been in.
func (l *look) paths(name string) []string {
	if path.IsAbs(name) {
		return []string{path.Clean(name)}
	}
	out := make([]string, len(l.dirs))
	for i, d := range l.dirs {
		out[i] = path.Join(d, name)
	}
	return out
}

// entering recognises what make prints before it changes directory.
func entering(line string) (dir string, ok bool) {
	if _, rest, found := strings.Cut(line, ": Entering directory "); found {
		if q, _ := quoted(rest); len(q) == 1 {
			return q[0], true
		}
	}
	return "", false
}

// changes adds the directories that arguments change into: "cd DIR" in a script, "-C DIR".
func changes(dirs []string, args []string) []string {
	left := maxArgsBytes
	for i, a := range args {
		if left -= len(a); left < 0 {
			break
		}
		if a == "-C" && i+1 < len(args) {
			dirs = addDir(dirs, args[i+1])
		}
		f := strings.FieldsFunc(a, func(r rune) bool { return strings.ContainsRune(" \t\n;&|()", r) })
		for j := 0; j+1 < len(f); j++ {
			if f[j] == "cd" || f[j] == "-C" {
				dirs = addDir(dirs, strings.Trim(f[j+1], `"'`))
			}
		}
	}
	return dirs
}

func addDir(dirs []string, name string) []string {
	if !path.IsAbs(name) {
		name = path.Join(dirs[0], name)
	}
	if name = path.Clean(name); len(dirs) < maxDirs && len(name) < maxPath && !slices.Contains(dirs, name) {
		dirs = append(dirs, name)
	}
	return dirs
}
