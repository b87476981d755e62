package lp

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"optratio/internal/linear"
)

// A small program is the optimal-mechanism program written out from its definition, for questions that Program does not state: score
// vectors on the lattice of step 2Δ/L, any loss, any prior, the worst case instead of the mean. Only symmetry is used. It is an oracle for
// research/docs/resolution.md, research/docs/threshold.md, research/docs/minimax.md and research/docs/extension.md.
type small struct {
	n, k, l int                      // candidates, greatest depth in steps of 2Δ, steps of the lattice in 2Δ
	level   Level                    // Paper: the worst neighbors only; DP: all neighbors; Monotone: the worst neighbors and monotonicity; Full: all
	loss    func(depth int) *big.Rat // depth in steps of the lattice
	prior   func(q []int) *big.Rat   // weight of a score vector, given as depths, by which the mean is weighted; nil: 1
	worst   bool                     // minimise the largest expected loss of a vector instead of the weighted total
}

// vectors lists the depths of all score vectors of n candidates: entries 0 to most, least entry 0.
func vectors(n, most int) [][]int {
	var all [][]int
	d := make([]int, n)
	for {
		if slices.Min(d) == 0 {
			all = append(all, slices.Clone(d))
		}
		i := 0
		for i < n && d[i] == most {
			d[i] = 0
			i++
		}
		if i == n {
			return all
		}
		d[i]++
	}
}

// orbitOf names the probability of a candidate at depth v of a vector, which symmetry lets only depend on the sorted depths.
func orbitOf(q []int, v int) string {
	q = slices.Clone(q)
	slices.Sort(q)
	return fmt.Sprint(q, v)
}

func (s small) weight(q []int) *big.Rat {
	if s.prior == nil {
		return big.NewRat(1, 1)
	}
	return s.prior(q)
}

