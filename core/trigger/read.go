package trigger

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// MaxContent is how much of a file is worth reading, in bytes; what is obeyed stands in small files.
const MaxContent = 256 << 10

// maxWhat bounds what is named of one file.
const maxWhat = 8

// keys finds settings by name, whatever the file's syntax: "key = value", "key: value", "key value", in quotes or behind "@scope:".
func keys(names ...string) func(string) []string {
	return func(content string) (found []string) {
		for l := range strings.Lines(content) {
			l = strings.ToLower(strings.TrimLeft(strings.TrimSpace(unescape(l)), `"'`))
			for strings.HasPrefix(l, "? ") || strings.HasPrefix(l, "!") || strings.HasPrefix(l, "&") { // YAML's marks before a key
				_, l, _ = strings.Cut(l, " ")
				l = strings.TrimLeft(l, `"' `)
			}
			if strings.HasPrefix(l, "#") || strings.HasPrefix(l, ";") || strings.HasPrefix(l, "//") {
				continue
			}
			for _, part := range strings.FieldsFunc(l, func(r rune) bool { return strings.ContainsRune("{,}", r) }) {
				part = strings.TrimSpace(part)
				part = strings.TrimLeft(part, `"'[`)
				i := strings.IndexAny(part, "=: \t[")
				if strings.HasPrefix(part, "@") { // @scope:registry=…
					if j := strings.IndexByte(part, ':'); j >= 0 {
						part = part[j+1:]
						i = strings.IndexAny(part, "=: \t[")
					}
				}
				if i < 0 {
					i = len(part) // its value comes with the next line
				}
				key := strings.Trim(part[:i], `"' ]`)
				key = key[strings.LastIndexByte(key, '.')+1:]
				found = note(found, key, slices.Contains(names, key))
			}
		}
		return found
	}
}

// unescape writes out what quoted strings of TOML, YAML and JSON may hide a letter behind.
func unescape(l string) string {
	if !strings.Contains(l, `\`) {
		return l
	}
	return hidden.ReplaceAllStringFunc(l, func(e string) string {
		n, err := strconv.ParseUint(e[2:], 16, 32)
		if err != nil || n > 0x7e || n < 0x20 {
			return e
		}
		return string(rune(n))
	})
}

var hidden = regexp.MustCompile(`\\(?:u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|x[0-9a-fA-F]{2})`)

func note(found []string, what string, yes bool) []string {
	if yes && len(found) < maxWhat && !slices.Contains(found, what) {
		found = append(found, what)
	}
	return found
}

// setting is one line of a file in Git's syntax.
type setting struct{ section, sub, key, value string }

// name writes it as git-config(1) does.
func (s setting) name() string {
	if s.sub != "" {
		return s.section + "." + s.sub + "." + s.key
	}
	return s.section + "." + s.key
}

// settings reads Git's syntax, leniently: what it may take wrongly is named rather than missed. A backslash at the end of a line
// joins it with the next one in a value, but not in a comment: the content is read both ways.
func settings(content string) []setting {
	all := lines(content)
	if joined := unfold.Replace(content); joined != content {
		all = append(all, lines(joined)...)
	}
	return all
}

var (
	unfold = strings.NewReplacer("\\\r\n", "", "\\\n", "")
	unmark = strings.NewReplacer(`"`, "", `\`, "") // quotes may begin and end anywhere, and a backslash stand before anything
)

func lines(content string) (all []setting) {
	var section, sub string
	for l := range strings.Lines(content) {
		l = strings.TrimSpace(strings.TrimPrefix(l, "\uFEFF"))
		for strings.HasPrefix(l, "[") { // one section may follow the other
			rest := l[1:]
			end := header(rest)
			head := rest[:end]
			l = strings.TrimSpace(strings.TrimPrefix(rest[end:], "]"))
			section, sub = head, ""
			if i := strings.IndexAny(head, " \t"); i >= 0 {
				section, sub = head[:i], head[i:]
			}
			sub = unmark.Replace(strings.TrimSpace(sub))
			if a, b, ok := strings.Cut(section, "."); ok && sub == "" {
				section, sub = a, b
			}
			section = strings.ToLower(section)
		}
		if l == "" || l[0] == '#' || l[0] == ';' {
			continue
		}
		key, value, _ := strings.Cut(l, "=")
		all = append(all, setting{section, sub, strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(unmark.Replace(value))})
	}
	return all
}

// header finds the end of a section's header, past what is quoted.
func header(s string) int {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == '"':
			quoted = !quoted
		case s[i] == ']' && !quoted:
			return i
		}
	}
	return len(s)
}

