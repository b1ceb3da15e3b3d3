// Package uri knows the one grammar of identifiers: absolute URIs of RFC 3986 (section 3), in visible ASCII, from the first
// character to the last (MissionWeave, D3). It only says yes or no. Identifiers are compared byte for byte,
// so nothing here normalises, decodes or resolves one, and no network name is looked up.
//
// Parsers of URLs are no substitute: they take what RFC 3986 does not (raw non-ASCII, "%GG", "[not-an-ip]") and refuse what
// it has ("[v1.a]", long ports).
package uri

// Classes of characters (RFC 3986 section 2).
const (
	unreserved = 1 << iota
	subDelim
	hexDigit
	digit
	alpha
)

var classes = func() (t [256]uint8) {
	for c := range t {
		switch {
		case c >= '0' && c <= '9':
			t[c] = unreserved | hexDigit | digit
		case c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F':
			t[c] = unreserved | hexDigit | alpha
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			t[c] = unreserved | alpha
		}
	}
	for _, c := range "-._~" {
		t[c] |= unreserved
	}
	for _, c := range "!$&'()*+,;=" {
		t[c] |= subDelim
	}
	return t
}()

// Valid reports whether s is a URI of RFC 3986: scheme ":" hier-part [ "?" query ] [ "#" fragment ].
func Valid[T string | []byte](s T) bool {
	i := 0
	for i < len(s) && (classes[s[i]]&(alpha|digit) != 0 || s[i] == '+' || s[i] == '-' || s[i] == '.') {
		i++
	}
	if i == 0 || i == len(s) || s[i] != ':' || classes[s[0]]&alpha == 0 {
		return false
	}
	i++
	if i+1 < len(s) && s[i] == '/' && s[i+1] == '/' {
		end := i + 2
		for end < len(s) && s[end] != '/' && s[end] != '?' && s[end] != '#' {
			end++
		}
		if !authority(s[i+2 : end]) {
			return false
		}
		i = end
	}
	i = run(s, i, ":@/") // a path here begins with "/" or is empty after an authority, and does not begin with "//" without one
	if i < len(s) && s[i] == '?' {
		i = run(s, i+1, ":@/?")
	}
	if i < len(s) && s[i] == '#' {
		i = run(s, i+1, ":@/?")
	}
	return i == len(s)
}

// run passes over unreserved characters, sub-delims, percent-encoded bytes and those of more.
func run[T string | []byte](s T, i int, more string) int {
	for i < len(s) {
		c := s[i]
		switch {
		case classes[c]&(unreserved|subDelim) != 0:
			i++
		case c == '%' && i+2 < len(s) && classes[s[i+1]]&classes[s[i+2]]&hexDigit != 0:
			i += 3
		case has(more, c):
			i++
		default:
			return i
		}
	}
	return i
}

func has(set string, c byte) bool {
	for i := range len(set) {
		if set[i] == c {
			return true
		}
	}
	return false
}

// authority is [ userinfo "@" ] host [ ":" port ] (section 3.2).
func authority[T string | []byte](s T) bool {
	for i := range len(s) {
		if s[i] == '@' {
			if run(s[:i], 0, ":") != i {
				return false
			}
			s = s[i+1:]
			break
		}
	}
	if len(s) > 0 && s[0] == '[' {
		end := 1
		for end < len(s) && s[end] != ']' {
			end++
		}
		if end == len(s) || !literal(s[1:end]) {
			return false
		}
		return port(s[end+1:])
	}
	return port(s[run(s, 0, ""):]) // IPv4 addresses are names too
}

// port is nothing, or ":" and any number of digits.
func port[T string | []byte](s T) bool {
	if len(s) == 0 {
		return true
	}
	for i := 1; i < len(s); i++ {
		if classes[s[i]]&digit == 0 {
			return false
		}
	}
	return s[0] == ':'
}

// literal is what stands between brackets: an IPv6 address or a future one (section 3.2.2).
func literal[T string | []byte](s T) bool {
	if len(s) == 0 || s[0]|0x20 != 'v' {
		return ipv6(s)
	}
	i := 1
	for i < len(s) && classes[s[i]]&hexDigit != 0 {
		i++
	}
	if i == 1 || i+1 >= len(s) || s[i] != '.' {
		return false
	}
	for i++; i < len(s); i++ {
		if classes[s[i]]&(unreserved|subDelim) == 0 && s[i] != ':' {
			return false
		}
	}
	return true
}

// ipv6 is eight groups of one to four hexadecimal digits, or at most seven and one "::"; the last two may be written as an
// IPv4 address.
func ipv6[T string | []byte](s T) bool {
	groups, short := 0, false
	i := 0
	if len(s) >= 2 && s[0] == ':' {
		if s[1] != ':' {
			return false
		}
		short, i = true, 2
		if i == len(s) {
			return true
		}
	}
	for {
		from := i
		for i < len(s) && classes[s[i]]&hexDigit != 0 {
			i++
		}
		if i < len(s) && s[i] == '.' {
			groups += 2
			return ipv4(s[from:]) && (groups == 8 && !short || groups < 8 && short)
		}
		if i == from || i-from > 4 {
			return false
		}
		groups++
		switch {
		case i == len(s):
			return groups == 8 && !short || groups < 8 && short
		case s[i] != ':':
			return false
		}
		i++
		if i < len(s) && s[i] == ':' {
			if short {
				return false
			}
			short = true
			if i++; i == len(s) {
				return groups < 8
			}
		}
	}
}

// ipv4 is four numbers to 255 without leading zeros.
func ipv4[T string | []byte](s T) bool {
	i := 0
	for part := range 4 {
		if part > 0 {
			if i >= len(s) || s[i] != '.' {
				return false
			}
			i++
		}
		from, n := i, 0
		for i < len(s) && i < from+3 && classes[s[i]]&digit != 0 {
			n = n*10 + int(s[i]-'0')
			i++
		}
		if i == from || n > 255 || i-from > 1 && s[from] == '0' {
			return false
		}
	}
	return i == len(s)
}
