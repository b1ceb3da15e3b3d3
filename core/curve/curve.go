// Package curve makes the strict checks of Ed25519 encodings that signature libraries leave out: is this the one encoding
// of a point of the curve (RFC 8032 section 5.1.3), is that point in the group of prime order, is this scalar below the
// order (MissionWeave, D6). It checks public values only: it takes no secret, signs nothing, and its time
// depends on what it is given. The equation itself is crypto/ed25519's.
//
// The check of the order is a computation, not a list of known bad points.
package curve

import "encoding/binary"

// Size of an encoded point or scalar, in bytes.
const Size = 32

// Point is a point of the curve -x² + y² = 1 + d·x²·y². Points are made by Decode; the zero value is none.
type Point struct{ x, y element }

// Decode reads an encoded point: y below p, least byte first, and the sign of x in the highest bit. ok is false when y is
// not below p, when no point has this y, and for the sign of x = 0.
func Decode(b *[Size]byte) (p Point, ok bool) {
	var n, m element
	if p.y, ok = decode(b); !ok {
		return Point{}, false
	}
	square(&n, &p.y) // x² = (y² - 1)/(d·y² + 1), and the divisor is never zero: -1/d is no square
	mul(&m, &n, &curveD)
	sub(&n, &n, &one)
	add(&m, &m, &one)
	if !root(&p.x, &n, &m) {
		return Point{}, false
	}
	if sign := b[31]>>7 == 1; p.x.zero() {
		if sign {
			return Point{}, false
		}
	} else if p.x.odd() != sign {
		sub(&p.x, &element{}, &p.x)
	}
	return p, true
}

// Identity reports whether p is the neutral point.
func (p *Point) Identity() bool { return p.x.zero() && same(&p.y, &one) }

// InGroup reports whether p is in the group of prime order L, that is [L]p is the neutral point. The neutral point itself
// is. It fails for the seven other points of small order and for every sum with one of them.
//
// All points are a cyclic group of order 8·L, so the group of order L is that of the eightfold points. p is halved once,
// in Montgomery's form with its 2-isogeny: p is a double just when u = s² is a square; then X = A + 2u + 2v/s is a square
// r² for one of the two signs of s; and a half has u' = (X - A + 2rs)/2 and v' = r·u'. That half must be a fourfold point,
// which the Tate pairing with a point of order 4 tells: just when (v' - √(A+2)·u')²/u' = (r - √(A+2))²·u' is a fourth power.
// (The other half differs by a fourfold point, so either will do.) Divisors are carried along, fourth powers of them left out.
func (p *Point) InGroup() bool {
	if p.x.zero() {
		return same(&p.y, &one) // (0, -1) has order 2
	}
	var n, m, s, d, nx, csm, x, r, t element
	add(&n, &one, &p.y)
	sub(&m, &one, &p.y)
	if !root(&s, &n, &m) { // u = n/m
		return false
	}
	mul(&d, &m, &p.x)
	mul(&nx, &n, &p.x)
	for sign := 0; ; sign++ {
		mul(&csm, &s, &m)
		mul(&csm, &csm, &montgomeryC)
		mul(&x, &montgomeryA, &d) // X = (A·m·x + 2·n·x + 2·c·s·m)/(m·x)
		add(&t, &nx, &csm)
		add(&x, &x, &t)
		add(&x, &x, &t)
		if root(&r, &x, &d) {
			break
		}
		if sign == 1 {
			return false // never: one of two numbers whose product is no square is one
		}
		sub(&s, &element{}, &s)
	}
	mul(&x, &s, &r) // u' = (n·x + c·s·m + s·r·m·x)/(m·x)
	mul(&x, &x, &d)
	add(&x, &x, &t)
	sub(&r, &r, &fourV)
	square(&r, &r)
	mul(&x, &x, &r)
	square(&r, &d)
	mul(&r, &r, &d)
	mul(&x, &x, &r)
	return fourthPower(&x)
}

// order is L = 2^252 + 27742317777372353535851937790883648493, least word first: the prime order of the group that the base
// point makes.
var order = [4]uint64{0x5812631a5cf5d3ed, 0x14def9dea2f79cd6, 0, 0x1000000000000000}

// Scalar reports whether b, least byte first, is below L.
func Scalar(b *[Size]byte) bool {
	for i := 3; i >= 0; i-- {
		if w := binary.LittleEndian.Uint64(b[8*i:]); w != order[i] {
			return w < order[i]
		}
	}
	return false
}
