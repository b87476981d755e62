package integral

import (
	"fmt"
	"math"
	"math/big"

	"optratio/number/interval"
)

// rule is a Gauss–Legendre rule on [-1, 1]: enclosures of its nodes, ascending, and weights.
type rule struct {
	nodes, weights []interval.Interval
}

// legendre encloses P_m and its predecessor P_{m-1} at x by the recurrence j P_j = (2j-1) x P_{j-1} - (j-1) P_{j-2}.
func legendre(m int, x interval.Interval) (p, before interval.Interval) {
	prec := x.Prec()
	p, before = interval.FromInt(1, prec), interval.FromInt(0, prec)
	for j := 1; j <= m; j++ {
		next := x.Mul(p).Mul(interval.FromInt(int64(2*j-1), prec)).Sub(before.Mul(interval.FromInt(int64(j-1), prec)))
		p, before = next.Quo(interval.FromInt(int64(j), prec)), p
	}
	return p, before
}

// gauss encloses the rule of m nodes to about prec bits. A node is proposed by Newton's method and proved by a
// change of sign; as P_m has m roots, m disjoint enclosures hold one each. Weights are
//
//	w = 2 (1-x²) / (m P_{m-1}(x))²
//
// (Abramowitz & Stegun 1964, 25.4.29, with (1-x²) P'_m = m P_{m-1} at a root).
func gauss(m int, prec uint) (rule, error) {
	// The recurrence in intervals widens its argument by a factor of less than 2|x| + 1 < 4 in each step: as
	// many bits more for the nodes than for the weights, and for the working precision than for the nodes.
	fine := prec + 2*uint(m) + 8
	w := fine + 2*uint(m) + 32
	r := rule{make([]interval.Interval, m), make([]interval.Interval, m)}
	one, two, size := interval.FromInt(1, w), interval.FromInt(2, w), interval.FromInt(int64(m), w)
	radius := new(big.Float).SetPrec(w).SetMantExp(big.NewFloat(1), -int(fine))
	for i := range (m + 1) / 2 {
		x := new(big.Float).SetPrec(w)
		if 2*i+1 < m {
			x.SetFloat64(-math.Cos(math.Pi * (float64(i) + 0.75) / (float64(m) + 0.5)))
			for range 6 + int(math.Log2(float64(w))) {
				at := interval.Point(x)
				p, before := legendre(m, at)
				slope := size.Mul(before.Sub(at.Mul(p))).Quo(one.Sub(at.Sqr()))
				x = new(big.Float).SetPrec(w).Sub(x, p.Quo(slope).Mid())
			}
		}
		node := interval.New(new(big.Float).SetPrec(w).Sub(x, radius), new(big.Float).SetPrec(w).Add(x, radius))
		left, _ := legendre(m, interval.Point(node.Lo()))
		right, _ := legendre(m, interval.Point(node.Hi()))
		a, okLeft := left.Sign()
		b, okRight := right.Sign()
		if !okLeft || !okRight || a*b >= 0 || i > 0 && r.nodes[i-1].Hi().Cmp(node.Lo()) >= 0 || 2*i+1 < m && node.Hi().Sign() >= 0 {
			return rule{}, fmt.Errorf("node %d of the Gauss–Legendre rule of %d not found at %d bits", i+1, m, prec)
		}
		_, before := legendre(m, node)
		weight := two.Mul(one.Sub(node.Sqr())).Quo(size.Mul(before).Sqr())
		r.nodes[i], r.weights[i] = node, weight.SetPrec(prec)
		r.nodes[m-1-i], r.weights[m-1-i] = node.Neg(), r.weights[i]
	}
	for i := range r.nodes {
		r.nodes[i] = r.nodes[i].SetPrec(prec)
	}
	return r, nil
}
