package canon

import (
	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// Limits bound what a text may cost before it is trusted. A zero field is its default. They are this program's own: the
// standards have none.
type Limits struct {
	Bytes  int // of the text; default 1 MiB, at most 1 GiB
	Depth  int // arrays and objects within each other; default 128, at most 1,000
	Nodes  int // values and member names; default 100,000
	Number int // characters of one number; default 64, at most 1,000
}

func (l Limits) filled() Limits {
	set := func(v *int, normal, most int) {
		if *v <= 0 {
			*v = normal
		}
		*v = min(*v, most)
	}
	set(&l.Bytes, 1<<20, 1<<30)
	set(&l.Depth, 128, 1000)
	set(&l.Nodes, 100_000, 1<<30)
	set(&l.Number, 64, 1000)
	return l
}

// Read reads exactly one strict JSON value: RFC 8259 in UTF-8 without a byte order mark, nothing after it, no object with
// two equal member names, within the limits. The text is read once and is kept by the Doc: it must not change while the
// Doc is used. Errors are a *fault.Error with one of the codes above.
//
// What is valid JSON but has no canonical form (a number beyond binary64, half of a surrogate pair) is no error here: the
// Doc keeps it and says so (Doc.Model), because whoever verifies a document must tell the two apart.
func Read(text []byte, l Limits) (*Doc, error) {
	var d Doc
	if f := d.read(text, l); f != nil {
		return nil, f
	}
	return &d, nil
}

// Reader reads one text after the other into the same memory. The zero value is ready. It is for one goroutine.
type Reader struct{ doc Doc }

// Read is as the function Read; the Doc is good until the next call.
func (r *Reader) Read(text []byte, l Limits) (*Doc, error) {
	if f := r.doc.read(text, l); f != nil {
		return nil, f
	}
	return &r.doc, nil
}

// read fills d. The arrays of an earlier reading are used again unless they grew beyond what is worth keeping.
func (d *Doc) read(text []byte, l Limits) *fault.Error {
	const keep = 1 << 17 // nodes; more than the default limit
	if cap(d.nodes) > keep || cap(d.arena) > keep*16 {
		*d = Doc{}
	}
	d.text, d.model = text, nil
	d.nodes, d.order, d.arena, d.open, d.keys = d.nodes[:0], d.order[:0], d.arena[:0], d.open[:0], d.keys[:0]
	l = l.filled()
	if len(text) > l.Bytes {
		return fault.New(CodeTooLarge, "bytes", len(text), "limit", l.Bytes)
	}
	if len(text) >= 3 && text[0] == 0xef && text[1] == 0xbb && text[2] == 0xbf {
		return fault.New(CodeBOM)
	}
	if d.nodes == nil {
		guess := len(text)/16 + 4
		d.nodes, d.order = make([]node, 0, guess), make([]uint32, 0, guess)
	}
	p := parser{Doc: d, limits: l}
	i, f := p.value(space(text, 0), 0)
	if f != nil {
		return f
	}
	if i = space(text, i); i < len(text) {
		return p.fail(i, CodeTrailing)
	}
	return nil
}

type parser struct {
	*Doc
	limits Limits
}

// fail names a place. A byte that is no UTF-8 is called that, whatever stood in its way: outside a string the grammar
// breaks there as well.
func (p *parser) fail(i int, c fault.Code) *fault.Error {
	if (c == CodeSyntax || c == CodeTrailing) && i < len(p.text) && invalid(p.text[i:]) {
		c = CodeEncoding
	}
	if c == CodeSyntax && i >= len(p.text) {
		c = CodeTruncated
	}
	return at(p.text, i, c)
}

// space passes over white space; there is none in most places.
func space(text []byte, i int) int {
	if i < len(text) && text[i] > ' ' {
		return i
	}
	return spaces(text, i)
}

func spaces(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r') {
		i++
	}
	return i
}

// full is the failure of a text with too many values and names.
func (p *parser) full() *fault.Error { return fault.New(CodeTooMany, "limit", p.limits.Nodes) }

// refuse keeps the first thing that has no canonical form.
func (p *parser) refuse(i int, c fault.Code, kv ...any) {
	if p.model == nil {
		p.model = at(p.text, i, c, kv...)
	}
}

// value reads the value at text[i], which lies in depth arrays and objects, and returns where it ends.
func (p *parser) value(i, depth int) (int, *fault.Error) {
	switch {
	case i >= len(p.text):
		return i, p.fail(i, CodeTruncated)
	case len(p.nodes) >= p.limits.Nodes:
		return i, p.full()
	}
	switch c := p.text[i]; c {
	case '{', '[':
		if depth >= p.limits.Depth {
			return i, at(p.text, i, CodeTooDeep, "limit", p.limits.Depth)
		}
		if c == '{' {
			return p.object(i, depth)
		}
		return p.array(i, depth)
	case '"':
		return p.str(i)
	case 't':
		return p.word(i, "true", True)
	case 'f':
		return p.word(i, "false", False)
	case 'n':
		return p.word(i, "null", Null)
	}
	return p.number(i)
}

func (p *parser) word(i int, word string, k Kind) (int, *fault.Error) {
	for k := range len(word) {
		if i+k >= len(p.text) {
			return i + k, p.fail(i+k, CodeTruncated)
		}
		if p.text[i+k] != word[k] {
			return i + k, p.fail(i+k, CodeSyntax)
		}
	}
	p.nodes = append(p.nodes, node{kind: k, from: uint32(i), to: uint32(i + len(word))})
	return i + len(word), nil
}

