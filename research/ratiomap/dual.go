package ratiomap

import (
	"math/big"
	"math/bits"

	"optratio/internal/chain"
)

// The walk along the chains is in integers: multipliers and costs in units of 2^-unitBits, z in units of 2^-zBits. Every rounding is downwards, which
// only lowers a bound, since any multipliers λ >= 0 are admissible.
const (
	unitBits = 32
	zBits    = 20
	// maxUnits bounds multipliers and costs, so that no λ overflows while k <= MaxDepth: λ is a sum of at most 2k+1 terms c_i - y_i.
	maxUnits = 1 << 48
	MaxDepth = 1 << 10
)

// dual is a point of the dual program at one z: multipliers y of the rows (E), one for each class, and what the walk makes of them.
type dual struct {
	z      int64
	y      []int64
	cost   []int64  // of each position, where rows beyond (E), (P), (T) have multipliers; nil where it is the depth
	lambda []int64  // of the row that bounds each position from below, 0 at the first of a chain
	value  *big.Int // Σ N(class) y'(class), at most the optimum over all score vectors of the lattice
	cuts   []cut
	solved *solved // where the first-order method ended, if it found y
}

// product is rounded down. Its first factor is in units of 2^-zBits, its second one not negative.
func product(z, x int64) int64 {
	hi, lo := bits.Mul64(uint64(z), uint64(x))
	return int64(hi<<(64-zBits) | lo>>zBits)
}

// walk evaluates the dual function at y, see chain.Dual; cost is nil where the cost of each position is its depth. All terms of the bound are the lesser one of y_i and
// c_i + z λ_{i+1}, as each class has a position that is not the first of its chain; so the bound does not fall as z rises.
func walk(f *form, z int64, y, cost []int64) *dual {
	d := &dual{z: z, y: y, cost: cost, lambda: make([]int64, len(f.class)), value: new(big.Int)}
	bound := chain.NewDual(func(a, b int64) int64 { return a + b }, product, z, y)
	for c := range len(f.start) - 1 {
		next := int64(0)
		for i := f.start[c+1] - 1; i >= f.start[c]; i-- {
			v := int64(f.depth[i]) << unitBits
			if cost != nil {
				v = cost[i]
			}
			next = bound.Visit(f.class[i], v, next, i == f.start[c])
			d.lambda[i] = next
		}
	}
	var term big.Int
	for i, m := range f.mass {
		d.value.Add(d.value, term.Mul(m, big.NewInt(bound.Least[i])))
	}
	return d
}

// bend returns E = Σ N(class) max (λ^b_{i+1} - λ^a_{i+1})⁺, the maximum over the positions i of the class. Between z_a and z_b > z_a, at
// z = (1-t) z_a + t z_b, the multipliers (1-t) λ^a + t λ^b give
//
//	c_i + z λ_{i+1} - λ_i = (1-t)(c_i + z_a λ^a_{i+1} - λ^a_i) + t (c_i + z_b λ^b_{i+1} - λ^b_i) - t(1-t)(z_b - z_a)(λ^b_{i+1} - λ^a_{i+1}),
//
// so that the optimum at z is at least (1-t) D_a + t D_b - t(1-t)(z_b - z_a) E with D the values of the two points.
func bend(f *form, a, b *dual) *big.Int {
	most := make([]int64, len(f.mass))
	for c := range len(f.start) - 1 {
		for i := f.start[c]; i < f.start[c+1]-1; i++ {
			class := f.class[i]
			most[class] = max(most[class], b.lambda[i+1]-a.lambda[i+1])
		}
	}
	sum, term := new(big.Int), new(big.Int)
	for i, m := range f.mass {
		sum.Add(sum, term.Mul(m, big.NewInt(most[i])))
	}
	return sum
}
