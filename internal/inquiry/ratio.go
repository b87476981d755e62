package inquiry

import (
	"cmp"
	"math"
	"math/big"

	"optratio/number"
)

var (
	// Between0 is the ratio of two numbers that may both be 0.
	Between0 = &Value{inexact: true, known: true, hi: math.Inf(1), box: func(prec uint) number.Interval { return from(number.FromInt(0, prec)) }}
	// Infinite is the ratio of a number that is not 0 to 0, of which no other one is known not to be smaller.
	Infinite = &Value{inexact: true, known: true, lo: math.Inf(1), hi: math.Inf(1)}
)

// from is any number from the lower end of x on.
func from(x number.Interval) number.Interval {
	return number.NewInterval(x.Lo(), new(big.Float).SetInf(false))
}

// Quotient returns p/q, whose signs are known to be positive; with q = 0 it is infinite. It is not worked out to be compared.
func Quotient(p, q *Value, qZero bool) *Value {
	switch {
	case qZero:
		return Infinite
	case p == q:
		return One
	}
	plo, phi := p.Floats()
	qlo, qhi := q.Floats()
	r := &Value{num: p, den: q, inexact: p.inexact || q.inexact, ring: cmp.Or(p.ring, q.ring), known: true, lo: max(0, down(plo/qhi)), hi: math.Inf(1)}
	if qlo > 0 {
		r.hi = Up(phi / qlo)
	}
	return r
}

// Times returns the product of two quotients, or numbers that are not negative.
func (v *Value) Times(w *Value) *Value {
	if v == Infinite || w == Infinite {
		return Infinite
	}
	vNum, vDen := v.quotient()
	wNum, wDen := w.quotient()
	lo, hi := v.Floats()
	wlo, whi := w.Floats()
	return &Value{
		num: vNum.Mul(wNum), den: vDen.Mul(wDen), inexact: v.inexact || w.inexact, ring: cmp.Or(v.ring, w.ring),
		known: true, lo: max(0, down(lo*wlo)), hi: Up(hi * whi),
	}
}

// quotient returns v as num/den.
func (v *Value) quotient() (num, den *Value) {
	if v.den == nil {
		return v, One
	}
	return v.num, v.den
}

// Log returns ln v, and v itself where it is rational.
func (v *Value) Log() (number.Number, *big.Rat) {
	if v == Infinite {
		return number.Infinity(), nil
	}
	if f, ok := v.form(); ok && v.rat == nil {
		power, is := monomial(f.Num, f.Den)
		if v = function(f, v.ring); is && v.rat == nil && v.ring.exponent != nil {
			e := new(big.Rat).SetInt64(-int64(power))
			return number.Exact(e.Mul(e, v.ring.exponent)), nil
		}
	}
	switch {
	case v.rat == nil:
		return number.Enclosed(number.Log(v.Narrow())), nil
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
