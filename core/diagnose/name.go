package diagnose

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// names collects what an error line may name, most likely first, and the rest of the line as context in lower case.
func names(before, after string) (out []string, context string) {
	quotedBefore, restBefore := quoted(before)
	quotedAfter, restAfter := quoted(after)
	context = lower(restBefore + " " + restAfter)
	out = slices.Concat(quotedBefore, quotedAfter)
	if len(out) == 0 {
		out = append(unquoted(before), trailing(after)...)
		for _, n := range out {
			context = strings.ReplaceAll(context, lower(n), " ")
		}
	} else if s := segments(before); len(s) > 2 && strings.HasPrefix(lower(s[len(s)-1]), "cannot ") {
		out = append(out, s[len(s)-2]) // tar: LINK: Cannot create symlink to 'x'
	}
	if strings.HasPrefix(after, " @ ") || strings.HasPrefix(after, ": /") { // it stands behind the error, whatever is quoted before
		out = append(trailing(after), out...)
	}
	return usable(out), context
}

// usable keeps what can be a path.
func usable(all []string) (out []string) {
	for _, n := range all {
		n = strings.TrimSpace(n)
		switch {
		case n == "" || n == "." || len(n) > maxPath || len(out) == maxNames:
		case strings.Contains(n, "://"), strings.ContainsFunc(n, func(r rune) bool { return r < 0x20 || r == 0x7f }):
		default:
			out = append(out, n)
		}
	}
	return out
}

// quotes are pairs of marks, as programs set names apart.
var quotes = []struct{ open, close string }{
	{"‘", "’"}, {"“", "”"}, {"「", "」"}, {"`", "`"}, {"`", "'"}, {"'", "'"}, {`"`, `"`},
}

// quoted returns the quoted parts of a text and the text without them. An apostrophe inside a word is none.
func quoted(s string) (parts []string, rest string) {
	var out strings.Builder
	for i, tries := 0, 0; i < len(s); {
		part, n := "", 0
		if s[i] == '\'' || s[i] == '"' || s[i] == '`' || s[i] >= utf8.RuneSelf {
			if tries++; tries <= maxQuotes {
				part, n = quote(s, i)
			}
		}
		if n == 0 {
			_, size := utf8.DecodeRuneInString(s[i:])
			out.WriteString(s[i : i+size])
			i += size
			continue
		}
		parts = append(parts, part)
		out.WriteByte(' ')
		i += n
	}
	return parts, out.String()
}

// quote reads a quoted part that starts at i; n is its length with the marks, 0 = none starts here.
func quote(s string, i int) (part string, n int) {
	if i > 0 && word(s[i-1]) {
		return "", 0
	}
	for _, q := range quotes {
		if !strings.HasPrefix(s[i:], q.open) {
			continue
		}
		for from, turn := i+len(q.open), 0; turn < maxNames; turn++ {
			j := strings.Index(s[from:min(len(s), i+maxPath)], q.close)
			if j < 0 {
				break
			}
			end := from + j + len(q.close)
			if q.close == "'" && strings.HasPrefix(s[end:], `\''`) { // 'it'\''s'
				from = end + len(`\''`)
				continue
			}
			if len(q.close) == 1 && end < len(s) && word(s[end]) {
				from = end
				continue
			}
			return strings.ReplaceAll(s[i+len(q.open):end-len(q.close)], `'\''`, "'"), end - i
		}
	}
	return "", 0
}

func word(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}

// segments splits at ": ", dropping empty ones.
func segments(s string) (out []string) {
	for p := range strings.SplitSeq(s, ": ") {
		if p = strings.Trim(strings.TrimSpace(p), ":"); p != "" {
			out = append(out, p)
		}
	}
	return out
}

// unquoted reads the name that stands before the error: the last part between colons, without the words that say what was tried.
func unquoted(before string) (out []string) {
	before = strings.TrimRight(before, " ([")
	s := segments(before)
	for i := len(s) - 1; i >= 0 && i >= len(s)-2; i-- {
		n, tried := stripWords(s[i])
		if n == "" { // "Cannot open" alone: the name stands before it
			continue
		}
		if inner, ok := inParens(n); ok {
			out = append(out, inner)
		}
		if place(n) || i == 0 && !tried && !pathLike(n) {
			break // a line number, the program's name
		}
		fields := strings.Fields(n)
		if len(fields) == 2 && pathLike(fields[0]) && pathLike(fields[1]) { // rename /a /b
			return append(out, fields...)
		}
		out = append(out, n)
		if len(fields) > 1 { // words of another program before the name
			out = append(out, fields[len(fields)-1], fields[0])
		}
		break
	}
	return out
}

