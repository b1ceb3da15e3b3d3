package compiled

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// char is one character, escape, class or dot.
func (p *regex) char() (set, error) {
	switch c := p.peek(); c {
	case '.':
		p.i++
		return set{{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}}.not(), nil
	case '[':
		return p.class()
	case '\\':
		s, _, err := p.escape(false)
		return s, err
	case '(', ')', '*', '+', '?', '{', '}', ']', '|', '^', '$', 0:
		return nil, p.fault("a character that means something else here")
	}
	r, n := utf8.DecodeRuneInString(p.text[p.i:])
	p.i += n
	return set{{r, r}}, nil
}

// class is [ … ] or [^ … ].
func (p *regex) class() (set, error) {
	p.i++
	negated := p.peek() == '^'
	if negated {
		p.i++
	}
	var out set
	for p.peek() != ']' {
		if p.i >= len(p.text) {
			return nil, p.fault("a class that is not closed")
		}
		from, single, err := p.member()
		if err != nil {
			return nil, err
		}
		if p.peek() == '-' && p.i+1 < len(p.text) && p.text[p.i+1] != ']' {
			p.i++
			to, alone, err := p.member()
			switch {
			case err != nil:
				return nil, err
			case !single || !alone || to[0].from < from[0].from:
				return nil, p.fault("a range without an order")
			}
			from = set{{from[0].from, to[0].from}}
		}
		out = append(out, from...)
	}
	p.i++
	if negated {
		return out.not(), nil
	}
	return out.tidy(), nil
}

// member of a class; single is whether it is one character.
func (p *regex) member() (s set, single bool, err error) {
	if p.peek() == '\\' {
		return p.escape(true)
	}
	r, n := utf8.DecodeRuneInString(p.text[p.i:])
	p.i += n
	return set{{r, r}}, true, nil
}

// escape is what follows a backslash.
func (p *regex) escape(inClass bool) (s set, single bool, err error) {
	p.i++
	one := func(r rune) (set, bool, error) {
		p.i++
		return set{{r, r}}, true, nil
	}
	switch c := p.peek(); c {
	case 'd', 'w', 's', 'D', 'W', 'S':
		p.i++
		return classOf(c), false, nil
	case 't':
		return one('\t')
	case 'n':
		return one('\n')
	case 'v':
		return one('\v')
	case 'f':
		return one('\f')
	case 'r':
		return one('\r')
	case 'x':
		return p.hex(2)
	case 'u':
		if strings.HasPrefix(p.text[p.i:], "u{") {
			end := strings.IndexByte(p.text[p.i:], '}')
			if end < 0 {
				return nil, false, p.fault("an escape that is not closed")
			}
			n, err := strconv.ParseUint(p.text[p.i+2:p.i+end], 16, 32)
			if err != nil || n > maxRune {
				return nil, false, p.fault("no character")
			}
			p.i += end
			return one(rune(n))
		}
		return p.hex(4)
	case '^', '$', '\\', '.', '*', '+', '?', '(', ')', '[', ']', '{', '}', '|', '/':
		return one(rune(c))
	case '-':
		if inClass {
			return one('-')
		}
	case '0':
		if p.i+1 >= len(p.text) || p.text[p.i+1] < '0' || p.text[p.i+1] > '9' {
			return one(0)
		}
	}
	return nil, false, p.fault("an escape that is not supported")
}

// hex reads \xHH or \uHHHH.
func (p *regex) hex(digits int) (set, bool, error) {
	if p.i+1+digits > len(p.text) {
		return nil, false, p.fault("an escape that is not complete")
	}
	n, err := strconv.ParseUint(p.text[p.i+1:p.i+1+digits], 16, 32)
	if err != nil || n >= 0xd800 && n <= 0xdfff {
		return nil, false, p.fault("no character")
	}
	p.i += 1 + digits
	return set{{rune(n), rune(n)}}, true, nil
}
