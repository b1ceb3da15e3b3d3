package canon

import (
	"math"
	"strconv"
)

// maxExponent bounds the exponent that a number may be written with, either way. Together with Limits.Number it means
// that nothing a writer could have meant is refused: beyond it a number is zero or infinite.
const maxExponent = 400

// form of a number's text, found while it is read.
type form uint8

const (
	formSmall    form = iota // an integer of at most 15 digits: its text is its canonical form, but for -0
	formOther                // everything else that is finite
	formRange                // beyond finite binary64
	formExponent             // |exponent| > maxExponent
	formLong                 // longer than the limit
	formBare                 // of an array: integers alone, whose text is its canonical form
)

// scanNumber reads a number of RFC 8259 section 6 at text[i]; end is behind it, or where the grammar broke when ok is
// false. It looks at each character once and never computes with the exponent that is written.
func scanNumber(text []byte, i, limit int) (end int, f form, ok bool) {
	start := i
	if text[i] == '-' {
		i++
	}
	whole := i
	switch {
	case i == len(text):
		return i, 0, false
	case text[i] == '0':
		i++
	default:
		if i = digits(text, i); i == whole {
			return i, 0, false
		}
	}
	n := i - whole // digits before the point
	f = formSmall
	if n > 15 {
		f = formOther
	}
	if i < len(text) && text[i] == '.' {
		f = formOther
		first := i + 1
		if i = digits(text, first); i == first {
			return i, 0, false
		}
	}
	exp := 0
	if i < len(text) && text[i]|0x20 == 'e' {
		f = formOther
		if exp, i, ok = exponent(text, i+1); !ok {
			return i, 0, false
		}
	}
	switch {
	case i-start > limit:
		f = formLong
	case exp > maxExponent || exp < -maxExponent:
		f = formExponent
	case n+exp >= 309 && !finite(text[start:i]): // fewer digits before the point are below 1e308
		f = formRange
	}
	return i, f, true
}

// small finds the end of an integer of at most 15 digits that nothing of a longer number follows, i when it is none: most
// numbers are.
func small(text []byte, i int) int {
	start, first := i, text[i]
	for i < len(text) && text[i]-'0' <= 9 {
		i++
	}
	if n := i - start; n > 15 || n == 0 || n > 1 && first == '0' || i < len(text) && (text[i] == '.' || text[i]|0x20 == 'e') {
		return start
	}
	return i
}

func digits(text []byte, i int) int {
	for i < len(text) && text[i]-'0' <= 9 {
		i++
	}
	return i
}

// exponent reads what follows the e; value stops growing above maxExponent.
func exponent(text []byte, i int) (value, end int, ok bool) {
	negative := false
	if i < len(text) && (text[i] == '+' || text[i] == '-') {
		negative = text[i] == '-'
		i++
	}
	first := i
	for ; i < len(text) && text[i]-'0' <= 9; i++ {
		if value <= maxExponent {
			value = value*10 + int(text[i]-'0')
		}
	}
	if negative {
		value = -value
	}
	return value, i, i > first
}

func finite(token []byte) bool {
	f, err := strconv.ParseFloat(string(token), 64)
	return err == nil && !math.IsInf(f, 0)
}

// appendToken writes the canonical form of a number's text, which scanNumber found to be small or other.
func appendToken(dst, token []byte, f form) []byte {
	if f == formSmall {
		if len(token) == 2 && token[0] == '-' && token[1] == '0' {
			return append(dst, '0')
		}
		return append(dst, token...)
	}
	v, _ := strconv.ParseFloat(string(token), 64) // correctly rounded, and finite: scanNumber has looked
	return AppendFloat(dst, v)
}

// AppendFloat writes a finite number as ECMAScript's Number::toString does (RFC 8785 section 3.2.2.3, ECMA-262 section
// 6.1.6.1.20): the shortest digits that read back as the same number, of several the closest. It panics for NaN and
// infinities, which JSON does not have; Append refuses them.
func AppendFloat(dst []byte, f float64) []byte {
	switch abs := math.Abs(f); {
	case math.IsNaN(f) || math.IsInf(f, 0):
		panic("canon: JSON has no number " + strconv.FormatFloat(f, 'g', -1, 64))
	case f == 0: // -0 too
		return append(dst, '0')
	case abs >= 1e-6 && abs < 1e21:
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	mark := len(dst)
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64) // "1e-07": ECMAScript has no zero before the exponent's digits
	if n := len(dst); n-mark >= 4 && dst[n-2] == '0' && (dst[n-3] == '-' || dst[n-3] == '+') {
		dst = append(dst[:n-2], dst[n-1])
	}
	return dst
}
