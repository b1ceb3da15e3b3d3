package canon_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/gowebpki/jcs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/canon"
)

// RFC 8785 appendix B.
func TestAppendFloat_AppendixB(t *testing.T) {
	for _, tt := range []struct {
		bits uint64
		want string
	}{
		{0x0000000000000000, "0"},
		{0x8000000000000000, "0"},
		{0x0000000000000001, "5e-324"},
		{0x8000000000000001, "-5e-324"},
		{0x7fefffffffffffff, "1.7976931348623157e+308"},
		{0xffefffffffffffff, "-1.7976931348623157e+308"},
		{0x4340000000000000, "9007199254740992"},
		{0xc340000000000000, "-9007199254740992"},
		{0x4430000000000000, "295147905179352830000"},
		{0x44b52d02c7e14af5, "9.999999999999997e+22"},
		{0x44b52d02c7e14af6, "1e+23"},
		{0x44b52d02c7e14af7, "1.0000000000000001e+23"},
		{0x444b1ae4d6e2ef4e, "999999999999999700000"},
		{0x444b1ae4d6e2ef4f, "999999999999999900000"},
		{0x444b1ae4d6e2ef50, "1e+21"},
		{0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
		{0x3eb0c6f7a0b5ed8d, "0.000001"},
		{0x41b3de4355555553, "333333333.3333332"},
		{0x41b3de4355555554, "333333333.33333325"},
		{0x41b3de4355555555, "333333333.3333333"},
		{0x41b3de4355555556, "333333333.3333334"},
		{0x41b3de4355555557, "333333333.33333343"},
		{0xbecbf647612f3696, "-0.0000033333333333333333"},
		{0x43143ff3c1cb0959, "1424953923781206.2"},
	} {
		assert.Equal(t, tt.want, string(canon.AppendFloat(nil, math.Float64frombits(tt.bits))), "%016x", tt.bits)
	}
	for _, bits := range []uint64{0x7fffffffffffffff, 0x7ff0000000000000, 0xfff0000000000000} {
		assert.Panics(t, func() { canon.AppendFloat(nil, math.Float64frombits(bits)) })
		_, err := canon.Append(nil, math.Float64frombits(bits))
		assert.Error(t, err)
	}
}

// corpus is the number corpus that RFC 8785 appendix B points to: fixed values, then 2,000 in a row, then the words of a
// chain of SHA-256 that are finite and not zero.
func corpus() func() uint64 {
	var fixed []uint64
	for _, word := range strings.Fields(corpusStart) {
		n, err := strconv.ParseUint(word, 16, 64)
		if err != nil {
			panic(err)
		}
		fixed = append(fixed, n)
	}
	for i := range uint64(2000) {
		fixed = append(fixed, 0x0010000000000000+i)
	}
	var block [sha256.Size]byte
	var words []byte
	return func() uint64 {
		if len(fixed) > 0 {
			n := fixed[0]
			fixed = fixed[1:]
			return n
		}
		for {
			if len(words) == 0 {
				block = sha256.Sum256(block[:])
				words = block[:]
			}
			n := binary.LittleEndian.Uint64(words)
			words = words[8:]
			if f := math.Float64frombits(n); f != 0 && !math.IsInf(f, 0) && !math.IsNaN(f) {
				return n
			}
		}
	}
}

// The published SHA-256 of the first lines of the corpus with its expected values.
func TestAppendFloat_Corpus(t *testing.T) {
	want := map[int]string{
		1_000:   "be18b62b6f69cdab33a7e0dae0d9cfa869fda80ddc712221570f9f40a5878687",
		10_000:  "b9f7a8e75ef22a835685a52ccba7f7d6bdc99e34b010992cbc5864cd12be6892",
		100_000: "22776e6d4b49fa294a0d0f349268e5c28808fe7e0cb2bcbe28f63894e494d4c7",
	}
	next, sum := corpus(), sha256.New()
	for i := 1; i <= 100_000; i++ {
		bits := next()
		_, _ = fmt.Fprintf(sum, "%x,%s\n", bits, canon.AppendFloat(nil, math.Float64frombits(bits)))
		if digest, checked := want[i]; checked {
			require.Equal(t, digest, hex.EncodeToString(sum.Sum(nil)), "after %d", i)
		}
	}
}

// slow writes a number by the words of ECMA-262 section 6.1.6.1.20, from exact fractions: the fewest digits whose decimal
// lies where every number rounds to f, of those the closest, of two the even one.
func slow(f float64) string {
	if f == 0 {
		return "0"
	}
	if f < 0 {
		return "-" + slow(-f)
	}
	exact := new(big.Rat).SetFloat64(f)
	ten := big.NewInt(10)
	power := func(e int) *big.Rat {
		p := new(big.Int).Exp(ten, big.NewInt(int64(max(e, -e))), nil)
		if e < 0 {
			return new(big.Rat).SetFrac(big.NewInt(1), p)
		}
		return new(big.Rat).SetInt(p)
	}
	n := int(math.Floor(math.Log10(f))) + 1 // f = 0.d1d2… × 10^n, or one off
	for exact.Cmp(power(n)) >= 0 {
		n++
	}
	for exact.Cmp(power(n-1)) < 0 {
		n--
	}
	for k := 1; ; k++ {
		scaled := new(big.Rat).Mul(exact, power(k-n))
		low := new(big.Int).Quo(scaled.Num(), scaled.Denom())
		best := ""
		var distance *big.Rat
		for _, s := range []*big.Int{low, new(big.Int).Add(low, big.NewInt(1))} {
			back := new(big.Rat).Mul(new(big.Rat).SetInt(s), power(n-k))
			if got, _ := back.Float64(); got != f {
				continue
			}
			d := new(big.Rat).Sub(back, exact)
			d.Abs(d)
			if best == "" || d.Cmp(distance) < 0 || d.Cmp(distance) == 0 && s.Bit(0) == 0 { // a tie: the even one
				best, distance = s.String(), d
			}
		}
		if best == "" {
			continue
		}
		if len(best) > k { // rounded up to the next power of ten
			best, n = strings.TrimRight(best, "0"), n+1
		}
		return layout(best, len(best), n)
	}
}

func layout(s string, k, n int) string {
	switch {
	case k <= n && n <= 21:
		return s + strings.Repeat("0", n-k)
	case 0 < n && n <= 21:
		return s[:n] + "." + s[n:]
	case -6 < n && n <= 0:
		return "0." + strings.Repeat("0", -n) + s
	}
	exp := fmt.Sprintf("e%+d", n-1)
	if k == 1 {
		return s + exp
	}
	return s[:1] + "." + s[1:] + exp
}

// Two others write the same: one from exact fractions, and a published library.
func TestAppendFloat_AsOthersDo(t *testing.T) {
	next := corpus()
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 2800 {
		bits := next()
		switch {
		case i >= 2600: // decimal fractions, as people write them
			bits = math.Float64bits(float64(random.IntN(1e9)) / math.Pow10(random.IntN(12)))
		case i >= 2400: // around powers of two and ten
			bits = math.Float64bits(math.Pow10(random.IntN(600)-300)) + uint64(random.IntN(5)) - 2
		}
		f := math.Float64frombits(bits)
		got := string(canon.AppendFloat(nil, f))
		require.Equal(t, slow(f), got, "%x", bits)
		other, err := jcs.NumberToJSON(f)
		require.NoError(t, err)
		require.Equal(t, other, got, "%x", bits)
		text, err := canon.Canonical([]byte(strconv.FormatFloat(f, 'e', 25, 64)))
		require.NoError(t, err)
		require.Equal(t, got, string(text), "%x", bits)
	}
}

const corpusStart = `
0 8000000000000000 1 8000000000000001
c46696695dbd1cc3 c43211ede4974a35 c3fce97ca0f21056 c3c7213080c1a6ac c39280f39a348556 c35d9b1f5d20d557 c327af4c4a80aaac c2f2f2a36ecd5556
c2be51057e155558 c28840d131aaaaac c253670dc1555557 c21f0b4935555557 c1e8d5d42aaaaaac c1b3de4355555556 c17fca0555555556 c1496e6aaaaaaaab
c114585555555555 c0e046aaaaaaaaab c0aa0aaaaaaaaaaa c074d55555555555 c040aaaaaaaaaaab c00aaaaaaaaaaaab bfd5555555555555 bfa1111111111111
bf6b4e81b4e81b4f bf35d867c3ece2a5 bf0179ec9cbd821e becbf647612f3696 be965e9f80f29212 be61e54c672874db be2ca213d840baf8 bdf6e80fe033c8c6
bdc2533fe68fd3d2 bd8d51ffd74c861c bd5774ccac3d3817 bd22c3d6f030f9ac bcee0624b3818f79 bcb804ea293472c7 bc833721ba905bd3 bc4ebe9c5db3c61e
bc18987d17c304e5 bbe3ad30dfcf371d bbaf7b816618582f bb792f9ab81379bf bb442615600f9499 bb101e77800c76e1 bad9ca58cce0be35 baa4a1e0a3e6fe90
ba708180831f320d ba3a68cd9e985016
446696695dbd1cc3 443211ede4974a35 43fce97ca0f21056 43c7213080c1a6ac 439280f39a348556 435d9b1f5d20d557 4327af4c4a80aaac 42f2f2a36ecd5556
42be51057e155558 428840d131aaaaac 4253670dc1555557 421f0b4935555557 41e8d5d42aaaaaac 41b3de4355555556 417fca0555555556 41496e6aaaaaaaab
4114585555555555 40e046aaaaaaaaab 40aa0aaaaaaaaaaa 4074d55555555555 4040aaaaaaaaaaab 400aaaaaaaaaaaab 3fd5555555555555 3fa1111111111111
3f6b4e81b4e81b4f 3f35d867c3ece2a5 3f0179ec9cbd821e 3ecbf647612f3696 3e965e9f80f29212 3e61e54c672874db 3e2ca213d840baf8 3df6e80fe033c8c6
3dc2533fe68fd3d2 3d8d51ffd74c861c 3d5774ccac3d3817 3d22c3d6f030f9ac 3cee0624b3818f79 3cb804ea293472c7 3c833721ba905bd3 3c4ebe9c5db3c61e
3c18987d17c304e5 3be3ad30dfcf371d 3baf7b816618582f 3b792f9ab81379bf 3b442615600f9499 3b101e77800c76e1 3ad9ca58cce0be35 3aa4a1e0a3e6fe90
3a708180831f320d 3a3a68cd9e985016
4024000000000000 4014000000000000 3fe0000000000000 3fa999999999999a 3f747ae147ae147b 3f40624dd2f1a9fc 3f0a36e2eb1c432d 3ed4f8b588e368f1
3ea0c6f7a0b5ed8d 3e6ad7f29abcaf48 3e35798ee2308c3a 3ed539223589fa95 3ed4ff26cd5a7781 3ed4f95a762283ff 3ed4f8c60703520c 3ed4f8b72f19cd0d
3ed4f8b5b31c0c8d 3ed4f8b58d1c461a 3ed4f8b5894f7f0e 3ed4f8b588ee37f3 3ed4f8b588e47da4 3ed4f8b588e3849c 3ed4f8b588e36bb5 3ed4f8b588e36937
3ed4f8b588e368f8 3ed4f8b588e368f1 3ff0000000000000 bff0000000000000 bfeffffffffffffa bfeffffffffffffb 3feffffffffffffa 3feffffffffffffb
3feffffffffffffc 3feffffffffffffe bfefffffffffffff bfefffffffffffff 3fefffffffffffff 3fefffffffffffff 3fd3333333333332 3fd3333333333333
3fd3333333333334 10000000000000 ffffffffffffd fffffffffffff 7fefffffffffffff ffefffffffffffff 4340000000000000 c340000000000000
4430000000000000 44b52d02c7e14af5 44b52d02c7e14af6 44b52d02c7e14af7 444b1ae4d6e2ef4e 444b1ae4d6e2ef4f 444b1ae4d6e2ef50 3eb0c6f7a0b5ed8c
3eb0c6f7a0b5ed8d 41b3de4355555553 41b3de4355555554 41b3de4355555555 41b3de4355555556 41b3de4355555557 becbf647612f3696 43143ff3c1cb0959
`
