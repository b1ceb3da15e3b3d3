package prompt

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Note marks a text as the runtime's own.
const Note = "[agent-mcp] "

var dataTag = regexp.MustCompile(`(?i)<(\s*/?\s*data\b)`)

// Data wraps foreign text (a file, a program's output) as material (fixed prompt, rule 5). A data tag inside it loses its
// bracket's effect, and a line can not pass for the runtime's own.
func Data(source, text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = dataTag.ReplaceAllString(text, "< $1")
	text = Words(text)
	return fmt.Sprintf("<data from=%q>\n%s\n</data>", line(source), strings.TrimSuffix(text, "\n"))
}

// Words takes the runtime's mark out of somebody else's words: no lower layer speaks as the runtime (PRM-01).
func Words(text string) string {
	return strings.ReplaceAll(text, strings.TrimSpace(Note), "[agent mcp]")
}

// Clip keeps head and tail of a text of more than limit runes, with a marker that says what is missing (AGT-09). The
// result has at most limit runes plus the marker.
func Clip(text string, limit int) string {
	n := utf8.RuneCountInString(text)
	if n <= limit || limit < 1 {
		return text
	}
	r := []rune(text)
	head := limit * 2 / 3
	tail := limit - head
	return string(r[:head]) + leftOut(n-limit) + string(r[n-tail:])
}

// Fit keeps head and tail of a text of more than a Weight of limit, with a marker that says what is missing (AGT-09). The result has at most
// that Weight plus the marker.
func Fit(text string, limit int) string {
	if limit < 1 || Weight(text) <= limit {
		return text
	}
	head, left := 0, limit*2/3
	for head < len(text) {
		_, n := utf8.DecodeRuneInString(text[head:])
		if left -= Weight(text[head : head+n]); left < 0 {
			break
		}
		head += n
	}
	tail := len(text)
	for left = limit - limit*2/3; tail > head; {
		_, n := utf8.DecodeLastRuneInString(text[:tail])
		if left -= Weight(text[tail-n : tail]); left < 0 {
			break
		}
		tail -= n
	}
	return text[:head] + leftOut(utf8.RuneCountInString(text[head:tail])) + text[tail:]
}

func leftOut(runes int) string {
	return fmt.Sprintf("\n[… %d characters left out; read the rest with offset and limit …]\n", runes)
}

// Short cuts a text to limit runes for a list.
func Short(text string, limit int) string {
	text = line(text)
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	return string([]rune(text)[:limit]) + "…"
}
