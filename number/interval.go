package number

import (
	"fmt"
	"math"
	"math/big"
)

// Interval is a closed interval of reals, possibly unbounded. See the package
// documentation for the conventions.
type Interval struct {
	lo, hi *big.Float
}

// NewInterval returns [lo, hi] at the larger one of the two precisions. The arguments are
// copied. It panics if lo > hi, lo = +Inf, hi = -Inf, or both have precision 0.
func NewInterval(lo, hi *big.Float) Interval {
	prec := max(lo.Prec(), hi.Prec())
	if prec == 0 {
		panic("interval: ends of precision 0")
	}
	if lo.Cmp(hi) > 0 || isInf(lo, 1) || isInf(hi, -1) {
		panic(fmt.Sprintf("interval: no interval from %g to %g", lo, hi))
	}
	e := newEnds(prec)
	e[0].Set(lo)
	e[1].Set(hi)
	return e.interval()
}

// Point returns [x, x], which is exact. It panics if x is infinite.
func Point(x *big.Float) Interval {
	if x.IsInf() {
		panic("interval: an infinite point")
	}
	p := new(big.Float).Copy(x)
	if p.Prec() == 0 {
		p.SetPrec(64)
	}
	return Interval{p, p}
}

// FromRat returns the tightest interval around r with ends of prec bits.
func FromRat(r *big.Rat, prec uint) Interval {
	return around(prec, (*big.Float).SetRat, r)
}

// FromInt returns the tightest interval around i with ends of prec bits; it is a
// point whenever i fits, so always from 63 bits on.
func FromInt(i int64, prec uint) Interval {
	return around(prec, (*big.Float).SetInt64, i)
}

// FromFloat returns the tightest interval around the dyadic rational f with ends of
// prec bits; it is a point whenever f fits, so always from 53 bits on. It panics if
// f is NaN or infinite.
func FromFloat(f float64, prec uint) Interval {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		panic("interval: not a finite float")
	}
	return around(prec, (*big.Float).SetFloat64, f)
}

// around returns the tightest interval with ends of prec bits around the number that set gives a float.
func around[T any](prec uint, set func(*big.Float, T) *big.Float, x T) Interval {
	e := newEnds(checkPrec(prec))
	if set(&e[0], x); e[0].Acc() == big.Exact {
		return Interval{&e[0], &e[0]}
	}
	set(&e[1], x)
	return e.interval()
}

// wholeLine returns (-Inf, +Inf), which says nothing.
func wholeLine(prec uint) Interval {
	e := newEnds(checkPrec(prec))
	e[0].SetInf(true)
	e[1].SetInf(false)
	return e.interval()
}

// Hull returns the smallest interval that holds x and y.
func Hull(x, y Interval) Interval {
	return samePrec(lesser(x.lo, y.lo), greater(x.hi, y.hi), max(x.Prec(), y.Prec()))
}

// Lo returns the lower end, to be read only.
func (x Interval) Lo() *big.Float { return x.lo }

// Hi returns the upper end, to be read only.
func (x Interval) Hi() *big.Float { return x.hi }

// Prec returns the precision of the ends in bits.
func (x Interval) Prec() uint { return x.lo.Prec() }

// isPoint reports whether lo = hi, that is whether the value is known exactly.
func (x Interval) isPoint() bool { return x.lo == x.hi || x.lo.Cmp(x.hi) == 0 }

// isFinite reports whether both ends are finite.
func (x Interval) isFinite() bool { return !x.lo.IsInf() && !x.hi.IsInf() }

// SetPrec returns x with ends rounded outward to prec bits.
func (x Interval) SetPrec(prec uint) Interval {
	e := newEnds(checkPrec(prec))
	e[0].Set(x.lo)
	e[1].Set(x.hi)
	return e.interval()
}

// String returns the two ends for debugging. They are not rounded outward: package
// decimal prints bounds.
func (x Interval) String() string { return "[" + text(x.lo) + ", " + text(x.hi) + "]" }

// text avoids decimals where the exponent would make them slow.
func text(f *big.Float) string {
	if e := f.MantExp(nil); e > 1<<15 || e < -1<<15 {
		return f.Text('p', 0)
	}
	return f.Text('g', 20)
}

// ends are the two ends of an interval in one allocation, with directed rounding.
type ends [2]big.Float

func newEnds(prec uint) *ends {
	e := new(ends)
	e[0].SetMode(big.ToNegativeInf).SetPrec(prec)
	e[1].SetMode(big.ToPositiveInf).SetPrec(prec)
	return e
}

// interval closes the ends into an Interval after correcting what the rounding
// modes of big.Float do not cover.
func (e *ends) interval() Interval {
	if e[0].Acc() == big.Above {
		saturate(&e[0])
	}
	if e[1].Acc() == big.Below {
		saturate(&e[1])
	}
	return Interval{&e[0], &e[1]}
}

// saturate corrects an end whose rounding went against its mode, which happens only
// at the limits of the exponent: big.Float overflows to ±Inf and underflows to ±0 in
// every mode. An overflow had a magnitude of at least 2^MaxExp, an underflow
// one below 2^(MinExp-1), so the replacements 2^(MaxExp-1) and 2^(MinExp-1) lie on
// the outer side of the exact value.
func saturate(z *big.Float) {
	up := z.Mode() == big.ToPositiveInf
	switch {
	case z.IsInf() && z.Signbit() == up:
		setPow2(z, z.Signbit(), big.MaxExp)
	case z.Sign() == 0:
		setPow2(z, !up, big.MinExp)
	default:
		panic("interval: rounding against its direction")
	}
}

// setPow2 sets z to ±2^(exp-1) at its own precision, for exp in the range of exponents.
func setPow2(z *big.Float, negative bool, exp int) {
	// SetMantExp would take the precision and mode of another mantissa.
	z.SetMantExp(z.SetFloat64(0.5), exp)
	if negative {
		z.Neg(z)
	}
}

// samePrec returns [lo, hi] at precision prec, which is at least that of either, so that nothing is rounded.
func samePrec(lo, hi *big.Float, prec uint) Interval {
	if lo.Prec() != prec {
		lo = new(big.Float).SetPrec(prec).Set(lo)
	}
	if hi.Prec() != prec {
		hi = new(big.Float).SetPrec(prec).Set(hi)
	}
	return Interval{lo, hi}
}

func isInf(x *big.Float, sign int) bool { return x.IsInf() && x.Signbit() == (sign < 0) }

func checkPrec(prec uint) uint {
	if prec == 0 {
		panic("interval: precision 0")
	}
	return prec
}
