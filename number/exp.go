package number

import (
	"math"
	"math/big"
)

// Exp returns an enclosure of e^x at x's precision. The exponential of a point is a
// few units in the last place wide. Results beyond the exponents of big.Float
// become [0, tiny] or [huge, +Inf].
func Exp(x Interval) Interval {
	return rising(x, expPoint)
}

// ExpRat returns an enclosure of e^x, a few units in the last of prec bits wide.
func ExpRat(x *big.Rat, prec uint) Interval {
	checkPrec(prec)
	if x.Sign() == 0 {
		return FromInt(1, prec)
	}
	// |x| = a/b < 2^size.
	a, b := new(big.Int).Abs(x.Num()), x.Denom()
	size := a.BitLen() - b.BitLen() + 1
	return expReduced(x.Sign(), size, prec, func(shift uint) *big.Int {
		n := new(big.Int).Lsh(a, shift)
		return n.Quo(n, b)
	})
}

// expPoint returns an enclosure of e^x at precision prec: 0 for -Inf, the whole line for +Inf.
func expPoint(x *big.Float, prec uint) Interval {
	switch {
	case x.Sign() == 0:
		return FromInt(1, prec)
	case isInf(x, 1):
		return wholeLine(prec)
	case x.IsInf():
		return FromInt(0, prec)
	}
	// |x| < 2^size by the meaning of MantExp.
	return expReduced(x.Sign(), x.MantExp(nil), prec, func(shift uint) *big.Int {
		n, _ := mulPow2(x, int(shift)).Int(nil)
		return n.Abs(n)
	})
}

// expReduced returns an enclosure of e^x at precision prec, where sign is the sign of x,
// |x| < 2^size, and floor(s) is ⌊|x|·2^s⌋.
//
// With t = |x|/2^j < 2^-r it encloses e^t by expSeries and squares j times, rounding
// outward. A squaring doubles the relative width and adds two roundings, so with
// w working bits the relative width at the end is at most 2^j·(3m+5+2)·2^-w, m being
// the number of terms; guard takes care of j and m.
func expReduced(sign, size int, prec uint, floor func(s uint) *big.Int) Interval {
	if size > 32 {
		// |x| >= 2^(size-2) >= 2^31 > MaxExp·ln 2, beyond the exponents.
		return expBeyond(sign, prec)
	}
	r := int(math.Sqrt(float64(prec)))/2 + 8 // balances squarings against terms
	j := max(0, size+r)
	w := prec + uint(j) + uint(r) + 6
	y := expSeries(floor(w-uint(j)), w)
	for range j {
		y = y.Mul(y)
	}
	if sign < 0 {
		y = y.inv()
	}
	return y.SetPrec(prec)
}

// expBeyond is the enclosure of e^x for |x| >= 2^31: a bound on the magnitude that
// big.Float can still state.
func expBeyond(sign int, prec uint) Interval {
	e := newEnds(prec)
	if sign < 0 {
		setPow2(&e[1], false, big.MinExp)
	} else {
		setPow2(&e[0], false, big.MaxExp)
		e[1].SetInf(false)
	}
	return e.interval()
}

// expSeries returns an enclosure of e^t at precision w for any t < 2^-8 with
// T <= t·2^w < T+1, by the Taylor sum in fixed point with w fractional bits.
//
// Let a_0 = 2^w and a_i = ⌊a_(i-1)·T/(i·2^w)⌋, computed down to the first a_m = 0.
// No a_i exceeds the term c_i = 2^w·t^i/i!, so S = Σ a_i is a lower bound on 2^w·e^t.
// The deficit e_i = c_i - a_i satisfies e_0 = 0 and
//
//	e_i <= e_(i-1)·t/i + a_(i-1)·2^-w/i + 1 <= e_(i-1)/256 + 2, hence e_i < 3,
//
// the second summand being the truncation of T and the third one the floor. At m the term
// itself is less than 3 and each later one less than 1/256 of the one before, so all
// that is dropped is less than 4. In total S <= 2^w·e^t < S + 3m + 4.
func expSeries(T *big.Int, w uint) Interval {
	if T.BitLen() > int(w)-8 {
		panic("interval: argument of the exponential series not reduced")
	}
	term := new(big.Int).Lsh(big.NewInt(1), w)
	sum := new(big.Int).Set(term)
	var i, slack, n big.Int
	m := int64(1)
	for ; ; m++ {
		n.Mul(term, T)
		n.Rsh(&n, w)
		term.Quo(&n, i.SetInt64(m)) // ⌊⌊x⌋/m⌋ = ⌊x/m⌋
		if term.Sign() == 0 {
			break
		}
		sum.Add(sum, term)
	}
	return fixed(sum, slack.Add(sum, i.SetInt64(3*m+4)), w)
}

// fixed returns the tightest interval of precision w around [lo, hi]/2^w.
func fixed(lo, hi *big.Int, w uint) Interval {
	e := newEnds(w)
	e[0].SetInt(lo)
	e[1].SetInt(hi)
	e[0].SetMantExp(&e[0], -int(w))
	e[1].SetMantExp(&e[1], -int(w))
	return e.interval()
}

// Expm1 returns an enclosure of e^x - 1 at x's precision, without the cancellation
// near 0.
func Expm1(x Interval) Interval {
	return rising(x, expm1Point)
}

// expm1Point returns an enclosure of e^x - 1 at x's precision prec: -1 for -Inf, the whole line for +Inf.
func expm1Point(x *big.Float, prec uint) Interval {
	switch {
	case x.Sign() == 0:
		return FromInt(0, prec)
	case isInf(x, 1):
		return wholeLine(prec)
	case x.IsInf():
		return FromInt(-1, prec)
	}
	size := x.MantExp(nil) // 2^(size-1) <= |x| < 2^size
	if size < -int(prec)-4 {
		// x <= e^x - 1 <= x + x² for |x| <= 1.
		p := Point(x)
		return Interval{p.lo, p.Add(p.Pow(2)).hi}
	}
	// |e^x - 1| >= |x|/2 for |x| <= 1, so -size more bits make up for the cancellation.
	w := prec + uint(max(0, -size)) + 4
	return expPoint(x, w).Sub(FromInt(1, w)).SetPrec(prec)
}
