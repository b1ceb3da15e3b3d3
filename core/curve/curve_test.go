package curve_test

import (
	"crypto/ed25519"
	"encoding/hex"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/curve"
)

// The reference: affine points and exact integers, by the words of RFC 8032 section 5.1.
var (
	p     = sub(new(big.Int).Lsh(big.NewInt(1), 255), big.NewInt(19))
	l, _  = new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989", 10)
	d     = mod(new(big.Int).Mul(big.NewInt(-121665), new(big.Int).ModInverse(big.NewInt(121666), p)))
	base  = mustDecode(append([]byte{0x58}, slices.Repeat([]byte{0x66}, 31)...))
	torso = torsion()
)

type point struct{ x, y *big.Int }

func sub(a, b *big.Int) *big.Int   { return new(big.Int).Sub(a, b) }
func mod(a *big.Int) *big.Int      { return a.Mod(a, p) }
func times(a, b *big.Int) *big.Int { return mod(new(big.Int).Mul(a, b)) }

func plus(a, b point) point {
	dxy := times(d, times(times(a.x, b.x), times(a.y, b.y)))
	x := mod(new(big.Int).Add(times(a.x, b.y), times(a.y, b.x)))
	y := mod(new(big.Int).Add(times(a.y, b.y), times(a.x, b.x)))
	inv := func(n *big.Int) *big.Int { return new(big.Int).ModInverse(mod(n), p) }
	return point{times(x, inv(new(big.Int).Add(big.NewInt(1), dxy))), times(y, inv(sub(big.NewInt(1), dxy)))}
}

func multiple(n *big.Int, a point) point {
	sum := point{big.NewInt(0), big.NewInt(1)}
	for i := n.BitLen() - 1; i >= 0; i-- {
		sum = plus(sum, sum)
		if n.Bit(i) == 1 {
			sum = plus(sum, a)
		}
	}
	return sum
}

func encode(a point) (out [32]byte) {
	a.y.FillBytes(out[:])
	slices.Reverse(out[:])
	out[31] |= byte(a.x.Bit(0)) << 7
	return out
}

// reference reads an encoding as RFC 8032 section 5.1.3 says.
func reference(b []byte) (point, bool) {
	r := slices.Clone(b)
	slices.Reverse(r)
	sign := uint(r[0] >> 7)
	r[0] &= 0x7f
	y := new(big.Int).SetBytes(r)
	if y.Cmp(p) >= 0 {
		return point{}, false
	}
	yy := times(y, y)
	u := mod(sub(yy, big.NewInt(1)))
	v := mod(new(big.Int).Add(times(d, yy), big.NewInt(1)))
	x := new(big.Int).ModSqrt(times(u, new(big.Int).ModInverse(v, p)), p)
	switch {
	case x == nil || x.Sign() == 0 && sign == 1:
		return point{}, false
	case x.Bit(0) != sign:
		x = mod(new(big.Int).Neg(x))
	}
	return point{x, y}, true
}

func mustDecode(b []byte) point {
	a, ok := reference(b)
	if !ok {
		panic("no point")
	}
	return a
}

// torsion gives the eight points of small order: what a point becomes when the prime order is multiplied away.
func torsion() []point {
	for n := byte(2); ; n++ {
		b := make([]byte, 32)
		b[0] = n
		a, ok := reference(b)
		if !ok {
			continue
		}
		t := multiple(l, a)
		if four := multiple(big.NewInt(4), t); four.x.Sign() == 0 && four.y.Cmp(big.NewInt(1)) == 0 {
			continue // its order is below 8
		}
		all := []point{{big.NewInt(0), big.NewInt(1)}}
		for range 7 {
			all = append(all, plus(all[len(all)-1], t))
		}
		return all
	}
}

func verdict(b [32]byte) string {
	a, ok := curve.Decode(&b)
	switch {
	case !ok:
		return "no point"
	case a.Identity():
		return "identity"
	case a.InGroup():
		return "prime"
	}
	return "other order"
}

func fromHex(t *testing.T, s string) (b [32]byte) {
	t.Helper()
	raw, err := hex.DecodeString(s)
	require.NoError(t, err)
	require.Len(t, raw, 32)
	return [32]byte(raw)
}

