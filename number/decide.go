package number

import (
	"math"
	"math/big"
)

// Sign returns the sign of the number in x, and whether x is narrow enough to tell.
func (x Interval) Sign() (s int, ok bool) {
	switch {
	case x.lo.Sign() > 0:
		return 1, true
	case x.hi.Sign() < 0:
		return -1, true
	case x.lo.Sign() == 0 && x.hi.Sign() == 0:
		return 0, true
	}
	return 0, false
}

// Cmp compares the numbers in x and y: -1, 0 or +1, and whether the intervals tell.
// Equality is known only between equal points.
func (x Interval) Cmp(y Interval) (c int, ok bool) {
	switch {
	case x.hi.Cmp(y.lo) < 0:
		return -1, true
	case x.lo.Cmp(y.hi) > 0:
		return 1, true
	case x.hi.Cmp(y.lo) == 0 && x.lo.Cmp(y.hi) == 0:
		return 0, true
	}
	return 0, false
}

// LessEq reports whether the number in x is at most that in y, and whether the
// intervals tell. It decides more than Cmp: intervals that touch in one point.
func (x Interval) LessEq(y Interval) (holds, ok bool) {
	switch {
	case x.hi.Cmp(y.lo) <= 0:
		return true, true
	case x.lo.Cmp(y.hi) > 0:
		return false, true
	}
	return false, false
}

// Contains reports whether r lies in x, exactly.
func (x Interval) Contains(r *big.Rat) bool {
	// The ends have prec bits, so lo <= r iff lo is at most r rounded down to prec
	// bits, and likewise for hi. No end is ever turned into a rational.
	f := FromRat(r, x.Prec())
	return x.lo.Cmp(f.lo) <= 0 && f.hi.Cmp(x.hi) <= 0
}

// containsZero reports whether 0 lies in x.
func (x Interval) containsZero() bool { return x.lo.Sign() <= 0 && x.hi.Sign() >= 0 }

// Intersect returns the numbers in both x and y; ok is false if there are none, which
// for two enclosures of one number means that one of them is wrong.
func (x Interval) Intersect(y Interval) (z Interval, ok bool) {
	lo, hi := greater(x.lo, y.lo), lesser(x.hi, y.hi)
	if lo.Cmp(hi) > 0 {
		return Interval{}, false
	}
	return samePrec(lo, hi, max(x.Prec(), y.Prec())), true
}

// width returns hi - lo rounded up, +Inf if x is unbounded.
func (x Interval) width() *big.Float {
	w := newEnds(x.Prec())
	subEnd(&w[1], x.hi, x.lo)
	return w.interval().hi
}

// RelWidth returns an upper bound on (hi - lo)/min|x|: 0 for a point, +Inf if x holds
// 0 or is unbounded.
func (x Interval) RelWidth() float64 {
	switch {
	case x.isPoint():
		return 0
	case x.containsZero() || !x.isFinite():
		return math.Inf(1)
	}
	w := Interval{x.width(), x.width()}
	least := Interval{x.abs().lo, x.abs().lo}
	_, hi := w.Quo(least).Float64()
	return hi
}

// Mid returns a number of x's precision in x, near the middle; the finite end if x
// is bounded on one side only, and 0 if on neither.
func (x Interval) Mid() *big.Float {
	m := new(big.Float).SetPrec(x.Prec())
	switch {
	case x.lo.IsInf() && x.hi.IsInf():
		return m
	case x.lo.IsInf():
		return m.Set(x.hi)
	case x.hi.IsInf():
		return m.Set(x.lo)
	}
	// Halves first, so that nothing overflows; where a half underflows, the clamp holds.
	addEnd(m, mulPow2(x.lo, -1), mulPow2(x.hi, -1))
	return m.Set(greater(x.lo, lesser(m, x.hi)))
}

// Near returns a float64 near the middle of x, infinite where that is beyond its range. It proves nothing.
func (x Interval) Near() float64 {
	f, _ := toFloat64(x.Mid())
	return f
}

// Float64 returns the tightest float64 numbers around x, infinite where x is beyond
// their range.
func (x Interval) Float64() (lo, hi float64) {
	lo, acc := toFloat64(x.lo)
	if acc == big.Above {
		lo = math.Nextafter(lo, math.Inf(-1))
	}
	hi, acc = toFloat64(x.hi)
	if acc == big.Below {
		hi = math.Nextafter(hi, math.Inf(1))
	}
	return lo, hi
}

// toFloat64 is x.Float64(), which for the least exponent of a big.Float overflows to infinity (Go 1.26).
func toFloat64(x *big.Float) (float64, big.Accuracy) {
	if x.Sign() == 0 || x.MantExp(nil) != big.MinExp {
		return x.Float64()
	}
	if x.Sign() > 0 {
		return 0, big.Below
	}
	return 0, big.Above
}

// mulPow2 returns x·2^n, exact unless the exponent leaves the range of big.Float.
func mulPow2(x *big.Float, n int) *big.Float { return new(big.Float).SetMantExp(x, n) }
