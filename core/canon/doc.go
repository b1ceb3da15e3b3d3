package canon

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// Kind of a JSON value.
type Kind uint8

// Kinds.
const (
	Null Kind = iota
	False
	True
	Number
	String
	Array
	Object
)

// node is one value or member name. Of an array or object, from and to are a part of order: the nodes of its items, or of
// its member names in canonical order, each followed by its value. Of a string they are a part of the arena when it had
// escapes, else of the text; of everything else a part of the text.
type node struct {
	kind     Kind
	form     form
	decoded  bool
	flat     bool // an array whose items are from, from+1, … to-1
	from, to uint32
	at       uint32 // offset of arrays, objects and decoded strings
}

// Doc is one JSON value as it was read. Its values are numbered; Root is the whole. A Doc is not changed by its methods,
// and several goroutines may use it.
type Doc struct {
	text  []byte
	nodes []node
	order []uint32
	arena []byte
	open  []uint32 // children of what is being read
	keys  []keyed  // of what is being sorted
	model *fault.Error
}

// Root is the whole value.
const Root = 0

// Model says what has no canonical form: the first number beyond binary64, absurd exponent, endless number or half of a
// surrogate pair (codes CodeRange, CodeExponent, CodeNumberLong, CodeSurrogate), nil when there is none. It belongs to
// RFC 8785 section 3.1, not to the grammar.
func (d *Doc) Model() error {
	if d.model == nil {
		return nil
	}
	return d.model
}

// Kind of value n.
func (d *Doc) Kind(n int) Kind { return d.nodes[n].kind }

// Text is the value of a string with its escapes decoded (an unpaired surrogate as three bytes of generalized UTF-8), and
// the text of anything else that is no array or object. It must not be changed.
func (d *Doc) Text(n int) []byte {
	e := &d.nodes[n]
	switch {
	case e.decoded:
		return d.arena[e.from:e.to:e.to]
	case e.kind < Array:
		return d.text[e.from:e.to:e.to]
	}
	return nil
}

// Len is the number of items of an array or members of an object, 0 of anything else.
func (d *Doc) Len(n int) int {
	if e := &d.nodes[n]; e.kind >= Array {
		return int(e.to - e.from)
	}
	return 0
}

// Item is the i-th item of an array, or the i-th member of an object in canonical order of the names; name is nil for an
// array.
func (d *Doc) Item(n, i int) (name []byte, value int) {
	e := &d.nodes[n]
	if e.flat {
		return nil, int(e.from) + i
	}
	child := int(d.order[int(e.from)+i])
	if e.kind == Object {
		return d.Text(child), child + 1
	}
	return nil, child
}

// Member finds a member of an object by name.
func (d *Doc) Member(n int, name string) (value int, ok bool) {
	if d.nodes[n].kind != Object {
		return 0, false
	}
	lo, hi := 0, d.Len(n)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		have, value := d.Item(n, mid)
		if string(have) == name {
			return value, true
		}
		if Compare(have, name) < 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return 0, false
}

// offset of value n in the text.
func (d *Doc) offset(n int) int {
	e := &d.nodes[n]
	switch {
	case e.kind >= Array || e.decoded:
		return int(e.at)
	case e.kind == String:
		return int(e.from) - 1
	}
	return int(e.from)
}

// Position of value n in the text: line and column from 1, columns in characters.
func (d *Doc) Position(n int) (line, column int) { return position(d.text, d.offset(n)) }

// Append appends the canonical form of the whole (RFC 8785). It fails with the codes of Model alone, and then returns dst
// as it was.
func (d *Doc) Append(dst []byte) ([]byte, error) {
	if d.model != nil {
		return dst, d.model
	}
	return d.emit(dst, Root), nil
}

// AppendWithout is Append of an object without one of its members: what a signature beside the signed members covers.
// Members of that name further inside stay. Of anything but an object it is Append.
func (d *Doc) AppendWithout(dst []byte, name string) ([]byte, error) {
	if d.model != nil {
		return dst, d.model
	}
	if d.Kind(Root) != Object {
		return d.emit(dst, Root), nil
	}
	return d.members(dst, Root, name, true), nil
}

// AppendValue appends the canonical form of value n alone; fails as Append does.
func (d *Doc) AppendValue(dst []byte, n int) ([]byte, error) {
	if d.model != nil {
		return dst, d.model
	}
	return d.emit(dst, n), nil
}

func (d *Doc) emit(dst []byte, n int) []byte {
	e := &d.nodes[n]
	switch e.kind {
	case Number:
		return appendToken(dst, d.text[e.from:e.to], e.form)
	case String:
		return d.quote(dst, e)
	case Object:
		return d.members(dst, n, "", false)
	case Array:
		if e.form == formBare {
			return append(dst, d.text[e.at:d.nodes[e.to-1].to+1]...)
		}
		dst = append(dst, '[')
		for i := range d.Len(n) {
			if i > 0 {
				dst = append(dst, ',')
			}
			_, child := d.Item(n, i)
			dst = d.emit(dst, child)
		}
		return append(dst, ']')
	}
	return append(dst, d.text[e.from:e.to]...)
}

// quote writes a string; without escapes its text is its canonical form already.
func (d *Doc) quote(dst []byte, e *node) []byte {
	if e.decoded {
		return AppendString(dst, d.arena[e.from:e.to])
	}
	return append(dst, d.text[e.from-1:e.to+1]...)
}

func (d *Doc) members(dst []byte, n int, without string, skip bool) []byte {
	e := &d.nodes[n]
	dst = append(dst, '{')
	first := true
	for _, child := range d.order[e.from:e.to] {
		if skip && string(d.Text(int(child))) == without {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(d.quote(dst, &d.nodes[child]), ':')
		dst = d.emit(dst, int(child)+1)
	}
	return append(dst, '}')
}

// Any is value n as encoding/json would give it with UseNumber: nil, bool, json.Number, string, []any, map[string]any. An
// unpaired surrogate becomes U+FFFD.
func (d *Doc) Any(n int) any {
	switch k := d.Kind(n); k {
	case False, True:
		return k == True
	case Number:
		return json.Number(d.Text(n))
	case String:
		return printable(d.Text(n))
	case Array:
		out := make([]any, d.Len(n))
		for i := range out {
			_, child := d.Item(n, i)
			out[i] = d.Any(child)
		}
		return out
	case Object:
		out := make(map[string]any, d.Len(n))
		for i := range d.Len(n) {
			name, child := d.Item(n, i)
			out[printable(name)] = d.Any(child)
		}
		return out
	}
	return nil
}

// Pointer is the JSON Pointer (RFC 6901) of value n, "" of the whole.
func (d *Doc) Pointer(n int) string {
	var path strings.Builder
	for at := Root; at != n; {
		next, step := -1, ""
		for i := range d.Len(at) { // the last child that does not begin after n is n or holds it
			name, child := d.Item(at, i)
			if child <= n && child > next {
				next, step = child, fmt.Sprint(i)
				if name != nil || d.Kind(at) == Object {
					step = strings.ReplaceAll(strings.ReplaceAll(printable(name), "~", "~0"), "/", "~1")
				}
			}
		}
		if next < 0 {
			break
		}
		path.WriteString("/" + step)
		at = next
	}
	return path.String()
}

func printable(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }

func invalid(b []byte) bool {
	r, n := utf8.DecodeRune(b)
	return r == utf8.RuneError && n <= 1
}
