package integral

import (
	"math/big"

	"optratio/lattice"
	"optratio/number/interval"
)

// integrand is g(t) = n D(t) [ S_0(t)^{n-1} - S_1(t)^{n-1} ], or under the box objective the sum of that over the greatest
// depths 1 to k: the lattices whose deepest vectors the box counts as often as it shifts them.
type integrand struct {
	n         int
	powers    []interval.Interval // z^0 … z^k
	objective lattice.Objective
}

func newIntegrand(n, k int, z interval.Interval, objective lattice.Objective) *integrand {
	g := &integrand{n: n, objective: objective, powers: []interval.Interval{interval.FromInt(1, z.Prec())}}
	for v := range k {
		g.powers = append(g.powers, g.powers[v].Mul(z))
	}
	return g
}

func (g *integrand) prec() uint { return g.powers[0].Prec() }

// at encloses g(t).
func (g *integrand) at(t interval.Interval) interval.Interval {
	prec := g.prec()
	best := expNeg(t.Mul(g.powers[0]))
	rest := interval.NewAccumulator(prec) // S_1
	depth := interval.NewAccumulator(prec)
	total := interval.FromInt(0, prec)
	for v := 1; v < len(g.powers); v++ {
		e := expNeg(t.Mul(g.powers[v]))
		rest.Add(e)
		depth.AddMul(e.Mul(g.powers[v]), interval.FromInt(int64(v), prec))
		if g.objective == lattice.Box || v == len(g.powers)-1 {
			s := rest.Value()
			total = total.Add(depth.Value().Mul(quotient(s.Add(best), s, g.n-1)))
		}
	}
	return total.Mul(best).Mul(interval.FromInt(int64(g.n), prec))
}

// expNeg encloses e^-x with one exponential where x is narrow: e^-lo [1 - w, 1], w the width.
func expNeg(x interval.Interval) interval.Interval {
	prec := x.Prec()
	width := x.Width()
	if x.IsPoint() || width.Cmp(big.NewFloat(1)) >= 0 {
		return interval.Exp(x.Neg())
	}
	one := interval.FromInt(1, prec)
	spread := interval.Hull(one, one.Sub(interval.Point(width)))
	return interval.Exp(interval.Point(x.Lo()).Neg()).Mul(spread)
}

// quotient encloses (a^m - b^m)/(a - b) = Σ_{i<m} a^i b^{m-1-i} for a, b >= 0, without cancellation, by doubling:
// f(2j) = f(j)(a^j + b^j), f(j+1) = a f(j) + b^j.
func quotient(a, b interval.Interval, m int) interval.Interval {
	prec := max(a.Prec(), b.Prec())
	f, pa, pb := interval.FromInt(0, prec), interval.FromInt(1, prec), interval.FromInt(1, prec)
	for bit := new(big.Int).SetInt64(int64(m)).BitLen() - 1; bit >= 0; bit-- {
		f = f.Mul(pa.Add(pb))
		pa, pb = pa.Mul(pa), pb.Mul(pb)
		if m>>bit&1 == 1 {
			f = a.Mul(f).Add(pb)
			pa, pb = pa.Mul(a), pb.Mul(b)
		}
	}
	return f
}
