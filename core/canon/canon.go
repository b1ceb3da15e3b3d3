// Package canon is the one place for canonical JSON: equal values give equal bytes, so that they can be hashed, chained and
// signed (Audit Log, applied configuration, Signed Documents).
//
// It reads strictly (RFC 8259 and the I-JSON rules of RFC 7493: one value, valid UTF-8, no byte order mark, no two equal
// member names, bounded depth, size and numbers) and writes RFC 8785: no white space, names sorted by UTF-16 code units, the
// shortest escapes, numbers as ECMAScript writes finite binary64. MissionWeave D1, D7 and are these rules.
//
//	Read, Reader  a text becomes a Doc, which tells what the text holds and appends its canonical form
//	Append        Go values become canonical text
//
// It never guesses and never repairs: what JSON cannot hold (NaN, integers that binary64 would change, invalid UTF-8) is an
// error, and strings are not normalised. The cost of a text is linear in its length, whatever it holds.
package canon

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// maxDepth bounds nesting of Go values, and of the texts of Parse and Canonical.
const maxDepth = 200

// maxSafe is the largest integer that binary64 holds with all smaller ones (RFC 7493 section 2.2).
const maxSafe = 1<<53 - 1

// ours are the limits for texts that this program wrote itself.
func ours(text []byte) Limits {
	return Limits{Bytes: len(text), Depth: maxDepth, Nodes: len(text)}
}

// Canonical rewrites a JSON text in its canonical form. Its length is not bounded; the other limits are Read's defaults
// or above.
func Canonical(text []byte) ([]byte, error) {
	d, err := Read(text, ours(text))
	if err != nil {
		return nil, err
	}
	out, err := d.Append(make([]byte, 0, len(text)))
	if err != nil {
		return nil, err
	}
	return out, nil
}

// IsCanonical reports whether text is exactly the canonical form of what it says.
func IsCanonical(text []byte) bool {
	c, err := Canonical(text)
	return err == nil && bytes.Equal(c, text)
}

// Parse reads what has a canonical form as encoding/json would with UseNumber: nil, bool, json.Number, string, []any,
// map[string]any. Errors are those of Read and Doc.Model.
func Parse(text []byte) (any, error) {
	d, err := Read(text, ours(text))
	if err != nil {
		return nil, err
	}
	if err := d.Model(); err != nil {
		return nil, err
	}
	return d.Any(Root), nil
}

// Marshal returns the canonical form of any value that encoding/json can write, structs and their tags included.
func Marshal(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fault.Wrap(err, CodeValue, "detail", err.Error())
	}
	return Canonical(raw)
}

// Append appends the canonical form of v to dst. v is made of nil, bool, string, all integer types, float32/64,
// json.Number, []any, []string and map[string]any; anything else goes through Marshal. On error (CodeValue, and
// for what goes through Marshal those of Parse) dst is returned as it was.
//
// An integer beyond ±(2^53-1) is refused: binary64 would silently change it. Write it as a string (RFC 7493 section 2.2).
func Append(dst []byte, v any) ([]byte, error) {
	out, err := appendValue(dst, v, 0)
	if err != nil {
		return dst, err
	}
	return out, nil
}

func unfit(format string, args ...any) error {
	return fault.New(CodeValue, "detail", fmt.Sprintf(format, args...))
}

func appendValue(dst []byte, v any, depth int) ([]byte, error) {
	if depth > maxDepth {
		return nil, unfit("nested deeper than %d", maxDepth)
	}
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...), nil
	case bool:
		return strconv.AppendBool(dst, v), nil
	case string:
		return appendText(dst, v)
	case int:
		return appendInt(dst, int64(v))
	case int64:
		return appendInt(dst, v)
	case int32:
		return appendInt(dst, int64(v))
	case int16:
		return appendInt(dst, int64(v))
	case int8:
		return appendInt(dst, int64(v))
	case uint:
		return appendUint(dst, uint64(v))
	case uint64:
		return appendUint(dst, v)
	case uint32:
		return appendUint(dst, uint64(v))
	case uint16:
		return appendUint(dst, uint64(v))
	case uint8:
		return appendUint(dst, uint64(v))
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
		return nil, fault.Wrap(err, CodeValue, "detail", err.Error())
	}
	parsed, err := Parse(raw)
	if err != nil {
		return nil, err
	}
	return appendValue(dst, parsed, depth)
}

func appendText(dst []byte, s string) ([]byte, error) {
	if !utf8.ValidString(s) {
		return nil, unfit("%q is not valid UTF-8", s)
	}
	return AppendString(dst, s), nil
}

func appendInt(dst []byte, n int64) ([]byte, error) {
	if n > maxSafe || n < -maxSafe {
		return nil, unfit("binary64 does not hold the integer %d", n)
	}
	return strconv.AppendInt(dst, n, 10), nil
}

func appendUint(dst []byte, n uint64) ([]byte, error) {
	if n > maxSafe {
		return nil, unfit("binary64 does not hold the integer %d", n)
	}
	return strconv.AppendUint(dst, n, 10), nil
}

func appendFloat(dst []byte, f float64) ([]byte, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, unfit("JSON has no number %v", f)
	}
	return AppendFloat(dst, f), nil
}

// appendNumber writes a JSON number text.
func appendNumber(dst []byte, s string) ([]byte, error) {
	if s == "" || s[0] != '-' && s[0]-'0' > 9 {
		return nil, unfit("%q is no number", s)
	}
	end, f, ok := scanNumber([]byte(s), 0, Limits{}.filled().Number)
	switch {
	case !ok || end != len(s):
		return nil, unfit("%q is no number", s)
	case f == formLong:
		return nil, unfit("a number of %d characters", len(s))
	case f != formSmall && f != formOther:
		return nil, unfit("binary64 does not hold the number %s", s)
	}
	return appendToken(dst, []byte(s), f), nil
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
	names := make([]string, 0, len(m))
	for name := range m { // order is made explicit below
		names = append(names, name)
	}
	slices.SortFunc(names, Compare[string, string])
	dst = append(dst, '{')
	var err error
	for i, name := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = appendText(dst, name); err != nil {
			return nil, err
		}
		if dst, err = appendValue(append(dst, ':'), m[name], depth+1); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}
