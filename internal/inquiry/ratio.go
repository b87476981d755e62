package inquiry

import (
	"math"
	"math/big"

	"optratio/number"
)

// Ratio is num/den of numbers that are not negative, or +∞.
type Ratio struct {
	Num, Den *Value
	Infinite bool
	Open     bool    // any number from lo on, +∞ among them
	Lo, hi   float64 // outward-rounded bounds
}

var (
	// Between0 is the ratio of two numbers that may both be 0.
	Between0 = Ratio{Open: true, hi: math.Inf(1)}
	// Infinite is the ratio of a number that is not 0 to 0.
	Infinite = Ratio{Infinite: true, Lo: math.Inf(1), hi: math.Inf(1)}
)

// Quotient returns p/q, whose signs are known to be positive; with q = 0 it is infinite.
func Quotient(p, q *Value, qZero bool) Ratio {
	if qZero {
		return Infinite
	}
	r := Ratio{Num: p, Den: q}
	plo, phi := p.Bounds()
	qlo, qhi := q.Bounds()
	r.Lo, r.hi = max(0, down(plo/qhi)), math.Inf(1)
	if qlo > 0 {
		r.hi = Up(phi / qlo)
	} else if s, ok := q.Sign(64); q.inexact && (!ok || s == 0) {
		return Ratio{Open: true, Lo: r.Lo, hi: r.hi}
	}
	if p == q {
		r.Lo, r.hi = 1, 1
	}
	return r
}

// Times returns r·s.
func (r Ratio) Times(s Ratio) Ratio {
	switch {
	case r.Infinite || s.Infinite:
		return Infinite
	case r.Open || s.Open:
		return Ratio{Open: true, Lo: max(0, down(r.Lo*s.Lo)), hi: math.Inf(1)}
	}
	return Ratio{
		Num: r.Num.Mul(s.Num), Den: r.Den.Mul(s.Den),
		Lo: max(0, down(r.Lo*s.Lo)), hi: Up(r.hi * s.hi),
	}
}

// Compare returns the sign of r - s and whether it is decided.
func (r Ratio) Compare(s Ratio, limit uint) (int, bool) {
	switch {
	case r.Infinite && s.Infinite:
		return 0, true
	case r.Infinite:
		return 1, true
	case s.Infinite:
		return -1, true
	case r.Lo > s.hi:
		return 1, true
	case r.hi < s.Lo:
		return -1, true
	case r.Open || s.Open:
		return 0, false
	case r.Den == s.Den:
		return r.Num.Compare(s.Num, limit)
	}
	return r.Num.Mul(s.Den).Compare(s.Num.Mul(r.Den), limit)
}

// Inexact reports whether the ratio is of numbers that are known only to lie between bounds.
func (r Ratio) Inexact() bool { return r.Open || !r.Infinite && (r.Num.inexact || r.Den.inexact) }

// Value returns a ratio that is a number.
func (r Ratio) Value() *Value { return r.Num.quo(r.Den) }

// End returns the upper end of the enclosure from which log takes its own.
func (r Ratio) End() *big.Float {
	if r.Infinite || r.Open {
		return new(big.Float).SetInf(false)
	}
	return r.Num.quo(r.Den).narrow(128).Hi()
}

// Log returns ln r, and r itself where it is rational.
func (r Ratio) Log() (number.Number, *big.Rat) {
	switch {
	case r.Infinite:
		return number.Infinity(), nil
	case r.Open && r.Lo > 0:
		low, _ := number.Log(number.FromFloat(r.Lo, 64)).Lo().Rat(nil)
		return number.Bounds(low, nil), nil
	case r.Open:
		return number.Bounds(nil, nil), nil
	}
	v := r.Num.quo(r.Den)
	if f, ok := v.form(); ok && v.rat == nil {
		power, is := monomial(f.Num, f.Den)
		if v = function(f, v.ring); is && v.rat == nil && v.ring.exponent != nil {
			e := new(big.Rat).SetInt64(-int64(power))
			return number.Exact(e.Mul(e, v.ring.exponent)), nil
		}
	}
	switch {
	case v.rat == nil:
		return number.Enclosed(number.Log(v.narrow(128))), nil
	case v.rat.Cmp(big.NewRat(1, 1)) == 0:
		return number.Int(0), v.rat
	}
	return number.Enclosed(number.LogRat(v.rat, 160)), v.rat
}

// monomial reports whether num/den is t^power.
func monomial(num, den []*big.Int) (power int, ok bool) {
	lone := func(p []*big.Int) bool {
		for _, c := range p[:len(p)-1] {
			if c.Sign() != 0 {
				return false
			}
		}
		return p[len(p)-1].Cmp(big.NewInt(1)) == 0
	}
	if len(num) == 0 || !lone(num) || !lone(den) {
		return 0, false
	}
	return len(num) - len(den), true
}
