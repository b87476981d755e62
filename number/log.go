package number

import (
	"math/big"
	mathbits "math/bits"
	"sync"
)

// Log returns an enclosure of ln x at x's precision. The logarithm of a point is a few
// units in the last place wide. Where x holds numbers that are not positive, the
// lower end is -Inf; it panics if x holds no positive number.
func Log(x Interval) Interval {
	if x.hi.Sign() <= 0 {
		panic("interval: logarithm of a number that is not positive")
	}
	return rising(x, logPoint)
}

// rising returns the enclosure of f over x for a function f that does not fall: from the lower end of f at the lower end of x to
// the upper end of f at the upper end. f has x's precision, and takes infinite ends.
func rising(x Interval, f func(end *big.Float, prec uint) Interval) Interval {
	lower := f(x.lo, x.Prec())
	if x.isPoint() {
		return lower
	}
	return Interval{lower.lo, f(x.hi, x.Prec()).hi}
}

// LogRat returns an enclosure of ln x, a few units in the last of prec bits wide. It
// panics if x is not positive.
func LogRat(x *big.Rat, prec uint) Interval {
	if x.Sign() <= 0 {
		panic("interval: logarithm of a number that is not positive")
	}
	return logQuotient(x.Num(), x.Denom(), 0, checkPrec(prec))
}

// logPoint returns an enclosure of ln x: the whole line for x <= 0 and for +Inf.
func logPoint(x *big.Float, prec uint) Interval {
	if x.Sign() <= 0 || x.IsInf() {
		return wholeLine(prec)
	}
	var mant big.Float
	exp := x.MantExp(&mant)
	bits := int(x.MinPrec())
	num, _ := mant.SetMantExp(&mant, bits).Int(nil)
	return logQuotient(num, one, exp-bits, prec)
}

var one = big.NewInt(1)

// logQuotient returns an enclosure of ln(a/b·2^e) for a, b > 0.
//
// It writes a/b·2^e = m·2^e' with m in [2/3, 4/3], so that
// ln = e'·ln 2 + 2 artanh u, u = (m-1)/(m+1), |u| <= 1/5. As |2 artanh u| <= 0.41, the sum
// does not cancel by more than two bits for e' != 0; for e' = 0 the first addend is 0.
func logQuotient(a, b *big.Int, e int, prec uint) Interval {
	// a/b is in (2^(s-1), 2^(s+1)). Scale to (1/2, 2), then into [2/3, 4/3].
	s := a.BitLen() - b.BitLen()
	e += s
	if s >= 0 {
		b = new(big.Int).Lsh(b, uint(s))
	} else {
		a = new(big.Int).Lsh(a, uint(-s))
	}
	var l, r big.Int
	if l.Mul(a, big.NewInt(3)).Cmp(r.Lsh(b, 2)) > 0 { // m > 4/3
		b = new(big.Int).Lsh(b, 1)
		e++
	} else if r.Lsh(b, 1).Cmp(&l) > 0 { // m < 2/3
		a = new(big.Int).Lsh(a, 1)
		e--
	}
	w := prec + 8
	y := artanh(new(big.Int).Sub(a, b), new(big.Int).Add(a, b), w)
	y = y.Add(y) // twice the number: an exact doubling of the ends
	if e != 0 {
		y = y.Add(FromInt(int64(e), 64).Mul(ln2(w)))
	}
	return y.SetPrec(prec)
}

// artanh returns an enclosure of artanh(p/q) = Σ u^(2i+1)/(2i+1), u = p/q, with about
// prec bits, for |p/q| <= 1/3 and q > 0. It works in fixed point with w fractional bits.
//
// Let P_0 = U = ⌊|u|·2^w⌋, V = ⌊U²/2^w⌋, P_i = ⌊P_(i-1)·V/2^w⌋, down to the first P_m = 0, and
// S = Σ ⌊P_i/(2i+1)⌋, a lower bound on 2^w·artanh|u|. In units of 2^-w, V falls short
// of u² by less than 2|u| + 1 < 2, and P_i falls short of |u|^(2i+1) by
//
//	e_0 < 1,  e_i <= e_(i-1)·u² + 2·|u|^(2i-1) + 1 <= e_(i-1)/9 + 2/3 + 1, hence e_i < 2,
//
// so each of the m terms of S by less than 2 + 1 = 3. From m on, the powers sum to less than
// 2/(1-1/9) < 3. In total S <= 2^w·artanh|u| < S + 3m + 3.
func artanh(p, q *big.Int, prec uint) Interval {
	if p.Sign() == 0 {
		return FromInt(0, prec)
	}
	a := new(big.Int).Abs(p)
	// |u| > 2^-small, so that many more bits give a relative precision of prec bits;
	// m <= w/3, and the rest is for 3m + 3.
	small := max(0, q.BitLen()-a.BitLen()+1)
	w := prec + uint(small) + 8
	w += uint(new(big.Int).SetUint64(uint64(w)).BitLen())
	U := a.Lsh(a, w)
	U.Quo(U, q)
	V := new(big.Int).Mul(U, U)
	V.Rsh(V, w)
	sum := new(big.Int)
	power := U
	var term, i big.Int
	m := int64(0)
	for ; power.Sign() != 0; m++ {
		sum.Add(sum, term.Quo(power, i.SetInt64(2*m+1)))
		power.Mul(power, V)
		power.Rsh(power, w)
	}
	y := fixed(sum, new(big.Int).Add(sum, i.SetInt64(3*m+3)), w)
	if p.Sign() < 0 {
		y = y.Neg()
	}
	return y.SetPrec(prec)
}

// ln2 returns an enclosure of ln 2 = 2 artanh(1/3) with at least prec bits, the same whatever was asked before: the constant is computed and
// kept at precisions that are powers of two.
func ln2(prec uint) Interval {
	bits := uint(1) << mathbits.Len(prec+3)
	y, ok := ln2Known.Load(bits)
	if !ok {
		a := artanh(one, big.NewInt(3), bits)
		y, _ = ln2Known.LoadOrStore(bits, a.Add(a))
	}
	return y.(Interval).SetPrec(prec + 4)
}

var ln2Known sync.Map // of precision to Interval
