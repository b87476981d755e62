package optimum

import (
	"context"
	"fmt"
	"math/big"

	"optratio/internal/linear"
)

// interior sets a table that satisfies every row, strictly where that is possible.
func (q *program) interior(ctx context.Context) error {
	t := q.table
	t.Interior = q.scaled(func(int32) *big.Rat { return one })
	q.insideHubs()
	if tight, delta := q.tightened(margins[0]); q.problem.Forbidden == nil || q.satisfies(t.Interior, tight, delta) {
		return nil
	}
	return q.search(ctx)
}

// scaled returns the table with probabilities proportional to weights, 0 where they have to be.
func (q *program) scaled(weight func(j int32) *big.Rat) []*big.Rat {
	t := q.table
	x := make([]*big.Rat, t.First[q.classes()])
	for g := range q.classes() {
		sum := new(big.Rat)
		for j := t.First[g]; j < t.First[g+1]; j++ {
			if x[j] = new(big.Rat); !t.Zero[j] {
				x[j].Set(weight(j))
			}
			sum.Add(sum, new(big.Rat).Mul(x[j], new(big.Rat).SetInt64(t.Count[j])))
		}
		for j := t.First[g]; j < t.First[g+1]; j++ {
			x[j].Quo(x[j], sum)
		}
	}
	return x
}

// margins are the parts, one in so many, of what is left to 1 by which factors are raised, and of δ by which it is lowered, so that what is private there is strictly so; 0 for none.
var margins = []int64{1 << 10, 1 << 30, 0}

// tightened returns factors and a δ that fewer tables are private at.
func (q *program) tightened(margin int64) (z []*big.Rat, delta *big.Rat) {
	_, z = q.table.Factors(128)
	if margin == 0 {
		return z, q.delta
	}
	for i, x := range z {
		up := new(big.Rat).Sub(one, x)
		z[i] = upwards(up.Add(x, up.Mul(up, big.NewRat(1, margin))), 64)
	}
	return z, new(big.Rat).Mul(q.delta, big.NewRat(margin-1, margin))
}

// upwards returns a number of so many bits after the point, at least x and at most 1.
func upwards(x *big.Rat, bits uint) *big.Rat {
	n := new(big.Int).Lsh(x.Num(), bits)
	n.Add(n, new(big.Int).Sub(x.Denom(), unit))
	up := new(big.Rat).SetFrac(n.Quo(n, x.Denom()), new(big.Int).Lsh(unit, bits))
	if up.Cmp(one) > 0 {
		return one
	}
	return up
}

// satisfies reports whether probabilities of cells satisfy all rows at the given factors and δ, where there are no hubs.
func (q *program) satisfies(x, z []*big.Rat, delta *big.Rat) bool {
	whole := linear.NewFractions(x)
	count := make([][]*big.Int, len(q.cell))
	for input, row := range q.cell {
		for _, j := range row {
			count[input] = append(count[input], whole.Num[j])
		}
	}
	return private(count, whole.Den, q.arcs, z, delta)
}

// search finds a table that satisfies every row where forbidden outputs let the uniform one fail: one that forbids nothing, and has as little as possible
// on what is forbidden. It looks at a slightly larger factor and a smaller δ first, so that rows are strict, and then raises all that need not be 0 by a little.
func (q *program) search(ctx context.Context) error {
	_, high := q.table.Factors(128)
	for _, margin := range margins {
		tight, delta := q.tightened(margin)
		x, err := q.leastForbidden(ctx, tight, delta)
		if err != nil {
			return err
		}
		if x == nil {
			continue
		}
		q.table.Interior = x
		for bits := uint(16); margin > 0 && bits < 128; bits += 8 {
			by := new(big.Rat).SetFrac(unit, new(big.Int).Lsh(unit, bits))
			if raised := q.scaled(func(j int32) *big.Rat { return new(big.Rat).Add(x[j], by) }); q.satisfies(raised, high, q.delta) {
				q.table.Interior = raised
				break
			}
		}
		if !q.satisfies(q.table.Interior, high, q.delta) {
			return fmt.Errorf("optimum: the table that was found is not private")
		}
		return nil
	}
	return faultf("forbidden: no private mechanism is left at this ε and δ: every one has forbidden outputs")
}

// leastForbidden returns a table that satisfies all rows at rational factors and a δ and has nothing on cells that have to be 0; nil where there is none.
func (q *program) leastForbidden(ctx context.Context, z []*big.Rat, delta *big.Rat) ([]*big.Rat, error) {
	t := *q.table
	t.Zero, t.Loss, t.Worst, t.Same, t.Delta = nil, make([]*big.Int, len(t.Count)), false, nil, delta
	t.Interior, t.Weight = make([]*big.Rat, len(t.Count)), make([]*big.Int, len(q.first))
	for g := range t.Weight {
		t.Weight[g] = unit
		for j := t.First[g]; j < t.First[g+1]; j++ {
			t.Interior[j] = big.NewRat(1, int64(len(q.problem.Outputs)))
			t.Loss[j] = new(big.Int)
			if q.table.Zero[j] {
				t.Loss[j].SetInt64(1)
			}
		}
	}
	t.Factors = func(uint) (low, high []*big.Rat) { return z, z }
	s, err := t.Solve(ctx, q.epsilon, linear.Embedded{}, new(big.Rat), nil)
	switch {
	case err != nil:
		return nil, err
	case s.Undecided != "":
		return nil, fmt.Errorf("%w: no table without forbidden outputs was found: %s", errUndecided, s.Undecided)
	case s.Upper.Sign() > 0:
		return nil, nil
	}
	x := make([]*big.Rat, len(t.Count))
	for j := range x {
		x[j] = s.Table.At(j)
	}
	return x, nil
}
