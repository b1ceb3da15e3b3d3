package compiled

// decimal is a JSON number exactly as it is written: 0.d₁d₂d₃… × 10^exp with d₁ not zero. It is never computed, only compared,
// so a number costs its length whatever its exponent says.
type decimal struct {
	negative bool
	zero     bool
	digits   []byte // text from the first digit that is not zero to the last one, with the point inside
	exp      int    // decimal places before the point, saturated
	source   []byte // as it is written
	low      int    // exponent of the last digit that is not zero: whole from 0
}

const farAway = 1 << 40 // more than any length

func number(text []byte) decimal {
	d := decimal{source: text}
	i := 0
	if i < len(text) && text[i] == '-' {
		d.negative = true
		i++
	}
	mantissa := i
	for i < len(text) && text[i]|0x20 != 'e' {
		i++
	}
	exp := exponent(text[i:])
	point, first, last := i, -1, -1
	for k := mantissa; k < i; k++ {
		switch c := text[k]; {
		case c == '.':
			point = k
		case c != '0':
			if first < 0 {
				first = k
			}
			last = k
		}
	}
	if first < 0 {
		return decimal{zero: true, source: text}
	}
	d.digits = text[first : last+1]
	place := func(k int) int { // exponent of the digit at k
		if k < point {
			return point - k - 1 + exp
		}
		return point - k + exp
	}
	d.exp, d.low = place(first)+1, place(last)
	return d
}

// exponent reads e±digits, "" is 0.
func exponent(text []byte) int {
	if len(text) == 0 {
		return 0
	}
	text = text[1:]
	negative := false
	if len(text) > 0 && (text[0] == '+' || text[0] == '-') {
		negative = text[0] == '-'
		text = text[1:]
	}
	n := 0
	for _, c := range text {
		if n = n*10 + int(c-'0'); n > farAway {
			n = farAway
		}
	}
	if negative {
		return -n
	}
	return n
}

// whole is what JSON Schema calls an integer: 42.0 and 4.2e1 are.
func (d decimal) whole() bool { return d.zero || d.low >= 0 }

// compare gives -1, 0, 1.
func (d decimal) compare(e decimal) int {
	sign := func(d decimal) int {
		switch {
		case d.zero:
			return 0
		case d.negative:
			return -1
		}
		return 1
	}
	a, b := sign(d), sign(e)
	switch {
	case a != b && a < b:
		return -1
	case a != b:
		return 1
	case a == 0:
		return 0
	case d.exp != e.exp:
		if d.exp < e.exp {
			return -a
		}
		return a
	}
	return a * digits(d.digits, e.digits)
}

func digits(a, b []byte) int {
	i, k := 0, 0
	for {
		if i < len(a) && a[i] == '.' {
			i++
		}
		if k < len(b) && b[k] == '.' {
			k++
		}
		switch {
		case i == len(a) && k == len(b):
			return 0
		case i == len(a):
			return -1 // what follows in b ends with a digit that is not zero
		case k == len(b):
			return 1
		case a[i] < b[k]:
			return -1
		case a[i] > b[k]:
			return 1
		}
		i, k = i+1, k+1
	}
}
