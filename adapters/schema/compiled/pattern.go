package compiled

import (
	"errors"
	"fmt"
	"slices"
)

// A pattern is ECMA-262's regular expressions (flag u) without back references, as a table: one step for each character, whatever
// pattern and text are. Lookaheads may look at one character, or for the end, which is all that schemas use them for.
type pattern struct {
	ascii  [128]uint8 // class of a character
	starts []rune     // first characters of the classes above it, ascending
	above  []uint8
	table  []int16 // [state][class] next state, or matched; the last class is the end of the text
	width  int
}

const (
	matched   = -1
	failed    = -2
	maxStates = 4096
)

// match reports whether the pattern matches anywhere in text (generalized UTF-8).
func (p *pattern) match(text []byte) bool {
	state := int16(0)
	for i := 0; i < len(text); {
		var class uint8
		if c := text[i]; c < 0x80 {
			class = p.ascii[c]
			i++
		} else {
			r, n := decode(text[i:])
			i += n
			k, found := slices.BinarySearch(p.starts, r)
			if !found {
				k--
			}
			class = p.above[k]
		}
		switch state = p.table[int(state)*p.width+int(class)]; state {
		case matched:
			return true
		case failed:
			return false
		}
	}
	return p.table[int(state)*p.width+p.width-1] == matched
}

// decode reads one character of generalized UTF-8, which has surrogates too. The text is known to be well formed.
func decode(b []byte) (r rune, n int) {
	switch c := b[0]; {
	case c < 0x80:
		return rune(c), 1
	case c < 0xe0 && len(b) > 1:
		return rune(c&0x1f)<<6 | rune(b[1]&0x3f), 2
	case c < 0xf0 && len(b) > 2:
		return rune(c&0xf)<<12 | rune(b[1]&0x3f)<<6 | rune(b[2]&0x3f), 3
	case len(b) > 3:
		return rune(c&7)<<18 | rune(b[1]&0x3f)<<12 | rune(b[2]&0x3f)<<6 | rune(b[3]&0x3f), 4
	}
	return 0xfffd, 1
}

// op of a step of the automaton that is not yet a table.
type op uint8

const (
	opChar  op = iota // one character of set
	opFork            // two ways on
	opBegin           // only at the beginning
	opEnd             // only at the end
	opNext            // only before a character of set
	opNot             // only before a character outside set, or at the end
	opMatch
)

type step struct {
	op   op
	set  set
	a, b int // ways on
}

// program is an automaton with more than one way; its last step is opMatch.
type program []step

// compilePattern makes the table.
func compilePattern(text string) (*pattern, error) {
	steps, err := parsePattern(text)
	if err != nil {
		return nil, err
	}
	p := &pattern{}
	classes := p.classes(steps)
	p.width = len(classes) + 1
	type state struct {
		kernel []int
		begin  bool
	}
	key := func(s state) string { return fmt.Sprint(s.begin, s.kernel) }
	states := []state{{[]int{0}, true}}
	known := map[string]int16{key(states[0]): 0}
	for i := 0; i < len(states); i++ {
		for class := range p.width {
			end := class == len(classes)
			var next rune
			if !end {
				next = classes[class]
			}
			kernel, done := steps.step(states[i].kernel, states[i].begin, end, next)
			switch {
			case done:
				p.table = append(p.table, matched)
				continue
			case end:
				p.table = append(p.table, failed)
				continue
			}
			s := state{kernel: kernel}
			id, ok := known[key(s)]
			if !ok {
				if len(states) == maxStates {
					return nil, errors.New("the pattern needs too many states")
				}
				id = int16(len(states))
				known[key(s)] = id
				states = append(states, s)
			}
			p.table = append(p.table, id)
		}
	}
	return p, nil
}

// step moves all ways on over one character, or over the end. done is when a way has matched before that character. A new
// way begins behind every character: the pattern may match anywhere, if it does not ask for the beginning.
func (p program) step(kernel []int, begin, end bool, next rune) (out []int, done bool) {
	seen := make([]bool, len(p))
	var walk func(at int)
	walk = func(at int) {
		if seen[at] || done {
			return
		}
		seen[at] = true
		switch s := &p[at]; s.op {
		case opFork:
			walk(s.a)
			walk(s.b)
		case opBegin:
			if begin {
				walk(s.a)
			}
		case opEnd:
			if end {
				walk(s.a)
			}
		case opNext:
			if !end && s.set.has(next) {
				walk(s.a)
			}
		case opNot:
			if end || !s.set.has(next) {
				walk(s.a)
			}
		case opChar:
			if !end && s.set.has(next) {
				out = append(out, s.a)
			}
		case opMatch:
			done = true
		}
	}
	for _, at := range kernel {
		walk(at)
	}
	if !slices.Contains(out, 0) {
		out = append(out, 0)
	}
	slices.Sort(out)
	return slices.Compact(out), done
}

// classes finds characters that every set of the program treats alike; it returns one of each class.
func (p *pattern) classes(steps program) []rune {
	edges := []rune{0, 0x80}
	for _, s := range steps {
		for _, r := range s.set {
			edges = append(edges, r.from, r.to+1)
		}
	}
	slices.Sort(edges)
	edges = slices.Compact(edges)
	var found []rune
	signatures := map[string]uint8{}
	for i, from := range edges {
		if from > maxRune {
			break
		}
		var signature []byte
		for _, s := range steps {
			if s.set.has(from) {
				signature = append(signature, 1)
			} else {
				signature = append(signature, 0)
			}
		}
		class, ok := signatures[string(signature)]
		if !ok {
			class = uint8(len(found))
			signatures[string(signature)] = class
			found = append(found, from)
		}
		if from >= 0x80 {
			p.starts, p.above = append(p.starts, from), append(p.above, class)
			continue
		}
		to := rune(0x80)
		if i+1 < len(edges) {
			to = min(to, edges[i+1])
		}
		for c := from; c < to; c++ {
			p.ascii[c] = class
		}
	}
	return found
}