// obeyed are the settings that name programs, or files with more of them, by section and key (git-config(1)); "" is any section.
var obeyed = map[string][]string{
	"core":       {"hookspath", "fsmonitor", "sshcommand", "editor", "pager", "gitproxy", "askpass", "alternaterefscommand"},
	"sequence":   {"editor"},
	"diff":       {"external", "command", "textconv"},
	"merge":      {"driver"},
	"filter":     {"clean", "smudge", "process"},
	"credential": {"helper"},
	"gpg":        {"program", "defaultkeycommand"},
	"include":    {"path"}, "includeif": {"path"},
	"remote":      {"uploadpack", "receivepack", "vcs"},
	"uploadpack":  {"packobjectshook"},
	"interactive": {"difffilter"},
	"instaweb":    {"httpd"}, "browser": {"cmd", "path"}, "man": {"cmd", "path"}, "mergetool": {"cmd", "path"}, "difftool": {"cmd", "path"},
	"sendemail": {"smtpserver", "sendmailcmd", "tocmd", "cccmd", "headercmd"},
	"lfs":       {"path", "clean", "smudge", "customtransfer", "standalonetransferagent"}, "imap": {"tunnel"}, "guitool": {"cmd"},
	"tar": {"command"}, "trailer": {"command", "cmd"}, "init": {"templatedir"}, "hook": {"command"}, "web": {"browser"},
}

// gitSettings finds what Git would run.
func gitSettings(content string) (found []string) {
	for _, s := range settings(content) {
		plain := slices.Contains([]string{"", "true", "false", "yes", "no", "on", "off", "0", "1"}, strings.ToLower(s.value))
		bad := (slices.Contains(obeyed[s.section], s.key) || command(s.key)) && !plain
		switch s.section {
		case "core":
			bad = bad || s.key == "worktree" && away(s.value)
		case "alias":
			bad = strings.HasPrefix(s.value, "!")
		case "pager":
			bad = !plain
		case "submodule":
			bad = s.key == "update" && strings.HasPrefix(s.value, "!") || s.key == "url" && external(s.value)
		case "remote":
			bad = bad || (s.key == "url" || s.key == "pushurl") && external(s.value)
		case "protocol":
			bad = s.key == "allow" && s.sub == "ext"
		case "url":
			bad = external(s.sub)
		}
		found = note(found, s.name(), bad)
	}
	return found
}

// command recognises the settings of programs beside Git that work as its own do.
func command(key string) bool {
	return slices.ContainsFunc([]string{"command", "cmd", "program"}, func(end string) bool { return strings.HasSuffix(key, end) })
}

// away recognises a work tree that is no part of where its Git directory lies, as those of submodules are.
func away(tree string) bool {
	return strings.HasPrefix(tree, "/") || strings.HasPrefix(tree, "~") || strings.Contains(tree, ":") || strings.Count(tree, "..") > 6
}

// external recognises an address that names a program (git-remote-ext(1)).
func external(url string) bool { return strings.HasPrefix(strings.ToLower(url), "ext::") }

// elsewhere reads a commondir: Git's own leads from a linked worktree to the directory around it.
func elsewhere(content string) (found []string) {
	to := strings.TrimSpace(content)
	return note(found, to, to != "../.." && to != "")
}

// submodules finds commands in a .gitmodules.
func submodules(content string) (found []string) {
	for _, s := range settings(content) {
		found = note(found, s.name(), s.section == "submodule" &&
			(s.key == "update" && strings.HasPrefix(s.value, "!") || s.key == "url" && (external(s.value) || strings.HasPrefix(s.value, "-"))))
	}
	return found
}
