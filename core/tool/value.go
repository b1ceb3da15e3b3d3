package tool

import (
	"bytes"
	"encoding/json"
	"io"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agent-mcp/agent-mcp/core/near"
	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// maxNumber bounds every integer argument: lines, entries, seconds.
const maxNumber = 1 << 40

// value is one converted argument.
type value struct {
	text   string
	flag   bool
	number int64
	list   []string
}

// raw is one JSON value as it came.
type raw json.RawMessage

func (r raw) isNull() bool { return string(r) == "null" }

// member is one name with its value, in the order of the object.
type member struct {
	name string
	raw  raw
}

// object splits a JSON object, keeping doubled names. Empty input and null are an empty object. bad says why it is none.
func object(data []byte) (members []member, bad string) {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || string(data) == "null" {
		return nil, ""
	}
	d := json.NewDecoder(bytes.NewReader(data))
	tok, err := d.Token()
	if err != nil {
		return nil, "not valid JSON: " + show(err.Error())
	}
	if tok != json.Delim('{') {
		return nil, "it is " + describe(data)
	}
	for d.More() {
		tok, err := d.Token()
		if err != nil {
			return nil, "not valid JSON: " + show(err.Error())
		}
		name, _ := tok.(string)
		var r json.RawMessage
		if err := d.Decode(&r); err != nil {
			return nil, "not valid JSON: " + show(err.Error())
		}
		members = append(members, member{name, raw(r)})
	}
	if _, err := d.Token(); err != nil {
		return nil, "not valid JSON: " + show(err.Error())
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, "something follows the object"
	}
	return members, ""
}

// describe names a JSON value's type for a message.
func describe(r []byte) string {
	switch r[0] {
	case '"':
		return "a string"
	case '[':
		return "a list"
	case '{':
		return "an object"
	case 't', 'f':
		return "true or false"
	}
	return "a number"
}

// convert makes one argument of the wanted kind, losing nothing.
func convert(name Name, f field, r raw) (value, *fault.Error) {
	wrong := func() (value, *fault.Error) {
		return value{}, fault.New(CodeFieldType, "tool", string(name), "field", f.name, "want", f.kind.String(), "got", describe(r))
	}
	switch f.kind {
	case flag:
		switch strings.ToLower(strings.Trim(string(r), `"`)) {
		case "true":
			return value{flag: true}, nil
		case "false":
			return value{}, nil
		}
		return wrong()
	case number:
		n, ok := integer(strings.TrimSpace(unquoted(r)))
		if !ok {
			return wrong()
		}
		if n < 0 || n > maxNumber {
			return value{}, fault.New(CodeFieldValue, "tool", string(name), "field", f.name, "detail", "is out of range: 0 or more")
		}
		return value{number: n}, nil
	case list:
		items, ok := texts(r)
		if !ok {
			return wrong()
		}
		return checkList(name, f, items)
	}
	s, ok := scalar(r)
	if !ok {
		return wrong()
	}
	if reason := checkText(name, f, s); reason != nil {
		return value{}, reason
	}
	return value{text: s}, nil
}

func unquoted(r raw) string {
	var s string
	if json.Unmarshal(r, &s) == nil {
		return s
	}
	return string(r)
}

// integer reads a whole number in any JSON spelling (5, 5.0, 5e0); never rounds.
func integer(s string) (int64, bool) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, true
	}
	if len(s) == 0 || len(s) > 32 || strings.ContainsAny(s, "xXpP_/") {
		return 0, false
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		if exp, err := strconv.Atoi(s[i+1:]); err != nil || exp > 18 || exp < -18 {
			return 0, false
		}
	}
	v, ok := new(big.Rat).SetString(s)
	if !ok || !v.IsInt() || !v.Num().IsInt64() {
		return 0, false
	}
	return v.Num().Int64(), true
}

// scalar is text as it is, or a number or boolean by its own spelling.
func scalar(r raw) (string, bool) {
	switch r[0] {
	case '"':
		var s string
		if json.Unmarshal(r, &s) != nil {
			return "", false
		}
		if replaced(r, s) {
			return "\x00", true // refused as badly encoded
		}
		return s, true
	case '[', '{', 'n':
		return "", false
	}
	return string(r), true
}

// replaced reports whether encoding/json lost something: invalid UTF-8 or half a surrogate pair became U+FFFD.
func replaced(r raw, s string) bool {
	if !strings.ContainsRune(s, utf8.RuneError) {
		return false
	}
	whole := strings.Count(string(r), "\uFFFD") + strings.Count(strings.ToLower(string(r)), `\ufffd`)
	return !utf8.Valid(r) || strings.Count(s, "\uFFFD") > whole
}

// texts is a list of scalars; a list written inside a string; or one bare word.
func texts(r raw) ([]string, bool) {
	if r[0] == '"' {
		s := strings.TrimSpace(unquoted(r))
		if strings.HasPrefix(s, "[") {
			if !json.Valid([]byte(s)) {
				return nil, false
			}
			return texts(raw(s))
		}
		if s == "" {
			return nil, true
		}
		if strings.ContainsAny(s, " \t\r\n\"'\\") {
			return nil, false // splitting words is a shell's guess
		}
		return []string{s}, true
	}
	if r[0] != '[' {
		return nil, false
	}
	var items []json.RawMessage
	if json.Unmarshal(r, &items) != nil {
		return nil, false
	}
	out := make([]string, 0, len(items))
	for _, it := range items {
		s, ok := scalar(raw(it))
		if !ok {
			return nil, false
		}
		out = append(out, s)
	}
	return out, true
}

func checkList(name Name, f field, items []string) (value, *fault.Error) {
	if len(items) > MaxArgs {
		return value{}, fault.New(CodeFieldTooLarge, "tool", string(name), "field", f.name, "size", len(items), "limit", MaxArgs)
	}
	for _, s := range items {
		if strings.ContainsRune(s, 0) || !utf8.ValidString(s) {
			return value{}, fault.New(CodeFieldEncoding, "tool", string(name), "field", f.name)
		}
	}
	return value{list: items}, nil
}

func checkText(name Name, f field, s string) *fault.Error {
	limit := MaxArgumentBytes
	switch {
	case f.kind == line:
		limit = MaxPathBytes
	case f.name == "pattern" || f.name == "glob":
		limit = MaxPatternBytes
	}
	switch {
	case !utf8.ValidString(s) || strings.ContainsRune(s, 0):
		return fault.New(CodeFieldEncoding, "tool", string(name), "field", f.name)
	case len(s) > limit:
		return fault.New(CodeFieldTooLarge, "tool", string(name), "field", f.name, "size", len(s), "limit", limit)
	case f.kind == line && strings.TrimSpace(s) == "":
		if f.required {
			return fault.New(CodeFieldValue, "tool", string(name), "field", f.name, "detail", "is empty")
		}
	}
	return nil
}

// maxCompared is the longest name in bytes that is compared: those of tools and fields are short.
const maxCompared = 40

// nearest returns the known name closest to name, "" when none is near: at most a third of its length in edits, or one
// contains the other.
func nearest(name string, known []string) string {
	name = strings.ToLower(name)
	best, bestDistance := "", 1<<30
	for _, k := range known {
		d := 1 << 20
		if len(name) <= maxCompared {
			d = near.Distance(name, k)
		}
		if len(name) >= 3 && (strings.Contains(k, name) || strings.Contains(name, k)) {
			d = min(d, 1)
		}
		if d < bestDistance {
			best, bestDistance = k, d
		}
	}
	if bestDistance > max(2, len(best)/3) || bestDistance >= len(best) {
		return ""
	}
	return best
}
