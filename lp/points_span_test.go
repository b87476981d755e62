package lp

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"optratio/number"
)

// span is an interval of float64 whose ends are rounded outward: every operation returns one that holds the exact result for all numbers in its operands.
type span struct{ lo, hi float64 }

func below(x float64) float64 { return -above(-x) }

// above returns the next number above x.
func above(x float64) float64 {
	switch {
	case x > 0 && x < math.MaxFloat64:
		return math.Float64frombits(math.Float64bits(x) + 1)
	case x < 0 && x >= -math.MaxFloat64:
		return math.Float64frombits(math.Float64bits(x) - 1)
	}
	return math.Nextafter(x, math.Inf(1))
}

func at(x float64) span   { return span{x, x} }
func integer(x int) span  { return at(float64(x)) }
func inverse(x span) span { return at(1).over(x) }

func (a span) add(b span) span { return span{below(a.lo + b.lo), above(a.hi + b.hi)} }
func (a span) sub(b span) span { return span{below(a.lo - b.hi), above(a.hi - b.lo)} }

func (a span) mul(b span) span {
	if a.lo >= 0 && b.lo >= 0 {
		return span{max(0, below(a.lo*b.lo)), above(a.hi * b.hi)}
	}
	p, q, r, s := a.lo*b.lo, a.lo*b.hi, a.hi*b.lo, a.hi*b.hi
	return span{below(min(p, q, r, s)), above(max(p, q, r, s))}
}

// over returns a/b for b > 0.
func (a span) over(b span) span {
	lo, hi := a.lo/b.hi, a.hi/b.lo
	if a.lo < 0 {
		lo = a.lo / b.lo
	}
	if a.hi < 0 {
		hi = a.hi / b.hi
	}
	return span{below(lo), above(hi)}
}

func (a span) pow(n int) span {
	r := at(1)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			r = r.mul(a)
		}
		a = a.mul(a)
	}
	return r
}

// logOf encloses ln x.
func logOf(x float64) span {
	l := number.Log(number.FromFloat(x, 64))
	lo, _ := l.Lo().Float64()
	hi, _ := l.Hi().Float64()
	return span{below(lo), above(hi)}
}

// nested encloses 1 - x/i (1 - x/(i+1) (…)), 0 <= x <= 1: the last factor that is written out is followed by one in [0,1].
func nested(x span, i, last int) span {
	q := span{0, 1}
	for ; last >= i; last-- {
		q = at(1).sub(x.over(integer(last)).mul(q))
	}
	return q
}

// decays[i] encloses e^{-i/128}.
var decays = func() []span {
	t := []span{at(1)}
	for range 128 * 60 {
		t = append(t, t[len(t)-1].mul(nested(at(1.0/128), 1, 14)))
	}
	return t
}()

// decay encloses e^{-x} for x >= 0.
func decay(x float64) span {
	i := math.Floor(x * 128)
	if i >= float64(len(decays)-1) {
		return span{0, decays[len(decays)-1].hi}
	}
	return nested(at(x-i/128), 1, 6).mul(decays[int(i)])
}

// decayed encloses 1 - e^{-x} for x >= 0, with a small relative error where x is small too.
func decayed(x float64) span {
	if x > .25 {
		return at(1).sub(decay(x))
	}
	return nested(at(x), 2, 14).mul(at(x))
}

// decayAt encloses e^{-mL}, m >= 0, for L that is nonnegative or nonpositive; an infinite end of L is allowed.
func decayAt(m float64, l span) span {
	switch {
	case l.lo >= 0 && math.IsInf(l.hi, 1):
		return span{0, decay(max(0, below(m*l.lo))).hi}
	case l.lo >= 0:
		return span{decay(above(m * l.hi)).lo, decay(max(0, below(m*l.lo))).hi}
	}
	return inverse(span{decay(above(m * -l.lo)).lo, decay(max(0, below(m*-l.hi))).hi})
}

// Every operation on spans holds what exact arithmetic, or enclosures of 200 bits, give for numbers in the operands.
func TestSpans(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 25))
	holds := func(s span, x *big.Rat) {
		require.LessOrEqual(t, new(big.Rat).SetFloat64(s.lo).Cmp(x), 0)
		require.GreaterOrEqual(t, new(big.Rat).SetFloat64(s.hi).Cmp(x), 0)
	}
	encloses := func(s span, x number.Interval) {
		lo, _ := x.Lo().Rat(nil)
		hi, _ := x.Hi().Rat(nil)
		holds(s, lo)
		holds(s, hi)
	}
	for range 2000 {
		x, y := math.Ldexp(r.NormFloat64(), r.IntN(9)-4), math.Ldexp(r.NormFloat64(), r.IntN(9)-4)
		p, q := new(big.Rat).SetFloat64(x), new(big.Rat).SetFloat64(y)
		holds(at(x).add(at(y)), plusRat(p, q))
		holds(at(x).sub(at(y)), difference(p, q))
		holds(span{x, x + 1}.mul(span{y - 1, y}), times(p, q))
		holds(at(x).mul(at(y)), times(p, q))
		holds(at(x).over(at(math.Abs(y))), quotient(p, new(big.Rat).Abs(q)))
		holds(at(x).pow(5), raised(p, 5))
		x = math.Abs(x) * float64(r.IntN(4))
		e := number.ExpRat(new(big.Rat).Neg(new(big.Rat).SetFloat64(x)), 200)
		encloses(decay(x), e)
		encloses(decayed(x), number.FromInt(1, 200).Sub(e))
		if s := decayed(x); x > 0 {
			require.Less(t, s.hi-s.lo, 1e-11*s.lo)
			encloses(logOf(x), number.Log(number.FromFloat(x, 200)))
		}
	}
}
