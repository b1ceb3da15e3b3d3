// Package compiled checks documents against JSON Schema 2020-12 with rules that are made once: patterns are tables, names are
// looked up, references are pointers, and a document is walked as it was read, without a copy. It needs no library: those
// that exist walk maps, call a backtracking matcher for ECMA-262 patterns, and have formats that are wrong on known probes
// (MissionWeave D3); its tests compare it with one.
//
// It does what the schemas of MissionWeave use and refuses the rest when it compiles: an unknown keyword is an error. It has
// no formats of its own either, they are given.
package compiled

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/schema"
)

// Compiler makes Checkers.
type Compiler struct {
	// Formats are the grammars of "format" by name. They see strings in generalized UTF-8. A format that is not here is
	// not compiled.
	Formats map[string]func(text []byte) bool
}

var (
	_ schema.Compiler = (*Compiler)(nil)
	_ schema.Checker  = (*Checker)(nil)
)

// New returns a Compiler with these formats.
func New(formats map[string]func(text []byte) bool) *Compiler { return &Compiler{formats} }

// Compile implements schema.Compiler.
func (c *Compiler) Compile(sources []schema.Source) (schema.Checker, error) {
	b := builder{formats: c.Formats, made: map[place]*rule{}}
	for i, s := range sources {
		d := &document{Source: s, base: &url.URL{}}
		if id, ok := d.member(0, "$id"); ok && s.Doc.Kind(id) == schema.String {
			base, err := url.Parse(string(s.Doc.Text(id)))
			if err != nil {
				return nil, d.fault(schema.CodeMalformed, id, "$id is no URI")
			}
			d.base = base
		} else {
			d.base = &url.URL{Scheme: "schema", Path: fmt.Sprint("/", i)}
		}
		b.documents = append(b.documents, d)
	}
	k := &Checker{rules: map[string]*rule{}}
	for _, d := range b.documents {
		r, err := b.rule(d, 0)
		if err != nil {
			return nil, err
		}
		k.names = append(k.names, d.Name)
		k.rules[d.Name] = r
	}
	slices.Sort(k.names)
	return k, nil
}

// document is a source while it is compiled.
type document struct {
	schema.Source
	base *url.URL
}

func (d *document) member(n int, name string) (int, bool) {
	if d.Doc.Kind(n) != schema.Object {
		return 0, false
	}
	for i := range d.Doc.Len(n) {
		if have, value := d.Doc.Item(n, i); string(have) == name {
			return value, true
		}
	}
	return 0, false
}

func (d *document) fault(code fault.Code, n int, format string, args ...any) *fault.Error {
	return fault.New(code, "schema", d.Name, "pointer", pointer(d.Doc, n), "detail", fmt.Sprintf(format, args...))
}

// place is a schema inside a document.
type place struct {
	d *document
	n int
}

// builder makes rules; a place that is referred to twice is one rule, so that references may go round.
type builder struct {
	formats   map[string]func([]byte) bool
	documents []*document
	made      map[place]*rule
}

func (b *builder) rule(d *document, n int) (*rule, error) {
	if r := b.made[place{d, n}]; r != nil {
		return r, nil
	}
	r := &rule{}
	b.made[place{d, n}] = r
	switch d.Doc.Kind(n) {
	case schema.True:
		return r, nil
	case schema.False:
		r.never = true
		return r, nil
	case schema.Object:
	default:
		return nil, d.fault(schema.CodeMalformed, n, "a schema is an object, true or false")
	}
	for i := range d.Doc.Len(n) {
		name, value := d.Doc.Item(n, i)
		if err := b.keyword(r, d, string(name), value); err != nil {
			return nil, err
		}
	}
	if _, ok := d.member(n, "if"); !ok && (r.then != nil || r.otherwise != nil) {
		r.then, r.otherwise = nil, nil // nothing without an if
	}
	return r, nil
}

// resolve finds the schema a reference means.
func (b *builder) resolve(d *document, n int) (*rule, error) {
	ref, err := url.Parse(string(d.Doc.Text(n)))
	if err != nil || d.Doc.Kind(n) != schema.String {
		return nil, d.fault(schema.CodeMalformed, n, "$ref is no URI reference")
	}
	to := d.base.ResolveReference(ref)
	fragment := to.Fragment
	to.Fragment, to.RawFragment = "", ""
	for _, other := range b.documents {
		if base := *other.base; strings.TrimSuffix(base.String(), "#") == to.String() {
			at, ok := other.find(fragment)
			if !ok {
				break
			}
			return b.rule(other, at)
		}
	}
	return nil, d.fault(schema.CodeReference, n, "%s", d.Doc.Text(n))
}

// find follows a JSON Pointer.
func (d *document) find(fragment string) (n int, ok bool) {
	if fragment == "" {
		return 0, true
	}
	steps := strings.Split(fragment, "/")
	if steps[0] != "" {
		return 0, false
	}
	for _, step := range steps[1:] {
		if n, ok = d.member(n, strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")); !ok {
			return 0, false
		}
	}
	return n, true
}

// pointer is the JSON Pointer (RFC 6901) of value n.
func pointer(t schema.Tree, n int) string {
	var path strings.Builder
	for at := 0; at != n; {
		next, step := -1, ""
		for i := range t.Len(at) { // the last child that does not begin after n is n or holds it
			if name, child := t.Item(at, i); child <= n && child > next {
				next, step = child, fmt.Sprint(i)
				if t.Kind(at) == schema.Object {
					step = strings.ReplaceAll(strings.ReplaceAll(strings.ToValidUTF8(string(name), "\uFFFD"), "~", "~0"), "/", "~1")
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
