package compiled

import (
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"
)

const maxRune = 0x10ffff

// span of characters, both ends included.
type span struct{ from, to rune }

// set of characters: spans in order that do not touch.
type set []span

func (s set) has(r rune) bool {
	return slices.ContainsFunc(s, func(p span) bool { return r >= p.from && r <= p.to })
}

func (s set) tidy() set {
	s = slices.Clone(s)
	slices.SortFunc(s, func(a, b span) int { return int(a.from - b.from) })
	var out set
	for _, p := range s {
		if n := len(out); n > 0 && p.from <= out[n-1].to+1 {
			out[n-1].to = max(out[n-1].to, p.to)
			continue
		}
		out = append(out, p)
	}
	return out
}

func (s set) not() set {
	var out set
	next := rune(0)
	for _, p := range s.tidy() {
		if p.from > next {
			out = append(out, span{next, p.from - 1})
		}
		next = p.to + 1
	}
	if next <= maxRune {
		out = append(out, span{next, maxRune})
	}
	return out
}

// Classes of ECMA-262 section 22.2.2.9.
func classOf(letter byte) set {
	switch letter {
	case 'd':
		return set{{'0', '9'}}
	case 'w':
		return set{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}
	case 's':
		return set{
			{'\t', '\r'},
			{' ', ' '},
			{0xa0, 0xa0},
			{0x1680, 0x1680},
			{0x2000, 0x200a},
			{0x2028, 0x2029},
			{0x202f, 0x202f},
			{0x205f, 0x205f},
			{0x3000, 0x3000},
			{0xfeff, 0xfeff},
		}
	}
	return classOf(letter | 0x20).not()
}

// regex parses a pattern into a program.
type regex struct {
	text  string
	i     int
	steps program
	depth int
}

// fragment is a part of the program: where it begins, and the ways on that lead out of it.
type fragment struct {
	start int
	outs  []way
}

type way struct {
	step   int
	second bool
}

func parsePattern(text string) (program, error) {
	if !utf8.ValidString(text) {
		return nil, fmt.Errorf("pattern %q is not UTF-8", text)
	}
	p := &regex{text: text, steps: program{{op: opFork}}} // step 0 is where every way begins
	f, err := p.alternatives()
	if err == nil && p.i < len(text) {
		err = p.fault("an unopened )")
	}
	if err != nil {
		return nil, err
	}
	p.steps[0].a, p.steps[0].b = f.start, f.start
	p.steps = append(p.steps, step{op: opMatch})
	p.patch(f.outs, len(p.steps)-1)
	return p.steps, nil
}

func (p *regex) fault(what string) error {
	return fmt.Errorf("pattern %q, byte %d: %s", p.text, p.i, what)
}

func (p *regex) emit(s step) int {
	p.steps = append(p.steps, s)
	return len(p.steps) - 1
}

func (p *regex) patch(outs []way, to int) {
	for _, w := range outs {
		if w.second {
			p.steps[w.step].b = to
		} else {
			p.steps[w.step].a = to
		}
	}
}

// single is a step with one way on.
func (p *regex) single(s step) fragment {
	at := p.emit(s)
	return fragment{at, []way{{at, false}}}
}

// empty matches nothing at all.
func (p *regex) empty() fragment {
	at := p.emit(step{op: opFork})
	return fragment{at, []way{{at, false}, {at, true}}}
}

func (p *regex) peek() byte {
	if p.i < len(p.text) {
		return p.text[p.i]
	}
	return 0
}

func (p *regex) alternatives() (fragment, error) {
	if p.depth++; p.depth > 100 {
		return fragment{}, p.fault("too many groups within each other")
	}
	defer func() { p.depth-- }()
	f, err := p.sequence()
	for err == nil && p.peek() == '|' {
		p.i++
		var g fragment
		if g, err = p.sequence(); err == nil {
			at := p.emit(step{op: opFork, a: f.start, b: g.start})
			f = fragment{at, append(f.outs, g.outs...)}
		}
	}
	return f, err
}

func (p *regex) sequence() (fragment, error) {
	f := p.empty()
	for p.i < len(p.text) && p.peek() != '|' && p.peek() != ')' {
		from := p.i
		g, repeatable, err := p.term()
		if err != nil {
			return f, err
		}
		if g, err = p.quantifier(g, from, repeatable); err != nil {
			return f, err
		}
		p.patch(f.outs, g.start)
		f.outs = g.outs
	}
	return f, nil
}

