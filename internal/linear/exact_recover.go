package linear

import (
	"context"
	"math/big"
)

// recoverFractions finds rationals over one common denominator near x/2^shift. Each
// entry is first tried over the denominator found so far; where that fails its
// continued fraction supplies the missing factor. It reports false where some entry's
// denominator would be too large to be told apart at this precision, or the context ended. The result is a guess: verify it.
func recoverFractions(ctx context.Context, x []*big.Int, shift uint) (*Fractions, bool) {
	den := big.NewInt(1)
	num := make([]*big.Int, len(x))
	known := make([]*big.Int, len(x)) // the denominator an entry's numerator was found over
	guard := shift / 8
	var scaled, rest, half big.Int
	for i, xi := range x {
		if den.BitLen()+int(guard) > int(shift) || i%64 == 0 && ctx.Err() != nil {
			return nil, false
		}
		scaled.Mul(xi, den)
		n, err := roundShift(&scaled, shift, &rest, &half)
		if err.BitLen() > den.BitLen()+int(guard/2) {
			p, q, ok := convergent(&scaled, shift, uint(den.BitLen())+guard/2)
			if !ok {
				return nil, false
			}
			den = new(big.Int).Mul(den, q)
			n = p
		}
		num[i], known[i] = n, den
	}
	for i := range num {
		if known[i] != den && known[i].Cmp(den) != 0 {
			num[i].Mul(num[i], half.Quo(den, known[i]))
		}
	}
	return &Fractions{Num: num, Den: den}, true
}

// roundShift returns the integer nearest to x/2^shift and the distance in units of 2^-shift.
func roundShift(x *big.Int, shift uint, rest, half *big.Int) (n, distance *big.Int) {
	half.Lsh(unit, shift-1)
	n = new(big.Int).Add(x, half)
	n.Rsh(n, shift)
	rest.Lsh(n, shift)
	return n, rest.Sub(x, rest).Abs(rest)
}

// convergent returns the first continued-fraction convergent p/q of x/2^shift that
// lies within 2^slack units of 2^-shift, and whether q is small enough for that to mean something.
func convergent(x *big.Int, shift, slack uint) (p, q *big.Int, ok bool) {
	a, b := new(big.Int).Set(x), new(big.Int).Lsh(unit, shift)
	negative := a.Sign() < 0
	a.Abs(a)
	p0, p1 := big.NewInt(0), big.NewInt(1)
	q0, q1 := big.NewInt(1), big.NewInt(0)
	quotient, rest, term := new(big.Int), new(big.Int), new(big.Int)
	for b.Sign() != 0 {
		quotient.QuoRem(a, b, rest)
		a, b, rest = b, rest, a
		term.Mul(quotient, p1)
		p0.Add(p0, term)
		p0, p1 = p1, p0
		term.Mul(quotient, q1)
		q0.Add(q0, term)
		q0, q1 = q1, q0
		if 2*q1.BitLen()+int(slack) > int(shift) {
			return nil, nil, false
		}
		// |x/2^shift - p/q| = b/(q 2^shift): the Euclidean remainder is the distance times q.
		if b.BitLen() <= int(slack)+q1.BitLen() {
			break
		}
	}
	if negative {
		p1.Neg(p1)
	}
	return p1, q1, true
}
