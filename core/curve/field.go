package curve

import (
	"encoding/binary"
	"math/bits"
)

// element is a number modulo p = 2^255 - 19 as five limbs of 51 bits, least first. Every function takes limbs below 2^52 and
// gives such limbs; a number has several forms until bytes makes it one.
type element [5]uint64

const mask = 1<<51 - 1

var (
	one = element{1}
	// d of the curve: -121665/121666.
	curveD = element{929955233495203, 466365720129213, 1662059464998953, 2033849074728123, 1442794654840575}
	// a square root of -1: 2^((p-1)/4).
	rootMinusOne = element{1718705420411056, 234908883556509, 2233514472574048, 2117202627021982, 765476049583133}
	// The same curve in Montgomery's form, v² = u³ + A·u² + u with u = (1+y)/(1-y), v = c·u/x: A, c = √-(A+2), and √(A+2),
	// which is the v of a point of order 4 with u = 1.
	montgomeryA = element{486662}
	montgomeryC = element{1693982333959686, 608509411481997, 2235573344831311, 947681270984193, 266558006233600}
	fourV       = element{643143913980949, 251828200308020, 2201891178899527, 378099121503595, 1898097605057180}
)

// The functions below write to their first argument, which may be one of the others.

// carry brings limbs below 2^52.
func carry(out *element, a0, a1, a2, a3, a4 uint64) {
	out[0] = a0&mask + a4>>51*19
	out[1] = a1&mask + a0>>51
	out[2] = a2&mask + a1>>51
	out[3] = a3&mask + a2>>51
	out[4] = a4&mask + a3>>51
}

func add(out, a, b *element) {
	carry(out, a[0]+b[0], a[1]+b[1], a[2]+b[2], a[3]+b[3], a[4]+b[4])
}

// sub adds 4p first, so that no limb goes below zero.
func sub(out, a, b *element) {
	const first, other = 0x1fffffffffffb4, 0x1ffffffffffffc
	carry(out, a[0]+first-b[0], a[1]+other-b[1], a[2]+other-b[2], a[3]+other-b[3], a[4]+other-b[4])
}

// wide is a sum of products.
type wide struct{ hi, lo uint64 }

func product(a, b uint64) wide {
	hi, lo := bits.Mul64(a, b)
	return wide{hi, lo}
}

func (w wide) plus(a, b uint64) wide {
	hi, lo := bits.Mul64(a, b)
	lo, c := bits.Add64(w.lo, lo, 0)
	return wide{w.hi + hi + c, lo}
}

// fold reduces five sums, each below 2^115, to limbs.
func fold(out *element, r0, r1, r2, r3, r4 wide) {
	c0, c1, c2, c3, c4 := r0.hi<<13|r0.lo>>51, r1.hi<<13|r1.lo>>51, r2.hi<<13|r2.lo>>51, r3.hi<<13|r3.lo>>51, r4.hi<<13|r4.lo>>51
	carry(out, r0.lo&mask+c4*19, r1.lo&mask+c0, r2.lo&mask+c1, r3.lo&mask+c2, r4.lo&mask+c3)
}

func mul(out, a, b *element) {
	a0, a1, a2, a3, a4 := a[0], a[1], a[2], a[3], a[4]
	b0, b1, b2, b3, b4 := b[0], b[1], b[2], b[3], b[4]
	a1x, a2x, a3x, a4x := a1*19, a2*19, a3*19, a4*19 // what passes 2^255 comes back 19 times

	r0 := product(a0, b0)
	r0 = r0.plus(a1x, b4)
	r0 = r0.plus(a2x, b3)
	r0 = r0.plus(a3x, b2)
	r0 = r0.plus(a4x, b1)

	r1 := product(a0, b1)
	r1 = r1.plus(a1, b0)
	r1 = r1.plus(a2x, b4)
	r1 = r1.plus(a3x, b3)
	r1 = r1.plus(a4x, b2)

	r2 := product(a0, b2)
	r2 = r2.plus(a1, b1)
	r2 = r2.plus(a2, b0)
	r2 = r2.plus(a3x, b4)
	r2 = r2.plus(a4x, b3)

	r3 := product(a0, b3)
	r3 = r3.plus(a1, b2)
	r3 = r3.plus(a2, b1)
	r3 = r3.plus(a3, b0)
	r3 = r3.plus(a4x, b4)

	r4 := product(a0, b4)
	r4 = r4.plus(a1, b3)
	r4 = r4.plus(a2, b2)
	r4 = r4.plus(a3, b1)
	r4 = r4.plus(a4, b0)
	fold(out, r0, r1, r2, r3, r4)
}