// term is an assertion or one thing that a quantifier may follow.
func (p *regex) term() (f fragment, repeatable bool, err error) {
	switch c := p.peek(); c {
	case '^':
		p.i++
		return p.single(step{op: opBegin}), false, nil
	case '$':
		p.i++
		return p.single(step{op: opEnd}), false, nil
	case '(':
		return p.group()
	case '*', '+', '?', '{', '}', ']':
		return f, false, p.fault("nothing before it to repeat, or a bracket alone")
	}
	s, err := p.char()
	return p.single(step{op: opChar, set: s}), true, err
}

// group is ( ), (?: ), or a lookahead.
func (p *regex) group() (f fragment, repeatable bool, err error) {
	p.i++
	look := byte(0)
	if p.peek() == '?' {
		p.i++
		switch c := p.peek(); c {
		case ':':
		case '=', '!':
			look = c
		default:
			return f, false, p.fault("a group of a kind that is not supported")
		}
		p.i++
	}
	if look != 0 {
		f, err = p.lookahead(look == '!')
	} else {
		f, err = p.alternatives()
	}
	if err == nil && p.peek() != ')' {
		err = p.fault("a group that is not closed")
	}
	p.i++
	return f, look == 0, err
}

func (p *regex) lookahead(negative bool) (fragment, error) {
	if p.peek() == '$' {
		p.i++
		if negative {
			return p.single(step{op: opNext, set: set{{0, maxRune}}}), nil
		}
		return p.single(step{op: opEnd}), nil
	}
	s, err := p.char()
	if err == nil && p.peek() != ')' {
		err = p.fault("a lookahead over more than one character")
	}
	if negative {
		return p.single(step{op: opNot, set: s}), err
	}
	return p.single(step{op: opNext, set: s}), err
}

// quantifier repeats g, which was parsed from the text at from: the text is parsed again for each copy.
func (p *regex) quantifier(g fragment, from int, repeatable bool) (fragment, error) {
	var least, most int // most -1: no bound
	switch p.peek() {
	case '*':
		least, most = 0, -1
	case '+':
		least, most = 1, -1
	case '?':
		least, most = 0, 1
	case '{':
		end := p.i
		for end < len(p.text) && p.text[end] != '}' {
			end++
		}
		var ok bool
		if least, most, ok = counts(p.text[p.i+1 : min(end, len(p.text))]); !ok || end == len(p.text) {
			return g, p.fault("not {n}, {n,} or {n,m} with at most 1,000")
		}
		p.i = end
	default:
		return g, nil
	}
	if !repeatable {
		return g, p.fault("an assertion is repeated")
	}
	p.i++
	if p.peek() == '?' { // as few as can be: the same texts match
		p.i++
	}
	behind := p.i
	again := func() (fragment, error) {
		p.i = from
		f, _, err := p.term()
		return f, err
	}
	out, err := p.repeat(again, least, most)
	p.i = behind
	return out, err
}

func (p *regex) repeat(again func() (fragment, error), least, most int) (fragment, error) {
	f := p.empty()
	for range least {
		g, err := again()
		if err != nil {
			return f, err
		}
		p.patch(f.outs, g.start)
		f.outs = g.outs
	}
	var skips []way
	for n := least; n < most; n++ {
		g, err := again()
		if err != nil {
			return f, err
		}
		fork := p.emit(step{op: opFork, a: g.start})
		p.patch(f.outs, fork)
		skips = append(skips, way{fork, true})
		f.outs = g.outs
	}
	if most < 0 {
		g, err := again()
		if err != nil {
			return f, err
		}
		fork := p.emit(step{op: opFork, a: g.start})
		p.patch(f.outs, fork)
		p.patch(g.outs, fork)
		f.outs = []way{{fork, true}}
	}
	f.outs = append(f.outs, skips...)
	if len(p.steps) > 20_000 {
		return f, p.fault("too long once its repetitions are written out")
	}
	return f, nil
}

func counts(s string) (least, most int, ok bool) {
	comma := -1
	for i := range len(s) {
		if s[i] == ',' {
			comma = i
			break
		}
	}
	parse := func(s string) (int, bool) {
		n, err := strconv.ParseUint(s, 10, 16)
		return int(n), err == nil && n <= 1000
	}
	if comma < 0 {
		least, ok = parse(s)
		return least, least, ok
	}
	if least, ok = parse(s[:comma]); !ok {
		return 0, 0, false
	}
	if comma+1 == len(s) {
		return least, -1, true
	}
	most, ok = parse(s[comma+1:])
	return least, most, ok && most >= least
}
