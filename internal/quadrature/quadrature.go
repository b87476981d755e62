// Package quadrature encloses integrals by Gauss–Legendre rules: their nodes and weights are proved enclosures, and so is a bound on
// what a rule misses of the integral of an analytic function.
//
// A Rule lives on [0,1]. The integral of f over [a, a+h] is enclosed by
//
//	h Σ_i Weight[i] f(a + h X[i]) + h [-E, E],  E = r.Error(m, rho),
//
// where m bounds |f| on the Bernstein ellipse of [a, a+h] with parameter rho > 1: the ellipse with foci a and a+h whose half-axes
// are (ρ + 1/ρ)/2 and (ρ - 1/ρ)/2 times h/2. It is the caller's part to prove that bound.
//
// The package does not choose panels or numbers of nodes.
package quadrature

import (
	"fmt"
	"math"
	"math/big"
	"sync"

	"optratio/internal/arith"
	"optratio/number"
)

// Rule is a Gauss–Legendre rule on [0,1], its nodes in ascending order. All fields are enclosures and read only.
type Rule struct {
	X      []number.Interval // the nodes
	Rest   []number.Interval // 1 - X, enclosed as narrowly as X
	Weight []number.Interval // positive, with sum 1
}

type key struct {
	nodes int
	prec  uint
}

var known sync.Map // of key to *Rule

// Legendre returns the rule of so many nodes with enclosures of about prec bits; it remembers the rules it made. It panics
// unless nodes >= 1.
//
// Nodes are proposed by Newton's method and proved by a change of sign of the Legendre polynomial P_n across each of
// as many disjoint intervals as it has roots. On [-1,1] the weights are 2(1-x²)/(n P_{n-1}(x))² (Abramowitz & Stegun 1964,
// 25.4.29, with (1-x²) P'_n = n P_{n-1} at a root).
func Legendre(nodes int, prec uint) *Rule {
	if nodes < 1 {
		panic(fmt.Sprintf("quadrature: a rule of %d nodes", nodes))
	}
	if r, ok := known.Load(key{nodes, prec}); ok {
		return r.(*Rule)
	}
	r := newRule(nodes, prec)
	known.Store(key{nodes, prec}, r)
	return r
}

func newRule(n int, prec uint) *Rule {
	// The three-term recurrence widens enclosures at most 1+√2 < 2^1.3 times a step: once for the rounding of values at
	// points, once more for those at nodes, which are intervals.
	work := prec + 4*uint(n) + 128
	radius := new(big.Float).SetMantExp(big.NewFloat(1), -int(prec)-2*n-32)
	r := &Rule{make([]number.Interval, n), make([]number.Interval, n), make([]number.Interval, n)}
	one, half := number.FromInt(1, work), number.FromRat(big.NewRat(1, 2), work)
	size := number.FromInt(int64(n), work)
	var last number.Interval
	for i := range (n + 1) / 2 { // the others mirror these
		x := root(n, i, prec+2*uint(n)+40)
		node := number.NewInterval(new(big.Float).SetPrec(work).Sub(x, radius), new(big.Float).SetPrec(work).Add(x, radius))
		middle := 2*i+1 == n
		if !changesSign(n, node) || i > 0 && last.Hi().Cmp(node.Lo()) >= 0 || !middle && node.Hi().Sign() >= 0 {
			panic(fmt.Sprintf("quadrature: node %d of %d is not enclosed at %d bits", i+1, n, prec))
		}
		last = node
		_, before := legendre(arith.Interval{Prec: work}, n, node)
		// 2(1-x²)/(n P_{n-1}(x))² on [-1,1], half of it on [0,1]
		weight := one.Sub(node.Pow(2)).Quo(size.Mul(before).Pow(2)).SetPrec(prec)
		low, high := one.Add(node).Mul(half).SetPrec(prec), one.Sub(node).Mul(half).SetPrec(prec)
		r.X[i], r.Rest[i], r.Weight[i] = low, high, weight
		if !middle {
			r.X[n-1-i], r.Rest[n-1-i], r.Weight[n-1-i] = high, low, weight
		}
	}
	return r
}

