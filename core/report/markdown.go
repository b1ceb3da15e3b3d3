package report

import (
	"strconv"
	"strings"

	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/core/guard"
)

// inline makes foreign words one harmless line of Markdown.
func (w *writer) inline(s string) string {
	s = strings.Join(strings.Fields(guard.Plain(s)), " ")
	if audit.Secret(s) {
		return w.say(keyHidden)
	}
	return strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", "#", `\#`).Replace(s)
}

func (w *writer) codeOf(s string) string {
	if s == "" {
		return ""
	}
	if audit.Secret(s) {
		return w.say(keyHidden)
	}
	return code(s)
}

// code is a code span that its content cannot end.
func code(s string) string {
	s = strings.Join(strings.Fields(guard.Plain(s)), " ")
	fence := strings.Repeat("`", longest(s, '`')+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}

// block is a code block that its content cannot end. Lines that look like a credential are left out.
func (w *writer) block(kind, s string) {
	s = guard.Plain(s)
	left := 0
	if len(s) > maxBody {
		keep := strings.ToValidUTF8(s[:maxBody], "")
		s, left = keep, len(s)-len(keep)
	}
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i, l := range hide(lines) {
		if l {
			lines[i] = w.say(keyHidden)
		}
	}
	fence := strings.Repeat("`", max(3, longest(s, '`')+1))
	w.out.WriteString(fence + kind + "\n" + strings.Join(lines, "\n") + "\n" + fence + "\n")
	if left > 0 {
		w.out.WriteString(w.say(keyCut, "bytes", strconv.Itoa(left)) + "\n")
	}
}

// hide marks lines that look like a credential, and everything between the lines of a private key.
func hide(lines []string) []bool {
	out := make([]bool, len(lines))
	inside := false
	for i, l := range lines {
		out[i] = inside || audit.Secret(l)
		switch {
		case strings.Contains(l, "-----BEGIN ") && strings.Contains(l, "PRIVATE KEY"):
			inside = true
		case inside && strings.Contains(l, "-----END "):
			inside = false
		}
	}
	return out
}

func longest(s string, c byte) (most int) {
	n := 0
	for i := range len(s) {
		if n++; s[i] != c {
			n = 0
		}
		most = max(most, n)
	}
	return most
}
