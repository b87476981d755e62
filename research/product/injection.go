package product

import (
	"math/big"

	"optratio/internal/arith"
)

// Injection is an amount of probability s(m,w) = Amount Π g(v_s) by which each candidate at depth w = Depth gets more than privacy asks for, on every count vector with
// Tops best candidates; the product is over the other candidates at depths v_s >= 1, with
//
//	g(v) = 0 up to depth Empty, 1 - Ratio z^(v-Empty-1) below it.
//
// With Deepest set it is so only where one of these others is at depth k, and 0 elsewhere.
type Injection struct {
	Tops, Depth int
	Empty       int
	Deepest     bool
	Ratio       *big.Rat // 0 to 1, so that g >= 0
	Amount      *big.Rat // >= 0
}

// term is a product over the others: of g, with g(k) = 0 if short is set. An injection is one term or, with Deepest, one less another.
type term[T any] struct {
	tops     int
	g, b     []T // by depth, from 1 on; g[0] and b[0] are not used
	subtract bool
}

// terms returns the products of an injection for an amount of 1.
func terms[T any](f arith.Field[T], q *Injection, power []T, k int) []term[T] {
	make1 := func(subtract bool) term[T] {
		t := term[T]{tops: q.Tops, g: make([]T, k+1), b: make([]T, k+1), subtract: subtract}
		ratio := f.FromRat(q.Ratio)
		for v := range t.g {
			t.g[v], t.b[v] = f.Zero(), f.Zero()
			if v > q.Empty && !(subtract && v == k) {
				t.g[v] = f.Sub(f.One(), f.Mul(ratio, power[v-q.Empty-1]))
			}
			if v >= q.Depth {
				t.b[v] = power[v-q.Depth]
			}
		}
		return t
	}
	if q.Deepest {
		return []term[T]{make1(false), make1(true)}
	}
	return []term[T]{make1(false)}
}

// cost returns what injections with an amount of 1 add to Σ_m N(m) Σ_v v m_v x[m][v].
func cost[T any](f arith.Field[T], q *Injection, power []T, n, k int) T {
	ways := new(big.Int).Binomial(int64(n-1), int64(q.Tops))
	ways.Mul(ways, big.NewInt(int64(n)))
	a, b, y, reduced, sum := f.Zero(), f.Zero(), f.Zero(), f.Zero(), f.Zero()
	for v := 1; v <= k; v++ {
		a, b = f.Add(a, f.Mul(f.FromInt(int64(v)), power[v])), f.Add(b, power[v])
	}
	for range q.Tops - 1 {
		y = f.Sub(a, f.Mul(b, y))
	}
	for u := q.Depth; u <= k; u++ {
		reduced = f.Add(reduced, f.Mul(power[u-q.Depth], f.Sub(f.FromInt(int64(u)), y)))
	}
	for _, t := range terms(f, q, power, k) {
		others := arith.Pow(f, arith.Sum(f, t.g[1:]...), n-1-q.Tops)
		if t.subtract {
			others = f.Neg(others)
		}
		sum = f.Add(sum, f.Mul(reduced, others))
	}
	return f.Mul(f.FromRat(new(big.Rat).SetInt(ways)), sum)
}