// D6: every encoding that has ever been trouble.
func TestDecode_KnownEncodings(t *testing.T) {
	for _, tt := range []struct{ hex, want string }{
		// public keys of RFC 8032 section 7.1
		{"d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "prime"},
		{"3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "prime"},
		{"fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "prime"},
		{"278117fc144c72340f67d0f2316e8386ceffbf2b2428c9c51fef7c597f1d426e", "prime"},
		{"5866666666666666666666666666666666666666666666666666666666666666", "prime"},
		// small order, canonical
		{"0100000000000000000000000000000000000000000000000000000000000000", "identity"},
		{"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", "other order"},
		{"0000000000000000000000000000000000000000000000000000000000000000", "other order"},
		{"0000000000000000000000000000000000000000000000000000000000000080", "other order"},
		{"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05", "other order"},
		{"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85", "other order"},
		{"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a", "other order"},
		{"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa", "other order"},
		// small order, another spelling: negative zero, y ≥ p
		{"0100000000000000000000000000000000000000000000000000000000000080", "no point"},
		{"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff", "no point"},
		{"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", "no point"},
		{"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff", "no point"},
		{"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", "no point"},
		{"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff", "no point"},
		{"f0ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", "no point"},
		{"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", "no point"},
		{"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff", "no point"},
		// no x for this y
		{"0200000000000000000000000000000000000000000000000000000000000000", "no point"},
	} {
		assert.Equal(t, tt.want, verdict(fromHex(t, tt.hex)), tt.hex)
	}
	seen := map[[32]byte]bool{}
	for _, small := range torso {
		b := encode(small)
		assert.NotEqual(t, "prime", verdict(b), "%x", b)
		assert.NotEqual(t, "no point", verdict(b), "%x", b)
		seen[b] = true
	}
	assert.Len(t, seen, 8)
	// All that encodes a y from p to 2^255-1, with both signs.
	for n := range 19 {
		for _, sign := range []byte{0, 0x80} {
			b := fromHex(t, "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f")
			b[0] += byte(n)
			b[31] |= sign
			assert.Equal(t, "no point", verdict(b), "%x", b)
		}
	}
}

// A point and the same point moved by each point of small order: only the first is in the group.
func TestInGroup_FindsEveryHiddenTorsion(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 30 {
		n := mod(new(big.Int).SetUint64(r.Uint64()).Lsh(big.NewInt(r.Int64()), 180))
		a := multiple(n, base)
		for i, small := range torso {
			want := "other order"
			if i == 0 {
				want = "prime"
			}
			assert.Equal(t, want, verdict(encode(plus(a, small))), "%v moved by %d", n, i)
		}
	}
	for range 200 { // real keys
		seed := make([]byte, 32)
		for i := range seed {
			seed[i] = byte(r.Uint32())
		}
		assert.Equal(t, "prime", verdict([32]byte(ed25519.NewKeyFromSeed(seed)[32:])), "%x", seed)
	}
}

// Any point at all, against its multiple by L.
func TestInGroup_IsMultiplicationByTheOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for found := 0; found < 40; {
		var b [32]byte
		for k := range b {
			b[k] = byte(r.Uint32())
		}
		a, ok := reference(b[:])
		if !ok {
			continue
		}
		found++
		want := "other order"
		if end := multiple(l, a); end.x.Sign() == 0 && end.y.Cmp(big.NewInt(1)) == 0 {
			want = "prime"
		}
		require.Equal(t, want, verdict(b), "%x", b)
	}
}

// The field agrees with exact integers on random encodings and on those around every limb's edge.
func TestDecode_AsExactIntegersDo(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	edge := []byte{0, 1, 0x7f, 0x80, 0xfe, 0xff}
	for i := range 1200 {
		var b [32]byte
		for k := range b {
			if i%2 == 0 {
				b[k] = edge[r.IntN(len(edge))]
			} else {
				b[k] = byte(r.Uint32())
			}
		}
		want, ok := reference(b[:])
		_, got := curve.Decode(&b)
		require.Equal(t, ok, got, "%x", b)
		if ok {
			require.Equal(t, b, encode(want))
		}
	}
}

// 0 ≤ S < L.
func TestScalar(t *testing.T) {
	le := func(n *big.Int) (out [32]byte) {
		n.FillBytes(out[:])
		slices.Reverse(out[:])
		return out
	}
	add := func(n *big.Int, k int64) *big.Int { return new(big.Int).Add(n, big.NewInt(k)) }
	top := sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
	for _, tt := range []struct {
		n  *big.Int
		ok bool
	}{
		{big.NewInt(0), true},
		{big.NewInt(1), true},
		{add(l, -1), true},
		{add(l, -(1 << 62)), true},
		{new(big.Int).Lsh(big.NewInt(1), 252), true},
		{new(big.Int).Set(l), false},
		{add(l, 1), false},
		{add(l, 1<<62), false},
		{new(big.Int).Lsh(l, 1), false},
		{new(big.Int).Lsh(l, 3), false},
		{new(big.Int).Lsh(big.NewInt(1), 253), false},
		{top, false},
	} {
		b := le(tt.n)
		assert.Equal(t, tt.ok, curve.Scalar(&b), "%v", tt.n)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(make([]byte, 32))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) != 32 {
			return
		}
		b := [32]byte(raw)
		want, ok := reference(raw)
		a, got := curve.Decode(&b)
		if ok != got {
			t.Fatalf("%x: %v, the reference says %v", b, got, ok)
		}
		if ok && encode(want) != b {
			t.Fatalf("%x has another spelling", b)
		}
		if !ok && a != (curve.Point{}) {
			t.Fatalf("%x: a result without a point", b)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	key := [32]byte(ed25519.NewKeyFromSeed(make([]byte, 32))[32:])
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := curve.Decode(&key); !ok {
			b.Fatal()
		}
	}
}

func BenchmarkInGroup(b *testing.B) {
	key := [32]byte(ed25519.NewKeyFromSeed(make([]byte, 32))[32:])
	a, _ := curve.Decode(&key)
	b.ReportAllocs()
	for b.Loop() {
		if !a.InGroup() {
			b.Fatal()
		}
	}
}
