package skill

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// The front matter is YAML. Of YAML this is the part that the standard's keys need: "key: value" with plain, quoted and
// block (| and >) texts over one or more lines, comments, and one map of texts. The rest — lists, flow maps, anchors, tags —
// is refused with its line; nothing is guessed (SKL-02).

// entry is one key with its text, or with the entries below it.
type entry struct {
	key      string
	line     int // of the file, from 1
	value    string
	nested   bool // a map or list
	children []entry
}

type parser struct {
	path     string
	problems []*fault.Error
}

func (p *parser) fail(code fault.Code, line int, kv ...any) {
	p.problems = append(p.problems, fault.New(code, append([]any{"path", p.path, "line", line}, kv...)...))
}

var keyLine = regexp.MustCompile(`^([A-Za-z0-9_][A-Za-z0-9_.-]*)[ \t]*:(?:[ \t]+(.*))?$`)

// block reads lines of one indentation; first is the number of the first in the file.
func (p *parser) block(lines []string, first int) (out []entry) {
	for i := 0; i < len(lines); {
		l, at := lines[i], first+i
		if blank(l) {
			i++
			continue
		}
		if l[0] == ' ' || l[0] == '\t' {
			p.fail(CodeBadIndent, at)
			return out
		}
		m := keyLine.FindStringSubmatch(l)
		next := i + 1
		for next < len(lines) && (lines[next] == "" || lines[next][0] == ' ' || lines[next][0] == '\t') {
			next++
		}
		if m == nil {
			p.fail(CodeBadLine, at, "text", clip(strings.TrimSpace(l)))
		} else {
			out = append(out, p.entry(m[1], strings.TrimSpace(m[2]), lines[i+1:next], at))
		}
		i = next
	}
	return out
}

// blank is a line without content.
func blank(l string) bool {
	t := strings.TrimLeft(l, " \t")
	return t == "" || t[0] == '#'
}

// entry reads the value of a key: what stands on its line, and the indented lines below.
func (p *parser) entry(key, rest string, below []string, at int) entry {
	e := entry{key: key, line: at}
	for k, l := range below {
		if indent := l[:len(l)-len(strings.TrimLeft(l, " \t"))]; strings.Contains(indent, "\t") {
			p.fail(CodeBadIndent, at+1+k)
			return e
		}
	}
	switch {
	case rest == "" || rest[0] == '#':
		p.below(&e, below)
	case rest[0] == '|' || rest[0] == '>':
		e.value = p.blockText(rest, below, at)
	case rest[0] == '"' || rest[0] == '\'':
		e.value = p.quoted(rest, below, at)
	case rest == "{}" || rest == "[]":
		e.value, e.nested = "", rest == "[]"
	default:
		e.value = p.plain(key, rest, below, at)
	}
	return e
}

// below reads a value that begins on the next line: a map, or a text.
func (p *parser) below(e *entry, below []string) {
	k := 0
	for k < len(below) && blank(below[k]) {
		k++
	}
	if k == len(below) {
		return
	}
	head := strings.TrimLeft(below[k], " ")
	at := e.line + 1 + k
	switch {
	case keyLine.MatchString(head):
		e.nested = true
		e.children = p.block(p.dedent(below[k:], len(below[k])-len(head), at), at)
	case strings.HasPrefix(head, "- ") || head == "-":
		e.nested = true
	case strings.ContainsRune(`|>`, rune(head[0])):
		p.fail(CodeBadLine, at, "text", clip(head))
	case head[0] == '"' || head[0] == '\'':
		e.value = p.quoted(strings.TrimSpace(head), below[k+1:], at)
	default:
		e.value = p.plain(e.key, strings.TrimSpace(head), below[k+1:], at)
	}
}

// dedent takes n columns off every line that has content.
func (p *parser) dedent(lines []string, n, first int) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		switch {
		case blank(l):
		case len(l)-len(strings.TrimLeft(l, " ")) < n:
			p.fail(CodeBadIndent, first+i)
		default:
			out[i] = l[n:]
		}
	}
	return out
}

// plain is an unquoted text; it may go on below.
func (p *parser) plain(key, rest string, below []string, at int) string {
	first, _, _ := strings.Cut(strings.ReplaceAll(rest, "\t", " "), " ")
	if strings.ContainsRune("[]{}&*!|>%@`,\"'#", rune(rest[0])) || first == "-" || first == "?" || first == ":" {
		p.fail(CodeNeedsQuotes, at, "key", key)
		return ""
	}
	parts := []string{}
	ended := false
	for k, l := range append([]string{rest}, below...) {
		l = strings.TrimSpace(l)
		if l != "" && ended || k > 0 && strings.HasPrefix(l, "#") {
			if strings.HasPrefix(l, "#") {
				ended = true // a comment ends a text
				continue
			}
			p.fail(CodeBadLine, at+k, "text", clip(l))
			return ""
		}
		if i := commentAt(l); i >= 0 {
			l, ended = strings.TrimSpace(l[:i]), true
		}
		if strings.Contains(l, ": ") || strings.Contains(l, ":\t") || strings.HasSuffix(l, ":") {
			p.fail(CodeNeedsQuotes, at+k, "key", key)
			return ""
		}
		parts = append(parts, l)
	}
	v := strings.TrimSpace(fold(parts))
	if v == "~" || v == "null" || v == "Null" || v == "NULL" {
		return ""
	}
	return v
}

