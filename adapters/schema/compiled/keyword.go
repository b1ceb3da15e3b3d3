package compiled

import (
	"strconv"

	"github.com/agent-mcp/agent-mcp/ports/schema"
)

// rule is one schema. Zero fields ask for nothing.
type rule struct {
	never bool // false

	kinds   uint8 // bits 1<<Kind; 0 = any
	integer bool  // a number that is whole (in kinds are the others)
	ref     *rule

	is    *literal        // const
	oneOf map[string]bool // enum of strings alone
	enum  []literal       // any other enum

	all, any, one        []*rule
	not, when            *rule
	then, otherwise      *rule
	properties           map[string]property
	required             []string
	additional           *rule // nil = anything
	names                *rule
	leastMembers         int
	mostMembers          int // 0 = no bound, else one more
	items                *rule
	prefix               []*rule
	leastItems           int
	mostItems            int // 0 = no bound, else one more
	unique               bool
	leastLength          int
	mostLength           int // 0 = no bound, else one more
	pattern              *pattern
	patternText          string
	format               func([]byte) bool
	formatName           string
	least, most          *decimal
	above, below         *decimal
	string, number, list bool // there is something to ask of a string, a number, an array
	object               bool
}

// property is a member name that a rule knows: what its value must be, nil when it is only required, and whether it must be there.
type property struct {
	rule     *rule
	required bool
}

// literal is a value of a schema.
type literal struct {
	doc schema.Tree
	n   int
}

func (b *builder) keyword(r *rule, d *document, name string, n int) (err error) {
	switch name {
	case "$schema", "$id", "$comment", "title", "description", "examples", "default", "deprecated", "readOnly", "writeOnly":
		return nil
	case "$defs":
		return b.definitions(d, n)
	case "$ref":
		r.ref, err = b.resolve(d, n)
		return err
	case "type":
		return b.types(r, d, n)
	case "const":
		r.is = &literal{d.Doc, n}
		return nil
	case "enum":
		return b.enum(r, d, n)
	case "allOf":
		r.all, err = b.rules(d, n)
		return err
	case "anyOf":
		r.any, err = b.rules(d, n)
		return err
	case "oneOf":
		r.one, err = b.rules(d, n)
		return err
	case "not":
		r.not, err = b.rule(d, n)
		return err
	case "if":
		r.when, err = b.rule(d, n)
		return err
	case "then":
		r.then, err = b.rule(d, n)
		return err
	case "else":
		r.otherwise, err = b.rule(d, n)
		return err
	}
	if known, err := b.objects(r, d, name, n); known {
		r.object = true
		return err
	}
	if known, err := b.lists(r, d, name, n); known {
		r.list = true
		return err
	}
	if known, err := b.strings(r, d, name, n); known {
		r.string = true
		return err
	}
	if known, err := b.numbers(r, d, name, n); known {
		r.number = true
		return err
	}
	return d.fault(schema.CodeUnsupported, n, "keyword %s", name)
}

func (b *builder) objects(r *rule, d *document, name string, n int) (known bool, err error) {
	switch name {
	case "properties":
		err = b.properties(r, d, n)
	case "required":
		err = b.required(r, d, n)
	case "additionalProperties":
		r.additional, err = b.rule(d, n)
	case "propertyNames":
		r.names, err = b.rule(d, n)
	case "minProperties":
		r.leastMembers, err = b.count(d, n)
	case "maxProperties":
		r.mostMembers, err = b.bound(d, n)
	default:
		return false, nil
	}
	return true, err
}

func (b *builder) lists(r *rule, d *document, name string, n int) (known bool, err error) {
	switch name {
	case "items":
		r.items, err = b.rule(d, n)
	case "prefixItems":
		r.prefix, err = b.rules(d, n)
	case "minItems":
		r.leastItems, err = b.count(d, n)
	case "maxItems":
		r.mostItems, err = b.bound(d, n)
	case "uniqueItems":
		r.unique = d.Doc.Kind(n) == schema.True
		if k := d.Doc.Kind(n); k != schema.True && k != schema.False {
			err = d.fault(schema.CodeMalformed, n, "true or false")
		}
	default:
		return false, nil
	}
	return true, err
}

func (b *builder) strings(r *rule, d *document, name string, n int) (known bool, err error) {
	text := string(d.Doc.Text(n))
	switch name {
	case "minLength":
		r.leastLength, err = b.count(d, n)
		return true, err
	case "maxLength":
		r.mostLength, err = b.bound(d, n)
		return true, err
	case "pattern":
		r.patternText = text
		if r.pattern, err = compilePattern(text); err != nil {
			return true, d.fault(schema.CodeUnsupported, n, "%v", err)
		}
	case "format":
		if r.formatName, r.format = text, b.formats[text]; r.format == nil {
			return true, d.fault(schema.CodeUnsupported, n, "format %s", text)
		}
	default:
		return false, nil
	}
	if d.Doc.Kind(n) != schema.String {
		return true, d.fault(schema.CodeMalformed, n, "a string")
	}
	return true, nil
}

