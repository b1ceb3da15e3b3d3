package guard

import (
	"strings"
	"unicode"
)

// Plain makes foreign words harmless where they are shown: valid UTF-8, line ends as line feeds, and U+FFFD for every other
// control character and for what reverses the reading direction. They can neither drive a terminal nor fake a line.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\u2028' || r == '\u2029' || r == '\u0085':
			return '\n'
		case unicode.Is(unicode.Cc, r), r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return '\uFFFD'
		}
		return r
	}, strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n"))
}