// root returns a point within about 2^-accuracy of the i-th root of P_n, counted from 0 and from -1, i < (n+1)/2.
func root(n, i int, accuracy uint) *big.Float {
	x := -math.Cos(math.Pi * (float64(i) + 0.75) / (float64(n) + 0.5))
	if 2*i+1 == n {
		return new(big.Float).SetPrec(accuracy)
	}
	for range 6 {
		x -= newton(arith.Float{}, n, x)
	}
	at := big.NewFloat(x)
	for bits := uint(72); ; bits = 2*bits - 32 { // a step nearly doubles the digits
		f := arith.Interval{Prec: min(bits, accuracy) + 2*uint(n) + 32}
		at = new(big.Float).SetPrec(f.Prec).Sub(at, newton(f, n, number.Point(at).SetPrec(f.Prec)).Mid())
		if bits >= accuracy {
			return at
		}
	}
}

// newton returns P_n(x)/P'_n(x), P'_n = n (P_{n-1} - x P_n)/(1 - x²).
func newton[T any](f arith.Field[T], n int, x T) T {
	p, before := legendre(f, n, x)
	slope := f.Mul(f.FromInt(int64(n)), f.Sub(before, f.Mul(x, p)))
	return f.Quo(f.Mul(p, f.Sub(f.One(), f.Mul(x, x))), slope)
}

// changesSign reports whether P_n has different signs at the ends of x, and so a root inside.
func changesSign(n int, x number.Interval) bool {
	f := arith.Interval{Prec: x.Prec()}
	left, _ := legendre(f, n, number.Point(x.Lo()))
	right, _ := legendre(f, n, number.Point(x.Hi()))
	a, known1 := left.Sign()
	b, known2 := right.Sign()
	return known1 && known2 && a*b < 0
}

// legendre returns P_n(x) and P_{n-1}(x), n >= 1, by (j+1) P_{j+1} = (2j+1) x P_j - j P_{j-1}.
func legendre[T any](f arith.Field[T], n int, x T) (p, before T) {
	before, p = f.One(), x
	for j := int64(1); j < int64(n); j++ {
		next := f.Sub(f.Mul(f.Mul(x, p), f.FromInt(2*j+1)), f.Mul(before, f.FromInt(j)))
		before, p = p, f.Quo(next, f.FromInt(j+1))
	}
	return p, before
}

// Error bounds |∫_0^1 f - Σ Weight[i] f(X[i])| for a function f that is analytic inside the Bernstein ellipse of [0,1] with
// parameter rho >= 2, continuous up to it, and at most m >= 0 there in absolute value. With n the number of nodes the bound is
//
//	(2 + 2/(4n²-1)) m ρ^{-2n} / (1 - ρ^{-2}).
//
// Proof, on [-1,1], where everything doubles: the Chebyshev coefficients of f are at most 2mρ^{-j} (Trefethen 2013, Approximation Theory
// and Approximation Practice, Thm. 8.1). The rule is exact for T_j up to j = 2n-1, and for all odd j by symmetry. For
// even j >= 2n the integral of T_j is -2/(j²-1) and the rule's value at most 2, the sum of the weights. So the error
// is at most Σ_{j=2n,2n+2,…} 2mρ^{-j} (2 + 2/(4n²-1)). For n >= 2 that is Trefethen's Thm. 19.3 with its constant 64/15.
//
// The result encloses the bound at the precision of m.
func (r *Rule) Error(m number.Interval, rho int) number.Interval {
	if rho < 2 {
		panic(fmt.Sprintf("quadrature: an ellipse of parameter %d", rho))
	}
	n, prec := int64(len(r.X)), m.Prec()
	constant := big.NewRat(2, 4*n*n-1)
	constant.Add(constant, big.NewRat(2, 1))
	ratio := number.FromRat(big.NewRat(1, int64(rho)*int64(rho)), prec)
	geometric := ratio.Pow(len(r.X)).Quo(number.FromInt(1, prec).Sub(ratio))
	return m.Mul(number.FromRat(constant, prec)).Mul(geometric)
}
