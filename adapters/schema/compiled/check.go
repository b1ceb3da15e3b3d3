package compiled

import (
	"bytes"
	"slices"
	"sync"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/schema"
)

// Checker holds the rules. It is made by Compile.
type Checker struct {
	names []string
	rules map[string]*rule
	pool  sync.Pool // of *walk
}

// Names implements schema.Checker.
func (k *Checker) Names() []string { return slices.Clone(k.names) }

// Check implements schema.Checker.
func (k *Checker) Check(name string, doc schema.Tree) error {
	r := k.rules[name]
	if r == nil {
		return fault.New(schema.CodeUnknown, "schema", name)
	}
	w, _ := k.pool.Get().(*walk)
	if w == nil {
		w = &walk{}
		w.alone = (*nameTree)(&w.name)
	}
	w.Tree, w.fail = doc, failure{}
	ok := w.check(r, 0)
	fail := w.fail
	w.Tree = nil
	k.pool.Put(w)
	if ok {
		return nil
	}
	return fault.New(schema.CodeMismatch, "schema", name, "pointer", pointer(doc, fail.node)+fail.inside, "rule", fail.rule, "detail", fail.say(doc))
}

// failure is the first thing that was found wrong.
type failure struct {
	node   int
	rule   string // keyword
	by     *rule
	name   string // member that is missing or too many
	inside string // pointer to it below node
}

// maxLoop bounds rules that refer to each other without going deeper into the document.
const maxLoop = 10_000

type walk struct {
	schema.Tree
	fail  failure
	loop  int
	order []int // scratch of uniqueItems
	name  []byte
	alone *nameTree
}

// no records what is wrong with value n.
func (w *walk) no(n int, r *rule, keyword string) bool {
	w.fail = failure{node: n, rule: keyword, by: r}
	return false
}

// check walks value n by rule r. When it is false, fail tells why.
func (w *walk) check(r *rule, n int) bool {
	if w.loop++; w.loop > maxLoop {
		w.loop--
		return w.no(n, r, "$ref")
	}
	ok := w.own(r, n) && w.others(r, n)
	w.loop--
	return ok
}

// own is what a rule asks of the value itself.
func (w *walk) own(r *rule, n int) bool {
	kind := w.Kind(n)
	switch {
	case r.never:
		return w.no(n, r, "false")
	case r.kinds>>kind&1 == 1:
	case r.integer:
		if kind != schema.Number || !whole(w.Text(n)) {
			return w.no(n, r, "type")
		}
	case r.kinds != 0:
		return w.no(n, r, "type")
	}
	if r.is != nil && !equal(w, n, r.is.doc, r.is.n) {
		return w.no(n, r, "const")
	}
	if r.enum != nil && !w.listed(r, n, kind) {
		return w.no(n, r, "enum")
	}
	switch {
	case kind == schema.Object && r.object:
		return w.members(r, n)
	case kind == schema.Array && r.list:
		return w.items(r, n)
	case kind == schema.String && r.string:
		return w.text(r, n)
	case kind == schema.Number && r.number:
		return w.number(r, n)
	}
	return true
}

func (w *walk) listed(r *rule, n int, kind schema.Kind) bool {
	if r.oneOf != nil {
		return kind == schema.String && r.oneOf[string(w.Text(n))]
	}
	return slices.ContainsFunc(r.enum, func(l literal) bool { return equal(w, n, l.doc, l.n) })
}

// others is what a rule asks through other rules.
func (w *walk) others(r *rule, n int) bool {
	if r.ref != nil && !w.check(r.ref, n) {
		return false
	}
	for _, part := range r.all {
		if !w.check(part, n) {
			return false
		}
	}
	if r.any != nil && w.alternatives(r.any, n, 1) == 0 {
		return w.nearest(r, n, "anyOf")
	}
	if r.one != nil {
		switch w.alternatives(r.one, n, 2) {
		case 0:
			return w.nearest(r, n, "oneOf")
		case 2:
			return w.no(n, r, "oneOf")
		}
	}
	if r.not != nil && w.check(r.not, n) {
		return w.no(n, r, "not")
	}
	if r.when != nil {
		then := r.otherwise
		if w.check(r.when, n) {
			then = r.then
		}
		if then != nil && !w.check(then, n) {
			return false
		}
	}
	return true
}

// alternatives counts the rules that hold, up to enough. fail is then that of the rule that came furthest: what tells kinds
// of values apart (const, enum, type) fails early.
func (w *walk) alternatives(rules []*rule, n, enough int) (held int) {
	var best failure
	score := -1
	for _, part := range rules {
		if w.check(part, n) {
			if held++; held == enough {
				return held
			}
			continue
		}
		s := w.fail.node - n
		switch w.fail.rule {
		case "const", "enum", "type", "required", "additionalProperties":
		default:
			s += 1 << 30
		}
		if w.fail.rule != "const" {
			s += 1 << 29
		}
		if s > score {
			best, score = w.fail, s
		}
	}
	w.fail = best
	return held
}

// nearest keeps the failure of the alternative that came furthest, when it tells more than that none holds.
func (w *walk) nearest(r *rule, n int, keyword string) bool {
	if w.fail.node == n && w.fail.rule != "required" && w.fail.rule != "additionalProperties" {
		return w.no(n, r, keyword)
	}
	return false
}

