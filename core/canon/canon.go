// Package canon writes canonical JSON: equal values give equal bytes, so that they can be hashed, chained and signed
// (audit, applied configuration, later signatures). The form is RFC 8785: no white space, keys sorted by UTF-16 code
// units, the shortest escapes, ECMAScript numbers; with two differences that make it total and exact: integers outside
// ±2^53 keep all their digits, and invalid UTF-8 becomes U+FFFD.
//
// It never guesses: values that JSON cannot hold (NaN, infinities, channels…) and objects with two equal keys are
// errors.
package canon

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth bounds nesting, in values and in texts.
const maxDepth = 200

// Append appends the canonical form of v to dst. v is made of nil, bool, string, all integer types, float32/64,
// json.Number, []any, []string and map[string]any; anything else goes through Marshal. On error dst is returned as it
// was.
func Append(dst []byte, v any) ([]byte, error) {
	out, err := appendValue(dst, v, 0)
	if err != nil {
		return dst, err
	}
	return out, nil
}

// Marshal returns the canonical form of any value that encoding/json can write, structs and their tags included.
func Marshal(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("canon: %w", err)
	}
	return Canonical(raw)
}

// Canonical rewrites a JSON text in its canonical form.
func Canonical(text []byte) ([]byte, error) {
	v, err := Parse(text)
	if err != nil {
		return nil, err
	}
	return Append(make([]byte, 0, len(text)), v)
}

// IsCanonical reports whether text is exactly the canonical form of what it says.
func IsCanonical(text []byte) bool {
	c, err := Canonical(text)
	return err == nil && bytes.Equal(c, text)
}

func appendValue(dst []byte, v any, depth int) ([]byte, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("canon: nested deeper than %d", maxDepth)
	}
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...), nil
	case bool:
		return strconv.AppendBool(dst, v), nil
	case string:
		return AppendString(dst, v), nil
	case int:
		return strconv.AppendInt(dst, int64(v), 10), nil
	case int64:
		return strconv.AppendInt(dst, v, 10), nil
	case int32:
		return strconv.AppendInt(dst, int64(v), 10), nil
	case int16:
		return strconv.AppendInt(dst, int64(v), 10), nil
	case int8:
		return strconv.AppendInt(dst, int64(v), 10), nil
	case uint:
		return strconv.AppendUint(dst, uint64(v), 10), nil
	case uint64:
		return strconv.AppendUint(dst, v, 10), nil
	case uint32:
		return strconv.AppendUint(dst, uint64(v), 10), nil
	case uint16:
		return strconv.AppendUint(dst, uint64(v), 10), nil
	case uint8:
		return strconv.AppendUint(dst, uint64(v), 10), nil
	case float64:
		return appendFloat(dst, v)
	case float32:
		return appendFloat(dst, float64(v))
	case json.Number:
		return appendNumber(dst, string(v))
	case []string:
		return appendList(dst, v, depth)
	case []any:
		return appendList(dst, v, depth)
	case map[string]any:
		return appendMap(dst, v, depth)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("canon: %w", err)
	}
	parsed, err := Parse(raw)
	if err != nil {
		return nil, err
	}
	return appendValue(dst, parsed, depth)
}

func appendList[T any](dst []byte, items []T, depth int) ([]byte, error) {
	dst = append(dst, '[')
	var err error
	for i, item := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = appendValue(dst, item, depth+1); err != nil {
			return nil, err
		}
	}
	return append(dst, ']'), nil
}

func appendMap(dst []byte, m map[string]any, depth int) ([]byte, error) {
	type member struct {
		key   string // valid UTF-8
		units []uint16
		value any
	}
	members := make([]member, 0, len(m))
	for k, v := range m { // order is made explicit below
		k = strings.ToValidUTF8(k, "\uFFFD")
		members = append(members, member{k, utf16.Encode([]rune(k)), v})
	}
	slices.SortFunc(members, func(a, b member) int { return slices.Compare(a.units, b.units) })
	dst = append(dst, '{')
	var err error
	for i, e := range members {
		if i > 0 {
			if e.key == members[i-1].key {
				return nil, fmt.Errorf("canon: two keys are %q", e.key)
			}
			dst = append(dst, ',')
		}
		dst = append(AppendString(dst, e.key), ':')
		if dst, err = appendValue(dst, e.value, depth+1); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

// AppendString appends s as a JSON string: only '"', '\' and control characters are escaped; each run of invalid UTF-8
// becomes U+FFFD.
func AppendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	dst = append(dst, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
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
			if c < 0x20 {
				dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			} else {
				dst = append(dst, c)
			}
		}
	}
	return append(dst, '"')
}

// appendFloat writes a float the way ECMAScript does (RFC 8785 section 3.2.2.3).
func appendFloat(dst []byte, f float64) ([]byte, error) {
	switch abs := math.Abs(f); {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return nil, fmt.Errorf("canon: JSON has no number %v", f)
	case f == 0:
		return append(dst, '0'), nil
	case abs >= 1e-6 && abs < 1e21:
		return strconv.AppendFloat(dst, f, 'f', -1, 64), nil
	}
	mark := len(dst)
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64) // "1e-07": ECMAScript has no zero before the exponent's digits
	if n := len(dst); n-mark >= 4 && dst[n-2] == '0' && (dst[n-3] == '-' || dst[n-3] == '+') {
		dst = append(dst[:n-2], dst[n-1])
	}
	return dst, nil
}

// appendNumber writes a JSON number text: integers keep every digit, the rest goes through float64.
func appendNumber(dst []byte, s string) ([]byte, error) {
	if !json.Valid([]byte(s)) || s == "" || s[0] != '-' && (s[0] < '0' || s[0] > '9') {
		return nil, fmt.Errorf("canon: %q is no number", s)
	}
	if !strings.ContainsAny(s, ".eE") {
		if s == "-0" {
			s = "0"
		}
		return append(dst, s...), nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return nil, fmt.Errorf("canon: %w", err)
	}
	return appendFloat(dst, f)
}
