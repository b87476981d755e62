package lp

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"optratio/internal/linear"
	"optratio/lattice"
	"optratio/number"
)

func expEps(t testing.TB, a, b int64) number.Epsilon {
	e, err := number.FromExp(big.NewRat(a, b))
	require.NoError(t, err)
	return e
}

func decimalEps(t testing.TB, s string) number.Epsilon {
	e, err := number.ParseEpsilon(s)
	require.NoError(t, err)
	return e
}

func testProgram(t testing.TB, n, k int, o Prior, l Level, e number.Epsilon) *program {
	p, err := newProgram(context.Background(), &Request{N: n, K: k, Prior: o, Level: l, Epsilon: e, solver: linear.Embedded{}})
	require.NoError(t, err)
	return p
}

// solution solves a program to its end.
func solution(t testing.TB, p *program, gap *big.Rat) *proof {
	s, err := p.solve(context.Background(), gap, nil)
	require.NoError(t, err)
	require.Empty(t, s.Undecided)
	return s
}

// exactOptimum returns the total optimum by the path under test.
func exactOptimum(t testing.TB, n, k int, o Prior, l Level, e number.Epsilon) *big.Rat {
	s := solution(t, testProgram(t, n, k, o, l, e), new(big.Rat))
	mean, exact := s.optimum().Rat()
	require.True(t, exact)
	return new(big.Rat).Mul(mean, new(big.Rat).SetInt(lattice.Vectors(n, k, o.box())))
}

// dualValue is what multipliers of the rows (E), per unit of mass, prove of the total error by a walk along all chains, that of chain.Dual, in exact
// arithmetic.
func dualValue(p *program, z *big.Rat, y []*big.Rat) *big.Rat {
	least := make([]*big.Rat, len(y))
	start, order := p.vars.Chains()
	for c := range len(start) - 1 {
		lambda := new(big.Rat)
		for i := start[c+1] - 1; i >= start[c]; i-- {
			j := order[i]
			orbit := p.vars.Orbit[j]
			reduced := new(big.Rat).Quo(p.weights[orbit], new(big.Rat).SetInt(p.vectors[orbit]))
			reduced.Mul(reduced, p.question.lossAt(int(p.vars.Depth[j])))
			reduced.Add(reduced, lambda.Mul(z, lambda))
			lambda = new(big.Rat)
			if i > start[c] && reduced.Cmp(y[orbit]) > 0 {
				lambda.Sub(reduced, y[orbit])
				reduced = y[orbit]
			}
			if least[orbit] == nil || reduced.Cmp(least[orbit]) < 0 {
				least[orbit] = reduced
			}
		}
	}
	sum := new(big.Rat)
	for i, y := range least {
		sum.Add(sum, new(big.Rat).Mul(new(big.Rat).SetInt(p.vectors[i]), y))
	}
	return sum
}

// unreduced builds the program over all score vectors straight from the definitions, in
// the probabilities x_r(q) themselves: no orbits, no chains, no scaling, every
// row listed. Symmetry is left out: averaging an optimum over permutations shows that it costs nothing. With tight a candidate below a lone best one has no more than the
// factor z of what it has a step higher.
func unreduced(n, k int, o Prior, level Level, z *big.Rat, tight bool) *linear.Rational {
	var vectors [][]int // depths, least 0
	d := make([]int, n)
	for {
		if slices.Min(d) == 0 {
			vectors = append(vectors, slices.Clone(d))
		}
		i := 0
		for i < n && d[i] == k {
			d[i] = 0
			i++
		}
		if i == n {
			break
		}
		d[i]++
	}
	at := map[string]int{}
	for i, q := range vectors {
		at[fmt.Sprint(q)] = i
	}
	type row struct {
		above, below int
		factor       *big.Rat
		most         *big.Rat // nil for none
	}
	var rows []row
	minus := new(big.Rat).Neg(z)
	normal := func(q []int) []int {
		q = slices.Clone(q)
		best := slices.Min(q)
		for i := range q {
			q[i] -= best
		}
		return q
	}
	for i, q := range vectors {
		for r := range n {
			// The worst neighbor: candidate r rises by a step.
			up := slices.Clone(q)
			up[r]--
			if j, ok := at[fmt.Sprint(normal(up))]; ok && i != j {
				var most *big.Rat
				if tight && q[r] > 0 && len(slices.DeleteFunc(slices.Clone(q), func(v int) bool { return v > 0 })) == 1 {
					most = new(big.Rat)
				}
				rows = append(rows, row{i*n + r, j*n + r, minus, most})
			}
		}
		for j, p := range vectors {
			if i == j {
				continue
			}
			for shift := -k - 1; shift <= k+1; shift++ {
				least, most := 1<<30, -1<<30
				for s := range n {
					diff := p[s] - q[s] + shift
					least, most = min(least, diff), max(most, diff)
				}
				if (level == DP || level == Full) && least >= 0 && most <= 1 {
					for r := range n {
						rows = append(rows, row{j*n + r, i*n + r, minus, nil})
					}
				}
				if level == Monotone || level == Full {
					for r := range n {
						// p has r no lower (depth not greater) and every other no higher, after the shift.
						holds := p[r]-q[r]+shift <= 0
						for s := range n {
							holds = holds && (s == r || p[s]-q[s]+shift >= 0)
						}
						if holds {
							rows = append(rows, row{j*n + r, i*n + r, big.NewRat(-1, 1), nil})
						}
					}
				}
			}
		}
	}
	program := new(linear.Rational)
	entries := make([][]int32, n*len(vectors))
	values := make([][]*big.Rat, n*len(vectors))
	put := func(j, i int, v *big.Rat) {
		entries[j], values[j] = append(entries[j], int32(i)), append(values[j], v)
	}
	unit := big.NewRat(1, 1)
	for i := range vectors {
		program.AddRow(unit, unit)
		for r := range n {
			put(i*n+r, i, unit)
		}
	}
	for _, w := range rows {
		i := program.AddRow(new(big.Rat), w.most)
		put(w.above, i, unit)
		put(w.below, i, w.factor)
	}
	for i, q := range vectors {
		weight := int64(1)
		if o.box() {
			weight = int64(k - slices.Max(q) + 1)
		}
		for r := range n {
			program.AddCol(big.NewRat(weight*int64(q[r]), 1), new(big.Rat), nil, entries[i*n+r], values[i*n+r])
		}
	}
	return program
}

// solveRational solves a program from scratch, exactly, and returns the optimum.
func solveRational(t testing.TB, r *linear.Rational) *big.Rat { return solvedRational(t, r).Objective }

func solvedRational(t testing.TB, r *linear.Rational) *linear.Exact {
	result, err := linear.Embedded{}.Solve(context.Background(), r.Model(), linear.Options{})
	require.NoError(t, err)
	require.Equal(t, linear.Optimal, result.Outcome)
	e, err := r.Optimize(context.Background(), result.Basis, linear.Embedded{})
	require.NoError(t, err)
	return e
}

// ratFloat returns x as a rational, 0 where it is not finite.
func ratFloat(x float64) *big.Rat {
	if r := new(big.Rat).SetFloat64(x); r != nil {
		return r
	}
	return new(big.Rat)
}