// commentAt finds a # after a space, -1 when there is none.
func commentAt(l string) int {
	for i := 1; i < len(l); i++ {
		if l[i] == '#' && (l[i-1] == ' ' || l[i-1] == '\t') {
			return i
		}
	}
	return -1
}

// fold joins lines with spaces; an empty line is a line break.
func fold(lines []string) string {
	var b strings.Builder
	empty := 0
	for i, l := range lines {
		if l == "" {
			empty++
			continue
		}
		switch {
		case i == 0:
		case empty > 0:
			b.WriteString(strings.Repeat("\n", empty))
		default:
			b.WriteByte(' ')
		}
		empty = 0
		b.WriteString(l)
	}
	return b.String()
}

// maxQuotedLines bounds a text in quotes: its end is looked for line by line.
const maxQuotedLines = 200

// quoted reads a text in quotes; it may end on a line below. After it comes nothing but comments.
func (p *parser) quoted(rest string, below []string, at int) string {
	lines := []string{rest}
	for k := 0; ; k++ {
		text, after, ok := unquote(fold(lines))
		switch {
		case !ok && k < min(len(below), maxQuotedLines):
			lines = append(lines, strings.TrimSpace(below[k]))
			continue
		case !ok, strings.TrimSpace(after) != "" && commentAt(after) != len(after)-len(strings.TrimLeft(after, " \t")):
			p.fail(CodeBadQuotes, at)
			return ""
		}
		for i, l := range below[k:] {
			if !blank(l) {
				p.fail(CodeBadLine, at+1+k+i, "text", clip(strings.TrimSpace(l)))
				return ""
			}
		}
		return strings.TrimSpace(text)
	}
}

var escapes = map[byte]string{
	'0': "\x00", 'a': "\a", 'b': "\b", 't': "\t", '\t': "\t", 'n': "\n", 'v': "\v", 'f': "\f", 'r': "\r",
	'e': "\x1b", ' ': " ", '"': `"`, '/': "/", '\\': `\`, 'N': "\u0085", '_': "\u00a0", 'L': "\u2028", 'P': "\u2029",
}

// unquote reads the quoted text that s begins with, and returns what follows it.
func unquote(s string) (text, after string, ok bool) {
	q := s[0]
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == q && q == '\'' && i+1 < len(s) && s[i+1] == '\'':
			b.WriteByte('\'')
			i++
		case c == q:
			return b.String(), s[i+1:], true
		case c == '\\' && q == '"':
			if i++; i >= len(s) {
				return "", "", false
			}
			if e, known := escapes[s[i]]; known {
				if control(rune(e[0])) {
					return "", "", false
				}
				b.WriteString(e)
				continue
			}
			n := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[i]]
			if n == 0 || i+n >= len(s) {
				return "", "", false
			}
			v, err := strconv.ParseUint(s[i+1:i+1+n], 16, 32)
			if err != nil || !utf8.ValidRune(rune(v)) || control(rune(v)) {
				return "", "", false
			}
			b.WriteRune(rune(v))
			i += n
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}

var blockHead = regexp.MustCompile(`^[|>](?:([1-9])[+-]?|[+-]([1-9])?)?(?:[ \t]+#.*)?$`)

// blockText reads a literal (|) or folded (>) text. Leading and trailing space of the whole does not matter to any key, so
// the chomping sign is read and has no effect.
func (p *parser) blockText(head string, below []string, at int) string {
	m := blockHead.FindStringSubmatch(head)
	if m == nil {
		p.fail(CodeNeedsQuotes, at, "key", head[:1])
		return ""
	}
	indent, _ := strconv.Atoi(m[1] + m[2]) // "" is 0: as the first line
	out := make([]string, 0, len(below))
	widest := 0 // empty line before the first with text
	for k, l := range below {
		have := len(l) - len(strings.TrimLeft(l, " "))
		if have == len(l) {
			if indent == 0 {
				widest = max(widest, have)
				out = append(out, "")
			} else {
				out = append(out, l[min(indent, have):])
			}
			continue
		}
		if indent == 0 {
			indent = have
		}
		if have < max(indent, widest) {
			p.fail(CodeBadIndent, at+1+k)
			return ""
		}
		widest = 0
		out = append(out, l[indent:])
	}
	if head[0] == '|' {
		return strings.TrimSpace(strings.Join(out, "\n"))
	}
	return strings.TrimSpace(foldBlock(out))
}

// foldBlock folds like fold, but a line that is indented further keeps its line breaks.
func foldBlock(lines []string) string {
	var b strings.Builder
	prev, empty := "", 0
	for i, l := range lines {
		if l == "" {
			empty++
			continue
		}
		more := l[0] == ' ' || l[0] == '\t' || prev != "" && (prev[0] == ' ' || prev[0] == '\t')
		switch {
		case i == 0 || prev == "":
			b.WriteString(strings.Repeat("\n", empty))
		case more:
			b.WriteString(strings.Repeat("\n", empty+1))
		case empty > 0:
			b.WriteString(strings.Repeat("\n", empty))
		default:
			b.WriteByte(' ')
		}
		prev, empty = l, 0
		b.WriteString(l)
	}
	return b.String()
}
