package mechanisms

import (
	"fmt"
	"math/big"
	"slices"
	"sync"

	"gonum.org/v1/gonum/integrate/quad"

	"optratio/number/interval"
)

// gaussRule is a Gauss–Legendre rule on [0,1] in enclosures: nodes, their distances from 1, weights.
type gaussRule struct{ x, rest, weight []interval.Interval }

var gaussRules sync.Map // of gaussKey to *gaussRule

type gaussKey struct {
	nodes int
	prec  uint
}

// enclosedRule returns the rule of so many nodes with enclosures about 2^-prec wide. Nodes are proposed by Newton's method and
// proved by a change of sign of the Legendre polynomial across each of as many disjoint intervals as it has zeros.
func enclosedRule(nodes int, prec uint) *gaussRule {
	key := gaussKey{nodes, prec}
	if r, ok := gaussRules.Load(key); ok {
		return r.(*gaussRule)
	}
	r := newGaussRule(nodes, prec)
	gaussRules.Store(key, r)
	return r
}

func newGaussRule(nodes int, prec uint) *gaussRule {
	// The three-term recurrence widens enclosures at most 1+√2 < 2^1.3 times a step: once for the rounding of values at
	// points, once more for those at nodes, which are intervals.
	work := prec + 4*uint(nodes) + 128
	start, unused := make([]float64, nodes), make([]float64, nodes)
	quad.Legendre{}.FixedLocations(start, unused, -1, 1)
	slices.Sort(start)
	r := &gaussRule{make([]interval.Interval, nodes), make([]interval.Interval, nodes), make([]interval.Interval, nodes)}
	one, half := interval.FromInt(1, work), interval.FromRat(big.NewRat(1, 2), work)
	radius := new(big.Float).SetPrec(work).SetMantExp(big.NewFloat(1), -int(prec)-2*nodes-32)
	var last interval.Interval
	for i, guess := range start {
		x := new(big.Float).SetPrec(work).SetFloat64(guess)
		for bits := uint(40); bits < 2*work; bits *= 2 { // Newton's method doubles the digits
			p, before := legendre(nodes, interval.Point(x))
			// P' = n (x P - P_{n-1})/(x² - 1)
			at := interval.Point(x)
			slope := at.Mul(p).Sub(before).Mul(interval.FromInt(int64(nodes), work)).Quo(at.Sqr().Sub(one))
			x = new(big.Float).SetPrec(work).Sub(x, p.Quo(slope).Mid())
		}
		lo, hi := new(big.Float).SetPrec(work).Sub(x, radius), new(big.Float).SetPrec(work).Add(x, radius)
		node := interval.New(lo, hi)
		a, _ := legendre(nodes, interval.Point(lo))
		b, _ := legendre(nodes, interval.Point(hi))
		below, ok1 := a.Sign()
		above, ok2 := b.Sign()
		if !ok1 || !ok2 || below*above >= 0 || i > 0 && last.Hi().Cmp(lo) >= 0 {
			panic(fmt.Sprintf("mechanisms: node %d of %d of the Gauss rule is not enclosed", i, nodes))
		}
		last = node
		_, before := legendre(nodes, node)
		// 2(1-x²)/(n P_{n-1}(x))² on [-1,1], half of it on [0,1]
		weight := one.Sub(node.Sqr()).Quo(before.Mul(interval.FromInt(int64(nodes), work)).Sqr())
		r.x[i] = one.Add(node).Mul(half).SetPrec(prec)
		r.rest[i] = one.Sub(node).Mul(half).SetPrec(prec)
		r.weight[i] = weight.SetPrec(prec)
	}
	return r
}

// legendre returns P_n(x) and P_{n-1}(x), n >= 1.
func legendre(n int, x interval.Interval) (p, before interval.Interval) {
	prec := x.Prec()
	before, p = interval.FromInt(1, prec), x
	for k := int64(1); k < int64(n); k++ {
		next := x.Mul(p).Mul(interval.FromInt(2*k+1, prec)).Sub(before.Mul(interval.FromInt(k, prec)))
		before, p = p, next.Quo(interval.FromInt(k+1, prec))
	}
	return p, before
}
