package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"
)

// MaxMembers bounds what one object that we read may hold; the largest legal one has a handful.
const MaxMembers = 1024

// Member is one key and its value, still encoded, of an object.
type Member struct {
	Key   string
	Value json.RawMessage
}

// Members are those of one object, in the order of the wire, every key once.
type Members []Member

// Get returns the value under exactly this key, nil when there is none.
func (m Members) Get(key string) json.RawMessage {
	for i := range m {
		if m[i].Key == key {
			return m[i].Value
		}
	}
	return nil
}

// Variant finds a key that equals one of the known ones except for its case, as a decoder that ignores case would match
// it (the long s and the Kelvin sign included).
func (m Members) Variant(known ...string) (got, want string, found bool) {
	for i := range m {
		for _, k := range known {
			if m[i].Key != k && strings.EqualFold(m[i].Key, k) {
				return m[i].Key, k, true
			}
		}
	}
	return "", "", false
}

// DuplicateError names the keys that an object holds more than once, in the order of their repetition.
type DuplicateError struct{ Keys []string }

func (e *DuplicateError) Error() string { return "duplicate key " + e.Keys[0] }

// Errors of reading values.
var (
	ErrNotObject = errors.New("not an object")
	ErrTooMany   = errors.New("too many members")
	ErrNotString = errors.New("not a string")
	ErrNotText   = errors.New("invalid UTF-8 or a lone surrogate")
)

// Object splits one valid JSON object into its members without decoding their values. Keys are compared after
// decoding, so an escaped spelling is a duplicate too. Beside a DuplicateError the first of each key is returned.
func Object(raw json.RawMessage) (Members, error) {
	i := space(raw, 0)
	if i >= len(raw) || raw[i] != '{' {
		return nil, ErrNotObject
	}
	var (
		all  = make(Members, 0, 8)
		seen map[string]struct{} // only for objects too big to compare key by key
		dups *DuplicateError
	)
	for i = space(raw, i+1); raw[i] != '}'; i = space(raw, i) {
		if raw[i] == ',' {
			i = space(raw, i+1)
		}
		end := stringEnd(raw, i)
		key := lax(raw[i:end])
		start := space(raw, space(raw, end)+1)
		i = valueEnd(raw, start)
		if len(all) == MaxMembers {
			return all, ErrTooMany
		}
		if len(all) == 16 {
			seen = make(map[string]struct{}, 64)
			for _, m := range all {
				seen[m.Key] = struct{}{}
			}
		}
		_, dup := seen[key]
		if seen == nil {
			dup = all.Get(key) != nil
		} else {
			seen[key] = struct{}{}
		}
		if dup {
			if dups == nil {
				dups = &DuplicateError{}
			}
			if len(dups.Keys) < MaxMembers {
				dups.Keys = append(dups.Keys, key)
			}
			continue
		}
		all = append(all, Member{Key: key, Value: raw[start:i:i]})
	}
	if dups != nil {
		return all, dups
	}
	return all, nil
}

// Elements calls yield for each element of a valid JSON array, until it returns false. ok is false for anything else.
func Elements(raw json.RawMessage, yield func(i int, value json.RawMessage) bool) (ok bool) {
	i := space(raw, 0)
	if i >= len(raw) || raw[i] != '[' {
		return false
	}
	n := 0
	for i = space(raw, i+1); raw[i] != ']'; i = space(raw, i) {
		if raw[i] == ',' {
			i = space(raw, i+1)
		}
		end := valueEnd(raw, i)
		if !yield(n, raw[i:end:end]) {
			return true
		}
		i, n = end, n+1
	}
	return true
}

// Text decodes a JSON string strictly: ErrNotString, or ErrNotText where a lax decoder would put U+FFFD.
func Text(raw json.RawMessage) (string, error) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", ErrNotString
	}
	if !utf8.Valid(raw) || loneSurrogate(raw) {
		return "", ErrNotText
	}
	return lax(raw), nil
}

// IsNull reports whether raw is absent or the literal null.
func IsNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// Depth is the number of arrays and objects that enclose the innermost value.
func Depth(raw []byte) int {
	depth, deepest := 0, 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			i = stringEnd(raw, i) - 1
		case '{', '[':
			depth++
			deepest = max(deepest, depth)
		case '}', ']':
			depth--
		}
	}
	return deepest
}

// lax decodes a valid JSON string; what is no text becomes U+FFFD.
func lax(raw []byte) string {
	if inner := raw[1 : len(raw)-1]; bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner)
	}
	var s string
	_ = json.Unmarshal(raw, &s) // valid by precondition
	return s
}

// loneSurrogate finds an escaped UTF-16 surrogate without its partner in a valid JSON string.
func loneSurrogate(raw []byte) bool {
	for i := 0; ; i++ {
		escape := bytes.IndexByte(raw[i:], '\\')
		if escape < 0 {
			return false
		}
		i += escape + 1
		if raw[i] != 'u' {
			continue
		}
		switch u := hex4(raw[i+1:]); {
		case u >= 0xDC00 && u < 0xE000:
			return true
		case u >= 0xD800 && u < 0xDC00:
			low := raw[i+5:]
			if len(low) < 6 || low[0] != '\\' || low[1] != 'u' {
				return true
			}
			if l := hex4(low[2:]); l < 0xDC00 || l >= 0xE000 {
				return true
			}
			i += 6
		}
		i += 4
	}
}

func hex4(b []byte) (v int) {
	for _, c := range b[:4] {
		v <<= 4
		switch {
		case c <= '9':
			v |= int(c - '0')
		default:
			v |= int(c|0x20-'a') + 10
		}
	}
	return v
}

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// stringEnd returns the index after the closing quote of the string that starts at i. Each byte is looked at twice at most.
func stringEnd(b []byte, i int) int {
	i++
	quote := i + bytes.IndexByte(b[i:], '"')
	for {
		escape := bytes.IndexByte(b[i:quote], '\\')
		if escape < 0 {
			return quote + 1
		}
		if i += escape + 2; i > quote {
			quote = i + bytes.IndexByte(b[i:], '"')
		}
	}
}

// valueEnd returns the index after the value that starts at i. It never recurses.
func valueEnd(b []byte, i int) int {
	switch b[i] {
	case '"':
		return stringEnd(b, i)
	case '{', '[':
		for depth := 0; ; i++ {
			switch b[i] {
			case '"':
				i = stringEnd(b, i) - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
	}
	for i < len(b) && !strings.ContainsRune(",]} \t\r\n", rune(b[i])) {
		i++
	}
	return i
}
