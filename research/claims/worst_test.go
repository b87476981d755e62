package claims

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"optratio/internal/arith"
	"optratio/number"
)

// missed encloses the probability of missing, and p times its derivative, for all p of an interval.
type missed func(n int, p number.Interval) (miss, slope number.Interval)

func missedEM(n int, p number.Interval) (miss, slope number.Interval) {
	one := number.FromInt(1, p.Prec())
	miss = one.Sub(one.Quo(one.Add(p.Mul(number.FromInt(int64(n)-1, p.Prec())))))
	return miss, miss.Mul(one.Sub(miss))
}

func missedPF(n int, p number.Interval) (miss, slope number.Interval) {
	one := number.FromInt(1, p.Prec())
	hit := one.Sub(one.Sub(p).Pow(n)).Quo(p.Mul(number.FromInt(int64(n), p.Prec())))
	return one.Sub(hit), hit.Sub(one.Sub(p).Pow(n - 1))
}

// highest encloses the peak for n candidates, 2 <= n <= 10^6, to a relative width of 10^-7. With p = e^-s the function is f(s) = s miss(p) and f'(s) = miss - s p miss'(p).
// On a cell [a, b] of s it is at most b miss(e^-a), as miss rises with p, and at most f(m) + |f'| (b-a)/2, m being the middle. Beyond s = 50 it is at most (n-1) s e^-s < 10^-13. Cells in
// which it may exceed the best value known are halved.
func highest(ctx context.Context, n int, miss missed) peak {
	const prec = 256
	point := func(s float64) number.Interval { return number.FromFloat(s, prec) }
	power := func(s float64) number.Interval { return number.Exp(point(-s)) }
	known, at, bound := point(0), 0.0, point(1e-13)
	wanted := point(1 + 1e-7)
	try := func(s float64) number.Interval {
		chance, _ := miss(n, power(s))
		v := point(s).Mul(chance)
		if v.Lo().Cmp(known.Lo()) > 0 {
			known, at = v, math.Exp(-s)
		}
		return v
	}
	type cell struct{ from, to float64 }
	var open []cell
	for s := range 50 {
		open = append(open, cell{float64(s), float64(s + 1)})
		try(float64(s))
	}
	for len(open) > 0 {
		ensure(ctx.Err())
		c := open[len(open)-1]
		open = open[:len(open)-1]
		middle := (c.from + c.to) / 2
		v := try(middle)
		chance, slope := miss(n, number.Hull(power(c.to), power(c.from)))
		rate := arith.Abs(chance.Sub(number.Hull(point(c.from), point(c.to)).Mul(slope)))
		highest := v.Add(rate.Mul(point((c.to - c.from) / 2)))
		chance, _ = miss(n, power(c.from))
		if u := point(c.to).Mul(chance); u.Hi().Cmp(highest.Hi()) < 0 {
			highest = u
		}
		if highest.Hi().Cmp(known.Mul(wanted).Lo()) > 0 {
			open = append(open, cell{c.from, middle}, cell{middle, c.to})
		} else if highest.Hi().Cmp(bound.Hi()) > 0 {
			bound = highest
		}
	}
	return peak{number.NewInterval(known.Lo(), bound.Max(known).Hi()), at}
}

// The enclosed peaks meet those that halving cells finds, hold what a plain search in float64 finds, and the exponential mechanism's is Lambert's W((n-1)/e).
func TestPeaks(t *testing.T) {
	for _, n := range []int{2, 3, 10, 1000, 1000000} {
		exp, flip := peaks(n)
		var best [2]float64
		for s := 0.0; s < 40; s += 1e-3 {
			p, m := math.Exp(-s), float64(n)
			best[0] = max(best[0], s*(m-1)*p/(1+(m-1)*p))
			best[1] = max(best[1], s*(1+math.Expm1(m*math.Log1p(-p))/(m*p)))
		}
		for i, x := range []peak{exp, flip} {
			low, high := x.value.Float64()
			other := highest(t.Context(), n, []missed{missedEM, missedPF}[i])
			_, meet := x.value.Intersect(other.value)
			assert.True(t, meet, "n = %d: %v and %v", n, x.value, other.value)
			assert.InEpsilon(t, other.at, x.at, 1e-2)
			assert.InEpsilon(t, best[i], low, 1e-5, "n = %d", n)
			assert.Less(t, (high-low)/low, 2e-7)
			assert.LessOrEqual(t, best[i], high)
		}
		w := exp.value.Near()
		assert.InEpsilon(t, float64(n-1)/math.E, w*math.Exp(w), 1e-5)
	}
}