// build returns the program at z = e^{-ε} and the number of each variable.
func (s small) build(z *big.Rat) (*linear.Rational, map[string]int) {
	all := vectors(s.n, s.k*s.l)
	number := map[string]int{}
	var cost []*big.Rat
	for _, q := range all {
		w := s.weight(q)
		for _, v := range q {
			key := orbitOf(q, v)
			j, ok := number[key]
			if !ok {
				j = len(cost)
				number[key] = j
				cost = append(cost, new(big.Rat))
			}
			if !s.worst {
				cost[j].Add(cost[j], new(big.Rat).Mul(w, s.loss(v)))
			}
		}
	}
	program := new(linear.Rational)
	entries, values := make([][]int32, len(cost)+1), make([][]*big.Rat, len(cost)+1)
	unit, worst := big.NewRat(1, 1), len(cost)
	row := func(lower, upper *big.Rat, terms map[int]*big.Rat) {
		i := program.AddRow(lower, upper)
		for j, x := range terms {
			entries[j], values[j] = append(entries[j], int32(i)), append(values[j], x)
		}
	}
	seen := map[string]bool{}
	private := map[[2]int]bool{}
	monotone := map[[2]int]bool{}
	for _, q := range all {
		if !slices.IsSorted(q) {
			continue
		}
		sum, err := map[int]*big.Rat{}, map[int]*big.Rat{worst: unit}
		for _, v := range q {
			j := number[orbitOf(q, v)]
			if sum[j] == nil {
				sum[j], err[j] = new(big.Rat), new(big.Rat)
			}
			sum[j].Add(sum[j], unit)
			err[j].Sub(err[j], s.loss(v))
		}
		if !seen[fmt.Sprint(q)] {
			seen[fmt.Sprint(q)] = true
			row(unit, unit, sum)
			if s.worst {
				row(new(big.Rat), nil, err)
			}
		}
		for _, p := range all {
			least, most := 1<<30, -1<<30
			for i := range p {
				least, most = min(least, p[i]-q[i]), max(most, p[i]-q[i])
			}
			for r := range p {
				i, j := number[orbitOf(p, p[r])], number[orbitOf(q, q[r])]
				if i == j {
					continue
				}
				others := true // all other candidates differ by the same, and r is L steps higher in q relative to them
				for t := range p {
					others = others && (t == r || p[t]-q[t] == p[r]-q[r]-s.l)
				}
				if others && s.n > 1 || most-least <= s.l && (s.level == DP || s.level == Full) {
					private[[2]int{i, j}] = true
				}
				if s.level == Monotone || s.level == Full {
					// p has r no lower and every other no higher than q, after a shift: p[r]-q[r]+c <= 0 <= p[t]-q[t]+c.
					holds := true
					for t := range p {
						holds = holds && (t == r || p[t]-q[t] >= p[r]-q[r])
					}
					if holds {
						monotone[[2]int{i, j}] = true
					}
				}
			}
		}
	}
	minus := new(big.Rat).Neg(z)
	for _, rows := range []struct {
		pairs  map[[2]int]bool
		factor *big.Rat
	}{{private, minus}, {monotone, big.NewRat(-1, 1)}} {
		var pairs [][2]int
		for pair := range rows.pairs {
			pairs = append(pairs, pair)
		}
		slices.SortFunc(pairs, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
		for _, pair := range pairs {
			row(new(big.Rat), nil, map[int]*big.Rat{pair[0]: unit, pair[1]: rows.factor})
		}
	}
	for j, c := range cost {
		program.AddCol(c, new(big.Rat), nil, entries[j], values[j])
	}
	if s.worst {
		program.AddCol(unit, new(big.Rat), nil, entries[worst], values[worst])
	}
	return program, number
}

// optimum is the exact least total loss, or the exact least worst loss.
func (s small) optimum(t testing.TB, z *big.Rat) *big.Rat {
	program, _ := s.build(z)
	return solveRational(t, program)
}

// table is the pmf of an optimal mechanism, as a function of depths in steps of the lattice.
func (s small) table(t testing.TB, z *big.Rat) func(q []int) []*big.Rat {
	program, number := s.build(z)
	result, err := linear.Embedded{}.Solve(context.Background(), program.Model(), linear.Options{})
	require.NoError(t, err)
	require.Equal(t, linear.Optimal, result.Outcome)
	exact, err := program.Optimize(context.Background(), result.Basis, linear.Embedded{})
	require.NoError(t, err)
	return func(q []int) []*big.Rat {
		pmf := make([]*big.Rat, len(q))
		for r, v := range q {
			pmf[r] = exact.X.Rat(number[orbitOf(q, v)])
		}
		return pmf
	}
}

// total is the weighted total loss of a mechanism, or its largest loss at a vector.
func (s small) total(pmf func(q []int) []*big.Rat) *big.Rat {
	sum, largest := new(big.Rat), new(big.Rat)
	for _, q := range vectors(s.n, s.k*s.l) {
		here := new(big.Rat)
		for r, p := range pmf(q) {
			here.Add(here, new(big.Rat).Mul(p, s.loss(q[r])))
		}
		if here.Cmp(largest) > 0 {
			largest.Set(here)
		}
		sum.Add(sum, here.Mul(here, s.weight(q)))
	}
	if s.worst {
		return largest
	}
	return sum
}

// flip is permute-and-flip's pmf by expanding the integrand p_r Π_{s≠r} (1 - t p_s) as a polynomial in t; p_s = root^depth.
func flip(root *big.Rat, q []int) []*big.Rat {
	pmf := make([]*big.Rat, len(q))
	for r := range q {
		poly := []*big.Rat{power(root, q[r])}
		for s := range q {
			if s != r {
				poly = timesOneMinus(poly, power(root, q[s]))
			}
		}
		pmf[r] = integrate(poly)
	}
	return pmf
}

func power(x *big.Rat, n int) *big.Rat {
	y := big.NewRat(1, 1)
	for range n {
		y.Mul(y, x)
	}
	return y
}

// timesOneMinus returns poly·(1 - c t).
func timesOneMinus(poly []*big.Rat, c *big.Rat) []*big.Rat {
	out := make([]*big.Rat, len(poly)+1)
	for i := range out {
		out[i] = new(big.Rat)
	}
	for i, a := range poly {
		out[i].Add(out[i], a)
		out[i+1].Sub(out[i+1], new(big.Rat).Mul(a, c))
	}
	return out
}

// integrate returns ∫₀¹ poly dt.
func integrate(poly []*big.Rat) *big.Rat {
	sum := new(big.Rat)
	for i, a := range poly {
		sum.Add(sum, new(big.Rat).Mul(a, big.NewRat(1, int64(i)+1)))
	}
	return sum
}

func depthLoss(l int) func(int) *big.Rat {
	return func(v int) *big.Rat { return big.NewRat(int64(v), int64(l)) }
}

// The small program is the program of the package where both can state the question.
func TestSmallProgramIsTheProgram(t *testing.T) {
	e := expEps(t, 3, 2)
	z, _ := e.Z()
	for _, c := range [][2]int{{2, 3}, {3, 3}, {4, 2}} {
		for l := Paper; l <= Full; l++ {
			s := small{n: c[0], k: c[1], l: 1, level: l, loss: depthLoss(1)}
			want := exactOptimum(t, c[0], c[1], Prior{}, l, e)
			require.Equal(t, want.RatString(), s.optimum(t, z).RatString(), "%v %v", c, l)
			require.Equal(t, flipTotalExact(c[0], c[1], Prior{}, z).RatString(), s.total(func(q []int) []*big.Rat { return flip(z, q) }).RatString())
		}
	}
}
