package lp

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/arith"
	"optratio/internal/linear"
	"optratio/mechanisms"
	"optratio/number"
)

// Whatever a proposal holds, its bounds do not cut off the truth.
func TestDoctoredProposalsNeverCutOffTheTruth(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, level := range []Level{Paper, DP, Monotone, Full} {
		for _, s := range [][2]int{{3, 3}, {4, 2}, {4, 3}} {
			e := expEps(t, 5, 4)
			z, _ := e.Z()
			truth := exactOptimum(t, s[0], s[1], Prior{}, level, e)
			p := newProgram(t, s[0], s[1], Prior{}, level, e)
			g := &linear.Growing{Solver: linear.Embedded{}, Basis: p.permuteAndFlipBasis(), Rounds: cutRounds}
			result, err := g.Float(context.Background(), linear.Primal, p.model, func(x []float64) int { return p.separate(x, cutTolerance) })
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
func doctor(rng *rand.Rand, p *proposal) *proposal {
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
	return &proposal{Dual: spoil(p.Dual), Injection: spoil(p.Injection), Cuts: p.Cuts, Multiplier: spoil(p.Multiplier)}
}

// At an exact optimal basis the two exact evaluations meet at its value: they share no
// code with the basis solution but the program's numbers.
func TestExactBoundsMeet(t *testing.T) {
	for _, level := range []Level{Paper, DP, Monotone, Full} {
		for _, s := range [][2]int{{3, 4}, {4, 3}, {5, 2}} {
			e := expEps(t, 6, 5)
			z, _ := e.Z()
			p := newProgram(t, s[0], s[1], Prior{}, level, e)
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
	p := newProgram(t, 5, 3, Prior{}, Paper, e)
	u := point(p, exactNumbers{}, z, nil)
	powers := arith.Powers(arith.Rat{}, z, 4)
	counts := make([]int, 4)
	for i := range p.orbits() {
		p.lat.Unrank(i, counts)
		var weights []*big.Rat
		var present []int
		for v, c := range counts {
			if c > 0 {
				weights, present = append(weights, powers[v]), append(present, c)
			}
		}
		for v, x := range m.(weighted).WeightedExact(weights, present) {
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
		p := newProgram(t, s[0], s[1], Prior{}, Full, e)
		u := point(p, exactNumbers{}, z, nil)
		count := 0
		p.strict(func(c cut) bool {
			count++
			require.Positive(t, slackOf(p, exactNumbers{}, z, u, c).Sign(), "%+v", c)
			return true
		})
		assert.Positive(t, count)
	}
}

// With one candidate nothing bounds the only variable from below but 0, so that multipliers of either sign prove just its cost, 0.
func TestExactBoundsOfOneCandidate(t *testing.T) {
	p := newProgram(t, 1, 2, Prior{}, Paper, expEps(t, 3, 2))
	require.Equal(t, 1, p.variables())
	for _, y := range []int64{-1, 0, 1} {
		assert.Zero(t, lowerBound(p, exactNumbers{}, big.NewRat(2, 3), &proposal{Dual: []*big.Rat{big.NewRat(y, 1)}}).Sign(), y)
	}
}

// smallest is the program of two candidates at depths 0 and 1 for z = 1/2, and its variables: a at the tie, b and c the better and the worse of
// (1, 1). The program is u_a = 1, u_b + u_c = 2, (P) u_c >= z u_a, (T) u_a >= z u_b, with the objective u_c. On its chain c comes first, then a, then b.
func smallest(t *testing.T, l Level) (p *program, tie, split int, a, b, c int32) {
	p = newProgram(t, 2, 1, Prior{}, l, expEps(t, 2, 1))
	require.Equal(t, 3, p.variables())
	counts := make([]int, 2)
	p.lat.Unrank(0, counts)
	if split = 1; counts[1] == 1 {
		tie, split = 1, 0
	}
	return p, tie, split, p.vars.First[tie], p.vars.First[split], p.vars.First[split] + 1
}

// The bound by hand, with multiplier 1/2 of the row u_a >= u_c of the level monotone, y = 0 at the tie and 1 at (1, 1): c costs 1 + 1/2, so that λ is 1/2
// and 1 is left; a costs -1/2 + z/2 = -1/4, λ is 0; b costs 0. So y' is -1/4 at the tie, and min(1, 0) at the two vectors (1, 1).
func TestExactBoundsWithACut(t *testing.T) {
	p, tie, split, a, _, c := smallest(t, Monotone)
	prop := &proposal{Dual: make([]*big.Rat, 2), Cuts: []cut{{Above: a, Below: c}}, Multiplier: []*big.Rat{big.NewRat(1, 2)}}
	prop.Dual[tie], prop.Dual[split] = new(big.Rat), big.NewRat(1, 1)
	assert.Equal(t, "-1/4", lowerBound(p, exactNumbers{}, big.NewRat(1, 2), prop).RatString())
}

// Whatever multipliers the rows of a level have, they do not prove more than the optimum.
func TestDoctoredProposalsWithCuts(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, level := range []Level{DP, Monotone, Full} {
		e := expEps(t, 5, 4)
		z, _ := e.Z()
		truth := exactOptimum(t, 3, 3, Prior{}, level, e)
		p := newProgram(t, 3, 3, Prior{}, level, e)
		sol, err := p.solve(context.Background(), effort{solver: linear.Embedded{}, gap: new(big.Rat)})
		require.NoError(t, err)
		cuts := 0
		for range 20 {
			prop := &proposal{Dual: sol.proposal.Dual, Injection: sol.proposal.Injection}
			p.eachCut(func(c cut) bool {
				if rng.IntN(6) == 0 {
					prop.Cuts, prop.Multiplier = append(prop.Cuts, c), append(prop.Multiplier, big.NewRat(rng.Int64N(1000), 1<<rng.IntN(20)))
				}
				return true
			})
			cuts += len(prop.Cuts)
			for _, b := range []bounds{p.evaluate(prop, z), p.enclose(prop, 128)} {
				require.LessOrEqual(t, b.lower.Cmp(truth), 0, "level %v", level)
			}
		}
		assert.Positive(t, cuts, "level %v", level)
	}
}

// The mixture suffices for every point and every permute-and-flip within their enclosures: the slack of u_b >= 0 is taken from the lower end, -3/2,
// and the room from the lower end, 1, which needs the weight (3/2)/(1 + 3/2) of permute-and-flip. Where one of these is not known there is no mixture.
func TestMixtureOfWideEnclosures(t *testing.T) {
	p, _, _, a, b, c := smallest(t, Paper)
	f := enclosedNumbers{arith.Interval{Prec: 64}}
	iv := func(lo, hi float64) number.Interval { return number.NewInterval(big.NewFloat(lo), big.NewFloat(hi)) }
	half := f.FromRat(big.NewRat(1, 2))
	at := func(ub number.Interval) []number.Interval {
		u := make([]number.Interval, 3)
		u[a], u[b], u[c] = iv(1, 1), ub, iv(0.5, 0.5)
		return u
	}
	for _, x := range []struct {
		u, flip number.Interval
		want    string
	}{
		{iv(-1.5, -0.5), iv(1, 2), "3/5"}, {iv(-1, 1), iv(1, 2), "1/2"}, {iv(0, 1), iv(1, 2), "0"},
		{iv(-1, -1), iv(0, 2), ""}, {iv(-1, -1), iv(-1, 2), ""},
		{iv(math.Inf(-1), 1), iv(1, 2), ""}, {iv(-1, 1), iv(math.Inf(-1), 2), ""}, {iv(math.Inf(-1), 1), iv(math.Inf(-1), 2), ""},
	} {
		theta, ok := mixture(p, f, half, at(x.u), at(x.flip))
		require.Equal(t, x.want != "", ok, "%v", x)
		if ok {
			assert.Equal(t, x.want, theta.RatString(), "%v", x)
		}
	}
}

// By hand: an injection of 5 puts u_c at 11/2 and u_b at -7/2, where permute-and-flip has 1/2 and 3/2. So its weight is 7/10, and the mixture has u_c = 2.
// At ε = 0 permute-and-flip has no room in (T), and a point that violates it bounds nothing.
func TestMixtureByHand(t *testing.T) {
	p, _, _, _, _, c := smallest(t, Paper)
	prop := &proposal{Dual: []*big.Rat{new(big.Rat), new(big.Rat)}, Injection: make([]*big.Rat, 3)}
	prop.Injection[c] = big.NewRat(5, 1)
	assert.Equal(t, "2", p.evaluate(prop, big.NewRat(1, 2)).upper.RatString())
	free := newProgram(t, 2, 1, Prior{}, Paper, expEps(t, 1, 1))
	prop.Injection[c] = big.NewRat(-1, 1)
	assert.Equal(t, "1", free.evaluate(prop, big.NewRat(1, 1)).upper.RatString(), "negative injections count as 0")
	prop.Injection[c] = big.NewRat(5, 1)
	assert.Equal(t, "2", free.evaluate(prop, big.NewRat(1, 1)).upper.RatString(), "u_b >= 0 has room: u_b = 0 there, u_c = 2")
	exact := exactNumbers{}
	u, flip := point(free, exact, big.NewRat(1, 1), nil), point(free, exact, big.NewRat(1, 1), nil)
	_, ok := mixture(free, exact, big.NewRat(1, 1), u, flip)
	assert.True(t, ok)
	u[0] = new(big.Rat).Sub(u[0], big.NewRat(1, 2))
	_, ok = mixture(free, exact, big.NewRat(1, 1), u, flip)
	assert.False(t, ok, "a tie below z u_b where there is no room")
}

// TestPermuteAndFlipBoundsWithoutSlack: on many candidates its slack in rows (T) is too small for 128 bits to show. It bounds the optimum all the same.
func TestPermuteAndFlipBoundsWithoutSlack(t *testing.T) {
	p := newProgram(t, 50, 2, Prior{}, Paper, decimalEps(t, "0.1"))
	f := enclosedNumbers{arith.Interval{Prec: floatPrecision}}
	z := p.Epsilon.ExpNeg(big.NewRat(1, 1), floatPrecision)
	flip := point(p, f, z, nil)
	_, ok := mixture(p, f, z, flip, flip)
	require.False(t, ok)
	b := p.enclose(p.closedProposal(), floatPrecision)
	require.NotNil(t, b.upper)
	total, _ := PermuteAndFlipTotal(50, 2, p.Epsilon, 256).Lo().Rat(nil)
	assert.GreaterOrEqual(t, b.upper.Cmp(total), 0)
	assert.LessOrEqual(t, b.upper.Cmp(new(big.Rat).Mul(total, big.NewRat(1e15+1, 1e15))), 0)
}
