package lp

import (
	"math"
	"math/big"

	"optratio/number"
)

// ball encloses a real number, which is within err of hi + lo; lo is at most about half a unit in the last place of hi. An infinite err says nothing
// of the number.
type ball struct{ hi, lo, err float64 }

// balls is arithmetic on balls, outward-rounded: that on pairs of float64 is accurate to ballError relative to the result, but for underflow, and errs
// much less (Joldes, Muller & Popescu, "Tight and rigorous error bounds for basic building blocks of double-word
// arithmetic", ACM TOMS 44, 2017: 3u² and some for the sum, 7u² for the product, u = 2^-53). It takes some twentieth of the time of intervals of floatPrecision.
type balls struct{}

const (
	ballError = 0x1p-100  // relative error of a sum or product of pairs
	ballTiny  = 0x1p-1000 // bounds their absolute error by underflow
	ballUp    = 1 + 0x1p-49
)

// rounded returns the ball around a + b, |a| >= |b|, for a number that arithmetic on pairs gives so and that is off by err beside.
func rounded(a, b, err float64) ball {
	hi := a + b
	lo := b - (hi - a)
	// ballUp makes up for the rounding of this and of err.
	err = (err + float64(math.Abs(hi)*ballError) + ballTiny) * ballUp
	if !(math.Abs(hi) <= math.MaxFloat64 && err <= math.MaxFloat64) {
		return ball{err: math.Inf(1)}
	}
	return ball{hi, lo, err}
}

// twoSum returns the sum and its rounding error.
func twoSum(a, b float64) (sum, err float64) {
	sum = a + b
	t := sum - a
	return sum, (a - (sum - t)) + (b - t)
}

func (balls) Zero() ball { return ball{} }
func (balls) One() ball  { return ball{hi: 1} }

func (balls) FromInt(i int64) ball {
	if x := float64(i); math.Abs(x) < 1<<53 {
		return ball{hi: x}
	}
	return balls{}.FromRat(new(big.Rat).SetInt64(i))
}

func (balls) FromRat(r *big.Rat) ball {
	hi, exact := r.Float64()
	switch {
	case exact:
		return ball{hi: hi}
	case math.IsInf(hi, 0):
		return ball{err: math.Inf(1)}
	}
	rest := new(big.Rat).SetFloat64(hi)
	lo, _ := rest.Sub(r, rest).Float64()
	return rounded(hi, lo, 0)
}

// fromInterval returns a ball that holds an interval, around 0 where that has ends beyond the exponents of a float64.
func (balls) fromInterval(x number.Interval) ball {
	l, _ := x.Lo().Float64()
	h, _ := x.Hi().Float64()
	if l, h = math.Abs(l), math.Abs(h); min(l, h) < 0x1p-900 || max(l, h) > 0x1p1000 {
		return rounded(0, 0, max(l, h))
	}
	low, _ := x.Lo().Rat(nil)
	high, _ := x.Hi().Rat(nil)
	b := balls{}.FromRat(low)
	width, _ := high.Sub(high, low).Float64()
	return rounded(b.hi, b.lo, b.err+width)
}

func (balls) Add(a, b ball) ball {
	s, e := twoSum(a.hi, b.hi)
	t, f := twoSum(a.lo, b.lo)
	c := e + t
	v := s + c
	return rounded(v, f+(c-(v-s)), a.err+b.err)
}

func (balls) Neg(a ball) ball      { return ball{-a.hi, -a.lo, a.err} }
func (f balls) Sub(a, b ball) ball { return f.Add(a, f.Neg(b)) }

func (balls) Mul(a, b ball) ball {
	p := float64(a.hi * b.hi) // The conversion rounds p: without it p may be fused into the sums of rounded, which would count rest's part of it twice.
	rest := math.FMA(a.hi, b.hi, -p) + (float64(a.hi*b.lo) + float64(a.lo*b.hi))
	return rounded(p, rest, float64(math.Abs(a.hi)*b.err*ballUp)+float64(math.Abs(b.hi)*a.err*ballUp)+float64(a.err*b.err))
}

func (f balls) Quo(a, b ball) ball {
	least := math.Abs(b.hi)/ballUp - b.err
	if !(least > 0) {
		return ball{err: math.Inf(1)}
	}
	q := ball{hi: a.hi / b.hi}
	first := f.Sub(a, f.Mul(q, b))
	q = f.Add(q, ball{hi: first.hi / b.hi})
	rest := f.Sub(a, f.Mul(ball{hi: q.hi, lo: q.lo}, b)) // of the number that is divided; q's own error does not matter
	return rounded(q.hi, q.lo, (float64(math.Abs(rest.hi)*ballUp)+rest.err)/least)
}

func (balls) less(a, b ball) bool { return a.hi < b.hi || a.hi == b.hi && a.lo < b.lo }

// Max returns the one of the greater centre, with the greater error of both: that suffices for the other one, whose centre is lower.
func (f balls) Max(a, b ball) ball {
	if f.less(a, b) {
		a, b = b, a
	}
	a.err = max(a.err, b.err)
	return a
}

func (f balls) Min(a, b ball) ball { return f.Neg(f.Max(f.Neg(a), f.Neg(b))) }

func (balls) Negative(a ball) bool { return !(a.hi/ballUp >= a.err) }

// interval returns the ball as an interval.
func (balls) interval(a ball) number.Interval {
	if !(a.err <= math.MaxFloat64) {
		return number.Whole(floatPrecision)
	}
	err := number.FromFloat(a.err, floatPrecision)
	centre := number.FromFloat(a.hi, floatPrecision).Add(number.FromFloat(a.lo, floatPrecision))
	return number.Hull(centre.Sub(err), centre.Add(err))
}

func (f balls) Floor(a ball) *big.Rat { return enclosedNumbers{}.Floor(f.interval(a)) }
func (f balls) Ceil(a ball) *big.Rat  { return enclosedNumbers{}.Ceil(f.interval(a)) }
