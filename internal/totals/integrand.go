package totals

import (
	"context"
	"math/big"

	"optratio/internal/arith"
	"optratio/number"
)

// integrand is g(t) = n D(t) [ S_0(t)^{n-1} - S_1(t)^{n-1} ], or under the box objective the sum of that over the greatest
// depths 1 to k: the lattices whose deepest vectors the box counts as often as it shifts them.
//
// Where the context ends at is meaningless: sums over a great k take long.
type integrand struct {
	ctx          context.Context
	n            int
	powers       []number.Interval // z^0 … z^V, V = k or, for the paper's box, the first depth with a power that counts for nothing
	box          bool
	deep         int             // k - V
	deepWeighted number.Interval // Σ v z^v over the depths below V
}

func newIntegrand(ctx context.Context, n, k int, z number.Interval, box bool) *integrand {
	prec := z.Prec()
	f := arith.Interval{Prec: prec}
	g := &integrand{ctx: ctx, n: n, box: box, powers: []number.Interval{f.One()}}
	for v := range k {
		g.powers = append(g.powers, g.powers[v].Mul(z))
		if !box && g.powers[v+1].Hi().MantExp(nil) < -int(prec)-16 {
			break
		}
	}
	// Σ_{v>V} v z^v = z^V Σ_{v<=k-V} (v+V) z^v
	last := len(g.powers) - 1
	if g.deep = k - last; g.deep > 0 {
		weighted, plain := arith.PowerSums(f, z, g.deep)
		g.deepWeighted = weighted.Add(plain.Mul(f.FromInt(int64(last)))).Mul(g.powers[last])
	}
	return g
}

func (g *integrand) prec() uint { return g.powers[0].Prec() }

// at encloses g(t).
func (g *integrand) at(t number.Interval) number.Interval {
	prec := g.prec()
	f := arith.Interval{Prec: prec}
	best := expNeg(t.Mul(g.powers[0]))
	rest := number.NewAccumulator(prec) // S_1
	depth := number.NewAccumulator(prec)
	total := number.FromInt(0, prec)
	for v := 1; v < len(g.powers); v++ {
		if v%256 == 0 && g.ctx.Err() != nil {
			break
		}
		e := expNeg(t.Mul(g.powers[v]))
		rest.Add(e)
		depth.AddMul(e.Mul(g.powers[v]), number.FromInt(int64(v), prec))
		if v == len(g.powers)-1 && g.deep > 0 {
			// Below V e^{-t z^v} lies between its value at V and 1, for t < 0 as well.
			between := number.Hull(e, f.One())
			rest.AddMul(f.FromInt(int64(g.deep)), between)
			depth.AddMul(g.deepWeighted, between)
		}
		if g.box || v == len(g.powers)-1 {
			s := rest.Value()
			total = total.Add(depth.Value().Mul(arith.DifferenceQuotient(f, s.Add(best), s, g.n-1)))
		}
	}
	return total.Mul(best).Mul(number.FromInt(int64(g.n), prec))
}

// expNeg encloses e^-x with one exponential where x is narrow: e^-lo [1 - w, 1], w the width.
func expNeg(x number.Interval) number.Interval {
	prec := x.Prec()
	width := x.Sub(x).Hi()
	if arith.IsPoint(x) || width.Cmp(big.NewFloat(1)) >= 0 {
		return number.Exp(x.Neg())
	}
	one := number.FromInt(1, prec)
	spread := number.Hull(one, one.Sub(number.Point(width)))
	return number.Exp(number.Point(x.Lo()).Neg()).Mul(spread)
}
