package table

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/linear"
	"optratio/lattice"
	"optratio/number"
)

// chained is the program of the mean error on Q(n,k), with rows of monotonicity or without.
func chained(t *testing.T, n, k int, monotone bool) *Program {
	lat, err := lattice.New(n, k)
	require.NoError(t, err)
	vars := lat.Number()
	rows := Lattice{Vars: vars, L: 1}
	p := &Program{First: vars.First, Chains: &Chains{Up: vars.Up, Interior: func() []*big.Rat { // asked for at ε = 0
		return slices.Repeat([]*big.Rat{big.NewRat(1, int64(n))}, len(vars.Orbit))
	}}}
	p.Chains.Start, p.Chains.Order = vars.Chains()
	for j, c := range vars.Count {
		p.Count, p.Loss = append(p.Count, int64(c)), append(p.Loss, big.NewInt(int64(vars.Depth[j])))
	}
	for _, m := range lat.All() {
		p.Weight = append(p.Weight, lattice.Multiplicity(m))
	}
	p.Each = func(visit func(Row) bool) bool { return rows.Worst(visit) && (!monotone || rows.Monotone(visit)) }
	rows.Worst(func(r Row) bool {
		p.Start = append(p.Start, r)
		return true
	})
	return p
}

// Near an optimal point with noise in every probability, the table that follows the chains satisfies the rows Start exactly and costs no more than the noise.
func TestTablesThatFollowChains(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 14))
	for _, c := range []struct {
		n, k int
		exp  string
	}{{2, 3, "3/2"}, {3, 1, "11/10"}, {3, 3, "3/2"}, {4, 4, "5/4"}, {5, 3, "101/100"}, {3, 7, "8/7"}} {
		eps, err := number.ParseExp(c.exp)
		require.NoError(t, err)
		z, _ := eps.Z()
		p := chained(t, c.n, c.k, false)
		best, err := p.Solve(context.Background(), eps, linear.Embedded{}, new(big.Rat), nil)
		require.NoError(t, err)
		require.Zero(t, best.Lower.Cmp(best.Upper))
		for _, noise := range []float64{0, 1e-12, 1e-6, 1e-3} {
			x := make([]float64, p.cells())
			for j := range x {
				x[j], _ = best.Table.x.Rat(j).Float64()
				x[j] *= 1 + noise*(2*rng.Float64()-1)
			}
			prop := &proposal{x: dyadic(x), y: p.start(factors{z}).y, spare: new(big.Int)}
			p.follow(prop, z)
			table := p.feasible(prop, factors{z})
			assert.Zero(t, table.theta.Sign(), "%v, noise %g: nothing is left to mix", c, noise)
			for _, r := range p.Start {
				if r.Above == p.First[p.of[r.Above]] {
					below := table.At(int(r.Below))
					assert.Positive(t, table.At(int(r.Above)).Cmp(below.Mul(below, z)), "rows between first cells have slack")
				}
			}
			value := table.Value()
			require.GreaterOrEqual(t, value.Cmp(best.Upper), 0)
			off, _ := value.Quo(value, best.Upper).Float64()
			assert.LessOrEqual(t, math.Abs(off-1), 3*float64(c.n*c.k)*noise+1e-12, "%v, noise %g", c, noise)
		}
	}
}

// Bounds hold for whatever is proposed and fitted to chains, and are close where an optimal solution is.
func TestChainsOfNonsenseHold(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, monotone := range []bool{false, true} {
		for _, exp := range []string{"5/4", "1", "6/5"} {
			eps, err := number.ParseExp(exp)
			require.NoError(t, err)
			z, _ := eps.Z()
			p := chained(t, 4, 3, monotone)
			best, err := p.Solve(context.Background(), eps, linear.Embedded{}, new(big.Rat), nil)
			require.NoError(t, err)
			require.Zero(t, best.Lower.Cmp(best.Upper))
			rows := p.start(factors{z}).y
			for i, r := range p.rows {
				for at, other := range best.Dual.Rows {
					if r.key() == other.key() {
						rows.Num[i] = new(big.Int).Quo(new(big.Int).Mul(best.Dual.Multiplier[at], rows.Den), best.Dual.Den)
					}
				}
			}
			mixed := 0
			for trial := range 60 {
				spoil := func(of func(i int) *big.Rat, n int) *linear.Fractions {
					f := &linear.Fractions{Den: rows.Den}
					for i := range n {
						x := of(i)
						if trial > 0 && rng.IntN(n) < 3 {
							x = big.NewRat(rng.Int64N(2001)-1000, 1+rng.Int64N(1000))
						}
						f.Num = append(f.Num, new(big.Int).Quo(new(big.Int).Mul(x.Num(), f.Den), x.Denom()))
					}
					return f
				}
				sums := spoil(func(g int) *big.Rat { return new(big.Rat).SetFrac(best.Dual.Sums[g], best.Dual.Den) }, p.groups())
				prop := &proposal{x: spoil(best.Table.x.Rat, p.cells()), y: spoil(rows.Rat, len(p.rows)), sums: sums.Num, rough: true, spare: new(big.Int)}
				s := new(Solution)
				s.improve(p, prop, factors{z}, factors{z})
				require.LessOrEqual(t, s.Lower.Cmp(best.Lower), 0)
				require.GreaterOrEqual(t, s.Upper.Cmp(best.Upper), 0)
				assert.Equal(t, valueOf(p, s.Table).RatString(), s.Upper.RatString())
				if s.Table.theta.Sign() > 0 {
					mixed++
				}
				if trial == 0 {
					assert.True(t, s.Optimum().Within(big.NewRat(1, 1<<60)), "%v %s: honest bounds are close", monotone, exp)
				}
				p.Each(func(r Row) bool {
					below := s.Table.At(int(r.Below))
					return assert.GreaterOrEqual(t, s.Table.At(int(r.Above)).Cmp(below.Mul(below, factors{z}.of(r.Private, 0))), 0)
				})
			}
			assert.Positive(t, mixed)
		}
	}
}