func (p *parser) number(i int) (int, *fault.Error) {
	if c := p.text[i]; c != '-' && c-'0' > 9 {
		return i, p.fail(i, CodeSyntax)
	}
	if end := small(p.text, i); end > i {
		p.nodes = append(p.nodes, node{kind: Number, form: formSmall, from: uint32(i), to: uint32(end)})
		return end, nil
	}
	end, f, ok := scanNumber(p.text, i, p.limits.Number)
	if !ok {
		return end, p.fail(end, CodeSyntax)
	}
	switch f {
	case formRange:
		p.refuse(i, CodeRange)
	case formExponent:
		p.refuse(i, CodeExponent, "limit", maxExponent)
	case formLong:
		p.refuse(i, CodeNumberLong, "limit", p.limits.Number)
	}
	p.nodes = append(p.nodes, node{kind: Number, form: f, from: uint32(i), to: uint32(end)})
	return end, nil
}

func (p *parser) str(i int) (int, *fault.Error) {
	start := len(p.arena)
	end, arena, decoded, half, bad := scanString(p.text, i, p.arena)
	p.arena = arena
	if bad != "" {
		return end, p.fail(end, bad)
	}
	if half >= 0 {
		p.refuse(half, CodeSurrogate)
	}
	n := node{kind: String, from: uint32(i + 1), to: uint32(end - 1)}
	if decoded {
		n = node{kind: String, decoded: true, from: uint32(start), to: uint32(len(arena)), at: uint32(i)}
	}
	p.nodes = append(p.nodes, n)
	return end, nil
}

func (p *parser) array(i, depth int) (int, *fault.Error) {
	self, mark := len(p.nodes), len(p.open)
	p.nodes = append(p.nodes, node{kind: Array, at: uint32(i)})
	i = space(p.text, i+1)
	if i < len(p.text) && p.text[i] == ']' {
		return i + 1, nil
	}
	flat := true                         // every item is one node, so they follow each other and need no list
	bare := i == int(p.nodes[self].at)+1 // integers without signs and without spaces between: its text is its canonical form
	for {
		if flat {
			i = p.integers(i)
		}
		child, from := len(p.nodes), i
		if !flat {
			p.open = append(p.open, uint32(child))
		}
		var f *fault.Error
		if i, f = p.value(i, depth+1); f != nil {
			return i, f
		}
		if flat && len(p.nodes) != child+1 {
			flat = false
			for n := self + 1; n <= child; n++ {
				p.open = append(p.open, uint32(n))
			}
		}
		if bare {
			e := &p.nodes[child]
			bare = e.kind == Number && e.form == formSmall && p.text[from] != '-' && i < len(p.text) && p.text[i] > ' '
		}
		i = space(p.text, i)
		if i < len(p.text) && p.text[i] == ',' {
			if i = space(p.text, i+1); p.text[i-1] != ',' {
				bare = false
			}
			continue
		}
		if i >= len(p.text) || p.text[i] != ']' {
			return i, p.fail(i, CodeSyntax)
		}
		if flat {
			n := &p.nodes[self]
			n.flat, n.from, n.to = true, uint32(self+1), uint32(len(p.nodes))
			if bare {
				n.form = formBare
			}
		} else {
			p.close(self, mark)
		}
		return i + 1, nil
	}
}

// integers takes the items of an array that are integers without a sign, each with a comma and no space behind it, and returns where the
// next item begins: an array of little else costs no more a byte than other texts do.
func (p *parser) integers(i int) int {
	for len(p.nodes) < p.limits.Nodes && i+2 < len(p.text) && p.text[i]-'0' <= 9 {
		end := i + 1
		if p.text[end] != ',' {
			end = small(p.text, i)
		}
		if end == i || end+1 >= len(p.text) || p.text[end] != ',' || p.text[end+1] <= ' ' {
			break
		}
		p.nodes = append(p.nodes, node{kind: Number, form: formSmall, from: uint32(i), to: uint32(end)})
		i = end + 1
	}
	return i
}

func (p *parser) object(i, depth int) (int, *fault.Error) {
	self, mark := len(p.nodes), len(p.open)
	p.nodes = append(p.nodes, node{kind: Object, at: uint32(i)})
	i = space(p.text, i+1)
	if i < len(p.text) && p.text[i] == '}' {
		return i + 1, nil
	}
	for {
		switch {
		case i >= len(p.text) || p.text[i] != '"':
			return i, p.fail(i, CodeSyntax)
		case len(p.nodes) >= p.limits.Nodes:
			return i, p.full()
		}
		p.open = append(p.open, uint32(len(p.nodes)))
		var f *fault.Error
		if i, f = p.str(i); f != nil {
			return i, f
		}
		if i = space(p.text, i); i >= len(p.text) || p.text[i] != ':' {
			return i, p.fail(i, CodeSyntax)
		}
		if i, f = p.value(space(p.text, i+1), depth+1); f != nil {
			return i, f
		}
		i = space(p.text, i)
		if i < len(p.text) && p.text[i] == ',' {
			i = space(p.text, i+1)
			continue
		}
		if i >= len(p.text) || p.text[i] != '}' {
			return i, p.fail(i, CodeSyntax)
		}
		if f := p.sort(mark); f != nil {
			return i, f
		}
		p.close(self, mark)
		return i + 1, nil
	}
}

// close moves the children that were found since mark to their place in the order.
func (p *parser) close(self, mark int) {
	n := &p.nodes[self]
	n.from, n.to = uint32(len(p.order)), uint32(len(p.order)+len(p.open)-mark)
	p.order = append(p.order, p.open[mark:]...)
	p.open = p.open[:mark]
}
