package lp

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/lattice"
	"optratio/lp/linear"
	"optratio/mechanisms"
	"optratio/number/arith"
)

// Whatever a proposal holds, its bounds do not cut off the truth.
func TestDoctoredProposalsNeverCutOffTheTruth(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, level := range []Level{Paper, DP, Monotone, Full} {
		for _, s := range [][2]int{{3, 3}, {4, 2}, {4, 3}} {
			e := expEps(t, 5, 4)
			z, _ := e.Z()
			truth := exactOptimum(t, s[0], s[1], lattice.Paper, level, e)
			p := newProgram(t, s[0], s[1], lattice.Paper, level, e)
			g := &linear.Growing{Solver: linear.Embedded{}, Basis: p.PermuteAndFlipBasis(), Rounds: cutRounds}
			result, err := g.Float(context.Background(), linear.Primal, p.Model, func(x []float64) int { return p.separate(x, cutTolerance) })
			require.NoError(t, err)
			base := p.fromResult(result)
			exact, enclosed := p.evaluate(base, z), p.enclose(base, 128)
			for _, b := range []bounds{exact, enclosed} {
				assert.LessOrEqual(t, b.lower.Cmp(truth), 0)
				assert.GreaterOrEqual(t, b.upper.Cmp(truth), 0)
				assert.True(t, b.close(big.NewRat(1, 1e9)), "honest bounds are close: %v", level)
			}
			cutOff := 0
			rounds := 40
			if testing.Short() {
				rounds = 10
			}
			for range rounds {
				doctored := doctor(rng, base)
				for _, b := range []bounds{p.evaluate(doctored, z), p.enclose(doctored, 128)} {
					require.LessOrEqual(t, b.lower.Cmp(truth), 0, "lower bound above the optimum")
					if b.upper != nil {
						require.GreaterOrEqual(t, b.upper.Cmp(truth), 0, "upper bound below the optimum")
					}
					if !b.close(big.NewRat(1, 1e9)) {
						cutOff++
					}
				}
			}
			assert.Positive(t, cutOff, "doctoring is expected to cost something")
		}
	}
}

// doctor returns a copy of the proposal with some numbers replaced.
func doctor(rng *rand.Rand, p *Proposal) *Proposal {
	spoil := func(x []*big.Rat) []*big.Rat {
		out := append([]*big.Rat(nil), x...)
		for range 1 + rng.IntN(4) {
			if len(out) == 0 {
				break
			}
			i := rng.IntN(len(out))
			switch rng.IntN(4) {
			case 0:
				out[i] = big.NewRat(rng.Int64N(2001)-1000, 1+rng.Int64N(1000))
			case 1:
				out[i] = new(big.Rat)
			case 2:
				out[i] = ratFloat(math.Ldexp(rng.Float64()-0.5, rng.IntN(80)-40))
			default:
				if out[i] != nil {
					out[i] = new(big.Rat).Mul(out[i], big.NewRat(-1-rng.Int64N(3), 1))
				}
			}
		}
		return out
	}
	return &Proposal{Dual: spoil(p.Dual), Injection: spoil(p.Injection), Cuts: p.Cuts, Multiplier: spoil(p.Multiplier)}
}

// At an exact optimal basis the two exact evaluations meet at its value: they share no
// code with the basis solution but the program's numbers.
func TestExactBoundsMeet(t *testing.T) {
	for _, level := range []Level{Paper, DP, Monotone, Full} {
		for _, s := range [][2]int{{3, 4}, {4, 3}, {5, 2}} {
			e := expEps(t, 6, 5)
			z, _ := e.Z()
			p := newProgram(t, s[0], s[1], lattice.Paper, level, e)
			sol, err := p.solve(context.Background(), effort{solver: linear.Embedded{}, gap: new(big.Rat)})
			require.NoError(t, err)
			b := p.evaluate(sol.proposal, z)
			assert.Zero(t, b.lower.Cmp(sol.lower), "%v %v", level, s)
			require.NotNil(t, b.upper)
			assert.Zero(t, b.upper.Cmp(sol.upper), "%v %v", level, s)
		}
	}
}

// Without injections the point is permute-and-flip, in exact arithmetic.
func TestPointWithoutInjectionsIsPermuteAndFlip(t *testing.T) {
	m, err := mechanisms.Lookup("pf")
	require.NoError(t, err)
	e := expEps(t, 7, 5)
	z, _ := e.Z()
	p := newProgram(t, 5, 3, lattice.Paper, Paper, e)
	u := point(p, exactNumbers{}, z, nil)
	powers := arith.Powers(arith.Rat{}, z, 4)
	counts := make([]int, 4)
	for i := range p.Orbits() {
		p.lat.Unrank(i, counts)
		var weights []*big.Rat
		var present []int
		for v, c := range counts {
			if c > 0 {
				weights, present = append(weights, powers[v]), append(present, c)
			}
		}
		for v, x := range m.(mechanisms.Weighted).WeightedExact(weights, present) {
			j := p.vars.First[i] + int32(v)
			x.Mul(x, new(big.Rat).SetInt(p.chainWeight(j)))
			require.Zero(t, x.Cmp(u[j]))
		}
	}
}

// Every (T) row is strictly slack at permute-and-flip for ε > 0, as is every row that a level adds:
// that is what makes mixing with it a repair.
func TestPermuteAndFlipIsStrictlyInside(t *testing.T) {
	for _, s := range [][2]int{{3, 3}, {4, 2}, {5, 3}} {
		e := expEps(t, 11, 10)
		z, _ := e.Z()
		p := newProgram(t, s[0], s[1], lattice.Paper, Full, e)
		u := point(p, exactNumbers{}, z, nil)
		count := 0
		p.strict(func(c Cut) bool {
			count++
			require.Positive(t, slackOf(p, exactNumbers{}, z, u, c).Sign(), "%+v", c)
			return true
		})
		assert.Positive(t, count)
	}
}