func (w *walk) members(r *rule, n int) bool {
	count := w.Len(n)
	if count < r.leastMembers {
		return w.no(n, r, "minProperties")
	}
	if r.mostMembers > 0 && count >= r.mostMembers {
		return w.no(n, r, "maxProperties")
	}
	found := 0
	for i := range count {
		name, value := w.Item(n, i)
		if r.names != nil && !w.named(r, n, name) {
			return false
		}
		p := r.properties[string(name)]
		if p.required {
			found++
		}
		switch {
		case p.rule != nil:
			if !w.check(p.rule, value) {
				return false
			}
		case r.additional == nil:
		case r.additional.never:
			w.no(value, r, "additionalProperties")
			w.fail.name = string(name)
			return false
		case !w.check(r.additional, value):
			return false
		}
	}
	if found < len(r.required) {
		return w.missing(r, n)
	}
	return true
}

func (w *walk) missing(r *rule, n int) bool {
	for _, want := range r.required {
		there := false
		for i := range w.Len(n) {
			name, _ := w.Item(n, i)
			there = there || string(name) == want
		}
		if !there {
			w.no(n, r, "required")
			w.fail.name = want
			return false
		}
	}
	return true
}

// named checks a member's name, which is no value of the tree: it stands alone for that long.
func (w *walk) named(r *rule, n int, name []byte) bool {
	doc := w.Tree
	w.name, w.Tree = name, w.alone
	ok := w.check(r.names, 0)
	w.Tree, w.name = doc, nil
	if !ok {
		w.no(n, r, "propertyNames")
		w.fail.name = string(name)
	}
	return ok
}

// nameTree is a string and nothing else.
type nameTree []byte

func (*nameTree) Kind(int) schema.Kind        { return schema.String }
func (t *nameTree) Text(int) []byte           { return *t }
func (*nameTree) Len(int) int                 { return 0 }
func (*nameTree) Item(_, _ int) ([]byte, int) { return nil, 0 }

func (w *walk) items(r *rule, n int) bool {
	count := w.Len(n)
	if count < r.leastItems {
		return w.no(n, r, "minItems")
	}
	if r.mostItems > 0 && count >= r.mostItems {
		return w.no(n, r, "maxItems")
	}
	for i := range count {
		_, value := w.Item(n, i)
		switch {
		case i < len(r.prefix):
			if !w.check(r.prefix[i], value) {
				return false
			}
		case r.items == nil:
		case !w.check(r.items, value):
			return false
		}
	}
	if r.unique && count > 1 {
		return w.distinct(r, n)
	}
	return true
}

// distinct sorts the items instead of comparing each with each.
func (w *walk) distinct(r *rule, n int) bool {
	w.order = w.order[:0]
	for i := range w.Len(n) {
		_, value := w.Item(n, i)
		w.order = append(w.order, value)
	}
	slices.SortFunc(w.order, func(a, b int) int { return compare(w, a, w, b) })
	for i := 1; i < len(w.order); i++ {
		if a, b := w.order[i-1], w.order[i]; compare(w, a, w, b) == 0 {
			return w.no(max(a, b), r, "uniqueItems")
		}
	}
	return true
}

func (w *walk) text(r *rule, n int) bool {
	text := w.Text(n)
	if size := len(text); size < r.leastLength || r.leastLength > 1 || r.mostLength > 0 && size >= r.mostLength { // else the bytes tell enough
		length := characters(text)
		if length < r.leastLength {
			return w.no(n, r, "minLength")
		}
		if r.mostLength > 0 && length >= r.mostLength {
			return w.no(n, r, "maxLength")
		}
	}
	if r.format != nil && !r.format(text) {
		return w.no(n, r, "format")
	}
	if r.pattern != nil && !r.pattern.match(text) {
		return w.no(n, r, "pattern")
	}
	return true
}

// characters counts code points of generalized UTF-8: all bytes but those that go on.
func characters(text []byte) (n int) {
	for _, c := range text {
		if c&0xc0 != 0x80 {
			n++
		}
	}
	return n
}

func whole(text []byte) bool {
	for _, c := range text {
		if c == '.' || c|0x20 == 'e' {
			return number(text).whole()
		}
	}
	return true
}

func (w *walk) number(r *rule, n int) bool {
	d := number(w.Text(n))
	switch {
	case r.least != nil && d.compare(*r.least) < 0:
		return w.no(n, r, "minimum")
	case r.most != nil && d.compare(*r.most) > 0:
		return w.no(n, r, "maximum")
	case r.above != nil && d.compare(*r.above) <= 0:
		return w.no(n, r, "exclusiveMinimum")
	case r.below != nil && d.compare(*r.below) >= 0:
		return w.no(n, r, "exclusiveMaximum")
	}
	return true
}

func equal(a schema.Tree, m int, b schema.Tree, n int) bool { return compare(a, m, b, n) == 0 }

// compare is some order of all JSON values in which equal ones are equal: numbers by value, objects by their members.
func compare(a schema.Tree, m int, b schema.Tree, n int) int {
	kind := a.Kind(m)
	if k := b.Kind(n); k != kind {
		return int(kind) - int(k)
	}
	switch kind {
	case schema.Number:
		return number(a.Text(m)).compare(number(b.Text(n)))
	case schema.String:
		return bytes.Compare(a.Text(m), b.Text(n))
	case schema.Array, schema.Object:
		if d := a.Len(m) - b.Len(n); d != 0 {
			return d
		}
		for i := range a.Len(m) {
			p, x := a.Item(m, i)
			q, y := b.Item(n, i)
			if d := bytes.Compare(p, q); d != 0 {
				return d
			}
			if d := compare(a, x, b, y); d != 0 {
				return d
			}
		}
	}
	return 0
}
