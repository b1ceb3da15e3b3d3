package canon

import (
	"encoding/binary"
	"unicode/utf8"

	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// plain tells bytes that stand for themselves in a string: no control, quote, backslash, nor part of a longer character.
var plain = func() (t [256]bool) {
	for c := 0x20; c < 0x80; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// scanString reads a string whose opening quote is at text[i]. end is behind the closing quote. A string without escapes
// is found as it stands: decoded is false and its value is text[i+1:end-1]. Else its value is appended to arena. half is
// the offset of the first unpaired surrogate, -1 without one; it is kept in arena as its three bytes of generalized UTF-8,
// so that different texts stay different names. A fault's code is "" when there is none.
func scanString(text []byte, i int, arena []byte) (end int, out []byte, decoded bool, half int, bad fault.Code) {
	half = -1
	mark := i + 1
	for i = mark; i < len(text); {
		c := text[i]
		switch {
		case plain[c]:
			i++
		case c == '"':
			if decoded {
				arena = append(arena, text[mark:i]...)
			}
			return i + 1, arena, decoded, half, ""
		case c == '\\':
			arena = append(arena, text[mark:i]...)
			decoded = true
			var lone bool
			from := i
			if i, arena, lone, bad = escape(text, i, arena); bad != "" {
				return i, arena, decoded, half, bad
			}
			if lone && half < 0 {
				half = from
			}
			mark = i
		case c < 0x20:
			return i, arena, decoded, half, CodeSyntax
		default:
			r, n := utf8.DecodeRune(text[i:])
			if r == utf8.RuneError && n == 1 {
				if !utf8.FullRune(text[i:]) {
					return len(text), arena, decoded, half, CodeTruncated
				}
				return i, arena, decoded, half, CodeEncoding
			}
			i += n
		}
	}
	return i, arena, decoded, half, CodeTruncated
}

// escape decodes the escape whose backslash is at text[i]; two \u escapes that are a surrogate pair are one character.
func escape(text []byte, i int, arena []byte) (end int, out []byte, lone bool, bad fault.Code) {
	if i+1 >= len(text) {
		return len(text), arena, false, CodeTruncated
	}
	switch c := text[i+1]; c {
	case '"', '\\', '/':
		return i + 2, append(arena, c), false, ""
	case 'b':
		return i + 2, append(arena, '\b'), false, ""
	case 'f':
		return i + 2, append(arena, '\f'), false, ""
	case 'n':
		return i + 2, append(arena, '\n'), false, ""
	case 'r':
		return i + 2, append(arena, '\r'), false, ""
	case 't':
		return i + 2, append(arena, '\t'), false, ""
	case 'u':
	default:
		return i + 1, arena, false, CodeSyntax
	}
	r, bad := unit(text, i)
	switch {
	case bad != "":
		return i, arena, false, bad
	case r < 0xd800 || r > 0xdfff:
		return i + 6, utf8.AppendRune(arena, r), false, ""
	case r < 0xdc00 && i+7 < len(text) && text[i+6] == '\\' && text[i+7] == 'u':
		low, bad := unit(text, i+6)
		if bad != "" {
			return i + 6, arena, false, bad
		}
		if low >= 0xdc00 && low <= 0xdfff {
			return i + 12, utf8.AppendRune(arena, (r-0xd800)<<10+(low-0xdc00)+0x10000), false, ""
		}
	}
	return i + 6, append(arena, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f), true, ""
}

// unit reads \uXXXX at text[i].
func unit(text []byte, i int) (r rune, bad fault.Code) {
	for k := i + 2; k < i+6; k++ {
		if k >= len(text) {
			return 0, CodeTruncated
		}
		c := text[k]
		switch {
		case c-'0' <= 9:
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, CodeSyntax
		}
		r = r<<4 | rune(c)
	}
	return r, ""
}

// AppendString appends s as a JSON string: only '"', '\' and control characters are escaped, in their shortest form (RFC
// 8785 section 3.2.2.2). s must be valid UTF-8; Append sees to that.
func AppendString[T string | []byte](dst []byte, s T) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	mark := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if plain[c] || c >= 0x80 {
			continue
		}
		dst = append(dst, s[mark:i]...)
		mark = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\r':
			dst = append(dst, '\\', 'r')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(append(dst, s[mark:]...), '"')
}

// Compare orders member names by their UTF-16 code units (RFC 8785 section 3.2.3) without converting them. In UTF-8 only
// one thing differs from the order of bytes: characters above U+FFFF, which are surrogates in UTF-16, come before U+E000 to
// U+FFFF.
func Compare[A, B string | []byte](a A, b B) int {
	n := min(len(a), len(b))
	for i := range n {
		if x, y := a[i], b[i]; x != y {
			return order(x, y)
		}
	}
	return len(a) - len(b)
}

// compare is Compare for the long names of an enemy.
func compare(a, b []byte) int {
	n, i := min(len(a), len(b)), 0
	for i+8 <= n && binary.LittleEndian.Uint64(a[i:]) == binary.LittleEndian.Uint64(b[i:]) {
		i += 8
	}
	for ; i < n; i++ {
		if x, y := a[i], b[i]; x != y {
			return order(x, y)
		}
	}
	return len(a) - len(b)
}

// order of two different bytes at the same place. Lead bytes 0xee and 0xef are U+E000 to U+FFFF, from 0xf0 on come the
// characters above; below 0xee the order of bytes is right.
func order(x, y byte) int {
	if x >= 0xee && y >= 0xee && (x >= 0xf0) != (y >= 0xf0) {
		x, y = y, x
	}
	if x < y {
		return -1
	}
	return 1
}
