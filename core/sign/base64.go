package sign

// decode64 reads base64url without padding (RFC 4648 section 5) into out and returns how many bytes it was. ok is false for
// every spelling but the canonical one (R-2.9, D4): another alphabet, padding, white space, a length that no bytes have,
// unused bits that are not zero, or more bytes than out has room for.
func decode64(out, text []byte) (n int, ok bool) {
	rest := len(text) % 4
	size := len(text)/4*3 + rest*3/4
	if rest == 1 || size > len(out) {
		return 0, false
	}
	var word uint32
	for i, c := range text {
		v := value64(c)
		if v > 63 {
			return 0, false
		}
		word = word<<6 | uint32(v)
		if i%4 == 3 {
			out[n], out[n+1], out[n+2] = byte(word>>16), byte(word>>8), byte(word)
			n, word = n+3, 0
		}
	}
	switch rest {
	case 2:
		out[n], n = byte(word>>4), n+1
		return n, word&0xf == 0
	case 3:
		out[n], out[n+1], n = byte(word>>10), byte(word>>2), n+2
		return n, word&3 == 0
	}
	return n, true
}

func value64(c byte) byte {
	switch {
	case c >= 'A' && c <= 'Z':
		return c - 'A'
	case c >= 'a' && c <= 'z':
		return c - 'a' + 26
	case c >= '0' && c <= '9':
		return c - '0' + 52
	case c == '-':
		return 62
	case c == '_':
		return 63
	}
	return 0xff
}