// pathLike tells a path from a word.
func pathLike(n string) bool {
	return strings.HasPrefix(n, "/") || strings.Contains(n, "/") && !strings.Contains(n, " ")
}

// place recognises "1", "line 3", "[Makefile:3": where in a script, not what.
func place(n string) bool {
	n = strings.TrimPrefix(lower(n), "line ")
	return strings.Trim(n, "0123456789") == ""
}

// tries are the words that programs put before a name.
var tries = []string{
	"cannot ", "can't ", "can not ", "could not ", "couldn't ", "unable to ", "failed to ", "error ", "open output file ", "open temporary file ", "create output file ",
	"unlink old ", "create regular file ", "create directory ", "create file ", "lock config file ", "write config file ", "create ", "creating ", "open ", "opening ", "remove ", "unlinkat ", "unlink ", "rename ", "rmdir ",
	"mkdirat ", "mkdir ", "write ", "write to ", "writing ", "read ", "reading ", "stat ", "lstat ", "access ", "exec ", "execute ", "fork/exec ", "execvp ", "execve ", "chmod ", "chown ", "chtimes ", "symlink ", "link ", "truncate ", "readlink ",
	"delete ", "file ", "directory ", "object file ", "to ", "output ", "append to ", "save ", "load ", "perl script ", "temporary ", "regular ", "cd to ", "change directory to ",
	"bad interpreter ", "spawn ", "spawnsync ", "stream ",
	"adding an object to repository database ",
}

// stripWords drops the words of a try from the front; tried tells that there were some.
func stripWords(s string) (name string, tried bool) {
	s = strings.TrimSpace(s)
	for turn, again := 0, true; again && turn < maxTries; turn++ {
		again = false
		low := lower(s) + " "
		for _, t := range tries {
			if strings.HasPrefix(low, t) {
				s = strings.TrimSpace(s[min(len(t), len(s)):])
				again, tried = true, true
				break
			}
		}
	}
	return s, tried
}

func inParens(s string) (string, bool) {
	i := strings.IndexByte(s, '(')
	if i < 0 || !strings.HasSuffix(s, ")") {
		return "", false
	}
	return s[i+1 : len(s)-1], true
}

// trailing reads the name that stands behind the error: "Permission denied @ rb_sysopen - x (Errno::EACCES)",
// "AccessDeniedException: /x", "insufficient permission for adding an object to repository database .git/objects".
func trailing(after string) []string {
	after, _, _ = strings.Cut(after, " (Errno::")
	if strings.HasPrefix(after, " @ ") {
		if _, n, ok := strings.Cut(after, " - "); ok {
			if inner, ok := inParens(n); ok {
				a, b, _ := strings.Cut(inner, ", ")
				return []string{a, b}
			}
			return []string{n}
		}
	}
	if s, ok := strings.CutPrefix(after, ": "); ok {
		a, b, two := strings.Cut(s, " -> ")
		if two {
			return []string{a, b}
		}
		return []string{s}
	}
	if n, tried := stripWords(after); tried && n != "" {
		return []string{n}
	}
	return nil
}

// neighbour reads the name from a line beside an error that names nothing: "error: failed to write `x`", "Could not create
// output file (x)". It must say that something was tried.
func neighbour(line string) (found []string, context string) {
	low := lower(line)
	tried := false
	for _, w := range []string{"cannot", "can't", "could not", "couldn't", "unable to", "failed", "error"} {
		tried = tried || strings.Contains(low, w)
	}
	if !tried {
		return nil, ""
	}
	found, rest := quoted(line)
	if len(found) == 0 {
		s := segments(line)
		if len(s) == 0 {
			return nil, ""
		}
		last, stripped := stripWords(s[len(s)-1])
		if inner, ok := inParens(last); ok {
			last, stripped = inner, true
		}
		if !stripped && !strings.HasPrefix(last, "/") {
			return nil, ""
		}
		found = []string{last}
		rest = strings.ReplaceAll(line, last, " ")
	}
	return usable(found), lower(rest)
}

// shellLine recognises "sh: 1: x: ", "bash: line 3: x: ", "/w/run.sh: line 3: x: ".
func shellLine(before string) bool {
	s := segments(before)
	return len(s) >= 2 && place(s[1])
}