func square(out, a *element) {
	a0, a1, a2, a3, a4 := a[0], a[1], a[2], a[3], a[4]
	d0, d1 := a0*2, a1*2
	a3x, a4x := a3*19, a4*19

	r0 := product(a0, a0)
	r0 = r0.plus(d1, a4x)
	r0 = r0.plus(a2*2, a3x)

	r1 := product(d0, a1)
	r1 = r1.plus(a2*2, a4x)
	r1 = r1.plus(a3, a3x)

	r2 := product(d0, a2)
	r2 = r2.plus(a1, a1)
	r2 = r2.plus(a3*2, a4x)

	r3 := product(d0, a3)
	r3 = r3.plus(d1, a2)
	r3 = r3.plus(a4, a4x)

	r4 := product(d0, a4)
	r4 = r4.plus(d1, a3)
	r4 = r4.plus(a2, a2)
	fold(out, r0, r1, r2, r3, r4)
}

// squares is a^(2^n).
func squares(out, a *element, n int) {
	square(out, a)
	for range n - 1 {
		square(out, out)
	}
}

// power is a^((p-5)/8) = a^(2^252 - 3).
func power(out, a *element) {
	var a2, a9, t, t5, t10, t20, t50, t100 element
	square(&a2, a)
	squares(&t, &a2, 2)
	mul(&a9, &t, a)
	mul(&t, &a9, &a2) // a^11
	square(&t, &t)
	mul(&t5, &t, &a9) // 2^5 - 1
	squares(&t, &t5, 5)
	mul(&t10, &t, &t5)
	squares(&t, &t10, 10)
	mul(&t20, &t, &t10)
	squares(&t, &t20, 20)
	mul(&t, &t, &t20) // 2^40 - 1
	squares(&t, &t, 10)
	mul(&t50, &t, &t10)
	squares(&t, &t50, 50)
	mul(&t100, &t, &t50)
	squares(&t, &t100, 100)
	mul(&t, &t, &t100) // 2^200 - 1
	squares(&t, &t, 50)
	mul(&t, &t, &t50) // 2^250 - 1
	squares(&t, &t, 2)
	mul(out, &t, a)
}

// root sets out to a square root of n/m; ok is false when there is none, and then out is of no use. m is not zero.
func root(out, n, m *element) (ok bool) {
	var m2, x, w element
	square(&m2, m)
	mul(&x, n, m)
	mul(&x, &x, &m2) // n·m³
	square(&w, &m2)
	mul(&w, &x, &w) // n·m⁷
	power(&w, &w)
	mul(out, &x, &w) // the candidate n·m³·(n·m⁷)^((p-5)/8) of RFC 8032 section 5.1.3
	square(&w, out)
	mul(&w, &w, m)
	if same(&w, n) {
		return true
	}
	mul(out, out, &rootMinusOne)
	add(&w, &w, n)
	return w.zero()
}

// fourthPower reports whether a, which is not zero, is the fourth power of a number: a^((p-1)/4) is 1.
func fourthPower(a *element) bool {
	var w element
	power(&w, a)
	square(&w, &w)
	mul(&w, &w, a)
	return same(&w, &one)
}

// decode reads 32 bytes, least first, without the highest bit. ok is false for p and above.
func decode(b *[32]byte) (e element, ok bool) {
	w0, w1 := binary.LittleEndian.Uint64(b[0:]), binary.LittleEndian.Uint64(b[8:])
	w2, w3 := binary.LittleEndian.Uint64(b[16:]), binary.LittleEndian.Uint64(b[24:])&^(1<<63)
	e = element{w0 & mask, (w0>>51 | w1<<13) & mask, (w1>>38 | w2<<26) & mask, (w2>>25 | w3<<39) & mask, w3 >> 12}
	return e, w3 != 1<<63-1 || w2 != 1<<64-1 || w1 != 1<<64-1 || w0 < 1<<64-19
}

// bytes is the one form of a: below p, least byte first.
func (a element) bytes() (out [32]byte) {
	carry(&a, a[0], a[1], a[2], a[3], a[4])
	// q is 1 when a is p or above: then a + 19 passes 2^255.
	q := (a[0] + 19) >> 51
	for _, limb := range a[1:] {
		q = (limb + q) >> 51
	}
	a[0] += 19 * q
	for i := range 4 {
		a[i+1] += a[i] >> 51
		a[i] &= mask
	}
	a[4] &= mask
	binary.LittleEndian.PutUint64(out[0:], a[0]|a[1]<<51)
	binary.LittleEndian.PutUint64(out[8:], a[1]>>13|a[2]<<38)
	binary.LittleEndian.PutUint64(out[16:], a[2]>>26|a[3]<<25)
	binary.LittleEndian.PutUint64(out[24:], a[3]>>39|a[4]<<12)
	return out
}

func same(a, b *element) bool { return a.bytes() == b.bytes() }

func (a element) zero() bool { return a.bytes() == [32]byte{} }

// odd is the sign of a coordinate (RFC 8032 section 5.1.2).
func (a element) odd() bool { return a.bytes()[0]&1 == 1 }