func (b *builder) numbers(r *rule, d *document, name string, n int) (known bool, err error) {
	var to **decimal
	switch name {
	case "minimum":
		to = &r.least
	case "maximum":
		to = &r.most
	case "exclusiveMinimum":
		to = &r.above
	case "exclusiveMaximum":
		to = &r.below
	default:
		return false, nil
	}
	if d.Doc.Kind(n) != schema.Number {
		return true, d.fault(schema.CodeMalformed, n, "a number")
	}
	v := number(d.Doc.Text(n))
	*to = &v
	return true, nil
}

// definitions compiles all of $defs, used or not, so that nothing wrong in them stays hidden.
func (b *builder) definitions(d *document, n int) error {
	for i := range d.Doc.Len(n) {
		_, value := d.Doc.Item(n, i)
		if _, err := b.rule(d, value); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) rules(d *document, n int) (out []*rule, err error) {
	if d.Doc.Kind(n) != schema.Array || d.Doc.Len(n) == 0 {
		return nil, d.fault(schema.CodeMalformed, n, "a list of schemas")
	}
	for i := range d.Doc.Len(n) {
		_, value := d.Doc.Item(n, i)
		r, err := b.rule(d, value)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

func (b *builder) count(d *document, n int) (int, error) {
	v, err := strconv.ParseUint(string(d.Doc.Text(n)), 10, 31)
	if err != nil || d.Doc.Kind(n) != schema.Number {
		return 0, d.fault(schema.CodeMalformed, n, "a whole number from 0")
	}
	return int(v), nil
}

func (b *builder) bound(d *document, n int) (int, error) {
	v, err := b.count(d, n)
	return v + 1, err
}

func (b *builder) types(r *rule, d *document, n int) error {
	names := []int{n}
	if d.Doc.Kind(n) == schema.Array {
		names = nil
		for i := range d.Doc.Len(n) {
			_, value := d.Doc.Item(n, i)
			names = append(names, value)
		}
	}
	for _, at := range names {
		switch string(d.Doc.Text(at)) {
		case "null":
			r.kinds |= 1 << schema.Null
		case "boolean":
			r.kinds |= 1<<schema.False | 1<<schema.True
		case "number":
			r.kinds |= 1 << schema.Number
		case "integer":
			r.integer = true
		case "string":
			r.kinds |= 1 << schema.String
		case "array":
			r.kinds |= 1 << schema.Array
		case "object":
			r.kinds |= 1 << schema.Object
		default:
			return d.fault(schema.CodeMalformed, at, "no type has this name")
		}
	}
	return nil
}

func (b *builder) enum(r *rule, d *document, n int) error {
	if d.Doc.Kind(n) != schema.Array || d.Doc.Len(n) == 0 {
		return d.fault(schema.CodeMalformed, n, "a list of values")
	}
	words := map[string]bool{}
	for i := range d.Doc.Len(n) {
		_, value := d.Doc.Item(n, i)
		r.enum = append(r.enum, literal{d.Doc, value})
		if d.Doc.Kind(value) == schema.String {
			words[string(d.Doc.Text(value))] = true
		}
	}
	if len(words) == len(r.enum) {
		r.oneOf = words
	}
	return nil
}

func (b *builder) properties(r *rule, d *document, n int) error {
	if d.Doc.Kind(n) != schema.Object {
		return d.fault(schema.CodeMalformed, n, "an object of schemas")
	}
	for i := range d.Doc.Len(n) {
		name, value := d.Doc.Item(n, i)
		made, err := b.rule(d, value)
		if err != nil {
			return err
		}
		p := r.property(string(name))
		p.rule = made
		r.properties[string(name)] = p
	}
	return nil
}

func (b *builder) required(r *rule, d *document, n int) error {
	if d.Doc.Kind(n) != schema.Array {
		return d.fault(schema.CodeMalformed, n, "a list of names")
	}
	for i := range d.Doc.Len(n) {
		_, value := d.Doc.Item(n, i)
		name := string(d.Doc.Text(value))
		p := r.property(name)
		if !p.required {
			r.required = append(r.required, name)
		}
		p.required = true
		r.properties[name] = p
	}
	return nil
}

func (r *rule) property(name string) property {
	if r.properties == nil {
		r.properties = map[string]property{}
	}
	return r.properties[name]
}
